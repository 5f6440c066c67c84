"""Parquet files with a column of labels, through pyarrow."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from protoset._memory import unpacking_limit
from protoset.datasets._columns import assemble, label_text, read_column, read_target
from protoset.datasets._errors import check_unpacked, error_at, shown
from protoset.datasets.base import Attribute, Dataset, Format, Kind, Layout
from protoset.datasets.csv_tables import find_target
from protoset.exceptions import DataError

PARQUET_VALUE_BYTES = 56
"""Memory of a value while a table is read: as an object in a list, and in two arrays."""


def _pyarrow(file: str) -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as missing:
        raise error_at(
            file, "Parquet files need pyarrow, which is not installed; pip install 'protoset[parquet]'"
        ) from missing
    return pyarrow, parquet


def read_parquet(
    content: bytes,
    *,
    file: str = "bytes",
    target: str | int | Literal[False] | None = None,
    kind: Kind | None = None,
    limit: int | None = None,
) -> Dataset:
    """Read columns of numbers, booleans and texts; an index of pandas is left out.

    ``target`` and ``kind`` are as in ``read_csv``. ``limit`` is the number of bytes that may be unpacked, by default as
    in ``read``.
    """
    pyarrow, parquet = _pyarrow(file)
    try:
        about = parquet.read_metadata(pyarrow.BufferReader(content))
        # A few bytes may stand for many equal values, and the sizes in the file do not tell.
        encoded = sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups))
        size = encoded + PARQUET_VALUE_BYTES * about.num_rows * about.num_columns
        check_unpacked(file, size, unpacking_limit(len(content), None) if limit is None else limit)
        schema = parquet.read_schema(pyarrow.BufferReader(content))
        # Texts as dictionaries: each text once, however often it occurs.
        texts = [field.name for field in schema if pyarrow.types.is_string(field.type)]
        table = parquet.read_table(pyarrow.BufferReader(content), read_dictionary=texts)
        values = {name: _values(pyarrow, table.column(name)) for name in table.column_names}
    except DataError:
        raise
    # pyarrow does not document which errors a damaged file raises.
    except Exception as reason:
        raise error_at(file, f"expected a Parquet file, found something else ({shown(str(reason))})") from reason
    names = [name for name in table.column_names if not name.startswith("__index_level_")]
    if not names or not table.num_rows:
        raise error_at(file, "expected columns and rows, found none")
    rows = range(1, table.num_rows + 1)
    read = [_column(pyarrow.types, name, table.column(name).type, values[name], rows, file) for name in names]
    at, target_name, labels = len(names), "", np.full(table.num_rows, "")
    spelling: dict[int, str] = {}
    if target is not False:
        at = find_target(target, names, file)
        target_name = names[at]
        texts = [_label(value) for value in read[at][1]]
        labels, spelling = read_target(Attribute(target_name, "nominal"), texts, rows, file)
        del read[at]
    attributes = tuple(attribute for attribute, _ in read)
    objects = assemble(attributes, [values for _, values in read], len(labels), kind, file)
    layout = Layout("parquet", target=at, target_name=target_name, spelling=spelling)
    return Dataset(file, "mixed" if objects.dtype == object else "vectors", objects, labels, attributes, layout=layout)


def _values(pyarrow: Any, column: Any) -> list[Any]:
    """Return the values of a column; equal texts of a dictionary are one object."""
    if not pyarrow.types.is_dictionary(column.type):
        return column.to_pylist()
    values: list[Any] = []
    for chunk in column.chunks:
        words = chunk.dictionary.to_pylist()
        values += [None if code is None else words[code] for code in chunk.indices.to_pylist()]
    return values


def _label(value: Any) -> str | None:
    if value is None or value != value:
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _column(is_of: Any, name: str, of_type: Any, column: list[Any], rows: range, file: str) -> tuple[Attribute, Any]:
    """Return a column as an attribute and its values."""
    of_type = of_type.value_type if is_of.is_dictionary(of_type) else of_type
    if is_of.is_string(of_type) or is_of.is_large_string(of_type):
        return read_column(Attribute(name, "nominal"), column, rows, file)
    whole = is_of.is_integer(of_type) or is_of.is_boolean(of_type)
    if not whole and not is_of.is_floating(of_type) and not is_of.is_decimal(of_type):
        what = f"found the type {of_type}; remove or convert it"
        raise error_at(file, f"expected numbers or texts in the column {shown(name)}, {what}")
    values = np.array([np.nan if value is None else float(value) for value in column])
    if np.isinf(values).any():
        row = int(np.argmax(np.isinf(values))) + 1
        raise error_at(file, f"expected finite numbers in the column {shown(name)}, found infinity in row {row}")
    return Attribute(name, "integer" if whole else "real"), values


def write_parquet(dataset: Dataset) -> bytes:
    """Return a table as a Parquet file, its columns in the order in which they were read."""
    pyarrow, parquet = _pyarrow("write_rows")
    layout = dataset.layout or Layout("parquet", target=len(dataset.attributes))
    columns: dict[str, Any] = {}
    for position, attribute in enumerate(dataset.attributes):
        values = [None if value is None or value != value else value for value in dataset.objects[:, position].tolist()]
        if attribute.type == "nominal":
            columns[attribute.name] = pyarrow.array(values, pyarrow.string())
        else:
            whole = attribute.type == "integer" and all(value is None or float(value).is_integer() for value in values)
            numbers = [value if value is None else int(value) if whole else float(value) for value in values]
            columns[attribute.name] = pyarrow.array(numbers, pyarrow.int64() if whole else pyarrow.float64())
    labels: list[Any] = dataset.labels.tolist()
    if dataset.labels.dtype.kind not in "iu":
        labels = [label_text(label, layout) for label in dataset.labels]
    items = list(columns.items())
    items.insert(layout.target, (layout.target_name, pyarrow.array(labels)))
    target = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.table(dict(items)), target)
    return bytes(target.getvalue())


FORMATS = (
    Format(
        "parquet",
        (".parquet", ".pq"),
        ("vectors", "mixed"),
        read_parquet,
        write_parquet,
        ("target", "kind", "limit"),
        binary=True,
    ),
)
