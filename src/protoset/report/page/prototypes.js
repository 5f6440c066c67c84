// The prototypes: a table that can be sorted; series also as small multiples.

const MAX_ROWS = 50; // rows before "Show all prototypes"
const MAX_PANELS = 48; // series before "Show all prototypes"

const table = { key: "id", descending: false, all: false };

function prototypeRows() {
  const { countsOf } = current();
  return shownStop().kept.filter(isVisible).map((index) => {
    const counts = countsOf.get(index);
    return {
      index,
      id: objects.ids[realCase(index)],
      distance: isMoved(index) ? (moved.distances[index - n] ?? Infinity) : null,
      start: isMoved(index) && moved.starts[index - n] >= 0 ? objects.ids[moved.starts[index - n]] : "",
      text: objects.values.kind === "strings" ? objects.values.values[index] : null,
      class: className(codeOf(index)),
      weight: objects.weights ? objects.weights[index] : null,
      degradation: objects.degradations ? (objects.degradations[index] ?? Infinity) : null,
      stands: total(counts),
      others: total(counts.filter(([code]) => code !== codeOf(index))),
    };
  });
}

// Weights and degradations belong to objects, so moved prototypes have none.
function columns() {
  const ifMoved = shownStop().moved ? true : null;
  const ifNotMoved = (values) => (ifMoved ? null : values);
  const all = [
    { key: "id", name: ifMoved ? "nearest real case" : "id" },
    { key: "text", name: "text", present: objects.values.kind === "strings" ? true : null },
    { key: "class", name: "class" },
    { key: "start", name: "started from", wide: true, present: ifMoved },
    { key: "distance", name: "distance to the case", numeric: true, wide: true, present: ifMoved },
    { key: "weight", name: "weight", numeric: true, wide: true, present: ifNotMoved(objects.weights) },
    { key: "degradation", name: "degradation", numeric: true, wide: true, present: ifNotMoved(objects.degradations) },
    { key: "stands", name: "stands for", numeric: true },
    { key: "others", name: "other class", numeric: true },
  ];
  return all.filter((column) => column.present !== null);
}

const collator = new Intl.Collator("en", { numeric: true });

function compare(a, b) {
  const first = a[table.key], second = b[table.key];
  const order = typeof first === "number" ? first - second || 0 : collator.compare(first, second);
  return (table.descending ? -order : order) || a.index - b.index;
}

// Small screens hide the columns of the class "wide".
function columnClass(column) {
  return [column.numeric ? "numeric" : "", column.wide ? "wide" : ""].join(" ").trim() || null;
}

function heading(column) {
  const sorted = table.key === column.key;
  const sort = () => {
    table.descending = sorted ? !table.descending : column.numeric === true;
    table.key = column.key;
    showPrototypes();
    byId("table").querySelector(`[data-key=${column.key}]`).focus();
  };
  const direction = sorted ? (table.descending ? "descending" : "ascending") : "none";
  const arrow = el("span", { class: "arrow", "aria-hidden": "true" }, sorted ? (table.descending ? "▼" : "▲") : "↕");
  const button = el("button", { type: "button", "data-key": column.key, click: sort }, column.name, " ", arrow);
  return el("th", { scope: "col", "aria-sort": direction, class: columnClass(column) }, button);
}

function cell(column, row) {
  if (column.key === "id") return el("th", { scope: "row" }, objectLink(row.index));
  if (column.key === "text") return el("td", {}, el("span", { class: "excerpt", dir: "auto" }, row.text));
  if (column.key === "start") return el("td", { class: "wide" }, row.start === "" ? "not on this page" : objectLink(moved.starts[row.index - n]));
  if (column.key === "class") return el("td", {}, classTag(codeOf(row.index)));
  const value = row[column.key];
  return el("td", { class: columnClass(column) }, number(Number.isFinite(value) ? value : null));
}

function showPanels(rows) {
  const box = byId("multiples");
  if (objects.values.kind !== "series") return box.replaceChildren();
  const shown = table.all ? rows : rows.slice(0, MAX_PANELS);
  const ordered = shown.slice().sort((a, b) => codeOf(a.index) - codeOf(b.index) || a.index - b.index);
  replace(
    box,
    ordered.map((row) => {
      const code = codeOf(row.index), lines = [{ channels: channelsOf(objects, realCase(row.index)), code }];
      const withMoved = isMoved(row.index) && moved.values;
      if (withMoved) lines.push({ channels: channelsOf(moved, row.index - n), code, faint: true });
      const plot = seriesPlot(lines, 150, 64, withMoved ? sharedLimits([objects, moved]) : objects.values.limits, "");
      const caption = el("span", { class: "caption" }, glyph(code), isolate(row.id), el("span", { class: "quiet" }, ` stands for ${count(row.stands)}`));
      return el("button", { type: "button", class: "panel", click: () => selectObject(row.index, false) }, plot, caption);
    }),
  );
}

function showPrototypes() {
  const rows = prototypeRows(), isMovedSet = shownStop().moved;
  if (!columns().some((column) => column.key === table.key)) Object.assign(table, { key: "id", descending: false });
  showPanels(rows);
  rows.sort(compare);
  const shown = table.all ? rows : rows.slice(0, MAX_ROWS);
  const body = shown.map((row) => el("tr", {}, columns().map((column) => cell(column, row))));
  const caption = el("caption", { class: "sr" }, `The prototypes, sorted by ${columns().find((column) => column.key === table.key).name}`);
  replace(byId("table"), el("table", { class: "sortable" }, caption, el("thead", {}, el("tr", {}, columns().map(heading))), el("tbody", {}, body)));
  const notes = [`${count(shown.length)} of ${plural(shownStop().n_kept, "prototype", "prototypes")} shown.`];
  if (isMovedSet) {
    notes.push("The prototypes have moved, so they are no real cases. Each is shown by its nearest real case, a training object of its class;",
      "several prototypes may have the same one.", objects.values.kind === "series" && moved.values ? "Dashed curves are the moved prototypes." : "");
  }
  notes.push(
    `A prototype stands for ${isMovedSet ? "" : "itself and for "}all training objects whose nearest prototype it is, of ${count(model.summary.n_train)} in all;`,
    "those of other classes are counted in the last column.",
    "These objects took part in the selection, so their number is no error of the set.",
  );
  replace(byId("table-note"), notes.filter(Boolean).join(" "));
  byId("show-all").hidden = shown.length === rows.length;
}

function startPrototypes() {
  byId("show-all").addEventListener("click", () => {
    table.all = true;
    showPrototypes();
    byId("table").focus();
  });
  on("stop", showPrototypes);
  on("filter", showPrototypes);
  showPrototypes();
}
