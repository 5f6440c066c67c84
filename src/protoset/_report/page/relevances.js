// Which attributes matter: a bar for each scale that the moves learned, largest first.

const MAX_BARS = 15; // attributes before "Show more attributes"

const bars = { all: false };

function relevanceBar(name, value, most) {
  const width = 100, height = 10, x = (scale) => (width * scale) / most;
  const bar = svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", class: "bar", "aria-hidden": "true" },
    svg("rect", { x: 0, y: 1, width: x(value).toFixed(2), height: height - 2, class: "bar-value" }),
    svg("line", { x1: x(1).toFixed(2), x2: x(1).toFixed(2), y1: 0, y2: height, class: "bar-one" }));
  return el("tr", {}, el("th", { scope: "row" }, isolate(name)), el("td", { class: "numeric" }, number(value)), el("td", { class: "bar-cell" }, bar));
}

function showRelevances() {
  const { names, values, n_all, what } = model.relevances;
  const shown = bars.all ? names.length : Math.min(MAX_BARS, names.length), most = Math.max(1, ...values);
  const rows = names.slice(0, shown).map((name, position) => relevanceBar(name, values[position], most));
  const heads = [el("th", { scope: "col" }, what), el("th", { scope: "col", class: "numeric" }, "scale"), el("td", {})];
  const caption = el("caption", { class: "sr" }, `Scale of each ${what}, largest first`);
  replace(byId("relevance-table"), el("table", { class: "bars" }, caption, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows)));
  replace(
    byId("relevance-note"),
    `The moves learned a scale for each ${what}, which multiplies its squared differences in the distance. The mean of the scales is 1, the line across the bars: `,
    "a larger scale says that it matters more than in the plain distance, a smaller one that it matters less. The map, 1-NN and k-NN use the plain distance. ",
    `${count(shown)} of ${plural(n_all, what, what + "s")} shown.`,
  );
  byId("more-relevances").hidden = shown === names.length;
}

function startRelevances() {
  byId("relevances").hidden = !model.relevances;
  if (!model.relevances) return;
  byId("more-relevances").addEventListener("click", () => {
    bars.all = true;
    showRelevances();
    byId("relevance-table").focus();
  });
  showRelevances();
}
