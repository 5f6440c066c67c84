"""Candidates for the Euclidean neighbours of vectors, from libraries that trade the last digits for speed.

Each says how far off its squared distances may be, so that the caller can prove what it takes from
them: at most ``error`` * (|x| + |y|)^2 + ``vanished``.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from typing import Any, Protocol

import numpy as np
from joblib import effective_n_jobs
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

FAISS_FEATURES, FAISS_OBJECTS = 32, 2000
"""From this many features and objects on faiss is used where it is installed."""

TREE_FEATURES = 7
"""Up to this many features a tree is worth while; scikit-learn's own choice is up to 15, where it takes seven times as
long as comparing everyone with everyone (40,000 objects, 14 features)."""


class Candidates(Protocol):
    """Proposes neighbours."""

    error: float
    vanished: float

    def width(self, n_neighbors: int) -> int:
        """How many candidates are worth while for so many neighbours, the object itself included."""

    def nearest(self, rows: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        """Approximate distances and indices of the nearest objects of the given rows, nearest first."""


def make_candidates(centred: np.ndarray, n_jobs: int | None) -> Candidates:
    """Choose the library: faiss for many features, where it is installed; else scikit-learn."""
    n, d = centred.shape
    if d >= FAISS_FEATURES and n >= FAISS_OBJECTS and importlib.util.find_spec("faiss") is not None:
        return FaissCandidates(centred, n_jobs)
    return SklearnCandidates(centred, n_jobs)


def rounding(n_features: int, epsilon: float) -> float:
    """Bound on the error of a squared distance from inner products, over the squared sum of norms.

    Each of the three sums is off by at most n_features * epsilon / 2 of its terms' sizes; this is twice that.
    """
    return (n_features + 16) * epsilon


class SklearnCandidates:
    """scikit-learn's pairwise reductions, or a tree in few dimensions."""

    vanished = 0.0

    def __init__(self, centred: np.ndarray, n_jobs: int | None):
        self._centred, self._n_jobs = centred, n_jobs
        algorithm = "auto" if centred.shape[1] <= TREE_FEATURES else "brute"
        self._search = NearestNeighbors(algorithm=algorithm, n_jobs=n_jobs).fit(centred)
        self.error = rounding(centred.shape[1], float(np.finfo(np.float64).eps))

    def width(self, n_neighbors: int) -> int:
        """A few more, as the proof needs a gap behind the last neighbour."""
        return n_neighbors + 4

    def nearest(self, rows: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        """Search in double precision."""
        with openmp_threads(self._n_jobs):
            return self._search.kneighbors(self._centred[rows], n_neighbors=width)


class FaissCandidates:
    """faiss, in single precision."""

    def __init__(self, centred: np.ndarray, n_jobs: int | None):
        self._faiss = faiss = import_faiss()
        self._n_jobs = n_jobs
        # Scaled, so that no square overflows; what vanishes beside the largest number is accounted for.
        self._unit = float(np.abs(centred).max()) or 1.0
        self._vectors = np.ascontiguousarray(centred / self._unit, np.float32)
        self._index = faiss.IndexFlatL2(centred.shape[1])
        self._index.add(self._vectors)
        self.error = rounding(centred.shape[1], float(np.finfo(np.float32).eps))
        self.vanished = centred.shape[1] * 1e-36 * self._unit**2

    def width(self, n_neighbors: int) -> int:
        """A quarter more, as the proof needs a wider gap behind the last neighbour."""
        return n_neighbors + max(16, n_neighbors // 4)

    def nearest(self, rows: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        """Search in single precision."""
        before = self._faiss.omp_get_max_threads()
        if self._n_jobs is not None:
            self._faiss.omp_set_num_threads(effective_n_jobs(self._n_jobs))
        try:
            squared, indices = self._index.search(self._vectors[rows], width)
        finally:
            self._faiss.omp_set_num_threads(before)
        return np.sqrt(np.maximum(squared, 0.0).astype(np.float64)) * self._unit, indices


def import_faiss() -> Any:
    """Import faiss when scikit-learn has listed the libraries that it holds to one thread while it searches.

    Among these would be the BLAS of faiss, which takes its threads from OpenMP: with it, scikit-learn would hold its
    own search to one thread too. Where somebody else has imported it before, that cannot be helped.
    """
    if "faiss" not in sys.modules:
        few = np.zeros((2, 1))
        NearestNeighbors(n_neighbors=1, algorithm="brute").fit(few).kneighbors(few)
    return importlib.import_module("faiss")


def openmp_threads(n_jobs: int | None) -> contextlib.AbstractContextManager[Any]:
    """Hold scikit-learn's reductions and BLAS to ``n_jobs`` threads; with None they use their own default."""
    if n_jobs is None:
        return contextlib.nullcontext()
    return threadpool_limits(limits=effective_n_jobs(n_jobs))
