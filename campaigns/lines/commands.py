"""Lines of the parts "plans" and "command"."""

from __future__ import annotations

from hypothesis import strategies as st

from campaigns.lines.text import Text, fill, mostly, pick, some
from protoset.selectors import all_selectors
from protoset.spaces import DISSIMILARITIES

METHODS = ["NoPS", "kNN", "guess", "refined", *(name for name, _ in all_selectors())]
METRICS = sorted(DISSIMILARITIES)

ODD_VALUE = pick(
    *(
        "None",
        "True",
        "0",
        "1",
        "-1",
        "2",
        "0.5",
        "-0.5",
        "1e308",
        "nan",
        "inf",
        "2**62",
        "2**70",
        "10**400",
        "''",
        "'x'",
    ),
    *(
        "[]",
        "[1, 2]",
        "[0.1, 0.2]",
        "[True, False]",
        "['a', 'b']",
        "[[1]]",
        "{}",
        "{'n': 3}",
        "[1, 1]",
        "'auto'",
        "'fold'",
    ),
    *("'default'", "[None]", "[nan]", "list(range(50))", "['x'] * 2", "object()", "np.int64(3)", "pd.NA", "b'x'"),
)
METHOD_VALUES: dict[str, Text] = {
    "n_neighbors": mostly(pick("1", "[1, 2, 3]", "3"), ODD_VALUE),
    "n_prototypes": mostly(pick("0.1", "[0.1, 0.2]", "5"), ODD_VALUE),
    "label": mostly(pick("'mine'", "'FCNN'"), ODD_VALUE),
    "at": mostly(pick("'FCNN'", "['FCNN', 'SSMA']"), ODD_VALUE),
    "rates": mostly(pick("[0.1]", "[0.1, 0.2]", "{'low': 0.1}", "{'low': {'iris': 0.1}}"), ODD_VALUE),
    "seeds": mostly(pick("[0, 1]", "'fold'", "[3]"), ODD_VALUE),
    "refine": mostly(pick("True", "[False, True]"), ODD_VALUE),
    "n_starts": mostly(pick("1", "[1, 2]"), ODD_VALUE),
    "beta": mostly(pick("2", "[1.5, 4]"), ODD_VALUE),
    "C": mostly(pick("0.1", "[0.001, 1]"), ODD_VALUE),
    "allocation": mostly(pick("'equal'", "['equal', 'proportional']"), ODD_VALUE),
    "search": mostly(pick("'exact'"), ODD_VALUE),
    "search__n_neighbors": mostly(pick("5", "[5, 9]"), ODD_VALUE),
    "search__folder": mostly(pick("'/nonexist'"), ODD_VALUE),
    "metric": ODD_VALUE,
    "random_state": ODD_VALUE,
    "unknown": ODD_VALUE,
}
METHOD = st.one_of(
    pick(*map(repr, METHODS)),
    st.builds(
        lambda name, own: "{" + ", ".join(f"{k!r}: {v}" for k, v in ({"method": repr(name)} | own).items()) + "}",
        st.sampled_from(METHODS),
        some(METHOD_VALUES, 3),
    ),
)
DISTANCE = st.one_of(
    pick("'z'", "'raw'", "'minmax'", "'auto'", "{}"),
    pick(*map(repr, METRICS)),
    st.builds(
        lambda name, own: "{" + ", ".join(f"{k!r}: {v}" for k, v in ({"metric": repr(name)} | own).items()) + "}",
        st.sampled_from(["auto", *METRICS]),
        some(
            {
                "scaling": mostly(pick("'z'", "['z', 'raw']"), ODD_VALUE),
                "nominal": mostly(pick("'index'", "'heom'", "'one_hot'"), ODD_VALUE),
                "window": mostly(pick("5", "[5, 0.1]", "1.0"), ODD_VALUE),
                "p": mostly(pick("1.5", "[1, 3]"), ODD_VALUE),
            },
            2,
        ),
    ),
)
SOURCES = mostly(
    pick(
        "['iris']", "['iris', 'wine']", "[{'path': 'x.csv'}]", "['iris', {'path': 'x.csv', 'target': 'y', 'name': 'n'}]"
    ),
    ODD_VALUE | ODD_VALUE.map("['iris', {}]".format) | pick("['iris', 'iris']", "[{'path': 'x.csv', 'target': 0.5}]"),
    10,
)


