// Tables as CSV on the clipboard. Texts that a spreadsheet would take for a formula get an apostrophe before them.

const FORMULA = /^[=+\-@\t\r]/;
const PLAIN_NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

function csvCell(value) {
  if (value === null || value === undefined) return "";
  let text = String(value);
  if (typeof value !== "number" && FORMULA.test(text) && !PLAIN_NUMBER.test(text)) text = "'" + text;
  return /[",\r\n]|^\s|\s$/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

function csvText(rows) {
  return rows.map((row) => row.map(csvCell).join(",") + "\r\n").join("");
}

// Say something for a short time, on the screen and to screen readers.
const toast = { timer: 0 };

function say(text) {
  const box = byId("said");
  replace(box, text);
  box.classList.add("shown");
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => box.classList.remove("shown"), 2500);
}

// The clipboard of the browser may be missing or refuse; an older way works in files too. The last way is a dialog.
async function copyText(text, what) {
  if (await isCopied(text)) return say("copied " + what);
  const dialog = byId("copy-dialog"), field = byId("copy-field");
  field.value = text;
  dialog.showModal();
  field.select();
}

async function isCopied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return isCopiedBySelection(text);
  }
}

function isCopiedBySelection(text) {
  const field = el("textarea", { class: "sr", readonly: true, "aria-hidden": "true" }), focused = document.activeElement;
  field.value = text;
  document.body.append(field);
  field.select();
  let copied = false;
  try {
    copied = document.execCommand("copy");
  } catch {
    copied = false;
  }
  field.remove();
  if (focused) focused.focus();
  return copied;
}

// A button beside a heading that copies a table: its header and its rows.
function addCopyButton(headingId, name, tableOf) {
  const heading = byId(headingId), row = el("div", { class: "heading" });
  const copy = () => {
    const [header, ...rows] = tableOf();
    copyText(csvText([header, ...rows]), plural(rows.length, "row", "rows"));
  };
  heading.before(row);
  row.append(heading, el("button", { type: "button", class: "copy", "data-copy": name, "aria-label": `Copy as CSV: ${heading.textContent}`, click: copy }, "Copy as CSV"));
}
