// The sections of the page as a row of links that stays at the top of the window.

function jumpTo(section) {
  const heading = section.querySelector("h2");
  heading.tabIndex = -1;
  section.scrollIntoView({ block: "start" });
  heading.focus({ preventScroll: true });
}

// A link to a section scrolls to it and leaves the address, which keeps the state, as it is.
function sectionLink(section) {
  const go = (event) => {
    event.preventDefault();
    jumpTo(section);
  };
  return el("a", { href: "#" + section.id, click: go }, section.dataset.nav || section.querySelector("h2").textContent);
}

function startSections() {
  const sections = [...document.querySelectorAll("main > section")].filter((section) => !section.hidden && section.querySelector("h2"));
  const links = new Map(sections.map((section) => [section, sectionLink(section)]));
  const list = byId("section-links");
  replace(list, [...links.values()].map((anchor) => el("li", {}, anchor)));
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    jumpTo(byId("budget"));
  });
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const anchor = links.get(target);
      if (!isIntersecting) anchor.removeAttribute("aria-current");
      else {
        anchor.setAttribute("aria-current", "true");
        list.scrollTo({ left: anchor.offsetLeft - list.offsetLeft - 24 });
      }
    }
  }, { rootMargin: "-15% 0px -80% 0px" });
  for (const section of sections) observer.observe(section);
}
