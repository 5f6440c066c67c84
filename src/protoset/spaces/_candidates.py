"""Candidates for the Euclidean neighbours of vectors, from fast libraries that lose the last digits.

Each source of candidates has a bound on the error of its squared distances, ``error`` * (|x| + |y|)^2 + ``vanished``,
so that the caller can prove that no neighbour is missing. ``width(n)`` is the number of candidates to search for n
neighbours, the object itself included. ``nearest`` returns approximate distances and indices, nearest first.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import delayed
from threadpoolctl import threadpool_limits

from protoset import kernels
from protoset._blocks import in_threads, n_processors, one_blas_thread, row_slices

FAISS_FEATURES = 32
"""Smallest number of features for which faiss is used, if it is installed."""

FAISS_OBJECTS = 2000
"""Smallest number of objects for which faiss is used, if it is installed."""

TREE_FEATURES = 7
"""Largest number of features for which a tree is used. scikit-learn uses trees for up to 15 features, although a tree
then takes seven times as long as comparing all pairs (40,000 objects, 14 features)."""

PRODUCT_OBJECTS = 2049
"""Smallest number of objects for which products of matrices are used, without faiss."""

SORTED_WIDTH = 128
"""Largest number of candidates of an object that are kept sorted while products are read; more are sorted at the
end."""

PRODUCT_BLOCKS = 16
"""Number of blocks of products in the memory of one block of dissimilarities: small blocks stay in the cache."""

FEW_PAIRS = 2048**2
"""Largest number of pairs for which a search uses one thread: further threads would mostly wait."""


def make_candidates(centred: np.ndarray, n_jobs: int | None) -> CandidateSource:
    """Choose the source: scikit-learn for few objects or features, faiss for many features, where it is installed."""
    n, d = centred.shape
    if d >= FAISS_FEATURES and n >= FAISS_OBJECTS and importlib.util.find_spec("faiss") is not None:
        return FaissCandidates(centred, n_jobs)
    if d > TREE_FEATURES and n >= PRODUCT_OBJECTS:
        return ProductCandidates(centred, n_jobs)
    return SklearnCandidates(centred, n_jobs)


def rounding(n_features: int, epsilon: float) -> float:
    """Bound on the error of a squared distance from inner products, over the squared sum of norms.

    The relative error of each of the three sums is at most n_features * epsilon / 2; the bound is twice that.
    """
    return (n_features + 16) * epsilon


def _nearest_neighbors(**parameters: Any) -> Any:
    from sklearn.neighbors import NearestNeighbors  # takes long to import

    return NearestNeighbors(**parameters)


class SklearnCandidates:
    """Candidates from the pairwise reductions of scikit-learn, or from a tree in few dimensions."""

    vanished = 0.0

    def __init__(self, centred: np.ndarray, n_jobs: int | None):
        self._centred, self._n_jobs = centred, n_jobs
        algorithm = "auto" if centred.shape[1] <= TREE_FEATURES else "brute"
        self._search = _nearest_neighbors(
            algorithm=algorithm, n_jobs=None if n_jobs is None else n_processors(n_jobs)
        ).fit(centred)
        self.error = rounding(centred.shape[1], float(np.finfo(np.float64).eps))

    def width(self, n_neighbors: int) -> int:
        """Add a quarter: the proof needs a gap after the last neighbour, and in data of few values many tie with it."""
        return n_neighbors + max(4, n_neighbors // 4)

    def nearest(self, rows: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        """Search in double precision."""
        is_small = len(rows) * len(self._centred) <= FEW_PAIRS
        with openmp_threads(1 if is_small else self._n_jobs):
            return self._search.kneighbors(self._centred[rows], n_neighbors=width)


class SingleCandidates:
    """Base class of candidates from single precision."""

    def __init__(self, centred: np.ndarray, n_jobs: int | None):
        self._n_jobs = n_jobs
        # Scaled, so that no square overflows; ``vanished`` bounds the squares that underflow.
        self._unit = float(np.abs(centred).max()) or 1.0
        self._vectors = np.ascontiguousarray(centred / self._unit, np.float32)
        self.error = rounding(centred.shape[1], float(np.finfo(np.float32).eps))
        self.vanished = centred.shape[1] * 1e-36 * self._unit**2

    def width(self, n_neighbors: int) -> int:
        """Add a quarter: in single precision the proof needs a wider gap after the last neighbour."""
        return n_neighbors + max(16, n_neighbors // 4)

    def _distances(self, squared: np.ndarray) -> np.ndarray:
        return np.sqrt(np.maximum(squared, 0.0).astype(np.float64)) * self._unit


class ProductCandidates(SingleCandidates):
    """Candidates from products of matrices."""

    def __init__(self, centred: np.ndarray, n_jobs: int | None):
        super().__init__(centred, n_jobs)
        # (x, |x|^2, 1) times (-2 y, 1, |y|^2) is |x - y|^2.
        squares, ones = np.einsum("ij,ij->i", self._vectors, self._vectors), np.ones(len(centred), np.float32)
        self._left = np.column_stack([self._vectors, squares, ones])
        self._right = np.ascontiguousarray(np.column_stack([-2 * self._vectors, ones, squares]).T)
        del self._vectors

    def nearest(self, rows: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        """Search block by block, in threads."""
        indices, squared = np.empty((len(rows), width), np.int32), np.empty((len(rows), width), np.float32)

        def search(part: slice) -> None:
            block = self._left[rows[part]] @ self._right
            if width <= SORTED_WIDTH:
                kernels.euclidean.smallest_columns(block, indices[part], squared[part])
                return
            nearest = np.argpartition(block, width - 1, axis=1)[:, :width]
            values = np.take_along_axis(block, nearest, axis=1)
            order = np.argsort(values, axis=1)
            indices[part], squared[part] = np.take_along_axis(nearest, order, 1), np.take_along_axis(values, order, 1)

        # As many threads as scikit-learn uses.
        with one_blas_thread():
            parts = row_slices(len(rows), PRODUCT_BLOCKS * self._right.shape[1] * 4)
            in_threads(-1 if self._n_jobs is None else self._n_jobs)(delayed(search)(part) for part in parts)
        return self._distances(squared), indices


class FaissCandidates(SingleCandidates):
    """Candidates from faiss."""

    def __init__(self, centred: np.ndarray, n_jobs: int | None):
        super().__init__(centred, n_jobs)
        self._index = import_faiss().IndexFlatL2(centred.shape[1])
        self._index.add(self._vectors)

    def nearest(self, rows: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        """Search with the library."""
        with faiss_threads(self._n_jobs):
            squared, indices = self._index.search(self._vectors[rows], width)
        return self._distances(squared), indices


CandidateSource = SklearnCandidates | ProductCandidates | FaissCandidates
"""Any source of candidates."""


def import_faiss() -> Any:
    """Import faiss, after scikit-learn has listed the libraries that it limits to one thread while it searches.

    The BLAS of faiss takes its threads from OpenMP. If it were in the list, scikit-learn would limit its own search to
    one thread too. If faiss was imported before protoset, this cannot be avoided.
    """
    if "faiss" not in sys.modules:
        few = np.zeros((2, 1))
        _nearest_neighbors(n_neighbors=1, algorithm="brute").fit(few).kneighbors(few)
    return importlib.import_module("faiss")


@contextlib.contextmanager
def faiss_threads(n_jobs: int | None) -> Iterator[None]:
    """Limit faiss to ``n_jobs`` threads; with None it uses its own default."""
    faiss = import_faiss()
    before, limit = faiss.omp_get_max_threads(), _openmp_limit(n_jobs)
    if limit is not None:
        faiss.omp_set_num_threads(limit)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def openmp_threads(n_jobs: int | None) -> contextlib.AbstractContextManager[Any]:
    """Limit the reductions of scikit-learn and BLAS to ``n_jobs`` threads; with None they use their own default."""
    limit = _openmp_limit(n_jobs)
    return contextlib.nullcontext() if limit is None else threadpool_limits(limits=limit)


_first_openmp_pid: list[int] = []
"""The process that first used OpenMP, as its only entry; a forked child inherits the entry of its parent."""


def _openmp_limit(n_jobs: int | None) -> int | None:
    """Number of threads of OpenMP; None for its own default.

    A forked child does not have the threads of its parent, and OpenMP would wait for them for ever. With one thread it
    does not wait.
    """
    if not _first_openmp_pid:
        _first_openmp_pid.append(os.getpid())
    if _first_openmp_pid[0] != os.getpid():
        return 1
    return None if n_jobs is None else n_processors(n_jobs)
