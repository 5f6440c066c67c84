"""Several methods on one data set: errors, sizes, Pareto ranks, and tests where they can say anything."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from protoset.datasets import Dataset
from protoset.evaluation import PairwiseTests, pairwise_wilcoxon, pareto_ranks
from protoset.experiments.plan import EVERYTHING
from protoset.experiments.results import results
from protoset.experiments.runner import Callback, run
from protoset.models import REFINED, Scaling, find_method, prepare

USUAL = (EVERYTHING, "FCNN", "DROP3", "CCIS", "REPS", REFINED)
"""Methods that are compared if none are named."""

LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class Comparison:
    """Methods on the folds of one data set.

    Attributes
    ----------
    methods : tuple of str
    metric : str
        What objects were compared by.
    errors, selection_rates, seconds : ndarray of shape (n_folds, n_methods)
        NaN where a method failed.
    pareto_ranks : ndarray of shape (n_methods,)
        Of the mean error and selection rate; 1 is the front, NaN a method that failed on some fold.
    tests : PairwiseTests or None
        Signed-rank tests over the folds; None where no pair could differ significantly.
    note : str
        How far the tests can be trusted, or why there are none.
    failures : dict
        Message of each method that failed.
    """

    methods: tuple[str, ...]
    metric: str
    errors: np.ndarray
    selection_rates: np.ndarray
    seconds: np.ndarray
    pareto_ranks: np.ndarray
    tests: PairwiseTests | None
    note: str
    failures: dict[str, str]

    @property
    def standard_errors(self) -> np.ndarray:
        """Of the mean error of each method, from the deviation between folds; NaN with a single one."""
        n_folds = len(self.errors)
        if n_folds == 1:
            return np.full(len(self.methods), np.nan)
        return self.errors.std(axis=0, ddof=1) / np.sqrt(n_folds)


def compare(
    dataset: Dataset,
    methods: Sequence[str] = USUAL,
    *,
    metric: str = "auto",
    metric_params: Mapping[str, Any] | None = None,
    scaling: Scaling | None = None,
    n_prototypes: int | float | str = "auto",
    folds: int | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    callback: Callback | None = None,
    client: Any = None,
) -> Comparison:
    """Run several methods on the same folds and the same dissimilarities.

    Parameters
    ----------
    dataset : Dataset
    methods : sequence of str
        As in ``protoset.models.fit_model``: "REPS" is the paper's method, "refined" the same with a refined set; and
        "NoPS" for 1-NN on everything. Upper and lower case do not matter.
    metric, metric_params, scaling
        As in ``protoset.models.prepare``; but categories are those that the data set has.
    n_prototypes : int, float or "auto"
        For the methods that can be told their size: a count or a rate.
    folds : int, optional
        By default the split that the data come with, or 5 folds where there is none.
    random_state : int
        Deals the objects, and seeds randomised methods.
    n_jobs : int, optional
        Processes.
    callback : callable, optional
        Told how far it is, with a ``Progress``; ends the run by returning True.
    client : distributed.Client, optional
        Computes on its Dask cluster, a task per fold; see :func:`run`.

    Returns
    -------
    Comparison
    """
    if "categorical" in (metric_params or {}):
        raise ValueError(
            "metric_params: categorical is not taken by a comparison, whose categories are those of the data set; "
            "leave it out, and let the file say which columns are categories, or validate the methods one by one"
        )
    prepared = prepare(dataset, metric=metric, metric_params=metric_params, scaling=scaling)
    # The metric's own reader finds the categories; a plan has no place for them.
    distance = {"metric": prepared.metric, **{k: v for k, v in prepared.metric_params.items() if k != "categorical"}}
    if prepared.scaling is not None:
        distance["scaling"] = prepared.scaling
    own_split = folds is None and dataset.n_train is not None
    n_folds = 5 if folds is None else folds
    entries = [_entry(name, n_prototypes) for name in methods]
    document = {
        "name": dataset.name,
        "data": [dataset.name or "data"],
        "methods": entries,
        "folds": "default" if own_split else {"n": n_folds, "seed": random_state},
        "seeds": [random_state],
        "distances": [distance],
    }
    with tempfile.TemporaryDirectory(prefix="protoset-") as folder:
        journal = Path(folder) / "journal"
        own = {dataset.name or "data": dataset}
        run(document, journal, n_jobs=n_jobs, data=own, callback=callback, client=client)
        rows = results(journal)
    labels = tuple(entry.get("label", EVERYTHING) for entry in entries)
    n_folds = 1 if own_split else n_folds
    table = {name: np.full((n_folds, len(labels)), np.nan) for name in ("error", "selection_rate", "cpu_seconds")}
    failures: dict[str, str] = {}
    for row in rows:
        if row.state == "failed":
            failures.setdefault(row.method, f"{row.failure_message}")
        for name, values in table.items():
            value = getattr(row, name)
            values[row.fold, labels.index(row.method)] = np.nan if value is None else value
    errors, rates = table["error"], table["selection_rate"]
    ranks = pareto_ranks(np.column_stack([errors.mean(axis=0), rates.mean(axis=0)]))
    tests, note = _tests(errors, labels)
    return Comparison(labels, prepared.metric, errors, rates, table["cpu_seconds"], ranks, tests, note, failures)


def _entry(name: str, n_prototypes: int | float | str) -> dict[str, Any]:
    """Return what a plan says of a method; its label is its name."""
    if str(name).strip().lower() == EVERYTHING.lower():
        return {"method": EVERYTHING}
    label, selector, refined = find_method(name, [EVERYTHING])
    entry: dict[str, Any] = {"method": selector.__name__, "label": label}
    if refined:
        entry["refine"] = True
    if n_prototypes != "auto" and "n_prototypes" in selector().get_params(deep=False):
        entry["n_prototypes"] = n_prototypes
    return entry


def _tests(errors: np.ndarray, methods: Sequence[str]) -> tuple[PairwiseTests | None, str]:
    """Test all pairs, unless Holm's correction leaves no pair a chance even if all folds agree."""
    n_folds, n_methods = errors.shape
    whole = [position for position in range(n_methods) if not np.isnan(errors[:, position]).any()]
    n_pairs = len(whole) * (len(whole) - 1) // 2
    if n_pairs == 0:
        return None, "fewer than two methods have results on all folds"
    smallest = n_pairs * 2.0 ** (1 - n_folds)
    if smallest > LEVEL:
        needed = n_folds
        while n_pairs * 2.0 ** (1 - needed) > LEVEL:
            needed += 1
        count = "1 split" if n_folds == 1 else f"{n_folds} folds"
        return None, (
            f"no test of significance: with {count} and {n_pairs} pairs none could reach {LEVEL:g}; "
            f"{needed} folds could"
        )
    tests = pairwise_wilcoxon(errors[:, whole], names=[methods[position] for position in whole])
    return tests, (
        "signed-rank tests over the folds of one data set, corrected by Holm: the folds share training objects, so "
        "p-values are too small, and they say nothing about other data"
    )
