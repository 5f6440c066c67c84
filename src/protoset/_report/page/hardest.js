// The hardest classes: objects, prototypes and error of each class, and the class that it is most often taken for.

const MAX_CLASSES = 50; // classes before "Show all classes"

const hardest = { all: false, sorting: { key: "error", descending: true } };

function hardestRows() {
  return confusion.classes.filter((row) => row.n_objects + row.n_measured > 0).map((row) => ({
    ...row,
    name: className(row.code),
    // Objects that took part in the selection have no error, but an order.
    error: row.error ?? (row.n_measured ? row.n_wrong / row.n_measured : null),
    isError: row.error !== null,
    confused: row.confused_with ? row.confused_with[1] : 0,
  }));
}

function errorCell(row) {
  if (row.n_measured === 0) return el("span", { class: "quiet" }, "not measured");
  if (!row.isError) return `${count(row.n_wrong)} of ${count(row.n_measured)}`;
  return [percent(row.error), el("span", { class: "quiet interval" }, `${percent(row.lower)} to ${percent(row.upper)}`)];
}

function confusedCell(row) {
  if (!row.confused_with) return el("span", { class: "quiet" }, "none");
  const [other, size] = row.confused_with, text = plural(size, "object", "objects");
  const filter = el("button", { type: "button", class: "link", "aria-label": `${text}: filter by ${describeCell(row.code, other)}`, click: () => setCell([row.code, other]) }, text);
  return el("span", { class: "confused" }, classTag(other), " ", filter);
}

function showHardest() {
  const rows = hardestRows(), isSeen = confusion.measured_on === "seen objects";
  const columns = [
    { key: "name", name: "class", cell: (row) => classTag(row.code) },
    { key: "error", name: isSeen ? "nearest is of another class" : "error", numeric: true, cell: errorCell },
    { key: "n_measured", name: "measured on", numeric: true, cell: (row) => count(row.n_measured) },
    { key: "n_objects", name: "training objects", numeric: true, cell: (row) => count(row.n_objects) },
    { key: "n_prototypes", name: "prototypes", numeric: true, cell: (row) => count(row.n_prototypes) },
    { key: "confused", name: "most confused with", numeric: false, cell: confusedCell },
  ];
  // The number of classes may be large, so the worst ones are chosen before the table is sorted.
  const worst = hardest.all ? rows : sortedRows(rows, { key: "error", descending: true }).slice(0, MAX_CLASSES);
  showSortable(byId("hardest-table"), "Classes with their errors", columns, worst, hardest.sorting);
  byId("more-classes").hidden = worst.length === rows.length;
}

function startHardest() {
  replace(byId("hardest-note"), `${answeredBy()}. `, confusion.measured_on === "seen objects"
    ? "Their number is no error of a class."
    : "Beside each error is a Wilson interval at 95 % confidence: few objects tell little.");
  byId("more-classes").addEventListener("click", () => {
    hardest.all = true;
    showHardest();
    byId("hardest-table").focus();
  });
  showHardest();
}
