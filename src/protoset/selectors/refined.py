"""Refined: improves the set of any selector by swaps.

    training objects -> selector -> set -> refine -> better set of the same size

The refinement itself is the function ``refine`` of ``protoset.selectors.refinement``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import Tags, check_random_state, get_tags

from protoset._memory import MemoryEstimate
from protoset._progress import report, reporter
from protoset.selectors._distinct import DistinctObjects, TrainingSet
from protoset.selectors._improving import Refinement
from protoset.selectors._limits import Callback, check_limits
from protoset.selectors._weights import ClassWeight, check_class_weight, refuse_unknown_labels
from protoset.selectors.allocation import resolve_size
from protoset.selectors.base import BaseSelector, check_selector, refuse_names_of_selector, refuse_old_names
from protoset.selectors.refinement import (
    check_max_objects,
    check_schedule,
    keeps_matrix,
    objects_to_refine_on,
    refine_distinct,
    refining_bytes,
)
from protoset.selectors.reps import REPS
from protoset.selectors.size import REFINED_RATES, SAMPLE_OBJECTS, Finish, SizeCurve, refined_size_curve
from protoset.spaces import TrainingSpace, make_space

SWAPPED_OBJECTS = 512
"""Number of objects above which a set that will move is not refined: moves lower the error more, in less time."""

SWAPPED_COSTLY_OBJECTS = 2048
"""The same for objects with expensive distances, such as series. A set of at most this many objects of any kind is
refined after all if its prototypes do not move."""

Finishing = Callable[[TrainingSpace, DistinctObjects], Finish | None]
"""Function that returns how a selected set is changed before it predicts, for example by moves; None for no change."""


class Refined(BaseSelector):
    """Selects with another selector, then improves the set by swaps that lower a smooth leave-one-out error.

    A refined set usually has a much lower error than the set that it starts from. With ``Refined(REPS())`` the size is
    chosen by the cross-validated errors of refined sets.

    Parameters
    ----------
    selector : selector, optional
        Selects the set to start from, and sets the metric and the size. The default is ``REPS()``.
    steepness : float or sequence of float, optional
        Steepness of the loss in each step of the refinement. By default 10, 20, 40 for up to 2,048 objects, and 10, 40
        for more.
    n_starts : int, optional
        Number of sets to refine: the selected set and random sets. The best refined set is kept. By default 8 for up
        to 2,048 objects, and 1 for more.
    class_weight : dict, "balanced" or None, default=None
        Cost of an error on an object of each class in the refinement, as in :class:`REPS`. By default the
        ``class_weight`` of the selector, or 1 if it has none.
    max_objects : int, optional
        Number of objects to refine on: the prototypes and a random sample. By default 50,000, or 16 per prototype if
        that is more.
    max_time : float, optional
        Seconds after which the refinement ends with the best set so far and a ``SearchStoppedWarning``. The time of
        the selector and of the automatic size does not count.
    callback : callable, optional
        Called during the refinement with a :class:`SearchProgress`. Return True to end the refinement. With ``n_jobs``
        it may be called in any thread, one call at a time.
    n_jobs : int, optional
        Number of workers of the refinement and of its automatic size: they compute distances, search neighbours and
        refine several sets at the same time. It does not change any result.
    random_state : int or RandomState, optional
        Seed of the refinement and of the folds of the automatic size; the ``random_state`` of the selector is not used
        for these. With None a fixed seed is used, so that a fit has no randomness.
    verbose : int, default=0
        Above 0, print progress to stderr.

    Attributes
    ----------
    selector_ : selector
        The fitted selector; its ``sample_indices_`` is the set before the refinement.
    refinement_ : Refinement or None
        Result of the refinement: losses, numbers of swaps and passes. None if the set was not refined; see Notes.
    size_curve_ : SizeCurve or None
        Error of refined sets at each size, if the size is automatic.
    degradations_ : ndarray of shape (n_objects,) or None
        Degradations that the selector learned, if it learns any.
    memory_estimate_ : MemoryEstimate or None
        Estimated memory of the fit in addition to ``X``; None if the selector has no estimate.
    sample_indices_, sample_counts_, classes_, class_counts_, fallback_classes_, metric_, n_distances_, n_features_in_
        See :class:`BaseSelector`; ``fallback_classes_`` is always empty.

    Notes
    -----
    In a :class:`PrototypeClassifier` whose prototypes move, a set of more than 512 training objects (more than 2,048
    series) is not refined, unless ``steepness``, ``n_starts`` or ``max_objects`` is given: moves lower the error more,
    in less time. The automatic size is then chosen by the errors of sets that moved without swaps. If moves do not
    lower the error on held-out objects, a set of up to 2,048 objects is refined after all, and moves are tried again.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset import REPS, Refined
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = Refined(REPS(n_prototypes=0.1)).fit(X, y)
    >>> len(selector.sample_indices_)
    15
    """

    _takes_weights = True

    @refuse_names_of_selector(
        n_prototypes="Refined(REPS(n_prototypes=...))",
        metric="Refined(REPS(metric=...))",
        metric_params="Refined(REPS(metric=..., metric_params=...))",
    )
    def __init__(
        self,
        selector: BaseSelector | None = None,
        *,
        steepness: float | Sequence[float] | None = None,
        n_starts: int | None = None,
        class_weight: ClassWeight = None,
        max_objects: int | None = None,
        max_time: float | None = None,
        callback: Callback | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ):
        self.selector = selector
        self.steepness = steepness
        self.n_starts = n_starts
        self.class_weight = class_weight
        self.max_objects = max_objects
        self.max_time = max_time
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def metric(self) -> Any:  # type: ignore[override]
        """The metric of the selector."""
        return getattr(self._inner(), "metric", None)

    @property
    def metric_params(self) -> Any:  # type: ignore[override]
        """The arguments of the metric of the selector."""
        return getattr(self._inner(), "metric_params", None)

    @refuse_old_names(neighbors="lists=")
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, lists: Any = None, client: Any = None) -> Self:
        """Select prototypes, and refine them.

        Parameters
        ----------
        X : array-like, sparse matrix or TrainingSpace
            The training objects, of the kind that the selector's metric compares, or their space.
        y : array-like of shape (n_objects,)
            Labels of the training objects, of at least two classes. A class may have a single object.
        sample_weight : array-like of shape (n_objects,), optional
            Weight of each object; see :meth:`REPS.fit`. A selector without weights selects among the distinct objects
            with a weight above 0.
        lists : (indices, distances), sparse graph or NeighborLists, optional
            Neighbour lists that are already known; see :meth:`REPS.fit`.
        client : distributed.Client, optional
            Dask client; see :meth:`REPS.fit`. The refinement runs in this process.

        Returns
        -------
        self
            The fitted selector.
        """
        self._fit(X, y, sample_weight=sample_weight, lists=lists, client=client)
        return self

    def _select(  # type: ignore[override]
        self,
        space: TrainingSpace,
        codes: np.ndarray,
        *,
        objects: DistinctObjects,
        finishing: Finishing | None = None,
        **options: Any,
    ) -> np.ndarray:
        """Fit the selector on the space, then refine its set; ``options`` are passed on to the selector.

        ``finishing`` gives the change of the set before it predicts, such as moves, for the automatic size.
        """
        selector: Any = clone(self._inner())
        if space.partial:
            raise ValueError(
                "Refined needs dissimilarities that a sparse graph does not have; pass X as a dense matrix, or use "
                f"{type(selector).__name__} without Refined"
            )
        refuse_unknown_labels(self._refining_class_weight(), objects.classes)
        random_state = None if self.random_state is None else check_random_state(self.random_state)
        finish = None if finishing is None else finishing(space, objects)
        has_swaps = finish is None or not self._leaves_out_swaps(space)
        remembers, known = has_swaps and self._needs_matrix(space, objects), space
        self.memory_estimate_: MemoryEstimate | None = None
        with selector._fitting() as plain:
            if isinstance(plain, REPS):
                self._check_memory(plain, space, objects, options, remembers=remembers)
            elif hasattr(plain, "n_prototypes"):
                # Refused before all distances are computed.
                resolve_size(plain.n_prototypes, objects.class_sizes, getattr(plain, "allocation", "global"))
            if remembers:
                # The lists of the selector, the automatic size and moves use these distances too.
                report(self.verbose, "computing the distances of all pairs of %d objects", space.shape[0])
                space.remember_matrix(n_jobs=self.n_jobs)
            if isinstance(plain, REPS) and plain.n_prototypes == "auto":
                if space.shape[0] <= SAMPLE_OBJECTS:
                    # The automatic size and the refinement both need all distances.
                    known = make_space(space.matrix(n_jobs=self.n_jobs), "precomputed")
                options["measure_sizes"] = lambda: self._size_curve(
                    plain, known, objects, random_state, finish, has_swaps=has_swaps
                )
            plain._fit_distinct(space, objects, **options)
        self.selector_ = selector
        self.size_curve_ = getattr(selector, "size_curve_", None)
        self.refinement_: Refinement | None = None
        if not has_swaps:
            return selector.sample_indices_
        self.refinement_ = self._refine(known, objects, selector.sample_indices_, random_state)
        return self.refinement_.indices

    def _refine(
        self,
        space: TrainingSpace,
        objects: DistinctObjects,
        kept: np.ndarray,
        random_state: np.random.RandomState | None,
    ) -> Refinement:
        report(self.verbose, "refining %d prototypes", len(kept))
        return refine_distinct(
            space,
            objects,
            kept,
            len(kept),
            class_weight=self._refining_class_weight(),
            steepness=self.steepness,
            n_starts=self.n_starts,
            max_objects=self.max_objects,
            max_time=self.max_time,
            callback=self.callback,
            n_jobs=self.n_jobs,
            random_state=random_state,
            verbose=self.verbose,
        )

    def _needs_matrix(self, space: TrainingSpace, objects: DistinctObjects) -> bool:
        """Whether a refinement needs all distances of a space that can keep them."""
        n_objects = space.shape[0]
        n_refined_on = objects_to_refine_on(n_objects, 1, self.max_objects)
        return space.remembers and n_refined_on == n_objects and keeps_matrix(objects)

    def _leaves_out_swaps(self, space: TrainingSpace) -> bool:
        """Whether a set that will move is not refined."""
        given = self.steepness, self.n_starts, self.max_objects
        movable = space.movable
        is_costly = movable is not None and movable.is_costly
        most = SWAPPED_COSTLY_OBJECTS if is_costly else SWAPPED_OBJECTS
        return space.shape[0] > most and all(parameter is None for parameter in given)

    def _refine_unmoved(self, space: TrainingSpace, training: TrainingSet) -> bool:
        """Refine a fitted set whose moves did not help; return False, without refining, for more than 2,048 objects."""
        if self.refinement_ is not None or len(training.objects) > SWAPPED_COSTLY_OBJECTS:
            return False
        plain = copy(self)
        plain.__dict__.update(self._check_parameters())
        random_state = None if plain.random_state is None else check_random_state(plain.random_state)
        kept, distinct = training.position[self.sample_indices_], training.distinct_space(space)
        refinement = plain._refine(distinct, training.objects, kept, random_state)
        self.sample_indices_ = np.sort(training.rows[refinement.indices])
        self.refinement_ = replace(refinement, indices=self.sample_indices_)
        self.n_distances_ += refinement.n_distances
        self._count(training)
        return True

    def _spread(self, training: TrainingSet) -> None:
        super()._spread(training)
        self.selector_._spread(training)
        self.selector_._count(training)
        if self.refinement_ is not None:
            self.refinement_ = replace(self.refinement_, indices=self.sample_indices_)
        self.degradations_ = getattr(self.selector_, "degradations_", None)

    def _refining_class_weight(self) -> ClassWeight:
        """Class weights of the refinement: ``class_weight``, or by default those of the selector."""
        return getattr(self._inner(), "class_weight", None) if self.class_weight is None else self.class_weight

    def _size_curve(
        self,
        selector: REPS,
        space: TrainingSpace,
        objects: DistinctObjects,
        random_state: np.random.RandomState | None,
        finish: Finish | None,
        *,
        has_swaps: bool,
    ) -> SizeCurve:
        """Measure the error of refined or moved sets at each size."""
        return refined_size_curve(
            space,
            objects,
            selector._rank_space,
            allocation=selector.allocation,
            rule=selector.size_rule,
            class_weight=selector.class_weight,
            refining_class_weight=self._refining_class_weight(),
            scoring=selector.scoring,
            random_state=check_random_state(0) if random_state is None else random_state,
            finish=finish,
            has_swaps=has_swaps,
            n_jobs=self.n_jobs,
            progress=reporter(self.verbose, "folds of the cross-validation"),
        )

    def _check_memory(
        self,
        selector: REPS,
        space: TrainingSpace,
        objects: DistinctObjects,
        options: dict[str, Any],
        *,
        remembers: bool,
    ) -> None:
        """Estimate the memory of the selector and of the refinement; raise an error if it is more than there is.

        ``remembers`` says that the space keeps all distances.
        """
        selector._check_fit(space, objects, options.get("lists"))
        rate = REFINED_RATES[-1] if selector.n_prototypes == "auto" else selector.n_prototypes
        n_prototypes = selector._size(rate, objects, selector.allocation)
        estimate = selector._estimate_memory(space, given="lists" in options, sized=False)
        refining = refining_bytes(space.shape[0], n_prototypes, space.object_bytes, self.max_objects)
        if remembers:
            refining += 8 * space.shape[0] ** 2
        self.memory_estimate_ = estimate = estimate.with_stage("refine", refining)
        selector._check_memory(space, estimate)

    def _check_parameters(self) -> dict[str, Any]:
        inner = check_selector(self._inner())
        if not inner._keeps_every_class():
            raise ValueError(
                f"Refined needs a set with every class, but {inner!r} may leave out a class; use "
                "allocation='proportional' or 'equal'"
            )
        inner._check_parameters()
        return {
            **super()._check_parameters(),
            "selector": inner,
            **check_schedule(self.steepness, self.n_starts),
            "class_weight": check_class_weight(self.class_weight),
            "max_objects": check_max_objects(self.max_objects),
            **check_limits(self.max_time, self.callback),
        }

    def _inner(self) -> Any:
        return REPS() if self.selector is None else self.selector

    def _resolve_client(self, client: Any, X: Any, options: dict[str, Any]) -> Any:
        return self._inner()._resolve_client(client, X, options)

    def _rank_base(self) -> float:
        return self._inner()._rank_base()

    @property
    def _takes_lists(self) -> bool:  # type: ignore[override]
        return self._inner()._takes_lists

    @property
    def _takes_graphs(self) -> bool:  # type: ignore[override]
        # _select refuses a graph, with an error that names Refined.
        return True

    def __sklearn_tags__(self) -> Tags:
        """Describe the selector to scikit-learn: it accepts the input of its selector, except sparse graphs."""
        tags = super().__sklearn_tags__()
        if isinstance(self._inner(), BaseSelector):
            tags.input_tags = get_tags(self._inner()).input_tags
        if tags.input_tags.pairwise:
            tags.input_tags.sparse = False
        return tags
