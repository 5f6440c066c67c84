// Objects that coincide on the map: a count beside their mark, and a list of the objects at the selected place.

const STACK_DISTANCE = 2; // pixels within which objects are at the same place
const MAX_STACKED = 40; // objects listed for a place
const MAX_COUNTS = 150; // counts written on the map

const stacks = { isHovering: false, isHovered: false, listed: [] }; // isHovered: the selection came from the mouse

// Visible objects with the very same coordinates, the largest groups first.
function findStacks() {
  const groups = new Map(), [xs, ys] = coordinates();
  for (const index of [...map.layers.kept, ...map.layers.wrong, ...map.layers.dropped]) {
    const key = xs[index] * 100003 + ys[index];
    if (groups.has(key)) groups.get(key).push(index);
    else groups.set(key, [index]);
  }
  return [...groups.values()].filter((group) => group.length > 1).sort((a, b) => b.length - a.length);
}

// Of counts that would cover each other, the largest is written.
function drawCounts(pen) {
  const taken = new Set(), radius = markRadius(), ratio = map.ratio;
  let written = 0;
  pen.font = `600 ${11 * ratio}px ui-sans-serif, system-ui, sans-serif`;
  pen.textBaseline = "middle";
  pen.lineWidth = 3 * ratio;
  pen.lineJoin = "round";
  for (const group of map.stacks) {
    const x = screenX(group[0]), y = screenY(group[0]);
    const cell = `${Math.round(x / 30)} ${Math.round(y / 14)}`;
    if (x < 0 || y < 0 || x > map.width || y > map.height || taken.has(cell)) continue;
    taken.add(cell);
    const place = [(x + radius * 1.5 + 3) * ratio, (y - radius * 1.5 - 2) * ratio];
    pen.strokeStyle = map.colours.paper;
    pen.fillStyle = map.colours.ink;
    pen.strokeText(count(group.length), ...place);
    pen.fillText(count(group.length), ...place);
    if (++written === MAX_COUNTS) break;
  }
}

// All objects at the place of an object, prototypes first.
function objectsAt(index) {
  const x = screenX(index), y = screenY(index), { kept } = current();
  const found = [];
  forEachNear(x, y, STACK_DISTANCE, (other) => {
    const isNear = Math.abs(screenX(other) - x) <= STACK_DISTANCE && Math.abs(screenY(other) - y) <= STACK_DISTANCE;
    if (isNear && isVisible(other) && !isDimmed(other)) found.push(other);
  });
  return found.sort((a, b) => kept[b] - kept[a] || a - b);
}

function showStack() {
  const index = state.selected, box = byId("map-stack");
  const at = index === null || !isVisible(index) ? [] : objectsAt(index);
  stacks.listed = [];
  if (at.length < 2) return replace(box);
  const text = `${count(at.length)} objects are at this place`;
  if (stacks.isHovered) return replace(box, text + "; tap to list them.");
  stacks.listed = at.slice(0, MAX_STACKED);
  const left = at.length - stacks.listed.length;
  replace(
    box,
    text + ": ",
    el("span", { class: "chips members" },
      stacks.listed.map((object) => el("span", {}, glyph(objects.codes[object], current().kept[object] === 1), " ", objectLink(object))),
      left ? el("span", {}, `and ${count(left)} more; zoom in to part those that differ`) : null),
  );
}

function startStacks() {
  on("selected", () => {
    const isLink = state.selected !== null && !stacks.isHovering && stacks.listed.includes(realCase(state.selected));
    if (isLink) return; // the list stays, and its link keeps the focus
    stacks.isHovered = stacks.isHovering;
    showStack();
  });
  for (const change of ["stop", "filter"]) on(change, showStack);
}
