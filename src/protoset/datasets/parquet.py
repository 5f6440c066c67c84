"""Parquet files with a column of labels, through pyarrow."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import numpy as np

from protoset._extras import how_to_install
from protoset._memory import unpacking_limit
from protoset.datasets._columns import assemble, label_text, read_column, read_target, read_texts, text_objects
from protoset.datasets._errors import check_unpacked, error_at, listed, shown
from protoset.datasets._forms import SECONDS_OF_DAY, days_of
from protoset.datasets.base import Attribute, Dataset, Format, Kind, Layout, LeftOut
from protoset.datasets.roles import (
    ChosenColumns,
    ColumnOptions,
    as_ids,
    check_classes,
    choose_columns,
    named_target,
    only_categorical,
    refuse_no_attributes,
    why_no_category,
    why_no_number,
)
from protoset.exceptions import DataError

PARQUET_VALUE_BYTES = 56
"""Memory of a value while a table is read: as an object in a list, and in two arrays."""


def _pyarrow(file: str) -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as missing:
        raise error_at(
            file, f"Parquet files need pyarrow, which is not installed; {how_to_install('parquet')}"
        ) from missing
    return pyarrow, parquet


def read_parquet(
    content: bytes,
    *,
    file: str = "bytes",
    target: str | int | Literal[False] | None = None,
    kind: Kind | None = None,
    columns: ColumnOptions = ColumnOptions(),  # noqa: B008 (frozen)
    limit: int | None = None,
) -> Dataset:
    """Read columns of numbers, booleans, dates and texts; an index of pandas is left out, and has the ids.

    ``target`` and ``kind`` are as in ``read_csv``. ``limit`` is the number of bytes that may be unpacked, by default as
    in ``read``.
    """
    for option in ("header", "separator", "decimal"):
        if getattr(columns, option) is not None:
            raise error_at(file, f"{option}= is for CSV files, and this is a Parquet file; leave it out")
    pyarrow, parquet = _pyarrow(file)
    try:
        about = parquet.read_metadata(pyarrow.BufferReader(content))
        # A few bytes may stand for many equal values, and the sizes in the file do not tell.
        encoded = sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups))
        size = encoded + PARQUET_VALUE_BYTES * about.num_rows * about.num_columns
        check_unpacked(file, size, unpacking_limit(len(content), None) if limit is None else limit)
        schema = parquet.read_schema(pyarrow.BufferReader(content))
        twice = [name for name, count in Counter(schema.names).items() if count > 1]
        if twice:
            raise error_at(
                file, f"expected a name of its own for each column, found {listed(twice)} twice; rename one of them"
            )
        # Texts as dictionaries: each text once, however often it occurs.
        texts = [field.name for field in schema if pyarrow.types.is_string(field.type)]
        table = parquet.read_table(pyarrow.BufferReader(content), read_dictionary=texts)
        values = [_values(pyarrow, column) for column in table.columns]
    except DataError:
        raise
    # pyarrow does not document which errors a damaged file raises.
    except Exception as damage:
        raise error_at(file, f"expected a Parquet file, found something else ({shown(str(damage))})") from damage
    names = table.column_names
    if not names or not table.num_rows:
        raise error_at(file, "expected columns and rows, found none")
    rows = range(1, table.num_rows + 1)
    chosen = choose_columns(columns, target, names, file)
    at = named_target(names, chosen) if target is None else chosen.target
    read: dict[int, tuple[Attribute, Any]] = {}
    reasons: dict[int, str] = {}
    for position, name in enumerate(names):
        if position in (at, chosen.text):
            continue
        reason = chosen.reason(position)
        if reason is None and name.startswith("__index_level_") and position not in chosen.use:
            reason = "unique" if len(set(values[position])) == len(rows) else "index"
        if reason is None:
            of_type, forced = table.column(position).type, _forced(position, chosen)
            attribute, column, reason = _column(pyarrow.types, name, of_type, values[position], rows, forced, file)
            if reason is None or forced:
                read[position] = attribute, column
                continue
        reasons[position] = reason
    if target is None and at is None:
        nominal = [position for position, (attribute, _) in read.items() if attribute.type == "nominal"]
        at = only_categorical(nominal, names, chosen, file)
        del read[at]
    if chosen.text is not None:
        reasons |= dict.fromkeys(read, "unused")
    labels = np.full(table.num_rows, "")
    spelling: dict[int, str] = {}
    if at is not None:
        texts = [_label(value) for value in values[at]]
        labels, spelling = read_target(Attribute(names[at], "nominal"), texts, rows, file)
        if at not in chosen.categorical and not columns.raw:
            check_classes(names[at], labels, file)
    left_out = [
        LeftOut(names[position], reason, position, np.array([*values[position], None], object)[:-1])
        for position, reason in sorted(reasons.items())
    ]
    ids, id_column = as_ids(chosen, left_out, names, file)
    if chosen.text is not None:
        attributes: tuple[Attribute, ...] = (Attribute(names[chosen.text], "nominal"),)
        objects = text_objects([_label(value) for value in values[chosen.text]], rows, names[chosen.text], file)
        kind = "strings"
    else:
        if not read:
            refuse_no_attributes(left_out, file)
        attributes = tuple(attribute for attribute, _ in read.values())
        objects = assemble(attributes, [column for _, column in read.values()], len(labels), kind, file)
        kind = "mixed" if objects.dtype == object else "vectors"
    layout = Layout(
        "parquet",
        target=len(names) if at is None else at,
        target_name="" if at is None else names[at],
        spelling=spelling,
    )
    return Dataset(
        file, kind, objects, labels, attributes, layout=layout, ids=ids, left_out=tuple(left_out), id_column=id_column
    )


def _values(pyarrow: Any, column: Any) -> list[Any]:
    """Return the values of a column; equal texts of a dictionary are one object."""
    if pyarrow.types.is_timestamp(column.type):
        # Python knows no nanoseconds.
        column = column.cast(pyarrow.timestamp("us", column.type.tz), safe=False)
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


def _forced(position: int, chosen: ChosenColumns) -> Literal["categorical", "numeric", "used", ""]:
    """Return what the user says about a column."""
    if position in chosen.categorical:
        return "categorical"
    if position in chosen.numeric:
        return "numeric"
    return "used" if chosen.keeps(position) else ""


def _column(
    is_of: Any, name: str, of_type: Any, column: list[Any], rows: range, forced: str, file: str
) -> tuple[Attribute, Any, str | None]:
    """Return a column as an attribute, its values, and the reason to leave it out, if there is one."""
    of_type = of_type.value_type if is_of.is_dictionary(of_type) else of_type
    if is_of.is_string(of_type) or is_of.is_large_string(of_type) or forced == "categorical":
        texts = [_label(value) for value in column]
        if forced == "categorical":
            return *read_column(Attribute(name, "nominal"), texts, rows, file), None
        is_numeric = forced == "numeric"
        attribute, values, ambiguous = read_texts(
            name, texts, rows, file, plain=is_numeric, numeric=is_numeric, strict=False
        )
        if attribute.type == "nominal":
            return attribute, values, "ambiguous dates" if ambiguous else why_no_category(name, texts)
    elif is_of.is_temporal(of_type) and not is_of.is_time(of_type) and not is_of.is_duration(of_type):
        form = "YYYY-MM-DD" + ("Thh:mm:ss" if is_of.is_timestamp(of_type) else "")
        form += "Z" if is_of.is_timestamp(of_type) and of_type.tz else ""
        values = np.array([np.nan if value is None else days_of(value) for value in column])
        attribute = Attribute(name, "date", form=form)
    else:
        whole = is_of.is_integer(of_type) or is_of.is_boolean(of_type)
        if not whole and not is_of.is_floating(of_type) and not is_of.is_decimal(of_type):
            what = f"found the type {of_type}; convert it, or leave it out by ignore="
            raise error_at(file, f"expected numbers, dates or texts in the column {shown(name)}, {what}")
        values = np.array([np.nan if value is None else float(value) for value in column])
        if np.isinf(values).any():
            row = int(np.argmax(np.isinf(values))) + 1
            raise error_at(file, f"expected finite numbers in the column {shown(name)}, found infinity in row {row}")
        attribute = Attribute(name, "integer" if whole else "real")
    why = why_no_number([name], values[:, None]).get(0)
    # A day is a whole number, and no id.
    return attribute, values, None if attribute.type == "date" and why == "unique" else why


def write_parquet(dataset: Dataset) -> bytes:
    """Return a table as a Parquet file, its columns in the order in which they were read."""
    pyarrow, parquet = _pyarrow("write_rows")
    layout = dataset.layout or Layout("parquet", target=len(dataset.attributes))
    items: list[tuple[str, Any]] = []
    if dataset.kind == "strings":
        items.append((dataset.attributes[0].name, pyarrow.array(list(dataset.objects), pyarrow.string())))
    for position, attribute in enumerate(dataset.attributes if dataset.kind != "strings" else ()):
        values = [None if value is None or value != value else value for value in dataset.objects[:, position].tolist()]
        if attribute.type == "nominal":
            column = pyarrow.array(values, pyarrow.string())
        elif attribute.type == "date":
            column = _dates(pyarrow, values, attribute.form)
        else:
            whole = attribute.type == "integer" and all(value is None or float(value).is_integer() for value in values)
            numbers = [value if value is None else int(value) if whole else float(value) for value in values]
            column = pyarrow.array(numbers, pyarrow.int64() if whole else pyarrow.float64())
        items.append((attribute.name, column))
    labels: list[Any] = dataset.labels.tolist()
    if dataset.labels.dtype.kind not in "iu":
        labels = [label_text(label, layout) for label in dataset.labels]
    others = [(left.position, left.name, left.values.tolist()) for left in dataset.left_out]
    if layout.target_name:
        others.append((layout.target, layout.target_name, labels))
    for position, name, values in sorted(others, key=lambda column: column[0]):
        items.insert(position, (name, pyarrow.array(values)))
    target = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.table(dict(items)), target)
    return bytes(target.getvalue())


def _dates(pyarrow: Any, values: list[Any], form: str) -> Any:
    """Return days since 1970-01-01 as a column of dates, or of times if the form has a time."""
    if "hh" not in form and all(value is None or float(value).is_integer() for value in values):
        return pyarrow.array([None if value is None else int(value) for value in values], pyarrow.int32()).cast(
            pyarrow.date32()
        )
    microseconds = [None if value is None else round(value * SECONDS_OF_DAY * 10**6) for value in values]
    zone = "UTC" if form.endswith("Z") else None
    return pyarrow.array(microseconds, pyarrow.int64()).cast(pyarrow.timestamp("us", zone))


FORMATS = (
    Format(
        "parquet",
        (".parquet", ".pq"),
        ("vectors", "mixed"),
        read_parquet,
        write_parquet,
        ("target", "kind", "columns", "limit"),
        binary=True,
    ),
)
