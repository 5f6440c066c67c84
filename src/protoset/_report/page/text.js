// Elements and texts. Data reach the page only as text nodes, and only through these functions.

const SVG = "http://www.w3.org/2000/svg";

function byId(id) {
  return document.getElementById(id);
}

function appendAll(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

// A function as an attribute listens to the event of that name.
function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  return node;
}

function el(tag, attributes = {}, ...children) {
  return appendAll(setAttributes(document.createElement(tag), attributes), children);
}

function svg(tag, attributes = {}, ...children) {
  return appendAll(setAttributes(document.createElementNS(SVG, tag), attributes), children);
}

function replace(node, ...children) {
  node.replaceChildren();
  return appendAll(node, children);
}

// Text from data, as an element that isolates its writing direction from the text around it.
function isolate(text) {
  return el("bdi", {}, text);
}

// The same in characters, for places that take no elements.
function isolateText(text) {
  return "\u2068" + text + "\u2069";
}

function count(number) {
  return number.toLocaleString("en");
}

function plural(number, singular, pluralForm) {
  return count(number) + " " + (number === 1 ? singular : pluralForm);
}

function percent(share) {
  if (share === 0 || share === 1) return 100 * share + "\u00a0%";
  return (100 * share).toFixed(share < 0.01 ? 2 : 1) + "\u00a0%";
}

function interval(estimate) {
  return "between " + percent(estimate.lower) + " and " + percent(estimate.upper);
}

function number(value, missing = "∞") {
  if (value === null || value === undefined) return missing;
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}

function className(code) {
  return model.classes[code];
}
