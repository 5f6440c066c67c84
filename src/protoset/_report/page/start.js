// Colours, facts and printing; then all parts of the page start in order.

function startTheme() {
  const button = byId("theme"), dark = matchMedia("(prefers-color-scheme: dark)");
  const show = () => {
    const isDark = state.theme === null ? dark.matches : state.theme === "dark";
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    replace(button, isDark ? "Light" : "Dark");
    button.setAttribute("aria-label", isDark ? "Use light colours" : "Use dark colours");
  };
  button.addEventListener("click", () => {
    state.theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    notify("theme");
  });
  on("theme", show);
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
startGallery();
startBudget();
startDetails();
startMap();
startFind();
startPrototypes();
startQueries();
startSuspects();
startConfusion();
startHardest();
startUnlike();
startRelevances();
startFacts();
startPrinting();
startCopies();
startLink();
startSections();
