// Images: one byte per pixel and channel, as written by images.py, on small canvases.

const MISSING_LEVEL = 255; // a missing pixel; the others have levels from 0 to 254

function bytesOf(group, index) {
  return Uint8Array.from(atob(group.values.values[index]), (character) => character.charCodeAt(0));
}

// Brightness of each level, from 0 to 1: the range of the training objects is that of all images on the page.
function brightness(group) {
  const [low, high] = group.values.limits, [darkest, lightest] = objects.values.limits;
  return Float32Array.from({ length: MISSING_LEVEL }, (_, level) => {
    const value = low + (level * (high - low)) / (MISSING_LEVEL - 1);
    return Math.min(1, Math.max(0, (value - darkest) / (lightest - darkest || 1)));
  });
}

// A canvas whose pixels are red, green, blue and alpha from 0 to 255. Without a label it belongs to a text beside it.
function canvasOf([height, width], label, style, paint) {
  const name = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  const canvas = el("canvas", { width, height, class: style, ...name });
  const context = canvas.getContext("2d"), pixels = context.createImageData(width, height);
  for (let pixel = 0; pixel < width * height; pixel++) pixels.data.set(paint(pixel), 4 * pixel);
  context.putImageData(pixels, 0, 0);
  return canvas;
}

function imagePicture(group, index, label, style) {
  const bytes = bytesOf(group, index), channels = group.values.shape[2], light = brightness(group);
  return canvasOf(group.values.shape, label, style, (pixel) => {
    const levels = channels === 1 ? Array(3).fill(bytes[pixel]) : bytes.subarray(3 * pixel, 3 * pixel + 3);
    return [...Array.from(levels, (level) => 255 * (light[level] ?? 0)), levels.includes(MISSING_LEVEL) ? 0 : 255];
  });
}

const BRIGHTER = [213, 94, 0]; // orange and blue are told apart by all readers
const DARKER = [0, 114, 178];

// Where an image is brighter than another, orange; where it is darker, blue; where they are alike, nothing.
function differencePicture([group, index], [other, otherIndex], label) {
  const [first, second] = [bytesOf(group, index), bytesOf(other, otherIndex)], channels = group.values.shape[2];
  const [light, otherLight] = [brightness(group), brightness(other)];
  return canvasOf(group.values.shape, label, "face large", (pixel) => {
    let difference = 0;
    for (let k = channels * pixel; k < channels * (pixel + 1); k++) difference += ((light[first[k]] ?? 0) - (otherLight[second[k]] ?? 0)) / channels;
    return [...(difference > 0 ? BRIGHTER : DARKER), 255 * Math.sqrt(Math.abs(difference))];
  });
}
