// What the page is about, what is chosen on it, and what follows from that at each stop of the slider.

const model = JSON.parse(byId("model").textContent);
const objects = model.objects;
const queries = model.queries;
const n = objects.ids.length;

const state = {
  stop: model.summary.chosen_stop,
  hidden: new Set(), // classes
  matching: null, // objects that a search found, or null where nothing is sought
  selected: null,
  pinned: false,
  printing: false,
};

const listeners = { stop: [], filter: [], selected: [] };

function on(what, listener) {
  listeners[what].push(listener);
}

function tell(what) {
  for (const listener of listeners[what]) listener();
}

const known = new Map();

// Who is kept, whose nearest prototype is who, and whom each prototype stands for.
function current() {
  if (!known.has(state.stop)) known.set(state.stop, follow(model.stops[state.stop]));
  return known.get(state.stop);
}

function follow(stop) {
  const kept = new Uint8Array(n);
  for (const place of stop.kept) kept[place] = 1;
  const nearest = new Int32Array(n).fill(-1);
  const distances = new Array(n).fill(null);
  const wrong = new Uint8Array(n);
  const followers = new Map(stop.kept.map((place) => [place, []]));
  for (let place = 0; place < n; place++) {
    const at = objects.nearest[place].findIndex((other) => other >= 0 && kept[other]);
    if (at < 0) continue;
    nearest[place] = objects.nearest[place][at];
    distances[place] = objects.distances[place][at];
    if (kept[place]) continue;
    wrong[place] = objects.codes[nearest[place]] !== objects.codes[place] ? 1 : 0;
    followers.get(nearest[place]).push(place);
  }
  return { kept, nearest, distances, wrong, followers };
}

// The prototypes of a query in the order of their distances, with their ranks; equal distances share the best rank.
function answers(query) {
  const kept = current().kept;
  const shown = [];
  queries.nearest[query].forEach((place, at) => {
    if (place >= 0 && kept[place]) shown.push({ place, distance: queries.distances[query][at] });
  });
  shown.forEach((one, at) => {
    one.rank = at > 0 && one.distance === shown[at - 1].distance ? shown[at - 1].rank : at + 1;
  });
  return shown.slice(0, 5);
}

// The prototype that decides, and its rank.
function decision(query) {
  if (queries.decided) {
    return { place: queries.decided.winners[state.stop][query], rank: queries.decided.ranks[state.stop][query] };
  }
  const first = answers(query)[0];
  return first ? { place: first.place, rank: first.rank } : { place: -1, rank: 1 };
}

function isVisible(place) {
  return !state.hidden.has(objects.codes[place]);
}

function isDimmed(place) {
  return state.matching !== null && !state.matching.has(place);
}

function choose(place, pinned) {
  state.selected = place;
  state.pinned = pinned && place !== null;
  tell("selected");
}

function goTo(stop) {
  state.stop = stop;
  tell("stop");
}

// Whether an id, or the text of a string, holds what is sought.
function holds(group, place, sought) {
  if (group.ids[place].toLowerCase().includes(sought)) return true;
  return group.values.kind === "strings" && group.values.values[place].toLowerCase().includes(sought);
}
