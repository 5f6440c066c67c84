"""Errors and warnings: one public place, a common base, the builtin bases of before; filters work on real fits."""

import ast
import functools
import importlib.util
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import kneighbors_graph

import protoset
from protoset import REPS, PrototypeClassifier, exceptions
from protoset.neighbors import search
from protoset.neighbors.search import check_recall
from protoset.selectors import FCNN, RMHC

PACKAGE = Path(protoset.__file__).parent
X, Y = load_iris(return_X_y=True)

BUILTIN_BASES = {
    "DataError": ValueError,
    "FileFormatError": ValueError,
    "NotMovableError": (ValueError, AttributeError),
    "PlanError": ValueError,
    "JournalError": RuntimeError,
    "ReferenceFailedError": RuntimeError,
    "WorkerDiedError": RuntimeError,
    "CompilationCacheWarning": UserWarning,
    "DoubtfulDataWarning": UserWarning,
    "LowRecallWarning": UserWarning,
    "ManyTiesWarning": UserWarning,
    "SlowSearchWarning": UserWarning,
    "HopelessClassWarning": UserWarning,
    "SolverConvergenceWarning": ConvergenceWarning,
    "SearchStoppedWarning": ConvergenceWarning,
    "SearchInterruptedWarning": exceptions.SearchStoppedWarning,
}


def interrupt(progress):
    raise KeyboardInterrupt


def search_without_a_library():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importlib.util, "find_spec", lambda name, *rest: None)
        patch.setattr(search, "APPROXIMATE_FROM", 100)
        REPS(5).fit(X, Y)


FITS = {
    "DoubtfulDataWarning": lambda: FCNN().fit(X, np.arange(150) % 80),
    "LowRecallWarning": lambda: check_recall(0.8),
    "ManyTiesWarning": lambda: REPS(5, metric="precomputed").fit(kneighbors_graph(X, 5, mode="connectivity"), Y),
    "SlowSearchWarning": search_without_a_library,
    "HopelessClassWarning": lambda: PrototypeClassifier(REPS(15), rule="adjusted").fit(X, Y),
    "SolverConvergenceWarning": lambda: REPS(0.1, loss="sum", C=1e4, tol=1e-300).fit(X, Y),
    "SearchStoppedWarning": lambda: RMHC(10, max_time=1e-9, random_state=0).fit(X, Y),
    "SearchInterruptedWarning": lambda: RMHC(10, callback=interrupt, random_state=0).fit(X, Y),
}
"""For each warning a call that gives it."""


def test_every_class_has_the_common_base_and_its_builtin_base():
    assert set(exceptions.__all__) == {*BUILTIN_BASES, "ProtosetError", "ProtosetWarning"}
    for name, builtin in BUILTIN_BASES.items():
        base = exceptions.ProtosetError if name.endswith("Error") else exceptions.ProtosetWarning
        assert issubclass(getattr(exceptions, name), (base,))
        assert issubclass(getattr(exceptions, name), builtin)
    assert not issubclass(exceptions.ProtosetError, Warning)


@pytest.mark.parametrize("name", exceptions.__all__)
def test_every_class_is_explained_and_survives_another_process(name):
    kind = getattr(exceptions, name)
    assert kind.__doc__
    copy = pickle.loads(pickle.dumps(kind("the message")))
    assert type(copy) is kind
    assert str(copy) == "the message"


def test_file_format_error_is_importable_from_the_package():
    assert protoset.FileFormatError is exceptions.FileFormatError


@functools.cache
def nodes_of_package():
    """All nodes of the source, each with its file."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return [(path, node) for path in paths for node in ast.walk(ast.parse(path.read_text()))]


def test_there_is_no_other_place_for_errors_and_warnings():
    """Private classes that never leave a module are its own business."""
    for path, node in nodes_of_package():
        if isinstance(node, ast.ClassDef) and node.name.endswith(("Error", "Warning")):
            assert path.name == "exceptions.py" or node.name.startswith("_"), f"{path.name}: {node.name}"


def test_every_warning_of_the_library_has_a_category_of_its_own():
    for path, node in nodes_of_package():
        if isinstance(node, ast.Call) and len(node.args) > 1 and ast.unparse(node.func) == "warnings.warn":
            used = {name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name) and "W" in name.id}
            assert used <= set(exceptions.__all__), f"{path.name}: {used}"


@pytest.mark.parametrize("name", FITS)
def test_a_warning_can_be_filtered_by_its_category(name):
    category = getattr(exceptions, name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        FITS[name]()
    assert category in [warning.category for warning in caught]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", category)
        FITS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", category=exceptions.ProtosetWarning)
        with pytest.raises(category):
            FITS[name]()


def test_what_ends_a_search_early_is_told_apart():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        FITS["SearchStoppedWarning"]()
    assert [warning.category for warning in caught] == [exceptions.SearchStoppedWarning]


def test_an_interrupted_search_keeps_a_set():
    with pytest.warns(exceptions.SearchInterruptedWarning, match="by an interruption"):
        selector = RMHC(10, callback=interrupt, random_state=0).fit(X, Y)
    assert len(np.unique(selector.sample_indices_)) == 10
