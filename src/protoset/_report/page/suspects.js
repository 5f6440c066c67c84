// Labels to check: training objects whose label looks wrong, with the label that others suggest.

const MAX_SUSPECTS = 25; // rows before "Show all labels to check"

const suspects = { all: false };

// An object that is named by its index on the page, -1 for none, and its id.
function namedObject([index, id]) {
  return index < 0 ? isolate(id) : pictured(objects, realCase(index), codeOf(index), objectLink(index));
}

function labelTag([code, label]) {
  return code < 0 ? isolate(label) : classTag(code);
}

function suspectRow(suspect) {
  return el("tr", {},
    el("th", { scope: "row" }, namedObject(suspect.object)),
    el("td", {}, labelTag(suspect.given)),
    el("td", {}, labelTag(suspect.suggested), suspect.probability === null ? null : el("span", { class: "quiet probability" }, chance(suspect.probability))),
    el("td", {}, el("div", { class: "chips members" }, suspect.evidence.map(namedObject))));
}

// Suspects of the filter: of the actual class, with the predicted one as suggestion.
function listedSuspects() {
  return model.suspects.filter((suspect) => state.cell === null || (suspect.given[0] === state.cell[0] && suspect.suggested[0] === state.cell[1]));
}

function showSuspects() {
  const all = listedSuspects(), shown = suspects.all ? all : all.slice(0, MAX_SUSPECTS);
  if (all.length === 0) {
    byId("more-suspects").hidden = true;
    replace(byId("suspect-note"), state.cell === null || model.suspects.length === 0 ? "No label looks wrong." : "No label to check is of the class and the prediction of the filter.");
    return replace(byId("suspect-table"));
  }
  const heads = ["object", "given", "suggested", "evidence"].map((name) => el("th", { scope: "col" }, name));
  const caption = el("caption", { class: "sr" }, "Training objects whose label looks wrong");
  replace(byId("suspect-table"), el("table", { class: "suspects" }, caption, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, shown.map(suspectRow))));
  replace(byId("suspect-note"),
    `${count(shown.length)} of ${plural(all.length, "label", "labels")} shown. Look at each object beside its evidence, training objects that speak for the suggested label; correct the label in the data where it is wrong, and fit again. The probability is that of the suggested label.`);
  byId("more-suspects").hidden = shown.length === all.length;
}

function startSuspects() {
  byId("suspects").hidden = !model.suspects;
  if (!model.suspects) return;
  byId("more-suspects").addEventListener("click", () => {
    suspects.all = true;
    showSuspects();
    byId("suspect-table").focus();
  });
  on("filter", showSuspects);
  showSuspects();
}
