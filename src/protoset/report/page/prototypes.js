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
      id: objects.ids[index],
      text: objects.values.kind === "strings" ? objects.values.values[index] : null,
      class: className(objects.codes[index]),
      weight: objects.weights ? objects.weights[index] : null,
      degradation: objects.degradations ? (objects.degradations[index] ?? Infinity) : null,
      stands: total(counts),
      others: total(counts.filter(([code]) => code !== objects.codes[index])),
    };
  });
}

function columns() {
  const all = [
    { key: "id", name: "id" },
    { key: "text", name: "text", present: objects.values.kind === "strings" ? true : null },
    { key: "class", name: "class" },
    { key: "weight", name: "weight", numeric: true, wide: true, present: objects.weights },
    { key: "degradation", name: "degradation", numeric: true, wide: true, present: objects.degradations },
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
  if (column.key === "class") return el("td", {}, classTag(objects.codes[row.index]));
  const value = row[column.key];
  return el("td", { class: columnClass(column) }, number(Number.isFinite(value) ? value : null));
}

function showPanels(rows) {
  const box = byId("multiples");
  if (objects.values.kind !== "series") return box.replaceChildren();
  const shown = table.all ? rows : rows.slice(0, MAX_PANELS);
  const ordered = shown.slice().sort((a, b) => objects.codes[a.index] - objects.codes[b.index] || a.index - b.index);
  replace(
    box,
    ordered.map((row) => {
      const plot = seriesPlot([{ channels: channelsOf(objects, row.index), code: objects.codes[row.index] }], 150, 64, objects.values.limits, "");
      const caption = el("span", { class: "caption" }, glyph(objects.codes[row.index]), isolate(row.id), el("span", { class: "quiet" }, ` stands for ${count(row.stands)}`));
      return el("button", { type: "button", class: "panel", click: () => selectObject(row.index, false) }, plot, caption);
    }),
  );
}

function showPrototypes() {
  const rows = prototypeRows();
  showPanels(rows);
  rows.sort(compare);
  const shown = table.all ? rows : rows.slice(0, MAX_ROWS);
  const body = shown.map((row) => el("tr", {}, columns().map((column) => cell(column, row))));
  const caption = el("caption", { class: "sr" }, `The prototypes, sorted by ${columns().find((column) => column.key === table.key).name}`);
  replace(byId("table"), el("table", { class: "sortable" }, caption, el("thead", {}, el("tr", {}, columns().map(heading))), el("tbody", {}, body)));
  const notes = [`${count(shown.length)} of ${plural(shownStop().n_kept, "prototype", "prototypes")} shown.`];
  notes.push(
    `A prototype stands for itself and for all training objects whose nearest prototype it is, of ${count(model.summary.n_train)} in all;`,
    "those of other classes are counted in the last column.",
    "These objects took part in the selection, so their number is no error of the set.",
  );
  replace(byId("table-note"), notes.join(" "));
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
