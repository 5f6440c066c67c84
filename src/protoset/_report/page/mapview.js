// The view of the map: zoom and pan by wheel, fingers, buttons and keys; the object under the pointer.

const MAX_ZOOM = 40;
const DRAG_START = 4; // pixels that a pointer moves before it drags

const view = { pointers: new Map(), isDragging: false, hover: null };

// The map always fills its canvas.
function clampPan() {
  map.panX = Math.min(0, Math.max(map.width * (1 - map.zoom), map.panX));
  map.panY = Math.min(0, Math.max(map.height * (1 - map.zoom), map.panY));
}

// Zooms by a factor; the point of the canvas stays where it is.
function zoomMap(factor, x = map.width / 2, y = map.height / 2) {
  const zoom = Math.min(MAX_ZOOM, Math.max(1, map.zoom * factor)), growth = zoom / map.zoom;
  map.panX = x - (x - map.panX) * growth;
  map.panY = y - (y - map.panY) * growth;
  map.zoom = zoom;
  showView();
  if (growth !== 1) showStack();
}

function panMap(dx, dy) {
  map.panX += dx;
  map.panY += dy;
  showView();
}

function showView() {
  clampPan();
  byId("zoom-in").disabled = map.zoom >= MAX_ZOOM;
  byId("zoom-out").disabled = byId("zoom-all").disabled = map.zoom <= 1;
  // One finger scrolls the page until the map is enlarged.
  map.box.classList.toggle("enlarged", map.zoom > 1);
  redrawMap();
}

function bringIntoView() {
  const index = state.selected;
  if (index === null || map.zoom === 1) return;
  const x = screenX(index), y = screenY(index);
  if (x >= 0 && y >= 0 && x <= map.width && y <= map.height) return;
  panMap(map.width / 2 - x, map.height / 2 - y);
}

function pointOf(event) {
  const frame = map.marks.getBoundingClientRect(), scale = map.width / (frame.width || 1);
  return [(event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale];
}

function nearestOnMap(x, y, maxDistance) {
  let best = null, least = maxDistance * maxDistance;
  const { kept } = current();
  forEachNear(x, y, maxDistance + 2, (index) => {
    if (!isVisible(index) || isDimmed(index)) return;
    // Prototypes are larger and drawn on top, so they are preferred a little.
    const bonus = kept[index] ? 4 : 0;
    const distance = (screenX(index) - x) ** 2 + (screenY(index) - y) ** 2 - bonus;
    if (distance < least || (distance === least && index < best)) [best, least] = [index, distance];
  });
  return best;
}

// The nearest object in the direction of an arrow key.
function nextOnMap(dx, dy) {
  const from = state.selected, fromX = screenX(from), fromY = screenY(from);
  let best = null, least = Infinity;
  for (let index = 0; index < n; index++) {
    if (index === realCase(from) || !isVisible(index) || isDimmed(index)) continue;
    const x = screenX(index) - fromX, y = screenY(index) - fromY;
    const along = x * dx + y * dy, across = Math.abs(x * dy - y * dx);
    if (along <= 0.5 || across > 2 * along) continue;
    const distance = along + 2 * across;
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const ZOOM_KEYS = { "+": 1.5, "=": 1.5, "-": 1 / 1.5, 0: 0 };

function onMapKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return; // keys of the browser
  if (event.key === "Escape") return selectObject(null, false);
  if (event.key in ZOOM_KEYS) {
    event.preventDefault();
    const at = state.selected !== null && isVisible(state.selected) ? [screenX(state.selected), screenY(state.selected)] : [];
    return zoomMap(ZOOM_KEYS[event.key], ...at);
  }
  const step = ARROWS[event.key];
  if (!step) return;
  event.preventDefault();
  if (event.shiftKey) return panMap(-80 * step[0], -80 * step[1]);
  if (state.selected === null || !isVisible(state.selected)) {
    const first = shownStop().kept.find((index) => isVisible(index) && !isDimmed(index));
    if (first !== undefined) selectObject(realCase(first), false);
    return;
  }
  const next = nextOnMap(...step);
  if (next !== null) selectObject(next, false);
}

// Once per frame: a mouse reports more moves than a page can show.
function hoverAt(x, y) {
  const isWaiting = view.hover !== null;
  view.hover = [x, y];
  if (isWaiting) return;
  requestAnimationFrame(() => {
    const index = view.hover && !state.pinned ? nearestOnMap(...view.hover, 18) : null;
    view.hover = null;
    if (index === null || index === state.selected) return;
    stacks.isHovering = true;
    selectObject(index, false);
    stacks.isHovering = false;
  });
}

function onPointerMove(event) {
  const [x, y] = pointOf(event), before = view.pointers.get(event.pointerId);
  if (!before) {
    if (event.pointerType !== "touch") hoverAt(x, y);
    return;
  }
  const others = [...view.pointers.entries()].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
  if (others.length) {
    const other = others[0], distance = (point) => Math.hypot(point.x - other.x, point.y - other.y);
    const middle = [(x + other.x) / 2, (y + other.y) / 2];
    zoomMap(distance({ x, y }) / Math.max(distance(before), 1), ...middle);
    panMap((x - before.x) / 2, (y - before.y) / 2);
    view.isDragging = true;
  } else if (!view.isDragging && Math.hypot(x - before.x, y - before.y) < DRAG_START) {
    return;
  } else if (map.zoom > 1) {
    if (!view.isDragging) map.box.setPointerCapture(event.pointerId);
    view.isDragging = true;
    panMap(x - before.x, y - before.y);
  }
  view.pointers.set(event.pointerId, { x, y });
}

function onPointerDown(event) {
  const [x, y] = pointOf(event);
  if (view.pointers.size === 0) view.isDragging = false;
  if (event.button === 0) view.pointers.set(event.pointerId, { x, y });
}

function onTap(event) {
  if (view.isDragging) return;
  const index = nearestOnMap(...pointOf(event), 28);
  const isPinned = state.pinned && index === state.selected;
  selectObject(isPinned ? null : index, true);
}

// The wheel scrolls the page unless the map has the focus; two fingers on a touchpad come with ctrlKey.
function onWheel(event) {
  const isOurs = event.ctrlKey || document.activeElement === map.box;
  if (!isOurs || (event.deltaY > 0 && map.zoom === 1)) return;
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 20 : 1;
  zoomMap(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.002)), ...pointOf(event));
}

function startMapView() {
  const forget = (event) => view.pointers.delete(event.pointerId);
  map.box.addEventListener("pointerdown", onPointerDown);
  map.box.addEventListener("pointermove", onPointerMove);
  for (const name of ["pointerup", "pointercancel"]) addEventListener(name, forget);
  map.box.addEventListener("click", onTap);
  map.box.addEventListener("wheel", onWheel, { passive: false });
  map.box.addEventListener("keydown", onMapKey);
  byId("zoom-in").addEventListener("click", () => zoomMap(1.6));
  byId("zoom-out").addEventListener("click", () => zoomMap(1 / 1.6));
  byId("zoom-all").addEventListener("click", () => zoomMap(0));
}
