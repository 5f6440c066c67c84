"""What the paper does with its results, as functions on tables: choose parameters, rank, test.

A value that is missing (NaN) stays missing in everything that is made of it, and tests leave its data set out.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from protoset.evaluation import SignedRankTest, log_odds_ratio, pareto_ranks, wilcoxon
from protoset.experiments import CellResult, Missing
from protoset.experiments.journal import Journal

REFINED = "refined REPS"
NOT_YET = "not computed yet"


@dataclass(frozen=True, eq=False)
class Measured:
    """Means over the folds.

    Attributes
    ----------
    data, methods : tuple of str
    error_table, rate_table : ndarray of shape (n_data, n_methods)
        NaN where a cell failed or is missing.
    n_train, n_test : ndarray of shape (n_data,)
        Objects of a training part, and test objects of all folds together; 0 where nothing is known.
    missing : tuple of Missing
    """

    data: tuple[str, ...]
    methods: tuple[str, ...]
    error_table: np.ndarray
    rate_table: np.ndarray
    n_train: np.ndarray
    n_test: np.ndarray
    missing: tuple[Missing, ...] = ()

    def errors(self, method: str) -> np.ndarray:
        """Error of a method on each data set; NaN for a method that is not there."""
        return self._column(self.error_table, method)

    def rates(self, method: str) -> np.ndarray:
        """Selection rate of a method on each data set; NaN for a method that is not there."""
        return self._column(self.rate_table, method)

    def _column(self, values: np.ndarray, method: str) -> np.ndarray:
        if method not in self.methods:
            return np.full(len(self.data), np.nan)
        return values[:, self.methods.index(method)]


def gather(journals: Sequence[str | os.PathLike[str]], *, distance: str | None = None) -> Measured:
    """Read means over folds from journals of the same data sets and folds.

    Parameters
    ----------
    journals : sequence of path-like
        The data sets are those of the first; others may have fewer.
    distance : str, optional
        Label of a distance, where there are several.
    """
    data: tuple[str, ...] = ()
    found: dict[tuple[str, str], list[CellResult | None]] = {}
    missing: list[Missing] = []
    for journal in journals:
        with Journal.to_read(journal) as opened:
            cells = [cell for cell in opened.plan.cells if distance in (None, cell.distance)]
            rows = {row.id: row for row in opened.rows(kept=False)}
        data = data or tuple(dict.fromkeys(cell.data for cell in cells))
        for cell in cells:
            row = rows.get(cell.id)
            if row is None or row.state == "failed":
                reason = NOT_YET if row is None else f"{row.failure_type}: {row.failure_message}"
                missing.append(Missing(cell, reason))
                row = None
            found.setdefault((cell.data, cell.method), []).append(row)
    methods = tuple(dict.fromkeys(method for _, method in found))
    tables = [
        np.array([[_mean(found.get((name, method)), value) for method in methods] for name in data])
        for value in ("error", "selection_rate")
    ]
    counts = _counts([row for rows in found.values() for row in rows if row is not None])
    n_train, n_test = (np.array([counts.get(name, (0, 0))[part] for name in data], int) for part in (0, 1))
    return Measured(data, methods, tables[0], tables[1], n_train, n_test, tuple(missing))


def _mean(rows: list[CellResult | None] | None, value: str) -> float:
    """Mean over folds and seeds; NaN where one of them has no result, or the plan does not have them."""
    if not rows or any(row is None for row in rows):
        return float("nan")
    return float(np.mean([getattr(row, value) for row in rows]))


def _counts(rows: Sequence[CellResult]) -> dict[str, tuple[int, int]]:
    """Objects of a training part and of all test parts, by data set."""
    trained: dict[str, int] = {}
    tested: dict[str, dict[int, int]] = {}
    for row in rows:
        if row.n_train is not None and row.n_test is not None:
            trained[row.data] = row.n_train
            tested.setdefault(row.data, {})[row.fold] = row.n_test
    return {name: (n_train, sum(tested[name].values())) for name, n_train in trained.items()}


@dataclass(frozen=True, eq=False)
class Chosen:
    """A method with its parameter chosen on each data set.

    Attributes
    ----------
    labels : tuple of str
        The variant on each data set; empty where it is missing.
    error, rate : ndarray of shape (n_data,)
    """

    labels: tuple[str, ...]
    error: np.ndarray
    rate: np.ndarray


def variants(measured: Measured, family: str) -> list[str]:
    """Return the variants of a method: itself, its grid of parameters, its grid of rates."""
    return [label for label in measured.methods if label == family or _is_variant(label, family)]


def _is_variant(label: str, family: str) -> bool:
    if label.startswith(f"{family}(") and label.endswith(")"):
        return True
    rate = label.removeprefix(f"{family} at ")
    return rate != label and rate.replace(".", "", 1).isdigit()


def best_of(measured: Measured, labels: Sequence[str]) -> Chosen:
    """Choose the variant with the lowest error on the test folds, as the paper did; of equal ones the smallest.

    This is optimistic: the test objects choose the parameter. A data set on which a variant is missing has no choice.
    """
    if not labels:
        nothing = np.full(len(measured.data), np.nan)
        return Chosen(("",) * len(measured.data), nothing, nothing.copy())
    errors = np.column_stack([measured.errors(label) for label in labels])
    rates = np.column_stack([measured.rates(label) for label in labels])
    chosen: list[str] = []
    error, rate = np.full(len(errors), np.nan), np.full(len(errors), np.nan)
    for row in range(len(errors)):
        if not np.isfinite(errors[row]).all():
            chosen.append("")
            continue
        # Means over folds of the same counts differ in their last digits.
        place = np.lexsort((rates[row], np.round(errors[row], 12)))[0]
        chosen.append(labels[place])
        error[row], rate[row] = errors[row, place], rates[row, place]
    return Chosen(tuple(chosen), error, rate)


def fixed(measured: Measured, label: str) -> Chosen:
    """Take the same variant on all data sets, which no test object has a say in."""
    error, rate = measured.errors(label), measured.rates(label)
    return Chosen(tuple(label if np.isfinite(one) else "" for one in error), error, rate)


def at_size_of(measured: Measured, method: str, other: Chosen) -> np.ndarray:
    """Fixed-selection-rate error: that of a method with as many prototypes as another one keeps."""
    found = np.full(len(measured.data), np.nan)
    for row, label in enumerate(other.labels):
        if label:
            found[row] = measured.errors(f"{method} at {label}")[row]
    return found


def rank_methods(chosen: Mapping[str, Chosen]) -> np.ndarray:
    """Pareto ranks of methods by (error, rate), a row per data set; NaN for what is missing."""
    points = [np.column_stack([one.error, one.rate]) for one in chosen.values()]
    return np.array([pareto_ranks([point[row] for point in points]) for row in range(len(points[0]))])


@dataclass(frozen=True)
class Comparison:
    """Two methods over many data sets.

    Attributes
    ----------
    mean, other_mean : float
        Over the data sets that both have.
    wins, losses : int
        Data sets on which the first is lower, and higher.
    n : int
        Data sets that both have.
    test : SignedRankTest or None
        Of whether the first is lower; None without any data set.
    """

    mean: float
    other_mean: float
    wins: int
    losses: int
    n: int
    test: SignedRankTest | None

    @property
    def p_value(self) -> float:
        """Of the test; NaN where there is none."""
        return float("nan") if self.test is None else self.test.p_value


def compare(values: np.ndarray, others: np.ndarray) -> Comparison:
    """Compare two methods by the signed-rank test of whether the first is lower, as the paper does."""
    known = np.isfinite(values) & np.isfinite(others)
    if not known.any():
        return Comparison(float("nan"), float("nan"), 0, 0, 0, None)
    a, b = values[known], others[known]
    test = wilcoxon(a, b, alternative="less")
    different = np.abs(a - b) > 1e-12
    wins, losses = int((different & (a < b)).sum()), int((different & (a > b)).sum())
    return Comparison(float(a.mean()), float(b.mean()), wins, losses, len(a), test)


def log_odds(measured: Measured, label: str) -> np.ndarray:
    """Log odds ratio of a variant on each data set, against 1-NN on everything."""
    everything, error, rate = measured.errors("NoPS"), measured.errors(label), measured.rates(label)
    known = np.isfinite(everything) & np.isfinite(error) & (measured.n_test > 0)
    found = np.full(len(error), np.nan)
    for row in np.flatnonzero(known):
        found[row] = log_odds_ratio(
            rate[row], error[row], everything[row], n_train=int(measured.n_train[row]), n_test=int(measured.n_test[row])
        )
    return found


def mean_of(values: np.ndarray) -> float:
    """Mean of what is known; NaN where nothing is."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def within(values: np.ndarray, others: np.ndarray, tolerance: float) -> tuple[int, int]:
    """How many pairs differ by at most so much, and how many there are."""
    gaps = np.abs(values - others)
    gaps = gaps[np.isfinite(gaps)]
    return int((gaps <= tolerance + 1e-12).sum()), len(gaps)
