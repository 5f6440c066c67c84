"""``read``: a file or a folder as a data set; its name and its content tell the format."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from protoset._memory import unpacking_limit
from protoset._validation import did_you_mean
from protoset.datasets import strings
from protoset.datasets._columns import label_text
from protoset.datasets._errors import error_at, listed
from protoset.datasets._parsing import decode, split_lines
from protoset.datasets.base import KINDS, Dataset, Format, Kind, Layout
from protoset.datasets.formats import ENDINGS_WITHOUT_LABELS, FORMATS, ending, find_format, recognise, stem
from protoset.datasets.roles import ColumnOptions, column_options
from protoset.datasets.sources import is_stream, open_source, read_bytes
from protoset.exceptions import DataError

Column = str | int
"""The name of a column, or its position."""

SPLIT_FILE_NAME = re.compile(r"(.+)_(TRAIN|TEST)\.(tsv|ts|txt)(\.gz)?", re.IGNORECASE)
"""File names of the training and the test part of a data set of the UCR archive."""


def read(
    path: str | os.PathLike[str] | IO[bytes] | IO[str],
    *,
    target: str | int | Literal[False] | None = None,
    labels: Any = None,
    kind: Kind | None = None,
    format: str | None = None,
    ignore: Column | Sequence[Column] = (),
    use: Column | Sequence[Column] = (),
    id: Column | None = None,
    categorical: Column | Sequence[Column] = (),
    numeric: Column | Sequence[Column] = (),
    text: Column | None = None,
    header: bool | None = None,
    separator: str | None = None,
    decimal: Literal[".", ","] | None = None,
    name: str | None = None,
    max_bytes: int | str | None = None,
) -> Dataset:
    """Read a data set from a file, a folder or a stream.

    The file name extension decides the format: KEEL (.dat), ARFF (.arff), series (.ts), Parquet (.parquet), matrices
    (.npy, .npz, .mat; PHYLIP as .phy, .dist). Each may be compressed (.gz). For other files (.csv, .tsv, .txt) the
    content decides; see Notes. Pass ``kind`` or ``format`` if the choice is wrong.

    A folder is either a data set of the UCR archive (NAME_TRAIN and NAME_TEST as .tsv, .ts or .txt), or has one file
    (.txt) per class with a string per line.

    Parameters
    ----------
    path : path-like or file object
        File or folder to read. An open file, such as ``sys.stdin.buffer``, is read to its end; if it has no name, its
        content decides the format.
    target : str, int or False, optional
        For tables: name or position of the column of labels. Positions count from 0; negative positions count from
        the end. Pass False if the table has no labels. By default the column called class, target, label or y, or the
        only column of categories; in KEEL and ARFF files the declared output, or the last attribute.
    labels : path-like, file object, array-like or dict, optional
        For matrices: the labels, a file with a label per line, or the name of the labels in a .npz or .mat file. If the
        matrix has names, also a dict from names to labels, or a file with a name and a label per line, in any order,
        separated by a tab, semicolon, comma or space. By default the labels in the .npz or .mat file, or in a file
        beside the matrix: ``protein_labels.txt`` for ``protein.csv`` and ``protein_D.csv``.
    kind : {"vectors", "mixed", "series", "strings", "matrix"}, optional
        Kind of the objects. By default the format and the content decide.
    format : str, optional
        Format of the file: "csv", "parquet", "keel", "arff", "ucr", "ts", "strings", "matrix-csv", "npy", "npz", "mat"
        or "phylip". By default the name and the content decide.
    ignore : str, int or sequence of them
        For tables: columns to leave out, by name or position.
    use : str, int or sequence of them
        For tables: columns to use although they look like ids, texts or constants; "*" for all columns.
    id : str or int, optional
        For tables: the column with the names of the objects. By default a column of unique whole numbers that counts
        the rows, or whose name says that it is an id.
    categorical, numeric : str, int or sequence of them
        For CSV and Parquet: columns of categories, even if they are written as numbers; columns of numbers.
    text : str or int, optional
        For tables: the column whose texts are the objects, of the kind "strings".
    header : bool, optional
        For CSV: whether the first line has the names of the columns. By default the content decides.
    separator : str, optional
        For CSV: the character between the fields. By default a comma, a semicolon or a tab; the content decides.
    decimal : {".", ","}, optional
        For CSV: the decimal mark; the other character may separate thousands. By default a point, or a comma if the
        fields are separated by semicolons.
    name : str, optional
        Name of the data set; by default the file name without its extension.
    max_bytes : int or str, optional
        Largest content to unpack from a compressed file (.gz, .npz, .mat, Parquet, ARFF with sparse rows), in bytes or
        as "4GB". By default 200 MB, or 20 times the size of the file if that is more. For a stream, also the largest
        content to read, by default 200 MB.

    Returns
    -------
    Dataset
        The objects with their labels.

    Raises
    ------
    DataError
        If the file cannot be read. The message has the file, the line, what was expected and what was found. Formats
        that are not supported, such as Excel and JSON, are named, with a way to convert them.

    Notes
    -----
    For .csv, .tsv and .txt files the first of these rules that fits decides:

    - a header with ``@``: KEEL, ARFF or .ts;
    - with ``labels``, or with a file of labels beside it: a matrix of distances; with ``target``: a table;
    - a whole number alone in the first line, then as many names with numbers: a matrix of PHYLIP;
    - two columns separated by a tab, the second not all numbers: a label and a string per line;
    - as many lines as columns, all numbers, zeros on the diagonal: a matrix of distances. The same names may be in the
      first line and in the first column, as pandas' ``to_csv`` writes them; they become the ids;
    - no header, all numbers, a whole number first, at least 16 columns, and not .csv: series of the UCR archive with
      the label first. In files called NAME_TRAIN or NAME_TEST, series may be shorter, and the extension may be .csv;
    - otherwise a table.

    Texts are UTF-8; UTF-16 or UTF-32 with a byte order mark; or Latin-1 if they are not valid UTF-8.

    Columns of tables that do not describe the objects are left out: row numbers, ids, constants, free text.
    ``Dataset.roles`` lists in one line the columns that are used and left out; ``protoset.datasets.roles`` has the
    rules. The options ``ignore``, ``use``, ``id``, ``categorical``, ``numeric`` and ``text`` override the rules.

    Dates, with or without times, become days since 1970-01-01. If all values of a column are written in this way,
    "3,750" is read as 3750, and "18.7 %" as 18.7.
    """
    columns = column_options(
        ignore=ignore,
        use=use,
        id=id,
        categorical=categorical,
        numeric=numeric,
        text=text,
        header=header,
        separator=separator,
        decimal=decimal,
    )
    if kind is not None and kind not in KINDS:
        raise DataError(f"kind={kind!r} is not known{did_you_mean(kind, KINDS)}; choose one of {list(KINDS)}")
    if format is not None:
        find_format(format)
    if isinstance(path, (str, os.PathLike)) and Path(path).is_dir():
        path = Path(path)
        if target is not None or labels is not None:
            raise error_at(
                str(path), "target= and labels= are not for folders, whose files hold the labels; leave them out"
            )
        if columns.given:
            raise error_at(str(path), f"{columns.given[0]}= is for tables, and this is a folder; leave it out")
        if format is not None:
            raise error_at(str(path), f"format={format!r} is for a file, and this is a folder; leave it out")
        origin: Path | None = path
        dataset, files = _read_folder(path, kind)
    else:
        source = open_source(path, max_bytes)
        path, content = source.path, source.content
        origin = path if source.files else None
        label_source, label_file = _find_labels(path, labels)
        is_table = target is not None or bool(columns.given)
        has_no_labels = labels is None and not is_table and kind in (None, "matrix")
        if has_no_labels and source.files and ending(path) in ENDINGS_WITHOUT_LABELS:
            label_source, label_file = _labels_beside(path)
        if kind == "strings" and columns.text is not None:
            kind = None
        record = recognise(path, content, labels=label_source, kind=kind, is_table=is_table, format=format)
        files = (*source.files, *label_file)
        dataset = read_as(
            record,
            content,
            str(path),
            target=target,
            labels=label_source,
            kind=kind,
            columns=columns,
            limit=source.limit,
        )
    layout = replace(dataset.layout or Layout(""), files=files)
    return replace(dataset, name=stem(path) if name is None else name, path=origin, layout=layout)


def read_as(
    record: Format,
    content: bytes,
    file: str,
    *,
    target: str | int | Literal[False] | None = None,
    labels: Any = None,
    kind: Kind | None = None,
    columns: ColumnOptions = ColumnOptions(),  # noqa: B008 (frozen)
    limit: int | None = None,
) -> Dataset:
    """Read content in a given format; refuse options that the format does not take.

    ``limit`` is the number of bytes that may be unpacked, by default as in ``read``.
    """
    limit = unpacking_limit(len(content), None) if limit is None else limit
    options = {"target": target, "labels": labels, "kind": kind, "columns": columns, "limit": limit}
    for option in ("target", "labels"):
        if options[option] is not None and option not in record.takes:
            raise error_at(file, f"the format {record.name} takes no {option}=; leave it out")
    if columns.given and "columns" not in record.takes:
        raise error_at(file, f"{columns.given[0]}= is for tables, and the format {record.name} is none; leave it out")
    if columns.text is not None and kind not in (None, "strings"):
        raise error_at(file, f"text= takes the texts of a column for strings, and kind={kind!r}; leave out one of them")
    if kind is not None and kind not in record.kinds:
        raise error_at(
            file, f"kind={kind!r} does not fit the format {record.name}; choose one of {listed(record.kinds)}"
        )
    taken = {option: value for option, value in options.items() if option in record.takes}
    return record.read(content if record.binary else decode(content, file), file=file, **taken)


def _find_labels(path: Path, labels: Any) -> tuple[Any, tuple[Path, ...]]:
    """Return the labels that the user gave, as a list or as the name of an array; and the file that was read."""
    if labels is None:
        return None, ()
    if isinstance(labels, Mapping):
        return labels, ()
    if is_stream(labels):
        return label_lines(labels), ()
    if isinstance(labels, (str, os.PathLike)):
        file = Path(labels)
        if isinstance(labels, str) and ending(path) in (".npz", ".mat") and not file.is_file():
            return labels, ()
        return label_lines(file), (file,)
    flat = np.asarray(labels, dtype=object).ravel().tolist()
    return flat, ()


def _labels_beside(path: Path) -> tuple[Any, tuple[Path, ...]]:
    for base in dict.fromkeys((stem(path), stem(path).removesuffix("_D"))):
        file = path.with_name(f"{base}_labels.txt")
        if file.is_file():
            return label_lines(file), (file,)
    return None, ()


def label_lines(file: Any) -> list[str]:
    """Return the labels in a file or stream with a label per line."""
    source = open_source(file)
    return [line.strip() for line in split_lines(decode(source.content, str(source.path))) if line.strip()]


def _read_folder(path: Path, kind: Kind | None) -> tuple[Dataset, tuple[Path, ...]]:
    try:
        files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
    except OSError as reason:
        raise error_at(str(path), f"cannot be read ({reason})") from reason
    parts: dict[tuple[str, str], dict[str, Path]] = {}
    for file in files:
        match = SPLIT_FILE_NAME.fullmatch(file.name)
        if match:
            parts.setdefault((match[1], match[3].lower()), {})[match[2].upper()] = file
    if parts and kind in (None, "series"):
        return read_parts(_choose_parts(path, parts))
    texts = [file for file in files if ending(file) == ".txt"]
    if not texts or kind not in (None, "strings"):
        raise error_at(
            str(path),
            "is a folder; expected NAME_TRAIN and NAME_TEST (.tsv, .ts, .txt), or a .txt file of strings per class, "
            f"found {listed([file.name for file in files], 4) or 'nothing'}",
        )
    contents = {stem(file): decode(read_bytes(file), str(file)) for file in texts}
    return strings.read_string_folder(contents, file=str(path)), (path, *texts)


def _choose_parts(path: Path, parts: dict[tuple[str, str], dict[str, Path]]) -> tuple[Path, Path]:
    """Return both parts of the data set that has the name of the folder; .tsv before .ts before .txt."""
    names = {name for name, _ in parts}
    own = [name for name in names if name.casefold() == path.name.casefold()]
    if len(names) > 1 and not own:
        raise error_at(str(path), f"expected one data set, found {listed(sorted(names))}; read one of its files")
    name = own[0] if own else names.pop()
    of_name = {extension: pair for (other, extension), pair in parts.items() if other == name}
    whole = [of_name[extension] for extension in ("tsv", "ts", "txt") if len(of_name.get(extension, ())) == 2]
    if not whole:
        only = next(iter(next(iter(of_name.values())).values()))
        raise error_at(str(path), f"expected {name}_TRAIN and {name}_TEST, found {only.name} alone; read that file")
    return whole[0]["TRAIN"], whole[0]["TEST"]


def read_parts(parts: Sequence[Path], contents: Sequence[bytes] | None = None) -> tuple[Dataset, tuple[Path, ...]]:
    """Read the training and the test part of a data set of series."""
    contents = [read_bytes(file) for file in parts] if contents is None else contents
    record = FORMATS["ts" if ending(parts[0]) == ".ts" else "ucr"]
    train, test = (read_as(record, content, str(file)) for file, content in zip(parts, contents, strict=True))
    layout = train.layout or Layout(record.name)
    if train.labels.dtype.kind == test.labels.dtype.kind == "i":
        labels = np.concatenate([train.labels, test.labels])
    else:
        texts = [[label_text(label, part.layout or layout) for label in part.labels] for part in (train, test)]
        labels = np.array([*texts[0], *texts[1]], dtype=str)
        layout = replace(layout, spelling={})
    objects = [*train.objects, *test.objects]
    if len({series.shape[1:] for series in objects}) > 1:
        raise error_at(str(parts[1]), "expected as many channels as in the training part, found another number")
    dataset = Dataset(train.name, "series", objects, labels, n_train=train.n_objects, layout=layout)
    return dataset, tuple(parts)
