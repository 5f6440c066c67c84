// Rows of a table: values, those that tell the classes apart, and the share of each attribute in a distance.

const BAR_WIDTH = 100; // of a share of 1, in the units of the drawing
const LEAST_REST = 0.0005; // below this, the shares of attributes that are not listed are rounding

function cellText(value) {
  if (value === null || value === undefined) return el("span", { class: "quiet" }, "missing");
  return typeof value === "number" ? number(value) : isolate(value);
}

// Values of an object, or of several beside each other; each has a heading then.
function valueTable(names, columns) {
  const rows = names.map((name, position) =>
    el("tr", {}, el("th", { scope: "row" }, isolate(name)), columns.map(({ values }) => el("td", {}, cellText(values[position])))),
  );
  const heads = columns.length > 1
    ? el("thead", {}, el("tr", {}, el("td", {}), columns.map(({ heading }) => el("th", { scope: "col" }, heading))))
    : null;
  return el("div", { class: "scroll values", tabindex: "0", role: "region", "aria-label": "Values" }, el("table", { class: columns.length > 1 ? "several" : null }, heads, el("tbody", {}, rows)));
}

function rowTable(group, index) {
  return valueTable(group.values.names, [{ values: group.values.values[index] }]);
}

// Where a number lies in the range of its attribute.
function rangeMark(value, range, style = "") {
  const at = range && typeof value === "number" ? 4 + 52 * Math.min(1, Math.max(0, (value - range[0]) / (range[1] - range[0] || 1))) : null;
  return svg("svg", { viewBox: "0 0 60 10", class: "range", "aria-hidden": "true" },
    at === null ? null : [svg("line", { x1: 4, x2: 56, y1: 5, y2: 5, class: "range-line" }), svg("circle", { cx: at.toFixed(1), cy: 5, r: 3.6, class: `range-dot ${style}` })]);
}

// The attributes that tell the classes apart best: values of a prototype; where it has moved, those of its real case too.
function mainValues(prototype) {
  const { columns, ranges } = objects.values.main, code = codeOf(prototype), withMoved = isMoved(prototype) && moved.values;
  const real = objects.values.values[realCase(prototype)], values = withMoved ? moved.values.values[prototype - n] : real;
  const rows = columns.map((column, k) => [
    el("span", { class: "main-name", title: objects.values.names[column] }, isolate(objects.values.names[column])),
    el("span", { class: "main-value" }, cellText(values[column])),
    withMoved ? el("span", { class: "main-value quiet" }, cellText(real[column])) : rangeMark(values[column], ranges[k], colorClass(code)),
  ]);
  const heads = withMoved ? ["", "prototype", "real case"].map((name) => el("span", { class: "main-head" }, name)) : null;
  return el("span", { class: withMoved ? "mains with-real" : "mains" }, heads, rows);
}

// Objects as rows, with their main values.
function mainTable(indices, caption, withClass) {
  const { columns } = objects.values.main;
  const heads = ["object", ...(withClass ? ["class"] : [])];
  const rows = indices.map((index) => {
    const [group, position] = valuesOf(index), values = hasValues(group, position) ? group.values.values[position] : null;
    return el("tr", {}, el("th", { scope: "row" }, objectLink(index)), withClass ? el("td", {}, classTag(codeOf(index))) : null,
      columns.map((column) => el("td", { class: "numeric" }, values ? cellText(values[column]) : "not on this page")));
  });
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {}, el("caption", { class: "sr" }, caption),
      el("thead", {}, el("tr", {}, heads.map((name) => el("th", { scope: "col" }, name)),
        columns.map((column) => el("th", { scope: "col", class: "numeric" }, isolate(objects.values.names[column]))))), el("tbody", {}, rows)));
}

const spreads = new Map(); // by attribute

// The range of a number over the objects on the page.
function spreadOf(column) {
  if (!spreads.has(column)) {
    const known = objects.values.values.filter((row) => row !== null && typeof row[column] === "number").map((row) => row[column]);
    spreads.set(column, known.reduce((most, value) => Math.max(most, value), -Infinity) - known.reduce((least, value) => Math.min(least, value), Infinity));
  }
  return spreads.get(column);
}

// How different two values of an attribute are: 0 for equal ones, 1 for the ends of the range and other categories.
function scaledDifference(a, b, column) {
  if (typeof a === "number" && typeof b === "number") return Math.abs(a - b) / (spreadOf(column) || 1);
  return a === b ? 0 : 1;
}

function shareCell(share) {
  if (share === null) return el("td", {});
  const text = share > 0 && share < 0.001 ? "< 0.1\u00a0%" : percent(share).replace(".00", "").replace(/\.0(?=\D)/, "");
  const bar = svg("svg", { viewBox: `0 0 ${BAR_WIDTH} 10`, preserveAspectRatio: "none", class: "bar", "aria-hidden": "true" },
    svg("rect", { x: 0, y: 1, width: (BAR_WIDTH * share).toFixed(2), height: 8, class: "bar-value" }));
  return el("td", { class: "share", "data-share": share }, bar, el("span", {}, text));
}

// Attributes of a test object beside those of the prototype, the largest share of the distance first. Without shares
// the largest difference comes first, on the scale of the attribute.
function shareTable(columns, comparison) {
  const names = (queries.values.names.length < objects.values.names.length ? queries : objects).values.names;
  const hasShares = Boolean(comparison && comparison.shares);
  const shareOf = new Map(hasShares ? comparison.columns.map((column, k) => [column, comparison.shares[k]]).filter(([column]) => column < names.length) : []);
  const rest = hasShares && comparison.columns.length ? 1 - [...shareOf.values()].reduce((sum, share) => sum + share, 0) : 0;
  const isRest = rest > LEAST_REST;
  const [first, second] = columns.map(({ values }) => values);
  const weight = (column) => (hasShares ? (shareOf.get(column) ?? 0) : scaledDifference(first[column], second[column], column));
  const order = names.map((_, column) => column).sort((a, b) => weight(b) - weight(a) || a - b);
  const rows = order.map((column) =>
    el("tr", { class: first[column] === second[column] ? "equal" : null }, el("th", { scope: "row" }, isolate(names[column])),
      columns.map(({ values }) => el("td", {}, cellText(values[column]))), hasShares ? shareCell(shareOf.get(column) ?? (isRest ? null : 0)) : null));
  if (isRest) rows.splice(shareOf.size, 0, el("tr", {}, el("th", { scope: "row" }, "all others"), columns.map(() => el("td", {})), shareCell(rest)));
  const heads = [el("td", {}), columns.map(({ heading }) => el("th", { scope: "col" }, heading)), hasShares ? el("th", { scope: "col" }, "share") : null];
  return el("div", { class: "scroll values shares", tabindex: "0", role: "region", "aria-label": "Attributes, those that differ most first" },
    el("table", { class: "several" }, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows)));
}
