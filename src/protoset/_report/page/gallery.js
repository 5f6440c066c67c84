// The gallery: prototypes as themselves, by class, those that stand for most first. A card opens what it stands for.

const MAX_CARDS = { images: 6, series: 4, rows: 3, strings: 3, matrix: 6 }; // of a class, before "Show more"; one row of a wide page
const MAX_GROUPS = 12; // classes before "Show all classes"
const PAIRED = { images: 4, series: 3, rows: 2, strings: 2, matrix: 4 }; // cards of classes that fit beside each other
const MAX_SHOWN = { images: 18, series: 12, rows: 6, strings: 6, matrix: 24 }; // members of a prototype that are shown
const REAL_CASE_LOOKS = { images: ", the smaller picture", series: ", the dotted curve" };

const gallery = { open: null, all: new Set(), allGroups: false };

// Prototypes of each class, those that stand for most first.
function galleryGroups() {
  const { countsOf } = current(), groups = new Map();
  for (const index of shownStop().kept) {
    if (!isVisible(index)) continue;
    const counts = countsOf.get(index), code = codeOf(index);
    if (!groups.has(code)) groups.set(code, []);
    groups.get(code).push({ index, stands: total(counts), others: total(counts.filter(([other]) => other !== code)) });
  }
  for (const cards of groups.values()) cards.sort((a, b) => b.stands - a.stands || a.index - b.index);
  return [...groups].sort(([a], [b]) => a - b);
}

// A prototype as itself; where it has moved, its nearest real case beside it.
function cardPicture(index) {
  const object = realCase(index), code = codeOf(index), { kind } = objects.values;
  if (!hasValues(objects, object)) return kind === "matrix" ? null : el("span", { class: "quiet small" }, "values not on this page");
  const withMoved = isMoved(index) && moved.values;
  if (kind === "images") {
    const real = imagePicture(objects, object, "", withMoved ? "face beside" : "face");
    return el("span", { class: "faces" }, withMoved ? imagePicture(moved, index - n, "", "face") : null, real);
  }
  if (kind === "series") {
    const curves = [curveOf(objects, object, code, withMoved ? "thin" : "")];
    if (withMoved) curves.unshift(curveOf(moved, index - n, code));
    return sparkline(curves, "", withMoved ? sharedLimits([objects, moved]) : objects.values.limits);
  }
  if (kind === "strings") return el("span", { class: "snippet", dir: "auto" }, objects.values.values[object]);
  return mainValues(index);
}

function galleryCard({ index, stands, others }) {
  const id = objects.ids[realCase(index)], isOpen = gallery.open === index;
  const open = () => {
    gallery.open = isOpen ? null : index;
    selectObject(index, false);
    showGallery();
    byId("gallery-groups").querySelector(`[data-prototype="${index}"]`).focus();
  };
  return el("li", {},
    el("button", { type: "button", class: "proto", "data-prototype": index, "aria-expanded": String(isOpen), "aria-controls": isOpen ? "spread" : null, click: open },
      cardPicture(index),
      el("span", { class: "stands" }, "stands for ", el("strong", {}, count(stands))),
      el("span", { class: "quiet card-id" }, isMoved(index) ? "real case " : "object ", isolate(id)),
      others ? el("span", { class: "quiet errs" }, `✗ ${count(others)} of other classes`) : null));
}

// Some of many, from the first to the last.
function evenly(list, most) {
  if (list.length <= most) return list;
  return Array.from({ length: most }, (_, k) => list[Math.round((k * (list.length - 1)) / (most - 1))]);
}

// Objects as pictures that lead to their details.
function pictureList(indices, caption, withClass) {
  const { kind } = objects.values;
  if (kind === "rows") return indices.length ? mainTable(indices, caption, withClass) : null;
  if (kind === "matrix") return el("div", { class: "chips members" }, indices.map((index) => objectLink(index)));
  if (kind === "strings") {
    return el("ul", { class: "plain texts" }, indices.map((index) =>
      el("li", {}, objectLink(index), " ", withClass ? classTag(codeOf(index)) : null, el("span", { class: "excerpt", dir: "auto" }, objects.values.values[realCase(index)] ?? "not on this page"))));
  }
  return el("ul", { class: "plain strip", "aria-label": caption }, indices.map((index) => {
    const id = objects.ids[realCase(index)], [group, position] = valuesOf(index);
    const name = `Object ${isolateText(id)}, class ${isolateText(className(codeOf(index)))}`;
    const go = () => {
      selectObject(index, false);
      byId("details").scrollIntoView({ block: "nearest" });
    };
    const small = thumb(group, position, codeOf(index)) ?? el("span", { class: "quiet small" }, isolate(id));
    return el("li", {}, el("button", { type: "button", class: "frame", "aria-label": name, title: id, click: go }, small), withClass ? classTag(codeOf(index)) : null);
  }));
}

