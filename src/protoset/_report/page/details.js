// Details of the selected object.

const MAX_MEMBERS = 24; // objects listed for a prototype
const MAX_IMAGES = 12; // of them as images

// A link to an object, or to a moved prototype by the name of its real case.
function objectLink(index) {
  const id = objects.ids[realCase(index)];
  const go = () => {
    selectObject(index, false);
    byId("details").scrollIntoView({ block: "nearest" });
  };
  return el("button", { type: "button", class: "link" + longClass(id), click: go }, isolate(id));
}

function factRow(name, ...value) {
  return [el("dt", {}, name), el("dd", {}, ...value)];
}

function total(counts) {
  return counts.reduce((sum, [, size]) => sum + size, 0);
}

// The prototypes that a selected object shows: the chosen one of several, or all that have it as their real case.
function prototypesOf(index) {
  const { countsOf, prototypesAt } = current();
  return isMoved(index) ? (countsOf.has(index) ? [index] : []) : prototypesAt.get(index) || [];
}

function statusOf(object, prototypes) {
  const { nearest, differs } = current(), isMovedSet = shownStop().moved;
  const other = differs[object] ? "its nearest prototype is of another class" : null;
  let what = prototypes.length ? "prototype" : isMovedSet ? "not a real case of any prototype" : "dropped";
  if (isMovedSet && prototypes.length) {
    what = prototypes.length === 1 ? "the nearest real case of a prototype, which has moved" : `the nearest real case of ${prototypes.length} prototypes, which have moved`;
  }
  return [what, nearest[object] >= 0 ? other : null].filter(Boolean).join("; ");
}

// What a prototype stands for, and the objects of it that are on the page.
function standsFor(prototype) {
  const { countsOf, membersOf } = current();
  const counts = countsOf.get(prototype), members = membersOf.get(prototype), itself = isMoved(prototype) ? 0 : 1;
  const shares = counts.map(([code, size]) => el("li", {}, count(size), " ", classTag(code)));
  const objectCount = plural(total(counts), "training object", "training objects") + (itself ? ", itself included" : "");
  const areImages = objects.values.kind === "images", shown = members.slice(0, areImages ? MAX_IMAGES : MAX_MEMBERS);
  const listed = areImages ? pictureList(shown, "Objects that it stands for", false) : shown.map((member) => objectLink(member));
  const left = total(counts) - itself - shown.length;
  const rest = left > 0 ? el("span", { class: "quiet" }, `and ${count(left)} more`) : null;
  return {
    row: factRow("stands for", objectCount, el("ul", { class: "plain" }, shares)),
    list: members.length ? el("div", { class: "chips members" }, listed, rest) : null,
  };
}

// Where a moved prototype is: rows of facts.
function movedRows(prototype) {
  const slot = prototype - n, start = moved.starts[slot];
  const distance = el("span", { class: "quiet" }, " at distance " + number(moved.distances[slot]));
  return [
    factRow("prototype", "moved; its nearest real case is this object", distance),
    start < 0 ? null : factRow("started from", start === moved.exemplars[slot] ? "this object" : objectLink(start)),
  ];
}

// What the method learned about an object.
function objectMethod(object) {
  const rows = [];
  if (objects.weights) rows.push(factRow("weight", number(objects.weights[object])));
  if (objects.degradations) rows.push(factRow("degradation", number(objects.degradations[object])));
  return rows.length ? methodDetails(el("dl", {}, rows)) : null;
}

function showDetails() {
  const box = byId("details"), index = state.selected;
  if (index === null) {
    return replace(box, el("p", { class: "quiet hint" }, "Point at an object, tap it, or search for its id. Its details appear here."));
  }
  const object = realCase(index), prototypes = prototypesOf(index), { nearest } = current();
  const width = Math.min(440, widthOf(box));
  const movedOnes = prototypes.filter(isMoved), isItself = prototypes.length > 0 && movedOnes.length === 0;
  const rows = [factRow("class", classTag(objects.codes[object]))];
  if (objects.rows) rows.unshift(factRow("row", String(objects.rows[object])));
  const winner = nearest[object];
  if (winner >= 0 && !prototypes.includes(winner)) {
    const name = isItself ? "nearest other prototype" : "nearest prototype";
    const distance = el("span", { class: "quiet" }, " at distance " + number(distanceTo(objects, object, winner)));
    rows.push(factRow(name, isMoved(winner) ? "moved; its nearest real case is object " : null, objectLink(winner), " ", classTag(codeOf(winner)), distance));
  }
  const parts = prototypes.map((prototype) => {
    const { row, list } = standsFor(prototype);
    return isMoved(prototype) ? [el("dl", {}, movedRows(prototype), row), list] : [el("dl", {}, rows, row), list];
  });
  replace(
    box,
    el("h3", {}, "Object ", isolate(objects.ids[object])),
    el("p", { class: "quiet" }, statusOf(object, prototypes)),
    movedOnes.length ? pictureWithMoved(object, movedOnes, width) : picture(objects, object, "object " + isolateText(objects.ids[object]), width),
    isItself ? null : el("dl", {}, rows),
    parts,
    objectMethod(object),
  );
}

function startDetails() {
  for (const change of ["selected", "stop"]) on(change, showDetails);
  showDetails();
}
