// The map: all objects in the plane on a canvas, kept or dropped, and on a second canvas the selected one. Crosses mark
// single training objects; they took part in the selection, so their share is no error of the set and is not computed.
//
//     objects.x, y  -- resizeMap -->   homeX, homeY   -- zoom, panX, panY -->   screenX, screenY
//     (units of the model)           (pixels of the whole map)                (pixels of the canvas)

const MAX_THREADS = 400; // lines from a prototype to its objects
const EDGE = 14; // pixels around the marks
const CELL = 8; // pixels of a cell of the grid by which marks are found
const MANY_MARKS = 3000; // beyond so many objects, dropped ones are filled, as outlines would be a blur

const map = { box: null, marks: null, focus: null, width: 0, height: 0, ratio: 1, radius: 4, zoom: 1, panX: 0, panY: 0, isPending: false };

function screenX(index) {
  return map.homeX[realCase(index)] * map.zoom + map.panX;
}

function screenY(index) {
  return map.homeY[realCase(index)] * map.zoom + map.panY;
}

// Coordinates of the objects in the chosen layout, in units of the model.
function coordinates() {
  return map.layout === "neighbors" ? [objects.neighbor_x, objects.neighbor_y] : [objects.x, objects.y];
}

// Radius of a dropped object; marks grow a little with the zoom.
function markRadius() {
  return Math.round(10 * map.radius * Math.min(2.2, map.zoom ** 0.4)) / 10;
}

function largest(values) {
  return values.reduce((most, value) => Math.max(most, value), 1);
}

// Fits the map into its box, as on a change of the width of the page.
function resizeMap() {
  const width = widthOf(map.box), ratio = state.printing ? 3 : Math.min(2, devicePixelRatio || 1);
  if (width === map.width && ratio === map.ratio && state.printing === map.isPrinted) return;
  const [xs, ys] = coordinates(), spreadX = largest(xs), spreadY = largest(ys), maxHeight = Math.min(560, width * 0.9);
  const scale = Math.min((width - 2 * EDGE) / spreadX, (maxHeight - 2 * EDGE) / spreadY);
  const height = Math.max(170, Math.round(spreadY * scale + 2 * EDGE));
  const growth = map.width ? width / map.width : 1;
  Object.assign(map, { width, height, ratio, isPrinted: state.printing, panX: map.panX * growth, panY: map.panY * growth });
  const left = (width - spreadX * scale) / 2, bottom = height - (height - spreadY * scale) / 2;
  map.homeX = Float32Array.from(xs, (x) => left + x * scale);
  map.homeY = Float32Array.from(ys, (y) => bottom - y * scale);
  map.radius = Math.max(2, Math.min(5.2, Math.sqrt((width * height) / n) / 7));
  for (const canvas of [map.marks, map.focus]) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  map.grid = makeGrid();
  readColours();
  clampPan();
  drawMap();
}

// The objects sorted by cells of the whole map: those of a cell are items[starts[cell]] to items[starts[cell + 1] - 1].
function makeGrid() {
  const columns = Math.ceil(map.width / CELL) + 1, rows = Math.ceil(map.height / CELL) + 1;
  const starts = new Int32Array(columns * rows + 1), items = new Int32Array(n);
  const cellOf = (index) => Math.floor(map.homeY[index] / CELL) * columns + Math.floor(map.homeX[index] / CELL);
  for (let index = 0; index < n; index++) starts[cellOf(index) + 1]++;
  for (let cell = 0; cell < columns * rows; cell++) starts[cell + 1] += starts[cell];
  const next = starts.slice();
  for (let index = 0; index < n; index++) items[next[cellOf(index)]++] = index;
  return { columns, rows, starts, items };
}

