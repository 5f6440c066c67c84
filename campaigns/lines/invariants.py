"""Lines of the part "invariants": valid fits whose results must agree."""

from __future__ import annotations

from hypothesis import strategies as st

from campaigns.lines.objects import NAMES, SEED, usual_objects
from campaigns.lines.text import pick
from protoset.spaces import DISSIMILARITIES

SEEDED = (
    "RMHC(5, max_iter=40, random_state=1",
    "SSMA(max_evaluations=40, random_state=1",
    "KMedoids(5, random_state=1",
)
BY_ROW_ORDER = (*SEEDED, "RandomSelector(5, random_state=1", "CNN(", "CCIS(", "DROP3(", "DROP3(3")
"""Selectors that depend on the order of the rows; DROP3 where two objects are the nearest enemies of each other."""

ANY_ORDER = (
    *("AllKNN(", "AllKNN(5", "ENN(", "ENN(1", "FCNN(", "FCNN(3", "HMNEI(", "ICF(", "RENN("),
    *("REPS(5", "REPS(0.3, beta=3", "REPS(5, allocation='equal'", "REPS(5, ties='average'"),
)
"""Selectors that do not depend on the order of the rows."""

REFINED = ("Refined(REPS(5", "Refined(FCNN(")

SCALABLE = (
    *(
        "euclidean",
        "l2",
        "sqeuclidean",
        "cosine",
        "l1",
        "cityblock",
        "manhattan",
        "chebyshev",
        "canberra",
        "braycurtis",
    ),
    *("dtw", "ddtw", "series_euclidean", "erp", "hamming", "seuclidean", "nan_euclidean"),
)
"""Metrics whose order of dissimilarities does not change with the scale of the objects."""

FROM_ZERO = tuple(name for name in NAMES if name != "russellrao")
"""Metrics that are 0 between an object and itself, as the diagonal of a matrix must be."""

EXPORTED = ("euclidean", "l2", "sqeuclidean", "cosine", "correlation", "seuclidean", "mahalanobis")
"""Metrics that can be exported."""

SIZES = st.sampled_from((8, 12, 20, 40))


@st.composite
def invariant_lines(draw: st.DrawFn) -> str:
    """Draw an invariant, and a valid fit for it."""
    door = draw(pick("permuted", "scaled", "relabelled", "precomputed", "workers", "single", "one_by_one", "exported"))
    selectors = ANY_ORDER if door == "permuted" else (*ANY_ORDER, *BY_ROW_ORDER)
    names = {"scaled": SCALABLE, "exported": EXPORTED, "precomputed": FROM_ZERO}.get(door, NAMES)
    metric = draw(st.sampled_from(names))
    kind = DISSIMILARITIES[metric].kind
    n = draw(SIZES)
    seed = draw(SEED)
    if door == "permuted":
        # No ties: numbers of many digits, and metrics that use them.
        kind, metric = "vectors", draw(pick("euclidean", "l1", "chebyshev", "canberra", "cosine"))
        n = 2 * n + 20  # of two members of a class, either is its medoid
        X = f"vectors({n}, 4, {seed})"
    elif door == "single":
        kind, metric = "vectors", draw(pick("euclidean", "l1", "chebyshev", "cosine", "canberra", "sqeuclidean"))
        X = f"np.round(vectors({n}, 3, {seed}), 1)"
    else:
        X = draw(usual_objects(kind, n, metric))
    selector = f"{draw(pick(*selectors))}, metric={metric!r})".replace("(, ", "(")
    if door == "precomputed" and selector.startswith("FCNN("):
        # By default it starts at the means of vectors, which a matrix does not have.
        selector = selector.replace("metric=", "start='medoid', metric=")
    y = f"labels({n}, {draw(pick('2', '3', '5'))})"
    if door in ("one_by_one", "exported"):
        rule = draw(pick("'nearest'", "'adjusted'")) if selector.startswith("REPS") else "'nearest'"
        queries = X if kind == "matrix" else draw(usual_objects(kind, 6, metric))
        return f"{door}(PrototypeClassifier({selector}, rule={rule}), {X}, {y}, {queries})"
    if draw(st.integers(0, 9)) == 0 and door in ("relabelled", "workers"):
        selector = f"{draw(pick(*REFINED))}, metric={metric!r}), n_starts=1)".replace("(, ", "(")
    more = {"permuted": f", {seed}", "scaled": f", {draw(pick('-30', '-3', '1', '20'))}"}.get(door, "")
    return f"{door}({selector}, {X}, {y}{more})"


LINES = invariant_lines()
