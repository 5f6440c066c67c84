"""The neighbour search under the Levenshtein distance against all pairs from rapidfuzz: 20,050 surnames, K = 53.

    python -m benchmarks.strings [FOLDER]        FOLDER holds strings/names/*.txt; random names where it does not

rapidfuzz is timed in two ways: in row blocks of uint8, where it compares several strings in one instruction, and on
the list with itself, where it computes each pair once but singly. The faster time counts.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from benchmarks.measure import cpu_seconds, peak_gigabytes, verdict
from protoset.neighbors.search import ENTRY_BYTES, TIED_LISTS_BYTES
from protoset.spaces import RawLists, make_space

REPEATS = 3
NEIGHBORS = 53
BLOCK = 1000
N_RANDOM = 20_000


def read_names(folder: Path) -> list[str]:
    """Read the surnames, one per line in a file per language."""
    return [
        name for path in sorted(folder.glob("strings/names/*.txt")) for name in path.read_text("utf-8").splitlines()
    ]


def random_names(n: int) -> list[str]:
    """Names of two to four syllables."""
    rng = np.random.default_rng(0)
    syllables = [a + b + c for a in "bdfgklmnprstvz" for b in "aeiou" for c in ("", "l", "n", "r", "s")]
    return ["".join(rng.choice(syllables, rng.integers(2, 5))).capitalize() for _ in range(n)]


def all_pairs(names: list[str]) -> None:
    """Compute every distance in row blocks, and keep none."""
    for start in range(0, len(names), BLOCK):
        cdist(names[start : start + BLOCK], names, scorer=Levenshtein.distance, dtype=np.uint8, workers=1)


def same(a: RawLists, b: RawLists) -> bool:
    """Whether two searches have the same result."""
    fields = ("counts", "indices", "distances", "closed")
    return all(np.array_equal(getattr(a, field), getattr(b, field)) for field in fields)


def main(folder: Path) -> None:
    """Print the ratio of CPU times, the peak of memory and whether the neighbours are the same."""
    surnames = read_names(folder)
    source = "surnames" if surnames else f"random names ({folder} has no strings/names)"
    names = surnames or random_names(N_RANDOM)
    limit = TIED_LISTS_BYTES // (ENTRY_BYTES * len(names))
    make_space(names[:100], "levenshtein").kneighbors(5, limit=10)  # compiles, or loads what is compiled
    space = make_space(names, "levenshtein")
    print(f"{len(names):,} {source}, {len(set(names)):,} of them different, K = {NEIGHBORS}, limit {limit}")
    times: dict[str, list[float]] = {"search": [], "blocks": []}
    for _ in range(REPEATS):
        seconds, found = cpu_seconds(lambda: space.kneighbors(NEIGHBORS, limit=limit))
        times["search"].append(seconds)
        if len(times["search"]) == 1:
            peak = peak_gigabytes()
        times["blocks"].append(cpu_seconds(lambda: all_pairs(names))[0])
    search, blocks = min(times["search"]), min(times["blocks"])
    itself, _ = cpu_seconds(lambda: cdist(names, names, scorer=Levenshtein.distance, dtype=np.uint8, workers=1))
    print(f"rapidfuzz, all pairs in row blocks             {blocks:6.2f} s   CPU, best of {REPEATS}, taken in turns")
    print(f"rapidfuzz, the list with itself                {itself:6.2f} s")
    ratio = search / min(blocks, itself)
    shown = verdict(ratio, 0.5, at_most=True) if surnames else f"{ratio:.2f} (the target is for the surnames)"
    print(f"protoset, neighbour search                     {search:6.2f} s   ratio {shown}")
    counters = found.counters
    print(
        f"of {counters.pairs:,} ordered pairs {counters.bounded / counters.pairs:.1%} passed over, "
        f"{counters.computed / counters.pairs:.1%} computed"
    )
    print(f"peak memory of the search, imports included    {verdict(peak, 0.5, at_most=True)} GB")
    expected = space.kneighbors_by_block(np.arange(len(names)), NEIGHBORS, limit=limit)
    print(f"same neighbours as from all distances: {'yes' if same(found, expected) else 'NO'}")


if __name__ == "__main__":
    default = Path(__file__).parents[2] / "shared" / "data"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
