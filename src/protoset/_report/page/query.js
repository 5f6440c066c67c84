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
    if (!isQueryInCell(query)) return;
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
  const cells = [
    el("td", { class: "numeric" }, prototype.rank),
    el("th", { scope: "row" }, el("span", { class: "with-thumb" }, thumb(objects, realCase(prototype.index), codeOf(prototype.index)), objectLink(prototype.index))),
    el("td", {}, classTag(codeOf(prototype.index))),
    el("td", { class: "numeric" }, prototype.distance === null ? "" : number(prototype.distance)),
  ];
  cells.push(el("td", { class: "wide" }, decided ? (model.rule === "scores" ? "adds most" : "decided") : ""));
  return el("tr", { class: decided ? "deciding" : null }, cells);
}

// How the adjusted rule decides: the degradation of a prototype is added to its rank.
function adjustedRanks(shown, deciding) {
  const { kept, degradations } = shownStop();
  if (model.rule !== "adjusted" || !degradations) return null;
  const rows = shown.map((prototype) => {
    const degradation = degradations[kept.indexOf(prototype.index)] ?? null;
    const adjusted = degradation === null ? "∞" : number(prototype.rank + degradation);
    return el("tr", { class: prototype.index === deciding.index ? "deciding" : null }, el("th", { scope: "row" }, objectLink(prototype.index)),
      [prototype.rank, number(degradation), adjusted].map((value) => el("td", { class: "numeric" }, value)));
  });
  const heads = ["prototype", "rank", "degradation", "adjusted rank"].map((name, k) => el("th", { scope: "col", class: k ? "numeric" : null }, name));
  return methodDetails(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Adjusted ranks" },
    el("table", {}, el("caption", { class: "sr" }, "Adjusted ranks"), el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows))));
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

// The comparison of a test object with a prototype; null where the page has none, as for sets of other sizes.
function comparisonOf(query, prototype) {
  const known = queries.comparisons ? queries.comparisons.values[query] : null;
  return known && known.prototype === prototype ? known : null;
}

// What the shares of attributes and points add up to.
function sumName() {
  return queries.comparisons.is_squared ? "squared distance" : "distance";
}

// A test object beside the prototype that decided; where it has moved, its nearest real case too.
function pictures(query, prototype) {
  const { kind } = queries.values, object = realCase(prototype), withMoved = isMoved(prototype) && moved.values;
  if (kind === "matrix") return null;
  if (!hasValues(queries, query) || !hasValues(objects, object)) return el("p", { class: "quiet" }, "The values of the two are not on this page.");
  if (kind === "images") return imagePair(query, prototype);
  if (kind === "series") return seriesPair(query, prototype);
  const comparison = comparisonOf(query, prototype);
  if (kind === "strings") {
    if (comparison) return card("What turns the test object into the prototype", alignment(comparison));
    return el("div", { class: "pair" }, card("The test object", picture(queries, query, "")), card(["Prototype ", isolate(objects.ids[object])], picture(objects, object, "")));
  }
  const columns = [{ heading: "test object", values: queries.values.values[query] }];
  if (withMoved || !isMoved(prototype)) columns.push({ heading: "prototype", values: valuesOf(prototype)[0].values.values[valuesOf(prototype)[1]] });
  if (isMoved(prototype)) columns.push({ heading: "real case", values: objects.values.values[object] });
  const what = withMoved || !isMoved(prototype) ? "the prototype that decided" : "the nearest real case of the prototype that decided";
  const order = comparison && comparison.shares
    ? `The attributes with the largest share of the ${sumName()} come first.`
    : "The attributes that differ most, on their own scale, come first.";
  return card(`The test object and ${what}. ${order}`, shareTable(columns, comparison));
}

function imagePair(query, prototype) {
  const withMoved = isMoved(prototype) && moved.values, compared = valuesOf(prototype);
  const faces = [framed("test object", imagePicture(queries, query, `The test object, image of ${isolateText(queries.ids[query])}`, "face large"))];
  if (withMoved) faces.push(framed("prototype", imagePicture(...compared, "The prototype that decided", "face large")));
  faces.push(framed(isMoved(prototype) ? "its real case" : "prototype", imagePicture(objects, realCase(prototype), isMoved(prototype) ? "The real case of the prototype" : "The prototype that decided", "face large")));
  faces.push(framed("difference", differencePicture([queries, query], compared, "Difference of the test object and the prototype")));
  return card("The test object and the prototype that decided. Difference: orange where the test object is brighter, blue where it is darker.", el("div", { class: "faces" }, faces));
}

function seriesPair(query, prototype) {
  const object = realCase(prototype), code = codeOf(prototype), withMoved = isMoved(prototype) && moved.values;
  const limits = sharedLimits([queries, objects, ...(withMoved ? [moved] : [])]), comparison = comparisonOf(query, prototype);
  const first = curveOf(queries, query, queries.codes[query]);
  const others = [curveOf(objects, object, code, isMoved(prototype) ? "thin" : "faint")];
  if (withMoved) others.unshift(curveOf(moved, prototype - n, code, "faint"));
  const decided = withMoved ? ", the prototype that decided (dashed)" : isMoved(prototype) ? "" : ", and the prototype that decided (dashed)", real = isMoved(prototype) ? ", and its nearest real case (dotted)" : "";
  const label = `Test object ${isolateText(queries.ids[query])} and the prototype that decided`;
  const options = { width: Math.min(720, widthOf(byId("answer"))), limits, label };
  // Matched points are those of the prototype, which is drawn only where its values are known.
  const isKnown = comparison && (withMoved || !isMoved(prototype));
  const plot = isKnown && comparison.pairs ? warpingPlot(first, others, comparison, options) : seriesPlot([first, ...others], { ...options, rungs: Boolean(isKnown) });
  return card(`The test object${decided}${real}`, [plot, isKnown ? el("p", { class: "quiet small path-note" }, pathNote([first, ...others], comparison)) : null]);
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
  const heads = names.map((name) => el("th", { scope: "col", class: [what, "class"].includes(name) ? null : "numeric" }, name));
  heads.push(el("th", { scope: "col", class: "wide" }, "role"));
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
    pictures(query, deciding.index),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Nearest prototypes" },
      el("table", {}, el("caption", { class: "sr" }, "The nearest prototypes"), el("thead", {}, el("tr", {}, heads)),
        el("tbody", {}, shown.map((prototype) => answerRow(prototype, deciding))))),
    adjustedRanks(shown, deciding),
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
  on("filter", listQueries);
  listQueries();
}
