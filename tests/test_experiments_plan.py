"""Plans: what they expand to, and errors that name the file and the key."""

import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protoset.exceptions import PlanError
from protoset.experiments import read_plan
from protoset.paper.studies import plan_document
from protoset.selectors import all_selectors

SMALL = {"data": ["iris"], "methods": ["NoPS"]}


def labels(plan):
    return [method.label for method in plan.methods]


def test_a_file_and_a_dict_are_the_same_plan(tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text(
        """
name = "study"
data = ["iris", {path = "mine.csv", target = "class"}]
folds = {n = 3, seed = 7}
seeds = [0, 1]
distances = ["z", {scaling = "minmax", nominal = "heom"}, {metric = "dtw", window = [5, 10]}]

[[methods]]
method = "SSMA"

[[methods]]
method = "FCNN"
n_neighbors = [1, 2]

[[methods]]
method = "REPS"
refine = [false, true]
at = ["SSMA", "FCNN"]

[[methods]]
method = "REPS"
label = "ranked"
beta = 4
allocation = ["equal", "proportional"]
rates = [0.02, 0.05]
"""
    )
    plan = read_plan(file)
    assert labels(plan) == [
        "SSMA",
        "FCNN(n_neighbors=1)",
        "FCNN(n_neighbors=2)",
        "ranked(allocation=equal) at 0.02",
        "ranked(allocation=equal) at 0.05",
        "ranked(allocation=proportional) at 0.02",
        "ranked(allocation=proportional) at 0.05",
        "REPS at SSMA",
        "REPS at FCNN(n_neighbors=1)",
        "REPS at FCNN(n_neighbors=2)",
        "REPS(refine=True) at SSMA",
        "REPS(refine=True) at FCNN(n_neighbors=1)",
        "REPS(refine=True) at FCNN(n_neighbors=2)",
    ]
    assert [distance.label for distance in plan.distances] == [
        "z",
        "minmax, heom",
        "dtw(window=5)",
        "dtw(window=10)",
    ]
    assert [source.name for source in plan.data] == ["iris", "mine"]
    # SSMA, and what takes its size, once per seed.
    assert len(plan.cells) == 2 * 4 * 3 * (13 + 3)
    assert plan.folder == tmp_path
    assert read_plan(plan.document) == plan


def test_only_randomised_methods_are_repeated():
    plan = read_plan(SMALL | {"methods": [name for name, _ in all_selectors()], "seeds": [3, 4], "folds": 2})
    repeated = {cell.method for cell in plan.cells if cell.seed is not None}
    assert repeated == {"SSMA", "RMHC", "KMedoids", "RandomSelector"}
    assert sum(cell.method == "SSMA" for cell in plan.cells) == 4
    assert sum(cell.method == "REPS" for cell in plan.cells) == 2


def test_seeds_of_one_method_and_of_folds():
    plan = read_plan(SMALL | {"methods": ["SSMA", {"method": "REPS", "seeds": [5]}], "seeds": "fold", "folds": 2})
    assert [(cell.method, cell.fold, cell.seed) for cell in plan.cells] == [
        ("SSMA", 0, 0),
        ("REPS", 0, 5),
        ("SSMA", 1, 1),
        ("REPS", 1, 5),
    ]


def test_identifiers_are_made_of_content():
    """Not of labels, order or what else is in the plan; and they do not change between versions."""
    one = read_plan(SMALL | {"methods": ["NoPS", {"method": "FCNN", "n_neighbors": 2}]})
    other = read_plan(SMALL | {"methods": [{"method": "FCNN", "n_neighbors": [3, 2], "label": "condensed"}, "NoPS"]})
    by_label = {(cell.method, cell.fold): cell.id for cell in one.cells}
    for cell in other.cells:
        if cell.method == "condensed(n_neighbors=2)":
            assert cell.id == by_label["FCNN(n_neighbors=2)", cell.fold]
    assert len({cell.id for cell in other.cells}) == 15
    paper = {"order": "rows", "distances": [{"scaling": "z", "nominal": "index"}]}
    assert read_plan(SMALL | paper).cells[0].id == "9dbe8d440cd4bb2508058bd09baf9e20"


PAPER_CELLS = {
    ("vectors", "NoPS"): "09239f13ab8865bdda41e12497f487ba",
    ("vectors", "CCIS"): "661e44927f57f2d1bc235fe6aec4363a",
    ("vectors", "REPS at 0.01"): "a39f48d32659aac4a0211601090814bf",
    ("vectors", "refined REPS at 0.01"): "c8f6136f60cfe59983fd6a4c8e348888",
    ("vectors", "refined REPS auto"): "4464101aabab0856793c7f53c7351740",
    ("vectors", "REPS at paper's CCIS"): "5fa105b7af8374a1fc6e2f95e0c8b746",
    ("vectors-ssma", "refined REPS at SSMA"): "a1f4a89610e030d63bcaacdcc1c54fe7",
    ("vectors-rmhc", "RMHC(n_prototypes=0.05)"): "ff50382070c595a23094f9f4ba5f1ca4",
    ("series", "REPS at 0.05"): "cc64bfdb002db634cf209dd157f94d78",
}


def test_cells_of_the_paper_keep_their_identifiers():
    """The plans say which rule of ties the baselines follow."""
    plans = {name: read_plan(plan_document(name)) for name, _ in PAPER_CELLS}
    for (name, label), identifier in PAPER_CELLS.items():
        assert next(cell.id for cell in plans[name].cells if cell.method == label) == identifier, label


@given(
    st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, unique=True),
    st.lists(st.integers(1, 9), min_size=1, max_size=3, unique=True),
    st.integers(2, 4),
    st.lists(st.sampled_from(["z", "minmax", "raw"]), min_size=1, unique=True),
)
def test_every_combination_is_one_cell(data, neighbors, n_folds, distances):
    methods = [{"method": "FCNN", "n_neighbors": neighbors}]
    plan = read_plan({"data": data, "methods": methods, "folds": n_folds, "distances": distances})
    assert len({cell.id for cell in plan.cells}) == len(data) * len(neighbors) * n_folds * len(distances)


