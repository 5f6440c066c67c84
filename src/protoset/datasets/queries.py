"""``read_queries``: objects to classify, from files with or without labels."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from protoset.datasets._errors import error_at, listed, shown
from protoset.datasets._parsing import decode, is_number, number_text, split_lines, text_labels, to_numbers
from protoset.datasets.base import Attribute, Dataset, Kind
from protoset.datasets.csv_tables import read_csv
from protoset.datasets.formats import ending, recognise
from protoset.datasets.matrices import (
    LABEL_KEYS,
    MATRIX_KEYS,
    flat_labels,
    label_of,
    load_matlab,
    load_numpy,
    number_rows,
)
from protoset.datasets.reading import file_limit, label_lines, read, read_bytes

TABLE_FORMATS = ("csv", "parquet")
"""Formats of tables without declared attributes."""


@dataclass(frozen=True, eq=False)
class Queries:
    """Objects to classify.

    Attributes
    ----------
    objects : ndarray or list
        As in a data set, with the attributes of the training set. For matrices, the distances to the training objects
        or to the prototypes, a row per query.
    labels : ndarray of str or None
        None if the file has no labels.
    files : tuple of Path
        All files that were read.
    ids : ndarray of str or None
        The name of each object, where the file has one.
    """

    objects: Any
    labels: np.ndarray | None
    files: tuple[Path, ...]
    ids: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.objects)


def read_queries(
    path: str | os.PathLike[str],
    *,
    kind: Kind,
    attributes: Sequence[Attribute] = (),
    target: str | None = None,
    target_position: int = 0,
    labels: str | os.PathLike[str] | None = None,
    max_bytes: int | str | None = None,
) -> Queries:
    """Read objects of the kind that a model was fitted on.

    Columns of a table are matched by name, and other columns are ignored. A table without names must have as many
    columns as attributes, or one more: then the labels have the same position as in the training file. In a file of
    strings, either all lines have a label and a tab before the string, or no line. A matrix has a row per query.

    Parameters
    ----------
    path : path-like
    kind : {"vectors", "mixed", "series", "strings", "matrix"}
    attributes : sequence of Attribute
        Of the training set.
    target : str, optional
        Name of the column of labels.
    target_position : int
        Its position.
    labels : path-like, optional
        A file with a label per line, for matrices.
    max_bytes : int or str, optional
        Largest content that is unpacked from a compressed file; see :func:`read`.

    Returns
    -------
    Queries

    Raises
    ------
    DataError
    """
    path = Path(path)
    if kind == "matrix":
        return _matrix(path, labels, max_bytes)
    if labels is not None:
        raise error_at(str(path), "labels= is for matrices; other files hold their labels; leave it out")
    if kind == "strings" and not path.is_dir():
        return _strings(path, max_bytes)
    if kind in ("series", "strings"):
        dataset = read(path, kind=kind, max_bytes=max_bytes)
        return Queries(dataset.objects, dataset.labels.astype(str), _files(dataset))
    content = read_bytes(path, max_bytes)
    format_name = recognise(path, content, target=None, labels=None, kind=kind).name
    if format_name in TABLE_FORMATS:
        if format_name == "csv":
            wanted = [attribute.name for attribute in attributes]
            table = read_csv(decode(content, str(path)), file=str(path), target=False, expected=wanted)
        else:
            table = read(path, target=False, max_bytes=max_bytes)
        return _table(table, path, attributes, target, target_position)
    # Columns are read with their own types, then converted to the types of the training set.
    dataset = read(path, kind="mixed", max_bytes=max_bytes)
    columns = [_as_declared(dataset, at, attribute, str(path)) for attribute, at in _named(dataset, attributes)]
    return Queries(_joined(columns, kind), dataset.labels.astype(str), _files(dataset))


def _files(dataset: Dataset) -> tuple[Path, ...]:
    return dataset.layout.files if dataset.layout else ()


def _strings(path: Path, max_bytes: int | str | None) -> Queries:
    numbered = enumerate(split_lines(decode(read_bytes(path, max_bytes), str(path))), 1)
    lines = {number: line for number, line in numbered if line.strip()}
    if not lines:
        raise error_at(str(path), "expected a string in each line, found an empty file")
    bare = [number for number, line in lines.items() if "\t" not in line]
    if len(bare) == len(lines):
        return Queries(list(lines.values()), None, (path,))
    if bare:
        raise error_at(str(path), "expected a label and a tab before all strings or before none", bare[0])
    pairs = [line.partition("\t") for line in lines.values()]
    labels = text_labels([label.strip() for label, _, _ in pairs], str(path))
    return Queries([string for _, _, string in pairs], labels, (path,))


def _matrix(path: Path, labels: str | os.PathLike[str] | None, max_bytes: int | str | None) -> Queries:
    content, file = read_bytes(path, max_bytes), str(path)
    label_texts: Any = None
    if ending(path) in (".npy", ".npz", ".mat"):
        load = load_matlab if ending(path) == ".mat" else load_numpy
        loaded = load(content, file, file_limit(path, max_bytes))
        if isinstance(loaded, dict):
            loaded, label_texts = _of_arrays(loaded, file)
        matrix = np.atleast_2d(loaded)
        if matrix.ndim != 2 or matrix.dtype.kind not in "iufb" or not matrix.size:
            raise error_at(file, f"expected rows of distances, found {matrix.dtype} of the shape {matrix.shape}")
        matrix = matrix.astype(np.float64)
    else:
        matrix, _ = number_rows(decode(content, file), file)
    files: tuple[Path, ...] = (path,)
    if labels is not None:
        files = (path, Path(labels))
        label_texts = np.array(label_lines(Path(labels)))
    if label_texts is not None and len(label_texts) != len(matrix):
        raise error_at(str(labels or path), f"expected {len(matrix)} labels, one per row, found {len(label_texts)}")
    return Queries(matrix, label_texts, files)


def _of_arrays(arrays: dict[str, Any], file: str) -> tuple[Any, np.ndarray | None]:
    """Return the matrix in a file of several arrays, and the labels if there are any."""
    key = next((key for key in LABEL_KEYS if key in arrays), None)
    keys = [key for key in MATRIX_KEYS if key in arrays]
    if not keys:
        raise error_at(file, f"expected an array called {MATRIX_KEYS[0]}, found {listed(arrays) or 'none'}")
    matrix = arrays[keys[0]]
    if key is None:
        return matrix, None
    labels = flat_labels(arrays[key], key, file, most=np.size(matrix) + 1)
    return matrix, np.array([label_of(label) for label in labels])


def _table(
    dataset: Dataset, path: Path, attributes: Sequence[Attribute], target: str | None, target_position: int
) -> Queries:
    file = str(path)
    names = [attribute.name for attribute in dataset.attributes]
    has_names = dataset.layout is not None and (dataset.layout.format == "parquet" or bool(dataset.layout.header))
    wanted = [attribute.name for attribute in attributes]
    at: int | None = None
    position_of = {name: position for position, name in reversed(list(enumerate(names)))}
    if has_names and position_of.keys() >= set(wanted):
        positions = [position_of[name] for name in wanted]
        at = None if target is None else position_of.get(target)
    elif has_names and not all(name.startswith("column ") for name in wanted):
        lacking = [name for name in wanted if name not in position_of]
        raise error_at(file, f"expected the columns of the training set; there is no {listed(lacking)}")
    elif len(names) == len(wanted):
        positions = list(range(len(names)))
    elif len(names) == len(wanted) + 1:
        at = target_position
        positions = [position for position in range(len(names)) if position != at]
    else:
        raise error_at(file, f"expected {len(wanted)} columns as in the training set, found {len(names)}")
    columns = [
        _as_declared(dataset, position, attribute, file)
        for attribute, position in zip(attributes, positions, strict=True)
    ]
    labels = None if at is None else _label_texts(dataset, at)
    kind: Kind = "mixed" if any(attribute.type == "nominal" for attribute in attributes) else "vectors"
    return Queries(_joined(columns, kind), labels, (path,))


def _named(dataset: Dataset, attributes: Sequence[Attribute]) -> list[tuple[Attribute, int]]:
    position_of = {attribute.name: position for position, attribute in reversed(list(enumerate(dataset.attributes)))}
    lacking = [attribute.name for attribute in attributes if attribute.name not in position_of]
    if lacking:
        raise error_at(str(dataset.path), f"expected the attributes of the training set; there is no {listed(lacking)}")
    return [(attribute, position_of[attribute.name]) for attribute in attributes]


def _as_declared(dataset: Dataset, position: int, attribute: Attribute, file: str) -> list[Any]:
    """Return a column with the type of the training set: numbers, or texts of categories."""
    column = dataset.objects[:, position].tolist()
    of_type = dataset.attributes[position].type
    if attribute.type != "nominal":
        if of_type == "nominal":
            texts = [None if value is None else str(value) for value in column]
            numbers, bad = to_numbers(texts)
            if bad >= 0:
                raise error_at(
                    file,
                    f"expected numbers in {attribute.name!r} as in the training set, found {shown(str(texts[bad]))}",
                )
            return numbers.tolist()
        return [np.nan if value is None else float(value) for value in column]
    if of_type == "nominal":
        return column
    by_number = {float(value): value for value in reversed(attribute.values) if is_number(value)}
    return [
        None if value is None or value != value else by_number.get(value, number_text(value, whole=True))
        for value in column
    ]


def _label_texts(dataset: Dataset, at: int) -> np.ndarray | None:
    column = dataset.objects[:, at].tolist()
    if any(value is None or value != value for value in column):
        return None
    texts = [value if isinstance(value, str) else number_text(float(value), whole=True) for value in column]
    return text_labels(texts, dataset.name)


def _joined(columns: Sequence[list[Any]], kind: Kind) -> np.ndarray:
    if kind != "mixed":
        return np.array(columns, dtype=np.float64).T
    objects = np.empty((len(columns[0]), len(columns)), dtype=object)
    for position, column in enumerate(columns):
        objects[:, position] = column
    return objects
