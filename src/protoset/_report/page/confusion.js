// Which classes are taken for which: a matrix of counts, the most frequent confusions, and the filter by a cell.

const MAX_MATRIX = 32; // classes of a matrix; of more, only the most frequent confusions are listed
const MAX_CONFUSIONS = 10; // confusions listed below the matrix
const MAX_LONG_LIST = 40; // confusions listed without a matrix
const MAX_CELL_OBJECTS = 60; // objects listed for a cell
const MAX_ZEROS = 12; // classes up to which empty cells show a zero
const FEW_CLASSES = 6; // classes up to which the cells are large
const N_SHADES = 8;

const confusion = model.confusion;
const cellCounts = new Map(confusion.cells.map(([actual, predicted, size]) => [actual + "," + predicted, size]));
const rowTotals = new Map();
for (const [actual, , size] of confusion.cells) rowTotals.set(actual, (rowTotals.get(actual) || 0) + size);

const ANSWERED = {
  test: ["test object", "test objects", "classified by the chosen set"],
  folds: ["training object", "training objects", "each classified by one of five classifiers that were fitted without it"],
  "cross-validation": ["training object", "training objects", "each classified by a set of this size that was selected without it"],
  "seen objects": ["training object", "training objects", "each classified by its nearest prototype other than itself. They took part in the selection, so new objects are confused more often"],
};

function answeredBy() {
  const [singular, pluralForm, how] = ANSWERED[confusion.measured_on];
  return `${plural(confusion.n_measured, singular, pluralForm)}, ${how}`;
}

function sizeOf(actual, predicted) {
  return cellCounts.get(actual + "," + predicted) || 0;
}

function shareOf(actual, predicted) {
  return sizeOf(actual, predicted) / rowTotals.get(actual);
}

// Predictions may be missing, where no distance to a prototype is known.
function predictionName(code) {
  return code < 0 ? "no prediction" : className(code);
}

function predictionTag(code) {
  return code < 0 ? "no prediction" : classTag(code);
}

function isQueryInCell(query) {
  return state.cell === null || confusion.queries === null ||
    (queries.codes[query] === state.cell[0] && confusion.queries[query] === state.cell[1]);
}

const filtered = { cell: null, objects: null }; // the training objects of a cell, which the map shows

// Training objects of the cell. Of test objects: the prototypes that decided about them, and training objects that are
// confused in the same way.
function objectsInCell() {
  if (filtered.cell === state.cell) return filtered.objects;
  const [actual, predicted] = state.cell, chosen = model.summary.chosen_stop;
  const found = new Set();
  const winners = objects.winners[chosen], answers = confusion.objects;
  for (let index = 0; index < n; index++) {
    const answer = answers ? answers[index] : winners[index] < 0 ? -1 : codeOf(winners[index]);
    if (objects.codes[index] === actual && answer === predicted) found.add(index);
  }
  if (!answers) {
    queries.ids.forEach((_, query) => {
      const winner = queries.winners[chosen][query];
      if (isQueryInCell(query) && winner >= 0) found.add(realCase(winner));
    });
  }
  Object.assign(filtered, { cell: state.cell, objects: found });
  return found;
}

function setCell(cell) {
  const isSame = cell !== null && state.cell !== null && cell[0] === state.cell[0] && cell[1] === state.cell[1];
  state.cell = isSame ? null : cell;
  notify("filter");
}

function describeCell(actual, predicted) {
  const size = sizeOf(actual, predicted);
  return `actual ${isolateText(className(actual))}, predicted ${isolateText(predictionName(predicted))}: ` +
    `${count(size)} of ${plural(rowTotals.get(actual), "object", "objects")}, ${percent(shareOf(actual, predicted))}`;
}

// Right predictions and confusions are shaded apart: confusions by their share beside the largest one.
function shadeOf(actual, predicted, largest) {
  const share = shareOf(actual, predicted) / (actual === predicted ? 1 : largest);
  return (actual === predicted ? "right " : "wrong ") + "shade" + Math.max(1, Math.ceil(N_SHADES * share));
}

