"""Lines of the part "fits": every selector x metric x strange objects, labels and parameters."""

from __future__ import annotations

import inspect

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from campaigns.lines.objects import ODD_OBJECTS, SIZES, labels_of, metric_and_kind, objects
from campaigns.lines.text import ODD, SMALL_ODD, Text, arguments, mostly, pick, some
from protoset.selectors import Refined, all_selectors

SELECTORS = dict(all_selectors())
METRIC_PARAMETERS = ("metric", "metric_params")

QUICK = {"RMHC": {"max_iter": "40"}, "SSMA": {"max_evaluations": "40"}, "Refined": {"n_starts": "1"}}
"""Settings that keep a fit short, unless a case has its own."""

SEARCH = pick(
    *("'exact'", "'auto'", "NeighborSearch('exact', n_neighbors=5)", "NeighborSearch(n_neighbors=1000)"),
    *("NeighborSearch(max_memory='4GB')", "NeighborSearch(max_memory=1)", "NeighborSearch(max_memory='x')"),
    *("NeighborSearch('approximate')", "NeighborSearch(n_neighbors=np.int64(3))", "NeighborSearch(folder='/nonexist')"),
    *(
        "NeighborSearch(n_neighbors=0.5)",
        "NeighborSearch(kind=3)",
        "NeighborSearch(folder=scratch())",
        "NeighborSearch",
    ),
    *("NeighborSearch(max_memory=np.float32(1e10))", "NeighborSearch(folder=3)", "NeighborSearch(n_neighbors=2**70)"),
)

VALUES: dict[str, Text] = {
    "n_prototypes": mostly(pick("0.1", "0.5", "2", "3", "'auto'", "1.0", "np.int64(3)", "np.float32(0.3)"), ODD),
    "n_neighbors": mostly(pick("1", "2", "3", "5", "100"), ODD),
    "n_jobs": mostly(
        pick("None", "1", "2", "-1"), pick("0", "-100", "np.int64(2)", "True", "1.0", "'2'", "2**70", "nan")
    ),
    "verbose": mostly(pick("0", "1", "True"), SMALL_ODD),
    "random_state": mostly(pick("0", "7", "None", "np.random.RandomState(3)", "np.int64(4)"), ODD),
    "allocation": mostly(pick("'proportional'", "'global'", "'equal'"), SMALL_ODD),
    "max_iter": mostly(pick("1", "20"), SMALL_ODD),
    "max_evaluations": mostly(pick("1", "30", "60"), SMALL_ODD),
    "population_size": mostly(pick("2", "5", "30"), SMALL_ODD),
    "n_starts": mostly(pick("1", "2"), SMALL_ODD),
    "max_time": mostly(pick("None", "0.001", "1e-9", "5"), SMALL_ODD),
    "callback": mostly(
        pick("None", "print", "lambda p: True", "lambda p: False"), SMALL_ODD.filter("len".__ne__)
    ),  # a callback's own errors are its own
    "max_objects": mostly(pick("None", "10", "1000"), ODD),
    "steepness": mostly(pick("10", "[5, 20]", "np.array([10.0])", "0.1", "iter([10, 20])"), ODD),
    "beta": mostly(pick("2", "1.5", "10.0", "1.0001"), ODD),
    "C": mostly(pick("1e-3", "1.0", "100", "1e-9"), ODD),
    "tol": mostly(pick("1e-6", "1e-3", "0.1"), ODD),
    "loss": mostly(pick("'mean'", "'sum'"), SMALL_ODD),
    "ties": mostly(pick("'min'", "'index'", "'max'", "'average'"), SMALL_ODD),
    "reading": mostly(pick("'consistent'", "'printed'"), SMALL_ODD),
    "size_rule": mostly(pick("'one_standard_error'", "'minimum'", "'best'"), SMALL_ODD),
    "search": mostly(SEARCH, SMALL_ODD),
    "solver": mostly(pick("'auto'", "'coordinate'", "'quasi_newton'", "'cutting_plane'", "'closed_form'"), SMALL_ODD),
    "start": mostly(pick("'auto'", "'medoid'", "'centroid'"), SMALL_ODD),
    "selector": mostly(pick("REPS(3)", "FCNN()", "RandomSelector(3, random_state=0)", "ENN()", "None"), SMALL_ODD),
}
"""Values of each parameter, right and wrong ones."""


def _some_parameters(kind: type) -> SearchStrategy[dict[str, str]]:
    names = [parameter for parameter in inspect.signature(kind).parameters if parameter not in METRIC_PARAMETERS]
    return some({parameter: VALUES.get(parameter, mostly(pick("0.5"), ODD)) for parameter in names})


PARAMETERS = {name: _some_parameters(kind) for name, kind in SELECTORS.items()} | {"Refined": _some_parameters(Refined)}
SELECTOR_NAMES = pick(*SELECTORS, "Refined")
INNER_NAMES = pick(*SELECTORS)
DOORS = pick("fit", "fit", "fit", "fit", "classify", "refined", "streamed", "suspected")
INDICES = mostly(pick("[0, 1]", "[0, 1, 2]", "np.arange(2)"), pick("[]", "[0]", "[99]", "'a'", "[0.5]", "3"))
REFINEMENT = some({name: VALUES[name] for name in ("steepness", "max_objects", "n_prototypes", "n_jobs")}, 2)
RULES = mostly(pick("'nearest'", "'nearest'", "'adjusted'", "'scores'", "'auto'"), SMALL_ODD, 10)
DECISIONS = some(
    {
        "rule": RULES,
        "adapt": mostly(pick("'auto'", "False", "{'n_passes': 2}"), SMALL_ODD, 10),
        "calibrate": mostly(pick("'auto'", "True", "False"), SMALL_ODD, 10),
    }
)
FOLDS = some({"n_folds": mostly(pick("2", "3"), SMALL_ODD, 10), "n_evidence": mostly(pick("1", "2"), SMALL_ODD, 10)})


def _selector(name: str, given: dict[str, str], own: dict[str, str]) -> str:
    return f"{name}({arguments(QUICK.get(name, {}) | given | own)})"


@st.composite
def fit_lines(draw: st.DrawFn) -> str:
    """Draw a fit of a selector, of a classifier, or a refinement."""
    metric, kind, given = draw(metric_and_kind())
    n, door = draw(SIZES), draw(DOORS)
    X, y = draw(objects(kind, n, metric)), draw(labels_of(n))
    if door == "refined":
        return f"refined({X}, {y}, {draw(INDICES)}, {arguments({'n_starts': '1'} | given | draw(REFINEMENT))})"
    name = draw(SELECTOR_NAMES)
    if name == "Refined":
        inner = draw(INNER_NAMES)
        given = {"selector": _selector(inner, given, draw(PARAMETERS[inner]))}
    selector = _selector(name, given, draw(PARAMETERS[name]))
    if door == "fit":
        return f"fit({selector}, {X}, {y})"
    classifier = f"PrototypeClassifier({arguments({'selector': selector} | draw(DECISIONS))})"
    if door == "suspected":
        return f"suspected({arguments({'X': X, 'y': y, 'classifier': classifier} | draw(FOLDS))})"
    queries = draw(mostly(objects(kind, 5, metric), ODD_OBJECTS, 10))
    return f"{door}({classifier}, {X}, {y}, {queries})"


LINES = fit_lines()
