// Tables that are sorted by their columns, and links to test objects.

const byName = new Intl.Collator("en", { numeric: true });

// A table in a box, with the first rows if there are more than "most". A column has a key by which rows are compared, a
// name, and the cell of a row; numbers begin with the largest, and small screens hide columns that are wide. Sorting is
// the key and the direction, which a click on a heading changes.
function showSortable(box, caption, columns, rows, sorting, most = rows.length) {
  const headings = columns.map((column) => sortHeading(column, sorting, () => {
    showSortable(box, caption, columns, rows, sorting, most);
    box.querySelector(`[data-key=${column.key}]`).focus();
  }));
  const body = sortedRows(rows, sorting).slice(0, most).map((row) => el("tr", {}, columns.map((column, position) =>
    el(position ? "td" : "th", { scope: position ? null : "row", class: columnClass(column) }, column.cell(row)))));
  replace(box, el("table", { class: "sortable" }, el("caption", { class: "sr" }, caption), el("thead", {}, el("tr", {}, headings)), el("tbody", {}, body)));
}

function columnClass(column) {
  return [column.numeric ? "numeric" : "", column.wide ? "wide" : ""].join(" ").trim() || null;
}

function sortHeading(column, sorting, changed) {
  const isSorted = sorting.key === column.key;
  const sort = () => {
    sorting.descending = isSorted ? !sorting.descending : column.numeric === true;
    sorting.key = column.key;
    changed();
  };
  const arrow = el("span", { class: "arrow", "aria-hidden": "true" }, isSorted ? (sorting.descending ? "▼" : "▲") : "↕");
  return el("th", { scope: "col", class: columnClass(column), "aria-sort": isSorted ? (sorting.descending ? "descending" : "ascending") : "none" },
    el("button", { type: "button", "data-key": column.key, click: sort }, column.name, " ", arrow));
}

// Rows in the order of a column; equal ones stay as they are, and unknown values come last.
function sortedRows(rows, { key, descending }) {
  const sign = descending ? -1 : 1;
  return rows.slice().sort((a, b) => {
    const first = a[key], second = b[key];
    if (first === null || second === null) return (first === null) - (second === null);
    return sign * (typeof first === "number" ? first - second : byName.compare(first, second));
  });
}

// Choose a test object in the list below "Explain a query"; filters that hide it are cleared.
function chooseQuery(query) {
  const select = byId("query"), isListed = () => [...select.options].some((option) => option.value === String(query));
  if (!isListed()) {
    byId("query-find").value = "";
    byId("query-wrong").checked = false;
    if (!isQueryInCell(query)) state.cell = null;
    notify("filter");
  }
  if (!isListed()) return;
  select.value = String(query);
  select.dispatchEvent(new Event("change"));
}

function queryLink(query) {
  const id = queries.ids[query];
  const go = () => {
    chooseQuery(query);
    byId("explain").scrollIntoView({ block: "start" });
  };
  return el("button", { type: "button", class: "link" + longClass(id), click: go }, isolate(id));
}
