"""Convert the arguments of a report to the material of the page: data sets, a selector or classifier, a transform.

estimator        PrototypeClassifier, selector   Pipeline             DataModel
transform        none                            the steps before     its preparation
page shows       X                               X                    X
metric compares  X                               transform(X)         transform(X)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from protoset._cluster import is_dask
from protoset._frames import columns_of, is_frame, is_polars, refuse_other_frames
from protoset._image_shapes import ShownAs
from protoset._report.images import find_image_shape
from protoset._validation import check_callable, check_labels
from protoset.datasets import Attribute, Dataset
from protoset.datasets.base import Kind
from protoset.models import DataModel
from protoset.models.unpacking import Steps, Transform, unpack_estimator
from protoset.spaces import DISSIMILARITIES, Dissimilarities
from protoset.spaces.attributes import is_missing
from protoset.spaces.automatic import NUMBER_KINDS, choose_metric

MOST_DENSE_VALUES = 100_000_000
"""Largest number of values, zeros included, of a sparse matrix that is made dense for a page."""

KIND_OF_OBJECTS: dict[str, Kind] = {
    "vectors": "vectors",
    "mixed attributes": "mixed",
    "series": "series",
    "strings": "strings",
    "matrix": "matrix",
}
"""Kind of the data set for each kind of objects that a metric compares."""

NOUNS: dict[Kind, str] = {"vectors": "rows", "mixed": "rows", "series": "series", "strings": "strings"}
"""Words for the kinds of objects in the default title of a page; other kinds are called objects."""


@dataclass(frozen=True, eq=False)
class Material:
    """The material of a page.

    ``dataset`` and ``test`` have the objects as the page shows them. ``objects`` and ``test_objects`` are those that
    the metric compares; None where ``transform`` makes them. ``transform_name`` is None where the transform has its
    own. ``image_shape`` is the shape of rows of pixels: None guesses, False shows them as rows.
    """

    selector: Any
    dataset: Dataset
    test: Dataset | None
    transform: Transform | None
    transform_name: str | None = None
    objects: Any = None
    test_objects: Any = None
    image_shape: ShownAs = None


class Transposed:
    """Series with channels as columns, as a page takes them, from series with channels as rows, and back."""

    name = ""

    def __call__(self, objects: Any) -> list[np.ndarray]:
        """Return each series transposed."""
        return [np.asarray(series).T for series in objects]

    inverse_transform = __call__


def gather(
    estimator: Any, X: Any, y: Any, X_test: Any, y_test: Any, transform: Transform | None, image_shape: ShownAs
) -> Material:
    """Return the material of the page; arguments as in :func:`protoset.report`."""
    check_callable("transform", transform)
    selector, steps = unpack_estimator(estimator)
    if steps is not None and transform is not None:
        raise ValueError(
            f"transform={transform!r} is given, but the estimator has steps of its own; leave transform out, or pass "
            "the classifier alone as estimator"
        )
    transform = transform if steps is None else steps
    name = steps.name if isinstance(steps, Steps) else None
    if isinstance(X, Dataset):
        for argument, value in (("y", y), ("y_test", y_test)):
            if value is not None:
                raise ValueError(
                    f"{argument} is given, but X is a Dataset, which has its own labels; leave {argument} out"
                )
        if X_test is not None and not isinstance(X_test, Dataset):
            raise TypeError(f"X_test has the type {type(X_test).__name__}; X is a Dataset, so pass a Dataset, or None")
        return Material(selector, X, X_test, transform, name, image_shape=image_shape)
    if X_test is None and y_test is not None:
        raise ValueError("y_test is given without X_test; pass X_test too, or leave y_test out")
    model = estimator if isinstance(estimator, DataModel) else None
    _check_objects("X", X)
    kind = _kind(X, selector, transform) if model is None else model.preparation.kind
    attributes = _attributes(X, estimator) if model is None else model.preparation.attributes
    # A model takes series with channels as columns, as a page does; a classifier takes channels as rows.
    has_rows = kind == "series" and model is None
    dataset = _dataset("X", X, y, kind, attributes, transpose=has_rows)
    test = None
    if X_test is not None:
        _check_objects("X_test", X_test)
        test = _dataset("X_test", X_test, y_test, kind, attributes, transpose=has_rows)
    shape = find_image_shape(dataset, image_shape)
    if shape is not None:
        dataset = replace(dataset, name=f"{dataset.n_objects:,} images")
    if model is not None:
        return Material(selector, dataset, test, transform, image_shape=shape or False)
    objects, test_objects = X, X_test
    if transform is not None:
        objects, test_objects = transform(X), None if X_test is None else transform(X_test)
    elif has_rows:
        transform, name = Transposed(), ""
    return Material(selector, dataset, test, transform, name, objects, test_objects, shape or False)


def _check_objects(argument: str, X: Any) -> None:
    """Raise an error for an argument without objects that a page can show."""
    refuse_other_frames(X)
    if isinstance(X, Dissimilarities):
        raise TypeError(
            f"{argument} is a space, which has no objects to show; pass the objects, and the space as space="
        )
    if is_dask(X):
        raise TypeError(f"{argument} is a Dask collection; gather it with {argument}.compute(), or pass a sample of it")
    if X is None or isinstance(X, (str, bytes, dict)) or not (hasattr(X, "__len__") or hasattr(X, "shape")):
        raise TypeError(f"{argument} is of the type {type(X).__name__}; pass the objects as in fit, or a Dataset")


def _kind(X: Any, selector: Any, transform: Any) -> Kind:
    """Kind of the objects before any transform: from the metric if there is no transform, else from their type."""
    metric = getattr(getattr(selector, "selector_", selector), "metric_", "callable")
    compared = DISSIMILARITIES[metric].kind if transform is None else "objects"
    if compared in ("matrix", "series", "strings"):
        return KIND_OF_OBJECTS[compared]
    if is_frame(X):
        return "vectors" if choose_metric(X) == "euclidean" else "mixed"
    if sparse.issparse(X):
        return "vectors"
    if compared != "objects":
        return "vectors" if np.asarray(X).dtype.kind in NUMBER_KINDS else "mixed"
    try:
        return KIND_OF_OBJECTS[DISSIMILARITIES[choose_metric(X)].kind]
    except ValueError:
        # Rows with texts, or objects of a kind that only the user's function knows: shown as texts.
        return "mixed" if np.ndim(X) == 2 else "strings"


def _attributes(X: Any, estimator: Any) -> tuple[Attribute, ...]:
    """Columns of a DataFrame, or the names that the estimator saw in its fit; none where columns have no names."""
    if not is_frame(X):
        return tuple(Attribute(str(name), "real") for name in getattr(estimator, "feature_names_in_", ()))
    types: dict[str, Any] = {"f": "real", "i": "integer", "u": "integer", "M": "date"}
    return tuple(
        Attribute(str(name), types.get(getattr(values.dtype, "kind", "O"), "nominal")) for name, values in columns_of(X)
    )


def _dataset(
    argument: str, X: Any, y: Any, kind: Kind, attributes: tuple[Attribute, ...], *, transpose: bool
) -> Dataset:
    """Objects and labels as a data set; texts of the index of a pandas DataFrame are the ids, unless it just counts."""
    if y is None:
        labels = "y" if argument == "X" else "y_test"
        raise ValueError(f"{labels}=None: {argument} has no labels; pass {labels}, or a Dataset as {argument}")
    n_objects = len(y) if kind == "matrix" else (X.shape[0] if hasattr(X, "shape") else len(X))
    if n_objects == 0:
        raise ValueError(f"{argument} has no objects; pass at least one")
    classes, codes = check_labels(y, n_objects, fewest=1, name="y" if argument == "X" else "y_test")
    name = f"{n_objects:,} {NOUNS.get(kind, 'objects')}"
    objects = SHOWN[kind](X)
    if kind in ("vectors", "mixed") and objects.ndim != 2:
        raise ValueError(f"{argument} has the shape {objects.shape}; pass a row of values per object")
    if transpose:
        objects = Transposed()(objects)
    if kind not in ("vectors", "mixed") or len(attributes) != objects.shape[1]:
        attributes = ()
    return Dataset(name, kind, objects, classes[codes], attributes, ids=_index(X, n_objects))


def _index(X: Any, n_objects: int) -> np.ndarray | None:
    if not hasattr(X, "iloc") or list(X.index[: n_objects + 1]) == list(range(n_objects)):
        return None
    return np.array([str(name) for name in X.index], object)


def _vectors(X: Any) -> np.ndarray:
    """Rows of numbers."""
    if sparse.issparse(X):
        n_values = X.shape[0] * X.shape[1]
        if n_values > MOST_DENSE_VALUES:
            raise ValueError(
                f"X is sparse, and has {n_values:,} values with its zeros; a page shows at most {MOST_DENSE_VALUES:,}: "
                "pass the most important columns, as in a Pipeline that selects them before the classifier"
            )
        return X.toarray()
    if is_frame(X) and not is_polars(X):
        return X.to_numpy(float, na_value=np.nan)
    return np.asarray(X, float)


def _mixed(X: Any) -> np.ndarray:
    """Rows of numbers and texts; None where a value is missing."""
    if not is_frame(X):
        rows = [list(row) for row in X]
        cells = np.empty((len(rows), len(rows[0]) if rows else 0), object)
        for position, row in enumerate(rows):
            cells[position] = row
        return cells
    columns = columns_of(X)
    cells = np.empty((len(X), len(columns)), object)
    for position, (_, values) in enumerate(columns):
        if getattr(values.dtype, "kind", "O") == "M":
            texts = np.asarray(values, "datetime64[s]").astype(str)
            cells[:, position] = [None if text == "NaT" else text.removesuffix("T00:00:00") for text in texts]
        else:
            cells[:, position] = [None if is_missing(value) else value for value in values]
    return cells


def _series(X: Any) -> list[np.ndarray]:
    return [np.asarray(series, float) for series in (np.asarray(X, float) if is_frame(X) else X)]


def _texts(X: Any) -> list[Any]:
    """Texts and lists of tokens as they are, other objects as Python writes them."""
    objects = X.tolist() if isinstance(X, np.ndarray) else list(X)
    return [item if isinstance(item, (str, list, tuple)) else str(item) for item in objects]


SHOWN: dict[Kind, Callable[[Any], Any]] = {
    "vectors": _vectors,
    "mixed": _mixed,
    "series": _series,
    "strings": _texts,
    "matrix": lambda X: X,
}
"""Objects of each kind in the form that data sets have."""
