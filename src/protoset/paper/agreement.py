"""One comparison with the paper, in words made from the numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protoset.paper.analysis import Measured, within

CLOSE = 0.02
"""Mean errors that differ by no more than this agree."""

LEVEL = 0.05
"""Of significance."""

UNDECIDED = "not told apart"


@dataclass(frozen=True)
class Finding:
    """One comparison with the paper.

    Attributes
    ----------
    agrees : bool or None
        None where the paper has nothing to compare with.
    statement : str
    """

    agrees: bool | None
    statement: str


def places_of(measured: Measured, rows: tuple[str, ...]) -> list[int]:
    """Where the data sets of a study are in a printed table."""
    return [rows.index(data) for data in measured.data]


def gap(title: str, here: np.ndarray, there: np.ndarray) -> Finding | None:
    """Compare means over what is known."""
    known = np.isfinite(here)
    if not known.any():
        return None
    a, b = float(here[known].mean()), float(there[known].mean())
    close, n = within(here, there, CLOSE)
    farthest = np.argsort(np.where(known, np.abs(here - there), -1))[::-1]
    return Finding(
        abs(a - b) <= CLOSE,
        f"{title}: mean error {a:.3f} measured, {b:.3f} printed; within {CLOSE} on {close} of {n} data sets, the "
        f"largest difference {here[farthest[0]] - there[farthest[0]]:+.2f}",
    )


def outcome(p_value: float) -> str:
    """What a one-sided test that REPS is better says: that it is ahead, that it is behind, or neither."""
    if p_value < LEVEL:
        return "ahead"
    return "behind" if p_value > 1 - LEVEL else UNDECIDED


def some(*found: Finding | None) -> list[Finding]:
    """Leave out comparisons without data."""
    return [one for one in found if one is not None]
