// The slider over the budget, the error at each size, and the figures at the top.

function tile(value, name, more) {
  return el("div", { class: "tile" }, el("p", { class: "name" }, name), el("p", { class: "value" }, value), el("p", { class: "quiet small" }, more));
}

function showSummary() {
  const facts = model.summary;
  const known = Object.fromEntries(model.facts.flatMap((list) => list.rows));
  replace(
    byId("subtitle"),
    several(facts.n_train, "training object", "training objects"),
    facts.n_test ? ", " + several(facts.n_test, "test object", "test objects") : "",
    " of " + several(model.class_sizes.filter((size) => size > 0).length, "class", "classes") + "; metric ",
    quoted(known.metric),
    ", method " + known.method + (facts.refined ? " with refinement" : "") + "; made " + model.created,
  );
  const folds = facts.measured_on === "test" ? null : facts.cross_validated;
  replace(
    byId("tiles"),
    tile(count(facts.n_prototypes), "Prototypes", `of ${count(facts.n_train)} objects, ${percent(facts.selection_rate)}`),
    // Leave-one-out errors on the objects that the set was chosen by flatter it.
    folds
      ? tile(percent(folds.error), "Error with the prototypes", `± ${percent(folds.standard_error)}, by cross-validation`)
      : tile(percent(facts.prototypes.error), "Error with the prototypes", interval(facts.prototypes)),
    tile(percent(facts.everything.error), "Error of 1-NN on everything", interval(facts.everything)),
    tile(count(facts.distances_saved), "Distances saved per query", `${count(facts.distances_per_query)} instead of ${count(facts.n_train)}`),
  );
  const where =
    facts.measured_on === "test"
      ? `on ${several(facts.n_measured, "test object", "test objects")} that took no part in the selection.`
      : `by leave-one-out on ${several(facts.n_measured, "training object", "training objects")}, as there is no test part; ` +
        "the prototypes were selected on them, so that new objects may fare worse.";
  const other = folds ? "All other errors" : "Errors";
  replace(byId("measured"), `${other} are measured ${where} Intervals are Wilson's, at ${Math.round(100 * facts.confidence)} % confidence.`);
}

function stopText(stop) {
  return several(stop.size, "prototype", "prototypes") + ", error " + percent(stop.error);
}

function showNow() {
  const stop = model.stops[state.stop];
  const kind = stop.chosen ? (model.summary.refined ? "the chosen set, refined" : "the chosen set") : "a cut of the same ranking";
  replace(
    byId("now"),
    el("strong", { id: "now-size" }, several(stop.size, "prototype", "prototypes")),
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
  const box = byId("curve"), stops = model.stops;
  const width = widthOf(box), height = width < 500 ? 200 : 240;
  const left = 46, right = width - 24, top = 12, bottom = height - 44;
  const most = Math.min(1, 1.08 * Math.max(model.summary.everything.error, 0.01, ...stops.map((stop) => Math.min(stop.upper, 1.6 * stop.error + 0.02))));
  const sizes = stops.map((stop) => stop.size), low = Math.log(sizes[0]), spread = Math.log(sizes.at(-1)) - low || 1;
  const x = (size) => left + ((right - left) * (Math.log(size) - low)) / spread;
  const y = (error) => bottom - ((bottom - top) * Math.min(error, most)) / most;
  const parts = [];
  for (const tick of niceTicks(most, 4)) {
    parts.push(svg("line", { x1: left, x2: right, y1: y(tick), y2: y(tick), class: "grid" }));
    parts.push(svg("text", { x: left - 8, y: y(tick) + 4, class: "tick end" }, Number((100 * tick).toPrecision(3)) + " %"));
  }
  const chosen = stops[model.summary.chosen_stop], now = stops[state.stop];
  const written = [];
  for (const stop of [chosen, stops[0], stops.at(-1), ...stops]) {
    if (written.some((other) => Math.abs(other - x(stop.size)) < 34)) continue;
    written.push(x(stop.size));
    parts.push(svg("text", { x: x(stop.size), y: bottom + 18, class: "tick middle" }, count(stop.size)));
  }
  parts.push(svg("text", { x: (left + right) / 2, y: height - 3, class: "tick middle" }, "number of prototypes"));
  const line = stops.filter((stop) => !stop.chosen || !model.summary.refined);
  const edge = (key) => line.map((stop) => x(stop.size).toFixed(1) + " " + y(stop[key]).toFixed(1));
  if (line.length > 1) {
    parts.push(svg("path", { d: "M" + [...edge("lower"), ...edge("upper").reverse()].join("L") + "Z", class: "band" }));
    parts.push(svg("path", { d: "M" + edge("error").join("L"), class: "curve" }));
  }
  const whole = y(model.summary.everything.error);
  parts.push(svg("line", { x1: left, x2: right, y1: whole, y2: whole, class: "whole" }));
  parts.push(svg("line", { x1: x(now.size), x2: x(now.size), y1: top, y2: bottom, class: "now-line" }));
  parts.push(svg("circle", { cx: x(now.size), cy: y(now.error), r: now === chosen ? 9 : 5, class: "now-dot" }));
  parts.push(svg("path", { d: polygon(4, 7, 0), transform: `translate(${x(chosen.size)} ${y(chosen.error)})`, class: "chosen" }));
  const label = `Error at ${stops.length} sizes, from ${stopText(stops[0])}, to ${stopText(stops.at(-1))}. Now ${stopText(now)}.`;
  replace(box, svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, parts));
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
  slider.addEventListener("input", () => goTo(Number(slider.value)));
  byId("to-chosen").addEventListener("click", () => goTo(model.summary.chosen_stop));
  const facts = model.summary;
  replace(
    byId("curve-legend"),
    legendEntry(svg("path", { d: "M-11 0H11", class: "curve" }), "error of the ranking cut at each size, with its interval"),
    legendEntry(svg("path", { d: polygon(4, 7, 0), class: "chosen" }), facts.refined ? "the chosen set, refined" : "the chosen set"),
    legendEntry(svg("path", { d: "M-11 0H11", class: "whole" }), "1-NN on everything"),
  );
  const show = () => {
    slider.value = state.stop;
    slider.setAttribute("aria-valuetext", stopText(model.stops[state.stop]));
    byId("to-chosen").disabled = state.stop === facts.chosen_stop;
    showNow();
    drawCurve();
  };
  on("stop", show);
  new ResizeObserver(drawCurve).observe(byId("curve"));
  show();
}