function cellButton(actual, predicted, largest, zero) {
  const size = sizeOf(actual, predicted), hint = byId("cell-text");
  if (size === 0) return el("td", {}, zero);
  const tell = () => replace(hint, describeCell(actual, predicted));
  const isChosen = state.cell !== null && state.cell[0] === actual && state.cell[1] === predicted;
  return el("td", {}, el("button", {
    type: "button", class: shadeOf(actual, predicted, largest), "data-cell": actual + "," + predicted, tabindex: "-1",
    "aria-pressed": isChosen ? "true" : "false", "aria-label": describeCell(actual, predicted),
    click: () => setCell([actual, predicted]), pointerenter: tell, focus: tell,
  }, count(size)));
}

// Classes of the rows and of the columns; -1 for missing predictions comes last.
function matrixCodes() {
  const known = new Set(confusion.cells.flatMap(([actual, predicted]) => [actual, predicted]));
  const codes = [...known].filter((code) => code >= 0).sort((a, b) => a - b);
  return { rows: codes.filter((code) => rowTotals.has(code)), columns: known.has(-1) ? [...codes, -1] : codes };
}

function confusions() {
  return confusion.cells.filter(([actual, predicted]) => actual !== predicted).sort((a, b) => b[2] - a[2] || a[0] - b[0] || a[1] - b[1]);
}

function showMatrix() {
  const { rows, columns } = matrixCodes(), box = byId("matrix");
  const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.cell : null;
  const largest = Math.max(...confusions().map(([actual, predicted]) => shareOf(actual, predicted)), 0);
  const zero = columns.length > MAX_ZEROS ? "·" : "0";
  const heads = columns.map((code) => el("th", { scope: "col", title: predictionName(code) }, el("span", { class: columns.some((other) => predictionName(other).length > 3) ? "turned" : "short" }, predictionTag(code))));
  const body = rows.map((actual) => el("tr", {}, el("th", { scope: "row", title: className(actual) }, classTag(actual)), columns.map((predicted) => cellButton(actual, predicted, largest, zero))));
  replace(box, el("table", { class: columns.length <= FEW_CLASSES ? "matrix few" : "matrix" }, el("caption", { class: "sr" }, "Counts of objects by actual and predicted class"),
    el("thead", {}, el("tr", {}, el("td", { class: "corner" }), heads)), el("tbody", {}, body)));
  const reached = (focused && box.querySelector(`[data-cell="${focused}"]`)) || box.querySelector("[aria-pressed=true]") || box.querySelector("[data-cell]");
  if (reached) reached.tabIndex = 0;
  if (focused && reached && reached.dataset.cell === focused) reached.focus();
}

// The next cell with objects in the direction of an arrow key.
function onMatrixKey(event) {
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (event.key === "Escape" && state.cell !== null) return setCell(null);
  if (!step || !event.target.dataset.cell) return;
  event.preventDefault();
  const { rows, columns } = matrixCodes();
  let [row, column] = event.target.dataset.cell.split(",").map(Number);
  [row, column] = [rows.indexOf(row), columns.indexOf(column)];
  do {
    [row, column] = [row + step[0], column + step[1]];
    if (row < 0 || column < 0 || row >= rows.length || column >= columns.length) return;
  } while (sizeOf(rows[row], columns[column]) === 0);
  event.target.tabIndex = -1;
  const next = byId("matrix").querySelector(`[data-cell="${rows[row]},${columns[column]}"]`);
  next.tabIndex = 0;
  next.focus();
}

