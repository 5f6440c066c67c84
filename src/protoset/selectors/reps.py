"""REPS: prototype selection based on rank-exponential features.

    neighbour lists -> ranking of all objects -> size -> prototypes
    (``neighbors``)    (``ranking``)            (``size``) (``allocation``)

The mathematics is in the function ``rank_prototypes`` of ``protoset.selectors.ranking``. The class in this file is the
estimator: it finds the neighbour lists, calls the function, and cuts the ranking to the size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from protoset._cluster import is_dask, resolve_client
from protoset._memory import MemoryEstimate
from protoset._progress import report, reporter
from protoset._validation import check_choice, check_real
from protoset.neighbors import NeighborLists, NeighborSearch, as_lists, build_lists
from protoset.neighbors.lists import TIES, Ties
from protoset.neighbors.on_workers import WorkerLists, build_lists_on_workers
from protoset.selectors._distinct import DistinctObjects, TrainingSet
from protoset.selectors._overlap import overlap_bytes, prototype_overlap
from protoset.selectors._scoring import Scoring, check_scoring
from protoset.selectors._weights import ClassWeight, check_class_weight, refuse_unknown_labels
from protoset.selectors.allocation import ALLOCATIONS, Allocation, check_size, cut, meant_size, resolve_size
from protoset.selectors.base import BaseSelector, refuse_old_names
from protoset.selectors.ranking import (
    READINGS,
    RankedPrototypes,
    Reading,
    rank_prototypes,
    solving_bytes,
    solving_bytes_on_workers,
)
from protoset.selectors.size import SIZE_RULES, SizeCurve, SizeRule, size_curve, sizing_bytes
from protoset.solvers import LOSSES, SOLVERS, Loss
from protoset.spaces import TrainingSpace
from protoset.spaces.distributed_vectors import is_distributable

LARGEST_BETA = 1e6
"""Largest value of ``beta``, the base of the features."""

SMALLEST_C = 1e-100
"""Smallest value of ``C``, the cost of violated constraints."""

LARGEST_C = 1e100
"""Largest value of ``C``, the cost of violated constraints."""

MeasureSizes = Callable[[], SizeCurve]
"""Function that measures the error at each size."""

NoteLists = Callable[[NeighborLists | WorkerLists, DistinctObjects], None]
"""Function that is called with the neighbour lists of a fit, and their objects."""


class REPS(BaseSelector):
    """Prototype selection based on rank-exponential features (REPS).

    REPS learns a weight for each training object from the ranks of the nearest neighbours of all objects. It keeps the
    objects with the best combination of weight and rank. It needs only a dissimilarity between objects.

    Parameters
    ----------
    n_prototypes : int, float or "auto", default="auto"
        Number of objects to keep. An int is a count, at least the number of classes. A float in (0, 1] is a rate of
        the distinct objects; it keeps at least one object per class. ``"auto"`` measures the error of several rates by
        cross-validation, with the rule "nearest", and chooses one of them by ``size_rule``.
    metric : str or callable, default="auto"
        Dissimilarity between objects: a name in ``protoset.spaces.DISSIMILARITIES``, or a function of two objects.
        ``"auto"`` chooses by the objects: "euclidean" for rows of numbers, "gower" for a DataFrame with columns that
        are not numeric, "levenshtein" for strings, "dtw" for series of several lengths or channels; ``metric_`` has
        the choice. With ``"precomputed"``, ``X`` is a square matrix, a condensed vector as from
        ``scipy.spatial.distance.pdist``, or a sparse graph of the distances to the nearest neighbours.
    metric_params : dict, optional
        Arguments of the metric. A function gets all of them except ``"symmetric"`` and ``"memory"``; see Notes.
    beta : float, default=2.0
        Base of the rank-exponential features, above 1 and at most 1e6. A larger base gives more importance to the
        nearest neighbours.
    C : float, default=1e-3
        Cost of violated constraints, between 1e-100 and 1e100.
    loss : {"mean", "sum"}, default="mean"
        Objective of the weights w. ``"mean"`` minimises 1/2 w.w + C/n * sum of violations, ``"sum"`` minimises
        w.w + C * sum of violations.
    ties : {"min", "average", "ordinal"}, default="min"
        Ranks of neighbours at equal distances: the smallest rank for all, the mean rank for all, or different ranks in
        row order.
    reading : {"consistent", "literal"}, default="consistent"
        Version of the paper's formula for the score. ``"consistent"`` keeps the objects with the smallest
        degradation + best rank. ``"literal"`` keeps the largest log w + best rank, as printed in the paper.
    allocation : {"proportional", "equal", "global"}, default="proportional"
        How the prototypes are divided among the classes: by class size, equally, or by score alone. Only ``"global"``
        may leave a class without a prototype.
    size_rule : {"one_standard_error", "lowest_error"}, default="one_standard_error"
        Size that ``n_prototypes="auto"`` chooses: the smallest size whose error is within one standard error of the
        lowest error, or the size with the lowest error.
    scoring : {"accuracy", "balanced_accuracy"} or callable, default="accuracy"
        Score that ``n_prototypes="auto"`` measures at each size. A function is called as ``scoring(y_true, y_pred)``,
        with ``sample_weight=`` if it has that argument. It must return a number that is larger for better predictions.
    class_weight : dict, "balanced" or None, default=None
        Cost of an error on an object of each class: a dict from labels to numbers above 0; labels that are not in the
        dict cost 1. ``"balanced"`` gives all classes the same total cost, as in scikit-learn. A proportional
        allocation divides the prototypes by class size times cost.
    search : {"auto", "exact", "approximate"} or NeighborSearch, default="auto"
        Search for the neighbours; see :class:`NeighborSearch`, which also sets the length of the neighbour lists, a
        limit of memory, and a folder for the lists.
    solver : {"auto", "closed_form", "coordinate", "lbfgs", "cutting_plane", "distributed"}, default="auto"
        Solver for the weights. ``"auto"`` uses the closed form if it is exact, else coordinate descent.
        ``"distributed"`` needs a Dask client: the neighbour lists stay on the workers, and every pass of the solver
        is a reduction over the workers.
    tol : float, default=1e-6
        Relative duality gap at which the solver stops.
    n_jobs : int, optional
        Number of workers of the neighbour search. It does not change any result.
    random_state : int or RandomState, optional
        Shuffles the folds of ``n_prototypes="auto"``. With None the folds depend on the contents of the objects alone:
        a fit has no randomness and does not depend on the row order.
    verbose : int, default=0
        Above 0, print the stages of the fit to stderr. The logger ``protoset`` always gets them, at level INFO.

    Attributes
    ----------
    weights_ : ndarray of shape (n_objects,)
        Weight w >= 0 of each object; 0 if the solver cannot prove that the weight is positive.
    degradations_ : ndarray of shape (n_objects,)
        -log_beta(w / max w): 0 for the object with the largest weight, infinite for weight 0.
    scores_ : ndarray of shape (n_objects,)
        Score of each object; the objects with the smallest scores are kept. Scores that are equal to six decimals are
        ordered by support, the sum of an object's features over all objects.
    ranking_ : ndarray of shape (n_objects,)
        All objects, best first. The prototypes of any size are a cut of the ranking; see :meth:`select`. Copies of an
        object come after its first copy, and objects without weight come last.
    duality_gap_ : float
        Relative gap between the objective and its lower bound.
    weight_error_ : float
        Bound on the relative distance of the weights from the optimal weights, in the 2-norm.
    truncation_bound_ : float
        Bound on the change of the optimal objective that is due to neighbours missing from the lists.
    neighbor_search_ : str
        Search that was used: "exact", "approximate", or "given" if ``fit`` got the lists.
    neighbor_recall_ : float
        Share of the true neighbours that are in the lists, measured on 500 rows. 1 for an exact search, NaN if the
        lists were given and their recall is unknown. A recall below 0.95 gives a warning, below 0.5 an error.
    prototype_overlap_ : float
        Share of the prototypes that exact lists would also select, estimated on 10,000 objects. 1 for an exact search,
        NaN if the lists were given.
    memory_estimate_ : MemoryEstimate
        Estimated memory of the fit in addition to ``X``.
    search_counters_ : SearchCounters or None
        Number of pairs of objects that the search excluded by a bound, abandoned and computed; None if the search does
        not count them.
    size_curve_ : SizeCurve or None
        Error at each size, with ``n_prototypes="auto"``.
    n_iter_ : int
        Iterations of the solver; 0 for the closed form.
    solver_ : str
        Name of the solver that was used.
    sample_indices_, sample_counts_, classes_, class_counts_, fallback_classes_, metric_, n_distances_, n_features_in_
        See :class:`BaseSelector`; ``fallback_classes_`` is always empty.

    Notes
    -----
    **Identical objects.** Identical objects of one class are one object with a count. The result is the same as with
    all copies, but at most the first copy is kept. In a rate, they count once. Copies are at distance 0 from each
    other, also under metrics for which missing values differ from each other.

    **Order of the rows.** Objects with equal scores and supports are ordered by their contents if the metric knows the
    contents, else by row. Apart from that, only ``ties="ordinal"`` makes the result depend on the row order.

    **A function as metric** is called as ``metric(object, prototype)`` on the items of a list or the rows of an array.
    It must return a finite number of at least 0. It is never called on a training object and itself. With ``n_jobs``
    it is called in processes if it and the objects can be pickled, else in threads. Two entries of ``metric_params``
    are not passed to the function:

    - ``"symmetric": True`` declares that d(a, b) = d(b, a). Each pair of training objects is then computed once.
    - ``"memory": folder`` keeps the results in files. Results are identified by the content of the objects and by the
      code, defaults and closure of the function. Delete the files if other code or data that the function uses has
      changed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset import REPS
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = REPS(n_prototypes=0.1).fit(X, y)
    >>> len(selector.sample_indices_)
    15
    >>> len(selector.select(6))
    6
    """

    weights_: np.ndarray
    degradations_: np.ndarray
    scores_: np.ndarray
    ranking_: np.ndarray

    _takes_graphs = True
    _takes_lists = True
    _takes_weights = True

    @refuse_old_names(
        score="reading='consistent' or reading='literal'",
        refine="Refined(REPS(...))",
        max_time="Refined(REPS(...), max_time=...)",
        callback="Refined(REPS(...), callback=...)",
        neighbors="search=",
        n_neighbors="search=NeighborSearch(n_neighbors=...)",
        max_memory="search=NeighborSearch(max_memory=...)",
        lists_folder="search=NeighborSearch(folder=...)",
    )
    def __init__(
        self,
        n_prototypes: int | float | str = "auto",
        *,
        metric: str | Callable[..., float] = "auto",
        metric_params: dict[str, Any] | None = None,
        beta: float = 2.0,
        C: float = 1e-3,
        loss: Loss = "mean",
        ties: Ties = "min",
        reading: Reading = "consistent",
        allocation: Allocation = "proportional",
        size_rule: SizeRule = "one_standard_error",
        scoring: Scoring = "accuracy",
        class_weight: ClassWeight = None,
        search: str | NeighborSearch = "auto",
        solver: str = "auto",
        tol: float = 1e-6,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ):
        super().__init__(metric=metric, metric_params=metric_params, n_jobs=n_jobs, verbose=verbose)
        self.n_prototypes = n_prototypes
        self.beta = beta
        self.C = C
        self.loss = loss
        self.ties = ties
        self.reading = reading
        self.allocation = allocation
        self.size_rule = size_rule
        self.scoring = scoring
        self.class_weight = class_weight
        self.search = search
        self.solver = solver
        self.tol = tol
        self.random_state = random_state

    @refuse_old_names(neighbors="lists=")
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, lists: Any = None, client: Any = None) -> Self:
        """Select prototypes.

        Parameters
        ----------
        X : array-like, sparse matrix or TrainingSpace
            The training objects, of the kind that ``metric`` compares, or their space.
        y : array-like of shape (n_objects,)
            Labels of the training objects, of at least two classes. A class may have a single object.
        sample_weight : array-like of shape (n_objects,), optional
            Weight of each object, as a count: a weight of 2 is the object twice, and an object of weight 0 is not
            used. Weights may be fractions; keep their mean near 1.
        lists : (indices, distances), sparse graph or NeighborLists, optional
            Known neighbour lists of the training objects, used in place of a search. Lists of the distinct objects
            are accepted too, as a fit with ``NeighborSearch(folder=...)`` writes them.
        client : distributed.Client, optional
            Dask client whose workers search the neighbours. By default the client of
            ``joblib.parallel_config("dask")``; for a Dask array or DataFrame, the current client.

        Returns
        -------
        self
            The fitted selector.

        Notes
        -----
        Weights do not change the ranges and variances that a metric learns from the objects.

        An exact search on a Dask cluster gives the same prototypes as one process, with two differences: objects with
        equal scores and supports are kept in row order, and identical objects are not merged into one object with a
        count. The page "Many objects" of the documentation lists the work that runs on the cluster.
        """
        self._fit(X, y, sample_weight=sample_weight, lists=lists, client=client)
        return self

    def select(self, n_prototypes: int | float | None = None, *, allocation: Allocation | None = None) -> np.ndarray:
        """Return the prototypes for another size, from the same fit.

        Parameters
        ----------
        n_prototypes : int or float, optional
            A count, or a rate in (0, 1]. By default the number of prototypes that the fit kept.
        allocation : {"proportional", "equal", "global"}, optional
            By default the ``allocation`` of the estimator.

        Returns
        -------
        ndarray of int
            Positions of the prototypes in the training set, ascending.
        """
        check_is_fitted(self, "ranking_")
        allocation = check_choice("allocation", self.allocation if allocation is None else allocation, ALLOCATIONS)
        n_prototypes = len(self.sample_indices_) if n_prototypes is None else n_prototypes
        if isinstance(n_prototypes, str):
            raise ValueError(
                f"n_prototypes={n_prototypes!r} must be a count (int) or a rate in (0, 1] (float)"
                f"{meant_size(n_prototypes)}; for the size that cross-validation chose, fit with n_prototypes='auto' "
                "and call select()"
            )
        return np.sort(self._rows[self._cut(check_size(n_prototypes), allocation)])

    def _select(  # type: ignore[override]
        self,
        space: TrainingSpace,
        codes: np.ndarray,
        *,
        objects: DistinctObjects,
        lists: Any = None,
        measure_sizes: MeasureSizes | None = None,
        note_lists: NoteLists | None = None,
    ) -> np.ndarray:
        """Rank all objects and cut the ranking.

        ``measure_sizes`` replaces the own size curve where the size is automatic. ``note_lists`` is called with lists
        that were searched.
        """
        automatic = self.n_prototypes == "auto"
        self._check_fit(space, objects, lists)
        estimate = self._estimate_memory(space, given=lists is not None, sized=automatic and measure_sizes is None)
        self._check_memory(space, estimate)
        neighbor_lists = self._find_lists(space, lists)
        if note_lists is not None and lists is None:
            note_lists(neighbor_lists, objects)
        report(self.verbose, "solving for the weights of %d objects", space.shape[0])
        self._store(self._rank(neighbor_lists, objects), objects)
        self.size_curve_ = None
        n_prototypes: Any = self.n_prototypes
        if automatic:
            report(self.verbose, "measuring the error at each size by cross-validation")
            curve = self._size_curve(space, neighbor_lists, objects) if measure_sizes is None else measure_sizes()
            self.size_curve_, n_prototypes = curve, int(curve.sizes[curve.chosen])
        self.prototype_overlap_ = self._overlap(space, objects, n_prototypes)
        return self._cut(n_prototypes, self.allocation)

    def _spread(self, training: TrainingSet) -> None:
        super()._spread(training)
        self._rows = training.rows
        self.weights_ = training.spread(self.weights_, 0.0)
        self.degradations_ = training.spread(self.degradations_, np.inf)
        self.scores_ = training.spread(self.scores_, np.inf)
        self.ranking_ = training.spread_ranking(self.ranking_)

    def _find_lists(self, space: TrainingSpace, given: Any) -> NeighborLists | WorkerLists:
        """Find the neighbour lists, or take the given lists; set ``neighbor_search_`` and ``neighbor_recall_``."""
        search = NeighborSearch.of(self.search)
        lists: NeighborLists | WorkerLists
        if self.solver == "distributed":
            kind = search.resolve(space)
            lists = build_lists_on_workers(space, search.length(self.beta, kind), search=kind, ties=self.ties)
        elif given is not None:
            lists = as_lists(given, space.shape[0], self.ties)
        else:
            lists = search.find(space, self.beta, ties=self.ties, n_jobs=self.n_jobs, verbose=self.verbose)
        self.neighbor_search_ = "exact" if lists.recall is None else "approximate"
        self.neighbor_recall_ = 1.0 if lists.recall is None else lists.recall
        if given is not None:
            self.neighbor_search_ = "given"
            self.neighbor_recall_ = float("nan") if lists.recall is None else lists.recall
        self.search_counters_ = lists.counters
        return lists

    def _rank(self, lists: NeighborLists | WorkerLists, objects: DistinctObjects) -> RankedPrototypes:
        """Rank all objects as prototypes."""
        # A sample in this process is solved in this process.
        is_local = self.solver == "distributed" and isinstance(lists, NeighborLists)
        return rank_prototypes(
            lists,
            objects.codes,
            counts=objects.counts,
            costs=objects.costs(self.class_weight),
            order=objects.order,
            beta=self.beta,
            C=self.C,
            loss=self.loss,
            reading=self.reading,
            solver="auto" if is_local else self.solver,
            tol=self.tol,
        )

    def _rank_space(self, space: TrainingSpace, objects: DistinctObjects) -> np.ndarray:
        """Rank the objects of another space with exact neighbour lists."""
        k = NeighborSearch.of(self.search).length(self.beta, "exact")
        lists = build_lists(space, k, ties=self.ties, search="exact", n_jobs=self.n_jobs)
        return self._ranking(lists, objects)

    def _ranking(self, lists: NeighborLists, objects: DistinctObjects) -> np.ndarray:
        """Return all objects, best first."""
        return self._rank(lists, objects).ranking

    def _store(self, ranked: RankedPrototypes, objects: DistinctObjects) -> None:
        self._objects, self._ranked = objects, ranked.ranking
        self._rows = np.arange(len(objects))
        self.weights_, self.degradations_ = ranked.weights, ranked.degradations
        self.scores_, self.ranking_ = ranked.scores, ranked.ranking
        self.duality_gap_, self.weight_error_ = ranked.solution.gap, ranked.solution.weight_error
        self.n_iter_ = ranked.solution.n_iter
        self.solver_, self.truncation_bound_ = ranked.solution.solver, ranked.truncation_bound

    def _size_curve(self, space: TrainingSpace, lists: Any, objects: DistinctObjects) -> SizeCurve:
        """Measure the error at each size."""
        return size_curve(
            space,
            lists,
            objects,
            self._ranking,
            allocation=self.allocation,
            rule=self.size_rule,
            class_weight=self.class_weight,
            scoring=self.scoring,
            random_state=None if self.random_state is None else check_random_state(self.random_state),
            n_jobs=self.n_jobs,
            progress=reporter(self.verbose, "folds of the cross-validation"),
        )

    def _overlap(self, space: TrainingSpace, objects: DistinctObjects, n_prototypes: int | float) -> float:
        """Share of the prototypes that exact lists would also select."""
        if self.neighbor_search_ != "approximate":
            return 1.0 if self.neighbor_search_ == "exact" else float("nan")
        report(self.verbose, "comparing with prototypes of exact lists, on a sample")
        return prototype_overlap(
            space,
            objects,
            self._size(n_prototypes, objects, self.allocation) / len(objects),
            self.allocation,
            self.neighbor_recall_,
            self._ranking,
            class_weight=self.class_weight,
            search=NeighborSearch.of(self.search),
            beta=self.beta,
            ties=self.ties,
            n_jobs=self.n_jobs,
        )

    def _cut(self, n_prototypes: int | float, allocation: Allocation) -> np.ndarray:
        """Keep the best distinct objects of the ranking, within the allocation."""
        objects, masses = self._objects, self._objects.class_masses(self.class_weight)
        return cut(self._ranked, objects.codes, self._size(n_prototypes, objects, allocation), allocation, masses)

    def _size(self, n_prototypes: Any, objects: DistinctObjects, allocation: Allocation) -> int:
        remedy = ", or use allocation='global' if a class may have no prototype"
        n_copies = max(len(objects), int(objects.counts.sum()))
        return resolve_size(
            n_prototypes,
            objects.class_sizes,
            allocation,
            n_objects=n_copies,
            some_weightless=objects.some_weightless,
            remedy=remedy,
        )

    def _estimate_memory(self, space: TrainingSpace, *, given: bool, sized: bool) -> MemoryEstimate:
        """Estimate the memory of each stage of a fit; ``sized`` says whether this selector measures a size curve."""
        search, n = NeighborSearch.of(self.search), space.shape[0]
        if self.solver == "distributed":
            estimate = MemoryEstimate({"solve": solving_bytes_on_workers(n)})
            if search.resolve(space) == "approximate":
                length = search.length(self.beta, "exact")
                estimate.stages["compare"] = overlap_bytes(n, length, space.object_bytes)
            return estimate
        estimate, n_entries = search.memory(space, self.beta, given=given)
        estimate = estimate.with_stage("solve", solving_bytes(n, n_entries))
        return estimate.with_stage("size", sizing_bytes(n, n_entries)) if sized else estimate

    def _check_memory(self, space: TrainingSpace, estimate: MemoryEstimate) -> None:
        """Set ``memory_estimate_``; raise an error if the fit needs more memory than there is."""
        self.memory_estimate_ = estimate
        search, on_cluster = NeighborSearch.of(self.search), self.solver == "distributed"
        where = "in this process" if on_cluster else "in addition to X"
        report(self.verbose, "the fit needs about %s %s", estimate, where)
        search.check_memory(estimate, self.beta, search.resolve(space), on_cluster=on_cluster)

    def _resolve_client(self, client: Any, X: Any, options: dict[str, Any]) -> Any:
        """Return the Dask client to use. A client that was not passed is used only if it supports this fit."""
        if isinstance(X, TrainingSpace):
            if client is not None:
                raise ValueError("client=... needs the training objects, but X is their space; pass the objects")
            return None
        is_named = client is not None or is_dask(X)
        if not is_named and (options.get("lists") is not None or not is_distributable(X, self.metric)):
            return None
        return resolve_client(client, X)

    def _check_parameters(self) -> dict[str, Any]:
        auto = isinstance(self.n_prototypes, str) and self.n_prototypes == "auto"
        paper = "the paper's choice is"
        return {
            **super()._check_parameters(),
            "n_prototypes": "auto" if auto else check_size(self.n_prototypes, automatic=True),
            "beta": check_real("beta", self.beta, above=1, most=LARGEST_BETA, remedy=f"{paper} beta=2"),
            "C": check_real("C", self.C, above=SMALLEST_C, most=LARGEST_C, remedy=f"{paper} C=0.001"),
            "tol": check_real("tol", self.tol, above=0, remedy="the default is tol=1e-6"),
            "loss": check_choice("loss", self.loss, LOSSES),
            "ties": check_choice("ties", self.ties, TIES),
            "reading": check_choice("reading", self.reading, READINGS),
            "allocation": check_choice("allocation", self.allocation, ALLOCATIONS),
            "solver": check_choice("solver", self.solver, SOLVERS),
            "size_rule": check_choice("size_rule", self.size_rule, SIZE_RULES),
            "search": NeighborSearch.of(self.search),
            "class_weight": check_class_weight(self.class_weight),
            "scoring": check_scoring(self.scoring),
        }

    def _check_fit(self, space: TrainingSpace, objects: DistinctObjects, lists: Any) -> None:
        """Raise an error for a size, lists, weights or a solver that do not fit the objects, before any work."""
        refuse_unknown_labels(self.class_weight, objects.classes)
        is_weighted = self.class_weight is not None or not objects.are_single
        if self.solver == "distributed" and is_weighted:
            raise ValueError(
                "solver='distributed' does not support sample_weight or class_weight; leave them out, or use "
                "solver='auto'"
            )
        if self.solver == "distributed" and (lists is not None or space.cluster is None):
            raise ValueError("solver='distributed' needs a Dask client and no lists; call fit(X, y, client=...)")
        if self.n_prototypes != "auto":
            self._size(self.n_prototypes, objects, self.allocation)
        elif space.partial:
            raise ValueError(
                "n_prototypes='auto' needs dissimilarities that a sparse graph does not have; pass a count or a rate "
                "as n_prototypes, or a dense matrix as X"
            )
        elif self.solver == "distributed":
            raise ValueError(
                "n_prototypes='auto' does not work with solver='distributed'; pass n_prototypes as a count or a rate"
            )

    def _keeps_every_class(self) -> bool:
        return self.allocation != "global"

    def _rank_base(self) -> float:
        return float(self.beta)

    def __sklearn_tags__(self) -> Tags:
        """Describe the selector to scikit-learn: an automatic size does not work with a sparse graph."""
        tags = super().__sklearn_tags__()
        if self.metric == "precomputed" and self.n_prototypes == "auto":
            tags.input_tags.sparse = False
        return tags
