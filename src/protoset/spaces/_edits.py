"""The fewest edits from one string to another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from protoset.spaces.comparison import Edit


def edits_between(metric: str, query: Any, prototype: Any) -> tuple[Edit, ...] | None:
    """Return the edits that an edit distance counts, in the order of the symbols; None where it counts none."""
    from rapidfuzz.distance import Levenshtein

    if metric == "damerau_levenshtein":
        return _with_exchanges(query, prototype)
    if metric == "string_hamming":
        return tuple(_by_position(query, prototype))
    if metric in ("levenshtein", "normalized_levenshtein"):
        return tuple(Edit(*edit) for edit in Levenshtein.editops(query, prototype).as_list())
    return None


def _by_position(a: Sequence[Any], b: Sequence[Any]) -> Iterator[Edit]:
    """Edits of the Hamming distance: symbols that differ, then the end of the longer string."""
    shorter = min(len(a), len(b))
    yield from (Edit("replace", position, position) for position in range(shorter) if a[position] != b[position])
    yield from (Edit("delete", position, shorter) for position in range(shorter, len(a)))
    yield from (Edit("insert", shorter, position) for position in range(shorter, len(b)))


def _with_exchanges(a: Sequence[Any], b: Sequence[Any]) -> tuple[Edit, ...]:
    """Return the edits of the Damerau-Levenshtein distance, which rapidfuzz does not return.

    ``steps[i][j]`` has the number of edits of the first i and j symbols, and the cell from which the last step came.
    """
    steps = [[(i + j, (0, 0)) for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        steps[i][0] = i, (i - 1, 0)
    for j in range(1, len(b) + 1):
        steps[0][j] = j, (0, j - 1)
    last_row: dict[Any, int] = {}
    for i in range(1, len(a) + 1):
        last_column = 0
        for j in range(1, len(b) + 1):
            differ = int(a[i - 1] != b[j - 1])
            choices = [
                (steps[i - 1][j - 1][0] + differ, (i - 1, j - 1)),
                (steps[i - 1][j][0] + 1, (i - 1, j)),
                (steps[i][j - 1][0] + 1, (i, j - 1)),
            ]
            k, m = last_row.get(b[j - 1], 0), last_column
            if k and m:
                # a[k - 1] and a[i - 1] are exchanged; the symbols between them are deleted, or inserted.
                choices.append((steps[k - 1][m - 1][0] + (i - k) + (j - m) - 1, (k - 1, m - 1)))
            steps[i][j] = min(choices, key=lambda choice: choice[0])
            if not differ:
                last_column = j
        last_row[a[i - 1]] = i
    edits: list[Edit] = []
    i, j = len(a), len(b)
    while i or j:
        _, (k, m) = steps[i][j]
        edits = [*_edits_of_step(a, b, (k, m), (i, j)), *edits]
        i, j = k, m
    return tuple(edits)


def _edits_of_step(a: Sequence[Any], b: Sequence[Any], start: tuple[int, int], end: tuple[int, int]) -> list[Edit]:
    (k, m), (i, j) = start, end
    if m == j:
        return [Edit("delete", k, m)]
    if k == i:
        return [Edit("insert", k, m)]
    if (i - k, j - m) == (1, 1):
        return [Edit("replace", k, m)] if a[k] != b[m] else []
    deleted = [Edit("delete", position, m + 1) for position in range(k + 1, i - 1)]
    inserted = [Edit("insert", i - 1, position) for position in range(m + 1, j - 1)]
    return [Edit("transpose", k, m), *deleted, *inserted]
