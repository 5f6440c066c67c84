"""Training objects, labels and queries of every kind, as text."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from campaigns.lines.text import ODD, Text, mostly, pick
from protoset.spaces import DISSIMILARITIES

SEED = st.integers(0, 99).map(str)
COLUMN = st.integers(0, 3).map(str)
SIZES = st.sampled_from((2, 3, 5, 8, 12, 20, 30))

ARRAY_KINDS = ("vectors", "series", "matrix")
"""Kinds whose objects may come in any container of arrays."""

ODD_NUMBER = pick("nan", "inf", "-inf", "1e300", "-1e200", "1e-300", "1e-320", "0.0", "1e15", "5e-324")
ODD_CELL = pick("None", "'x'", "pd.NA", "nan", "3j", "[1]", "True", "np.datetime64(0, 's')", "10**400", "b'a'", "''")

ODD_IN_ARRAYS, ODD_IN_LISTS = mostly(ODD_NUMBER, ODD_CELL), mostly(ODD_CELL, ODD_NUMBER)

ODD_OBJECTS = pick(
    *("None", "3", "'abc'", "b''", "[]", "[[]]", "[[], []]", "[[1.0, nan], [2.0]]", "[[1], [2]]", "[1, 2, 3]"),
    *("[[[1]], [[2]]]", "['a', 'b']", "['', '']", "['a', None]", "[['a'], ['b']]", "[frozenset(), frozenset('a')]"),
    *("[None, None]", "[{}, {}]", "np.empty((0, 2))", "np.empty((2, 0))", "np.zeros((2, 2, 2, 2))", "np.array(5)"),
    *("np.zeros((4, 2))", "np.full((4, 2), nan)", "np.array([[1j], [2]])", "np.array([['1'], ['2']])", "range(4)"),
    *("np.array([[1, 'a'], [2, None]], dtype=object)", "pd.DataFrame()", "pd.DataFrame({'a': [1, 2]})"),
    *("pd.DataFrame([[1, 2], [3, 4]], columns=['a', 'a'])", "pd.DataFrame({0: [1, 2], 'b': [3, 4]})", "pd.Series([1])"),
    *("sparse.csr_array((0, 3))", "sparse.csr_array((2, 2))", "np.ma.masked_array([[1], [2]], [[0], [1]])", "{1, 2}"),
    *("{'a': [1, 2]}", "(x for x in [[1], [2]])", "np.zeros((2, 2), 'M8[s]')", "np.zeros((2, 2), 'V4')", "vectors"),
    *("text_array(['a', 'b'])", "[np.array([1.0]), np.array([])]", "[[1, 2], 3]", "np.array([[True], [False]])"),
    *("[10**400, 1]", "[[10**400], [1]]", "pd.DataFrame({'a': pd.Categorical(['x', None])})", "[b'a', b'b']"),
    *("pd.DataFrame({'a': pd.to_datetime([1, 2])})", "pd.DataFrame({'a': [[1], [2]]})", "np.zeros((2, 2), np.float16)"),
    *("np.zeros((2, 2), np.longdouble)", "[np.zeros((2, 1)), np.zeros((2, 2))]", "np.full((3, 3), inf)", "-np.eye(3)"),
)
"""Things that are hardly training objects."""

ARRAY_CONTAINER = pick(
    *("{}.astype(np.float32)", "{}.astype(np.float16)", "{}.astype(int)", "{}.astype(bool)", "{}.astype(object)"),
    *("{}.astype(str)", "{}.astype('>f8')", "{}.astype(np.longdouble)", "{}.astype(complex)", "{}.astype(np.uint8)"),
    *("np.asfortranarray({})", "readonly({})", "strided({})", "memmap({})", "structured({})", "{}.tolist()"),
    *("list({})", "tuple({})", "pd.DataFrame({})", "nullable({})", "nullable({}, missing=True)", "{}[:1].ravel()"),
    *("sparse.csr_array({})", "sparse.coo_matrix({})", "sparse.lil_array({})", "np.ma.masked_array({})"),
    *("{} * 1e200", "{} * 1e-200", "{} * 1e140", "{} * 1e-130", "{} * 0", "{} + 1e9", "{}[:, :1]", "{}[:, :0]"),
    *("np.round({})", "np.round({})[:, ::-1].copy()", "np.repeat({}, 2, axis=1)", "np.matrix({})", "{}[..., None]"),
)
"""Other containers and scales of an array; ``{}`` is the array."""

LIST_CONTAINER = pick("np.array({})", "np.array({}, dtype=object)", "pd.Series({})", "tuple({})", "text_array({})")
"""Other containers of a list of strings; ``{}`` is the list."""

TABLE_CONTAINER = pick(
    "{}.to_numpy()", "{}.astype(str)", "{}[['number']]", "{}[['word', 'word']]", "{}.convert_dtypes()", "{}.iloc[::-1]"
)
"""Other containers of a table; ``{}`` is the table."""


@cache
def _makers(kind: str, n: int) -> Text:
    return {
        "vectors": pick(f"vectors({n}, seed={{}})", f"grid({n}, 3, {{}})"),
        "series": pick(f"series({n}, seed={{}})"),
        "matrix": pick(f"matrix({n}, {{}})"),
        "strings": pick(f"words({n}, {{}})"),
        "mixed attributes": pick(f"table({n}, {{}})"),
        "objects": pick(f"sets({n}, {{}})"),
    }[kind]


@cache
def _others(kind: str, n: int) -> Text:
    return {
        "vectors": pick(f"vectors({n}, 1, {{}})", f"grid({n}, 2, {{}})", f"vectors({n}, 70, {{}})"),
        "series": pick(
            f"series({n}, 3, {{}})", f"unequal({n}, seed={{}})", f"channels({n}, seed={{}})", f"series({n}, 1, {{}})"
        ),
        "matrix": pick(f"condensed({n}, {{}})", f"graph({n}, 3, {{}})", f"graph({n}, 1, {{}})"),
        "strings": pick(f"tokens({n}, {{}})"),
        "mixed attributes": pick(f"cells({n}, {{}})", f"vectors({n}, seed={{}})"),
    }.get(kind, _makers(kind, n))


@st.composite
def usual_objects(draw: st.DrawFn, kind: str, n: int, metric: str = "") -> str:
    """Objects that the metrics of a kind take."""
    X = draw(_makers(kind, n)).format(draw(SEED))
    if metric in ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"):
        return f"({X} > 0.7)"
    if metric == "haversine":
        return f"np.clip(vectors({n}, 2, {draw(SEED)}), -1.5, 1.5)"
    return f"abs({X})" if metric == "braycurtis" else X


FORMS = pick(*["usual"] * 5, "other", "container", "container", "spoiled", "odd")


@st.composite
def objects(draw: st.DrawFn, kind: str, n: int, metric: str = "") -> str:
    """Objects of a kind, usual and strange ones."""
    form = draw(FORMS)
    X = draw(usual_objects(kind, n, metric))
    if form == "other":
        return draw(_others(kind, n)).format(draw(SEED))
    if form == "container" and kind in ARRAY_KINDS:
        return draw(ARRAY_CONTAINER).format(X)
    if form == "container" and kind in ("strings", "mixed attributes"):
        return draw(LIST_CONTAINER if kind == "strings" else TABLE_CONTAINER).format(X)
    if form == "spoiled" and n:
        value = draw(ODD_IN_ARRAYS if kind in ARRAY_KINDS else ODD_IN_LISTS)
        return f"spoiled({X}, {value}, {draw(SEED)}, {draw(COLUMN)})"
    if form == "odd":
        return draw(ODD_OBJECTS)
    return X


@cache
def labels_of(n: int) -> Text:
    """Labels, usual and strange ones."""
    usual = pick(f"labels({n})", f"labels({n}, 3)", f"names(labels({n}, 3))", f"labels({n}, {n})")
    odd = pick(
        *(
            f"labels({n}).tolist()",
            f"list(names(labels({n})))",
            f"text_array(labels({n}))",
            f"labels({n}).astype(float)",
        ),
        *(f"labels({n}) + 0.5", f"labels({n}) * 2**62", f"labels({n}).astype(bool)", f"labels({n}).astype(object)"),
        *(f"names(labels({n})).astype('O')", f"labels({n}).astype('S')"),
        *(f"pd.Series(labels({n}))", f"pd.Series(names(labels({n})), dtype='string')", f"pd.Categorical(labels({n}))"),
        *(f"pd.array(labels({n}), dtype='Int64')", f"pd.Series(labels({n}), dtype='boolean')", f"labels({n})[:, None]"),
        *(
            f"spoiled(labels({n}), None)",
            f"spoiled(labels({n}).astype(object), nan)",
            f"spoiled(labels({n}).astype(object), 'x')",
        ),
        *(f"spoiled(labels({n}).astype(float), nan)", f"spoiled(labels({n}).astype(float), inf)", f"labels({n}) == 5"),
        *(f"spoiled(list(labels({n})), pd.NA)", f"labels({n}).astype('M8[D]')", f"labels({n}).astype('m8[s]')"),
        *(f"labels({n}).astype(complex)", f"labels({n} + 1)", f"labels({n})[:-1]", f"np.tile(labels({n})[:, None], 2)"),
        *(f"labels({n}).astype(np.float16)", f"labels({n}).astype(np.int8) - 1", f"[(v,) for v in labels({n})]"),
        *(f"[[v] for v in labels({n})]", f"[frozenset([v]) for v in labels({n})]", f"pd.DataFrame(labels({n}))"),
        *(
            f"['a', *labels({n})[1:]]",
            f"[str(v) * 9 for v in labels({n})]",
            f"[2**70 * v for v in labels({n}).tolist()]",
        ),
        *(f"np.ma.masked_array(labels({n}))", f"(v for v in labels({n}))", f"range({n})", f"labels({n}).astype(str)"),
        *(f"sparse.csr_array(labels({n}))", f"labels({n}).astype(np.uint64) * 2**63", "None", "3", "'ab'", "[]"),
    )
    return mostly(usual, odd, 5)


FUNCTIONS = pick(
    *("jaccard", "absolute", "failing", "len", "returning(1.0)", "returning(nan)", "returning(-1)", "returning('x')"),
    *("returning(inf)", "returning(None)", "returning(np.array([1.0]))", "returning(0)", "returning(3j)", "max"),
)

NAMES = sorted(DISSIMILARITIES.keys() - {"callable"})

METRIC_PARAMETERS: dict[str, Text] = {
    "p": mostly(pick("1.5", "3", "1", "np.float32(2.5)"), ODD),
    "w": mostly(pick("[1, 2, 3]", "np.ones(3)", "[0, 0, 1]"), pick("[-1, 1, 1]", "[nan, 1, 1]", "[1]", "'abc'", "2")),
    "V": mostly(
        pick("[1, 2, 3]", "np.ones(3)"), pick("[0, 1, 1]", "[-1, 1, 1]", "[nan, 1, 1]", "[1]", "np.eye(3)", "3")
    ),
    "VI": mostly(pick("np.eye(3)", "np.diag([1, 2, 3.0])"), pick("-np.eye(3)", "np.ones((3, 3))", "np.eye(2)", "nan")),
    "window": mostly(pick("None", "0", "1", "5", "0.1", "1.0"), ODD),
    "gap": mostly(pick("0.0", "1", "-2.5"), ODD),
    "c": mostly(pick("1", "0", "0.5", "1e6"), ODD),
    "nu": mostly(pick("0.001", "0", "2"), ODD),
    "lmbda": mostly(pick("1", "0", "0.5"), ODD),
    "squared": mostly(pick("True", "False"), ODD),
    "normalize": mostly(pick("True", "False"), ODD),
    "categorical": mostly(pick("[0]", "['word']", "[1, 3]", "[]", "'auto'", "None"), ODD),
    "symmetric": mostly(pick("True", "False"), ODD),
    "memory": mostly(pick("None"), ODD),
}
"""Values of the arguments of metrics."""


@st.composite
def metric_and_kind(draw: st.DrawFn) -> tuple[str, str, dict[str, str]]:
    """A metric, the kind of its objects, and both as arguments of a selector."""
    name = draw(st.sampled_from(["auto", "callable", *NAMES]))
    if name == "auto":
        return "", draw(st.sampled_from(["vectors", "series", "strings", "mixed attributes"])), {}
    record = DISSIMILARITIES[name]
    given = {"metric": draw(mostly(pick("jaccard"), FUNCTIONS, 3)) if name == "callable" else repr(name)}
    with_parameters = draw(st.booleans())
    if record.parameters and with_parameters:
        parameter = draw(pick(*record.parameters))
        given["metric_params"] = f"{{{parameter!r}: {draw(METRIC_PARAMETERS[parameter])}}}"
    return name, record.kind, given
