// Explanation of the prediction for a test object.

// What is known about the decisions of the chosen set; null for other sets, and for a classifier that is not calibrated.
function certainty() {
  return shownNumber() === model.summary.chosen_stop ? queries.certainty : null;
}

function isNovel(query) {
  const known = certainty();
  return Boolean(known && known.novel && known.novel[query]);
}

function predicted(query) {
  if (queries.predicted) return queries.predicted[query];
  const { index } = decision(query);
  return index < 0 ? null : codeOf(index);
}

function isWrong(query) {
  return predicted(query) !== queries.codes[query];
}

function listQueries() {
  const term = byId("query-find").value.trim().toLowerCase(), onlyWrong = byId("query-wrong").checked;
  const known = certainty(), order = queries.ids.map((_, query) => query);
  byId("query-doubtful").parentElement.hidden = !known;
  if (known && byId("query-doubtful").checked) order.sort((a, b) => known.probabilities[a] - known.probabilities[b]);
  const select = byId("query"), before = select.value;
  const options = [];
  order.forEach((query) => {
    if (term !== "" && !matchesTerm(queries, query, term)) return;
    const wrong = isWrong(query);
    if (onlyWrong && !wrong) return;
    const marks = (wrong ? " ✗" : "") + (known ? " · " + chance(known.probabilities[query]) : "") + (isNovel(query) ? " ?" : "");
    options.push(el("option", { value: query }, `${isolateText(queries.ids[query])} · ${isolateText(className(queries.codes[query]))}${marks}`));
  });
  replace(select, options);
  const shown = options.length === queries.ids.length ? "" : ` of ${count(queries.ids.length)}`;
  replace(byId("query-count"), plural(options.length, "test object", "test objects") + (shown ? " shown" + shown : "") + "; ✗ is misclassified" +
    (known ? ", % is the probability of the predicted class" : "") + (known && known.novel ? ", ? is unlike anything seen" : ""));
  const kept = options.find((option) => option.value === before) || options[0];
  if (kept) select.value = kept.value;
  showAnswer();
}

function answerRow(prototype, deciding) {
  const decided = prototype.index === deciding.index;
  const { kept, degradations } = shownStop();
  const degradation = degradations ? (degradations[kept.indexOf(prototype.index)] ?? null) : null;
  const cells = [
    el("td", { class: "numeric" }, prototype.rank),
    el("th", { scope: "row" }, objectLink(prototype.index)),
    el("td", {}, classTag(codeOf(prototype.index))),
    el("td", { class: "numeric" }, prototype.distance === null ? "" : number(prototype.distance)),
  ];
  if (model.rule === "adjusted") {
    cells.push(el("td", { class: "numeric" }, number(degradation)));
    cells.push(el("td", { class: "numeric" }, degradation === null ? "∞" : number(prototype.rank + degradation)));
  }
  cells.push(el("td", { class: "wide" }, decided ? (model.rule === "scores" ? "adds most" : "decided") : ""));
  return el("tr", { class: decided ? "deciding" : null }, cells);
}

// Why the prototype decides.
function reason(deciding) {
  if (model.rule === "scores") return " adds most to the score of this class.";
  const alone = model.rule === "adjusted" ? " has the smallest adjusted rank." : " is the nearest.";
  if (deciding.tied === 1) return alone;
  return ` is one of ${count(deciding.tied)} ${model.rule === "adjusted" ? "equally good" : "equally near"} prototypes: the majority of their classes decides, then the more frequent class.`;
}

function card(title, body) {
  return el("figure", { class: "card-small" }, el("figcaption", {}, title), body);
}

function pictures(query, shown) {
  if (queries.values.kind === "matrix") return null;
  if (shown[0] && isMoved(shown[0].index)) return movedPictures(query, shown[0].index);
  if (queries.values.kind === "series") {
    const limits = sharedLimits([queries, objects]), first = shown[0];
    const lines = [{ channels: channelsOf(queries, query), code: queries.codes[query] }];
    if (first) lines.push({ channels: channelsOf(objects, first.index), code: objects.codes[first.index], faint: true });
    const plot = seriesPlot(lines, 480, 150, limits, `Test object ${queries.ids[query]} and the prototype that decided`);
    return card("The test object, and the prototype that decided (dashed)", plot);
  }
  const cards = [card("The test object", picture(queries, query, ""))];
  if (shown[0]) cards.push(card(["Prototype ", isolate(objects.ids[shown[0].index])], picture(objects, shown[0].index, "")));
  return el("div", { class: "pair" }, cards);
}

