"""From the bytes of a file to lines, numbers and labels; and from numbers back to text."""

from __future__ import annotations

import gzip
import io
import re
import warnings
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

from protoset._memory import format_bytes
from protoset.datasets._errors import error_at, shown

BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
"""Byte order marks and their encodings; longer marks first."""

CONTROL_CHARACTER = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")
"""A character that text files do not have."""

LARGEST_EXACT_INTEGER = 2**53
"""Whole numbers up to this one are exact as floats."""


LABELS_BYTES = 200 * 10**6
"""Largest size of an array of labels that are texts."""


def decompress(content: bytes, file: str, limit: int) -> bytes:
    """Return the decompressed content of a gzip file, and any other content unchanged. The file name does not count."""
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
            unpacked = packed.read(limit + 1)
    except (EOFError, OSError, zlib.error) as reason:
        raise error_at(file, f"the gzip file is cut off or damaged ({reason}); get it again") from reason
    if len(unpacked) > limit:
        raise error_at(
            file,
            f"unpacks to more than the {format_bytes(limit)} that max_bytes allows; if you trust its source, pass a "
            "larger max_bytes",
        )
    return unpacked


def decode(content: bytes, file: str) -> str:
    """Return the text of a file: in the encoding of its byte order mark, else in UTF-8, else in Latin-1.

    Older files of the field write accents in Latin-1. Latin-1 decodes any bytes, so control characters tell a binary
    file.
    """
    for mark, encoding in BYTE_ORDER_MARKS:
        if content.startswith(mark):
            try:
                text = content[len(mark) :].decode(encoding)
            except UnicodeDecodeError as reason:
                raise error_at(
                    file, f"has the byte order mark of {encoding}, but is not {encoding} ({reason.reason})"
                ) from reason
            break
    else:
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            text = content.decode("latin-1")
    text = text.rstrip("\x1a")
    match = CONTROL_CHARACTER.search(text)
    if match:
        line = len(split_lines(text[: match.start()]))
        raise error_at(
            file, f"expected text, found the control character {match.group()!r}; is it a binary file?", line
        )
    return text


def split_lines(text: str) -> list[str]:
    """Return the lines of a text; line ends of Unix, Windows and old Macs may be mixed."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def each_line(text: str) -> Iterator[str]:
    """Yield the lines of a text as ``split_lines`` returns them, one at a time."""
    return (line.removesuffix("\n") for line in io.StringIO(text, newline=None))


def to_numbers(texts: Sequence[str | None], missing: Collection[str] = ()) -> tuple[np.ndarray, int]:
    """Return texts as numbers, and the position of the first text that is not a finite number, or -1.

    None and the texts in ``missing`` become NaN.
    """
    values = np.empty(len(texts))
    for position, text in enumerate(texts):
        if text is None or text in missing:
            values[position] = np.nan
            continue
        try:
            value = float(text)
        except ValueError:
            return values, position
        # Python alone reads 1_000 as a number.
        if value in (np.inf, -np.inf) or "_" in text:
            return values, position
        values[position] = value
    return values, -1


def load_numbers(lines: Sequence[str], delimiter: str | None) -> np.ndarray | None:
    """Return lines of numbers as NumPy reads them, which is fast; None if NumPy cannot read all of them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rows = np.loadtxt(lines, delimiter=delimiter, comments=None, ndmin=2)
    except (ValueError, UserWarning):
        return None
    return rows if len(rows) == len(lines) and not np.isinf(rows).any() else None


def is_number(text: str) -> bool:
    """Whether a text is a finite number or NaN."""
    return to_numbers([text])[1] < 0


def whole_number(text: str) -> int | None:
    """Return 3 for "3", "3.0" and "3e0"; None for texts that are not whole numbers, and for codes such as "03"."""
    if not is_number(text) or re.match(r"[+-]?0\d", text):
        return None
    value = float(text)
    return int(value) if value.is_integer() and abs(value) <= LARGEST_EXACT_INTEGER else None


def text_labels(texts: Sequence[str], file: str) -> np.ndarray:
    """Return labels as an array of texts, in which each takes the memory of the longest."""
    longest = max(texts, key=len, default="")
    if 4 * len(longest) * len(texts) > LABELS_BYTES:
        raise error_at(
            file,
            f"expected class labels, found a text of {len(longest)} characters, {shown(longest)}; choose another "
            "column with target=, or shorten it",
        )
    return np.array(texts, dtype=str)


def to_labels(texts: Sequence[str], file: str, declared: Iterable[str] = ()) -> tuple[np.ndarray, dict[int, str]]:
    """Return labels as whole numbers if all of them are, else as texts; and the text of each number that is not plain.

    ``declared`` labels count too, so that some rows of a file get labels of the same type as all rows.
    """
    numbers = {text: whole_number(text) for text in dict.fromkeys([*declared, *texts])}
    if any(number is None for number in numbers.values()):
        return text_labels(texts, file), {}
    spelling: dict[int, str] = {}
    for text, number in numbers.items():
        if number is not None and text != str(number):
            spelling.setdefault(number, text)
    return np.array([numbers[text] for text in texts], dtype=np.int64), spelling


def number_text(value: float, whole: bool = False) -> str:
    """Return the shortest text that is read as the same number; ``whole`` numbers without a decimal point."""
    return (
        str(int(value)) if whole and value.is_integer() and abs(value) < LARGEST_EXACT_INTEGER else repr(float(value))
    )
