"""Labels to check: training objects whose label looks wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from protoset._suspects import Suspects
from protoset._validation import check_probability, is_count
from protoset.report.objects import significant

NEEDED_KEYS = ("row", "given", "suggested")
"""What every entry must have; "probability" and "evidence" may be missing."""


@dataclass(frozen=True)
class Suspect:
    """A training object whose label is to be checked.

    ``probability`` is that of the suggested label, None where it is not known. ``evidence`` are training objects that
    speak for it.
    """

    row: int
    given: str
    suggested: str
    probability: float | None
    evidence: tuple[int, ...]


def check_suspects(suspects: Suspects | Sequence[Mapping[str, Any]] | None, n_objects: int) -> list[Suspect] | None:
    """Check the argument ``suspects`` of :func:`protoset.report.build_report`."""
    if suspects is None:
        return None
    if isinstance(suspects, Suspects):
        suspects = suspects.as_dicts()
    if isinstance(suspects, (str, Mapping)) or not isinstance(suspects, Sequence):
        raise TypeError(
            f"suspects has the type {type(suspects).__name__}; pass what protoset.suspects returns, or dicts in a list"
        )
    return [_check(entry, position, n_objects) for position, entry in enumerate(suspects)]


def _check(entry: Any, position: int, n_objects: int) -> Suspect:
    missing = [key for key in NEEDED_KEYS if not isinstance(entry, Mapping) or key not in entry]
    if missing:
        raise ValueError(f"suspects[{position}] has no {missing[0]!r}; pass a dict with {list(NEEDED_KEYS)}")
    rows = [entry["row"], *entry.get("evidence", ())]
    for row in rows:
        if not is_count(row) or not 0 <= row < n_objects:
            raise ValueError(f"suspects[{position}] names the row {row!r}; pass rows from 0 to {n_objects - 1}")
    probability = entry.get("probability")
    if probability is not None:
        probability = check_probability(f"suspects[{position}]['probability']", probability)
    row, *evidence = map(int, rows)
    return Suspect(row, str(entry["given"]), str(entry["suggested"]), probability, tuple(evidence))


def rows_of(suspects: list[Suspect] | None) -> np.ndarray:
    """Rows of all objects that the list names."""
    return np.array([row for each in suspects or () for row in (each.row, *each.evidence)], int)


def describe_suspects(
    suspects: list[Suspect] | None, ids: list[str], classes: list[str], shown: np.ndarray
) -> list[dict[str, Any]] | None:
    """The list as the page shows it; objects are pairs of their index on the page, -1 for none, and their id."""
    if suspects is None:
        return None
    index_of = {row: index for index, row in enumerate(shown.tolist())}
    code_of = {label: code for code, label in enumerate(classes)}

    def named(row: int) -> list[Any]:
        return [index_of.get(row, -1), ids[row]]

    return [
        {
            "object": named(each.row),
            "given": [code_of.get(each.given, -1), each.given],
            "suggested": [code_of.get(each.suggested, -1), each.suggested],
            "probability": None if each.probability is None else significant(each.probability),
            "evidence": [named(row) for row in each.evidence],
        }
        for each in suspects
    ]
