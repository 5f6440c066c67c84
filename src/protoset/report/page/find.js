// Filter by class; search by id or text.

const MAX_MATCHES = 12; // matches listed below the search field

function startClassFilter() {
  const present = model.classes.map((_, code) => code).filter((code) => model.class_sizes[code] > 0);
  const boxes = present.map((code) => {
    const box = el("input", { type: "checkbox", checked: true, "data-class": code });
    box.addEventListener("change", () => {
      if (box.checked) state.hidden.delete(code);
      else state.hidden.add(code);
      notify("filter");
    });
    return el("label", { class: "chip" }, box, glyph(code), isolate(className(code)), el("span", { class: "quiet" }, count(model.class_sizes[code])));
  });
  const toggleAll = (shown) =>
    el("button", {
      type: "button",
      class: "link",
      click: () => {
        state.hidden = new Set(shown ? [] : present);
        for (const box of byId("class-boxes").querySelectorAll("input")) box.checked = shown;
        notify("filter");
      },
    }, shown ? "all" : "none");
  replace(byId("class-boxes"), boxes, el("span", { class: "chip bare" }, toggleAll(true), " ", toggleAll(false)));
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
