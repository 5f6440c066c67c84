"""Distance matrices of PHYLIP (.phy, .dist): the number of objects, then a name and distances per object.

Square, lower- or upper-triangular. Names end at the first space (relaxed) or tab, or have ten characters (strict). The
distances of an object may go on in the next lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from protoset.datasets._errors import error_at, shown
from protoset.datasets._parsing import is_number, number_text, split_lines, to_numbers
from protoset.datasets.base import Dataset, Format, Layout
from protoset.datasets.matrices import matrix_dataset
from protoset.datasets.named_matrices import check_names
from protoset.exceptions import DataError

STRICT_NAME = 10
"""Characters of a name in strict PHYLIP."""

Lines = Sequence[tuple[int, str]]

NAMINGS: tuple[Callable[[str], tuple[str, str]], ...] = (
    lambda line: (line.partition("\t")[0], line.partition("\t")[2]) if "\t" in line else (line, ""),
    lambda line: (line.split(maxsplit=1)[0], " ".join(line.split(maxsplit=1)[1:])),
    lambda line: (line[:STRICT_NAME], line[STRICT_NAME:]),
)
"""Ways to split the first line of an object into name and distances: at a tab, at a space, after ten characters."""

SHAPES: tuple[Callable[[int, int], int], ...] = (
    lambda row, n: n,
    lambda row, n: row,
    lambda row, n: row + 1,
    lambda row, n: n - 1 - row,
)
"""Number of distances in a row: square; below the diagonal, without and with it; above the diagonal."""


def is_phylip(lines: Sequence[str]) -> bool:
    """Whether lines that are not empty are a matrix of PHYLIP."""
    n_objects, rows = lines[0].strip() if lines else "", lines[1:]
    if not n_objects.isdecimal() or not 1 <= int(n_objects) <= len(rows):
        return False
    # A condensed matrix with a distance per line may begin with a whole number.
    return not all(is_number(line.strip()) for line in rows)


def read_phylip(text: str, *, file: str = "text", labels: Any = None) -> Dataset:
    """Read a distance matrix with names."""
    matrix, names, is_square = read_phylip_rows(text, file)
    layout = Layout("phylip", delimiter=" ", condensed=not is_square)
    return matrix_dataset(matrix, labels, layout, file, names)


def read_phylip_rows(text: str, file: str) -> tuple[np.ndarray, tuple[str, ...], bool]:
    """Return the square matrix, the names, and whether the file has the whole square."""
    lines = [(number, line) for number, line in enumerate(split_lines(text), 1) if line.strip()]
    if not lines:
        raise error_at(file, "expected the number of objects, found an empty file")
    number, first = lines[0]
    words = first.split()
    if len(words) == 2 and all(word.isdecimal() for word in words):
        raise error_at(
            file, "expected a distance matrix, found an alignment of sequences; compute their distances first", number
        )
    if len(words) != 1 or not words[0].isdecimal() or not 1 <= int(words[0]) < len(lines):
        raise error_at(
            file, f"expected the number of objects and a line for each of them, found {shown(first.strip())}", number
        )
    n_objects = int(words[0])
    namings = NAMINGS if "\t" in text else NAMINGS[1:]
    failures: list[tuple[int, DataError]] = []
    for naming in namings:
        for shape in SHAPES:
            try:
                names, rows = _read_rows(lines[1:], n_objects, naming, shape, file)
                return _square(rows, n_objects, file), names, shape is SHAPES[0]
            except _FailedAtLineError as failure:
                failures.append((failure.line, failure.reason))
            except DataError as reason:
                failures.append((0, reason))
    # The reading that came farthest is most likely the intended one.
    raise max(failures, key=lambda failure: failure[0])[1]


class _FailedAtLineError(Exception):
    """A way to read the file does not fit at a line."""

    def __init__(self, reason: DataError, line: int):
        super().__init__(str(reason))
        self.reason = reason
        self.line = line


def _read_rows(
    lines: Lines, n_objects: int, naming: Callable[[str], tuple[str, str]], shape: Callable[[int, int], int], file: str
) -> tuple[tuple[str, ...], list[np.ndarray]]:
    names, rows, at = [], [], 0
    for row in range(n_objects):
        if at == len(lines):
            message = f"expected {n_objects} objects as the first line says, found {row}"
            raise _FailedAtLineError(error_at(file, message), lines[-1][0])
        number, line = lines[at]
        name, rest = naming(line)
        names.append(name.strip())
        expected = shape(row, n_objects)
        values, at = _distances(rest, file, number), at + 1
        while len(values) < expected and at < len(lines):
            number, line = lines[at]
            values, at = np.concatenate([values, _distances(line, file, number)]), at + 1
        if len(values) != expected:
            message = f"expected {expected} distances of {shown(names[-1])}, found {len(values)}"
            raise _FailedAtLineError(error_at(file, message, number), number)
        rows.append(values)
    if at < len(lines):
        number, line = lines[at]
        message = f"expected {n_objects} objects as the first line says, found more: {shown(line.strip())}"
        raise _FailedAtLineError(error_at(file, message, number), number)
    try:
        check_names(names, file, "objects")
    except DataError as reason:
        raise _FailedAtLineError(reason, lines[-1][0] + 1) from reason
    return tuple(names), rows


def _distances(text: str, file: str, number: int) -> np.ndarray:
    fields = text.split()
    values, bad = to_numbers(fields)
    if bad >= 0:
        raise _FailedAtLineError(error_at(file, f"expected a distance, found {shown(fields[bad])}", number), number)
    return values


def _square(rows: Sequence[np.ndarray], n_objects: int, file: str) -> np.ndarray:
    matrix = np.zeros((n_objects, n_objects))
    lengths = [len(row) for row in rows]
    if lengths == [n_objects] * n_objects:
        return np.array(rows)
    is_upper = lengths[0] > lengths[-1]
    for row, values in enumerate(rows):
        first = row + 1 if is_upper else 0
        matrix[row, first : first + len(values)] = values
    if np.diagonal(matrix).any():
        row = int(np.argmax(np.diagonal(matrix) != 0))
        raise error_at(file, f"expected 0 as the distance of object {row} to itself, found {matrix[row, row]:g}")
    return matrix + matrix.T


def write_phylip(dataset: Dataset) -> str:
    """Return a distance matrix with names, square or lower-triangular as it was read."""
    matrix = np.asarray(dataset.objects, np.float64)
    names = (
        [f"object{row}" for row in range(len(matrix))] if dataset.ids is None else [str(name) for name in dataset.ids]
    )
    if any("\t" in name or "\n" in name or "\r" in name for name in names):
        raise DataError("a name with a tab or a line break does not fit into a PHYLIP file; rename the object")
    is_square = dataset.layout is None or not dataset.layout.condensed
    distances = [" ".join(map(number_text, values if is_square else values[:row])) for row, values in enumerate(matrix)]
    strict = _joined(names, distances, lambda name, values: f"{name:<{STRICT_NAME}} {values}")
    if not any(" " in name for name in names) or _reads_as(strict, names, matrix):
        return strict
    return _joined(names, distances, lambda name, values: f"{name}\t{values}")


def _joined(names: Sequence[str], distances: Sequence[str], join: Callable[[str, str], str]) -> str:
    rows = [join(name, values).rstrip() for name, values in zip(names, distances, strict=True)]
    return "\n".join([str(len(rows)), *rows, ""])


def _reads_as(text: str, names: Sequence[str], matrix: np.ndarray) -> bool:
    try:
        again, again_names, _ = read_phylip_rows(text, "text")
    except DataError:
        return False
    return list(again_names) == list(names) and np.array_equal(again, matrix)


FORMATS = (Format("phylip", (".phy", ".phylip", ".dist"), ("matrix",), read_phylip, write_phylip, ("labels",)),)
