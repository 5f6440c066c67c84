// The prototypes: series as small multiples, and all of them in a table that can be sorted.

const FEW_ROWS = 50, FEW_PANELS = 48;

const table = { key: "id", falling: false, all: false };

function prototypeRows() {
  const { followers } = current();
  return model.stops[state.stop].kept.filter(isVisible).map((place) => {
    const members = followers.get(place);
    return {
      place,
      id: objects.ids[place],
      text: objects.values.kind === "strings" ? objects.values.values[place] : null,
      class: className(objects.codes[place]),
      weight: objects.weights ? objects.weights[place] : null,
      degradation: objects.degradations ? (objects.degradations[place] ?? Infinity) : null,
      stands: members.length,
      wrong: members.filter((member) => objects.codes[member] !== objects.codes[place]).length,
    };
  });
}

function columns() {
  const all = [
    { key: "id", name: "id" },
    { key: "text", name: "text", there: objects.values.kind === "strings" ? true : null },
    { key: "class", name: "class" },
    { key: "weight", name: "weight", numeric: true, wide: true, there: objects.weights },
    { key: "degradation", name: "degradation", numeric: true, wide: true, there: objects.degradations },
    { key: "stands", name: "stands for", numeric: true },
    { key: "wrong", name: "wrong", numeric: true },
  ];
  return all.filter((column) => column.there !== null);
}

const collator = new Intl.Collator("en", { numeric: true });

function compare(a, b) {
  const first = a[table.key], second = b[table.key];
  const order = typeof first === "number" ? first - second || 0 : collator.compare(first, second);
  return (table.falling ? -order : order) || a.place - b.place;
}

// Columns that only wide screens have room for are marked so.
function styleOf(column) {
  return [column.numeric ? "numeric" : "", column.wide ? "wide" : ""].join(" ").trim() || null;
}

function heading(column) {
  const sorted = table.key === column.key;
  const sort = () => {
    table.falling = sorted ? !table.falling : column.numeric === true;
    table.key = column.key;
    showPrototypes();
    byId("table").querySelector(`[data-key=${column.key}]`).focus();
  };
  const direction = sorted ? (table.falling ? "descending" : "ascending") : "none";
  const arrow = el("span", { class: "arrow", "aria-hidden": "true" }, sorted ? (table.falling ? "▼" : "▲") : "↕");
  const button = el("button", { type: "button", "data-key": column.key, click: sort }, column.name, " ", arrow);
  return el("th", { scope: "col", "aria-sort": direction, class: styleOf(column) }, button);
}

function cell(column, row) {
  if (column.key === "id") return el("th", { scope: "row" }, jump(row.place));
  if (column.key === "text") return el("td", {}, el("span", { class: "excerpt", dir: "auto" }, row.text));
  if (column.key === "class") return el("td", {}, classTag(objects.codes[row.place]));
  const value = row[column.key];
  return el("td", { class: styleOf(column) }, number(Number.isFinite(value) ? value : null));
}

function showPanels(rows) {
  const box = byId("multiples");
  if (objects.values.kind !== "series") return box.replaceChildren();
  const shown = table.all ? rows : rows.slice(0, FEW_PANELS);
  const ordered = shown.slice().sort((a, b) => objects.codes[a.place] - objects.codes[b.place] || a.place - b.place);
  replace(
    box,
    ordered.map((row) => {
      const plot = seriesPlot([{ channels: channelsOf(objects, row.place), code: objects.codes[row.place] }], 150, 64, objects.values.limits, "");
      const caption = el("span", { class: "caption" }, glyph(objects.codes[row.place]), quoted(row.id), el("span", { class: "quiet" }, ` stands for ${count(row.stands)}`));
      return el("button", { type: "button", class: "panel", click: () => choose(row.place, false) }, plot, caption);
    }),
  );
}

function showPrototypes() {
  const rows = prototypeRows();
  showPanels(rows);
  rows.sort(compare);
  const shown = table.all ? rows : rows.slice(0, FEW_ROWS);
  const body = shown.map((row) => el("tr", {}, columns().map((column) => cell(column, row))));
  const caption = el("caption", { class: "sr" }, `The prototypes, sorted by ${columns().find((column) => column.key === table.key).name}`);
  replace(byId("table"), el("table", { class: "sortable" }, caption, el("thead", {}, el("tr", {}, columns().map(heading))), el("tbody", {}, body)));
  const size = model.stops[state.stop].size;
  const notes = [`${count(shown.length)} of ${several(size, "prototype", "prototypes")} shown.`];
  notes.push("A prototype stands for the training objects that have it as their nearest prototype; those of another class are wrong.");
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
