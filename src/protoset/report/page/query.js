// Why a test object is answered as it is.

function predicted(query) {
  const { place } = decision(query);
  return place < 0 ? null : objects.codes[place];
}

function isMissed(query) {
  return predicted(query) !== queries.codes[query];
}

function listQueries() {
  const sought = byId("query-find").value.trim().toLowerCase(), only = byId("query-wrong").checked;
  const select = byId("query"), before = select.value;
  const options = [];
  queries.ids.forEach((id, query) => {
    if (sought !== "" && !holds(queries, query, sought)) return;
    const missed = isMissed(query);
    if (only && !missed) return;
    options.push(el("option", { value: query }, `${isolated(id)} · ${isolated(className(queries.codes[query]))}${missed ? " ✗" : ""}`));
  });
  replace(select, options);
  const shown = options.length === queries.ids.length ? "" : ` of ${count(queries.ids.length)}`;
  replace(byId("query-count"), several(options.length, "test object", "test objects") + (shown ? " shown" + shown : "") + "; ✗ is misclassified");
  const kept = options.find((option) => option.value === before) || options[0];
  if (kept) select.value = kept.value;
  showAnswer();
}

function answerRow(one, deciding) {
  const decided = one.place === deciding.place;
  const degradation = objects.degradations ? objects.degradations[one.place] : null;
  const cells = [
    el("td", { class: "numeric" }, one.rank),
    el("th", { scope: "row" }, jump(one.place)),
    el("td", {}, classTag(objects.codes[one.place])),
    el("td", { class: "numeric" }, one.distance === null ? "" : number(one.distance)),
  ];
  if (model.rule === "adjusted") {
    cells.push(el("td", { class: "numeric" }, number(degradation)));
    cells.push(el("td", { class: "numeric" }, degradation === null ? "∞" : number(one.rank + degradation)));
  }
  cells.push(el("td", { class: "wide" }, decided ? "decided" : ""));
  return el("tr", { class: decided ? "deciding" : null }, cells);
}

function card(title, body) {
  return el("figure", { class: "card-small" }, el("figcaption", {}, title), body);
}

function pictures(query, shown) {
  if (queries.values.kind === "matrix") return null;
  if (queries.values.kind === "series") {
    const limits = sharedLimits([queries, objects]), first = shown[0];
    const lines = [{ channels: channelsOf(queries, query), code: queries.codes[query] }];
    if (first) lines.push({ channels: channelsOf(objects, first.place), code: objects.codes[first.place], faint: true });
    const plot = seriesPlot(lines, 480, 150, limits, `Test object ${queries.ids[query]} and the prototype that decided`);
    return card("The test object, and dashed the prototype that decided", plot);
  }
  const cards = [card("The test object", picture(queries, query, ""))];
  if (shown[0]) cards.push(card(["Prototype ", quoted(objects.ids[shown[0].place])], picture(objects, shown[0].place, "")));
  return el("div", { class: "pair" }, cards);
}

function showAnswer() {
  const box = byId("answer"), select = byId("query");
  if (select.value === "") return replace(box, el("p", { class: "quiet" }, "No test object matches."));
  const query = Number(select.value), deciding = decision(query), shown = answers(query);
  if (deciding.place < 0) return replace(box, el("p", { class: "quiet" }, "The prototype that decides is not among the objects of this page."));
  if (!shown.some((one) => one.place === deciding.place)) shown.push({ place: deciding.place, rank: deciding.rank, distance: null });
  const missed = isMissed(query);
  const names = ["rank", "prototype", "class", "distance"];
  if (model.rule === "adjusted") names.push("degradation", "adjusted rank");
  const heads = names.map((name) => el("th", { scope: "col", class: ["prototype", "class"].includes(name) ? null : "numeric" }, name));
  heads.push(el("th", { scope: "col", class: "wide" }, "role"));
  const winner = shown.filter((one) => one.place === deciding.place);
  replace(
    box,
    el("h3", {}, "Test object ", quoted(queries.ids[query])),
    el("p", { class: missed ? "verdict wrong" : "verdict right" },
      missed ? "Wrong: " : "Right: ", "predicted ", classTag(objects.codes[deciding.place]),
      missed ? [", but it is of class ", classTag(queries.codes[query])] : null, "."),
    el("p", {}, "Prototype ", jump(deciding.place), model.rule === "adjusted" ? " has the smallest adjusted rank." : " is the nearest."),
    pictures(query, winner),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Nearest prototypes" },
      el("table", {}, el("caption", { class: "sr" }, "The nearest prototypes"), el("thead", {}, el("tr", {}, heads)),
        el("tbody", {}, shown.map((one) => answerRow(one, deciding))))),
  );
}

function startQueries() {
  if (!queries) {
    byId("explain").hidden = true;
    return;
  }
  byId("query-find").addEventListener("input", listQueries);
  byId("query-wrong").addEventListener("change", listQueries);
  byId("query").addEventListener("change", showAnswer);
  on("stop", listQueries);
  listQueries();
}
