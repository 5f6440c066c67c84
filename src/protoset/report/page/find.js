// Filtering by class, and finding objects by id or text.

const MOST_FOUND = 12;

function startClasses() {
  const present = model.classes.map((_, code) => code).filter((code) => model.class_sizes[code] > 0);
  const boxes = present.map((code) => {
    const box = el("input", { type: "checkbox", checked: true, "data-class": code });
    box.addEventListener("change", () => {
      if (box.checked) state.hidden.delete(code);
      else state.hidden.add(code);
      tell("filter");
    });
    return el("label", { class: "chip" }, box, glyph(code), quoted(className(code)), el("span", { class: "quiet" }, count(model.class_sizes[code])));
  });
  const every = (shown) =>
    el("button", {
      type: "button",
      class: "link",
      click: () => {
        state.hidden = new Set(shown ? [] : present);
        for (const box of byId("class-boxes").querySelectorAll("input")) box.checked = shown;
        tell("filter");
      },
    }, shown ? "all" : "none");
  replace(byId("class-boxes"), boxes, el("span", { class: "chip bare" }, every(true), " ", every(false)));
}

// The exact id first, then ids that begin with what is sought.
function searchOrder(sought) {
  const grade = (place) => {
    const id = objects.ids[place].toLowerCase();
    return id === sought ? 0 : id.startsWith(sought) ? 1 : 2;
  };
  return (a, b) => grade(a) - grade(b) || a - b;
}

function seek() {
  const sought = byId("find").value.trim().toLowerCase();
  if (sought === "") {
    state.matching = null;
    replace(byId("found"), "");
    replace(byId("found-list"));
    return tell("filter");
  }
  const matches = [];
  for (let place = 0; place < n; place++) if (holds(objects, place, sought)) matches.push(place);
  matches.sort(searchOrder(sought));
  state.matching = new Set(matches);
  replace(byId("found"), `${count(matches.length)} of ${several(n, "object matches", "objects match")}`);
  const rest = matches.length > MOST_FOUND ? el("span", { class: "quiet" }, "…") : null;
  replace(byId("found-list"), matches.slice(0, MOST_FOUND).map((place) => jump(place)), rest);
  tell("filter");
  if (matches.length) choose(matches[0], false);
}

function startFind() {
  startClasses();
  if (objects.values.kind === "strings") replace(byId("find-label"), "Find an object by id or text");
  else replace(byId("find-label"), "Find an object by id");
  byId("find").addEventListener("input", seek);
}
