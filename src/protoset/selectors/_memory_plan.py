"""What a fit of REPS will hold in memory, from the sizes alone."""

from __future__ import annotations

from protoset._blocks import BLOCK_BYTES
from protoset._memory import MemoryEstimate
from protoset.selectors._refinable_set import LIST_ENTRIES, MATRIX_BYTES
from protoset.selectors.refinement import objects_to_refine_on

INDEX, NUMBER = 4, 8
LISTED = INDEX + 2 * NUMBER
"""Bytes of an entry of a list: index, distance, rank."""

EDGE_BYTES, CANDIDATE_BYTES, MORE_CANDIDATES = 700, 16, 4
"""Bytes that an approximate search holds per object: edges, old and new, and per candidate in two rounds' lists."""

WORK = 4 * BLOCK_BYTES
"""Blocks that are worked on, and what the libraries hold."""

WAYS_OUT = (
    "pass lists_folder=... to keep the neighbour lists on disk, a smaller n_neighbors (30 leave out less than 1e-9 of "
    "the features), float32 instead of float64, a sample of the rows, or a larger max_memory"
)


def estimate_memory(
    n_objects: int,
    n_neighbors: int,
    object_bytes: int,
    *,
    approximate: bool,
    on_disk: bool,
    refined: int | None,
) -> MemoryEstimate:
    """Estimate the memory of each stage beyond the objects themselves.

    Parameters
    ----------
    n_objects, n_neighbors : int
    object_bytes : int
        Memory of one object.
    approximate : bool
        Whether the search is.
    on_disk : bool
        Whether the lists are kept on disk.
    refined : int or None
        How many prototypes are refined.
    """
    entries = n_objects * min(n_neighbors, n_objects - 1)
    lists = 0 if on_disk else entries * LISTED
    if approximate:
        candidates = CANDIDATE_BYTES * (n_neighbors + MORE_CANDIDATES)
        # A copy of the vectors, cell by cell.
        search = n_objects * (object_bytes + EDGE_BYTES + candidates)
        search += 0 if on_disk else entries * (INDEX + NUMBER)
    else:
        # The vectors in double precision; the lists in parts and as a whole.
        search = 2 * n_objects * object_bytes + 2 * entries * (INDEX + NUMBER)
    stages = {
        "search": WORK + max(search, lists),
        # The features, and one copy of them for each of the sums that certify the weights.
        "solve": WORK + lists + 3 * entries * NUMBER + 16 * n_objects * NUMBER,
    }
    if refined is not None:
        m = objects_to_refine_on(n_objects, refined)
        seen = MATRIX_BYTES if m * m * NUMBER <= MATRIX_BYTES else LIST_ENTRIES * 3 * NUMBER
        stages["refine"] = WORK + lists + seen + 3 * m * object_bytes + 24 * m * NUMBER
    return MemoryEstimate(stages, entries * LISTED)
