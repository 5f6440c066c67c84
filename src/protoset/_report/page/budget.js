// The summary at the top, the slider over the number of prototypes, and the cross-validated error at each number.

function tile(value, name, note, style = "") {
  return el("div", { class: "tile" + style }, el("p", { class: "name" }, name), el("p", { class: "value" }, value), el("p", { class: "quiet small" }, note));
}

function factOf(name) {
  return Object.fromEntries(model.facts.flatMap((list) => list.rows))[name];
}

// How sure an error is.
function spread(estimate) {
  return estimate.measured_on === "test" ? interval(estimate) : deviation(estimate);
}

const MEASURED = {
  test: "on the test objects",
  "cross-validation": "by cross-validation",
  "held-out objects": "on held-out training objects",
  "seen objects": "on training objects that the selection has seen, too small",
};

function howMeasured(estimate) {
  return MEASURED[estimate.measured_on];
}

function deviation(estimate) {
  return "± " + percent(estimate.standard_error);
}

function showSummary() {
  const summary = model.summary, error = summary.error;
  replace(
    byId("subtitle"),
    plural(summary.n_train, "training object", "training objects"),
    summary.n_test ? ", " + plural(summary.n_test, "test object", "test objects") : "",
    " of " + plural(model.class_sizes.filter((size) => size > 0).length, "class", "classes") + "; metric ",
    isolate(factOf("metric")),
    ", method " + factOf("method") + (moved ? ", then moved" : "") + "; made " + model.created,
  );
  const onTest = error.measured_on === "test", references = summary.references[onTest ? "test" : "leave_one_out"];
  const how = howMeasured(error), reference = onTest ? how : "by leave-one-out";
  replace(
    byId("tiles"),
    tile(count(summary.n_prototypes), "Prototypes", `of ${count(summary.n_train)} objects, ${percent(summary.selection_rate)}`),
    tile(percent(error.error), "Error with the prototypes", `${spread(error)}, ${how}`),
    tile(count(summary.distances_saved), "Distances saved per query", `${count(summary.distances_per_query)} instead of ${count(summary.n_train)}`),
    tile(percent(references.guess), "Error of always guessing", ["the most frequent class, ", isolate(className(references.answer))], " reference"),
    tile(percent(references.nearest), "Error of 1-NN on all objects", reference, " reference"),
    tile(percent(references.knn), "Error of k-NN on all objects", `k = ${references.k}, ${reference}`, " reference"),
  );
  byId("verdict").hidden = !summary.no_better_than_guessing;
  replace(byId("verdict"), el("strong", {}, "No better than guessing: "), "always answering ", isolate(className(references.answer)),
    ` has an error of ${percent(references.guess)}, the prototypes have ${percent(error.error)} ± ${percent(error.standard_error)}.`);
  replace(byId("measured"), onTest ? testNote(error) : validationNote(error, references));
}

function testNote(error) {
  return `These errors are measured on ${plural(error.n_measured, "test object", "test objects")} that took no part in the selection${moved ? " or the moves" : ""}. ` +
    `The interval is a Wilson interval at ${Math.round(100 * error.confidence)} % confidence. The k of k-NN is chosen on the training objects.` +
    (model.stops.length > 1 ? " The curve below is cross-validated on the training objects." : "");
}

function validationNote(error, references) {
  const others = `1-NN and k-NN classify ${references.n_measured < model.summary.n_train ? count(references.n_measured) + " training objects" : "each training object"} by all others.`;
  if (error.measured_on === "held-out objects") {
    return `The error with the prototypes is measured on ${count(error.n_measured)} training objects that took no part in the moves. ± is its standard error. ${others}`;
  }
  if (error.measured_on === "seen objects") {
    return `The error with the prototypes is measured on ${count(error.n_measured)} training objects that took part in the selection, so it is too small. Only test objects tell the error of this set. ${others}`;
  }
  const some = error.n_measured < model.summary.n_train ? `a sample of ${count(error.n_measured)} training objects` : "the training objects";
  return `The error with the prototypes is cross-validated: on four fifths of ${some} the method selects ${moved ? "and moves " : ""}a set of this size, which classifies the others. ` +
    `± is the standard error over five such folds. ${others}`;
}

// Number of prototypes at a stop; a refined set may need fewer than it may have.
function stopSize(stop) {
  return stop.kept ? stop.n_kept : stop.size;
}

// Whether the curve is about sets that move where the chosen set did not, or the reverse.
function isOtherSet(stop) {
  return stop.chosen && stop.error !== null && model.stops.length > 1 && model.summary.moved_curve !== stop.moved;
}

// Whether the error of the chosen set is known from its calibration, better than from the curve.
function isCalibrated(stop) {
  return stop.chosen && !["test", "cross-validation"].includes(model.summary.error.measured_on);
}

function stopError(stop) {
  return stop.error === null || isOtherSet(stop) || isCalibrated(stop) ? model.summary.error : { measured_on: "cross-validation", ...stop };
}

