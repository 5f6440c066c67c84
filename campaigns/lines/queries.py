"""Lines of the part "queries": strange queries to classifiers of every metric."""

from __future__ import annotations

from hypothesis import strategies as st

from campaigns.lines.objects import NAMES, ODD_OBJECTS, objects
from campaigns.lines.text import fill, mostly, pick
from protoset.spaces import DISSIMILARITIES

TABLES = pick(
    *(
        "table(5).iloc[:, ::-1]",
        "table(5).assign(colour='never seen')",
        "table(5).assign(word=3)",
        "table(0)",
        "table(1)",
    ),
    *(
        "table(5).drop(columns='word')",
        "table(5).assign(more=1)",
        "table(5).assign(number='x')",
        "table(5).assign(flag=2)",
    ),
    *("cells(5)", "cells(1)[0]", "[[0.5, 'red', True, 'x']]", "[[0.5, 3, 1, 2]]", "[['0.5', 'red', 'True', 'x']]"),
    *("[[None] * 4]", "[[nan, None, pd.NA, '']]", "table(5).assign(colour=None)", "table(5).rename(columns=str.upper)"),
)

MATRICES = pick(
    *("matrix(24)[:3]", "matrix(24)[:3, :6]", "matrix(24)[:, :5]", "-matrix(24)", "matrix(24) + nan", "matrix(6)"),
    *("matrix(24)[0]", "sparse.csr_array(matrix(24)[:3])", "graph(24)[:3]", "matrix(24)[:0]", "matrix(24) + inf"),
    *("matrix(24)[:3].tolist()", "pd.DataFrame(matrix(24)[:3])", "np.full((3, 24), 1e308)", "condensed(24)"),
)


ADJUSTED = pick(", 'adjusted'")
FRAMED = pick(", 'adjusted'", ", frame=True")


@st.composite
def query_lines(draw: st.DrawFn) -> str:
    """Draw queries of the right kind, or of another, for a fitted classifier."""
    metric = draw(st.sampled_from(["callable", *NAMES]))
    kind = DISSIMILARITIES[metric].kind
    options = draw(mostly(pick(""), FRAMED if kind == "vectors" else ADJUSTED, 3))
    own = {"mixed attributes": TABLES, "matrix": MATRICES}.get(kind)
    n = draw(st.sampled_from([1, 1, 2, 2, 3, 5, 5, 5, 9, 0]))
    usual = objects(kind, n, metric)
    queries = draw(mostly(usual if own is None else st.one_of(own, usual), ODD_OBJECTS, 5))
    return f"ask(model({metric!r}{options}), {queries})"


@st.composite
def parameter_lines(draw: st.DrawFn) -> str:
    """Draw a number of prototypes to show, right or wrong."""
    return draw(
        fill(
            "shown({metric}, {n})",
            metric=st.sampled_from([repr(name) for name in NAMES]),
            n=pick("0", "-1", "1.5", "None", "True", "np.int64(2)", "2**70", "'x'", "100", "nan", "pd.NA", "[1]"),
        )
    )


LINES = mostly(query_lines(), parameter_lines(), 30)