// All objects of the cells within a distance of a point of the canvas; some are a little farther.
function forEachNear(x, y, distance, visit) {
  const { columns, rows, starts, items } = map.grid;
  const cell = (pixel, pan) => Math.floor((pixel - pan) / map.zoom / CELL);
  const right = Math.min(columns - 1, cell(x + distance, map.panX)), below = Math.min(rows - 1, cell(y + distance, map.panY));
  for (let row = Math.max(0, cell(y - distance, map.panY)); row <= below; row++) {
    for (let column = Math.max(0, cell(x - distance, map.panX)); column <= right; column++) {
      const at = row * columns + column;
      for (let position = starts[at]; position < starts[at + 1]; position++) visit(items[position]);
    }
  }
}

// Marks in the order in which they are drawn. A fixed mixed order, so that no class covers the others.
const mixedOrder = Int32Array.from(Array(n).keys()).sort((a, b) => (Math.imul(a, 2654435761) >>> 0) - (Math.imul(b, 2654435761) >>> 0));

function sortMarks() {
  const { kept, differs } = current();
  const layers = { dimmed: [], dropped: [], wrong: [], kept: [], wrongKept: [] };
  for (const index of mixedOrder) {
    if (!isVisible(index)) continue;
    const isWrong = state.errors && differs[index] === 1;
    if (isDimmed(index) || (state.errors && !isWrong && !kept[index])) layers.dimmed.push(index);
    else if (kept[index]) layers.kept.push(index);
    else layers[isWrong ? "wrong" : "dropped"].push(index);
    if (isWrong && kept[index] && !isDimmed(index)) layers.wrongKept.push(index);
  }
  map.layers = layers;
  map.stacks = findStacks();
}

// Colours of the page; those for paper while printing.
function readColours() {
  const root = document.documentElement, theme = root.dataset.theme;
  if (state.printing) root.dataset.theme = "light";
  const style = getComputedStyle(root), colour = (name) => style.getPropertyValue("--" + name).trim();
  const names = ["ink", "card", "paper", "quiet", "other", ...Array.from(Array(N_COLOURS), (_, number) => "c" + number)];
  map.colours = Object.fromEntries(names.map((name) => [name, colour(name)]));
  if (state.printing) root.dataset.theme = theme;
  map.sprites = new Map();
}

// A mark as a list of its pixels: x, y, red, green, blue, opacity. Many marks are drawn many times faster by their pixels
// than by the shapes and pictures of a canvas, and as fast without a graphics card.
function sprite(style, code, radius) {
  const key = `${style} ${markers[code]} ${radius}`;
  if (!map.sprites.has(key)) map.sprites.set(key, drawSprite(style, code, radius));
  return map.sprites.get(key);
}

function drawSprite(style, code, radius) {
  const half = Math.ceil((radius * 1.5 + 2) * map.ratio), size = 2 * half;
  const pen = el("canvas", { width: size, height: size }).getContext("2d", { willReadFrequently: true });
  pen.translate(half, half);
  pen.scale(map.ratio, map.ratio);
  if (style === "cross") drawCross(pen, radius);
  else drawMark(pen, style, code, radius);
  const colours = pen.getImageData(0, 0, size, size).data, pixels = [];
  for (let at = 0; at < size * size; at++) {
    if (colours[4 * at + 3] > 4) pixels.push((at % size) - half, Math.floor(at / size) - half, ...colours.slice(4 * at, 4 * at + 4));
  }
  return Int16Array.from(pixels);
}

function drawCross(pen, radius) {
  pen.strokeStyle = map.colours.ink;
  pen.lineWidth = 1.4;
  pen.stroke(new Path2D(`M${-radius} ${-radius}L${radius} ${radius}M${radius} ${-radius}L${-radius} ${radius}`));
}

function drawMark(pen, style, code, radius) {
  const path = new Path2D(shape(code, radius));
  pen.fillStyle = pen.strokeStyle = map.colours[colorClass(code)];
  if (style === "kept") {
    pen.lineWidth = 2.4;
    pen.strokeStyle = map.colours.paper;
    pen.stroke(path);
    pen.fill(path);
  } else if (n > MANY_MARKS) {
    pen.globalAlpha = 0.6;
    pen.fill(path);
  } else {
    pen.lineWidth = 1.2;
    pen.globalAlpha = 0.8;
    pen.stroke(path);
  }
}

