// Markers of classes; objects as pictures, tables and texts.

// Two digits per point of a series, as written by objects.py.
const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";

const PRINT_WIDTH = 660; // width of drawings in print; they are drawn before the page is laid out for paper

function widthOf(box) {
  return state.printing ? PRINT_WIDTH : Math.max(260, box.clientWidth);
}

function polygon(corners, radius, turn) {
  const points = [];
  for (let corner = 0; corner < corners; corner++) {
    const angle = turn + (2 * Math.PI * corner) / corners;
    points.push((radius * Math.sin(angle)).toFixed(2) + " " + (-radius * Math.cos(angle)).toFixed(2));
  }
  return "M" + points.join("L") + "Z";
}

function circle(radius) {
  return `M${-radius} 0a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0Z`;
}

function plus(radius) {
  const arm = radius * 0.42, far = radius * 1.05;
  return `M${-arm} ${-far}H${arm}V${-arm}H${far}V${arm}H${arm}V${far}H${-arm}V${arm}H${-far}V${-arm}H${-arm}Z`;
}

// Shapes in the order of the plots. Together with the 8 colours they give 64 different markers.
const SHAPES = [
  (r) => circle(r * 0.95),
  (r) => polygon(4, r * 1.2, Math.PI / 4),
  (r) => polygon(4, r * 1.2, 0),
  (r) => polygon(3, r * 1.25, 0),
  (r) => polygon(3, r * 1.25, Math.PI),
  (r) => polygon(5, r * 1.1, 0),
  plus,
  (r) => polygon(6, r * 1.05, 0),
];

function shape(code, radius) {
  return SHAPES[(code + Math.floor(code / 8)) % SHAPES.length](radius);
}

function colorClass(code) {
  return "c" + (code % 8);
}

function glyph(code, filled = true) {
  return svg(
    "svg",
    { viewBox: "-8 -8 16 16", class: "glyph " + colorClass(code), "aria-hidden": "true" },
    svg("path", { d: shape(code, 5.2), class: filled ? "mark kept" : "mark" }),
  );
}

// Long names may break into lines, but not into single letters.
function longClass(text) {
  return text.length > 12 ? " long" : "";
}

function classTag(code) {
  const name = className(code);
  return el("span", { class: "tag" + longClass(name) }, glyph(code), isolate(name));
}

function decode(text, limits) {
  const points = [];
  const step = (limits[1] - limits[0]) / 4095;
  for (let i = 0; i < text.length; i += 2) {
    const level = 64 * DIGITS.indexOf(text[i]) + DIGITS.indexOf(text[i + 1]);
    points.push(level < 0 ? null : limits[0] + level * step);
  }
  return points;
}

function linePath(points, scaleX, scaleY) {
  let path = "", pen = "M";
  points.forEach((value, position) => {
    if (value === null) pen = "M";
    else {
      path += pen + scaleX(position, points.length).toFixed(1) + " " + scaleY(value).toFixed(1);
      pen = "L";
    }
  });
  return path;
}

// Series on a common scale; the first one is drawn on top.
function seriesPlot(pictures, width, height, limits, label) {
  const low = limits[0], spread = limits[1] - limits[0] || 1;
  const scaleX = (position, length) => 3 + ((width - 6) * position) / Math.max(length - 1, 1);
  const scaleY = (value) => height - 4 - ((height - 8) * (value - low)) / spread;
  const lines = [];
  for (const { channels, code, faint, thin } of pictures.slice().reverse()) {
    channels.forEach((points, channel) => {
      const style = `line ${colorClass(code)} channel${channel}` + (faint ? " faint" : "") + (thin ? " thin" : "");
      lines.push(svg("path", { d: linePath(points, scaleX, scaleY), class: style }));
    });
  }
  const zero = low < 0 && limits[1] > 0 ? svg("line", { x1: 0, x2: width, y1: scaleY(0), y2: scaleY(0), class: "zero" }) : null;
  const name = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "series", ...name }, zero, ...lines);
}

function channelsOf(group, index) {
  return group.values.values[index].map((text) => decode(text, group.values.limits));
}

function sharedLimits(groups) {
  return [Math.min(...groups.map((group) => group.values.limits[0])), Math.max(...groups.map((group) => group.values.limits[1]))];
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

// A real case beside the moved prototypes that it stands for: a table, or curves of which the prototypes are dashed.
function pictureWithMoved(object, prototypes) {
  if (!moved.values) return picture(objects, object, "Object " + objects.ids[object]);
  const slots = prototypes.map((prototype) => prototype - n), values = moved.values;
  if (values.kind === "rows") {
    const columns = slots.map((slot) => ({ heading: "prototype", values: values.values[slot] }));
    return valueTable(values.names, [{ heading: "real case", values: objects.values.values[object] }, ...columns]);
  }
  const code = objects.codes[object];
  const lines = [{ channels: channelsOf(objects, object), code }, ...slots.map((slot) => ({ channels: channelsOf(moved, slot), code, faint: true }))];
  const label = `Object ${objects.ids[object]}, and where ${prototypes.length === 1 ? "its prototype" : "its prototypes"} moved`;
  return [seriesPlot(lines, 320, 130, sharedLimits([objects, moved]), label), el("p", { class: "quiet small" }, "The real case, and the moved prototype (dashed)")];
}

function cellText(value) {
  if (value === null) return el("span", { class: "quiet" }, "missing");
  return typeof value === "number" ? number(value) : isolate(value);
}

// Table, text or curve of an object; null if only its dissimilarities are known.
function picture(group, index, name) {
  const values = group.values;
  if (values.kind === "rows") return rowTable(group, index);
  if (values.kind === "strings") return el("p", { class: "string", dir: "auto" }, values.values[index]);
  if (values.kind === "series") {
    const channels = channelsOf(group, index);
    const label = `${name}, a series of ${plural(values.lengths[index], "point", "points")}`;
    return seriesPlot([{ channels, code: group.codes[index] }], 320, 130, values.limits, label);
  }
  return null;
}
