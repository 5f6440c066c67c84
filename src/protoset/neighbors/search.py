"""Finding neighbour lists: exactly or approximately, in memory or on disk."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Literal

import numpy as np

from protoset._progress import ProgressCallback
from protoset._storage import Storage
from protoset._validation import check_choice, check_count
from protoset.exceptions import LowRecallWarning
from protoset.neighbors.lists import NeighborLists, Ties
from protoset.spaces import APPROXIMATE_FROM, LEAST_RECALL, RECALL_WARNING, TrainingSpace, approximate_library

Search = Literal["auto", "exact", "approximate"]
SEARCHES: tuple[Search, ...] = ("auto", "exact", "approximate")

LISTS_BYTES = 512 * 2**20
"""Memory that lists may take to hold all that tie with a last neighbour."""

ENTRY_BYTES = 64
"""Memory of an entry: index, distance, rank, feature, and the copies while they are made."""


def build_lists(
    space: TrainingSpace,
    n_neighbors: int,
    *,
    ties: Ties = "min",
    search: Search = "auto",
    storage: Storage | None = None,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> NeighborLists:
    """Find each object's nearest others.

    Parameters
    ----------
    space : TrainingSpace
    n_neighbors : int
        Length of the lists; all others where there are fewer. Lists are longer where several
        objects tie at the last place, as far as ``LISTS_BYTES`` allows.
    ties : {"min", "average", "ordinal"}
        How equal distances are ranked.
    search : {"auto", "exact", "approximate"}
        See :func:`choose_search`. An approximate search gives lists of exactly ``n_neighbors``, and their recall;
        those that miss most neighbours are refused, and there is a warning if they miss many.
    storage : Storage, optional
        Where the lists are kept. An approximate search fills files as it goes; an exact one moves its
        lists there when it is done.
    n_jobs : int, optional
        Workers of the search.
    progress : callable, optional
        ``progress(done, total)`` is called now and then where the search takes long.

    Returns
    -------
    NeighborLists
    """
    check_count("n_neighbors", n_neighbors, least=1, remedy="pass the number of neighbours to look at")
    n = space.shape[0]
    n_neighbors = min(n_neighbors, n - 1)
    limit = max(n_neighbors, LISTS_BYTES // (ENTRY_BYTES * n))
    place = Storage() if storage is None else storage
    chosen = choose_search(space, search) if n > 1 else "exact"  # nobody is there to be found
    # The counts come last: a folder without them is known to be unfinished, whatever ended the search.
    place.discard("neighbor_counts")
    if chosen == "approximate":
        raw = space.approximate_kneighbors(n_neighbors, storage=place, n_jobs=n_jobs, progress=progress)
        check_recall(raw.recall)
    else:
        raw = space.kneighbors(n_neighbors, limit=limit, n_jobs=n_jobs, progress=progress)
        indices = place.keep("neighbor_indices", raw.indices, np.int32)
        raw = replace(raw, indices=indices, distances=place.keep("neighbor_distances", raw.distances, np.float64))
    if place.folder is not None:
        place.keep("neighbor_closed", raw.closed, np.bool_)
        place.keep("neighbor_recall", np.array([np.nan if raw.recall is None else raw.recall]), np.float64)
    lists = NeighborLists.from_raw(raw, ties, place)
    if place.folder is not None:
        place.keep("neighbor_counts", raw.counts, np.int64)
    return lists


def choose_search(space: TrainingSpace, search: Search, large: int | None = None) -> Literal["exact", "approximate"]:
    """Say which search serves the objects.

    Parameters
    ----------
    space : TrainingSpace
    search : {"auto", "exact", "approximate"}
        ``"auto"`` takes the approximate search from ``large`` objects on, where their kind has one and faiss or
        pynndescent is installed; a Dask cluster needs neither.
    large : int, optional
        By default ``APPROXIMATE_FROM``.
    """
    check_choice("neighbors", search, SEARCHES)
    if search == "auto":
        is_large = space.shape[0] >= (APPROXIMATE_FROM if large is None else large)
        possible = space.remote or approximate_library() is not None
        return "approximate" if is_large and possible and space.approximable else "exact"
    if search == "approximate" and not space.approximable:
        raise ValueError(
            "neighbors='approximate' serves dense vectors under the Euclidean distance and those that become "
            "Euclidean, each with a direction where only directions count; use neighbors='exact'"
        )
    if search == "approximate" and not space.remote and approximate_library() is None:
        raise ImportError(
            "neighbors='approximate' needs faiss or pynndescent; pip install 'protoset[approximate]', "
            "or use neighbors='exact'"
        )
    return search


def check_recall(recall: float | None) -> None:
    """Warn of lists that miss too many neighbours; refuse those that miss most."""
    if recall is None or recall >= RECALL_WARNING:
        return
    found = f"the approximate search found {recall:.1%} of the true neighbours of a sample of rows"
    if recall < LEAST_RECALL:
        raise ValueError(
            f"{found}, too few to learn from (less than {LEAST_RECALL:.0%}); use neighbors='exact', scale the "
            "features alike, or reduce their number, for example with sklearn.decomposition.PCA"
        )
    warnings.warn(
        f"{found}, less than {RECALL_WARNING:.0%}; the prototypes may differ from those of exact lists (see "
        "prototype_overlap_). Use neighbors='exact', or reduce the number of features",
        LowRecallWarning,
        stacklevel=4,
    )
