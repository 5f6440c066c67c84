"""Finding neighbour lists: exact or approximate, how long, in memory or on disk."""

from __future__ import annotations

import os
import reprlib
import warnings
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from protoset._estimators import CheckedEstimator
from protoset._extras import how_to_install
from protoset._memory import WORKING_BYTES, MemoryEstimate, check_fits, parse_bytes
from protoset._progress import ProgressCallback, report, reporter
from protoset._storage import Storage
from protoset._validation import check_choice, check_count
from protoset.exceptions import LowRecallWarning, ManyTiesWarning, SlowSearchWarning
from protoset.neighbors.lists import NeighborLists, Ties
from protoset.spaces import TrainingSpace
from protoset.spaces._approximate import (
    APPROXIMATE_FROM,
    LEAST_RECALL,
    RECALL_WARNING,
    approximate_library,
)

SearchKind = Literal["auto", "exact", "approximate"]
SEARCH_KINDS: tuple[SearchKind, ...] = ("auto", "exact", "approximate")

TIED_LISTS_BYTES = 512 * 2**20
"""Memory that lists may take to hold all objects that tie with a last neighbour."""

ENTRY_BYTES = 64
"""Memory of an entry while features are made: index, distance, rank, feature, and their copies."""

LISTED_BYTES = 20
"""Memory of an entry of a finished list: index, distance, rank."""

SEARCH_ENTRY_BYTES = 12
"""Memory of an entry during the search: index, distance."""

EXACT_CUTOFF = float(np.finfo(np.float64).epsneg)
"""Features below this, the rounding error of a double, are left out of exact lists."""

APPROXIMATE_CUTOFF = 1e-9
"""Features below this are left out of approximate lists: missing neighbours matter more."""


