"""What a report is about: training objects, held-out objects, the selector that was fitted, the space between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from protoset.classifier import PrototypeClassifier
from protoset.datasets import Dataset
from protoset.selectors import BaseSelector
from protoset.spaces import Dissimilarities, Space, make_space


@dataclass(frozen=True, eq=False)
class Parts:
    """What a report is about, checked.

    Attributes
    ----------
    train : Dataset
    test : Dataset or None
    selector : BaseSelector
    rule : {"nearest", "adjusted"}
        How a classifier answers with the prototypes.
    space : Space
        Of the training objects.
    queries : Space or None
        From the held-out objects to the training objects.
    classes : list of str
        Names of the classes of the training set, then of those that only held-out objects have.
    codes, test_codes : ndarray of int
        Class of each object.
    ids, test_ids : list of str
    transformed : str
        Name of what was done to the objects before they were compared; empty for nothing.
    """

    train: Dataset
    test: Dataset | None
    selector: BaseSelector
    rule: str
    space: Space
    queries: Dissimilarities | None
    classes: list[str]
    codes: np.ndarray
    test_codes: np.ndarray
    ids: list[str]
    test_ids: list[str]
    transformed: str

    @property
    def source(self) -> Path | None:
        """The file or folder that the training objects were read from."""
        return self.train.path


def gather_parts(
    dataset: Dataset,
    selector: Any,
    *,
    test: Dataset | None,
    transform: Callable[[Any], Any] | None,
    ids: Sequence[Any] | None,
    test_ids: Sequence[Any] | None,
) -> Parts:
    """Check what a report is about; arguments as in :func:`protoset.report.build_report`."""
    if not isinstance(dataset, Dataset):
        raise TypeError(
            f"dataset is of the type {type(dataset).__name__}; pass a protoset.datasets.Dataset, for example "
            "Dataset(name, 'vectors', X, y)"
        )
    if test is None and dataset.n_train is not None:
        dataset, test = divide(dataset)
    if test is not None and test.kind != dataset.kind:
        raise ValueError(f"test holds {test.kind} and dataset {dataset.kind}; pass held-out objects of the same kind")
    chosen, rule = _fitted(selector)
    _check_fit(chosen, dataset)
    labels = np.asarray(dataset.labels)
    transformed = transform if transform is not None else (lambda objects: objects)
    space = make_space(transformed(dataset.objects), chosen.metric, chosen.metric_params, y=labels)
    has_test = test is not None and test.n_objects > 0
    test_labels = np.asarray(test.labels) if test is not None and has_test else labels[:0]
    values = [*chosen.classes_.tolist(), *sorted(set(test_labels.tolist()) - set(chosen.classes_.tolist()))]
    place_of = {value: place for place, value in enumerate(values)}
    return Parts(
        train=dataset,
        test=test if has_test else None,
        selector=chosen,
        rule=rule,
        space=space,
        queries=space.cross(transformed(test.objects)) if test is not None and has_test else None,
        classes=[str(value) for value in values],
        codes=np.array([place_of[label] for label in labels.tolist()], int),
        test_codes=np.array([place_of[label] for label in test_labels.tolist()], int),
        ids=_names("ids", ids, dataset.n_objects),
        test_ids=_names("test_ids", test_ids, len(test_labels)),
        transformed="" if transform is None else getattr(transform, "__qualname__", type(transform).__name__),
    )


def divide(dataset: Dataset) -> tuple[Dataset, Dataset]:
    """Training and held-out part of a data set that comes with a split."""
    n = dataset.n_train or 0
    objects, held_out = dataset.objects[:n], dataset.objects[n:]
    if dataset.kind == "matrix":
        objects, held_out = objects[:, :n], held_out[:, :n]
    train = replace(dataset, objects=objects, labels=dataset.labels[:n], n_train=None)
    return train, replace(dataset, objects=held_out, labels=dataset.labels[n:], n_train=None)


def _fitted(selector: Any) -> tuple[BaseSelector, str]:
    if isinstance(selector, PrototypeClassifier):
        check_is_fitted(selector, "classes_")
        if not hasattr(selector, "selector_"):
            raise ValueError(
                "selector is a classifier that came from a file, which does not hold its selector; pass a fitted one"
            )
        return selector.selector_, selector.rule
    if not isinstance(selector, BaseSelector):
        raise TypeError(f"selector={selector!r} is no selector of protoset; pass a fitted REPS or PrototypeClassifier")
    check_is_fitted(selector, "sample_indices_")
    return selector, "nearest"


def _check_fit(selector: BaseSelector, dataset: Dataset) -> None:
    """Refuse training objects that the selector was not fitted on, as far as can be seen."""
    n_fitted = len(getattr(selector, "weights_", ())) or dataset.n_objects
    same_classes = set(np.unique(dataset.labels).tolist()) == set(selector.classes_.tolist())
    if n_fitted != dataset.n_objects or int(selector.sample_indices_.max()) >= dataset.n_objects or not same_classes:
        raise ValueError(
            f"selector was not fitted on the {dataset.n_objects} objects of dataset: the number of objects or the "
            "classes differ; pass the training objects that it was fitted on, and the others as test"
        )


def _names(argument: str, names: Sequence[Any] | None, n_objects: int) -> list[str]:
    if names is None:
        return [str(position) for position in range(n_objects)]
    if len(names) != n_objects:
        raise ValueError(f"{argument} has {len(names)} entries for {n_objects} objects; pass one per object")
    return [str(name) for name in names]
