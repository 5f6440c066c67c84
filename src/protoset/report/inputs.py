"""The inputs of a report, checked: training objects, test objects, the fitted selector, their space."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from protoset._suspects import Suspects
from protoset._validation import check_callable
from protoset.adaptation import Adaptation
from protoset.classifier import PrototypeClassifier
from protoset.datasets import Dataset
from protoset.models import CrossValidation, ReferenceErrors, cross_validated_error, reference_errors
from protoset.models.cross_validation import error_of
from protoset.models.preparation import check_dataset
from protoset.report.moved import MovedSet, find_moved
from protoset.report.stops import inner_selector
from protoset.report.suspects import Suspect, check_suspects
from protoset.selectors import BaseSelector, Refined
from protoset.spaces import Dissimilarities, TrainingSpace, make_space


@dataclass(frozen=True, eq=False)
class ReportInputs:
    """The checked inputs of a report.

    ``queries`` is the space from the test objects to the training objects. ``classes`` has the classes of the training
    set, then the classes of test objects only; codes are positions in it. ``has_names`` says whether the ids are
    names, not positions. Without a transform its name is empty. ``cross_validation`` and ``references`` are None where
    they are not measured yet. ``classifier`` is None for a selector alone, ``moved`` where no prototype has moved.
    ``distances`` and ``query_distances`` are ``space`` and ``queries`` with columns for the moved prototypes.
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
    classifier: PrototypeClassifier | None
    moved: MovedSet | None
    distances: Dissimilarities
    query_distances: Dissimilarities | None

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
    test: Dataset | None,
    transform: Callable[[Any], Any] | None,
    space: TrainingSpace | None,
    ids: Sequence[Any] | None,
    test_ids: Sequence[Any] | None,
    cross_validation: CrossValidation | None,
    references: ReferenceErrors | None,
    suspects: Suspects | Sequence[Mapping[str, Any]] | None,
) -> ReportInputs:
    """Check the arguments of :func:`protoset.report.build_report`, and build the spaces."""
    check_dataset(dataset)
    check_callable("transform", transform)
    if test is not None and not isinstance(test, Dataset):
        raise TypeError(f"test has the type {type(test).__name__}; pass a protoset.datasets.Dataset, or None")
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
        raise ValueError(f"test holds {test.kind} and dataset {dataset.kind}; pass test objects of the same kind")
    if test is not None and test.n_objects == 0:
        test = None
    fitted, rule = _fitted_selector(selector)
    _check_fit(fitted, dataset)
    labels = np.asarray(dataset.labels)
    apply = transform if transform is not None else (lambda objects: objects)
    objects = None
    if space is None:
        objects = apply(dataset.objects)
        space = _training_space(objects, labels, fitted)
    if space.shape[0] != dataset.n_objects:
        raise ValueError(
            f"space has {space.shape[0]} objects and dataset {dataset.n_objects}; pass the space of dataset"
        )
    test_objects = None if test is None else apply(test.objects)
    queries = None if test is None else space.prototypes(np.arange(dataset.n_objects)).cross(test_objects)
    moved = find_moved(selector, dataset, transform)
    distances: Dissimilarities = space
    query_distances = queries
    if moved is not None:
        if objects is None:
            objects = apply(dataset.objects)
            _check_objects(space, objects, moved.exemplars)
        distances = moved.extend(space, objects)
        query_distances = None if queries is None else moved.extend(queries, test_objects)
    test_labels = labels[:0] if test is None else np.asarray(test.labels)
    classes = [*fitted.classes_.tolist(), *sorted(set(test_labels.tolist()) - set(fitted.classes_.tolist()))]
    code_of = {label: code for code, label in enumerate(classes)}
    codes = np.array([code_of[label] for label in labels.tolist()], int)
    if ids is None and dataset.ids is not None:
        ids = dataset.ids.tolist()
    if test_ids is None and test is not None and test.ids is not None:
        test_ids = test.ids.tolist()
    return ReportInputs(
        train=dataset,
        test=test,
        selector=fitted,
        rule=rule,
        space=space,
        queries=queries,
        classes=[str(label) for label in classes],
        codes=codes,
        test_codes=np.array([code_of[label] for label in test_labels.tolist()], int),
        ids=_check_ids("ids", ids, dataset.n_objects),
        has_names=ids is not None,
        test_ids=_check_ids("test_ids", test_ids, len(test_labels)),
        transform_name="" if transform is None else getattr(transform, "__qualname__", type(transform).__name__),
        cross_validation=cross_validation,
        references=references,
        suspects=check_suspects(suspects, dataset.n_objects),
        classifier=selector if isinstance(selector, PrototypeClassifier) else None,
        moved=moved,
        distances=distances,
        query_distances=query_distances,
    )


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
            f"selector was fitted with the metric {selector.metric_!r}, and dataset gives {space.metric!r}; pass "
            "space=, the space that it was fitted on"
        )
    return space


def _check_objects(space: TrainingSpace, objects: Any, rows: np.ndarray) -> None:
    """Raise if the objects of the data set are other ones than those of the given space, as far as some rows show."""
    rows = np.unique(rows)
    some = objects[rows] if isinstance(objects, np.ndarray) else [objects[row] for row in rows]
    if not np.allclose(space.prototypes(rows).cross(some).block(slice(None), slice(None)), space.block(rows, rows)):
        raise ValueError(
            "dataset has other objects than space; pass transform=, the function that makes the objects of space from "
            "those of dataset"
        )


def _fitted_selector(selector: Any) -> tuple[BaseSelector, str]:
    """Return the selector, and the rule that decides."""
    if isinstance(selector, PrototypeClassifier):
        check_is_fitted(selector, "classes_")
        if not hasattr(selector, "selector_"):
            raise ValueError(
                "selector is a classifier from a file, and files do not hold the selector; pass the fitted classifier"
            )
        return selector.selector_, selector.rule_
    if not isinstance(selector, BaseSelector):
        raise TypeError(f"selector={selector!r} is no protoset selector; pass a fitted REPS or PrototypeClassifier")
    check_is_fitted(selector, "sample_indices_")
    return selector, "nearest"


def _check_fit(selector: BaseSelector, dataset: Dataset) -> None:
    """Raise if the selector was not fitted on the training objects, as far as can be seen."""
    n_fitted = len(getattr(inner_selector(selector), "weights_", ())) or dataset.n_objects
    same_classes = set(np.unique(dataset.labels).tolist()) == set(selector.classes_.tolist())
    if n_fitted != dataset.n_objects or int(selector.sample_indices_.max()) >= dataset.n_objects or not same_classes:
        raise ValueError(
            f"selector was not fitted on the {dataset.n_objects} objects of dataset: the number of objects or the "
            "classes differ; pass the training objects of the fit as dataset, and other objects as test"
        )


def _check_ids(argument: str, ids: Sequence[Any] | None, n_objects: int) -> list[str]:
    if ids is None:
        return [str(position) for position in range(n_objects)]
    if not isinstance(ids, Collection):
        raise TypeError(f"{argument}={ids!r} must be a list with a name for each object")
    if len(ids) != n_objects:
        raise ValueError(f"{argument} has {len(ids)} entries for {n_objects} objects; pass one per object")
    return [str(name) for name in ids]
