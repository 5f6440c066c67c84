// The prototypes as a table that can be sorted.

const MAX_ROWS = 20; // rows before "Show all prototypes"

const table = { sorting: { key: "id", descending: false }, all: false, method: false };

function prototypeRows() {
  const { countsOf } = current();
  return shownStop().kept.filter(isVisible).map((index) => {
    const counts = countsOf.get(index);
    return {
      index,
      id: objects.ids[realCase(index)],
      distance: isMoved(index) ? (moved.distances[index - n] ?? Infinity) : null,
      start: isMoved(index) && moved.starts[index - n] >= 0 ? objects.ids[moved.starts[index - n]] : null,
      text: objects.values.kind === "strings" ? objects.values.values[index] : null,
      name: className(codeOf(index)),
      weight: objects.weights ? objects.weights[index] : null,
      degradation: objects.degradations ? (objects.degradations[index] ?? Infinity) : null,
      stands: total(counts),
      others: total(counts.filter(([code]) => code !== codeOf(index))),
    };
  });
}

// Weights and degradations belong to objects, so moved prototypes have none. They are shown on demand.
function prototypeColumns() {
  const isMovedSet = shownStop().moved, isMethod = table.method && !isMovedSet;
  const numeric = (key, name) => ({ key, name, numeric: true, cell: (row) => number(Number.isFinite(row[key]) ? row[key] : null) });
  return [
    { key: "id", name: isMovedSet ? "nearest real case" : "id", cell: (row) => pictured(objects, realCase(row.index), codeOf(row.index), objectLink(row.index)) },
    objects.values.kind === "strings" && { key: "text", name: "text", cell: (row) => el("span", { class: "excerpt", dir: "auto" }, row.text) },
    { key: "name", name: "class", cell: (row) => classTag(codeOf(row.index)) },
    isMovedSet && { key: "start", name: "started from", wide: true, cell: (row) => (row.start === null ? "not on this page" : objectLink(moved.starts[row.index - n])) },
    isMovedSet && { ...numeric("distance", "distance to the case"), wide: true },
    isMethod && objects.weights && { ...numeric("weight", "weight"), wide: true },
    isMethod && objects.degradations && { ...numeric("degradation", "degradation"), wide: true },
    numeric("stands", "stands for"),
    numeric("others", "other class"),
  ].filter(Boolean);
}

function showPrototypes() {
  const rows = prototypeRows(), columns = prototypeColumns(), isMovedSet = shownStop().moved;
  if (!columns.some((column) => column.key === table.sorting.key)) Object.assign(table.sorting, { key: "id", descending: false });
  const nShown = table.all ? rows.length : Math.min(MAX_ROWS, rows.length);
  showSortable(byId("table"), "The prototypes", columns, rows, table.sorting, nShown);
  const notes = [`${count(nShown)} of ${plural(shownStop().n_kept, "prototype", "prototypes")} shown.`];
  if (isMovedSet) {
    notes.push("The prototypes have moved, so they are no real cases. Each is shown by its nearest real case, a training object of its class;",
      "several prototypes may have the same one.");
  }
  notes.push(
    `A prototype stands for ${isMovedSet ? "" : "itself and for "}all training objects whose nearest prototype it is, of ${count(model.summary.n_train)} in all;`,
    "those of other classes are counted in the last column.",
    "These objects took part in the selection, so their number is no error of the set.",
  );
  replace(byId("table-note"), notes.join(" "));
  byId("show-all").hidden = nShown === rows.length;
  byId("table-method").hidden = isMovedSet || !(objects.weights || objects.degradations);
}

function startPrototypes() {
  byId("show-all").addEventListener("click", () => {
    table.all = true;
    showPrototypes();
    byId("table").focus();
  });
  byId("table-method").addEventListener("toggle", (event) => {
    table.method = event.target.open;
    showPrototypes();
  });
  on("stop", showPrototypes);
  on("filter", showPrototypes);
  showPrototypes();
}
