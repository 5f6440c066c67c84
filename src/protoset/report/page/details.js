// The object that is looked at.

const MOST_LISTED = 24;

function jump(place) {
  const go = () => {
    choose(place, false);
    byId("details").scrollIntoView({ block: "nearest" });
  };
  return el("button", { type: "button", class: "link" + lengthOf(objects.ids[place]), click: go }, quoted(objects.ids[place]));
}

function factRow(name, ...value) {
  return [el("dt", {}, name), el("dd", {}, ...value)];
}

function countsByClass(places) {
  const counts = new Map();
  for (const place of places) counts.set(objects.codes[place], (counts.get(objects.codes[place]) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

function showDetails() {
  const box = byId("details"), place = state.selected;
  if (place === null) {
    return replace(box, el("p", { class: "quiet hint" }, "Point at an object, tap it, or find it by its id: it is shown here, with whom it stands for."));
  }
  const { kept, nearest, distances, wrong, followers } = current();
  const isKept = kept[place] === 1;
  const standing = isKept ? "prototype" : wrong[place] ? "dropped, and misclassified by the prototypes" : "dropped";
  const rows = [factRow("class", classTag(objects.codes[place]))];
  if (objects.weights) rows.push(factRow("weight", number(objects.weights[place])));
  if (objects.degradations) rows.push(factRow("degradation", number(objects.degradations[place])));
  if (nearest[place] >= 0) {
    const name = isKept ? "nearest other prototype" : "nearest prototype";
    const distance = el("span", { class: "quiet" }, " at distance " + number(distances[place]));
    rows.push(factRow(name, jump(nearest[place]), " ", classTag(objects.codes[nearest[place]]), distance));
  }
  const more = [];
  if (isKept) {
    const members = followers.get(place);
    const shares = countsByClass(members).map(([code, size]) => el("li", {}, count(size), " ", classTag(code)));
    rows.push(factRow("stands for", several(members.length, "other object", "other objects"), el("ul", { class: "plain" }, shares)));
    const listed = members.slice(0, MOST_LISTED).map((member) => jump(member));
    const rest = members.length > MOST_LISTED ? el("span", { class: "quiet" }, `and ${count(members.length - MOST_LISTED)} more`) : null;
    if (members.length) more.push(el("div", { class: "chips members" }, listed, rest));
  }
  replace(
    box,
    el("h3", {}, "Object ", quoted(objects.ids[place])),
    el("p", { class: "quiet" }, standing),
    picture(objects, place, "Object " + objects.ids[place]),
    el("dl", {}, rows),
    ...more,
  );
}

function startDetails() {
  for (const what of ["selected", "stop"]) on(what, showDetails);
  showDetails();
}
