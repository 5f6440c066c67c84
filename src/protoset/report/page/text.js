// Elements and texts. Data reach the page as text nodes and through these functions alone.

const SVG = "http://www.w3.org/2000/svg";

function byId(id) {
  return document.getElementById(id);
}

function fill(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

// Attributes are names and texts; one that is a function listens to the event of its name.
function dress(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  return node;
}

function el(tag, attributes = {}, ...children) {
  return fill(dress(document.createElement(tag), attributes), children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(dress(document.createElementNS(SVG, tag), attributes), children);
}

function replace(node, ...children) {
  node.replaceChildren();
  return fill(node, children);
}

// Text from data: whatever direction it is written in, it does not turn the text around it.
function quoted(text) {
  return el("bdi", {}, text);
}

// The same where there is room for characters alone.
function isolated(text) {
  return "\u2068" + text + "\u2069";
}

function count(number) {
  return number.toLocaleString("en");
}

function several(number, one, many) {
  return count(number) + " " + (number === 1 ? one : many);
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
