// The model of the page, the choices of the user, and the nearest prototypes at each stop of the slider.
// Objects and test objects are named by their index in the model.

const model = JSON.parse(byId("model").textContent);
const objects = model.objects;
const queries = model.queries;
const n = objects.ids.length;

const state = {
  stop: model.summary.chosen_stop,
  hidden: new Set(), // codes of hidden classes
  matching: null, // indices of objects that match the search; null without a search
  selected: null,
  pinned: false,
  printing: false,
};

const listeners = { stop: [], filter: [], selected: [] };

function on(change, listener) {
  listeners[change].push(listener);
}

function notify(change) {
  for (const listener of listeners[change]) listener();
}

const assignments = new Map(); // by stop

// Which objects are kept, the nearest prototype of each object, and the objects that each prototype stands for.
function current() {
  if (!assignments.has(state.stop)) assignments.set(state.stop, assign(model.stops[state.stop]));
  return assignments.get(state.stop);
}

function assign(stop) {
  const kept = new Uint8Array(n);
  for (const index of stop.kept) kept[index] = 1;
  const nearest = new Int32Array(n).fill(-1);
  const distances = new Array(n).fill(null);
  const wrong = new Uint8Array(n);
  const membersOf = new Map(stop.kept.map((index) => [index, []]));
  for (let index = 0; index < n; index++) {
    const first = objects.nearest[index].findIndex((prototype) => prototype >= 0 && kept[prototype]);
    if (first < 0) continue;
    nearest[index] = objects.nearest[index][first];
    distances[index] = objects.distances[index][first];
    if (kept[index]) continue;
    wrong[index] = objects.codes[nearest[index]] !== objects.codes[index] ? 1 : 0;
    membersOf.get(nearest[index]).push(index);
  }
  return { kept, nearest, distances, wrong, membersOf };
}

const MAX_NEAREST = 5; // prototypes listed for a test object

// The nearest prototypes of a test object, nearest first, with their ranks. Equal distances share the best rank.
function nearestPrototypes(query) {
  const kept = current().kept;
  const shown = [];
  queries.nearest[query].forEach((index, position) => {
    if (index < 0 || !kept[index]) return;
    const distance = queries.distances[query][position], previous = shown.at(-1);
    shown.push({ index, distance, rank: previous && previous.distance === distance ? previous.rank : shown.length + 1 });
  });
  return shown.slice(0, MAX_NEAREST);
}

// The prototype that decides about a test object, and its rank.
function decision(query) {
  if (queries.decided) {
    return { index: queries.decided.winners[state.stop][query], rank: queries.decided.ranks[state.stop][query] };
  }
  const first = nearestPrototypes(query)[0];
  return first ? { index: first.index, rank: first.rank } : { index: -1, rank: 1 };
}

function isVisible(index) {
  return !state.hidden.has(objects.codes[index]);
}

function isDimmed(index) {
  return state.matching !== null && !state.matching.has(index);
}

function selectObject(index, pinned) {
  state.selected = index;
  state.pinned = pinned && index !== null;
  notify("selected");
}

function setStop(stop) {
  state.stop = stop;
  notify("stop");
}

// Whether the id of an object, or its text, contains the search term.
function matchesTerm(group, index, term) {
  if (group.ids[index].toLowerCase().includes(term)) return true;
  return group.values.kind === "strings" && group.values.values[index].toLowerCase().includes(term);
}