def test_rates_by_data():
    rates = {"printed": {"iris": 0.1, "wine": 0.2}, "tenth": 0.1}
    plan = read_plan({"data": ["iris", "wine"], "methods": [{"method": "REPS", "rates": rates}]})
    assert labels(plan) == ["REPS at printed", "REPS at tenth"]
    assert [plan.methods[0].rate_on(name) for name in ("iris", "wine")] == [0.1, 0.2]


def test_refinement_has_one_name_everywhere():
    """ "refined" is REPS with a refined set, as in fit_model; sets that are not refined have none of its parameters."""
    methods = ["refined", {"method": "refined", "n_prototypes": [6, 9]}]
    plan = read_plan(SMALL | {"methods": methods})
    assert labels(plan) == ["refined REPS", "refined REPS(n_prototypes=6)", "refined REPS(n_prototypes=9)"]
    assert plan == read_plan(
        SMALL | {"methods": [{"method": "REPS", "refine": True, "label": "refined REPS"}, *methods[1:]]}
    )
    grid = {"method": "REPS", "refine": [False, True], "n_starts": [2, 3], "beta": 2}
    assert labels(read_plan(SMALL | {"methods": [grid]})) == [
        "REPS(beta=2)",
        "REPS(refine=True, n_starts=2, beta=2)",
        "REPS(refine=True, n_starts=3, beta=2)",
    ]
    with pytest.raises(PlanError, match="twice"):
        read_plan(SMALL | {"methods": [grid, {"method": "REPS", "beta": 2}]})