function galleryPart(title, note, content) {
  return el("div", { class: "spread-part" }, el("h4", {}, title), el("p", { class: "quiet small" }, note), content);
}

// What a prototype stands for, where it errs, and its nearest rival.
function spreadOut({ index, stands, others }) {
  const code = codeOf(index), id = objects.ids[realCase(index)], itself = isMoved(index) ? 0 : 1;
  const members = current().membersOf.get(index).slice().sort((a, b) => distanceTo(objects, a, index) - distanceTo(objects, b, index));
  const own = members.filter((member) => objects.codes[member] === code), foreign = members.filter((member) => objects.codes[member] !== code);
  const shownOwn = evenly(own, MAX_SHOWN[objects.values.kind]), shownForeign = evenly(foreign, MAX_SHOWN[objects.values.kind]);
  const nOwn = stands - others - itself;
  const parts = [
    galleryPart("Stands for", nOwn === 0 ? `No ${itself ? "other " : ""}training object of its class.`
      : `${plural(nOwn, `${itself ? "other " : ""}object of its class`, `${itself ? "other " : ""}objects of its class`)}${shownOwn.length < nOwn ? `, ${count(shownOwn.length)} of them shown` : ""}, from the nearest to the farthest.`,
    pictureList(shownOwn, "Objects of its class", false)),
    galleryPart("Where it errs", others === 0 ? "No training object of another class is nearest to it."
      : `${plural(others, "training object", "training objects")} of other classes${shownForeign.length < others ? `, ${count(shownForeign.length)} of them shown` : ""}.`,
    others === 0 ? null : pictureList(shownForeign, "Objects of other classes", true)),
  ];
  const rival = shownStop().chosen ? objects.rivals[shownStop().kept.indexOf(index)] : null;
  if (rival && rival[0] >= 0) {
    parts.push(galleryPart("Nearest rival", ["The nearest prototype of another class, at distance ", number(rival[1]), isMoved(index) ? ", seen from its real case." : "."],
      pictureList([rival[0]], "Nearest rival", true)));
  }
  return el("div", { class: "spread", id: "spread", role: "region", "aria-label": `Prototype ${isolateText(id)}` },
    el("h4", { class: "spread-title" }, isMoved(index) ? "Moved prototype, real case " : "Prototype ", objectLink(index)),
    el("div", { class: "spread-parts" }, parts));
}

// Cards with the values of moved prototypes and of their real cases: one more would not fit in place of "Show more".
function hasWideCards() {
  return objects.values.kind === "rows" && shownStop().moved;
}

function galleryGroup([code, cards]) {
  const most = MAX_CARDS[objects.values.kind];
  const isAll = gallery.all.has(code) || cards.length <= most + (hasWideCards() ? 0 : 1), shown = isAll ? cards : cards.slice(0, most);
  const more = () => {
    gallery.all.add(code);
    showGallery();
    byId("gallery-groups").querySelector(`[data-prototype="${cards[most].index}"]`).focus();
  };
  const opened = shown.find(({ index }) => index === gallery.open);
  return el("div", { class: "group", role: "group", "aria-label": `Prototypes of class ${isolateText(className(code))}` },
    el("h3", {}, classTag(code), el("span", { class: "quiet small" }, `${plural(cards.length, "prototype", "prototypes")} for ${plural(model.class_sizes[code], "object", "objects")}`)),
    el("div", {},
      el("ul", { class: "plain cards" }, shown.map(galleryCard),
        isAll ? null : el("li", { class: "more" }, el("button", { type: "button", click: more }, `Show ${count(cards.length - shown.length)} more`))),
      opened ? spreadOut(opened) : null));
}

function showGallery() {
  const groups = galleryGroups(), shown = gallery.allGroups ? groups : groups.slice(0, MAX_GROUPS);
  const kind = objects.values.kind;
  byId("gallery").dataset.kind = kind;
  replace(byId("gallery-note"), "Each prototype stands for the training objects that are nearest to it. Choose one to see them, where it errs, and its nearest rival.",
    shownStop().moved ? ` The prototypes have moved, so they are no real cases: each is shown with its nearest real case${moved.values ? (REAL_CASE_LOOKS[kind] ?? "") : ""}.` : null,
    kind === "rows" ? " The cards show the attributes that tell the classes apart best, each by itself." : null);
  byId("gallery-groups").classList.toggle("paired", shown.length > 1 && shown.every(([, cards]) => cards.length <= PAIRED[kind]));
  replace(byId("gallery-groups"), shown.map(galleryGroup));
  byId("all-groups").hidden = shown.length === groups.length;
  replace(byId("all-groups"), `Show all ${count(groups.length)} classes`);
}

function startGallery() {
  byId("all-groups").addEventListener("click", () => {
    gallery.allGroups = true;
    showGallery();
    byId("gallery-groups").children[MAX_GROUPS].querySelector("button").focus();
  });
  on("stop", () => {
    gallery.open = null;
    showGallery();
  });
  on("filter", showGallery);
  showGallery();
}
