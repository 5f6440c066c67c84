"""``write_rows``: some objects of a data set as a new file, in the format of the data set."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from protoset._files import is_part_of, write_atomically
from protoset.datasets._errors import error_at, listed
from protoset.datasets.base import Dataset, Format
from protoset.datasets.formats import FORMATS, ending, stem
from protoset.datasets.matrices import labels_of
from protoset.exceptions import DataError

LABELS_IN_A_SECOND_FILE = ("npy", "matrix-csv", "phylip")
"""Formats that cannot hold labels."""


def write_rows(
    dataset: Dataset, rows: Any, path: str | os.PathLike[str] | IO[bytes], *, overwrite: bool = False
) -> None:
    """Write some objects of a data set, in the format that the data set was read in.

    All columns of a table are written, including columns that were left out. The headers of KEEL, ARFF and .ts files
    are kept. A data set that was read from a folder is written to one file.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    rows : array-like
        Positions of the objects, in the order of the new file; or a mask.
    path : path-like or binary file object
        File to write. Its extension must be that of the source, or another extension of the same format; ``.gz`` after
        it compresses the file. An open file, such as ``sys.stdout.buffer``, gets the format of the source.
    overwrite : bool
        Whether to replace an existing file. The files that the data set was read from are never replaced.

    Raises
    ------
    DataError
        If the rows cannot be written. No file is changed then.

    Notes
    -----
    Reading the new file with the same options as the source gives the same objects and labels. With fewer rows, other
    columns of a CSV or Parquet table may be left out; ``use="*"`` uses all columns.

    For a matrix, the distances among the rows are written. If the format cannot hold labels, they are written to
    ``NAME_labels.txt`` beside the file.

    If the data set was not read from a file, the extension of ``path`` decides the format.
    """
    selected = take(dataset, rows)
    record = check_rows(dataset, path, overwrite=overwrite)
    content = record.write(selected)
    content = content.encode() if isinstance(content, str) else content
    if not isinstance(path, (str, os.PathLike)):
        path.write(content)
        path.flush()
        return
    path = Path(path)
    outputs = {path: content}
    beside = _labels_beside(record, path)
    if beside is not None:
        # The labels first: if writing stops in between, there is no matrix without labels.
        outputs = {beside: labels_of(selected).encode(), **outputs}
    for output, data in outputs.items():
        if output.name.lower().endswith(".gz"):
            data = gzip.compress(data, mtime=0)
        try:
            write_atomically(output, data)
        except OSError as reason:
            raise DataError(f"{output}: cannot be written ({reason})") from reason


def check_rows(dataset: Dataset, path: str | os.PathLike[str] | IO[bytes], *, overwrite: bool = False) -> Format:
    """Check, before long work, that :func:`write_rows` can write to ``path``.

    Parameters
    ----------
    dataset, path, overwrite
        As in :func:`write_rows`.

    Returns
    -------
    Format
        Format of the file that would be written.

    Raises
    ------
    DataError
        If the rows cannot be written to ``path``.
    """
    if not isinstance(path, (str, os.PathLike)):
        return _format_of_stream(dataset, path)
    path = Path(path)
    record = _format(dataset, path)
    beside = _labels_beside(record, path)
    for output in (path,) if beside is None else (beside, path):
        _refuse(output, dataset, overwrite)
    return record


def _format_of_stream(dataset: Dataset, stream: IO[bytes]) -> Format:
    if isinstance(stream, io.TextIOBase) or not hasattr(stream, "write"):
        raise TypeError(f"path={stream!r} must be a path, or a file that is open for writing in binary mode")
    record = FORMATS.get("" if dataset.layout is None else dataset.layout.format)
    if record is None:
        raise DataError("a data set that was not read from a file has no format; write its rows to a file with a name")
    if record.name in LABELS_IN_A_SECOND_FILE:
        raise DataError(
            f"the format {record.name} has the labels of a matrix in a second file, which a stream cannot have; "
            "write the rows to a file with a name, or read the matrix from an .npz file"
        )
    return record


def _labels_beside(record: Format, path: Path) -> Path | None:
    return path.with_name(f"{stem(path)}_labels.txt") if record.name in LABELS_IN_A_SECOND_FILE else None


def take(dataset: Dataset, rows: Any) -> Dataset:
    """Return a data set with some of the objects, in the order of ``rows``.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    rows : array-like
        Positions of the objects, or a mask.

    Returns
    -------
    Dataset
        Without the split into training and test objects.
    """
    chosen = np.asarray(rows)
    n = dataset.n_objects
    if chosen.dtype == bool and chosen.shape == (n,):
        chosen = np.flatnonzero(chosen)
    if chosen.ndim != 1 or not len(chosen) or chosen.dtype.kind not in "iu":
        raise DataError(f"rows must be positions of objects or a mask of {n}, at least one; got {rows!r:.60}")
    if chosen.min() < 0 or chosen.max() >= n:
        raise DataError(f"rows must be positions from 0 to {n - 1}; got {chosen.min()} to {chosen.max()}")
    objects = dataset.objects
    if dataset.kind == "matrix":
        objects = np.asarray(objects)[np.ix_(chosen, chosen)]
    elif isinstance(objects, np.ndarray):
        objects = objects[chosen]
    else:
        objects = [objects[row] for row in chosen.tolist()]
    return replace(
        dataset,
        objects=objects,
        labels=dataset.labels[chosen],
        n_train=None,
        ids=None if dataset.ids is None else dataset.ids[chosen],
        left_out=tuple(replace(left, values=left.values[chosen]) for left in dataset.left_out),
    )


def _format(dataset: Dataset, path: Path) -> Format:
    if dataset.layout is not None and dataset.layout.format in FORMATS:
        record = FORMATS[dataset.layout.format]
        own = ending(dataset.path) if dataset.path is not None else ""
        if ending(path) not in (own, *record.extensions):
            raise error_at(
                str(path),
                f"the data were read as {record.name}; expected a name that ends with {listed(_shown(record))}",
            )
        return record
    fitting = [record for record in FORMATS.values() if dataset.kind in record.kinds]
    matches = [record for record in fitting if ending(path) in record.extensions]
    if not matches:
        endings = dict.fromkeys(extension for record in fitting for extension in _shown(record))
        raise error_at(str(path), f"expected a name that ends with one of {listed(endings, 12)} for {dataset.kind}")
    return matches[0]


def _shown(record: Format) -> Sequence[str]:
    return [extension for extension in record.extensions if extension]


def _refuse(path: Path, dataset: Dataset, overwrite: bool) -> None:
    """Refuse to write to a source file, or to an existing file unless ``overwrite``."""
    sources = (dataset.layout.files if dataset.layout else ()) or ((dataset.path,) if dataset.path else ())
    for source in sources:
        if is_part_of(path, source):
            raise error_at(
                str(path), f"the data set was read from {source}, which is never written to; choose another name"
            )
    if os.path.lexists(path) and not overwrite:
        raise error_at(str(path), "exists; choose another name, or pass overwrite=True")