TOO_MANY = [
    {"folds": 9223372036854775807},
    {"folds": 200_001},
    {"folds": {"n": 2}, "seeds": list(range(100_001)), "methods": ["SSMA"]},
    {"methods": [{"method": "SSMA", "max_evaluations": list(range(10, 500)), "population_size": list(range(5, 500))}]},
    {
        "methods": [
            {"method": "REPS", "beta": [1 + i / 1000 for i in range(1, 300)], "at": "FCNN"},
            {"method": "FCNN", "n_neighbors": list(range(1, 300))},
        ]
    },
    {"distances": [{"metric": "dtw", "window": list(range(100_000))}]},
    {"data": [str(number) for number in range(50_000)]},
]


@pytest.mark.parametrize("change", TOO_MANY, ids=range(len(TOO_MANY)))
def test_a_plan_of_too_many_cells_is_refused_before_they_are_made(change):
    started = time.process_time()
    with pytest.raises(PlanError, match=r"at least [\d,]+ cells, and a plan may have at most 200,000; divide it"):
        read_plan(SMALL | change)
    assert time.process_time() - started < 5


def test_a_large_plan_is_read_in_linear_time():
    """Each method that takes the size of another method finds it at once, not by a walk over all methods."""
    methods = [{"method": "FCNN", "n_neighbors": list(range(1, 10_001))}, {"method": "REPS", "at": "FCNN"}]
    started = time.process_time()
    plan = read_plan(SMALL | {"methods": methods, "folds": 2})
    assert len(plan.cells) == plan.n_cells == 2 * 20_000
    assert time.process_time() - started < 15


def test_plain_values_of_numpy_are_taken():
    plain = SMALL | {"folds": 3, "seeds": [1], "methods": [{"method": "FCNN", "n_neighbors": [1, 2]}]}
    fancy = SMALL | {
        "folds": np.int32(3),
        "seeds": (np.int64(1),),
        "methods": ({"method": np.str_("FCNN"), "n_neighbors": tuple(np.arange(1, 3))},),
    }
    assert read_plan(fancy) == read_plan(plain)
    assert read_plan(fancy).document == plain


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