// A test object beside the moved prototype that decided and its real case.
function movedPictures(query, prototype) {
  const slot = prototype - n, object = realCase(prototype), code = codeOf(prototype);
  if (queries.values.kind === "series") {
    const lines = [{ channels: channelsOf(queries, query), code: queries.codes[query] }];
    if (moved.values) lines.push({ channels: channelsOf(moved, slot), code, faint: true });
    lines.push({ channels: channelsOf(objects, object), code, thin: true });
    const limits = sharedLimits([queries, objects, ...(moved.values ? [moved] : [])]);
    const plot = seriesPlot(lines, 480, 150, limits, `Test object ${queries.ids[query]}, the moved prototype that decided, and its nearest real case`);
    return card(`The test object${moved.values ? ", the prototype that decided (dashed)" : ""}, and its nearest real case (dotted)`, plot);
  }
  const columns = [{ heading: "test object", values: queries.values.values[query] }];
  if (moved.values) columns.push({ heading: "prototype", values: moved.values.values[slot] });
  columns.push({ heading: "real case", values: objects.values.values[object] });
  const names = (queries.values.names.length < objects.values.names.length ? queries : objects).values.names;
  return card(["The test object, the prototype that decided, and its nearest real case, ", isolate(objects.ids[object])], valueTable(names, columns));
}

// A probability in per cent: never 100 %, as there is always a doubt.
function chance(share) {
  return share > 0.999 ? "> 99.9\u00a0%" : share > 0.99 ? (100 * share).toFixed(1) + "\u00a0%" : Math.round(100 * share) + "\u00a0%";
}

// How certain the prediction is: its probability, the labels that remain possible, a warning.
function showCertainty(query) {
  const known = certainty();
  if (!known) return null;
  const possible = known.possible[query].map((code) => el("li", {}, classTag(code)));
  const warning = isNovel(query)
    ? el("p", { class: "warning" }, el("strong", {}, "Unlike anything seen: "), `for its surroundings it is farther from its nearest prototype than ${chance(1 - known.rate)} of held-out training objects. The prediction may mean nothing.`)
    : null;
  return [
    warning,
    el("dl", { class: "certainty" },
      factRow("probability", chance(known.probabilities[query]), el("span", { class: "quiet" }, isNovel(query) ? " of the predicted class, if it is of a known one" : " of the predicted class")),
      factRow(`labels possible at ${chance(known.coverage)}`, el("ul", { class: "plain labels" }, possible))),
  ];
}

function showAnswer() {
  const box = byId("answer"), select = byId("query");
  if (select.value === "") return replace(box, el("p", { class: "quiet" }, "No test object matches."));
  const query = Number(select.value), deciding = decision(query), shown = nearestPrototypes(query);
  if (deciding.index < 0) return replace(box, el("p", { class: "quiet" }, "The prototype that decides is not on this page."));
  if (!shown.some((prototype) => prototype.index === deciding.index)) {
    shown.push({ index: deciding.index, rank: deciding.rank, distance: distanceTo(queries, query, deciding.index) });
  }
  const wrong = isWrong(query);
  const isMovedSet = shownStop().moved, what = isMovedSet ? "real case" : "prototype";
  const names = ["rank", what, "class", "distance"];
  if (model.rule === "adjusted") names.push("degradation", "adjusted rank");
  const heads = names.map((name) => el("th", { scope: "col", class: [what, "class"].includes(name) ? null : "numeric" }, name));
  heads.push(el("th", { scope: "col", class: "wide" }, "role"));
  const winner = shown.filter((prototype) => prototype.index === deciding.index);
  replace(
    box,
    el("h3", {}, "Test object ", isolate(queries.ids[query])),
    el("p", { class: wrong ? "verdict wrong" : "verdict right" },
      wrong ? "Wrong: " : "Right: ", "predicted ", classTag(predicted(query)),
      wrong ? [", but its class is ", classTag(queries.codes[query])] : null, "."),
    showCertainty(query),
    isMovedSet
      ? el("p", {}, "The prototype whose nearest real case is object ", objectLink(deciding.index), " has moved; it", reason(deciding))
      : el("p", {}, "Prototype ", objectLink(deciding.index), reason(deciding)),
    pictures(query, winner),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Nearest prototypes" },
      el("table", {}, el("caption", { class: "sr" }, "The nearest prototypes"), el("thead", {}, el("tr", {}, heads)),
        el("tbody", {}, shown.map((prototype) => answerRow(prototype, deciding))))),
  );
}

function startQueries() {
  if (!queries) {
    byId("explain").hidden = true;
    return;
  }
  byId("query-find").addEventListener("input", listQueries);
  byId("query-wrong").addEventListener("change", listQueries);
  byId("query-doubtful").addEventListener("change", () => {
    byId("query").value = ""; // so that the first one of the new order is shown
    listQueries();
  });
  byId("query").addEventListener("change", showAnswer);
  on("stop", listQueries);
  listQueries();
}