// Blends marks into the pixels of a picture, at most as opaque as said.
function drawLayer(picture, indices, style, radius, opacity = 1) {
  const { data, width, height } = picture, { homeX, homeY, zoom, panX, panY, ratio } = map;
  const strength = Math.round(256 * opacity), codes = objects.codes, sprites = [];
  for (const index of indices) {
    const centreX = Math.round((homeX[index] * zoom + panX) * ratio), centreY = Math.round((homeY[index] * zoom + panY) * ratio);
    if (centreX < -20 || centreY < -20 || centreX > width + 20 || centreY > height + 20) continue;
    const pixels = (sprites[codes[index]] ??= sprite(style, codes[index], radius));
    for (let at = 0; at < pixels.length; at += 6) {
      const x = centreX + pixels[at], y = centreY + pixels[at + 1];
      if (x < 0 || y < 0 || x >= width || y >= height) continue;
      const to = 4 * (y * width + x), share = (pixels[at + 5] * strength) >> 8;
      data[to] += ((pixels[at + 2] - data[to]) * share) / 255;
      data[to + 1] += ((pixels[at + 3] - data[to + 1]) * share) / 255;
      data[to + 2] += ((pixels[at + 4] - data[to + 2]) * share) / 255;
    }
  }
}

// An empty picture of the size of the canvas, in the colour of the paper.
function emptyPicture(pen) {
  const { width, height } = map.marks;
  pen.fillStyle = map.colours.paper;
  pen.fillRect(0, 0, 1, 1);
  const picture = pen.createImageData(width, height), pixels = new Uint32Array(picture.data.buffer);
  pixels.fill(new Uint32Array(pen.getImageData(0, 0, 1, 1).data.buffer)[0]);
  return picture;
}

// Draws at once; redrawMap draws with the next frame of the browser.
function drawMap() {
  if (!map.layers) sortMarks();
  const pen = map.marks.getContext("2d", { willReadFrequently: true }), radius = markRadius(), picture = emptyPicture(pen);
  const { dimmed, dropped, wrong, kept, wrongKept } = map.layers, keptRadius = Math.max(radius * 1.5, 4.2);
  drawLayer(picture, dimmed, "dropped", radius, 0.16);
  drawLayer(picture, dropped, "dropped", radius);
  // Crosses are behind their marks, and their arms longer, so that the colours of the classes stay visible.
  drawLayer(picture, wrong, "cross", radius * 0.85 + 2.5);
  drawLayer(picture, wrong, "kept", radius);
  drawLayer(picture, wrongKept, "cross", keptRadius * 0.85 + 2.5);
  drawLayer(picture, kept, "kept", keptRadius);
  pen.putImageData(picture, 0, 0);
  drawCounts(pen);
  drawFocus();
}

function redrawMap() {
  if (map.isPending) return;
  map.isPending = true;
  requestAnimationFrame(() => {
    map.isPending = false;
    drawMap();
  });
}

// The selected object: a ring, and lines to the objects that it stands for, or to its nearest prototype.
function drawFocus() {
  const index = state.selected, pen = map.focus.getContext("2d");
  pen.setTransform(map.ratio, 0, 0, map.ratio, 0, 0);
  pen.clearRect(0, 0, map.width, map.height);
  if (index === null || !isVisible(index)) return;
  const shown = prototypesOf(index), nearest = current().nearest[index];
  const members = shown.flatMap((prototype) => current().membersOf.get(prototype)).filter(isVisible).slice(0, MAX_THREADS);
  const ends = shown.length ? members : nearest >= 0 ? [nearest] : [];
  const x = screenX(index), y = screenY(index);
  pen.strokeStyle = map.colours.ink;
  pen.globalAlpha = 0.4;
  pen.lineWidth = 0.8;
  pen.beginPath();
  for (const end of ends) {
    pen.moveTo(x, y);
    pen.lineTo(screenX(end), screenY(end));
  }
  pen.stroke();
  pen.globalAlpha = 1;
  pen.lineWidth = 2;
  pen.beginPath();
  pen.arc(x, y, Math.max(markRadius() * 2.3, 9), 0, 2 * Math.PI);
  pen.stroke();
}

