"""One comparison with the paper, as a sentence made from the numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protoset.paper.analysis import Measured, count_within
from protoset.paper.printed import Printed

CLOSE_ERRORS = 0.02
"""Mean errors agree if they differ by at most this much."""

SIGNIFICANCE_LEVEL = 0.05
"""Level of the one-sided tests."""

NO_DIFFERENCE = "no significant difference"
"""Conclusion of a test that finds REPS neither ahead nor behind."""


@dataclass(frozen=True)
class Finding:
    """One comparison with the paper; ``agrees`` is None if the paper has nothing to compare with."""

    agrees: bool | None
    statement: str


def row_numbers(measured: Measured, printed: Printed) -> list[int]:
    """Row of each measured data set in a printed table."""
    return [printed.rows.index(data) for data in measured.data]


def compare_errors(title: str, measured: np.ndarray, printed: np.ndarray) -> list[Finding]:
    """Compare mean errors over the data sets with results; no finding without any."""
    known = np.isfinite(measured)
    if not known.any():
        return []
    mean, printed_mean = float(measured[known].mean()), float(printed[known].mean())
    n_close, n_known = count_within(measured, printed, CLOSE_ERRORS)
    differences = measured - printed
    largest = differences[np.argsort(np.where(known, np.abs(differences), -1))[-1]]
    statement = (
        f"{title}: mean error {mean:.3f} measured, {printed_mean:.3f} printed; within {CLOSE_ERRORS} on {n_close} of "
        f"{n_known} data sets, the largest difference {largest:+.2f}"
    )
    return [Finding(abs(mean - printed_mean) <= CLOSE_ERRORS, statement)]


def conclusion(p_value: float) -> str:
    """Conclusion of a one-sided test that REPS is better: "ahead", "behind", or no significant difference."""
    if p_value < SIGNIFICANCE_LEVEL:
        return "ahead"
    return "behind" if p_value > 1 - SIGNIFICANCE_LEVEL else NO_DIFFERENCE
