"""Every parameter of every estimator: another type of the same number gives the same fit, all else is an error."""

import inspect
import subprocess
import sys
import warnings
from decimal import Decimal
from fractions import Fraction

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from protoset import REPS, NeighborSearch, PrototypeClassifier, Refined, refine
from protoset.exceptions import SearchStoppedWarning
from protoset.neighbors import build_lists
from protoset.selectors import all_selectors
from protoset.spaces import make_space

X, Y = (array[::5] for array in load_iris(return_X_y=True))
SELECTORS = dict(all_selectors())

# Parameters that are not numbers. The metric and its arguments are checked together with the objects.
NAMED = {"metric", "metric_params", "allocation", "size_rule", "loss", "ties", "reading", "solver", "kind", "start"}
NAMED |= {"rule", "selector", "search", "callback", "folder"}

STRANGE = [pd.NA, np.nan, np.float32(np.inf), np.bool_(True), Decimal("0.5"), 2**70, -(2**70), 10**400, 1j, b"1", "1"]
STRANGE += [[], (1, 2), np.array([1, 2]), {"a": 1}, Fraction(-1, 3), Fraction(10**400), Fraction(1, 10**400), object()]


def makers():
    """Functions that fit and return the kept objects, by name; with the parameters that they take."""
    for name, selector in SELECTORS.items():
        yield name, lambda kind=selector, **p: kind(**p).fit(X, Y).sample_indices_, selector().get_params(deep=False)
    yield "Refined", lambda **p: Refined(REPS(0.2), **p).fit(X, Y).sample_indices_, Refined().get_params(deep=False)
    searches = NeighborSearch().get_params()
    yield "NeighborSearch", lambda **p: REPS(0.2, search=NeighborSearch(**p)).fit(X, Y).sample_indices_, searches
    names = set(inspect.signature(refine).parameters) - {"X", "y", "indices"}
    yield "refine", lambda **p: refine(X, Y, [0, 10, 20], **p).indices, names
    # One class per query: PrototypeClassifier has no number but n_jobs.
    yield "PrototypeClassifier", lambda **p: PrototypeClassifier(REPS(0.2), **p).fit(X, Y).predict(X), ["n_jobs"]


MAKERS = {name: (fit, sorted(set(parameters) - NAMED)) for name, fit, parameters in makers()}
CASES = [(name, parameter) for name, (_, parameters) in MAKERS.items() for parameter in parameters]

FITTING = {"n_prototypes": [9, 0.25], "n_neighbors": [2], "n_jobs": [2], "random_state": [3], "verbose": [0]}
FITTING |= {"beta": [2.5], "C": [0.5], "tol": [1e-5], "epsilon": [0.25], "crossover": [0.25], "mutation": [0.5]}
FITTING |= {"max_iter": [7], "max_evaluations": [50], "population_size": [4], "max_time": [1000], "steepness": [5, 2.5]}
FITTING |= {"tie_rule": [], "n_starts": [2], "max_objects": [20], "max_memory": [10**10]}
FITTING |= {"class_weight": [], "sample_weight": [], "scoring": []}  # they are no numbers


def fit(name, **given):
    function, parameters = MAKERS[name]
    short = {"SSMA": {"max_evaluations": 20}, "RMHC": {"max_iter": 50}, "REPS": {"n_prototypes": 0.2}}.get(name, {})
    seed = {"random_state": 0} if "random_state" in parameters else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchStoppedWarning)
        return function(**{**short, **seed, **given})


def same_numbers(value):
    """The number as other types that hold it exactly."""
    yield Fraction(value)
    yield np.float64(value)
    yield np.float32(value)
    if isinstance(value, int):
        yield np.int64(value)
        yield np.uint8(abs(value)) if 0 <= value < 256 else np.int16(value % 2**14)


@pytest.mark.parametrize(("name", "parameter"), CASES)
def test_another_type_of_the_same_number_gives_the_same_fit(name, parameter):
    """Or it is refused by name: a float or a Fraction is no count."""
    for value in FITTING[parameter][: 1 if name == "refine" else None]:
        expected = fit(name, **{parameter: value})
        for other in (kind(value) for kind in (Fraction, np.float64, np.float32, np.int64)):
            if other != value:
                continue
            same_type = isinstance(other, np.integer) == isinstance(value, int)
            try:
                got = fit(name, **{parameter: other})
            except (ValueError, TypeError) as error:
                assert not same_type, repr(other)
                assert f"{parameter}={other!r}" in str(error)
            else:
                assert np.array_equal(got, expected), repr(other)


@pytest.mark.parametrize(("name", "parameter"), CASES)
def test_strange_values_are_refused_by_name_or_work(name, parameter):
    # A huge number of steps is a long search, not an error.
    limits = {"max_time": 0.01} if "max_time" in MAKERS[name][1] else {}
    for value in STRANGE:
        try:
            fit(name, **{**limits, parameter: value})
        except (ValueError, TypeError) as error:
            assert f"{parameter}=" in str(error), repr(value)


