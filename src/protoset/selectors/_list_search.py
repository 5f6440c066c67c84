"""How a fit of REPS comes by its neighbour lists, and what it makes of them where some neighbours are missing."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from protoset._arrays import row_numbers
from protoset._progress import report, reporter
from protoset._storage import Storage
from protoset.exceptions import ManyTiesWarning
from protoset.features import negligible_rank
from protoset.neighbors import NeighborLists, Search, Ties, build_lists, choose_search
from protoset.selectors.allocation import Allocation, cut, resolve_size
from protoset.spaces import RawLists, TrainingSpace

APPROXIMATELY_NOTHING = 1e-9
"""What approximate lists may leave out of a first neighbour's feature: missing neighbours matter more."""

COMPARED_OBJECTS = 10_000
"""Objects that prototypes of approximate and of exact lists are compared on; a sample of more."""


def list_length(n_neighbors: int | str, beta: float, search: str) -> int:
    """Length of the lists; with ``"auto"`` so long that what is cut off is negligible."""
    if n_neighbors != "auto":
        return int(n_neighbors)
    return negligible_rank(beta, *((APPROXIMATELY_NOTHING,) if search == "approximate" else ()))


def find_lists(
    space: TrainingSpace,
    n_neighbors: int | str,
    beta: float,
    *,
    ties: Ties,
    search: Search,
    storage: Storage | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> NeighborLists:
    """Find lists of the length that a fit needs; warn where ties do not fit or neighbours are missing."""
    k, n = list_length(n_neighbors, beta, choose_search(space, search)), space.shape[0]
    report(verbose, "searching %d neighbours of %d objects", min(k, n - 1), n)
    progress = reporter(verbose, "pairs compared")
    lists = build_lists(space, k, ties=ties, search=search, storage=storage, n_jobs=n_jobs, progress=progress)
    if lists.recall is not None:
        # Approximate lists do not know what they leave out, but where most of a list ties with its end, more will.
        last_ranks = lists.ranks[lists.indptr[1:] - 1]
        n_open, room = int((last_ranks <= min(k, n - 1) // 2).sum()), "approximate lists hold"
        way_out = "; use neighbors='exact', or leave out duplicates"
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


def prototype_overlap(
    space: TrainingSpace,
    codes: np.ndarray,
    rate: float,
    allocation: Allocation,
    recall: float,
    rank: Callable[[NeighborLists, np.ndarray], np.ndarray],
    *,
    n_neighbors: int | str,
    beta: float,
    ties: Ties,
    n_jobs: int | None = None,
) -> float:
    """Part of the prototypes that stay the same where neighbours are missing, on a sample of the objects.

    The prototypes of the sample's exact lists are compared with those of two others, and the smaller part counts:
    lists of which as many entries are struck out as the search was found to miss, anyone alike, and lists that the
    search itself finds. It misses those across a border more often, but of a sample fewer than of everyone.

    Parameters
    ----------
    space : TrainingSpace
    codes : ndarray of int
    rate : float
        Part of the objects that is kept.
    allocation : {"proportional", "equal", "global"}
    recall : float
        Part of the neighbours that was found.
    rank : callable
        Maps lists and the codes of their objects to a ranking, best first.
    n_neighbors, beta, ties, n_jobs
        As for :func:`find_lists`.
    """
    order, n_classes = np.random.default_rng(0).permutation(len(codes)), int(codes.max()) + 1
    sample = cut(order, codes, min(len(codes), max(COMPARED_OBJECTS, n_classes)), "proportional")
    part_codes = codes[sample]
    long, short = (list_length(n_neighbors, beta, search) for search in ("exact", "approximate"))
    part = space.subset(sample)
    exact = build_lists(part, long, ties=ties, search="exact", n_jobs=n_jobs)
    others = [_thinned(exact, recall, short)]
    if not space.remote:  # where the search is one by regions, of which a sample has none
        others.append(
            NeighborLists.from_raw(part.approximate_kneighbors(short, storage=Storage(), n_jobs=n_jobs), ties)
        )
    size = resolve_size(rate, np.bincount(part_codes), allocation)
    true, *found = (cut(rank(lists, part_codes), part_codes, size, allocation) for lists in (exact, *others))
    return min(float(np.isin(true, kept).mean()) for kept in found)


def _thinned(lists: NeighborLists, recall: float, length: int) -> NeighborLists:
    """Keep a random part of the first entries of each list."""
    row = row_numbers(lists.indptr)
    first = np.flatnonzero(np.arange(len(row)) - lists.indptr[row] < length)
    found = first[np.random.default_rng(0).random(len(first)) < recall]
    counts, closed = np.bincount(row[found], minlength=lists.n_objects), np.zeros(lists.n_objects, bool)
    return NeighborLists.from_raw(RawLists(counts, lists.indices[found], lists.distances[found], closed), lists.ties)