// The name of the error of a stop: errors along the curve may be of another measure.
function measureOf(error) {
  return error === model.summary.error ? "error" : model.summary.measure;
}

function stopText(stop) {
  const error = stopError(stop);
  return `${plural(stopSize(stop), "prototype", "prototypes")}, ${measureOf(error)} ${percent(error.error)}`;
}

// The chosen set in words: refined, moved.
function chosenText() {
  const how = [model.summary.refined ? "refined" : null, moved ? "moved" : null].filter(Boolean).join(" and ");
  return "the chosen set" + (how ? ", " + how : "");
}

function stopKind(stop) {
  const isCurveMoved = model.summary.moved_curve;
  if (stop.chosen) {
    if (!isOtherSet(stop)) {
      const isOnCurve = isCalibrated(stop) && stop.error !== null && model.stops.length > 1;
      return chosenText() + (isOnCurve ? `; the curve, ${percent(stop.error)} here, is measured among fewer objects` : "");
    }
    return `${chosenText()}; the curve, ${percent(stop.error)} here, is about sets ${isCurveMoved ? "that move" : "before any moves"}`;
  }
  if (!stop.kept) return "its prototypes are not on this page; those below are of the chosen set";
  const kind = model.summary.refined ? "a refined set of this size" : "a cut of the ranking";
  return kind + (isCurveMoved ? ", shown before its moves; the error is that after them" : moved ? ", before any moves" : "");
}

function showNow() {
  const stop = model.stops[state.stop], error = stopError(stop), test = model.summary.error;
  const how = howMeasured(error);
  const budget = stop.kept && stop.n_kept < stop.size ? ` of at most ${count(stop.size)}` : "";
  const alsoOnTest = stop.chosen && test.measured_on === "test" && error !== test ? `, error ${percent(test.error)} on the test objects` : "";
  replace(
    byId("now"),
    el("strong", { id: "now-size" }, plural(stopSize(stop), "prototype", "prototypes")),
    `${budget}: ${measureOf(error)} `,
    el("strong", { id: "now-error" }, percent(error.error)),
    el("span", { class: "quiet" }, ` ${spread(error)} ${how}${alsoOnTest}; ${stopKind(stop)}`),
  );
}

function niceTicks(most, wanted) {
  const raw = most / wanted, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= raw);
  const ticks = [];
  for (let tick = 0; tick <= most + step * 1e-6; tick += step) ticks.push(tick);
  return ticks;
}

function drawCurve() {
  const box = byId("curve"), stops = model.stops, summary = model.summary;
  if (stops.length < 2) return;
  const width = widthOf(box), height = width < 500 ? 220 : 250;
  const lines = referenceLines(), highest = Math.max(0.01, ...stops.map((stop) => stop.error + stop.standard_error));
  // A line far above the curve is drawn at the top, above a break of the axis.
  const isFar = ({ error }) => error > FAR_ABOVE * highest;
  const left = 46, right = width - (width < 500 ? 126 : 134), top = lines.some(isFar) ? 32 : 12, bottom = height - 44;
  const most = Math.min(1, 1.08 * Math.max(highest, ...lines.filter((line) => !isFar(line)).map((line) => line.error)));
  const sizes = stops.map((stop) => stop.size), low = Math.log(sizes[0]), spread = Math.log(sizes.at(-1)) - low || 1;
  const x = (size) => left + 14 + ((right - left - 14) * (Math.log(size) - low)) / spread;
  const y = (error) => bottom - ((bottom - top) * Math.min(error, most)) / most;
  const shapes = [];
  for (const tick of niceTicks(most, 4)) {
    shapes.push(svg("line", { x1: left, x2: right, y1: y(tick), y2: y(tick), class: "grid" }));
    shapes.push(svg("text", { x: left - 8, y: y(tick) + 4, class: "tick end" }, Number((100 * tick).toPrecision(3)) + " %"));
  }
  const chosen = stops[summary.chosen_stop], now = stops[state.stop];
  const labelled = []; // x of the sizes written below the axis
  for (const stop of [chosen, stops[0], stops.at(-1), ...stops]) {
    if (labelled.some((other) => Math.abs(other - x(stop.size)) < 34)) continue;
    labelled.push(x(stop.size));
    shapes.push(svg("text", { x: x(stop.size), y: bottom + 18, class: "tick middle" }, count(stop.size)));
  }
  shapes.push(svg("text", { x: (left + right) / 2, y: height - 3, class: "tick middle" }, "number of prototypes"));
  const edge = (height) => stops.map((stop) => x(stop.size).toFixed(1) + " " + y(height(stop)).toFixed(1));
  const band = [...edge((stop) => Math.max(0, stop.error - stop.standard_error)), ...edge((stop) => stop.error + stop.standard_error).reverse()];
  shapes.push(svg("path", { d: "M" + band.join("L") + "Z", class: "band" }));
  const heightOf = (line) => (isFar(line) ? 12 : y(line.error));
  for (const line of lines) shapes.push(svg("line", { x1: left, x2: right, y1: heightOf(line), y2: heightOf(line), class: line.style }));
  if (lines.some(isFar)) shapes.push(svg("path", { d: `M${left - 7} 25l5 -4l5 6l5 -4`, class: "break" }));
  const ends = lines.map((line) => ({ y: heightOf(line), text: `${line.label} ${percent(line.error)}${isFar(line) ? " ↑" : ""}` }));
  shapes.push(lineLabels([...ends, { y: y(stops.at(-1).error), text: "prototypes", own: true }], right, bottom));
  shapes.push(svg("path", { d: "M" + edge((stop) => stop.error).join("L"), class: "curve" }));
  for (const stop of stops) shapes.push(svg("circle", { cx: x(stop.size), cy: y(stop.error), r: 2.5, class: "curve-dot" }));
  shapes.push(svg("line", { x1: x(now.size), x2: x(now.size), y1: top, y2: bottom, class: "now-line" }));
  shapes.push(svg("circle", { cx: x(now.size), cy: y(now.error), r: now === chosen ? 9 : 5, class: "now-dot" }));
  shapes.push(svg("path", { d: polygon(4, 7, 0), transform: `translate(${x(chosen.size)} ${y(chosen.error)})`, class: "chosen" }));
  const label = `Cross-validated ${summary.measure} at ${stops.length} sizes, from ${stopText(stops[0])}, to ${stopText(stops.at(-1))}. Now ${stopText(now)}.`;
  replace(box, svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, shapes));
}

