// Colours, facts and printing; then all parts of the page start in order.

function startTheme() {
  const button = byId("theme"), dark = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const show = () => {
    const isDark = chosen === null ? dark.matches : chosen;
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    replace(button, isDark ? "Light" : "Dark");
    button.setAttribute("aria-label", isDark ? "Use light colours" : "Use dark colours");
  };
  button.addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme !== "dark";
    show();
  });
  dark.addEventListener("change", show);
  show();
}

function startFacts() {
  replace(
    byId("fact-lists"),
    model.facts.map((list) =>
      el("div", {}, el("h3", {}, list.heading), el("dl", {}, list.rows.map(([name, text]) => factRow(isolate(name), isolate(text))))),
    ),
  );
  replace(byId("notes"), model.notes.map((note) => el("li", {}, note)));
}

function startPrinting() {
  const redraw = (printing) => {
    state.printing = printing;
    drawCurve();
    resizeMap();
  };
  addEventListener("beforeprint", () => redraw(true));
  addEventListener("afterprint", () => redraw(false));
}

startTheme();
startBudget();
startDetails();
startMap();
startFind();
startPrototypes();
startQueries();
startSuspects();
startRelevances();
startFacts();
startPrinting();
