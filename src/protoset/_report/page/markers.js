// Markers of classes: pairs of colour and shape. Up to 32 classes have pairs that never repeat. Of more classes, the 32
// largest visible ones have a marker, the others are grey; hiding classes gives their markers to others.

const MAX_MARKERS = 32;
const N_COLOURS = 10; // --c0 to --c9 in style.css

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

function star(radius) {
  const points = [];
  for (let corner = 0; corner < 10; corner++) {
    const angle = (Math.PI * corner) / 5, far = corner % 2 ? radius * 0.55 : radius * 1.4;
    points.push((far * Math.sin(angle)).toFixed(2) + " " + (-far * Math.cos(angle)).toFixed(2));
  }
  return "M" + points.join("L") + "Z";
}

const SHAPES = [
  (r) => circle(r * 0.95),
  (r) => polygon(4, r * 1.2, Math.PI / 4),
  (r) => polygon(3, r * 1.25, 0),
  plus,
  (r) => polygon(4, r * 1.2, 0),
  (r) => polygon(3, r * 1.25, Math.PI),
  star,
  (r) => polygon(6, r * 1.05, Math.PI / 6),
];

// By class: the number of its marker, -1 for grey.
const markers = model.classes.map((_, code) => (model.classes.length <= MAX_MARKERS ? code : -1));

// In the second round of the colours the shapes have moved on by 5, so that no pair repeats in 80 markers.
function shape(code, radius) {
  const marker = markers[code];
  return marker < 0 ? circle(radius * 0.7) : SHAPES[(marker + 3 * Math.floor(marker / N_COLOURS)) % SHAPES.length](radius);
}

function colorClass(code) {
  return markers[code] < 0 ? "other" : "c" + (markers[code] % N_COLOURS);
}

function glyph(code, filled = true) {
  return svg(
    "svg",
    { viewBox: "-8 -8 16 16", class: "glyph " + colorClass(code), "aria-hidden": "true", "data-code": code },
    svg("path", { d: shape(code, 5.2), class: filled ? "mark kept" : "mark" }),
  );
}

function hasManyClasses() {
  return model.classes.length > MAX_MARKERS;
}

// Classes that stay visible keep their markers, so that colours do not jump.
function assignMarkers() {
  if (!hasManyClasses()) return;
  const bySize = model.classes.map((_, code) => code).sort((a, b) => model.class_sizes[b] - model.class_sizes[a] || a - b);
  const visible = bySize.filter((code) => model.class_sizes[code] > 0 && !state.hidden.has(code));
  const isVisibleClass = new Set(visible), before = markers.slice();
  bySize.forEach((code) => {
    if (!isVisibleClass.has(code)) markers[code] = -1;
  });
  const used = new Set(markers), free = [...Array(MAX_MARKERS).keys()].filter((marker) => !used.has(marker));
  for (const code of visible) if (markers[code] < 0 && free.length) markers[code] = free.shift();
  for (const node of document.querySelectorAll("svg.glyph[data-code]")) {
    const code = Number(node.dataset.code);
    if (markers[code] === before[code]) continue;
    node.setAttribute("class", "glyph " + colorClass(code));
    node.firstChild.setAttribute("d", shape(code, 5.2));
  }
}

// Before all other parts of the page, which draw with the markers.
on("filter", assignMarkers);
assignMarkers();