function updateMarks() {
  sortMarks();
  map.sprites?.clear();
  redrawMap();
}

function showMapLegend() {
  const legend = (style, text) => legendEntry(svg("path", { d: circle(style === "dot" ? 3 : 5), class: "mark plain " + style }), text);
  const cross = legendEntry(svg("path", { d: "M-4 -4l8 8m0 -8l-8 8", class: "cross" }), "training object whose nearest prototype is of another class; it took part in the selection, so the share of crosses is no error of the set");
  const grey = hasManyClasses() && model.classes.some((_, code) => markers[code] < 0 && !state.hidden.has(code));
  replace(
    byId("map-legend"),
    legend("kept", shownStop().moved ? "nearest real case of a prototype" : "kept"),
    legend(n > MANY_MARKS ? "dot" : "", shownStop().moved ? "other training object" : "dropped"),
    grey ? legendEntry(svg("path", { d: circle(4), class: "mark kept other" }), `smaller classes; show at most ${MAX_MARKERS} classes to see them in colour`) : null,
    state.errors ? cross : null,
  );
}

// How the objects were placed, and how far the map can be trusted.
function showMapNote() {
  const { n_neighbors, distances, neighbors } = model.layouts, isByDistances = map.layout === "distances";
  const { correlation, kept_neighbors } = isByDistances ? distances : neighbors;
  const landmarks = distances.n_landmarks ? ` from the distances to ${count(distances.n_landmarks)} landmarks` : "";
  const notes = [
    isByDistances
      ? `The map is made by classical scaling${landmarks}.`
      : `The map is made from the ${n_neighbors} nearest neighbours of each object, as UMAP does: groups have a meaning, distances between groups have little.`,
  ];
  if (kept_neighbors !== null) notes.push(`Of the ${n_neighbors} nearest neighbours of an object, ${percent(kept_neighbors)} are among its ${n_neighbors} nearest on the map.`);
  if (correlation !== null) notes.push(`Distances on it and real distances have a correlation of ${correlation.toFixed(2)}, where 1 is exact.`);
  replace(byId("map-note"), notes.join(" "));
}

function setLayout(layout) {
  Object.assign(map, { layout, width: 0, zoom: 1 });
  showMapNote();
  resizeMap();
  updateMarks();
  showView();
  showStack();
}

function startLayouts() {
  map.layout = model.layouts.start;
  byId("layout-box").hidden = !model.layouts.neighbors;
  byId("layout").value = map.layout;
  byId("layout").addEventListener("change", (event) => setLayout(event.target.value));
  showMapNote();
}

function startMap() {
  map.box = byId("map");
  map.marks = el("canvas", { class: "marks", "aria-hidden": "true" });
  map.focus = el("canvas", { class: "focus", "aria-hidden": "true" });
  replace(map.box, map.marks, map.focus);
  for (const change of ["stop", "filter"]) {
    on(change, updateMarks);
    on(change, showMapLegend);
  }
  on("selected", () => {
    bringIntoView();
    drawFocus();
  });
  byId("show-errors").addEventListener("change", (event) => {
    state.errors = event.target.checked;
    notify("filter");
  });
  on("filter", () => (byId("show-errors").checked = state.errors));
  showMapLegend();
  startLayouts();
  startMapView();
  startStacks();
  new ResizeObserver(resizeMap).observe(map.box);
  new MutationObserver(() => {
    if (state.printing) return;
    readColours();
    redrawMap();
  }).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  resizeMap();
}
