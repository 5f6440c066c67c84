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

function total(counts) {
  return counts.reduce((sum, [, size]) => sum + size, 0);
}

function showDetails() {
  const box = byId("details"), index = state.selected;
  if (index === null) {
    return replace(box, el("p", { class: "quiet hint" }, "Point at an object, tap it, or search for its id. Its details appear here."));
  }
  const { kept, nearest, differs, membersOf, countsOf } = current();
  const isKept = kept[index] === 1;
  const status = isKept ? "prototype" : differs[index] ? "dropped; its nearest prototype is of another class" : "dropped";
  const rows = [factRow("class", classTag(objects.codes[index]))];
  if (objects.rows) rows.unshift(factRow("row", String(objects.rows[index])));
  if (objects.weights) rows.push(factRow("weight", number(objects.weights[index])));
  if (objects.degradations) rows.push(factRow("degradation", number(objects.degradations[index])));
  if (nearest[index] >= 0) {
    const name = isKept ? "nearest other prototype" : "nearest prototype";
    const distance = el("span", { class: "quiet" }, " at distance " + number(distanceTo(objects, index, nearest[index])));
    rows.push(factRow(name, objectLink(nearest[index]), " ", classTag(objects.codes[nearest[index]]), distance));
  }
  let memberList = null;
  if (isKept) {
    const counts = countsOf.get(index), members = membersOf.get(index), others = total(counts) - 1;
    const shares = counts.map(([code, size]) => el("li", {}, count(size), " ", classTag(code)));
    const objectCount = plural(total(counts), "training object", "training objects") + ", itself included";
    rows.push(factRow("stands for", objectCount, el("ul", { class: "plain" }, shares)));
    const listed = members.slice(0, MAX_MEMBERS).map((member) => objectLink(member));
    const rest = others > listed.length ? el("span", { class: "quiet" }, `and ${count(others - listed.length)} more`) : null;
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
