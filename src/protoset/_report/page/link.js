// The state of the page in the address, so that a link, a reload, back and forward show the same:
//   #stop=3&hide=1,4&object=17&query=5&cell=0,2&theme=dark
// Objects, test objects and classes are named by their number on this page. What is not valid is ignored.

const MAX_LINK = 20000; // characters of an address that are read
const LINK_DELAY = 150; // milliseconds; browsers refuse very frequent changes of the address

const link = { timer: 0, isReading: false };

function linkText() {
  const parts = [];
  if (state.stop !== model.summary.chosen_stop) parts.push("stop=" + state.stop);
  if (state.hidden.size) parts.push("hide=" + [...state.hidden].sort((a, b) => a - b).join(","));
  if (state.selected !== null) parts.push("object=" + state.selected);
  if (queries && byId("query").value !== "" && byId("query").value !== firstQuery()) parts.push("query=" + byId("query").value);
  if (state.cell !== null) parts.push("cell=" + state.cell.join(","));
  if (state.theme !== null) parts.push("theme=" + state.theme);
  return parts.join("&");
}

function firstQuery() {
  const first = byId("query").options[0];
  return first ? first.value : "";
}

function address(text) {
  return location.href.split("#")[0] + (text ? "#" + text : "");
}

// In a frame of a notebook the page has no address of its own.
function hasAddress() {
  return location.protocol !== "about:";
}

function writeLink() {
  clearTimeout(link.timer);
  if (link.isReading || !hasAddress()) return;
  link.timer = setTimeout(() => {
    try {
      history.replaceState(null, "", address(linkText()));
    } catch {
      // The address stays as it is; the button still copies the link.
    }
  }, LINK_DELAY);
}

// Whole numbers from a text such as "1,4" that are below a limit; null where the text is anything else.
function readNumbers(text, limits, least = 0) {
  if (text === undefined || !/^-?\d{1,7}(,-?\d{1,7})*$/.test(text)) return null;
  const numbers = text.split(",").map(Number);
  const limitAt = (position) => (Array.isArray(limits) ? limits[position] : limits);
  if (Array.isArray(limits) && numbers.length !== limits.length) return null;
  return numbers.every((value, position) => value >= least && value < limitAt(position)) ? numbers : null;
}

function readLink() {
  const text = location.hash.slice(1, MAX_LINK);
  if (text !== "" && !text.includes("=")) return; // a section
  const parts = new Map(text.split("&").map((part) => [part.split("=")[0], part.split("=")[1]]));
  const stop = readNumbers(parts.get("stop"), [model.stops.length]), hidden = readNumbers(parts.get("hide"), model.classes.length);
  const cell = readNumbers(parts.get("cell"), [model.classes.length, model.classes.length], -1);
  const object = readNumbers(parts.get("object"), [n + (moved ? moved.exemplars.length : 0)]);
  const query = queries ? readNumbers(parts.get("query"), [queries.ids.length]) : null, theme = parts.get("theme");
  link.isReading = true;
  state.theme = ["dark", "light"].includes(theme) ? theme : null;
  notify("theme");
  setStop(stop ? stop[0] : model.summary.chosen_stop);
  state.hidden = new Set(hidden || []);
  state.cell = cell && sizeOf(...cell) > 0 ? cell : null;
  for (const box of document.querySelectorAll("#class-boxes input[data-class]")) box.checked = !state.hidden.has(Number(box.dataset.class));
  notify("filter");
  selectObject(object && (object[0] < n || shownStop().moved) ? object[0] : null, true);
  if (queries) {
    if (query && isQueryInCell(query[0])) chooseQuery(query[0]);
    else if (firstQuery() !== "") chooseQuery(Number(firstQuery()));
  }
  link.isReading = false;
}

function startLink() {
  byId("copy-link").hidden = !hasAddress();
  byId("copy-link").addEventListener("click", () => copyText(address(linkText()), "the link to this view"));
  if (location.hash.includes("=")) readLink();
  for (const change of ["stop", "filter", "selected", "theme"]) on(change, writeLink);
  if (queries) byId("query").addEventListener("change", writeLink);
  addEventListener("hashchange", readLink);
}
