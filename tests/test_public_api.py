"""The public names: all of them listed, each with one meaning, none an implementation constant."""

import importlib
import inspect
from collections import defaultdict

import pytest

ROOMS = [
    "protoset",
    "protoset.datasets",
    "protoset.evaluation",
    "protoset.exceptions",
    "protoset.experiments",
    "protoset.models",
    "protoset.neighbors",
    "protoset.paper",
    "protoset.plots",
    "protoset.selectors",
    "protoset.spaces",
]
REGISTRIES = {"DATASETS", "DISSIMILARITIES", "STUDIES"}
"""Upper-case names that users need: what there is to choose from."""


def public_names():
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in module.__all__:
            yield room, name, getattr(module, name)


def test_every_name_has_one_meaning():
    meanings = defaultdict(set)
    for _, name, thing in public_names():
        if name != "__version__":
            meanings[name].add(id(thing))
    twice = sorted(name for name, things in meanings.items() if len(things) > 1)
    assert not twice, f"public names with two meanings: {twice}"


def test_no_implementation_constant_is_public():
    selectors = {"CCIS", "CNN", "DROP3", "ENN", "FCNN", "HMNEI", "ICF", "RENN", "REPS", "RMHC", "SSMA"}
    constants = {name for _, name, _ in public_names() if name.isupper()} - selectors - REGISTRIES
    assert not constants, f"constants among the public names: {sorted(constants)}"


@pytest.mark.parametrize("room", ROOMS)
def test_every_listed_name_is_there_sorted_and_documented(room):
    module = importlib.import_module(room)
    assert list(module.__all__) == sorted(set(module.__all__), key=module.__all__.index)
    assert set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), f"{room}.{name} has no docstring"


def test_the_names_that_users_need():
    """A name that leaves this list is a change for users: it needs a line in CHANGELOG.md."""
    wanted = {
        "protoset": {"REPS", "Refined", "NeighborSearch", "NeighborLists", "PrototypeClassifier", "refine", "save"}
        | {"Report", "Suspects", "report", "suspects"},
        "protoset.datasets": {"read", "read_queries", "write_rows", "load_dataset", "Dataset", "Attribute", "LeftOut"},
        "protoset.experiments": {"run", "resume", "compare", "validate", "read_plan", "export_results", "merge"},
        "protoset.models": {"fit_model", "DataModel"},
        "protoset.paper": {"run_paper", "write_paper_report"},
        "protoset.plots": {"plot_front", "plot_map", "plot_prototypes", "plot_relevances", "plot_size_curve"}
        | {"PrototypeMapDisplay", "PrototypesDisplay", "SizeCurveDisplay", "write_figure"},
        "protoset.selectors": {"all_selectors", "BaseSelector", "SearchProgress", "REPS", "Refined"},
        "protoset.spaces": {"make_space", "as_space", "Space", "TrainingSpace", "PrototypeSpace", "DISSIMILARITIES"}
        | {"PairComparison", "Contributions", "Alignment", "EditScript"},
    }
    for room, names in wanted.items():
        assert names <= set(importlib.import_module(room).__all__), room
    import protoset

    assert {"load", "export", "exceptions"} <= set(dir(protoset)) | {"exceptions"}
    assert issubclass(protoset.exceptions.DataError, protoset.exceptions.ProtosetError)
