"""Distance matrices in CSV, NumPy (.npy, .npz) and MATLAB (.mat) files: square, or condensed (above the diagonal).

Nothing is unpickled.
"""

from __future__ import annotations

import io
import math
import struct
import warnings
import zipfile
import zlib
from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from protoset._memory import format_bytes, unpacking_limit
from protoset.datasets._columns import label_text
from protoset.datasets._errors import check_unpacked, error_at, listed, shown
from protoset.datasets._parsing import number_text, split_lines, to_labels, to_numbers
from protoset.datasets.base import Dataset, Format, Layout
from protoset.datasets.named_matrices import has_names, match_labels, read_named_rows, square_by_name, write_named_rows
from protoset.exceptions import DataError

MATRIX_KEYS = ("D", "distances", "dissimilarities", "distance_matrix", "matrix", "X")
"""Names of the matrix in a file of several arrays; better names first."""

LABEL_KEYS = ("labels", "label", "y", "target", "classes")
"""Names of the labels in a file of several arrays; better names first."""


MATLAB_HEADER_BYTES = 128
"""Size of the header of a MATLAB 5 file."""

MATLAB_COMPRESSED = 15
"""Type of a compressed element in a MATLAB 5 file."""

UNPACKED_AT_A_TIME = 2**20
"""Bytes that are unpacked at a time where they are counted alone."""


def read_matrix_csv(text: str, *, file: str = "text", labels: Any = None) -> Dataset:
    """Read a matrix of numbers with commas, semicolons, tabs or spaces between them, with or without names.

    ``labels`` has a label per object, or labels by name: a dict, or lines with a name and a label.
    """
    if has_names(text):
        rows = read_named_rows(text, file)
        matrix, names = square_by_name(rows, file)
        layout = Layout("matrix-csv", header=(rows.corner,), delimiter=rows.delimiter)
        return matrix_dataset(matrix, labels, layout, file, names)
    matrix, delimiter = number_rows(text, file)
    return matrix_dataset(matrix, labels, Layout("matrix-csv", delimiter=delimiter or " "), file)


def number_rows(text: str, file: str) -> tuple[np.ndarray, str | None]:
    """Return lines of numbers as a matrix, and their delimiter; None for spaces."""
    numbers, width = array("d"), 0
    delimiter: str | None = None
    for number, line in enumerate(split_lines(text), 1):
        if not line.strip():
            continue
        if not numbers:
            delimiter = next((mark for mark in ",;\t" if mark in line), None)
        fields = [field.strip() for field in line.strip().split(delimiter)]
        values, bad = to_numbers(fields)
        if bad >= 0:
            raise error_at(file, f"expected a distance in column {bad + 1}, found {shown(fields[bad])}", number)
        width = width or len(values)
        if len(values) != width:
            raise error_at(file, f"expected {width} distances as in the first line, found {len(values)}", number)
        numbers.frombytes(values.tobytes())
    if not numbers:
        raise error_at(file, "expected a matrix of distances, found an empty file")
    return np.frombuffer(numbers, np.float64).reshape(-1, width).copy(), delimiter


def write_matrix_csv(dataset: Dataset) -> str:
    """Return a matrix as lines of numbers, with its names where it has some; a condensed matrix is one line."""
    stored = _stored(dataset)
    delimiter = dataset.layout.delimiter if dataset.layout else ","
    if dataset.ids is not None:
        corner = "".join(dataset.layout.header[:1]) if dataset.layout else ""
        return write_named_rows(np.asarray(dataset.objects, np.float64), dataset.ids.tolist(), delimiter, corner)
    return "\n".join([*(delimiter.join(map(number_text, row)) for row in np.atleast_2d(stored)), ""])


def read_npy(content: bytes, *, file: str = "bytes", labels: Sequence[Any] | None = None) -> Dataset:
    """Read a square or condensed matrix; ``labels`` as in read_matrix_csv."""
    return matrix_dataset(load_numpy(content, file), labels, Layout("npy"), file)


def write_npy(dataset: Dataset) -> bytes:
    """Return a matrix as a .npy file."""
    target = io.BytesIO()
    np.save(target, _stored(dataset), allow_pickle=False)
    return target.getvalue()


def read_npz(
    content: bytes, *, file: str = "bytes", labels: Sequence[Any] | str | None = None, limit: int | None = None
) -> Dataset:
    """Read a matrix and its labels; ``labels`` may be the name of an array or a sequence.

    ``limit`` is the number of bytes that may be unpacked, by default as in ``read``.
    """
    return _named(load_numpy(content, file, limit), labels, "npz", file)


def write_npz(dataset: Dataset) -> bytes:
    """Return a matrix and its labels as an .npz file."""
    target = io.BytesIO()
    np.savez_compressed(target, **_by_name(dataset))  # type: ignore[arg-type]  # names are not options
    return target.getvalue()


def read_mat(
    content: bytes, *, file: str = "bytes", labels: Sequence[Any] | str | None = None, limit: int | None = None
) -> Dataset:
    """Read a matrix and its labels from a MATLAB file of a version before 7.3; ``limit`` as in read_npz."""
    return _named(load_matlab(content, file, limit), labels, "mat", file)


