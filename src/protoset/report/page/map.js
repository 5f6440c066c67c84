// The map: all objects in the plane, kept or dropped, and the selected one. Crosses mark single training objects; they
// took part in the selection, so their share is no error of the set and is not computed.

const MAX_THREADS = 400; // lines from a prototype to its objects

const map = { box: null, width: 0, height: 0, radius: 4, nodes: [], groups: {} };

function mapX(index) {
  return map.left + objects.x[realCase(index)] * map.scale;
}

function mapY(index) {
  return map.bottom - objects.y[realCase(index)] * map.scale;
}

function resizeMap() {
  const width = widthOf(map.box), edge = 14;
  if (width === map.width) return;
  const spreadX = Math.max(...objects.x, 1), spreadY = Math.max(...objects.y, 1);
  map.width = width;
  map.scale = (width - 2 * edge) / spreadX;
  const maxHeight = Math.min(520, width * 0.9);
  if (spreadY * map.scale > maxHeight - 2 * edge) map.scale = (maxHeight - 2 * edge) / spreadY;
  map.height = Math.max(170, Math.round(spreadY * map.scale + 2 * edge));
  map.left = (width - spreadX * map.scale) / 2;
  map.bottom = map.height - (map.height - spreadY * map.scale) / 2;
  map.radius = Math.max(2.4, Math.min(5.2, Math.sqrt((width * map.height) / n) / 7));
  drawMap();
}

function drawMap() {
  const group = (name) => (map.groups[name] = svg("g", { class: name }));
  const layers = ["dropped", "crosses", "kept", "focus"].map(group);
  const view = { viewBox: `0 0 ${map.width} ${map.height}`, width: map.width, height: map.height, "aria-hidden": "true" };
  replace(map.box, svg("svg", view, layers));
  map.nodes = objects.ids.map((_, index) =>
    svg("path", { transform: `translate(${mapX(index).toFixed(1)} ${mapY(index).toFixed(1)})` }),
  );
  updateMarks();
}

function updateMarks() {
  const { kept, differs } = current();
  const crosses = [], arm = Math.max(map.radius * 0.65, 2);
  const sides = { kept: [], dropped: [] };
  map.nodes.forEach((node, index) => {
    const code = objects.codes[index];
    node.setAttribute("d", shape(code, kept[index] ? Math.max(map.radius * 1.5, 4.2) : map.radius));
    node.setAttribute("class", `mark ${colorClass(code)}` + (kept[index] ? " kept" : "") + (isDimmed(index) ? " dimmed" : ""));
    if (!isVisible(index)) return;
    sides[kept[index] ? "kept" : "dropped"].push(node);
    if (differs[index] && !isDimmed(index)) {
      const x = mapX(index), y = mapY(index);
      crosses.push(`M${(x - arm).toFixed(1)} ${(y - arm).toFixed(1)}l${2 * arm} ${2 * arm}m0 ${-2 * arm}l${-2 * arm} ${2 * arm}`);
    }
  });
  map.groups.dropped.replaceChildren(...sides.dropped);
  map.groups.kept.replaceChildren(...sides.kept);
  replace(map.groups.crosses, svg("path", { d: crosses.join(""), class: "cross" }));
  updateSelection();
}

function updateSelection() {
  const index = state.selected;
  map.groups.focus.replaceChildren();
  if (index === null || !isVisible(index)) return;
  const shown = prototypesOf(index), nearest = current().nearest[index];
  const members = shown.flatMap((prototype) => current().membersOf.get(prototype)).filter(isVisible).slice(0, MAX_THREADS);
  const ends = shown.length ? members : nearest >= 0 ? [nearest] : [];
  const x = mapX(index).toFixed(1), y = mapY(index).toFixed(1);
  const path = ends.map((end) => `M${x} ${y}L${mapX(end).toFixed(1)} ${mapY(end).toFixed(1)}`).join("");
  appendAll(map.groups.focus, [
    svg("path", { d: path, class: "thread" }),
    svg("circle", { cx: x, cy: y, r: Math.max(map.radius * 2.3, 9), class: "ring" }),
  ]);
}

function nearestOnMap(event, maxDistance) {
  const frame = map.box.firstChild.getBoundingClientRect();
  const x = event.clientX - frame.left, y = event.clientY - frame.top;
  let best = null, least = maxDistance * maxDistance;
  for (let index = 0; index < n; index++) {
    if (!isVisible(index) || isDimmed(index)) continue;
    // Prototypes are larger and drawn on top, so they are preferred a little.
    const bonus = current().kept[index] ? 4 : 0;
    const distance = (mapX(index) - x) ** 2 + (mapY(index) - y) ** 2 - bonus;
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}

// The nearest object in the direction of an arrow key.
function nextOnMap(dx, dy) {
  const from = state.selected;
  let best = null, least = Infinity;
  for (let index = 0; index < n; index++) {
    if (index === realCase(from) || !isVisible(index) || isDimmed(index)) continue;
    const x = mapX(index) - mapX(from), y = mapY(index) - mapY(from);
    const along = x * dx + y * dy, across = Math.abs(x * dy - y * dx);
    if (along <= 0.5 || across > 2 * along) continue;
    const distance = along + 2 * across;
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}

function onMapKey(event) {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (event.key === "Escape") return selectObject(null, false);
  if (!step) return;
  event.preventDefault();
  if (state.selected === null || !isVisible(state.selected)) {
    const first = shownStop().kept.find((index) => isVisible(index) && !isDimmed(index));
    if (first !== undefined) selectObject(realCase(first), false);
    return;
  }
  const next = nextOnMap(...step);
  if (next !== null) selectObject(next, false);
}

function showMapLegend() {
  const legend = (style, text) => legendEntry(svg("path", { d: circle(5), class: "mark plain " + style }), text);
  replace(
    byId("map-legend"),
    legend("kept", shownStop().moved ? "nearest real case of a prototype" : "kept"),
    legend("", shownStop().moved ? "other training object" : "dropped"),
    legendEntry(svg("path", { d: "M-4 -4l8 8m0 -8l-8 8", class: "cross" }), "training object whose nearest prototype is of another class"),
  );
}

function startMap() {
  map.box = byId("map");
  map.box.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch" || state.pinned) return;
    const index = nearestOnMap(event, 18);
    if (index !== null && index !== state.selected) selectObject(index, false);
  });
  map.box.addEventListener("click", (event) => {
    const index = nearestOnMap(event, 28);
    const isPinned = state.pinned && index === state.selected;
    selectObject(isPinned ? null : index, true);
  });
  map.box.addEventListener("keydown", onMapKey);
  on("stop", updateMarks);
  on("stop", showMapLegend);
  showMapLegend();
  on("filter", updateMarks);
  on("selected", updateSelection);
  new ResizeObserver(resizeMap).observe(map.box);
  resizeMap();
}
