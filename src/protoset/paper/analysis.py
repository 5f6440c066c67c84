"""The paper's analysis as functions on tables: choose parameters, rank methods, test differences.

A missing value (NaN) makes every value missing that is computed from it. Tests leave out its data set.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from protoset.evaluation import SignedRankTest, log_odds_ratio, pareto_ranks, wilcoxon
from protoset.experiments import CellResult, Missing
from protoset.experiments.journal import Journal
from protoset.paper.printed import BASELINES

REFINED_REPS = "refined REPS"
"""Label of refined REPS in the plans."""

NOT_COMPUTED = "not computed yet"
"""Reason of a cell that has not been run."""


@dataclass(frozen=True, eq=False)
class Measured:
    """Mean errors and selection rates over the folds of a study, a row per data set; NaN where a cell has no result.

    ``n_train`` counts the training objects of one fold, ``n_test`` the test objects of all folds; 0 without results.
    """

    data: tuple[str, ...]
    methods: tuple[str, ...]
    error_table: np.ndarray
    rate_table: np.ndarray
    n_train: np.ndarray
    n_test: np.ndarray
    missing: tuple[Missing, ...] = ()

    def errors(self, method: str) -> np.ndarray:
        """Error of a method on each data set; NaN for an unknown method."""
        return self._column(self.error_table, method)

    def rates(self, method: str) -> np.ndarray:
        """Selection rate of a method on each data set; NaN for an unknown method."""
        return self._column(self.rate_table, method)

    def _column(self, values: np.ndarray, method: str) -> np.ndarray:
        if method not in self.methods:
            return np.full(len(self.data), np.nan)
        return values[:, self.methods.index(method)]


def gather(journals: Sequence[str | os.PathLike[str]], *, distance: str | None = None) -> Measured:
    """Compute means over folds from journals with the same folds; the data sets are those of the first journal.

    ``distance`` is the label of the distance, if the plan has several.
    """
    data: tuple[str, ...] = ()
    results: dict[tuple[str, str], list[CellResult | None]] = {}
    missing: list[Missing] = []
    for journal in journals:
        with Journal.to_read(journal) as opened:
            cells = [cell for cell in opened.plan.cells if distance in (None, cell.distance)]
            rows = {row.id: row for row in opened.rows(kept=False)}
        data = data or tuple(dict.fromkeys(cell.data for cell in cells))
        for cell in cells:
            row = rows.get(cell.id)
            if row is None or row.state == "failed":
                reason = NOT_COMPUTED if row is None else f"{row.failure_type}: {row.failure_message}"
                missing.append(Missing(cell, reason))
                row = None
            results.setdefault((cell.data, cell.method), []).append(row)
    methods = tuple(dict.fromkeys(method for _, method in results))
    tables = [
        np.array([[_mean(results.get((name, method)), value) for method in methods] for name in data])
        for value in ("error", "selection_rate")
    ]
    counts = _counts([row for rows in results.values() for row in rows if row is not None])
    n_train, n_test = (np.array([counts.get(name, (0, 0))[i] for name in data], int) for i in (0, 1))
    return Measured(data, methods, tables[0], tables[1], n_train, n_test, tuple(missing))


def _mean(rows: list[CellResult | None] | None, value: str) -> float:
    """Mean over folds and seeds; NaN if a result is missing, or if the plan has no such cells."""
    if not rows or any(row is None for row in rows):
        return float("nan")
    return float(np.mean([getattr(row, value) for row in rows]))


def _counts(rows: Sequence[CellResult]) -> dict[str, tuple[int, int]]:
    """Training objects of one fold and test objects of all folds, by data set."""
    n_train: dict[str, int] = {}
    n_test: dict[str, dict[int, int]] = {}
    for row in rows:
        if row.n_train is not None and row.n_test is not None:
            n_train[row.data] = row.n_train
            n_test.setdefault(row.data, {})[row.fold] = row.n_test
    return {name: (count, sum(n_test[name].values())) for name, count in n_train.items()}


@dataclass(frozen=True, eq=False)
class Choice:
    """A method with the variant that is chosen on each data set; the label is empty if there are no results."""

    labels: tuple[str, ...]
    error: np.ndarray
    rate: np.ndarray


def variants(measured: Measured, family: str) -> list[str]:
    """Labels of a method's variants: the method itself, its parameter grid, its grid of rates."""
    return [label for label in measured.methods if label == family or _is_variant(label, family)]


def _is_variant(label: str, family: str) -> bool:
    if label.startswith(f"{family}(") and label.endswith(")"):
        return True
    rate = label.removeprefix(f"{family} at ")
    return rate != label and rate.replace(".", "", 1).isdigit()


