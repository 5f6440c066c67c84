"""Lines of the part "readers": every format, damaged and made."""

from __future__ import annotations

from hypothesis import strategies as st

from campaigns.data_files import PIECES, TEXTS
from campaigns.lines.objects import ODD_OBJECTS
from campaigns.lines.text import Text, fill, mostly, pick

SEED = st.integers(0, 99999).map(str)
ENDING = pick(*map(repr, TEXTS))
ENDINGS = (*TEXTS, "", ".npy", ".npz", ".mat", ".parquet", ".csv.gz", ".dat.gz", ".xyz", ".npz.gz")
ENCODING = mostly(pick(""), pick(", 'utf-16'", ", 'latin-1'", ", 'utf-32'", ", 'cp1252'"), 8)
KIND = pick("'vectors'", "'mixed'", "'series'", "'strings'", "'matrix'")
OPTIONS = mostly(
    pick(""),
    fill(
        ", {option}", option=pick("target='a'", "target=0", "target=-1", "target=99", "target=False", "target='class'")
    )
    | fill(", kind={kind}", kind=mostly(KIND, pick("'x'", "3"), 8))
    | fill(
        ", {option}",
        option=pick(
            *("ignore='a'", "ignore=[0, 1]", "use='*'", "use='a'", "id='a'", "id=0", "id='a', text='b'", "ignore=None"),
            *("categorical='a'", "categorical=['class']", "numeric='b'", "numeric=0", "text='b'", "text=1", "use=1.5"),
            *("header=True", "header=False", "header='x'", "separator='|'", "separator=''", "decimal=','", "decimal=3"),
        ),
    )
    | pick(", labels=['a', 'b', 'a']", ", labels='y'", ", labels=[]", ", name='n'", ", labels=3", ", target=1.5"),
    3,
)

FORMED = pick(
    "5 %", '"1,234"', "2020-01-31", "31.12.2020", "1/2/2020", "2020-02-30T25:00", "2020-01-01 10:00Z", "0001-01-01"
)
NUMBER = pick("0", "1", "2.5", "-1e3", "7", "0.125", "1e9", "3")
ODD_CELL = pick(
    "x",
    "y z",
    "?",
    "",
    "NaN",
    "inf",
    "'a'",
    '"b"',
    "1e999",
    "u",
    "٣",
    " 1 ",
    "-",
    '"',
    "1,5",
    "9" * 400,
    "5 %",
    "1,234",
)
CELL = mostly(NUMBER, ODD_CELL | FORMED, 8)
LABEL = mostly(pick("u", "v", "1", "2"), pick("", "?", "1.5", "é", "=1+1"), 15)


@st.composite
def tables(draw: st.DrawFn) -> str:
    """Draw a table, its lines mostly of equal length, with a column of labels."""
    comma = draw(pick(",", ",", ",", ";", "\t", " ", "|"))
    width, n = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    rows = [comma.join([*(draw(CELL) for _ in range(width)), draw(LABEL)]) for _ in range(n)]
    head = draw(pick("", comma.join([*"abcd"[:width], "class"]), comma.join([*"aacd"[:width], ""])))
    tail = draw(mostly(pick(""), pick("1,2,3,4,5,6,7", '"', "\n\n", "\x00"), 8))
    return repr("\n".join([*([head] if head else []), *rows, tail]).encode())


KINDS = {
    "real": NUMBER,
    "integer": pick("0", "1", "2"),
    "{x, 'y z'}": pick("x", "'y z'"),
    "real [0, 5]": pick("0", "2.5"),
}
ODD_KIND = pick("integer [5, 1]", "string", "numeric", "{}", "date", "{x", "")
ODD_DECLARATION = pick(
    *("@inputs a, b", "@outputs class", "@output b", "@inputs", "% x", "@classLabel true 1", "@attribute", "@relation"),
    *("@attribute a real", "@attribute '", "@outputs a, b", "x"),
)


@st.composite
def declared(draw: st.DrawFn) -> str:
    """Draw a KEEL or ARFF file: attributes, then rows of their types, here and there another line."""
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4))
    names = draw(mostly(pick("abcd"), pick("aacd", "éb{d", "ab'd"), 8))
    lines = ["@relation r", *(f"@attribute {name} {kind}" for name, kind in zip(names, kinds, strict=False))]
    lines += ["@attribute class {u, v}", "@data"]
    for _ in range(draw(st.integers(1, 5))):
        cells = [draw(mostly(KINDS[kind], ODD_CELL, 15)) for kind in kinds]
        lines.append(", ".join([*cells, draw(pick("u", "v"))]))
    if draw(st.booleans()):
        position = draw(st.integers(0, len(lines)))
        odd = (
            ODD_DECLARATION
            | ODD_KIND.map("@attribute o {}".format)
            | pick("{0 1}", "{0 1, 9 2}", "{9 1}", "{", "@data", ",")
        )
        lines.insert(position, draw(odd))
    return repr("\n".join(lines).encode())