def _listed(entry: Text) -> Text:
    return st.lists(entry, min_size=1, max_size=3).map(lambda entries: "[" + ", ".join(entries) + "]")


PLAN: Text = st.builds(
    lambda data, methods, more: (
        "{" + ", ".join([f"'data': {data}", f"'methods': {methods}", *(f"{k!r}: {v}" for k, v in more.items())]) + "}"
    ),
    SOURCES,
    mostly(_listed(METHOD), ODD_VALUE, 30),
    some(
        {
            "name": mostly(pick("'study'"), ODD_VALUE),
            "folds": mostly(
                pick("3", "'default'", "{'n': 4, 'seed': 1}", "{'n': 3, 'stratified': False}"), ODD_VALUE, 3
            ),
            "seeds": mostly(pick("[0, 1]", "'fold'"), ODD_VALUE),
            "distances": mostly(_listed(DISTANCE), ODD_VALUE),
            "unknown": ODD_VALUE,
        }
    ),
)
TOML_PIECE = pick(
    *(
        "data = ['iris']",
        "methods = ['FCNN']",
        "folds = 3",
        "[[methods]]",
        "method = 'REPS'",
        "folds = {n = 3}",
        "x = 1",
    ),
    *("[methods]", "data = [", "name = 'é'", "seeds = [0]", "=", "'", "folds = 9223372036854775807", "rates = [0.1]"),
    *(
        "[[methods]]\nmethod = 'SSMA'",
        "n_neighbors = 1979-05-27",
        "folds = inf",
        "folds = 0x10",
        "\x00",
        "distances = ['z']",
    ),
)
PLANS = st.one_of(
    fill("plan({plan})", plan=PLAN),
    fill("plan({plan})", plan=PLAN),
    fill("plan({odd})", odd=ODD_VALUE),
    st.lists(TOML_PIECE, max_size=6).map(lambda pieces: f"plan_text({chr(10).join(pieces)!r})"),
)