def best_of(measured: Measured, labels: Sequence[str]) -> Choice:
    """Choose the variant with the lowest error on the test folds, as the paper did; ties go to the smallest rate.

    This is optimistic: the test objects choose the parameter. A data set without results of all variants gets no
    choice.
    """
    chosen = [""] * len(measured.data)
    error, rate = np.full(len(chosen), np.nan), np.full(len(chosen), np.nan)
    for row in range(len(chosen)):
        errors, rates = ([column(label)[row] for label in labels] for column in (measured.errors, measured.rates))
        if labels and np.isfinite(errors).all():
            # Equal means over folds may differ in their last digits.
            best = np.lexsort((rates, np.round(errors, 12)))[0]
            chosen[row], error[row], rate[row] = labels[best], errors[best], rates[best]
    return Choice(tuple(chosen), error, rate)


def fixed(measured: Measured, label: str) -> Choice:
    """Take the same variant on all data sets; no test object takes part in the choice."""
    error, rate = measured.errors(label), measured.rates(label)
    return Choice(tuple(label if np.isfinite(value) else "" for value in error), error, rate)


def at_size_of(measured: Measured, method: str, other: Choice) -> np.ndarray:
    """Fixed-selection-rate error: the error of a method with as many prototypes as another method keeps."""
    errors = np.full(len(measured.data), np.nan)
    for row, label in enumerate(other.labels):
        if label:
            errors[row] = measured.errors(f"{method} at {label}")[row]
    return errors


def rank_methods(choices: Mapping[str, Choice]) -> np.ndarray:
    """Pareto ranks of methods by (error, rate), a row per data set; NaN for missing values."""
    points = [np.column_stack([choice.error, choice.rate]) for choice in choices.values()]
    return np.array([pareto_ranks([point[row] for point in points]) for row in range(len(points[0]))])


@dataclass(frozen=True)
class Comparison:
    """Two methods compared over the ``n`` data sets with results of both.

    The first method wins where it is lower. The one-sided test, that it is lower, is None without data sets.
    """

    mean: float
    other_mean: float
    wins: int
    losses: int
    n: int
    test: SignedRankTest | None

    @property
    def p_value(self) -> float:
        """p-value of the test; NaN without a test."""
        return float("nan") if self.test is None else self.test.p_value


def compare(values: np.ndarray, others: np.ndarray) -> Comparison:
    """Compare two methods by the one-sided signed-rank test that the first is lower, as the paper does."""
    known = np.isfinite(values) & np.isfinite(others)
    if not known.any():
        return Comparison(float("nan"), float("nan"), 0, 0, 0, None)
    a, b = values[known], others[known]
    test = wilcoxon(a, b, alternative="less")
    different = np.abs(a - b) > 1e-12
    wins, losses = int((different & (a < b)).sum()), int((different & (a > b)).sum())
    return Comparison(float(a.mean()), float(b.mean()), wins, losses, len(a), test)


def compare_ranks(choices: Mapping[str, Choice], method: str = "REPS") -> dict[str, Comparison]:
    """Compare the Pareto ranks of a method with those of each baseline; ranks are among these six methods."""
    ranks = rank_methods({name: choices[name] for name in (*BASELINES, method)})
    return {name: compare(ranks[:, -1], ranks[:, column]) for column, name in enumerate(BASELINES)}


def compare_sizes(choices: Mapping[str, Choice], measured: Measured, method: str = "REPS") -> dict[str, Comparison]:
    """Compare the errors of a method at the size of each baseline with the errors of the baseline."""
    return {name: compare(at_size_of(measured, method, choices[name]), choices[name].error) for name in BASELINES}


def log_odds(measured: Measured, label: str) -> np.ndarray:
    """Log odds ratio of a variant on each data set, against 1-NN on the whole training set."""
    one_nn, error, rate = measured.errors("NoPS"), measured.errors(label), measured.rates(label)
    known = np.isfinite(one_nn) & np.isfinite(error) & (measured.n_test > 0)
    ratios = np.full(len(error), np.nan)
    for row in np.flatnonzero(known):
        ratios[row] = log_odds_ratio(
            rate[row], error[row], one_nn[row], n_train=int(measured.n_train[row]), n_test=int(measured.n_test[row])
        )
    return ratios


def mean_of(values: np.ndarray) -> float:
    """Mean of the finite values; NaN without any."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def count_within(values: np.ndarray, others: np.ndarray, tolerance: float) -> tuple[int, int]:
    """Number of pairs that differ by at most ``tolerance``, and number of finite pairs."""
    gaps = np.abs(values - others)
    gaps = gaps[np.isfinite(gaps)]
    return int((gaps <= tolerance + 1e-12).sum()), len(gaps)
