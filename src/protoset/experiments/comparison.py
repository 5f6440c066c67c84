"""Compare several methods on one data set: errors, sizes, Pareto ranks, and tests if there are enough folds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from protoset._cluster import resolve_client
from protoset._display import Displayed, Table, percent
from protoset._validation import check_jobs
from protoset.adaptation.checks import check_movable
from protoset.datasets import Dataset
from protoset.evaluation import PairwiseTests, no_better_than, pairwise_wilcoxon, pareto_ranks
from protoset.experiments.engine import Callback, compute_dataset
from protoset.experiments.folds import check_fold_seed, choose_folds
from protoset.experiments.plan import GUESS, REFERENCES, PlannedMethod, repeated
from protoset.models import find_method, prepare
from protoset.models.methods import ADAPTED, REFINED
from protoset.models.preparation import Scaling
from protoset.selectors.base import warn_of_classes

COMPARED_METHODS = (*REFERENCES, "FCNN", "DROP3", "CCIS", "REPS", REFINED)
"""Methods that are compared by default; and ``ADAPTED`` where objects can move."""

SIGNIFICANCE = 0.05
"""Level of the tests."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Displayed):
    """Results of several methods on the folds of one data set.

    Attributes
    ----------
    methods : tuple of str
    metric : str
        Metric of the objects.
    errors, selection_rates, seconds : ndarray of shape (n_folds, n_methods)
        Results of each fold; NaN if a method failed.
    pareto_ranks : ndarray of shape (n_methods,)
        Pareto ranks by mean error and mean selection rate; 1 is the front, NaN a method that failed on a fold.
    tests : PairwiseTests or None
        Signed-rank tests over the folds; None if the folds are too few for a significant difference.
    note : str
        How reliable the tests are, or why there are no tests.
    failures : dict
        Error message of each method that failed.
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
        """Standard error of the mean error of each method, from the deviation between folds; NaN with one fold."""
        n_folds = len(self.errors)
        if n_folds == 1:
            return np.full(len(self.methods), np.nan)
        return self.errors.std(axis=0, ddof=1) / np.sqrt(n_folds)

    @property
    def no_better_than_guessing(self) -> tuple[str, ...]:
        """Methods whose error is not clearly below that of guessing, by ``protoset.evaluation.no_better_than``.

        Empty where guessing was not compared.
        """
        if GUESS not in self.methods:
            return ()
        errors, deviations = self.errors.mean(axis=0), np.nan_to_num(self.standard_errors)
        guess = errors[self.methods.index(GUESS)]
        return tuple(
            name
            for name, error, deviation in zip(self.methods, errors, deviations, strict=True)
            if name != GUESS and no_better_than(error, deviation, guess)
        )

    def _summary(self) -> str:
        n_folds = len(self.errors)
        return f"{len(self.methods)} methods, {n_folds} {'split' if n_folds == 1 else 'folds'}, metric {self.metric}"

    def _table(self) -> Table:
        means = (self.errors.mean(axis=0), self.selection_rates.mean(axis=0), self.seconds.mean(axis=0))
        rows = []
        for name, error, rate, seconds, deviation, rank in zip(
            self.methods, *means, self.standard_errors, self.pareto_ranks, strict=True
        ):
            spread = "" if np.isnan(deviation) else f"\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{deviation:.4f}"
            result = f"{error:.4f}{spread}" if name not in self.failures else f"failed: {self.failures[name]}"
            rows.append([name, result, percent(rate), seconds, rank])
        return Table(["method", "error", "kept", "CPU seconds", "Pareto rank"], rows, len(rows), self.note)


def compare(
    dataset: Dataset,
    methods: Sequence[str] | None = None,
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
        The data set.
    methods : sequence of str, optional
        Names of methods; upper and lower case are the same. By default "guess", "NoPS", "kNN", "FCNN", "DROP3",
        "CCIS", "REPS", "refined", and "adapted" if the objects can move.

        - "REPS" is the paper's method, "refined" is REPS with a refined set, and "adapted" is refined REPS whose
          prototypes then move. The prototypes of "refined" do not move.
        - Other selectors have their own names, such as "FCNN".
        - Three references need no prototypes (see ``protoset.models.reference_errors``): "guess" always predicts the
          most frequent class of the training part, "NoPS" is 1-NN on all training objects, and "kNN" is k-NN on all
          training objects, with k chosen by leave-one-out on the training part.
    metric, metric_params, scaling
        As in ``protoset.models.prepare``.
    n_prototypes : int, float or "auto"
        A count or a rate, for the methods that take one.
    folds : int, optional
        Number of folds of a stratified cross-validation. By default the split that the data come with, or 5 folds.
    random_state : int
        Seed of the folds and of randomised methods. REPS is deterministic, and takes no seed here.
    n_jobs : int, optional
        Processes, each with one thread. Ignored with a client.
    callback : callable, optional
        Called after each cell with a ``RunProgress``. Return True to end the run.
    client : distributed.Client, optional
        Dask client; its cluster computes a task per fold. See :func:`run`.

    Returns
    -------
    Comparison
        Errors, selection rates and times of all methods on all folds.
    """
    n_jobs = check_jobs(n_jobs)
    random_state = check_fold_seed(random_state)
    preparation = prepare(dataset, metric=metric, metric_params=metric_params, scaling=scaling)
    if methods is None:
        can_move = preparation.movable_space(dataset.objects) is not None
        methods = [*COMPARED_METHODS, ADAPTED] if can_move else COMPARED_METHODS
    elif isinstance(methods, str) or not isinstance(methods, Iterable) or getattr(methods, "ndim", 1) == 0:
        raise TypeError(f"methods={methods!r} must be a list of names, such as ['REPS', 'FCNN']")
    methods = list(methods)
    planned = [_planned(name, n_prototypes, random_state) for name in methods]
    labels = tuple(method.label for method in planned)
    if not labels or repeated(list(labels)):
        raise ValueError(f"methods={methods} must name at least one method, and each once")
    if any(method.spec.adapted for method in planned) and preparation.movable_space(dataset.objects) is None:
        check_movable(preparation.space(dataset.objects))
    division = choose_folds(dataset, folds, None, random_state)
    warn_of_classes(np.unique(dataset.labels, return_inverse=True)[1])
    client = resolve_client(client)
    results = compute_dataset(dataset, planned, preparation, division, n_jobs=n_jobs, client=client, callback=callback)
    columns = {
        name: np.full((division.count, len(labels)), np.nan) for name in ("error", "selection_rate", "cpu_seconds")
    }
    failures: dict[str, str] = {}
    for result in results:
        if result.state == "failed":
            failures.setdefault(result.method, f"{result.failure_message}")
            continue
        for name, values in columns.items():
            values[result.fold, labels.index(result.method)] = getattr(result, name)
    errors, rates = columns["error"], columns["selection_rate"]
    ranks = pareto_ranks(np.column_stack([errors.mean(axis=0), rates.mean(axis=0)]))
    tests, note = _tests(errors, labels)
    return Comparison(labels, preparation.metric, errors, rates, columns["cpu_seconds"], ranks, tests, note, failures)


