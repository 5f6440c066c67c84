// Series: curves on common axes, and the points of two series that the metric matches.

// Two digits per point of a series, as written by objects.py.
const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";

const PANEL_HEIGHT = 118; // of one channel, with axes
const GAP = 34; // between two series whose points are matched
const MOST_RUNGS = 100; // lines between matched points

function decode(text, limits) {
  const points = [];
  const step = (limits[1] - limits[0]) / 4095;
  for (let i = 0; i < text.length; i += 2) {
    const level = 64 * DIGITS.indexOf(text[i]) + DIGITS.indexOf(text[i + 1]);
    points.push(level < 0 ? null : limits[0] + level * step);
  }
  return points;
}

// A series to draw: the points of each channel, some of them if it is long. Style is "", "faint" or "thin".
function curveOf(group, index, code, style = "") {
  const { values, limits, lengths } = group.values;
  return { channels: values[index].map((text, channel) => decode(text, limits[channel])), length: lengths[index], code, style };
}

// The lowest and the highest value of each channel.
function sharedLimits(groups) {
  return groups[0].values.limits.map((_, channel) => {
    const edges = groups.flatMap((group) => group.values.limits[channel] ?? []);
    return [Math.min(...edges), Math.max(...edges)];
  });
}

// The time at which a drawn point is, counted in points of the whole series.
function timeOf(curve, channel, position) {
  return (position * (curve.length - 1)) / Math.max(curve.channels[channel].length - 1, 1);
}

// The value of the drawn curve at a time; null where it is missing.
function valueAt(curve, channel, time) {
  const points = curve.channels[channel], exact = (time * (points.length - 1)) / Math.max(curve.length - 1, 1);
  const before = Math.floor(exact), after = Math.min(before + 1, points.length - 1);
  const [low, high] = [points[before], points[after]];
  return low === null || low === undefined || high === null ? null : low + (high - low) * (exact - before);
}

// Round numbers from low to high, about as many as wanted.
function ticks(low, high, wanted) {
  const rough = (high - low) / wanted || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, k) => Number(((first + k) * step).toPrecision(6)));
}

function curvePath(curve, channel, x, y) {
  let path = "", pen = "M";
  curve.channels[channel].forEach((value, position) => {
    if (value === null) pen = "M";
    else {
      path += pen + x(timeOf(curve, channel, position)).toFixed(1) + " " + y(value).toFixed(1);
      pen = "L";
    }
  });
  return svg("path", { d: path, class: `line ${colorClass(curve.code)} ${curve.style}`.trim() });
}

// A frame for the curves of a channel: scales of time and value from the corner (left, top) on, and their axes.
function panel({ left, top, width, height, last, limits, times, name }) {
  const [low, high] = limits, spread = high - low || 1;
  const x = (time) => left + (width * time) / Math.max(last, 1);
  const y = (value) => top + height - 4 - ((height - 8) * (value - low)) / spread;
  const marks = [svg("rect", { x: left, y: top, width, height, class: "panel-back" })];
  for (const value of ticks(low, high, 3)) {
    marks.push(svg("line", { x1: left, x2: left + width, y1: y(value), y2: y(value), class: "grid" }));
    marks.push(svg("text", { x: left - 6, y: y(value) + 4, class: "tick end" }, number(value)));
  }
  for (const time of times ? ticks(0, last, Math.max(2, Math.floor(width / 80))) : []) {
    marks.push(svg("line", { x1: x(time), x2: x(time), y1: top + height, y2: top + height + 4, class: "grid" }));
    marks.push(svg("text", { x: x(time), y: top + height + 16, class: "tick middle" }, count(time)));
  }
  if (name) marks.push(svg("text", { x: left + 6, y: top + 14, class: "tick" }, name));
  return { x, y, marks };
}

function lastTime(curves) {
  return Math.max(...curves.map((curve) => curve.length)) - 1;
}

function drawing(width, height, label, style, ...children) {
  const name = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, class: style, ...name }, ...children);
}

// A curve without axes.
function sparkline(curves, style, limits, width = 150, height = 64) {
  const frame = { left: 3, top: 0, width: width - 6, height, last: lastTime(curves) };
  const lines = curves.slice().reverse().flatMap((curve) => curve.channels.map((_, channel) => {
    const { x, y } = panel({ ...frame, limits: limits[channel] });
    return setAttributes(curvePath(curve, channel, x, y), { "data-channel": channel });
  }));
  return drawing(width, height, "", `series ${style}`, lines);
}

const AXIS = { left: 46, right: 10, below: 34 };

function timeName(width, top) {
  return svg("text", { x: AXIS.left + (width - AXIS.left - AXIS.right) / 2, y: top + 31, class: "tick middle" }, "time (points)");
}

