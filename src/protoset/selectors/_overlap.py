"""Share of the prototypes that stay the same although an approximate search misses neighbours."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from protoset._arrays import row_numbers
from protoset._blocks import BLOCK_BYTES
from protoset._storage import Storage
from protoset.neighbors import NeighborLists, NeighborSearch, build_lists
from protoset.neighbors.lists import Ties
from protoset.neighbors.search import LISTED_BYTES
from protoset.selectors._distinct import DistinctObjects
from protoset.selectors._weights import ClassWeight
from protoset.selectors.allocation import Allocation, cut, resolve_size
from protoset.spaces import RawLists, TrainingSpace
from protoset.spaces._approximate import APPROXIMATE_FROM

COMPARED_OBJECTS = 10_000
"""Number of objects on which the prototypes of approximate and of exact lists are compared; larger sets are sampled."""

COMPARED_SHARE = 4
"""For kinds of objects whose approximate search begins at fewer objects, at most a quarter of that number is
compared."""


def overlap_bytes(n_objects: int, n_neighbors: int, object_bytes: int) -> int:
    """Memory of the compared objects, their lists and their features."""
    compared = 2 * object_bytes + n_neighbors * (LISTED_BYTES + 3 * 8)
    return BLOCK_BYTES + min(n_objects, COMPARED_OBJECTS) * compared


def prototype_overlap(
    space: TrainingSpace,
    objects: DistinctObjects,
    rate: float,
    allocation: Allocation,
    recall: float,
    rank: Callable[[NeighborLists, DistinctObjects], np.ndarray],
    *,
    class_weight: ClassWeight = None,
    search: NeighborSearch,
    beta: float,
    ties: Ties,
    n_jobs: int | None = None,
) -> float:
    """Estimate the part of the prototypes that does not change where neighbours are missing.

    On a sample of the objects, the prototypes of exact lists are compared with those of two other sets of lists, and
    the smaller overlap counts: lists from which entries are removed at random until the recall is that of the search,
    and the lists of an approximate search in the sample. The approximate search misses neighbours across a border more
    often, but fewer of them in a sample than among all objects.

    ``rank`` maps lists and their objects to a ranking, best first; ``rate`` is the part that is kept.
    """
    codes = objects.codes
    order, n_classes = np.random.default_rng(0).permutation(len(codes)), int(codes.max()) + 1
    n_compared = min(COMPARED_OBJECTS, (space.approximate_from or APPROXIMATE_FROM) // COMPARED_SHARE)
    sample = cut(order, codes, min(len(codes), max(n_compared, n_classes)), "proportional")
    sampled_objects = objects.take(sample)
    long, short = (search.length(beta, kind) for kind in ("exact", "approximate"))
    sampled = space.subset(sample)
    exact = build_lists(sampled, long, ties=ties, search="exact", n_jobs=n_jobs)
    rough = [_thinned(exact, recall, short)]
    # On a cluster the search goes by regions, which a sample does not have.
    if not space.remote and sampled.approximate_search is not None:
        raw = sampled.approximate_search(short, storage=Storage(), n_jobs=n_jobs)
        rough.append(NeighborLists.from_raw(raw, ties))
    size = resolve_size(rate, sampled_objects.class_sizes, allocation)
    masses = sampled_objects.class_masses(class_weight)
    true, *others = (
        cut(rank(lists, sampled_objects), sampled_objects.codes, size, allocation, masses) for lists in (exact, *rough)
    )
    return min(float(np.isin(true, kept).mean()) for kept in others)


def _thinned(lists: NeighborLists, recall: float, length: int) -> NeighborLists:
    """Keep each of the first entries of each list with the probability ``recall``."""
    row = row_numbers(lists.indptr)
    first = np.flatnonzero(np.arange(len(row)) - lists.indptr[row] < length)
    kept = first[np.random.default_rng(0).random(len(first)) < recall]
    counts, closed = np.bincount(row[kept], minlength=lists.n_objects), np.zeros(lists.n_objects, bool)
    return NeighborLists.from_raw(RawLists(counts, lists.indices[kept], lists.distances[kept], closed), lists.ties)