def _planned(name: str, n_prototypes: int | float | str, random_state: int) -> PlannedMethod:
    reference = PlannedMethod.reference(name)
    if reference is not None:
        return reference
    spec = find_method(name, others=REFERENCES)
    if "n_prototypes" in spec.parameter_names:
        spec = find_method(name, n_prototypes=n_prototypes)
    return PlannedMethod(spec.name, spec, seeds=(random_state,) if spec.randomised else None)


def _tests(errors: np.ndarray, methods: Sequence[str]) -> tuple[PairwiseTests | None, str]:
    """Test all pairs, unless with Holm's correction no pair could be significant even if all folds agree.

    Guessing is not tested: more pairs would only make the other tests weaker.
    """
    n_folds = len(errors)
    is_whole = ~np.isnan(errors).any(axis=0)
    whole = [position for position, name in enumerate(methods) if is_whole[position] and name != GUESS]
    n_pairs = len(whole) * (len(whole) - 1) // 2
    if n_pairs == 0:
        return None, "fewer than two methods have results on all folds"
    smallest = n_pairs * 2.0 ** (1 - n_folds)
    if smallest > SIGNIFICANCE:
        needed = n_folds
        while n_pairs * 2.0 ** (1 - needed) > SIGNIFICANCE:
            needed += 1
        count = "1 split" if n_folds == 1 else f"{n_folds} folds"
        return None, (
            f"no test of significance: with {count} and {n_pairs} pairs none could reach {SIGNIFICANCE:g}; "
            f"{needed} folds could"
        )
    tests = pairwise_wilcoxon(errors[:, whole], names=[methods[position] for position in whole])
    return tests, (
        "signed-rank tests over the folds of one data set, corrected by Holm: the folds share training objects, so "
        "p-values are too small, and they say nothing about other data"
    )
