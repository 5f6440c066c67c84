// Filter by class; search by id or text.

const MAX_MATCHES = 12; // matches listed below the search field

const classBoxes = new Map(); // check boxes by code

// Classes whose chip is listed: all, or those that match the search among the classes.
function listedClasses() {
  const term = byId("class-find").value.trim().toLowerCase();
  return [...classBoxes.keys()].filter((code) => className(code).toLowerCase().includes(term));
}

function listClasses() {
  const listed = new Set(listedClasses());
  for (const [code, box] of classBoxes) box.parentElement.hidden = !listed.has(code);
}

// Check boxes follow the state, whatever changed it.
function showClassFilter() {
  let shown = 0;
  for (const [code, box] of classBoxes) {
    box.checked = !state.hidden.has(code);
    if (box.checked) shown++;
  }
  replace(byId("class-count"), `${count(shown)} of ${count(classBoxes.size)} shown`);
}

function startClassFilter() {
  const present = model.classes.map((_, code) => code).filter((code) => model.class_sizes[code] > 0);
  const chips = present.map((code) => {
    const box = el("input", { type: "checkbox", checked: true, "data-class": code });
    box.addEventListener("change", () => {
      if (box.checked) state.hidden.delete(code);
      else state.hidden.add(code);
      notify("filter");
    });
    classBoxes.set(code, box);
    return el("label", { class: "chip" }, box, glyph(code), isolate(className(code)), el("span", { class: "quiet" }, count(model.class_sizes[code])));
  });
  replace(byId("class-boxes"), chips);
  const toggle = (shown) => () => {
    for (const code of listedClasses()) state.hidden[shown ? "delete" : "add"](code);
    notify("filter");
  };
  byId("all-classes").addEventListener("click", toggle(true));
  byId("no-classes").addEventListener("click", toggle(false));
  byId("class-find-box").hidden = !hasManyClasses();
  byId("class-find").addEventListener("input", listClasses);
  on("filter", showClassFilter);
  showClassFilter();
}

// The exact id first, then ids that begin with the term.
function searchOrder(term) {
  const grade = (index) => {
    const id = objects.ids[index].toLowerCase();
    return id === term ? 0 : id.startsWith(term) ? 1 : 2;
  };
  return (a, b) => grade(a) - grade(b) || a - b;
}

function search() {
  const term = byId("find").value.trim().toLowerCase();
  if (term === "") {
    state.matching = null;
    replace(byId("match-count"), "");
    replace(byId("match-list"));
    return notify("filter");
  }
  const matches = [];
  for (let index = 0; index < n; index++) if (matchesTerm(objects, index, term)) matches.push(index);
  matches.sort(searchOrder(term));
  state.matching = new Set(matches);
  replace(byId("match-count"), `${count(matches.length)} of ${plural(n, "object matches", "objects match")}`);
  const rest = matches.length > MAX_MATCHES ? el("span", { class: "quiet" }, "…") : null;
  replace(byId("match-list"), matches.slice(0, MAX_MATCHES).map((index) => objectLink(index)), rest);
  notify("filter");
  if (matches.length) selectObject(matches[0], false);
}

function startFind() {
  startClassFilter();
  if (objects.values.kind === "strings") replace(byId("find-label"), "Find an object by id or text");
  else replace(byId("find-label"), "Find an object by id");
  byId("find").addEventListener("input", search);
}
