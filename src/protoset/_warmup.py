"""Compile the kernels of the usual work once, for images and servers: small fits of every kind of objects."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from protoset.classifier import PrototypeClassifier
from protoset.datasets import Attribute, Dataset
from protoset.kernels import _compile, lists
from protoset.models import fit_model, reference_errors
from protoset.models.cross_validation import error_of
from protoset.selectors import REPS, Refined
from protoset.spaces import make_space
from protoset.spaces._approximate import approximate_library

logger = logging.getLogger("protoset")

N_OBJECTS = 400
"""Objects of each data set: enough for all steps of a fit, and for the kernels that smaller data do not need."""

N_SERIES = 120
"""Series of each data set, and strings: enough for all steps of a fit."""

N_MANY_POINTS = 1100
"""Points of long series: all distances of four of them take more than ``spaces.series.FEW_CELLS``."""

N_MANY_OBJECTS = 2100
"""Vectors whose moves are tried on one held-out part, as those of many objects are."""

N_MANY_PROTOTYPES = 800
"""Prototypes of these vectors: more than 512 also in a trial, which holds a fifth of the objects out."""


@dataclass(frozen=True)
class WarmUp:
    """Result of a warm-up.

    Attributes
    ----------
    folder : Path
        Folder that keeps the compiled code.
    n_kernels : int
        Number of kernels that were compiled; 0 if all were compiled before.
    seconds : float
        Seconds that the warm-up took.
    """

    folder: Path
    n_kernels: int
    seconds: float


def warmup(progress: Callable[[int, int], object] | None = None, *, variants: bool = False) -> WarmUp:
    """Compile the most used code and keep it on disk, so that later fits do not wait for the compiler.

    The function fits small data sets of every kind with the default settings: vectors, mixed tables, series of equal
    and unequal lengths under dynamic time warping, distance matrices, and strings if rapidfuzz is installed. Run it
    when you build a container image, as the user that will run protoset. Other methods and metrics still compile at
    first use.

    Parameters
    ----------
    progress : callable, optional
        Called as ``progress(done, total)`` after each data set.
    variants : bool, default=False
        Whether to compile more than the default settings need: learned relevances, the metrics "cosine" and
        "correlation", the moves of more than 512 prototypes, and approximate searches if faiss or pynndescent is
        installed.

    Returns
    -------
    WarmUp
        Folder of the compiled code, number of compiled kernels, and time.
    """
    started, before = time.perf_counter(), _compile.watch.n_kernels
    works: list[Callable[[], Any]] = [_fit_vectors, _fit_mixed, _fit_series, _fit_ragged_series, _fit_matrix]
    if find_spec("rapidfuzz") is not None:
        works.append(_fit_strings)
    if variants:
        works += [_fit_relevances, _fit_directions, _fit_many_prototypes]
        if approximate_library() is not None:
            works.append(_fit_approximate_lists)
    with warnings.catch_warnings():
        # Warnings about these data sets say nothing to the user; one about a missing cache does.
        warnings.simplefilter("ignore")
        warnings.filterwarnings("default", category=_compile.CompilationCacheWarning)
        for done, work in enumerate(works, 1):
            logger.info("compiling for %s", work.__name__.removeprefix("_fit_").replace("_", " "))
            work()
            if progress is not None:
                progress(done, len(works))
    folder = Path(lists.kth_smallest.stats.cache_path or ".")
    return WarmUp(folder, _compile.watch.n_kernels - before, time.perf_counter() - started)


def _vectors(n_objects: int = N_OBJECTS) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    labels = np.arange(n_objects) % 2
    return rng.normal(size=(n_objects, 3)) + labels[:, None], labels


def _fit(dataset: Dataset, **options: Any) -> None:
    """Do what ``protoset select`` does: fit with and without a given size, predict, and measure the errors."""
    for size in ("auto", 4):
        model = fit_model(dataset, n_prototypes=size, **options)
        preparation = model.preparation
        codes = np.unique(dataset.labels, return_inverse=True)[1]
        space = make_space(preparation(dataset.objects), preparation.metric, preparation.metric_params, y=codes)
        reference_errors(space, codes)
        error_of(model.classifier, space, codes)
    if dataset.kind != "matrix":
        model.predict(dataset.objects)


def _fit_vectors() -> None:
    X, labels = _vectors()
    attributes = tuple(Attribute(name, "real") for name in "abc")
    # Rounded, some objects are identical, and distances are tied.
    for objects in (X, X.round()):
        _fit(Dataset("vectors", "vectors", objects, labels, attributes))
    # Without a refinement the prototypes are weighted and ranked by other kernels.
    PrototypeClassifier(REPS()).fit(X, labels).predict(X[:5])
    PrototypeClassifier(Refined(REPS())).fit(X, labels).predict(X[:5])
    # Many objects, or more than two classes, also try the softmax.
    _fit_moving(X, labels, 4)
    # Prototypes that do not move may be equally near.
    PrototypeClassifier(REPS(0.2), adapt=False).fit(X.round(), labels).predict(X.round())


def _fit_mixed() -> None:
    X, labels = _vectors()
    attributes = (Attribute("a", "real"), Attribute("b", "real"), Attribute("c", "nominal", ("no", "yes")))
    for numbers in (X, X.round()):
        objects = numbers.astype(object)
        objects[:, 2] = np.where(X[:, 2] > 0.5, "yes", "no")
        _fit(Dataset("mixed", "mixed", objects, labels, attributes))
    _fit_moving(objects, labels, 4, metric="gower", metric_params={"categorical": [2]})


def _fit_series() -> None:
    _fit(Dataset("series", "series", _series([20] * N_SERIES), np.arange(N_SERIES) % 2))
    X, labels = np.array(_series([20] * N_SERIES)), np.arange(N_SERIES) % 2
    PrototypeClassifier(REPS(metric="dtw", metric_params={"window": 0.4})).fit(X, labels).predict(X[:5])
    # Few neighbours of longer series are found by seeds.
    make_space(np.array(_series([60] * N_SERIES)), "dtw", {"window": 0.45}).kneighbors(2, limit=4)
    _search_nearest([N_MANY_POINTS] * 4)


def _fit_ragged_series() -> None:
    lengths = [15 + i % 3 for i in range(N_SERIES)]
    _fit(Dataset("ragged", "series", _series(lengths), np.arange(N_SERIES) % 2))
    _search_nearest([N_MANY_POINTS + i for i in range(4)])


def _search_nearest(lengths: list[int]) -> None:
    """Find nearest series by bounds, as is done for many points."""
    series = _series(lengths)
    make_space(series, "dtw", {"window": 0.05}).cross(series).nearest()


def _series(lengths: list[int]) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [np.sin(np.linspace(0, 3 + i % 2, length)) + rng.normal(0, 0.3, length) for i, length in enumerate(lengths)]


def _fit_matrix() -> None:
    X, labels = _vectors()
    _fit(Dataset("matrix", "matrix", np.abs(X[:, None] - X).sum(axis=2), labels))


def _fit_strings() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(N_SERIES) % 2
    texts = ["".join(rng.choice(list("abcd"[label : label + 3]), 8)) for label in labels]
    _fit(Dataset("strings", "strings", texts, labels))


def _fit_moving(X: Any, labels: np.ndarray, n_prototypes: int, *, relevances: bool = False, **metric: Any) -> None:
    """Move prototypes with each loss, and predict."""
    for loss in ("relative", "softmax"):
        settings = {"loss": loss, "relevances": relevances, "n_passes": 1}
        selector = REPS(n_prototypes, **metric)
        PrototypeClassifier(selector, adapt=settings).fit(X, labels).predict(X[:5])


def _fit_relevances() -> None:
    X, labels = _vectors()
    _fit_moving(X, labels, 4, relevances=True)
    names = np.where(X[:, 2] > 0.5, "yes", "no").astype(object)
    mixed, categories = np.column_stack([X[:, :2].astype(object), names]), {"categorical": [2]}
    _fit_moving(mixed, labels, 4, relevances=True, metric="gower", metric_params=categories)
    labels = np.arange(N_SERIES) % 2
    for lengths in ([20] * N_SERIES, [15 + i % 3 for i in range(N_SERIES)]):
        _fit_moving(_series(lengths), labels, 4, relevances=True, metric="dtw")


def _fit_directions() -> None:
    X, labels = _vectors()
    for metric in ("cosine", "correlation"):
        PrototypeClassifier(Refined(REPS(metric=metric))).fit(X, labels).predict(X[:5])
        _fit_moving(X, labels, 4, metric=metric)


def _fit_many_prototypes() -> None:
    # Beyond 512 prototypes, objects look at the nearest ones alone.
    X, labels = _vectors(N_MANY_OBJECTS)
    for relevances in (False, True):
        _fit_moving(X, labels, N_MANY_PROTOTYPES, relevances=relevances)


def _fit_approximate_lists() -> None:
    X, labels = _vectors()
    REPS(4, search="approximate").fit(X, labels)
    labels = np.arange(N_SERIES) % 2
    for lengths in ([20] * N_SERIES, [15 + i % 3 for i in range(N_SERIES)]):
        REPS(4, metric="dtw", search="approximate").fit(_series(lengths), labels)
