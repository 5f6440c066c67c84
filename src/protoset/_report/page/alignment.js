// Two strings, or lists of tokens, one above the other: equal symbols, and the edits between them.

const MARKS = { equal: "|", replace: "≠", delete: "−", insert: "+", transpose: "⇄" };
const EDIT_NAMES = { replace: "replaced", delete: "deleted", insert: "inserted", transpose: "exchanged" };
const CHUNK = 12; // symbols of a piece that is not broken into lines

const VISIBLE = { " ": "␣", "\n": "⏎", "\t": "⇥", "\r": "␍" };

// Symbols that are seen although they are blank.
function visible(symbol, isEdit) {
  return isEdit || symbol !== " " ? (VISIBLE[symbol] ?? symbol) : "\u00a0";
}

// A piece: the symbol of the test object, a mark, the symbol of the prototype, in columns.
function piece(kind, symbols, others) {
  const length = Math.max(symbols ? symbols.length : 0, others ? others.length : 0), isEdit = kind !== "equal";
  const line = (list, style) => el("span", { class: style, dir: "ltr" }, list ? list.map((symbol) => visible(symbol, isEdit)).join("") : "·".repeat(length));
  return el("span", { class: "piece " + kind }, line(symbols, symbols ? "" : "gap"), el("span", { class: "edit-mark" }, MARKS[kind].repeat(length)), line(others, others ? "" : "gap"));
}

function tokenPiece(kind, symbol, other) {
  const line = (text) => el("span", { class: text === null ? "gap" : null, dir: "ltr" }, text === null ? "·" : text);
  return el("span", { class: "piece token " + kind }, line(symbol), el("span", { class: "edit-mark" }, MARKS[kind]), line(other));
}

function pieces([kind, first, second]) {
  if (Array.isArray(first) || Array.isArray(second)) {
    return (first || second).map((_, k) => tokenPiece(kind, first ? first[k] : null, second ? second[k] : null));
  }
  const symbols = first === null ? null : Array.from(first), others = second === null ? null : Array.from(second);
  const length = (symbols || others).length, list = [];
  for (let start = 0; start < length; start += CHUNK) {
    const part = (all) => (all ? all.slice(start, start + CHUNK) : null);
    list.push(piece(kind, part(symbols), part(others)));
  }
  return list;
}

// The number of edits of each kind: texts, each with the mark of its kind.
function editCounts(counts) {
  return Object.entries(EDIT_NAMES).filter(([kind]) => counts[kind]).map(([kind, name]) => [kind, `${count(counts[kind])} ${name}`]);
}

function alignment(comparison) {
  const edits = editCounts(comparison.counts), text = (side) =>
    comparison.runs.map((run) => (run[side] === null ? "" : Array.isArray(run[side]) ? run[side].join(" ") + " " : run[side])).join("");
  const summary = edits.map(([, words]) => words).join(", ") || "no edits";
  const label = `The test object, ${isolateText(text(1))}, above the prototype, ${isolateText(text(2))}: ${summary}`;
  const legend = edits.map(([kind, words]) => el("li", {}, el("span", { class: "key-mark " + kind }, MARKS[kind]), words));
  return [
    el("div", { class: "alignment", role: "img", "aria-label": label }, comparison.runs.flatMap(pieces)),
    el("ul", { class: "legend" }, el("li", {}, "test object above, prototype below"), legend.length ? legend : el("li", {}, "no edits: both are equal"),
      comparison.is_cut ? el("li", {}, "the rest of the two is not shown") : null),
  ];
}
