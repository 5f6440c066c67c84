"""The inputs of a report, checked: training objects, test objects, the fitted selector, their space."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from protoset._frames import is_frame, take_rows
from protoset._image_shapes import ImageShape, ShownAs
from protoset._report.images import find_image_shape
from protoset._report.moved import MovedSet, find_moved
from protoset._report.objects import shown_name
from protoset._report.stops import inner_selector
from protoset._report.suspects import Suspect, check_suspects, judge_labels
from protoset._report.transforms import keeps_attributes
from protoset._suspects import Suspects
from protoset.adaptation import Adaptation
from protoset.classifier import PrototypeClassifier
from protoset.datasets import Dataset
from protoset.models import CrossValidation, ReferenceErrors, cross_validated_error, reference_errors
from protoset.models.cross_validation import error_of
from protoset.selectors import BaseSelector, Refined
from protoset.spaces import Dissimilarities, TrainingSpace, make_space

CHECKED_PROTOTYPES = 8
"""Largest number of prototypes that are compared with the objects of a report."""

EXEMPLAR_MARGIN = 1e-4
"""Relative error of distances in single precision, by which exemplars are found."""

MOST_NEARER = 0.25
"""Largest share of the objects of a class that may be nearer to a prototype than its exemplar; half if they are not
the objects of the fit."""


@dataclass(frozen=True, eq=False)
class ReportInputs:
    """The checked inputs of a report.

    ``queries`` is the space from the test objects to the training objects. ``classes`` has the classes of the training
    set, then the classes of test objects only; codes are positions in it. ``has_names`` says whether the ids are
    names, not positions. Without a transform its name is empty. ``cross_validation`` and ``references`` are None where
    they are not measured yet. ``classifier`` is None for a selector alone, ``moved`` where no prototype has moved.
    ``distances`` and ``query_distances`` are ``space`` and ``queries`` with columns for the moved prototypes.
    ``keeps_attributes`` says whether the metric compares the attributes that the page shows. ``image_shape`` is the
    shape of rows of pixels, None for other objects.
    ``judged`` is what classifiers that do not know the objects say about their labels, where these were checked by
    default; ``unjudged`` says why they were not.
    """

    train: Dataset
    test: Dataset | None
    selector: BaseSelector
    rule: str
    space: TrainingSpace
    queries: Dissimilarities | None
    classes: list[str]
    codes: np.ndarray
    test_codes: np.ndarray
    ids: list[str]
    has_names: bool
    test_ids: list[str]
    transform_name: str
    cross_validation: CrossValidation | None
    references: ReferenceErrors | None
    suspects: list[Suspect] | None
    judged: Suspects | None
    unjudged: str | None
    classifier: PrototypeClassifier | None
    moved: MovedSet | None
    distances: Dissimilarities
    query_distances: Dissimilarities | None
    keeps_attributes: bool = False
    image_shape: ImageShape | None = None

    @property
    def column_codes(self) -> np.ndarray:
        """Class of each column of ``distances``: of the training objects, then of the moved prototypes."""
        return self.codes if self.moved is None else np.concatenate([self.codes, self.codes[self.moved.starts]])

    @property
    def adaptation(self) -> Adaptation | None:
        """How the prototypes moved, or why they did not; None where no moves were tried."""
        return getattr(self.classifier, "adaptation_", None)

    @property
    def has_moved_curve(self) -> bool:
        """Whether the errors at each size are those of sets that moved: the automatic size of refined sets."""
        return self.adaptation is not None and isinstance(self.selector, Refined)

    @cached_property
    def held_out_error(self) -> CrossValidation:
        """Error of the set on held-out training objects, measured unless it is known."""
        if self.cross_validation is not None:
            return self.cross_validation
        if self.classifier is not None:
            return error_of(self.classifier, self.space, self.train.labels)
        return cross_validated_error(self.selector, self.space, self.train.labels)

    def measure_references(self) -> ReferenceErrors:
        """Errors of guessing, 1-NN and k-NN by leave-one-out, unless they are known."""
        return self.references or reference_errors(self.space, self.codes, n_jobs=self.selector.n_jobs)


def check_inputs(
    dataset: Dataset,
    selector: Any,
    *,
    test: Dataset | None = None,
    transform: Callable[[Any], Any] | None = None,
    space: TrainingSpace | None = None,
    ids: Sequence[Any] | None = None,
    test_ids: Sequence[Any] | None = None,
    cross_validation: CrossValidation | None = None,
    references: ReferenceErrors | None = None,
    suspects: Suspects | Sequence[Mapping[str, Any]] | bool | None = None,
    image_shape: ShownAs = None,
    objects: Any = None,
    test_objects: Any = None,
    transform_name: str | None = None,
) -> ReportInputs:
    """Check the arguments of a report, and build the spaces.

    ``objects`` and ``test_objects`` are the objects as the metric takes them; by default the transform makes them from
    those of the data sets. ``transform_name`` is what the page calls the transform.
    """
    if space is not None and not isinstance(space, TrainingSpace):
        raise TypeError(f"space={space!r} must be the space of the fit, from protoset.spaces.make_space, or None")
    for name, value, kind in (
        ("cross_validation", cross_validation, CrossValidation),
        ("references", references, ReferenceErrors),
    ):
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"{name}={value!r} must be a protoset.models.{kind.__name__}, or None")
    if test is None and dataset.n_train is not None:
        dataset, test = split(dataset)
    if test is not None and test.kind != dataset.kind:
        raise ValueError(f"X_test holds {test.kind} and X {dataset.kind}; pass test objects of the same kind")
    if test is not None and test.n_objects == 0:
        test = None
    fitted, rule = _fitted_selector(selector)
    _check_fit(selector, fitted, dataset)
    labels = np.asarray(dataset.labels)
    apply = transform if transform is not None else (lambda objects: objects)
    is_given = space is not None
    if space is None:
        objects = apply(dataset.objects) if objects is None else objects
        space = _training_space(objects, labels, fitted)
    if space.shape[0] != dataset.n_objects:
        raise ValueError(f"space has {space.shape[0]} objects and X {dataset.n_objects}; pass the space of X")
    if test is not None and test_objects is None:
        test_objects = apply(test.objects)
    queries = None if test is None else _test_space(space, test_objects)
    moved = find_moved(selector, dataset, transform)
    distances: Dissimilarities = space
    query_distances = queries
    if moved is not None:
        if objects is None:
            objects = apply(dataset.objects)
        if is_given:
            _check_objects(space, objects, moved.exemplars)
        distances = moved.extend(space, objects)
        query_distances = None if queries is None else moved.extend(queries, test_objects)
    if isinstance(selector, PrototypeClassifier) and objects is not None:
        _check_prototypes(selector, space, objects, None if moved is None else distances, labels)
    test_labels = labels[:0] if test is None else np.asarray(test.labels)
    classes = [*fitted.classes_.tolist(), *sorted(set(test_labels.tolist()) - set(fitted.classes_.tolist()))]
    code_of = {label: code for code, label in enumerate(classes)}
    codes = np.array([code_of[label] for label in labels.tolist()], int)
    if ids is None and dataset.ids is not None:
        ids = dataset.ids.tolist()
    if test_ids is None and test is not None and test.ids is not None:
        test_ids = test.ids.tolist()
    classifier = selector if isinstance(selector, PrototypeClassifier) else None
    listed, judged, unjudged = check_suspects(suspects, dataset.n_objects), None, None
    if suspects is None:
        judged, unjudged = judge_labels(classifier, None if is_given else objects, labels, space)
        listed = None if judged is None else check_suspects(judged, dataset.n_objects)
    return ReportInputs(
        train=dataset,
        test=test,
        selector=fitted,
        rule=rule,
        space=space,
        queries=queries,
        classes=[shown_name(label) for label in classes],
        codes=codes,
        test_codes=np.array([code_of[label] for label in test_labels.tolist()], int),
        ids=_check_ids("ids", ids, dataset.n_objects),
        has_names=ids is not None,
        test_ids=_check_ids("test_ids", test_ids, len(test_labels)),
        transform_name=_name_of(transform) if transform_name is None else transform_name,
        cross_validation=cross_validation,
        references=references,
        suspects=listed,
        judged=judged,
        unjudged=unjudged,
        classifier=classifier,
        moved=moved,
        distances=distances,
        query_distances=query_distances,
        keeps_attributes=keeps_attributes(transform, dataset.objects, space.n_features),
        image_shape=find_image_shape(dataset, image_shape),
    )


def _name_of(transform: Callable[[Any], Any] | None) -> str:
    return "" if transform is None else getattr(transform, "__qualname__", type(transform).__name__)


def split(dataset: Dataset) -> tuple[Dataset, Dataset]:
    """Divide a data set by its own split into training and test objects."""
    n = dataset.n_train or 0
    objects, test_objects = dataset.objects[:n], dataset.objects[n:]
    if dataset.kind == "matrix":
        objects, test_objects = objects[:, :n], test_objects[:, :n]
    ids, test_ids = (None, None) if dataset.ids is None else (dataset.ids[:n], dataset.ids[n:])
    train = replace(dataset, objects=objects, labels=dataset.labels[:n], n_train=None, ids=ids)
    return train, replace(dataset, objects=test_objects, labels=dataset.labels[n:], n_train=None, ids=test_ids)


def _training_space(objects: Any, labels: np.ndarray, selector: BaseSelector) -> TrainingSpace:
    """Build the space of the fit again."""
    space = make_space(objects, selector.metric, selector.metric_params, y=labels)
    if not callable(selector.metric) and space.metric != selector.metric_:
        raise ValueError(
            f"estimator was fitted with the metric {selector.metric_!r}, and X gives {space.metric!r}; pass "
            "space=, the space that it was fitted on"
        )
    return space


def _test_space(space: TrainingSpace, test_objects: Any) -> Dissimilarities:
    """Return the space from the test objects to the training objects."""
    try:
        return space.prototypes(np.arange(space.shape[0])).cross(test_objects)
    except ValueError as error:
        # The error calls any objects X.
        raise ValueError(f"X_test cannot be compared with X: {error}") from error


def _check_objects(space: TrainingSpace, objects: Any, rows: np.ndarray) -> None:
    """Raise an error if the objects of the data set differ from those of the given space; checks some rows."""
    rows = np.unique(rows)
    some = _take(objects, rows)
    if not np.allclose(space.prototypes(rows).cross(some).block(slice(None), slice(None)), space.block(rows, rows)):
        raise ValueError(
            "X and space have different objects; pass transform=, the function that makes the objects of space from "
            "those of X"
        )


def _fitted_selector(selector: Any) -> tuple[BaseSelector, str]:
    """Return the selector, and the rule that decides."""
    if isinstance(selector, PrototypeClassifier):
        check_is_fitted(selector, "classes_")
        if not hasattr(selector, "selector_"):
            raise ValueError(
                "estimator is a classifier from a file, and files do not hold the selector; pass the fitted classifier"
            )
        return selector.selector_, selector.rule_
    check_is_fitted(selector, "sample_indices_")
    return selector, "nearest"


def _check_fit(estimator: Any, selector: BaseSelector, dataset: Dataset) -> None:
    """Raise an error if the estimator seems to be fitted on other objects than the training objects."""
    if np.isfinite(getattr(estimator, "prequential_error_", np.nan)):
        raise ValueError(
            "estimator has learned from a stream (partial_fit), which keeps no objects, and the page is about the "
            "objects of a fit; fit a classifier on objects that you keep, and pass it and them"
        )
    n_fitted = len(getattr(inner_selector(selector), "weights_", ())) or dataset.n_objects
    labels = np.asarray(dataset.labels)
    if n_fitted != dataset.n_objects or int(selector.sample_indices_.max()) >= dataset.n_objects:
        differs = "their number differs"
    elif set(np.unique(labels).tolist()) != set(selector.classes_.tolist()):
        differs = "their classes differ"
    elif isinstance(estimator, PrototypeClassifier) and (
        labels[estimator.sample_indices_].tolist() != estimator.prototype_labels_.tolist()
    ):
        differs = "their order differs, or their labels"
    else:
        return
    raise ValueError(
        f"estimator was not fitted on the {dataset.n_objects} objects of X: {differs}; pass the training objects of "
        "the fit as X, in their order, and other objects as X_test"
    )


def _check_prototypes(
    classifier: PrototypeClassifier,
    space: TrainingSpace,
    objects: Any,
    to_moved: Dissimilarities | None,
    labels: np.ndarray,
) -> None:
    """Raise an error if the prototypes do not belong to the given objects, such as those before a scaler.

    Compares some prototypes. ``to_moved`` has the distances to the training objects and the moved prototypes.
    """
    slots = np.unique(np.linspace(0, len(classifier.sample_indices_) - 1, CHECKED_PROTOTYPES).astype(int))
    if to_moved is not None:
        # An exemplar is the nearest object of its class, except for objects without weight in the fit.
        distances = to_moved.block(slice(None), len(labels) + slots)
        to_exemplars = distances[classifier.exemplars_[slots], np.arange(len(slots))]
        of_class = labels[:, None] == classifier.prototype_labels_[slots]
        is_nearer = (distances < to_exemplars * (1 - EXEMPLAR_MARGIN)) & of_class
        belong = np.median(is_nearer.sum(axis=0) / of_class.sum(axis=0)) <= MOST_NEARER
    elif space.metric not in ("callable", "precomputed"):
        rows = classifier.sample_indices_[slots]
        some = _take(objects, rows)
        expected = space.prototypes(rows).cross(some).block(slice(None), slice(None))
        belong = np.allclose(classifier._prototypes.cross(some).block(slice(None), slots), expected, equal_nan=True)
    else:
        return
    if not belong:
        raise ValueError(
            "estimator was not fitted on the objects of X: its prototypes are not near them; if it is the last step of "
            "a pipeline, pass the whole pipeline, protoset.report(pipeline, X, y)"
        )


def _take(objects: Any, rows: np.ndarray) -> Any:
    if is_frame(objects):
        return take_rows(objects, rows)
    if sparse.issparse(objects):
        return objects.tocsr()[rows]
    return objects[rows] if hasattr(objects, "ndim") else [objects[row] for row in rows]


def _check_ids(argument: str, ids: Sequence[Any] | None, n_objects: int) -> list[str]:
    if ids is None:
        return [str(position) for position in range(n_objects)]
    if not isinstance(ids, Collection) or isinstance(ids, (str, bytes)):
        raise TypeError(f"{argument}={ids!r} must be a list with a name for each object")
    if len(ids) != n_objects:
        raise ValueError(f"{argument} has {len(ids)} entries for {n_objects} objects; pass one per object")
    return [shown_name(name) for name in ids]
