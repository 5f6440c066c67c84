"""``read_queries``: objects to classify, from files with or without labels."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from protoset.datasets._errors import error_at, listed, shown
from protoset.datasets._forms import Decimal, date_form, is_date, read_date, read_numbers
from protoset.datasets._parsing import decode, is_number, number_text, split_lines, text_labels, to_numbers
from protoset.datasets.base import Attribute, Dataset, Format, Kind
from protoset.datasets.csv_sniffing import CSV_DELIMITERS
from protoset.datasets.csv_tables import read_csv
from protoset.datasets.formats import ending, find_format, recognise
from protoset.datasets.matrices import (
    LABEL_KEYS,
    MATRIX_KEYS,
    flat_labels,
    label_of,
    load_matlab,
    load_numpy,
    number_rows,
)
from protoset.datasets.named_matrices import NamedRows, columns_by_name, has_names, match_labels, read_named_rows
from protoset.datasets.phylip import read_phylip_rows
from protoset.datasets.reading import label_lines, read, read_as
from protoset.datasets.refused_formats import refuse_content, refuse_ending
from protoset.datasets.roles import ColumnOptions
from protoset.datasets.sources import Source, is_stream, open_source

TABLE_FORMATS = ("csv", "parquet")
"""Formats of tables without declared attributes."""


@dataclass(frozen=True, eq=False)
class Queries:
    """Objects to classify.

    Attributes
    ----------
    objects : ndarray or list
        Objects as in a :class:`Dataset`, with the attributes of the training set. For matrices: a row per query, with
        the distances to the training objects or to the prototypes.
    labels : ndarray of str or None
        Labels of the objects; None if the file has no labels.
    files : tuple of Path
        All files that were read.
    ids : ndarray of str or None
        Name of each object; None if the file has no names.
    """

    objects: Any
    labels: np.ndarray | None
    files: tuple[Path, ...]
    ids: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.objects)


def read_queries(
    path: str | os.PathLike[str] | IO[bytes] | IO[str],
    *,
    kind: Kind,
    attributes: Sequence[Attribute] = (),
    target: str | None = None,
    target_position: int = 0,
    id_column: str | None = None,
    columns: Sequence[str] = (),
    separator: str | None = None,
    labels: str | os.PathLike[str] | IO[bytes] | IO[str] | None = None,
    format: str | None = None,
    names: Sequence[str] | None = None,
    max_bytes: int | str | None = None,
) -> Queries:
    """Read objects of the kind that a model was fitted on.

    Columns of a table are matched by name; other columns are ignored. A table without column names must have either
    the columns of the training file, with or without the labels, or only the attributes. In a file of strings, a label
    and a tab come before the string in all lines or in no line. A matrix has a row per query; its columns are matched
    by name if it has column names and ``names`` is given.

    Parameters
    ----------
    path : path-like or file object
        As for :func:`read`.
    kind : {"vectors", "mixed", "series", "strings", "matrix"}
        Kind of the training objects.
    attributes : sequence of Attribute
        Attributes of the training set. For strings from a table: the column of the strings.
    target : str, optional
        Name of the column of labels.
    target_position : int
        Position of the column of labels.
    id_column : str, optional
        Name of the column of ids.
    columns : sequence of str
        Names of all columns of the training file, if some of them were left out.
    separator : str, optional
        Character between the fields of the training file. Needed only if it is not a tab, semicolon or comma.
    labels : path-like or file object, optional
        A file with a label per line, for matrices; or with a name and a label per line, if the rows have names.
    format : str, optional
        Format of the file; see :func:`read`.
    names : sequence of str, optional
        For matrices: names of the prototypes. If the file has names of columns, these columns are returned, in this
        order, and other columns are ignored.
    max_bytes : int or str, optional
        Largest content that is unpacked from a compressed file, or read from a stream; see :func:`read`.

    Returns
    -------
    Queries
        The objects, with labels and ids if the file has them.

    Raises
    ------
    DataError
        If the file cannot be read, or does not fit the training set.
    """
    if labels is not None and kind != "matrix":
        raise error_at(str(path), "labels= is for matrices; other files hold their labels; leave it out")
    if kind in ("series", "strings") and isinstance(path, (str, os.PathLike)) and Path(path).is_dir():
        dataset = read(path, kind=kind, format=format)
        return Queries(dataset.objects, dataset.labels.astype(str), dataset.layout.files if dataset.layout else ())
    source = open_source(path, max_bytes)
    if kind == "matrix":
        return _matrix(source, labels, format, names)
    if kind == "strings" and not (attributes and _is_table(source, attributes[0].name, format)):
        return _strings(source, format)
    of_kind = None if kind == "strings" else kind
    record = recognise(source.path, source.content, labels=None, kind=of_kind, is_table=kind != "series", format=format)
    if kind == "strings" or (kind != "series" and record.name in TABLE_FORMATS):
        trained = _TrainingTable(kind, tuple(attributes), target, target_position, id_column, tuple(columns), separator)
        return _table(record, source, trained)
    # Columns are read with their own types, then converted to the types of the training set.
    read_kind: Kind = "series" if kind == "series" else "mixed"
    dataset = read_as(record, source.content, str(source.path), kind=read_kind, limit=source.limit)
    objects, ids = dataset.objects, None
    if kind != "series":
        named = _named(dataset, attributes, str(source.path))
        objects = _joined([_as_declared(dataset, at, column, str(source.path)) for column, at in named], kind)
        of_file = [attribute.name for attribute in dataset.attributes]
        ids = _id_texts(dataset, of_file.index(id_column)) if id_column in of_file else None
    return Queries(objects, dataset.labels.astype(str), source.files, ids)


@dataclass(frozen=True)
class _TrainingTable:
    """The table that a model was fitted on; as the arguments of ``read_queries``."""

    kind: Kind
    attributes: tuple[Attribute, ...]
    target: str | None
    target_position: int
    id_column: str | None
    columns: tuple[str, ...]
    separator: str | None

    @property
    def all_columns(self) -> tuple[str, ...]:
        """Names of all columns in the order of the file."""
        if self.columns:
            return self.columns
        names = [attribute.name for attribute in self.attributes]
        names.insert(self.target_position, self.target or "")
        return tuple(names)


def _is_table(source: Source, column: str, format: str | None) -> bool:
    """Whether a file is a table with a column of this name."""
    if format is not None:
        return find_format(format).name in TABLE_FORMATS
    if source.content.startswith(b"PAR1"):
        return True
    first = next((line for line in split_lines(decode(source.content, str(source.path))) if line.strip()), "")
    return column in [name.strip(" \"'") for mark in CSV_DELIMITERS for name in first.split(mark)]


def _read_table(record: Format, source: Source, trained: _TrainingTable, id_column: str | None) -> Dataset:
    """Read all columns of a table as numbers or texts, but the ids as they are written."""
    file = str(source.path)
    options = ColumnOptions(raw=True, id=id_column)
    if record.name != "csv":
        return read_as(record, source.content, file, target=False, columns=options, limit=source.limit)
    text, separator = decode(source.content, file), trained.separator
    known = None if separator is None or separator in CSV_DELIMITERS or separator not in text else separator
    wanted = [attribute.name for attribute in trained.attributes]
    return read_csv(text, file=file, target=False, expected=wanted, columns=replace(options, separator=known))


def _strings(source: Source, format: str | None) -> Queries:
    file = str(source.path)
    if format is None:
        refuse_ending(file, ending(source.path))
    elif "strings" not in find_format(format).kinds:
        raise error_at(file, f"expected strings as in the training set, and format={format!r} holds none")
    refuse_content(file, source.content)
    numbered = enumerate(split_lines(decode(source.content, file)), 1)
    lines = {number: line for number, line in numbered if line.strip()}
    if not lines:
        raise error_at(file, "expected a string in each line, found an empty file")
    bare = [number for number, line in lines.items() if "\t" not in line]
    if len(bare) == len(lines):
        return Queries(list(lines.values()), None, source.files)
    if bare:
        raise error_at(file, "expected a label and a tab before all strings or before none", bare[0])
    pairs = [line.partition("\t") for line in lines.values()]
    labels = text_labels([label.strip() for label, _, _ in pairs], file)
    return Queries([string for _, _, string in pairs], labels, source.files)


def _matrix(source: Source, labels: Any, format: str | None, names: Sequence[str] | None) -> Queries:
    content, file = source.content, str(source.path)
    label_texts: Any = None
    ids: Sequence[str] | None = None
    record = recognise(source.path, content, labels=None, kind="matrix", format=format)
    if record.name in ("npy", "npz", "mat"):
        load = load_matlab if record.name == "mat" else load_numpy
        loaded = load(content, file, source.limit)
        if isinstance(loaded, dict):
            loaded, label_texts = _of_arrays(loaded, file)
        matrix = np.atleast_2d(loaded)
        if matrix.ndim != 2 or matrix.dtype.kind not in "iufb" or not matrix.size:
            raise error_at(file, f"expected rows of distances, found {matrix.dtype} of the shape {matrix.shape}")
        matrix = matrix.astype(np.float64)
    else:
        matrix, ids = _text_matrix(record, decode(content, file), file, names)
    files = source.files
    if labels is not None:
        files = files if is_stream(labels) else (*files, Path(labels))
        label_texts = np.array(match_labels(label_lines(labels), ids, file))
    if label_texts is not None and len(label_texts) != len(matrix):
        raise error_at(file, f"expected {len(matrix)} labels, one per row, found {len(label_texts)}")
    return Queries(matrix, label_texts, files, None if ids is None else np.array(ids, dtype=str))


def _text_matrix(
    record: Format, text: str, file: str, names: Sequence[str] | None
) -> tuple[np.ndarray, Sequence[str] | None]:
    """Return rows of distances, the columns as ``names`` says where the text has names, and the names of the rows."""
    if record.name == "phylip":
        matrix, own, _ = read_phylip_rows(text, file)
        rows = NamedRows(matrix, own, own, " ")
    elif record.name != "matrix-csv":
        raise error_at(file, f"expected rows of distances as in the training set, found the format {record.name}")
    elif has_names(text):
        rows = read_named_rows(text, file)
    else:
        return number_rows(text, file)[0], None
    if names is None or rows.across is None:
        return rows.values, rows.down
    return columns_by_name(rows, names, file), rows.down


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


def _table(record: Format, source: Source, trained: _TrainingTable) -> Queries:
    file = str(source.path)
    dataset = _read_table(record, source, trained, trained.id_column)
    name_of = _names_in_table(dataset, trained, file)
    if dataset.ids is None and trained.id_column in name_of:
        # The file has no names: 00042 was read as a number.
        dataset = _read_table(record, source, trained, name_of[trained.id_column])
    position_of = {attribute.name: position for position, attribute in enumerate(dataset.attributes)}
    columns = [
        _as_declared(dataset, position_of[name_of[attribute.name]], attribute, file) for attribute in trained.attributes
    ]
    labels = None if trained.target not in name_of else _label_texts(dataset, position_of[name_of[trained.target]])
    ids = dataset.ids
    if trained.kind == "strings":
        return Queries(["" if text is None else text for text in columns[0]], labels, source.files, ids)
    kind: Kind = "mixed" if any(attribute.type == "nominal" for attribute in trained.attributes) else "vectors"
    return Queries(_joined(columns, kind), labels, source.files, ids)


def _names_in_table(dataset: Dataset, trained: _TrainingTable, file: str) -> dict[str | None, str]:
    """Return the name in the table of each column of the training file that the table has."""
    names = dataset.columns
    wanted = [attribute.name for attribute in trained.attributes]
    has_names = dataset.layout is not None and (dataset.layout.format == "parquet" or bool(dataset.layout.header))
    known = set(names)
    if has_names and known >= set(wanted):
        return {name: name for name in names}
    if has_names and not all(name.startswith("column ") for name in wanted):
        lacking = [name for name in wanted if name not in known]
        raise error_at(file, f"expected the columns of the training set; there is no {listed(lacking)}")
    everything = trained.all_columns
    without_labels = everything[: trained.target_position] + everything[trained.target_position + 1 :]
    for columns in (everything, without_labels, wanted):
        if len(columns) == len(names):
            return dict(zip(columns, names, strict=True))
    raise error_at(file, f"expected {len(wanted)} columns as in the training set, found {len(names)}")


def _id_texts(dataset: Dataset, position: int) -> np.ndarray:
    """Return a column of ids that was read as an attribute."""
    column = dataset.objects[:, position].tolist()
    is_text = dataset.attributes[position].type == "nominal"
    texts = [str(value) if is_text else number_text(float(value), whole=True) for value in column]
    return text_labels(
        ["" if value is None or value != value else text for value, text in zip(column, texts, strict=True)],
        dataset.name,
    )


def _named(dataset: Dataset, attributes: Sequence[Attribute], file: str) -> list[tuple[Attribute, int]]:
    position_of = {attribute.name: position for position, attribute in reversed(list(enumerate(dataset.attributes)))}
    lacking = [attribute.name for attribute in attributes if attribute.name not in position_of]
    if lacking:
        raise error_at(file, f"expected the attributes of the training set; there is no {listed(lacking)}")
    return [(attribute, position_of[attribute.name]) for attribute in attributes]


def _as_declared(dataset: Dataset, position: int, attribute: Attribute, file: str) -> list[Any]:
    """Return a column with the type of the training set: numbers, or texts of categories."""
    column = dataset.objects[:, position].tolist()
    of_type = dataset.attributes[position].type
    if attribute.type != "nominal":
        if of_type == "nominal":
            return _numbers_of_texts([None if value is None else str(value) for value in column], attribute, file)
        return [np.nan if value is None else float(value) for value in column]
    if of_type == "nominal":
        return column
    by_number = {float(value): value for value in reversed(attribute.values) if is_number(value)}
    return [
        None if value is None or value != value else by_number.get(value, number_text(value, whole=True))
        for value in column
    ]


def _numbers_of_texts(texts: Sequence[str | None], attribute: Attribute, file: str) -> list[float]:
    """Return texts as numbers or days, in the form of the training set or in another form that leaves no doubt."""
    if attribute.type == "date":
        form = attribute.form
        if not all(text is None or is_date(text, form) for text in texts):
            form = date_form(texts) or form
        days = [np.nan if text is None else read_date(text, form) for text in texts]
        bad = next((row for row, day in enumerate(days) if day is None), -1)
        numbers = np.array(days, dtype=float)
    else:
        numbers, bad = to_numbers(texts)
        marks: tuple[Decimal, ...] = (",", ".") if "4,5" in attribute.form else (".", ",")
        # "1,5" is a number if the training set has decimal commas; "1.5" always is.
        for decimal in marks if "4,5" in attribute.form else marks[:1]:
            read_as_form = read_numbers(texts, decimal) if bad >= 0 else None
            if read_as_form is not None:
                numbers, bad = read_as_form[0], -1
    if bad >= 0:
        what = f"dates ({attribute.form})" if attribute.type == "date" else "numbers"
        raise error_at(
            file,
            f"expected {what} in {attribute.name!r} as in the training set, found {shown(str(texts[bad]))}, row {bad}",
        )
    return numbers.tolist()


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
