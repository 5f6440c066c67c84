// The map: every object in the plane, kept or dropped, and the one that is looked at.

const map = { box: null, width: 0, height: 0, radius: 4, nodes: [], groups: {} };

function mapX(place) {
  return map.left + objects.x[place] * map.scale;
}

function mapY(place) {
  return map.bottom - objects.y[place] * map.scale;
}

function layOutMap() {
  const width = widthOf(map.box), edge = 14;
  if (width === map.width) return;
  const spreadX = Math.max(...objects.x, 1), spreadY = Math.max(...objects.y, 1);
  map.width = width;
  map.scale = (width - 2 * edge) / spreadX;
  const most = Math.min(520, width * 0.9);
  if (spreadY * map.scale > most - 2 * edge) map.scale = (most - 2 * edge) / spreadY;
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
  map.nodes = objects.ids.map((_, place) =>
    svg("path", { transform: `translate(${mapX(place).toFixed(1)} ${mapY(place).toFixed(1)})` }),
  );
  markMap();
}

function markMap() {
  const { kept, wrong } = current();
  const crosses = [], arm = Math.max(map.radius * 0.65, 2);
  const sides = { kept: [], dropped: [] };
  map.nodes.forEach((node, place) => {
    const code = objects.codes[place];
    node.setAttribute("d", shape(code, kept[place] ? Math.max(map.radius * 1.5, 4.2) : map.radius));
    node.setAttribute("class", `mark ${tint(code)}` + (kept[place] ? " kept" : "") + (isDimmed(place) ? " dimmed" : ""));
    if (!isVisible(place)) return;
    sides[kept[place] ? "kept" : "dropped"].push(node);
    if (wrong[place] && !isDimmed(place)) {
      const x = mapX(place), y = mapY(place);
      crosses.push(`M${(x - arm).toFixed(1)} ${(y - arm).toFixed(1)}l${2 * arm} ${2 * arm}m0 ${-2 * arm}l${-2 * arm} ${2 * arm}`);
    }
  });
  map.groups.dropped.replaceChildren(...sides.dropped);
  map.groups.kept.replaceChildren(...sides.kept);
  replace(map.groups.crosses, svg("path", { d: crosses.join(""), class: "cross" }));
  markSelected();
}

function markSelected() {
  const place = state.selected;
  map.groups.focus.replaceChildren();
  if (place === null || !isVisible(place)) return;
  const { kept, nearest, followers } = current();
  const ends = kept[place] ? followers.get(place).filter(isVisible).slice(0, 400) : nearest[place] >= 0 ? [nearest[place]] : [];
  const x = mapX(place).toFixed(1), y = mapY(place).toFixed(1);
  const path = ends.map((end) => `M${x} ${y}L${mapX(end).toFixed(1)} ${mapY(end).toFixed(1)}`).join("");
  fill(map.groups.focus, [
    svg("path", { d: path, class: "thread" }),
    svg("circle", { cx: x, cy: y, r: Math.max(map.radius * 2.3, 9), class: "ring" }),
  ]);
}

function nearestOnMap(event, most) {
  const frame = map.box.firstChild.getBoundingClientRect();
  const x = event.clientX - frame.left, y = event.clientY - frame.top;
  let best = null, least = most * most;
  for (let place = 0; place < n; place++) {
    if (!isVisible(place) || isDimmed(place)) continue;
    // A prototype is drawn on top and larger; it wins by a little.
    const ease = current().kept[place] ? 4 : 0;
    const far = (mapX(place) - x) ** 2 + (mapY(place) - y) ** 2 - ease;
    if (far < least) [best, least] = [place, far];
  }
  return best;
}

// The object nearest in the direction of an arrow key.
function nextOnMap(dx, dy) {
  const from = state.selected;
  let best = null, least = Infinity;
  for (let place = 0; place < n; place++) {
    if (place === from || !isVisible(place) || isDimmed(place)) continue;
    const x = mapX(place) - mapX(from), y = mapY(place) - mapY(from);
    const along = x * dx + y * dy, across = Math.abs(x * dy - y * dx);
    if (along <= 0.5 || across > 2 * along) continue;
    const far = along + 2 * across;
    if (far < least) [best, least] = [place, far];
  }
  return best;
}

function onMapKey(event) {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (event.key === "Escape") return choose(null, false);
  if (!step) return;
  event.preventDefault();
  if (state.selected === null || !isVisible(state.selected)) {
    const first = model.stops[state.stop].kept.find((place) => isVisible(place) && !isDimmed(place));
    if (first !== undefined) choose(first, false);
    return;
  }
  const next = nextOnMap(...step);
  if (next !== null) choose(next, false);
}

function startMap() {
  map.box = byId("map");
  map.box.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch" || state.pinned) return;
    const place = nearestOnMap(event, 18);
    if (place !== null && place !== state.selected) choose(place, false);
  });
  map.box.addEventListener("click", (event) => {
    const place = nearestOnMap(event, 28);
    const again = state.pinned && place === state.selected;
    choose(again ? null : place, true);
  });
  map.box.addEventListener("keydown", onMapKey);
  const legend = (style, text) => legendEntry(svg("path", { d: circle(5), class: "mark plain " + style }), text);
  replace(
    byId("map-legend"),
    legend("kept", "kept"),
    legend("", "dropped"),
    legendEntry(svg("path", { d: "M-4 -4l8 8m0 -8l-8 8", class: "cross" }), "nearest prototype is of another class"),
  );
  on("stop", markMap);
  on("filter", markMap);
  on("selected", markSelected);
  new ResizeObserver(layOutMap).observe(map.box);
  layOutMap();
}