ERRORS = [
    ({"folds": {"n": 5, "seed": 2**32}}, "folds.seed is 4294967296; expected"),
    ({"folds": {"n": 2**70}}, "folds.n is .*expected a text, a number of at most 64 bits"),
    ({"methods": [{"method": "REPS", "beta": 10**400}]}, r"methods\[0\].beta is 1000.*of at most 64 bits"),
    ({"methods": [{"method": "REPS", "beta": Fraction(3, 2)}]}, r"methods\[0\].beta is Fraction.*expected a text"),
    ({"data": nested(20)}, "is nested too deeply"),
    ({"methods": [{"method": "refined", "refine": False}]}, r"methods\[0\] \(refined\): the key 'refine' is not known"),
    ({"methods": [{"method": "REPS", "refine": []}]}, r"methods\[0\].refine is \[\]; expected true or false"),
    ({"methods": [{"method": "REPS", "refine": [False], "n_starts": 2}]}, "the key 'n_starts' is not known"),
    (
        {"methods": [{"method": "REPS", "search__folder": "/there/is/none"}]},
        r"methods\[0\] \(REPS\): .*'/there/is/none'",
    ),
    ({"metods": []}, r"the key 'metods' is not known \(did you mean 'methods'.*\?\); known are \['name', 'data'"),
    ({"data": []}, r"data is \[\]; expected a list with at least one entry"),
    ({"data": "iris"}, "data is 'iris'; expected a list"),
    ({"data": ["iris", 3]}, r"data\[1\] is 3; expected a name, or a table with the path of a file"),
    ({"data": [{"pth": "a.csv"}]}, r"data\[0\] is .*expected a name, or a table with the path"),
    ({"data": [{"path": "a.csv", "traget": "y"}]}, r"data\[0\]: the key 'traget' is not known \(did you mean 'target'"),
    ({"data": [{"path": "a.csv", "target": 1.5}]}, r"data\[0\].target is 1.5; expected the name or position"),
    ({"data": ["iris", "iris"]}, "data has 'iris' twice"),
    ({"data": ["a", {"path": "x/a.csv"}]}, "data has 'a' twice; remove one, or give it another name"),
    ({"name": 3}, "name is 3; expected a text"),
    ({"methods": ["FCN"]}, r"methods\[0\].method is 'FCN', which is not known \(did you mean 'FCNN'"),
    ({"methods": ["NoPS", "reps"]}, r"methods\[1\].method is 'reps'.*did you mean 'REPS'"),
    ({"methods": [3]}, r"methods\[0\] is 3; expected the name of a method"),
    (
        {"methods": [{"method": "FCNN", "n_neighbours": 2}]},
        r"\(FCNN\): the key 'n_neighbours'.*'n_neighbors'",
    ),
    ({"methods": [{"method": "NoPS", "label": "all"}]}, r"methods\[0\] \(NoPS\): the key 'label' is not known"),
    ({"methods": [{"method": "FCNN", "n_neighbors": "two"}]}, r"methods\[0\] \(FCNN\): n_neighbors='two' must be"),
    ({"methods": [{"method": "FCNN", "n_neighbors": []}]}, r"methods\[0\].n_neighbors is \[\]; expected a value"),
    ({"methods": [{"method": "REPS", "beta": [2, {"a": 1}]}]}, r"methods\[0\].beta is .*expected a value, or a list"),
    ({"methods": [{"method": "REPS", "C": float("inf")}]}, r"methods\[0\].C is inf; expected a value"),
    ({"methods": [{"method": "REPS", "metric": "dtw"}]}, r"methods\[0\].metric is not for plans: distances say"),
    ({"methods": [{"method": "SSMA", "random_state": 0}]}, r"methods\[0\].random_state is not for plans: seeds"),
    ({"methods": [{"method": "REPS", "refine": "yes"}]}, r"methods\[0\].refine is 'yes'; expected true or false"),
    (
        {"methods": [{"method": "REPS", "refine": True, "allocation": "global"}]},
        r"methods\[0\] \(REPS\): Refined needs a set with every class",
    ),
    ({"methods": [{"method": "FCNN", "seeds": [1]}]}, r"methods\[0\].seeds is for randomised methods, and FCNN is not"),
    ({"methods": [{"method": "FCNN", "rates": [0.1]}]}, r"methods\[0\].rates cannot be: FCNN chooses its size itself"),
    (
        {"methods": [{"method": "REPS", "rates": [0.1, 2]}]},
        r"rates has '2' with 2; expected a rate above 0",
    ),
    ({"methods": [{"method": "REPS", "rates": 0.1}]}, r"methods\[0\].rates is 0.1; expected a list of rates"),
    ({"methods": [{"method": "REPS", "rates": {"x": {"wine": 0.1}}}]}, r"'x' without a rate for the data \['iris'\]"),
    ({"methods": [{"method": "REPS", "at": "SSM"}, "SSMA"]}, r"at = 'SSM', which is no method.*did you mean 'SSMA'"),
    ({"methods": [{"method": "REPS", "at": 3}]}, r"methods\[0\].at is 3; expected the label of a method"),
    (
        {"methods": [{"method": "REPS", "at": "SSMA", "n_prototypes": 3}, "SSMA"]},
        r"methods\[0\] \(REPS\) has \['at', 'n_prototypes'\], which all say how many",
    ),
    ({"methods": ["FCNN", "FCNN"]}, "methods has 'FCNN' twice"),
    ({"methods": ["FCNN", {"method": "FCNN", "label": "x"}]}, "methods has 'FCNN' twice .also as 'x'.; remove one"),
    ({"methods": [{"method": "FCNN", "label": 3}]}, r"methods\[0\].label is 3; expected a text"),
    ({"folds": 1}, "folds.n is 1; expected a whole number of at least 2"),
    ({"folds": "defautl"}, "folds is 'defautl'; expected a number, 'default', or a table"),
    ({"folds": {"k": 5}}, "folds: the key 'k' is not known"),
    ({"folds": {"n": 5, "seed": -1}}, "folds.seed is -1; expected"),
    ({"folds": {"n": 5, "stratified": 1}}, "folds.stratified is 1; expected true or false"),
    ({"order": "row"}, "order is 'row', which is not known .did you mean 'rows'"),
    ({"order": None}, "order is None, which is not known"),
    ({"methods": ["guess", {"method": "REPS", "at": "guess"}]}, "at = 'guess', which keeps no objects"),
    ({"methods": ["knn"]}, r"methods\[0\].method is 'knn', which is not known .did you mean 'kNN'"),
    ({"methods": [{"method": "kNN", "n_neighbors": 3}]}, r"methods\[0\] .kNN.: the key 'n_neighbors' is not known"),
    ({"seeds": 3}, "seeds is 3; expected a list of whole numbers"),
    ({"seeds": []}, r"seeds is \[\]; expected at least one seed"),
    ({"seeds": [1, 1]}, r"seeds is \[1, 1\]; expected at least one seed, and each once"),
    ({"seeds": [True]}, r"seeds is \[True\]; expected a list of whole numbers"),
    ({"distances": ["zz"]}, r"distances\[0\] is 'zz', which is not known"),
    ({"distances": [{"scaling": "max"}]}, r"distances\[0\].scaling is 'max', which is not known.*'minmax'"),
    ({"distances": [{"metric": "dwt"}]}, r"distances\[0\].metric is 'dwt', which is not known.*'dtw'"),
    ({"distances": [{"metric": "dtw", "windw": 5}]}, r"distances\[0\] \(dtw\): the key 'windw'.*did you mean 'window'"),
    ({"distances": [{"metric": "dtw", "scaling": "z"}]}, r"distances\[0\] \(dtw\): the key 'scaling' is not known"),
    ({"distances": [4]}, r"distances\[0\] is 4; expected a scaling, a metric, or a table"),
    ({"distances": ["z", {"scaling": "z"}]}, "distances has 'z' twice"),
    (
        {"methods": [{"method": "REPS", "score": "literal"}]},
        r"methods\[0\].score is not known any more: write 'reading'",
    ),
    (
        {"methods": [{"method": "REPS", "max_memory": "1GB"}]},
        r"max_memory is not known any more: write 'search__max_memory'",
    ),
]