DATA = [
    "vectors.csv",
    "mixed.csv",
    "series_TRAIN.tsv",
    "strings.txt",
    "matrix.npz",
    "small.dat",
    "small.arff",
    "small.csv",
]
FILE = mostly(
    pick(*DATA), pick("empty.csv", "nowhere.csv", ".", "vectors.model", "", "small.ts", "plan.toml", "/", "\x00"), 5
)
MODEL = mostly(
    pick("vectors.model", "mixed.model", "series.model", "strings.model", "matrix.model", "plain.model"),
    pick("broken.model", "vectors.csv", "nowhere", "", "."),
    5,
)
WORD = pick(
    "", "x", "-1", "0", "1", "nan", "1e308", "auto", "10%", "200%", "-5%", "9" * 30, "=", "a=b", "é", "\x00", "[]", "{}"
)
OPTION_VALUES: dict[str, Text] = {
    "--target": mostly(pick("class", "0", "-1"), WORD, 3),
    "--ignore": mostly(pick("a", "0", "class"), WORD, 3),
    "--use": mostly(pick("a", "*", "1"), WORD, 3),
    "--id": mostly(pick("a", "0", "class"), WORD, 3),
    "--categorical": mostly(pick("a", "class", "1"), WORD, 3),
    "--numeric": mostly(pick("a", "0"), WORD, 3),
    "--text": mostly(pick("b", "0"), WORD, 3),
    "--separator": mostly(pick(",", ";", "tab", "|"), WORD, 3),
    "--decimal": mostly(pick(",", "."), WORD, 3),
    "--kind": mostly(pick("vectors", "mixed", "series", "strings", "matrix"), WORD),
    "--labels": mostly(pick("small.txt", "nowhere.txt"), WORD),
    "--method": mostly(pick("fcnn", "reps", "ENN", "randomselector", "cnn", "drop3"), WORD, 10),
    "--metric": mostly(pick("euclidean", "l1", "gower", "dtw", "levenshtein", "precomputed", "auto"), WORD),
    "--metric-param": mostly(pick("window=3", "p=1.5", "categorical=[0]", "window=0.1"), WORD),
    "--param": mostly(pick("n_neighbors=1", "beta=3", "search__n_neighbors=4", "n_neighbors=null", "x=1"), WORD),
    "--n-prototypes": mostly(pick("3", "0.2", "10%", "auto", "6"), WORD),
    "--scaling": mostly(pick("z", "minmax", "raw"), WORD),
    "--seed": mostly(pick("0", "5"), WORD),
    "--n-jobs": mostly(pick("1", "2"), pick("0", "x", "-1", "1.5"), 3),
    "--folds": mostly(pick("2", "3"), WORD),
    "--holdout": mostly(pick("0.3", "0.5"), WORD),
    "--output": pick("out.csv", "out.dat", "nowhere/out.csv", "vectors.csv", "", "."),
    "--model": pick("out.model", "nowhere/out", ".", "vectors.model"),
    "--row": mostly(pick("0", "3", "23"), WORD, 3),
    "--n-neighbors": mostly(pick("2", "6"), WORD),
    "--methods": mostly(pick("fcnn,enn", "fcnn", "cnn"), WORD),
    "--columns": mostly(pick("row,prediction", "prototype", "distance,probability,row"), WORD),
    "--unknown": WORD,
}
FLAGS = pick(*["--json", "--quiet", "--force", "-q"] * 3, "--all", "--help", "--unknown")
ABOUT_COLUMNS = ["--ignore", "--use", "--id", "--categorical", "--numeric", "--text", "--separator", "--decimal"]
ABOUT_DATA = ["--target", "--kind", "--metric", "--scaling", "--n-prototypes", *ABOUT_COLUMNS]
OPTIONS_OF = {
    "select": [*ABOUT_DATA, "--labels", "--metric-param", "--param", "--seed", "--n-jobs", "--output", "--model"],
    "evaluate": [*ABOUT_DATA, "--folds", "--holdout", "--seed", "--model"],
    "compare": [*ABOUT_DATA, "--folds"],
    "predict": ["--output", "--columns", "--unknown"],
    "explain": ["--n-neighbors", "--row", "--id", "--unknown"],
}


@st.composite
def command_lines(draw: st.DrawFn) -> str:
    """Draw a call of the command."""
    name = draw(pick("select", "select", "predict", "predict", "explain", "evaluate", "compare", "experiment", "other"))
    if name == "other":
        rest = [draw(WORD)]
        words = [draw(pick("datasets", "paper", "version", "demox", "select", "", "--version", "experiment")), *rest]
        return f"command({', '.join(map(repr, words))})"
    if name == "experiment":
        verb = draw(pick("run", "status", "resume", "export", "merge"))
        words = [
            name,
            verb,
            draw(pick("bad.toml", "plan.toml", "nowhere", "vectors.csv", "")),
            *draw(st.lists(FLAGS, max_size=1)),
        ]
        return f"command({', '.join(map(repr, words))})"
    words = [name, *([draw(MODEL)] if name in ("predict", "explain") else []), draw(FILE)]
    if name == "explain":
        words += ["--row", "0"]
    if name in ("select", "evaluate"):
        words += ["--method", draw(OPTION_VALUES["--method"])]
    if name == "compare":
        words += ["--methods", draw(OPTION_VALUES["--methods"])]
    for option, value in draw(some({option: OPTION_VALUES[option] for option in OPTIONS_OF[name]}, 3)).items():
        words += [option, value]
    words += draw(st.lists(FLAGS, max_size=2))
    return f"command({', '.join(map(repr, words))})"


COMMANDS = command_lines()