def load_matlab(content: bytes, file: str, limit: int | None = None) -> dict[str, Any]:
    """Return the arrays of a MATLAB file by name."""
    from scipy.io import loadmat, whosmat

    limit = unpacking_limit(len(content), None) if limit is None else limit
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            unpacked = _unpacked_bytes(content, limit)
            check_unpacked(file, unpacked, limit)
            # Numbers may be stored in fewer bytes than they take as doubles, those in cells unseen by whosmat.
            variables = whosmat(io.BytesIO(content))
            plain = sum(8 * math.prod(shape) for _, shape, of_class in variables if of_class != "sparse")
            nested = any(of_class in ("cell", "struct", "object") for _, _, of_class in variables)
            check_unpacked(file, plain + (8 * unpacked if nested else 0), limit)
            arrays = loadmat(io.BytesIO(content), squeeze_me=False, chars_as_strings=True)
    except DataError:
        raise
    except NotImplementedError as reason:
        raise error_at(file, "is of MATLAB 7.3, which is not supported; save it again with -v7") from reason
    # SciPy does not document which errors a damaged file raises.
    except Exception as reason:
        raise error_at(file, f"expected a MATLAB file, found something else ({shown(str(reason))})") from reason
    return {key: value for key, value in arrays.items() if not key.startswith("__")}


def _unpacked_bytes(content: bytes, limit: int) -> int:
    """Return the size of the elements of a MATLAB 5 file when they are unpacked; counting ends beyond the limit."""
    order = "<II" if content[126:128] == b"IM" else ">II"
    total, position = len(content), MATLAB_HEADER_BYTES
    while total <= limit and position + 8 <= len(content):
        element, size = struct.unpack_from(order, content, position)
        if element == MATLAB_COMPRESSED:
            unpacker, packed = zlib.decompressobj(), content[position + 8 : position + 8 + size]
            while packed and total <= limit:
                total += len(unpacker.decompress(packed, UNPACKED_AT_A_TIME))
                packed = unpacker.unconsumed_tail
        position += 8 + size
    return total


def write_mat(dataset: Dataset) -> bytes:
    """Return a matrix and its labels as a MATLAB file."""
    from scipy.io import savemat

    arrays = _by_name(dataset)
    target = io.BytesIO()
    if arrays[list(arrays)[1]].dtype.kind == "U":
        # MATLAB pads the rows of a character array to the same length; a cell array keeps their lengths.
        arrays[list(arrays)[1]] = arrays[list(arrays)[1]].astype(object)
    savemat(target, arrays, do_compression=True)
    return target.getvalue()


def load_numpy(content: bytes, file: str, limit: int | None = None) -> Any:
    """Return an array (.npy), or arrays by name (.npz); nothing is unpickled."""
    try:
        if content.startswith(b"\x93NUMPY"):
            return _array(content, file)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            allowed = unpacking_limit(len(content), None) if limit is None else limit
            check_unpacked(file, sum(member.file_size for member in members), allowed)
            arrays = {}
            for member in members:
                # No more than the size that was checked: the stream of a member may be longer.
                with archive.open(member) as stream:
                    arrays[member.filename.removesuffix(".npy")] = _array(stream.read(member.file_size), file)
            return arrays
    except DataError:
        raise
    # NumPy does not document which errors a damaged file raises.
    except Exception as reason:
        raise error_at(
            file, f"expected a NumPy file without pickled objects, found another ({shown(str(reason))})"
        ) from reason


