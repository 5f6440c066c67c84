// Details of the selected object.

const MAX_MEMBERS = 24; // objects listed for a prototype

function objectLink(index) {
  const go = () => {
    selectObject(index, false);
    byId("details").scrollIntoView({ block: "nearest" });
  };
  return el("button", { type: "button", class: "link" + longClass(objects.ids[index]), click: go }, isolate(objects.ids[index]));
}

function factRow(name, ...value) {
  return [el("dt", {}, name), el("dd", {}, ...value)];
}

function countsByClass(indices) {
  const counts = new Map();
  for (const index of indices) counts.set(objects.codes[index], (counts.get(objects.codes[index]) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

function showDetails() {
  const box = byId("details"), index = state.selected;
  if (index === null) {
    return replace(box, el("p", { class: "quiet hint" }, "Point at an object, tap it, or search for its id. Its details appear here."));
  }
  const { kept, nearest, distances, wrong, membersOf } = current();
  const isKept = kept[index] === 1;
  const status = isKept ? "prototype" : wrong[index] ? "dropped, misclassified by the prototypes" : "dropped";
  const rows = [factRow("class", classTag(objects.codes[index]))];
  if (objects.weights) rows.push(factRow("weight", number(objects.weights[index])));
  if (objects.degradations) rows.push(factRow("degradation", number(objects.degradations[index])));
  if (nearest[index] >= 0) {
    const name = isKept ? "nearest other prototype" : "nearest prototype";
    const distance = el("span", { class: "quiet" }, " at distance " + number(distances[index]));
    rows.push(factRow(name, objectLink(nearest[index]), " ", classTag(objects.codes[nearest[index]]), distance));
  }
  let memberList = null;
  if (isKept) {
    const members = membersOf.get(index);
    const shares = countsByClass(members).map(([code, size]) => el("li", {}, count(size), " ", classTag(code)));
    rows.push(factRow("stands for", plural(members.length, "other object", "other objects"), el("ul", { class: "plain" }, shares)));
    const listed = members.slice(0, MAX_MEMBERS).map((member) => objectLink(member));
    const rest = members.length > MAX_MEMBERS ? el("span", { class: "quiet" }, `and ${count(members.length - MAX_MEMBERS)} more`) : null;
    if (members.length) memberList = el("div", { class: "chips members" }, listed, rest);
  }
  replace(
    box,
    el("h3", {}, "Object ", isolate(objects.ids[index])),
    el("p", { class: "quiet" }, status),
    picture(objects, index, "Object " + objects.ids[index]),
    el("dl", {}, rows),
    memberList,
  );
}

function startDetails() {
  for (const change of ["selected", "stop"]) on(change, showDetails);
  showDetails();
}
