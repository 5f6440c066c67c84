// The model of the page, the choices of the user, and the nearest prototypes at each stop of the slider.
// Objects and test objects are named by their index in the model. Moved prototypes have the numbers after the objects:
// each is shown by its real case, the nearest training object of its class.

const model = JSON.parse(byId("model").textContent);
const objects = model.objects;
for (const [name, part] of Object.entries(objects)) if (name !== "values") objects[name] = unpack(part);
const queries = model.queries;
const moved = model.moved; // null where no prototype has moved
const n = objects.ids.length;

function isMoved(index) {
  return index >= n;
}

// The object that shows a prototype: the prototype itself, or where it has moved, its nearest real case.
function realCase(index) {
  return isMoved(index) ? moved.exemplars[index - n] : index;
}

// A moved prototype is of the class of its real case.
function codeOf(index) {
  return objects.codes[realCase(index)];
}

const state = {
  stop: model.summary.chosen_stop,
  hidden: new Set(), // codes of hidden classes
  cell: null, // actual and predicted class of the filter by the confusion matrix
  theme: null, // "dark" or "light" where the user chose one
  matching: null, // indices of objects that match the search; null without a search
  selected: null,
  pinned: false,
  errors: false, // whether the map marks objects whose nearest prototype is of another class
  printing: false,
};

const listeners = { stop: [], filter: [], selected: [], theme: [] };

function on(change, listener) {
  listeners[change].push(listener);
}

function notify(change) {
  for (const listener of listeners[change]) listener();
}

// The stop whose set is shown: the stop of the slider, or the chosen one where the page holds no set of that size.
function shownNumber() {
  return model.stops[state.stop].kept ? state.stop : model.summary.chosen_stop;
}

function shownStop() {
  return model.stops[shownNumber()];
}

const assignments = new Map(); // by stop

// Which objects show a prototype, the nearest prototype of each object, and what each prototype stands for.
function current() {
  const number = shownNumber();
  if (!assignments.has(number)) assignments.set(number, assign(number));
  return assignments.get(number);
}

// A group of objects or test objects: the distance to a prototype, null where it is not known.
function distanceTo(group, index, prototype) {
  const position = group.nearest[index].indexOf(prototype);
  return position < 0 ? null : group.distances[index][position];
}

// Members are the objects on the page whose nearest prototype it is. Counts are those of all training objects.
function assign(number) {
  const stop = model.stops[number], nearest = objects.winners[number];
  const kept = new Uint8Array(n);
  const prototypesAt = new Map(); // by object; several moved prototypes may have one real case
  for (const index of stop.kept) {
    const object = realCase(index);
    kept[object] = 1;
    prototypesAt.set(object, [...(prototypesAt.get(object) || []), index]);
  }
  const differs = new Uint8Array(n);
  const membersOf = new Map(stop.kept.map((index) => [index, []]));
  const countsOf = new Map(stop.kept.map((index, position) => [index, stop.members[position]]));
  for (let index = 0; index < n; index++) {
    if (nearest[index] < 0 || (kept[index] && !stop.moved)) continue;
    differs[index] = codeOf(nearest[index]) !== objects.codes[index] ? 1 : 0;
    membersOf.get(nearest[index]).push(index);
  }
  return { kept, nearest, differs, membersOf, countsOf, prototypesAt };
}

const MAX_NEAREST = 5; // prototypes listed for a test object

// The nearest prototypes of a test object, nearest first, with their ranks. Equal distances share the best rank.
function nearestPrototypes(query) {
  const { countsOf } = current();
  const shown = [];
  queries.nearest[query].forEach((index, position) => {
    if (!countsOf.has(index)) return;
    const distance = queries.distances[query][position], previous = shown.at(-1);
    shown.push({ index, distance, rank: previous && previous.distance === distance ? previous.rank : shown.length + 1 });
  });
  return shown.slice(0, MAX_NEAREST);
}

// The prototype that decides about a test object, its rank, and the number of equally near prototypes.
function decision(query) {
  const number = shownNumber();
  return { index: queries.winners[number][query], rank: queries.ranks[number][query], tied: queries.n_tied[number][query] };
}

function isVisible(index) {
  return !state.hidden.has(codeOf(index));
}

function isDimmed(index) {
  if (state.cell !== null && !objectsInCell().has(realCase(index))) return true;
  return state.matching !== null && !state.matching.has(realCase(index));
}

function selectObject(index, pinned) {
  state.selected = index;
  state.pinned = pinned && index !== null;
  notify("selected");
}

function setStop(stop) {
  state.stop = stop;
  // Sets of other sizes have no moved prototypes.
  if (state.selected !== null) state.selected = realCase(state.selected);
  notify("stop");
}

// Whether the id of an object, its row or its text match the search term. The row must match as a whole.
function matchesTerm(group, index, term) {
  if (group.ids[index].toLowerCase().includes(term)) return true;
  if (group.rows && String(group.rows[index]) === term) return true;
  return group.values.kind === "strings" && (group.values.values[index] ?? "").toLowerCase().includes(term);
}
