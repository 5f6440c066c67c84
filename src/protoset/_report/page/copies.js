// The tables that can be copied, each as a list of rows whose first one is the header.

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

function prototypeCsv() {
  const { countsOf } = current(), isMovedSet = shownStop().moved, isRows = objects.values.kind === "rows";
  const names = isRows ? objects.values.names : objects.values.kind === "strings" ? ["text"] : [];
  const rows = shownStop().kept.filter(isVisible).map((index) => {
    const counts = countsOf.get(index), object = realCase(index), values = names.length ? objects.values.values[object] : [];
    return [objects.ids[object], className(codeOf(index)), sum(counts.map(([, size]) => size)),
      sum(counts.map(([code, size]) => (code === codeOf(index) ? 0 : size))), ...(isRows ? values : names.length ? [values] : [])];
  });
  return [[isMovedSet ? "nearest real case" : "id", "class", "stands for", "of other classes", ...names], ...rows];
}

// The matrix itself; of many classes its cells, one in a row.
function confusionCsv() {
  const { rows, columns } = matrixCodes();
  if (columns.length > MAX_MATRIX) {
    return [["actual", "predicted", "objects"], ...confusion.cells.map(([actual, predicted, size]) => [className(actual), predictionName(predicted), size])];
  }
  return [["actual \\ predicted", ...columns.map(predictionName)],
    ...rows.map((actual) => [className(actual), ...columns.map((predicted) => sizeOf(actual, predicted))])];
}

function hardestCsv() {
  const rows = sortedRows(hardestRows(), hardest.sorting).map((row) => [row.name, row.n_objects, row.n_prototypes, row.n_measured, row.n_wrong,
    row.isError ? row.error : null, row.lower, row.upper, row.confused_with ? className(row.confused_with[0]) : null, row.confused]);
  const header = ["class", "training objects", "prototypes", "measured on", "wrong", "error", "lower", "upper", "most confused with", "objects confused"];
  return [header, ...rows];
}

function suspectCsv() {
  return [["object", "given", "suggested", "probability", "evidence"], ...listedSuspects().map((row) =>
    [row.object[1], row.given[1], row.suggested[1], row.probability, row.evidence.map(([, id]) => id).join("; ")])];
}

function unlikeCsv() {
  return [["object", "part", "class", "times as far", "distance", "usual there", "nearest prototype", "its class"],
    ...sortedRows(unlikeRows(), unlikeSorting).map((row) => [row.id, row.part, row.name, row.times, row.distance, row.usual, row.near, className(row.nearest_code)])];
}

// The answers for the test objects that the list shows, by the set that is shown.
function answerCsv() {
  const known = certainty(), listed = [...byId("query").options].map((option) => Number(option.value));
  const rows = listed.map((query) => {
    const { index } = decision(query), code = predicted(query);
    const sure = known ? [known.probabilities[query], known.possible[query].map(className).join("; "), known.novel ? (known.novel[query] ? "yes" : "no") : null] : [];
    return [queries.ids[query], className(queries.codes[query]), code === null ? null : className(code), isWrong(query) ? "no" : "yes",
      index < 0 ? null : objects.ids[realCase(index)], index < 0 ? null : distanceTo(queries, query, index), ...sure];
  });
  const header = ["test object", "class", "predicted", "right", moved ? "real case of the prototype" : "prototype", "distance"];
  return [known ? [...header, "probability", "labels possible", "unlike anything seen"] : header, ...rows];
}

function startCopies() {
  addCopyButton("prototypes-heading", "prototypes", prototypeCsv);
  addCopyButton("confusion-heading", "confusion", confusionCsv);
  addCopyButton("hardest-heading", "hardest", hardestCsv);
  addCopyButton("suspects-heading", "suspects", suspectCsv);
  addCopyButton("unlike-heading", "unlike", unlikeCsv);
  if (queries) addCopyButton("explain-heading", "answers", answerCsv);
  byId("copy-close").addEventListener("click", () => byId("copy-dialog").close());
}
