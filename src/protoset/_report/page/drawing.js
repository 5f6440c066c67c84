// An object as itself: image, curve, values or text.

const PRINT_WIDTH = 660; // width of drawings in print; they are drawn before the page is laid out for paper

function widthOf(box) {
  return state.printing ? PRINT_WIDTH : Math.max(260, box.clientWidth);
}

// Long names may break into lines, but not into single letters.
function longClass(text) {
  return text.length > 12 ? " long" : "";
}

function classTag(code) {
  const name = className(code);
  return el("span", { class: "tag" + longClass(name) }, glyph(code), isolate(name));
}

// A group is the objects, the test objects or the moved prototypes. The page may not hold the values of all.
function hasValues(group, index) {
  return group.values.kind !== "matrix" && group.values.values[index] !== null;
}

// Image, curve, table or text of an object; null if only its dissimilarities are known.
function picture(group, index, name, width = 320) {
  const { kind, values, lengths } = group.values;
  if (kind === "matrix") return null;
  if (!hasValues(group, index)) return el("p", { class: "quiet" }, "Its values are not on this page.");
  if (kind === "images") return imagePicture(group, index, `Image of ${name}`, "face large");
  if (kind === "rows") return rowTable(group, index);
  if (kind === "strings") return el("p", { class: "string", dir: "auto" }, values[index]);
  const label = `${name}, a series of ${plural(lengths[index], "point", "points")}`;
  return seriesPlot([curveOf(group, index, group.codes[index])], { width, limits: group.values.limits, label, axes: true });
}

// The same for small places, beside a name that is written: an image or a curve; null for other objects.
function thumb(group, index, code) {
  if (!hasValues(group, index)) return null;
  if (group.values.kind === "images") return imagePicture(group, index, "", "thumb");
  if (group.values.kind === "series") return sparkline([curveOf(group, index, code)], "thumb spark", group.values.limits);
  return null;
}

// A link with a small picture of its object before it, where there is one.
function pictured(group, index, code, link) {
  return el("span", { class: "with-thumb" }, thumb(group, index, code), link);
}

// An object or a moved prototype by its number: the group and the index in it that hold its values.
function valuesOf(prototype) {
  return isMoved(prototype) && moved.values ? [moved, prototype - n] : [objects, realCase(prototype)];
}

// A real case beside the moved prototypes that it stands for.
function pictureWithMoved(object, prototypes, width) {
  if (!moved.values || !hasValues(objects, object)) return picture(objects, object, "object " + objects.ids[object], width);
  const slots = prototypes.map((prototype) => prototype - n), { kind, values, names } = moved.values, code = objects.codes[object];
  if (kind === "rows") {
    const columns = slots.map((slot) => ({ heading: "prototype", values: values[slot] }));
    return valueTable(names, [{ heading: "real case", values: objects.values.values[object] }, ...columns]);
  }
  if (kind === "images") {
    const images = slots.map((slot) => framed("moved prototype", imagePicture(moved, slot, "The moved prototype", "face large")));
    return el("div", { class: "faces" }, framed("real case", imagePicture(objects, object, "The real case", "face large")), images);
  }
  const curves = [curveOf(objects, object, code), ...slots.map((slot) => curveOf(moved, slot, code, "faint"))];
  const label = `Object ${objects.ids[object]}, and where ${prototypes.length === 1 ? "its prototype" : "its prototypes"} moved`;
  return [
    seriesPlot(curves, { width, limits: sharedLimits([objects, moved]), label, axes: true }),
    el("p", { class: "quiet small" }, "The real case, and the moved prototype (dashed)"),
  ];
}

// A picture with its name below it.
function framed(name, content) {
  return el("figure", { class: "framed" }, content, el("figcaption", {}, name));
}

// Numbers of the method, folded away; they stay open once they are.
const disclosure = { open: false };

function methodDetails(...content) {
  const toggle = (event) => (disclosure.open = event.target.open);
  return el("details", { class: "method", open: disclosure.open, toggle }, el("summary", {}, "Method details"), content);
}
