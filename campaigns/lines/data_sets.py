"""Lines of the part "data sets": models, validations and comparisons of data sets, and queries to models."""

from __future__ import annotations

from hypothesis import strategies as st

from campaigns.lines.fits import SELECTORS, VALUES
from campaigns.lines.objects import NAMES, ODD_OBJECTS, objects
from campaigns.lines.text import ODD, SMALL_ODD, arguments, mostly, pick, some

KINDS = {
    "vectors": "vectors",
    "mixed": "mixed attributes",
    "series": "series",
    "strings": "strings",
    "matrix": "matrix",
}
"""Kinds of data sets, with the kind of their metrics."""

KIND = pick(*KINDS)
ODD_DATASET = SMALL_ODD | ODD_OBJECTS | pick("data_set", "'iris'", "data_set('mixed').objects", "model('l2')")
METHOD = mostly(pick("'FCNN'", "'enn'", "'REPS'", "'CNN'", "'KMedoids'"), pick(*map(repr, SELECTORS)) | SMALL_ODD)
METHODS = mostly(
    pick("['FCNN', 'ENN']", "['FCNN']", "('nops', 'CNN')"), SMALL_ODD | pick("'REPS'", "['x']", "[None]"), 4
)
PARAMETER = st.sampled_from(sorted(VALUES)).flatmap(lambda name: VALUES[name].map(f"{{{{{name!r}: {{}}}}}}".format))

OPTIONS = {
    "metric": mostly(
        pick("'auto'", "'l1'", "'gower'", "'dtw'", "'levenshtein'"), pick(*map(repr, NAMES)) | SMALL_ODD, 3
    ),
    "metric_params": mostly(pick("None", "{}", "{'window': 2}", "{'p': 3}", "{'categorical': [0]}"), SMALL_ODD),
    "scaling": mostly(pick("None", "'z'", "'minmax'", "'raw'"), SMALL_ODD),
    "n_prototypes": mostly(pick("'auto'", "4", "0.3"), ODD),
    "random_state": mostly(pick("0", "1"), ODD),
    "n_jobs": mostly(pick("None", "1"), pick("0", "'2'", "2**70", "nan", "True", "np.int64(1)")),
}
FIT_OPTIONS = some(
    OPTIONS | {"parameters": mostly(PARAMETER, SMALL_ODD), "rule": mostly(pick("'nearest'", "'adjusted'"), SMALL_ODD)}
)
FOLDS = {"folds": mostly(pick("2", "3"), ODD, 4)}
VALIDATE_OPTIONS = some(OPTIONS | FOLDS | {"holdout": mostly(pick("0.5", "0.3"), ODD), "parameters": SMALL_ODD})
COMPARE_OPTIONS = some(OPTIONS | FOLDS)
DOOR = pick("ask", "ask", "ask", "fitted", "fitted", "fitted", "validated", "compared")


@st.composite
def data_set_lines(draw: st.DrawFn) -> str:
    """Draw a data set, and what is done with it."""
    kind, door = draw(KIND), draw(DOOR)
    if door == "ask":
        return f"ask(data_model({kind!r}), {draw(objects(KINDS[kind], draw(st.integers(0, 5))))})"
    data = draw(mostly(pick(f"data_set({kind!r})"), ODD_DATASET, 12))
    if door == "compared":
        return f"compared({data}, {draw(METHODS)}, {arguments({'folds': '2'} | draw(COMPARE_OPTIONS))})"
    options = {"folds": "2"} | draw(VALIDATE_OPTIONS) if door == "validated" else draw(FIT_OPTIONS)
    if "holdout" in options:
        del options["folds"]
    return f"{door}({data}, {draw(METHOD)}, {arguments(options)})"


LINES = data_set_lines()
