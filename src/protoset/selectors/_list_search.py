"""How a fit of REPS comes by its neighbour lists, and what it makes of them where some neighbours are missing."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from protoset._progress import report, reporter
from protoset._storage import Storage
from protoset.features import negligible_rank
from protoset.neighbors import NeighborLists, Search, Ties, build_lists, choose_search
from protoset.selectors.allocation import Allocation, cut, resolve_size
from protoset.spaces import TrainingSpace

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
            UserWarning,
            stacklevel=2,
        )
    return lists


def prototype_overlap(
    space: TrainingSpace,
    codes: np.ndarray,
    rate: float,
    allocation: Allocation,
    rank: Callable[[TrainingSpace, np.ndarray, Search], np.ndarray],
) -> float:
    """Part of the prototypes that exact and approximate neighbours agree on, on a sample of the objects.

    Parameters
    ----------
    space : TrainingSpace
    codes : ndarray of int
    rate : float
        Part of the objects that is kept.
    allocation : {"proportional", "equal", "global"}
    rank : callable
        Maps the space and the codes of the sample, and a search, to a ranking, best first.
    """
    order, n_classes = np.random.default_rng(0).permutation(len(codes)), int(codes.max()) + 1
    sample = cut(order, codes, min(len(codes), max(COMPARED_OBJECTS, n_classes)), "proportional")
    part, part_codes = space.subset(sample), codes[sample]
    size = resolve_size(rate, np.bincount(part_codes), allocation)
    exact, approximate = (
        cut(rank(part, part_codes, search), part_codes, size, allocation) for search in ("exact", "approximate")
    )
    return float(np.isin(exact, approximate).mean())
