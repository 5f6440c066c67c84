"""From the bytes of a file to lines, numbers and labels; and from numbers back to text."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from protoset.datasets._errors import error_at

BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
"""Marks at the beginning of a file, and what they say; the longer ones first."""

CONTROL_CHARACTER = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")
"""Characters that no text file has."""

LARGEST_EXACT_INTEGER = 2**53
"""Whole numbers up to here are the same as floats."""


def decompress(content: bytes, file: str) -> bytes:
    """Return what is inside a gzip file; other content as it is, whatever the file's name says."""
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        return gzip.decompress(content)
    except (EOFError, OSError, zlib.error) as reason:
        raise error_at(file, f"the gzip file is cut off or damaged ({reason}); get it again") from reason


def decode(content: bytes, file: str) -> str:
    """Return the text of a file: in the encoding that its mark says, else UTF-8, else Latin-1.

    Latin-1 is how older files of the field write accents. It decodes anything, so control characters are taken as the
    sign of a file that is no text.
    """
    content = decompress(content, file)
    for mark, encoding in BYTE_ORDER_MARKS:
        if content.startswith(mark):
            try:
                text = content[len(mark) :].decode(encoding)
            except UnicodeDecodeError as reason:
                raise error_at(file, f"begins with the mark of {encoding}, but is not ({reason.reason})") from reason
            break
    else:
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            text = content.decode("latin-1")
    text = text.rstrip("\x1a")
    found = CONTROL_CHARACTER.search(text)
    if found:
        line = len(split_lines(text[: found.start()]))
        raise error_at(
            file, f"expected text, found the control character {found.group()!r}; is it a binary file?", line
        )
    return text


def split_lines(text: str) -> list[str]:
    """Return the lines, whether they end as on Unix, Windows or old Macs, or now so, now so."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def to_numbers(texts: Sequence[str | None], missing: Collection[str] = ()) -> tuple[np.ndarray, int]:
    """Return finite numbers, NaN where a text is None or a mark of missing, and the position of what is none, or -1."""
    values = np.empty(len(texts))
    for position, text in enumerate(texts):
        if text is None or text in missing:
            values[position] = np.nan
            continue
        try:
            value = float(text)
        except ValueError:
            return values, position
        # Python reads 1_000 as a number; nobody else does.
        if value in (np.inf, -np.inf) or "_" in text:
            return values, position
        values[position] = value
    return values, -1


def is_number(text: str) -> bool:
    """Whether a text is a finite number, or NaN."""
    return to_numbers([text])[1] < 0


def whole_number(text: str) -> int | None:
    """Return the whole number that a text is, 3 for "3", "3.0" and "3e0"; None for others, and for codes like "03"."""
    if not is_number(text) or re.match(r"[+-]?0\d", text):
        return None
    value = float(text)
    return int(value) if value.is_integer() and abs(value) <= LARGEST_EXACT_INTEGER else None


def to_labels(texts: Sequence[str], declared: Iterable[str] = ()) -> tuple[np.ndarray, dict[int, str]]:
    """Return labels, and how they are spelled where that is not plain: numbers where all are whole numbers, else texts.

    Declared values take part in the decision, so that a part of a file gets labels of the same type.
    """
    numbers = {text: whole_number(text) for text in dict.fromkeys([*declared, *texts])}
    if any(number is None for number in numbers.values()):
        return np.array(texts, dtype=str), {}
    spelling: dict[int, str] = {}
    for text, number in numbers.items():
        if number is not None and text != str(number):
            spelling.setdefault(number, text)
    return np.array([numbers[text] for text in texts], dtype=np.int64), spelling


def number_text(value: float, whole: bool = False) -> str:
    """Return a number so that reading it gives the same one; without a point if it is ``whole``."""
    return (
        str(int(value)) if whole and value.is_integer() and abs(value) < LARGEST_EXACT_INTEGER else repr(float(value))
    )
