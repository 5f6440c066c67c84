// Long lists of numbers, which packing.py wrote as the bytes of typed arrays in base64.

const PACKED_KINDS = { i1: Int8Array, i2: Int16Array, i4: Int32Array, f4: Float32Array, f8: Float64Array };

function unpackNumbers({ packed, data }) {
  const text = atob(data), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const numbers = Array.from(new PACKED_KINDS[packed](bytes.buffer));
  return packed[0] === "f" ? numbers.map((number) => (Number.isNaN(number) ? null : number)) : numbers;
}

// The same values with plain arrays. Lists of anything but packed numbers are looked through only where they are short.
function unpack(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.length < 2000 ? value.map(unpack) : value;
  if (!value.packed) return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, unpack(part)]));
  const numbers = unpackNumbers(value);
  if (!value.lengths) return numbers;
  let start = 0;
  return unpackNumbers(value.lengths).map((length) => numbers.slice(start, (start += length)));
}