@pytest.mark.parametrize(("change", "message"), ERRORS, ids=[str(change) for change, _ in ERRORS])
def test_errors(change, message):
    with pytest.raises(PlanError, match=f"^the plan: .*{message}"):
        read_plan(SMALL | change)


@pytest.mark.parametrize("missing", ["data", "methods"])
def test_what_is_missing(missing):
    with pytest.raises(PlanError, match=f"the plan: {missing} is missing; a plan names its data and methods"):
        read_plan({name: value for name, value in SMALL.items() if name != missing})


@pytest.mark.parametrize("source", [None, 3, ["iris"], b"plan.toml"])
def test_no_plan(source):
    with pytest.raises(TypeError, match=r"^plan=.* is not a plan; pass the path of a TOML file, or a dict"):
        read_plan(source)


def test_errors_name_the_file(tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text("data = " + "[" * 100_000)
    with pytest.raises(PlanError, match=r"plan.toml: not TOML: maximum recursion"):
        read_plan(file)
    with pytest.raises(PlanError, match="nested too deeply"):
        read_plan(SMALL | {"data": nested(5000)})
    with pytest.raises(PlanError, match="null byte"):
        read_plan("plan\0.toml")
    file.unlink()
    with pytest.raises(PlanError, match=r"cannot read the plan '.*plan.toml': No such file"):
        read_plan(file)
    file.write_text("data = ['iris']\nmethods = ]")
    with pytest.raises(PlanError, match=r"plan.toml: not TOML: .*line 2"):
        read_plan(file)
    file.write_bytes(b"data = ['\xff']")
    with pytest.raises(PlanError, match=r"plan.toml: not TOML"):
        read_plan(file)
    file.write_bytes(b"\xef\xbb\xbfdata = ['iris']\r\nmethods = ['FNCC']\r\n")
    with pytest.raises(PlanError, match=r"plan.toml: methods\[0\].method is 'FNCC'.*'FCNN'"):
        read_plan(file)