// What a user would take instead, by leave-one-out on the training objects. Guessing always answers with the most frequent class.
function referenceLines() {
  const references = model.summary.references.leave_one_out, n_classes = model.class_sizes.filter((size) => size > 0).length;
  const guessing = { style: "reference-line faint", label: "guessing", name: "guessing: always the most frequent class" };
  // Errors of 1-NN and k-NN do not compare with balanced errors.
  if (model.summary.measure !== "error") return [{ ...guessing, error: 1 - 1 / n_classes }];
  return [
    { error: references.nearest, style: "reference-line", label: "1-NN", name: "1-NN on all objects (leave-one-out)" },
    { error: references.knn, style: "reference-line dotted", label: "k-NN", name: `k-NN on all objects, k = ${references.k} (leave-one-out)` },
    { ...guessing, error: references.guess },
  ];
}

const LABEL_GAP = 15; // pixels between the labels of two lines
const FAR_ABOVE = 1.6; // times the highest error of the curve, from which on a line is drawn above a break

// Labels at the right ends of lines, moved apart where they would overlap; a leader goes from a line to its label.
function lineLabels(ends, right, bottom) {
  const labels = ends.map((end) => ({ ...end, at: end.y })).sort((a, b) => a.y - b.y);
  labels.forEach((label, position) => {
    if (position) label.at = Math.max(label.at, labels[position - 1].at + LABEL_GAP);
  });
  let lowest = bottom + LABEL_GAP;
  for (const label of labels.slice().reverse()) lowest = label.at = Math.min(label.at, lowest - LABEL_GAP);
  return labels.map(({ y, at, text, own }) => [
    svg("path", { d: `M${right + 1} ${y.toFixed(1)}L${right + 9} ${at.toFixed(1)}`, class: "leader" }),
    svg("text", { x: right + 12, y: (at + 4).toFixed(1), class: "line-label" + (own ? " own" : "") }, text),
  ]).flat();
}

function legendEntry(mark, text) {
  return el("li", {}, svg("svg", { viewBox: "-12 -8 24 16", class: "key", "aria-hidden": "true" }, mark), text);
}

// Whether the curve is about sets that move; said only where that is a question.
function curveText() {
  if (model.summary.moved_curve) return ", with moves,";
  return moved ? ", before any moves," : "";
}

function startBudget() {
  showSummary();
  const slider = byId("slider");
  if (model.stops.length < 2) {
    byId("slider-box").hidden = byId("curve").hidden = byId("curve-legend").hidden = true;
    replace(byId("budget-heading"), "The set");
  }
  slider.max = model.stops.length - 1;
  slider.addEventListener("input", () => setStop(Number(slider.value)));
  byId("to-chosen").addEventListener("click", () => setStop(model.summary.chosen_stop));
  const summary = model.summary;
  replace(
    byId("curve-legend"),
    legendEntry(svg("path", { d: "M-11 0H11", class: "curve" }), `cross-validated ${summary.measure} of ${factOf("method")}${curveText()} at each size, ± standard error`),
    legendEntry(svg("path", { d: polygon(4, 7, 0), class: "chosen" }), chosenText()),
    referenceLines().map(({ style, name }) => legendEntry(svg("path", { d: "M-11 0H11", class: style }), name)),
  );
  const show = () => {
    slider.value = state.stop;
    slider.setAttribute("aria-valuetext", stopText(model.stops[state.stop]));
    byId("to-chosen").disabled = state.stop === summary.chosen_stop;
    showNow();
    drawCurve();
  };
  on("stop", show);
  new ResizeObserver(drawCurve).observe(byId("curve"));
  show();
}
