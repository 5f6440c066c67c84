// The summary at the top, the slider over the number of prototypes, and the error at each number.

function tile(value, name, note) {
  return el("div", { class: "tile" }, el("p", { class: "name" }, name), el("p", { class: "value" }, value), el("p", { class: "quiet small" }, note));
}

function showSummary() {
  const summary = model.summary;
  const facts = Object.fromEntries(model.facts.flatMap((list) => list.rows));
  replace(
    byId("subtitle"),
    plural(summary.n_train, "training object", "training objects"),
    summary.n_test ? ", " + plural(summary.n_test, "test object", "test objects") : "",
    " of " + plural(model.class_sizes.filter((size) => size > 0).length, "class", "classes") + "; metric ",
    isolate(facts.metric),
    ", method " + facts.method + (summary.refined ? " with refinement" : "") + "; made " + model.created,
  );
  const crossValidated = summary.measured_on === "test" ? null : summary.cross_validated;
  replace(
    byId("tiles"),
    tile(count(summary.n_prototypes), "Prototypes", `of ${count(summary.n_train)} objects, ${percent(summary.selection_rate)}`),
    // The leave-one-out error is too low: the prototypes were selected on the same objects.
    crossValidated
      ? tile(percent(crossValidated.error), "Error with the prototypes", `± ${percent(crossValidated.standard_error)}, by cross-validation`)
      : tile(percent(summary.prototypes.error), "Error with the prototypes", interval(summary.prototypes)),
    tile(percent(summary.everything.error), "Error of 1-NN on all objects", interval(summary.everything)),
    tile(count(summary.distances_saved), "Distances saved per query", `${count(summary.distances_per_query)} instead of ${count(summary.n_train)}`),
  );
  const how =
    summary.measured_on === "test"
      ? `on ${plural(summary.n_measured, "test object", "test objects")} that took no part in the selection.`
      : `by leave-one-out on ${plural(summary.n_measured, "training object", "training objects")}, because there is no test set. ` +
        "The prototypes were selected on these objects, so the error on new objects may be higher.";
  const errors = crossValidated ? "All other errors" : "Errors";
  replace(byId("measured"), `${errors} are measured ${how} Intervals are Wilson intervals at ${Math.round(100 * summary.confidence)} % confidence.`);
}

function stopText(stop) {
  return plural(stop.size, "prototype", "prototypes") + ", error " + percent(stop.error);
}

function showNow() {
  const stop = model.stops[state.stop];
  const kind = stop.chosen ? (model.summary.refined ? "the chosen set, refined" : "the chosen set") : "a cut of the ranking";
  replace(
    byId("now"),
    el("strong", { id: "now-size" }, plural(stop.size, "prototype", "prototypes")),
    ": error ",
    el("strong", { id: "now-error" }, percent(stop.error)),
    el("span", { class: "quiet" }, ` (${interval(stop)}); ${kind}`),
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
  const width = widthOf(box), height = width < 500 ? 200 : 240;
  const left = 46, right = width - 24, top = 12, bottom = height - 44;
  const most = Math.min(1, 1.08 * Math.max(summary.everything.error, 0.01, ...stops.map((stop) => Math.min(stop.upper, 1.6 * stop.error + 0.02))));
  const sizes = stops.map((stop) => stop.size), low = Math.log(sizes[0]), spread = Math.log(sizes.at(-1)) - low || 1;
  const x = (size) => left + ((right - left) * (Math.log(size) - low)) / spread;
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
  // The refined set is no cut of the ranking: a marker without a line.
  const line = stops.filter((stop) => !stop.chosen || !summary.refined);
  const edge = (key) => line.map((stop) => x(stop.size).toFixed(1) + " " + y(stop[key]).toFixed(1));
  if (line.length > 1) {
    shapes.push(svg("path", { d: "M" + [...edge("lower"), ...edge("upper").reverse()].join("L") + "Z", class: "band" }));
    shapes.push(svg("path", { d: "M" + edge("error").join("L"), class: "curve" }));
  }
  const oneNN = y(summary.everything.error);
  shapes.push(svg("line", { x1: left, x2: right, y1: oneNN, y2: oneNN, class: "one-nn" }));
  shapes.push(svg("line", { x1: x(now.size), x2: x(now.size), y1: top, y2: bottom, class: "now-line" }));
  shapes.push(svg("circle", { cx: x(now.size), cy: y(now.error), r: now === chosen ? 9 : 5, class: "now-dot" }));
  shapes.push(svg("path", { d: polygon(4, 7, 0), transform: `translate(${x(chosen.size)} ${y(chosen.error)})`, class: "chosen" }));
  const label = `Error at ${stops.length} sizes, from ${stopText(stops[0])}, to ${stopText(stops.at(-1))}. Now ${stopText(now)}.`;
  replace(box, svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, shapes));
}

function legendEntry(mark, text) {
  return el("li", {}, svg("svg", { viewBox: "-12 -8 24 16", class: "key", "aria-hidden": "true" }, mark), text);
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
    legendEntry(svg("path", { d: "M-11 0H11", class: "curve" }), "error of the ranking cut at each size, with interval"),
    legendEntry(svg("path", { d: polygon(4, 7, 0), class: "chosen" }), summary.refined ? "the chosen set, refined" : "the chosen set"),
    legendEntry(svg("path", { d: "M-11 0H11", class: "one-nn" }), "1-NN on all objects"),
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