class NeighborSearch(CheckedEstimator):
    """Settings of a neighbour search: its kind, the length of the lists, and their storage.

    Parameters
    ----------
    kind : {"auto", "exact", "approximate"}, default="auto"
        ``"exact"`` finds all neighbours. ``"approximate"`` may miss some; its distances are exact. It needs time
        series, or vectors under Euclidean-like metrics, and, except on a Dask cluster, faiss or pynndescent (extra
        ``approximate``). ``"auto"`` is approximate for 100,000 vectors or more, or 20,000 series or more, if that is
        possible, else exact.
    n_neighbors : int or "auto", default="auto"
        Length of the lists. ``"auto"`` leaves out only neighbours whose features are too small to matter: below double
        precision for exact lists (53 neighbours for ``beta=2``), and below 1e-9 for approximate lists (30 neighbours
        for ``beta=2``).
    max_memory : int or str, optional
        Largest memory of a fit in addition to ``X``, in bytes or as "4GB". A fit that needs more raises an error
        before the work starts. By default the free memory of the machine.
    folder : path-like, optional
        Existing folder for the neighbour lists, which are then memory-mapped. The files stay there after the fit;
        :meth:`NeighborLists.from_folder` reads them. By default the lists are in memory.

    Examples
    --------
    >>> from protoset import REPS, NeighborSearch
    >>> selector = REPS(0.01, search=NeighborSearch("exact", max_memory="4GB"))
    """

    def __init__(
        self,
        kind: SearchKind = "auto",
        *,
        n_neighbors: int | str = "auto",
        max_memory: int | str | None = None,
        folder: str | os.PathLike[str] | None = None,
    ):
        self.kind = kind
        self.n_neighbors = n_neighbors
        self.max_memory = max_memory
        self.folder = folder

    @classmethod
    def of(cls, search: Any) -> NeighborSearch:
        """Return the value of a parameter ``search`` as a NeighborSearch with checked, plain parameters."""
        if isinstance(search, cls):
            return type(search)(**search._check_parameters())
        return cls(check_choice("search", search, SEARCH_KINDS))

    def _check_parameters(self) -> dict[str, Any]:
        n_neighbors, max_memory = self.n_neighbors, self.max_memory
        if not (isinstance(n_neighbors, str) and n_neighbors == "auto"):
            n_neighbors = check_count("n_neighbors", n_neighbors, least=1, remedy="pass a count or 'auto'")
        return {
            "kind": check_choice("kind", self.kind, SEARCH_KINDS),
            "n_neighbors": n_neighbors,
            "max_memory": None if max_memory is None else parse_bytes("max_memory", max_memory),
            "folder": Storage.at(self.folder).folder,
        }

    def resolve(self, space: TrainingSpace) -> Literal["exact", "approximate"]:
        """Return the kind of search for the objects of a space: "exact" or "approximate"."""
        return choose_search(space, self.kind)

    def length(self, beta: float, kind: str) -> int:
        """Length of the lists of an exact or approximate search."""
        if not isinstance(self.n_neighbors, str):
            return self.n_neighbors
        return negligible_rank(beta, APPROXIMATE_CUTOFF if kind == "approximate" else EXACT_CUTOFF)

    def find(
        self, space: TrainingSpace, beta: float, *, ties: Ties, n_jobs: int | None = None, verbose: int = 0
    ) -> NeighborLists:
        """Find the lists; warn if ties do not fit into them, or if neighbours are missing."""
        k, n = self.length(beta, self.resolve(space)), space.shape[0]
        report(verbose, "searching %d neighbours of %d objects", min(k, n - 1), n)
        if self.kind == "auto" and lacks_library(space):
            warnings.warn(
                f"the neighbours of {n:,} objects are searched exactly, which may take very long, because neither "
                f"faiss nor pynndescent is installed; {how_to_install('approximate')}, or fit a sample of the objects",
                SlowSearchWarning,
                stacklevel=2,
            )
        progress = reporter(verbose, "pairs compared")
        lists = build_lists(
            space, k, ties=ties, search=self.kind, storage=Storage.at(self.folder), n_jobs=n_jobs, progress=progress
        )
        if lists.recall is not None:
            # An approximate list does not know its missing ties. If half of it ties with its end, some are missing.
            last_ranks = lists.ranks[lists.indptr[1:] - 1]
            n_open, room = int((last_ranks <= min(k, n - 1) // 2).sum()), "approximate lists hold"
            way_out = "; use search='exact', or leave out duplicates"
        else:
            n_open, room, way_out = 0 if space.partial else int((~lists.closed).sum()), "fit in memory", ""
        if n_open:
            warnings.warn(
                f"{n_open} of {n} objects have more equally distant neighbours than {room}; "
                f"which of them count depends on the row order (see truncation_bound_){way_out}",
                ManyTiesWarning,
                stacklevel=2,
            )
        return lists

    def memory(self, space: TrainingSpace, beta: float, *, given: bool = False) -> tuple[MemoryEstimate, int]:
        """Estimate the memory of the search in addition to the objects, and the number of entries of the lists.

        ``given`` says whether the lists are given, so that there is no search.
        """
        n, on_disk = space.shape[0], self.folder is not None
        kind = "given" if given else self.resolve(space)
        k = min(self.length(beta, kind), n - 1)
        lists = n * k * LISTED_BYTES
        if kind == "approximate" and not space.remote:
            search = space.approximate_bytes(k, on_disk=on_disk)
        else:
            # The lists in blocks and as a whole. Vectors in this process are held in double precision, twice.
            search = 2 * n * k * SEARCH_ENTRY_BYTES + (0 if space.remote else 2 * n * space.object_bytes)
        in_memory = 0 if on_disk else lists
        stages = {"search": WORKING_BYTES + max(search, in_memory)}
        return MemoryEstimate(stages, lists, in_memory), n * k

    def check_memory(self, estimate: MemoryEstimate, beta: float, kind: str, *, on_cluster: bool = False) -> None:
        """Raise an error if a fit needs more memory than there is; the message has ways to need less."""
        enough = negligible_rank(beta, APPROXIMATE_CUTOFF)
        ways_out = [] if self.folder is not None else ["search=NeighborSearch(folder=...) to keep the lists on disk"]
        if self.length(beta, kind) > enough:
            left_out = f"{APPROXIMATE_CUTOFF:.0e}"
            ways_out.append(f"search=NeighborSearch(n_neighbors={enough}), which leaves out features below {left_out}")
        ways_out += ["float32 instead of float64", "a sample of the rows", "or a larger max_memory"]
        if on_cluster:
            ways_out = ["a larger max_memory", "or select from parts of the rows and then again from their prototypes"]
        limit = None if self.max_memory is None else parse_bytes("max_memory", self.max_memory)
        check_fits(estimate, limit, f"pass {', '.join(ways_out)}")


def negligible_rank(beta: float, negligible: float = EXACT_CUTOFF) -> int:
    """Smallest K with beta^-K at most ``negligible``; 53 for beta = 2 and the rounding error of a double."""
    return int(np.ceil(-np.log(negligible) / np.log(beta)))


def tied_limit(n_neighbors: int, n_objects: int) -> int:
    """Largest length to which lists grow to hold all ties."""
    return max(n_neighbors, TIED_LISTS_BYTES // (ENTRY_BYTES * n_objects))


def build_lists(
    space: TrainingSpace,
    n_neighbors: int,
    *,
    ties: Ties = "min",
    search: SearchKind = "auto",
    storage: Storage | None = None,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> NeighborLists:
    """Find the nearest neighbours of each object.

    Parameters
    ----------
    space : TrainingSpace
        Space of the objects.
    n_neighbors : int
        Length of the lists. With fewer objects, all other objects are listed. Exact lists are longer if objects tie at
        the last position, as far as ``TIED_LISTS_BYTES`` allows.
    ties : {"min", "average", "ordinal"}
        How equal distances are ranked.
    search : {"auto", "exact", "approximate"}
        See :func:`choose_search`. An approximate search measures its recall: a low recall gives a warning, a very
        low one an error.
    storage : Storage, optional
        Storage of the lists. An approximate search fills files during the search; an exact search writes its lists at
        the end.
    n_jobs : int, optional
        Number of workers of the search.
    progress : callable, optional
        Called as ``progress(done, total)`` during long searches.

    Returns
    -------
    NeighborLists
    """
    if not isinstance(space, TrainingSpace):
        raise TypeError(f"space={reprlib.repr(space)} is not a space; pass make_space(X, metric)")
    space._check_training("build_lists")
    check_count("n_neighbors", n_neighbors, least=1, remedy="pass the number of neighbours per object")
    n = space.shape[0]
    if n == 0:
        raise ValueError("space has no objects, so there are no neighbours to find; pass at least 1 object")
    n_neighbors = min(n_neighbors, n - 1)
    storage = Storage() if storage is None else storage
    search_approximately = approximate_search_of(space, search) if n > 1 else None
    with storage.locked():
        # The counts come last: a folder without counts is unfinished, however the search ended.
        storage.discard("neighbor_counts")
        if search_approximately is not None:
            raw = search_approximately(n_neighbors, storage=storage, n_jobs=n_jobs, progress=progress)
            check_recall(raw.recall)
        else:
            raw = space.kneighbors(n_neighbors, limit=tied_limit(n_neighbors, n), n_jobs=n_jobs, progress=progress)
            indices = storage.keep("neighbor_indices", raw.indices, np.int32)
            raw = replace(raw, indices=indices, distances=storage.keep("neighbor_distances", raw.distances, np.float64))
        if storage.folder is not None:
            storage.keep("neighbor_closed", raw.closed, np.bool_)
            storage.keep("neighbor_recall", np.array([np.nan if raw.recall is None else raw.recall]), np.float64)
        lists = NeighborLists.from_raw(raw, ties, storage)
        if storage.folder is not None:
            storage.keep("neighbor_counts", raw.counts, np.int64)
        return lists


def approximate_search_of(space: TrainingSpace, search: SearchKind, large: int | None = None) -> Any:
    """Return the approximate search of the space where :func:`choose_search` takes it, else None."""
    return space.approximate_search if choose_search(space, search, large) == "approximate" else None


def choose_search(
    space: TrainingSpace, search: SearchKind, large: int | None = None
) -> Literal["exact", "approximate"]:
    """Choose the search for the objects of a space.

    ``"auto"`` takes the approximate search for at least ``large`` objects (by default the number of the space, else
    ``APPROXIMATE_FROM``), if the space has one and faiss or pynndescent is installed; a Dask cluster needs neither.
    """
    check_choice("search", search, SEARCH_KINDS)
    if search == "auto":
        return "approximate" if _is_large(space, large) and _has_library(space) else "exact"
    if search == "approximate" and space.approximate_search is None:
        raise ValueError(
            "search='approximate' needs time series, or dense vectors under the Euclidean distance or a metric that is "
            "reduced to it (for 'cosine' and 'correlation' without zero or constant vectors); use search='exact'"
        )
    if search == "approximate" and not _has_library(space):
        raise ImportError(
            f"search='approximate' needs faiss or pynndescent; {how_to_install('approximate')}, or use search='exact'"
        )
    return search


def lacks_library(space: TrainingSpace) -> bool:
    """Whether ``search="auto"`` would be approximate if faiss or pynndescent were installed."""
    return _is_large(space, None) and not _has_library(space)


def _is_large(space: TrainingSpace, large: int | None) -> bool:
    """Whether an approximate search of the objects pays, and the space has one."""
    large = large or space.approximate_from or APPROXIMATE_FROM
    return space.shape[0] >= large and space.approximate_search is not None


def _has_library(space: TrainingSpace) -> bool:
    return space.remote or approximate_library() is not None


def check_recall(recall: float | None) -> None:
    """Warn of lists that miss many neighbours; refuse lists that miss most."""
    if recall is None or recall >= RECALL_WARNING:
        return
    measured = f"the approximate search found {recall:.1%} of the true neighbours of a sample of rows"
    if recall < LEAST_RECALL:
        raise ValueError(
            f"{measured}, too few to learn from (less than {LEAST_RECALL:.0%}); use search='exact', or for vectors "
            "scale the features alike, or reduce their number, for example with sklearn.decomposition.PCA"
        )
    warnings.warn(
        f"{measured}, less than {RECALL_WARNING:.0%}; the prototypes may differ from those of exact lists (see "
        "prototype_overlap_). Use search='exact', or give the objects fewer features or points",
        LowRecallWarning,
        stacklevel=4,
    )
