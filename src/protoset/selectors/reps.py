"""REPS: prototype selection based on rank-exponential features.

The method is the function ``rank_prototypes`` (in ``protoset.selectors.ranking``); the class here is
its estimator, which finds the neighbours before it and cuts the ranking after it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from protoset._cluster import is_dask, resolve_client
from protoset._memory import MemoryEstimate, check_fits, parse_bytes
from protoset._progress import report, reporter
from protoset._storage import Storage
from protoset._validation import check_choice, check_count, check_flag, check_jobs, check_real, check_seed
from protoset.neighbors import SEARCHES, TIES, NeighborLists, Search, Ties, as_lists, build_lists, choose_search
from protoset.selectors._limits import Callback, check_limits
from protoset.selectors._list_search import find_lists, list_length, prototype_overlap
from protoset.selectors._memory_plan import (
    WAYS_OUT_ON_CLUSTER,
    estimate_memory,
    estimate_memory_on_cluster,
    ways_out,
)
from protoset.selectors.allocation import ALLOCATIONS, Allocation, check_size, cut, resolve_size
from protoset.selectors.base import BaseSelector
from protoset.selectors.cluster_ranking import rank_on_cluster
from protoset.selectors.ranking import SCORES, RankedPrototypes, Score, rank_prototypes
from protoset.selectors.refinement import refine
from protoset.selectors.size import (
    REFINED_RATES,
    SAMPLE_OBJECTS,
    SIZE_RULES,
    SizeCurve,
    SizeRule,
    refined_size_curve,
    size_curve,
)
from protoset.solvers import LOSSES, SOLVERS, Loss
from protoset.spaces import CountedSpace, Space, TrainingSpace, make_space
from protoset.spaces.distributed_vectors import STATELESS, DistributedVectorSpace

LARGEST_BETA = 1e6
SMALLEST_C, LARGEST_C = 1e-100, 1e100
WITHOUT_CLASSES = ", or allocation='global' if classes may go without"


class REPS(BaseSelector):
    """Prototype selection based on rank-exponential features (REPS).

    Learns a weight per training object from the ranks of everyone's nearest neighbours, and keeps
    the objects whose weight and best rank make them matter most. Nothing but a dissimilarity is
    asked of the objects.

    Parameters
    ----------
    n_prototypes : int, float or "auto", default="auto"
        How many objects to keep. An int is a count, at least the number of classes. A float in
        (0, 1] is a rate, which always keeps at least one object per class. ``"auto"`` measures
        a grid of rates by cross-validation and takes the smallest size whose error is within one
        standard error of the lowest. The errors are those of the nearest prototype's class, also
        where a classifier then applies another rule.
    metric : str or callable, default="euclidean"
        Dissimilarity between objects: a name in ``protoset.spaces.DISSIMILARITIES``, a function, or
        ``"auto"``: Euclidean for numbers in rows, "gower" for a DataFrame with other columns,
        "levenshtein" for strings, "dtw" for series of several lengths or channels (see ``metric_``).
        ``"precomputed"`` takes a square matrix, the condensed vector of
        ``scipy.spatial.distance.pdist``, or a sparse graph of the nearest neighbours' distances. A
        function is called as ``metric(object, prototype)`` on any objects that a list or the rows
        of an array hold, and returns a finite number of at least 0. It is never called on a
        training object and itself. With ``n_jobs`` it is called in processes where it and the
        objects can be pickled, else in threads.
    metric_params : dict, optional
        Arguments of the metric. For a function, ``"symmetric": True`` says that d(a, b) = d(b, a),
        so that each pair of training objects is computed once. ``"memory": folder`` keeps what was
        computed in files, by the content of the objects and by the function's own code, defaults
        and closure; delete them when something else that it calls or reads has changed. All others
        are passed on to the function.
    beta : float, default=2.0
        Base of the rank-exponential features, above 1 and at most 1e6.
    C : float, default=1e-3
        Cost of violated constraints, above 0 (between 1e-100 and 1e100).
    loss : {"mean", "sum"}, default="mean"
        ``"mean"`` minimises 1/2 w.w + C/n * sum of violations, ``"sum"``
        w.w + C * sum of violations.
    ties : {"min", "average", "ordinal"}, default="min"
        Ranks of equal distances; only with ``"ordinal"`` do they depend on the row order. Objects
        whose scores and supports are equal as well are kept in row order.
    score : {"adjusted", "literal"}, default="adjusted"
        ``"adjusted"`` keeps the smallest degradation + best rank. ``"literal"`` keeps the largest
        log w + best rank, as the paper prints it.
    allocation : {"proportional", "equal", "global"}, default="proportional"
        How places are shared among classes: by class size, equally (at least one each in both), or
        not at all.
    n_neighbors : int or "auto", default="auto"
        Length of the neighbour lists. ``"auto"`` makes them so long that what is cut off is below
        double precision: 53 for ``beta=2``. Those of an approximate search are shorter, with less than a
        billionth of a first neighbour's feature cut off: 30 for ``beta=2``.
    solver : {"auto", "closed_form", "coordinate", "lbfgs", "cutting_plane", "distributed"}, default="auto"
        ``"auto"`` takes the closed form where it is exact, else the coordinate method. ``"distributed"`` is for a
        Dask client: the neighbour lists stay on the workers, and every pass of the solver is a reduction over them.
    tol : float, default=1e-6
        Relative duality gap to reach.
    refine : bool, default=False
        Whether to improve the set by swaps that lower a smooth leave-one-out error (see
        :func:`protoset.refine`). The default is the paper's method; refined sets are far better for their size.
    size_rule : {"one_standard_error", "lowest_error"}, default="one_standard_error"
        What ``n_prototypes="auto"`` takes: the smallest size whose error is within one standard error of the
        lowest, or the size of the lowest error. With ``refine=True`` the errors are those of refined sets, on
        a sample of 2,000 objects if there are more.
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are searched, where ``fit`` is given none. ``"approximate"`` works with faiss or
        pynndescent (extra ``approximate``), and on a Dask cluster without them; distances are exact, some neighbours
        may be missing (see ``neighbor_recall_``). ``"auto"`` does so from 100,000 objects on, for vectors under
        Euclidean-like metrics where one of them is installed, or there is a cluster. A refinement has a search of
        its own, for what to try; what it tries is computed exactly.
    max_memory : int or str, optional
        Memory that the fit may take beyond ``X``, as bytes or as "4GB"; by default what the machine has left. What
        needs more is refused before the work starts.
    lists_folder : path-like, optional
        Folder for the neighbour lists, which are then mapped from files in place of memory; they stay there, and
        :meth:`NeighborLists.from_folder` reads them.
    max_time : float, optional
        Seconds after which the refinement ends with the best set so far, and a ``ConvergenceWarning``; the search
        for neighbours and the automatic size come before, and take what they take. Ctrl-C does the same once the
        refinement knows the distances, or the neighbours, of its objects; before that, nothing is fitted.
    callback : callable, optional
        Called during the refinement with a :class:`SearchProgress`; ends it by returning True.
    n_jobs : int, optional
        Workers of the neighbour search. Changes no result.
    random_state : int or RandomState, optional
        Shuffles the folds of ``n_prototypes="auto"`` and draws for the refinement. With None folds are dealt in
        row order, with ``refine=True`` always in the same other order, and the refinement always draws the
        same, so that a fit has no randomness.
    verbose : int, default=0
        Above 0, print the stages to stderr. The logger ``protoset`` gets them at INFO in any case.

    Attributes
    ----------
    sample_indices_ : ndarray of int
        The objects kept, ascending.
    weights_ : ndarray of shape (n_objects,)
        Weight w >= 0 of each object; 0 where the proof of the solution does not tell it from 0.
    degradations_ : ndarray of shape (n_objects,)
        -log_beta(w / max w): 0 for the best object, infinite where the weight is 0.
    scores_ : ndarray of shape (n_objects,)
        What objects are ordered by, smallest first. Equal ones (to six decimals) are ordered by
        support, the sum of an object's features over everyone.
    ranking_ : ndarray of shape (n_objects,)
        All objects, best first; every budget is a cut of it (see :meth:`select`).
    duality_gap_ : float
        Relative gap between the objective and the bound on every objective.
    weight_error_ : float
        How far the weights are from the optimal ones at most, relatively (in the 2-norm).
    truncation_bound_ : float
        How far the cut of the neighbour lists moves the optimal objective at most.
    metric_ : str
        The metric that was used: what ``metric="auto"`` chose, else its name.
    neighbor_search_ : str
        How neighbours were found: "exact", "approximate", or "given" to ``fit``.
    neighbor_recall_ : float
        Part of the true neighbours that the lists hold, measured on 500 rows; 1 where the search was exact, and
        not a number where lists were given that do not know it. A search that finds less than 0.95 gives a
        warning, less than 0.5 an error.
    prototype_overlap_ : float
        Part of the prototypes, before refinement, that exact lists would give too, estimated on 10,000 objects; 1
        where the search was exact, and not a number where lists were given.
    memory_estimate_ : MemoryEstimate
        What the fit was expected to need beyond ``X``.
    search_counters_ : SearchCounters or None
        How many pairs of objects the neighbour search bounded away, abandoned and computed, where it
        counts.
    refinement_ : Refinement or None
        What the refinement did, with ``refine=True``.
    size_curve_ : SizeCurve or None
        Error at each size tried, with ``n_prototypes="auto"``.
    classes_ : ndarray
        The labels, sorted.
    fallback_classes_ : ndarray
        Labels of which the method kept nothing; always empty.
    n_distances_ : int
        Dissimilarities asked for; a search for everyone's neighbours asks for each pair once.
    n_features_in_ : int
        Number of features, or of training objects with ``metric="precomputed"``.
    n_iter_ : int
        Iterations of the solver; 0 where the closed form was exact.
    solver_ : str
        Name of the solver that found the weights.

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

    _takes_graphs = True

    def __init__(
        self,
        n_prototypes: int | float | str = "auto",
        *,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        beta: float = 2.0,
        C: float = 1e-3,
        loss: Loss = "mean",
        ties: Ties = "min",
        score: Score = "adjusted",
        allocation: Allocation = "proportional",
        n_neighbors: int | str = "auto",
        solver: str = "auto",
        tol: float = 1e-6,
        refine: bool = False,
        size_rule: SizeRule = "one_standard_error",
        neighbors: Search = "auto",
        max_memory: int | str | None = None,
        lists_folder: str | os.PathLike[str] | None = None,
        max_time: float | None = None,
        callback: Callback | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ):
        self.n_prototypes = n_prototypes
        self.metric = metric
        self.metric_params = metric_params
        self.beta = beta
        self.C = C
        self.loss = loss
        self.ties = ties
        self.score = score
        self.allocation = allocation
        self.n_neighbors = n_neighbors
        self.solver = solver
        self.tol = tol
        self.refine = refine
        self.size_rule = size_rule
        self.neighbors = neighbors
        self.max_memory = max_memory
        self.lists_folder = lists_folder
        self.max_time = max_time
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, neighbors: Any = None, *, client: Any = None) -> Self:
        """Select prototypes.

        Parameters
        ----------
        X : array-like or sparse matrix
            The training objects, of the kind that ``metric`` takes.
        y : array-like of shape (n_objects,)
            Their labels, of at least two classes. A class may have a single member.
        neighbors : (indices, distances), sparse graph or NeighborLists, optional
            Ready-made neighbour lists of the training objects, in place of a search.
        client : distributed.Client, optional
            Dask client whose workers search the neighbours; by default that of
            ``joblib.parallel_config("dask")``, and of a Dask array or DataFrame the current one. After an exact
            search the prototypes are those of one process. docs/scaling.md says what runs where.

        Returns
        -------
        self
        """
        select = partial(self._select, neighbors=neighbors)
        self._fit_with(select, X, y, self._client(client, X, given=neighbors is not None))
        return self

    def fit_space(self, X: Any, y: Any, *, client: Any = None) -> tuple[Space, np.ndarray]:
        """Fit, and return the space of the training objects and their classes as positions in ``classes_``."""
        return self._fit_with(self._select, X, y, self._client(client, X))

    def _client(self, client: Any, X: Any, *, given: bool = False) -> Any:
        """Dask client to work on; one that nobody named serves only what it can."""
        if client is None and not is_dask(X) and (given or self.metric not in STATELESS or sparse.issparse(X)):
            return None
        return resolve_client(client, X)

    def select(self, n_prototypes: int | float | None = None, *, allocation: Allocation | None = None) -> np.ndarray:
        """Return the prototypes for another budget, from the same fit; without refinement.

        Parameters
        ----------
        n_prototypes : int or float, optional
            A count, or a rate in (0, 1]; by default as many as the fit kept.
        allocation : {"proportional", "equal", "global"}, optional
            By default that of the estimator.

        Returns
        -------
        ndarray of int
            Indices of the training objects to keep, ascending.
        """
        check_is_fitted(self, "ranking_")
        allocation = self.allocation if allocation is None else allocation
        check_choice("allocation", allocation, ALLOCATIONS)
        n_prototypes = len(self.sample_indices_) if n_prototypes is None else n_prototypes
        if isinstance(n_prototypes, str):
            raise ValueError(
                f"n_prototypes={n_prototypes!r} must be a count (int) or a rate in (0, 1] (float); "
                "for the size that cross-validation chose, fit with n_prototypes='auto' and call select()"
            )
        check_size(n_prototypes)
        size = resolve_size(n_prototypes, np.bincount(self._codes), allocation, remedy=WITHOUT_CLASSES)
        return cut(self.ranking_, self._codes, size, allocation)

    def _check_parameters(self) -> None:
        if isinstance(self.n_prototypes, str):
            check_choice("n_prototypes", self.n_prototypes, ("auto",))
        else:
            check_size(self.n_prototypes, automatic=True)
        check_real("beta", self.beta, above=1, most=LARGEST_BETA, remedy="the paper's choice is beta=2")
        check_real("C", self.C, above=SMALLEST_C, most=LARGEST_C, remedy="the paper's choice is C=0.001")
        check_real("tol", self.tol, above=0, remedy="the default is tol=1e-6")
        check_choice("loss", self.loss, LOSSES)
        check_choice("ties", self.ties, TIES)
        check_choice("score", self.score, SCORES)
        check_choice("allocation", self.allocation, ALLOCATIONS)
        check_choice("solver", self.solver, SOLVERS)
        check_flag("refine", self.refine)
        if self.refine and self.allocation == "global":
            raise ValueError("refine=True keeps every class; use allocation='proportional' or 'equal'")
        check_choice("size_rule", self.size_rule, SIZE_RULES)
        check_choice("neighbors", self.neighbors, SEARCHES)
        if self.max_memory is not None:
            parse_bytes("max_memory", self.max_memory)
        Storage.at(self.lists_folder)
        check_limits(self.max_time, self.callback)
        check_jobs(self.n_jobs)
        check_seed(self.random_state)
        if not (isinstance(self.n_neighbors, str) and self.n_neighbors == "auto"):
            check_count("n_neighbors", self.n_neighbors, least=1, remedy="pass a count or 'auto'")

    def _select(self, space: TrainingSpace, codes: np.ndarray, neighbors: Any = None) -> np.ndarray:
        if self.n_prototypes != "auto":
            resolve_size(self.n_prototypes, np.bincount(codes), self.allocation, remedy=WITHOUT_CLASSES)
        if space.partial and (self.n_prototypes == "auto" or self.refine):
            raise ValueError(
                "n_prototypes='auto' and refine=True ask for dissimilarities that a sparse graph does not hold; "
                "pass a count or a rate and refine=False, or a dense matrix"
            )
        if self.solver == "distributed":
            return self._select_on_cluster(space, codes, neighbors)
        self._estimate_memory(space, codes, given=neighbors is not None)
        if neighbors is not None:
            lists = as_lists(neighbors, space.shape[0], self.ties)
            self.neighbor_recall_ = float("nan") if lists.recall is None else lists.recall
            self.neighbor_search_ = "given"
        else:
            lists = find_lists(
                space,
                self.n_neighbors,
                self.beta,
                ties=self.ties,
                search=self.neighbors,
                storage=Storage.at(self.lists_folder),
                n_jobs=self.n_jobs,
                verbose=self.verbose,
            )
            self.neighbor_recall_ = 1.0 if lists.recall is None else lists.recall
            self.neighbor_search_ = "exact" if lists.recall is None else "approximate"
        report(self.verbose, "solving for the weights of %d objects", space.shape[0])
        self._take_over(self._rank(lists, codes), codes)
        self.search_counters_ = lists.counters
        random_state = None if self.random_state is None else check_random_state(self.random_state)
        known = space
        if self.refine and self.n_prototypes == "auto" and space.shape[0] <= SAMPLE_OBJECTS:
            # Both the size and the refinement need all distances.
            known = make_space(space.block(slice(None), slice(None)), "precomputed")
        self.size_curve_ = self._size_curve(known, lists, codes, random_state) if self.n_prototypes == "auto" else None
        n_prototypes = self.n_prototypes
        if self.size_curve_ is not None:
            n_prototypes = int(self.size_curve_.sizes[self.size_curve_.chosen])
        self.prototype_overlap_ = self._overlap(space, codes, n_prototypes)
        return self._cut_and_refine(known, codes, n_prototypes, random_state)

    def _overlap(self, space: TrainingSpace, codes: np.ndarray, n_prototypes: int | float | str) -> float:
        """Part of the prototypes that the missing neighbours leave as they are, on a sample."""
        if self.neighbor_search_ != "approximate":
            return 1.0 if self.neighbor_search_ == "exact" else float("nan")
        report(self.verbose, "comparing with prototypes of exact lists, on a sample")
        return prototype_overlap(
            space,
            codes,
            resolve_size(n_prototypes, np.bincount(codes), self.allocation) / len(codes),
            self.allocation,
            self.neighbor_recall_,
            lambda lists, part_codes: self._rank(lists, part_codes).ranking,
            n_neighbors=self.n_neighbors,
            beta=self.beta,
            ties=self.ties,
            n_jobs=self.n_jobs,
        )

    def _select_on_cluster(self, space: TrainingSpace, codes: np.ndarray, neighbors: Any) -> np.ndarray:
        """Select where neither objects nor neighbour lists come here."""
        on_cluster = space.space if isinstance(space, CountedSpace) else space
        if neighbors is not None or not isinstance(on_cluster, DistributedVectorSpace):
            raise ValueError("solver='distributed' searches and solves on a Dask client; call fit(X, y, client=...)")
        if self.n_prototypes == "auto":
            raise ValueError("solver='distributed' needs a size: pass n_prototypes as a count or a rate")
        search, n = choose_search(space, self.neighbors), space.shape[0]
        k = list_length(self.n_neighbors, self.beta, search)
        refined = resolve_size(self.n_prototypes, np.bincount(codes), self.allocation) if self.refine else None
        estimate = estimate_memory_on_cluster(
            n,
            list_length(self.n_neighbors, self.beta, "exact"),
            space.object_bytes,
            approximate=search == "approximate",
            refined=refined,
        )
        self._check_memory(estimate, "here", WAYS_OUT_ON_CLUSTER)
        report(self.verbose, "searching %d neighbours of %d objects on the workers, and solving", min(k, n - 1), n)
        ranked, recall = rank_on_cluster(
            on_cluster,
            codes,
            min(k, n - 1),
            search=search,
            ties=self.ties,
            beta=float(self.beta),
            C=float(self.C),
            loss=self.loss,
            score=self.score,
            tol=self.tol,
        )
        self._take_over(ranked, codes)
        self.neighbor_recall_, self.neighbor_search_ = 1.0 if recall is None else recall, search
        self.prototype_overlap_ = self._overlap(space, codes, self.n_prototypes)
        self.search_counters_ = self.size_curve_ = None
        random_state = None if self.random_state is None else check_random_state(self.random_state)
        return self._cut_and_refine(space, codes, self.n_prototypes, random_state)

    def _take_over(self, ranked: RankedPrototypes, codes: np.ndarray) -> None:
        self._codes = codes
        self.weights_, self.degradations_ = ranked.weights, ranked.degradations
        self.scores_, self.ranking_ = ranked.scores, ranked.ranking
        self.duality_gap_, self.weight_error_ = ranked.solution.gap, ranked.solution.weight_error
        self.n_iter_ = ranked.solution.n_iter
        self.solver_, self.truncation_bound_ = ranked.solution.solver, ranked.truncation_bound

    def _cut_and_refine(
        self,
        space: TrainingSpace,
        codes: np.ndarray,
        n_prototypes: int | float | str,
        random_state: np.random.RandomState | None,
    ) -> np.ndarray:
        kept = cut(
            self.ranking_, codes, resolve_size(n_prototypes, np.bincount(codes), self.allocation), self.allocation
        )
        self.refinement_ = None
        if self.refine:
            report(self.verbose, "refining %d prototypes", len(kept))
            self.refinement_ = refine(
                space,
                codes,
                kept,
                max_time=self.max_time,
                callback=self.callback,
                n_jobs=self.n_jobs,
                random_state=random_state,
                verbose=self.verbose,
            )
            kept = self.refinement_.indices
        return kept

    def _size_curve(
        self, space: TrainingSpace, lists: NeighborLists, codes: np.ndarray, random_state: np.random.RandomState | None
    ) -> SizeCurve:
        report(self.verbose, "measuring the error at each size by cross-validation")
        progress = reporter(self.verbose, "folds of the cross-validation")
        if self.refine:
            return refined_size_curve(
                space,
                codes,
                self._ranking_of,
                allocation=self.allocation,
                rule=self.size_rule,
                random_state=check_random_state(0) if random_state is None else random_state,
                progress=progress,
            )
        return size_curve(
            space,
            lists,
            codes,
            lambda fold_lists, fold_codes: self._rank(fold_lists, fold_codes).ranking,
            allocation=self.allocation,
            rule=self.size_rule,
            random_state=random_state,
            n_jobs=self.n_jobs,
            progress=progress,
        )

    def _keeps_every_class(self) -> bool:
        return self.allocation != "global"

    def _estimate_memory(self, space: TrainingSpace, codes: np.ndarray, *, given: bool) -> None:
        """Check what a fit on one machine will need."""
        n_prototypes = REFINED_RATES[-1] if self.n_prototypes == "auto" else self.n_prototypes
        search = "given" if given else choose_search(space, self.neighbors)
        length, on_disk = list_length(self.n_neighbors, self.beta, search), self.lists_folder is not None
        estimate = estimate_memory(
            space.shape[0],
            length,
            space.object_bytes,
            remote=space.remote,
            automatic=self.n_prototypes == "auto" and not self.refine,
            approximate=search == "approximate" and not space.remote,
            on_disk=on_disk,
            refined=resolve_size(n_prototypes, np.bincount(codes), self.allocation) if self.refine else None,
        )
        self._check_memory(estimate, "beyond X", ways_out(length, self.beta, on_disk=on_disk))

    def _check_memory(self, estimate: MemoryEstimate, where: str, remedy: str) -> None:
        """Say what the fit will need, and refuse what does not fit."""
        self.memory_estimate_ = estimate
        report(self.verbose, "the fit needs about %s %s", estimate, where)
        check_fits(estimate, None if self.max_memory is None else parse_bytes("max_memory", self.max_memory), remedy)

    def _ranking_of(self, space: TrainingSpace, codes: np.ndarray) -> np.ndarray:
        """Ranking of some objects by themselves."""
        k = list_length(self.n_neighbors, self.beta, "exact")
        lists = build_lists(space, k, ties=self.ties, search="exact", n_jobs=self.n_jobs)
        return self._rank(lists, codes).ranking

    def _rank(self, lists: NeighborLists, codes: np.ndarray) -> RankedPrototypes:
        return rank_prototypes(
            lists,
            codes,
            beta=float(self.beta),
            C=float(self.C),
            loss=self.loss,
            score=self.score,
            solver="auto" if self.solver == "distributed" else self.solver,  # for a sample that is here
            tol=self.tol,
        )

    def __sklearn_tags__(self) -> Tags:
        """Describe the selector to scikit-learn: the automatic size needs more than a sparse graph holds."""
        tags = super().__sklearn_tags__()
        if self.metric == "precomputed" and (self.n_prototypes == "auto" or self.refine):
            tags.input_tags.sparse = False
        return tags