ARRAYS: Text = mostly(
    pick(
        "matrix(5)", "condensed(5)", "labels(5)", "vectors(5)", "np.zeros((5, 5))", "names(labels(5))", "matrix(5) + 1"
    ),
    ODD_OBJECTS.filter(
        lambda text: not text.startswith(("(x", "pd", "sparse", "vectors", "{", "[[1, 2]", "[[1.0", "[np"))
    ),
    3,
)
FRAME = pick(
    *(
        "table(5)",
        "table(5).astype(str)",
        "table(0)",
        "pd.DataFrame(vectors(5)).rename(columns=str)",
        "nullable(vectors(5))",
    ),
    *(
        "table(5).assign(y=labels(5))",
        "pd.DataFrame({'a': [1, 2], 'class': ['u', 'v']})",
        "pd.DataFrame({'class': [1]})",
    ),
    *("pd.DataFrame({'a': [[1], [2]], 'y': [1, 2]})", "pd.DataFrame({'a': pd.to_datetime([1, 2]), 'y': [1, 2]})"),
    *("pd.DataFrame({'a': [b'x', b'y'], 'y': [1, 2]})", "pd.DataFrame({'a': [{'b': 1}, {'b': 2}], 'y': [1, 2]})"),
    *(
        "pd.DataFrame({'a': [inf, 1e308], 'y': [None, 'x']})",
        "pd.DataFrame()",
        "pd.DataFrame({'a': [2**63], 'y': [1.5]})",
    ),
    *("pd.DataFrame({'a': [Decimal('1.5'), None], 'y': [True, False]})", "pd.DataFrame({'': [1, 2], 'y': ['', ' ']})"),
)
BINARY = st.one_of(
    fill("npy({X})", X=ARRAYS),
    fill("npz(D={X}, labels={y})", X=ARRAYS, y=ARRAYS),
    fill("npz({name}={X})", name=pick("D", "X", "y", "distances"), X=ARRAYS),
    fill(
        "mat(D={X}, labels={y})",
        X=pick("matrix(5)", "np.eye(3)", "[[1j]]", "'a'", "np.zeros((0, 0))"),
        y=pick("labels(5)", "['a', 'b']", "3"),
    ),
    fill("parquet({frame})", frame=FRAME),
)
PIECES_TEXT = st.lists(pick(*PIECES), max_size=12).map(lambda pieces: repr("".join(pieces).encode("utf-8", "replace")))

FORM = pick("broken", "broken", "table", "declared", "pieces", "arrays", "arrays", "made", "gzipped", "any")
TEXT_ENDING, TABLE_ENDING, DECLARED_ENDING = pick(*TEXTS), pick(".csv", ".txt", "", ".tsv"), pick(".dat", ".arff", "")
GZIPPED_ENDING, ANY_ENDING = pick(".csv.gz", ".dat.gz", ".csv"), pick(*ENDINGS)
DAMAGED = pick("{}", "{}", "damaged({}, {})")
DOOR = pick("read_file", "read_file", "read_file", "read_as_queries", "fit_file")
MORE = {
    "read_file": OPTIONS,
    "read_as_queries": fill(", {kind}", kind=KIND),
    "fit_file": pick("", ", 'ENN'", ", 'REPS'", ", 'FCNN', metric='gower'", ", 'FCNN', scaling='minmax'"),
}
TABLES, DECLARED = tables(), declared()

CONTENT = st.one_of(
    fill("broken({ending}, {seed}{encoding})", ending=ENDING, seed=SEED, encoding=ENCODING),
    TABLES,
    DECLARED,
    PIECES_TEXT,
)

ENDING_AND_MADE = st.sampled_from(
    [
        *(("vectors", ".csv"), ("mixed", ".dat"), ("mixed", ".parquet"), ("matrix", ".npz"), ("matrix", ".mat")),
        *(("series", ".ts"), ("strings", ".txt"), ("mixed", ".arff"), ("mixed", ".csv"), ("vectors", ".parquet")),
    ]
)


@st.composite
def reader_lines(draw: st.DrawFn) -> str:
    """Draw a file with the ending that it should have, or with another."""
    form = draw(FORM)
    ending = draw(TEXT_ENDING)
    if form == "broken":
        content = f"broken({ending!r}, {draw(SEED)}{draw(ENCODING)})"
    elif form == "table":
        ending, content = draw(TABLE_ENDING), draw(TABLES)
    elif form == "declared":
        ending, content = draw(DECLARED_ENDING), draw(DECLARED)
    elif form == "pieces":
        content = draw(PIECES_TEXT)
    elif form == "arrays":
        content = draw(BINARY)
        ending = "." + content.partition("(")[0]
    elif form == "made":
        kind, ending = draw(ENDING_AND_MADE)
        content = f"damaged(data_file({kind!r}, {ending!r}), {draw(SEED)})"
    elif form == "gzipped":
        ending, content = draw(GZIPPED_ENDING), f"gzipped({draw(CONTENT)})"
        content = draw(DAMAGED).format(content, draw(SEED))
    else:
        ending, content = draw(ANY_ENDING), draw(CONTENT)
    door = draw(DOOR)
    return f"{door}({ending!r}, {content}{draw(MORE[door])})"


LINES = reader_lines()