def _array(content: bytes, file: str) -> np.ndarray:
    """Return the array of a .npy file, if the file is as large as its header says."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, _, dtype = read_header[version](stream)
    declared, left = math.prod(shape) * dtype.itemsize, len(content) - stream.tell()
    if declared > left and not dtype.hasobject:
        raise error_at(
            file,
            f"expected an array of {format_bytes(declared)} as its header says, found {format_bytes(left)}; the file "
            "is cut off or damaged",
        )
    stream.seek(0)
    return np.lib.format.read_array(stream, allow_pickle=False)


def _named(arrays: Any, labels: Sequence[Any] | str | None, form: str, file: str) -> Dataset:
    """Return the data set of a file of several arrays."""
    if not isinstance(arrays, dict):
        raise error_at(file, "expected several arrays with names, found one array without a name")
    key = labels if isinstance(labels, str) else next((key for key in LABEL_KEYS if key in arrays), None)
    if isinstance(labels, str) and labels not in arrays:
        raise error_at(
            file, f"labels={shown(labels)} is neither a file nor the name of an array; there are {listed(arrays)}"
        )
    candidates = [name for name, array in arrays.items() if name != key and _is_matrix(array)]
    preferred = [name for name in MATRIX_KEYS if name in candidates] or candidates
    if len(preferred) != 1 and not any(name in MATRIX_KEYS for name in preferred):
        names = listed(candidates) or "none"
        raise error_at(file, f"expected one square array of numbers, or one called {MATRIX_KEYS[0]}, found {names}")
    if labels is None or isinstance(labels, str):
        labels = None if key is None else flat_labels(arrays[key], key, file, most=arrays[preferred[0]].size + 1)
    return matrix_dataset(arrays[preferred[0]], labels, Layout(form, keys=(preferred[0], key or LABEL_KEYS[0])), file)


def _is_matrix(array: Any) -> bool:
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iufb":
        return False
    return array.ndim == 1 or (array.ndim == 2 and (array.shape[0] == array.shape[1] or 1 in array.shape))


def flat_labels(array: Any, key: str, file: str, *, most: int) -> list[Any]:
    """Return labels from an array of numbers or texts, or from a cell array of texts; refuse more than ``most``."""
    if np.size(array) > most:
        raise error_at(file, f"expected a label for each object in {shown(key)}, found {np.size(array):,} labels")
    items = []
    for item in np.asarray(array).ravel().tolist():
        while isinstance(item, np.ndarray) and item.size == 1:
            item = item.ravel()[0]
        if isinstance(item, np.ndarray):
            raise error_at(file, f"expected labels in {shown(key)}, found arrays of the shape {item.shape}")
        items.append(item)
    return items


def matrix_dataset(
    matrix: np.ndarray, labels: Any, layout: Layout, file: str, names: Sequence[str] | None = None
) -> Dataset:
    """Return the data set of a square or condensed matrix; ``names`` become its ids."""
    if labels is None:
        raise error_at(
            file, "a matrix of distances has no labels; pass labels= with a file that has one per line, or a list"
        )
    texts = [label_of(label) for label in match_labels(labels, names, file)]
    if any(not text for text in texts):
        raise error_at(file, f"expected a label for each object, found none for object {texts.index('')}")
    matrix = np.asarray(matrix)
    if matrix.dtype.kind not in "iufb":
        raise error_at(file, f"expected distances, found an array of the type {matrix.dtype}")
    matrix = matrix.astype(np.float64)
    condensed = matrix.ndim == 1 or (matrix.ndim == 2 and 1 in matrix.shape and matrix.shape != (len(texts),) * 2)
    if condensed:
        matrix = _square(matrix.ravel(), file)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise error_at(file, f"expected as many rows as columns, found the shape {matrix.shape}")
    if not len(matrix):
        raise error_at(file, "expected a matrix of distances, found one without objects")
    if len(texts) != len(matrix):
        raise error_at(file, f"expected {len(matrix)} labels, one per object, found {len(texts)}")
    if np.isnan(matrix).any():
        row, column = np.argwhere(np.isnan(matrix))[0].tolist()
        raise error_at(file, f"expected a distance from object {row} to {column}, found NaN")
    codes, spelling = to_labels(texts, file)
    layout = replace(layout, condensed=condensed or layout.condensed, spelling=spelling)
    ids = None if names is None else np.array(names, dtype=str)
    return Dataset(file, "matrix", matrix, codes, layout=layout, ids=ids)


def label_of(label: Any) -> str:
    """Return a label as text; whole numbers without a decimal point."""
    label = label.item() if isinstance(label, np.generic) else label
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label).strip()


def _square(above: np.ndarray, file: str) -> np.ndarray:
    """Return the square matrix of a condensed matrix: the distances above the diagonal, row by row."""
    n = round((1 + (1 + 8 * len(above)) ** 0.5) / 2)
    if n * (n - 1) // 2 != len(above):
        raise error_at(file, f"expected n (n - 1) / 2 distances of a condensed matrix, found {len(above)}")
    matrix = np.zeros((n, n))
    rows, columns = np.triu_indices(n, 1)
    matrix[rows, columns] = matrix[columns, rows] = above
    return matrix


def _stored(dataset: Dataset) -> np.ndarray:
    matrix = np.asarray(dataset.objects, dtype=np.float64)
    is_condensed = dataset.layout is not None and dataset.layout.condensed and len(matrix) > 1
    return matrix[np.triu_indices(len(matrix), 1)] if is_condensed else matrix


def _by_name(dataset: Dataset) -> dict[str, np.ndarray]:
    layout = dataset.layout or Layout("npz")
    matrix, labels = layout.keys or (MATRIX_KEYS[0], LABEL_KEYS[0])
    return {matrix: _stored(dataset), labels: dataset.labels}


def labels_of(dataset: Dataset) -> str:
    """Return the labels as a file with a label per line, for formats that cannot hold labels."""
    layout = dataset.layout or Layout("matrix-csv")
    return "\n".join([*(label_text(label, layout) for label in dataset.labels), ""])


FORMATS = (
    Format(
        "matrix-csv", (".csv", ".tsv", ".txt", ".data", ""), ("matrix",), read_matrix_csv, write_matrix_csv, ("labels",)
    ),
    Format("npy", (".npy",), ("matrix",), read_npy, write_npy, ("labels",), binary=True),
    Format("npz", (".npz",), ("matrix",), read_npz, write_npz, ("labels", "limit"), binary=True),
    Format("mat", (".mat",), ("matrix",), read_mat, write_mat, ("labels", "limit"), binary=True),
)