// Curves on common axes, each channel in a panel of its own; the first curve is drawn on top. Rungs join two curves.
function seriesPlot(curves, { width, limits, label, rungs = false }) {
  const n_channels = Math.max(...curves.map((curve) => curve.channels.length)), height = PANEL_HEIGHT - 14 * Math.min(n_channels - 1, 3);
  const parts = [];
  for (let channel = 0; channel < n_channels; channel++) {
    const top = 4 + channel * (height + 8), isLast = channel === n_channels - 1;
    const { x, y, marks } = panel({
      left: AXIS.left, top, width: width - AXIS.left - AXIS.right, height, last: lastTime(curves), limits: limits[channel], times: isLast,
      name: n_channels > 1 ? `channel ${channel + 1}` : "",
    });
    parts.push(marks, rungs ? pointRungs(curves, channel, x, y) : null);
    parts.push(curves.slice().reverse().filter((curve) => curve.channels[channel]).map((curve) => curvePath(curve, channel, x, y)));
  }
  const bottom = 4 + n_channels * (height + 8) - 8;
  return drawing(width, bottom + AXIS.below, label, "series axes", parts, timeName(width, bottom));
}

// Lines between two curves at the same times.
function pointRungs(curves, channel, x, y) {
  const last = Math.min(curves[0].length, curves[1].length) - 1, step = Math.max(1, Math.ceil((last + 1) / MOST_RUNGS));
  let path = "";
  for (let time = 0; time <= last; time += step) {
    const [a, b] = curves.slice(0, 2).map((curve) => valueAt(curve, channel, time));
    if (a !== null && b !== null) path += `M${x(time).toFixed(1)} ${y(a).toFixed(1)}V${y(b).toFixed(1)}`;
  }
  return svg("path", { d: path, class: "rung" });
}

// Two series above each other, and thin lines between matched points; stretches that cost much are shaded.
function warpingPlot(query, others, comparison, { width, limits, label }) {
  const n_channels = query.channels.length, height = PANEL_HEIGHT - 18 - 14 * Math.min(n_channels - 1, 3), parts = [];
  const last = lastTime([query, ...others]), [from, to] = comparison.pairs;
  const frame = { left: AXIS.left, width: width - AXIS.left - AXIS.right, height, last };
  for (let channel = 0; channel < n_channels; channel++) {
    const top = 4 + channel * (2 * height + GAP + 12), below = top + height + GAP, isLast = channel === n_channels - 1;
    const suffix = n_channels > 1 ? `, channel ${channel + 1}` : "";
    const upper = panel({ ...frame, limits: limits[channel], top, name: "test object" + suffix });
    const lower = panel({ ...frame, limits: limits[channel], top: below, times: isLast, name: "prototype" + suffix });
    const shade = ({ x }, y, start, end) => svg("rect", { x: x(start) - 2, y, width: x(end) - x(start) + 4, height, class: "costly" });
    let rungs = "";
    from.forEach((time, k) => {
      if (time < 0 || to[k] < 0) return;
      const [a, b] = [valueAt(query, channel, time), valueAt(others[0], channel, to[k])];
      if (a !== null && b !== null) rungs += `M${upper.x(time).toFixed(1)} ${upper.y(a).toFixed(1)}L${lower.x(to[k]).toFixed(1)} ${lower.y(b).toFixed(1)}`;
    });
    parts.push(upper.marks, lower.marks);
    for (const [start, end, first, final] of comparison.segments.slice(0, 1)) parts.push(shade(upper, top, start, end), shade(lower, below, first, final));
    parts.push(svg("path", { d: rungs, class: "rung" }), curvePath(query, channel, upper.x, upper.y));
    parts.push(others.slice().reverse().map((curve) => curvePath(curve, channel, lower.x, lower.y)));
  }
  const bottom = 4 + n_channels * (2 * height + GAP + 12) - 12;
  return drawing(width, bottom + AXIS.below, label, "series axes warping", parts, timeName(width, bottom));
}

// What the lines between matched points say, and what is left out.
function pathNote(curves, comparison) {
  const notes = [], drawn = comparison.pairs ? comparison.pairs[0].length : 0;
  if (comparison.pairs) {
    const all = drawn === comparison.n_pairs ? `all ${count(drawn)}` : `${count(drawn)} of ${count(comparison.n_pairs)}`;
    notes.push(`Thin lines join points that the metric matches: ${all} pairs.`);
    if (comparison.pairs.flat().includes(-1)) notes.push("Points that the metric skips have no line.");
  } else notes.push("The metric compares the points at the same time, which thin lines join.");
  const [first] = comparison.segments;
  if (first && comparison.pairs) notes.push(`Shaded: points ${first[0]} to ${first[1]} of the test object make up ${percent(first[4])} of the ${sumName()}.`);
  const thinned = curves.filter((curve) => curve.channels[0].length < curve.length);
  if (thinned.length) notes.push(`Curves are drawn with ${count(thinned[0].channels[0].length)} of ${count(thinned[0].length)} points; the matching is that of all points.`);
  return notes.join(" ");
}