@pytest.mark.parametrize(
    "estimator", [*(kind() for kind in SELECTORS.values()), Refined(), NeighborSearch(), PrototypeClassifier()]
)
def test_every_parameter_is_checked(estimator):
    unchecked = {"metric", "metric_params"}  # they are checked with the objects
    assert set(estimator._check_parameters()) == set(estimator.get_params(deep=False)) - unchecked


def test_a_fit_leaves_the_parameters_as_they_were():
    search = NeighborSearch("exact", n_neighbors=np.int64(5))
    selector = Refined(REPS(np.float32(0.25), beta=Fraction(5, 2), search=search), n_jobs=np.int64(2))
    before = selector.get_params(deep=True)
    selector.fit(X, Y)
    assert selector.get_params(deep=True) == before
    assert [type(selector.selector_.get_params()[name]) for name in ("beta", "search")] == [Fraction, NeighborSearch]
    assert type(selector.n_jobs) is np.int64


def test_a_failed_fit_leaves_the_last_one():
    for estimator in (REPS(0.2), Refined(REPS(0.2)), PrototypeClassifier(REPS(0.2))):
        estimator.fit(X, Y)
        before = dict(vars(estimator))
        with pytest.raises(ValueError, match="only 1 class"):
            estimator.fit(X, np.zeros(len(X)))
        assert vars(estimator) == before


@pytest.mark.parametrize(
    ("estimator", "parameters", "way_out"),
    [
        (Refined(), {"selector__n_prototypes": 3}, "selector=None"),
        (PrototypeClassifier(), {"selector__selector__n_prototypes": 3}, "selector=None"),
        (PrototypeClassifier(Refined()), {"selector__selector__n_prototypes": 3}, "selector=None"),
        (REPS(), {"search__n_neighbors": 5}, "search='auto'"),
    ],
)
def test_parameters_of_a_default_need_the_object_first(estimator, parameters, way_out):
    with pytest.raises(
        ValueError, match=rf"{way_out}, which has no parameters; set an estimator first, with set_params\("
    ):
        estimator.set_params(**parameters)


def test_nested_parameters_come_after_their_object():
    classifier = PrototypeClassifier().set_params(selector__selector__n_prototypes=3, selector=Refined(REPS()))
    assert classifier.selector.selector.n_prototypes == 3
    with pytest.raises(ValueError, match="Invalid parameter 'nothing'"):
        REPS().set_params(nothing__else=3)


def test_an_iterator_is_no_steepness():
    """A second fit would find it empty."""
    for steepness in (iter([10, 20]), (step for step in (10, 20))):
        for function in (Refined(REPS(0.2), steepness=steepness).fit, refine):
            with pytest.raises(TypeError, match="steepness=.* is an iterator; pass a list or a tuple"):
                function(X, Y, **({} if function is not refine else {"indices": [0, 10, 20], "steepness": steepness}))


def test_the_classifier_passes_ready_lists_on():
    lists = build_lists(make_space(X), 53)
    for selector in (REPS(0.2), Refined(REPS(0.2))):
        given = PrototypeClassifier(selector).fit(X, Y, lists=lists)
        np.testing.assert_array_equal(given.sample_indices_, clone(selector).fit(X, Y).sample_indices_)
        fitted = given.selector_ if isinstance(selector, REPS) else given.selector_.selector_
        assert fitted.neighbor_search_ == "given"
    with pytest.raises(
        ValueError, match=r"lists=... works with REPS only, but the selector is ENN\(\); leave lists out"
    ):
        PrototypeClassifier(SELECTORS["ENN"]()).fit(X, Y, lists=lists)


@pytest.mark.slow
def test_the_largest_number_of_workers_starts_few_threads():
    """Threads that outnumber the processors help nothing, and thousands of them may not start."""
    program = (
        "import threading, numpy as np\n"
        "from protoset import REPS, NeighborSearch, PrototypeClassifier\n"
        "most, start = 0, threading.Thread.start\n"
        "def counted(self):\n"
        "    global most\n"
        "    start(self)\n"
        "    most = max(most, threading.active_count())\n"
        "threading.Thread.start = counted\n"
        "X = np.random.default_rng(0).normal(size=(300, 5))\n"
        "for metric in ('euclidean', 'manhattan', 'dtw'):\n"
        "    PrototypeClassifier(REPS(0.1, metric=metric, n_jobs=4096), n_jobs=4096).fit(X, X[:, 0] > 0).predict(X)\n"
        "REPS(0.1, n_jobs=4096).fit([str(row) for row in X], X[:, 0] > 0)\n"
        "print(most)\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(result.stdout) <= 5 * joblib.cpu_count() + 5
