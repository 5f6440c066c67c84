"""What a fit of REPS will hold in memory, from the sizes alone."""

from __future__ import annotations

from protoset._blocks import BLOCK_BYTES
from protoset._memory import MemoryEstimate
from protoset.selectors._improving import REACH
from protoset.selectors._list_search import APPROXIMATELY_NOTHING, COMPARED_OBJECTS, list_length
from protoset.selectors._refinable_set import APPROXIMATE_LISTS_FROM, plan_candidates
from protoset.selectors.refinement import objects_to_refine_on
from protoset.spaces._approximate import MARGIN
from protoset.spaces._cells import MOST_WIDTH

INDEX, NUMBER = 4, 8
LISTED = INDEX + 2 * NUMBER
"""Bytes of an entry of a list: index, distance, rank."""

FOUND = INDEX + NUMBER
"""Bytes of an entry while it is searched: index, distance."""

PLACED, CANDIDATE, EDGE, REACHED = 2 * NUMBER, 2 * INDEX, INDEX, 2 * INDEX
"""Bytes that an approximate search holds of each object, its row and place; of each candidate; of each edge; and, in a
round, of how far each object's candidates reach and reached."""

REFINED = 256
"""Bytes that a refinement knows of each object: its nearest prototypes and the next, and what they cost."""

WORK = 4 * BLOCK_BYTES
"""Blocks that are worked on, and what the libraries hold."""

WAYS_OUT_ON_CLUSTER = "pass a larger max_memory, or select from parts of the rows and then again from their prototypes"

SUMS_PER_OBJECT = 64
"""Numbers per object that a fit with ``solver="distributed"`` holds here, most of them L-BFGS-B's."""


def estimate_memory(
    n_objects: int,
    n_neighbors: int,
    object_bytes: int,
    *,
    approximate: bool,
    on_disk: bool,
    refined: int | None,
    remote: bool = False,
    automatic: bool = False,
) -> MemoryEstimate:
    """Estimate the memory of each stage beyond the objects themselves.

    Parameters
    ----------
    n_objects, n_neighbors : int
    object_bytes : int
        Memory of one object.
    approximate : bool
        Whether the search is, and here.
    on_disk : bool
        Whether the lists are kept on disk.
    refined : int or None
        How many prototypes are refined.
    remote : bool
        Whether the objects are elsewhere: the lists come here, and the sample that is refined on.
    automatic : bool
        Whether folds of the lists say how many prototypes to keep.
    """
    k = min(n_neighbors, n_objects - 1)
    entries = n_objects * k
    lists = 0 if on_disk else entries * LISTED
    if approximate:
        search = n_objects * _searched_approximately(min(k + MARGIN, n_objects - 1), object_bytes, 0 if on_disk else k)
    else:
        # The vectors in double precision; the lists in parts and as a whole.
        search = 2 * entries * FOUND + (0 if remote else 2 * n_objects * object_bytes)
    # The features, and one copy of them for each of the sums that certify the weights.
    solve = 3 * entries * NUMBER + 16 * n_objects * NUMBER
    stages = {"search": WORK + max(search, lists), "solve": WORK + lists + solve}
    if automatic:
        # Four of five objects at a time, whose lists are in memory wherever those of everyone are.
        stages["size"] = WORK + lists + 4 * (entries * LISTED + solve) // 5
    if refined is not None:
        m = objects_to_refine_on(n_objects, refined)
        length, seen = plan_candidates(m, -(-REACH * m // refined))
        is_searched = length > 0 and m >= APPROXIMATE_LISTS_FROM
        searched = m * _searched_approximately(length + MARGIN, object_bytes, length) if is_searched else 0
        stages["refine"] = WORK + lists + max(seen, searched) + m * (3 * object_bytes + REFINED)
    return MemoryEstimate(stages, entries * LISTED)


def ways_out(n_neighbors: int, beta: float, *, on_disk: bool) -> str:
    """Say what would need less memory, but for what is done already."""
    enough = list_length("auto", beta, "approximate")
    elsewhere = "" if on_disk else "lists_folder=... to keep the neighbour lists on disk, "
    shorter = f"a smaller n_neighbors ({enough} leave out less than {APPROXIMATELY_NOTHING:.0e} of the features), "
    return (
        f"pass {elsewhere}{shorter if n_neighbors > enough else ''}float32 instead of float64, a sample of the rows, "
        "or a larger max_memory"
    )


def _searched_approximately(n_candidates: int, object_bytes: int, n_listed: int) -> int:
    """Bytes of one object at the height of an approximate search: in a round, or when its lists are written."""
    edges = 2 * min(MOST_WIDTH, n_candidates)
    # Edges of a round and of the one before, and which of these are new.
    in_a_round = n_candidates * CANDIDATE + REACHED + edges * (2 * EDGE + 1)
    at_the_end = n_candidates * CANDIDATE + edges * EDGE + n_listed * FOUND
    # A copy of the vectors, cell by cell.
    return object_bytes + PLACED + max(in_a_round, at_the_end)


def estimate_memory_on_cluster(
    n_objects: int, n_neighbors: int, object_bytes: int, *, approximate: bool, refined: int | None
) -> MemoryEstimate:
    """Estimate what is held here of a fit whose lists stay on workers; parameters as for ``estimate_memory``."""
    stages = {"solve": SUMS_PER_OBJECT * NUMBER * n_objects}
    if approximate:
        # Objects whose prototypes are compared with those of exact lists, and their lists and features.
        compared = 2 * object_bytes + n_neighbors * (LISTED + 3 * NUMBER)
        stages["compare"] = BLOCK_BYTES + min(n_objects, COMPARED_OBJECTS) * compared
    if refined is not None:
        here = estimate_memory(n_objects, 0, object_bytes, approximate=False, on_disk=True, refined=refined)
        stages["refine"] = here.stages["refine"]
    return MemoryEstimate(stages, 0)