function showConfusions(most) {
  const all = confusions(), shown = all.slice(0, most);
  byId("confusions-heading").hidden = byId("confusions").hidden = all.length === 0;
  replace(byId("confusions-heading"), all.length > most ? `The ${count(most)} most frequent of ${count(all.length)} confusions` : "Confusions, the most frequent first");
  const body = shown.map(([actual, predicted, size]) => {
    const isChosen = state.cell !== null && state.cell[0] === actual && state.cell[1] === predicted;
    const filter = el("button", { type: "button", class: "link", "aria-pressed": isChosen ? "true" : "false", click: () => setCell([actual, predicted]), "aria-label": "Filter by " + describeCell(actual, predicted) }, count(size));
    return el("tr", { class: isChosen ? "deciding" : null }, el("td", {}, classTag(actual)), el("td", {}, predictionTag(predicted)),
      el("td", { class: "numeric" }, filter), el("td", { class: "numeric" }, percent(shareOf(actual, predicted))));
  });
  const heads = ["actual", "predicted", "objects", "of the class"].map((name, position) => el("th", { scope: "col", class: position > 1 ? "numeric" : null }, name));
  replace(byId("confusions"), el("table", {}, el("caption", { class: "sr" }, "The most frequent confusions"), el("thead", {}, el("tr", {}, heads)), el("tbody", {}, body)));
}

// The objects of the chosen cell, with links; the page may hold some of them only.
function showCellObjects() {
  const box = byId("cell-objects");
  box.hidden = state.cell === null;
  if (state.cell === null) return replace(box);
  const [actual, predicted] = state.cell, isTest = confusion.queries !== null;
  const listed = isTest ? queries.ids.map((_, query) => query).filter(isQueryInCell) : [...objectsInCell()].sort((a, b) => a - b);
  const left = sizeOf(actual, predicted) - Math.min(listed.length, MAX_CELL_OBJECTS);
  replace(box, el("p", {}, describeCell(actual, predicted) + ". ",
      el("span", { class: "quiet" }, isTest ? "The map shows the prototypes that decided, and training objects of the class whose nearest prototype is of the predicted one." : "The map shows them.")),
    el("div", { class: "chips members" }, listed.slice(0, MAX_CELL_OBJECTS).map((index) => (isTest ? queryLink(index) : objectLink(index))),
      left > 0 ? el("span", { class: "quiet" }, `and ${count(left)} more`) : null));
}

// The filter in words, at the top of the window, with a button that clears it.
function showFilterChip() {
  const chip = byId("filter-chip");
  chip.hidden = state.cell === null;
  if (state.cell === null) return replace(chip);
  const clear = el("button", { type: "button", "aria-label": "Clear the filter", click: () => setCell(null) }, "✕");
  replace(chip, el("span", { title: describeCell(...state.cell) }, "filter: actual ", isolate(className(state.cell[0])), " predicted ", isolate(predictionName(state.cell[1]))), clear);
}

function startConfusion() {
  const { columns } = matrixCodes(), isMatrix = columns.length <= MAX_MATRIX;
  byId("matrix").hidden = byId("cell-text").hidden = !isMatrix;
  const wrong = confusion.measured_on === "seen objects" ? `; the nearest prototype of ${count(confusion.n_wrong)} is of another class` : `; ${plural(confusion.n_wrong, "is", "are")} wrong, ${percent(confusion.n_wrong / confusion.n_measured)}`;
  replace(byId("confusion-note"), `${answeredBy()}${wrong}. `,
    isMatrix ? "Rows are actual classes, columns predicted ones. Choose a cell to see its objects on the map and in the lists." : `There are ${count(columns.length)} classes, so the most frequent confusions are listed. Choose one to see its objects on the map and in the lists.`);
  if (isMatrix) replace(byId("cell-text"), "Point at a cell, or move with the arrow keys, to see its share of the actual class. Right predictions are blue, confusions red; the darker, the larger the share.");
  byId("matrix").addEventListener("keydown", onMatrixKey);
  const show = () => {
    if (isMatrix) showMatrix();
    showConfusions(isMatrix ? MAX_CONFUSIONS : MAX_LONG_LIST);
    showCellObjects();
    showFilterChip();
  };
  on("filter", show);
  show();
}
