"""Numbers and dates as files write them: thousands, percents, decimal commas, dates. ``Attribute.form`` has the form.

    text            form                 number
    3,750           1,234.5                3750
    3.750,5         1.234,5                3750.5
    18.7 %          1234.5 %               18.7
    18.7%           1234.5%                18.7
    1970-01-02      YYYY-MM-DD             1
    02.01.1970 6:00 DD.MM.YYYY hh:mm       1.25

A column has a form if all its known values are written so. 03/04/2020 is the third of April or the fourth of March: the
column tells if one of its values has a day above 12.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Literal

import numpy as np

from protoset.datasets._parsing import is_number, number_text

Decimal = Literal[".", ","]

NUMBER_FORMS: dict[Decimal, dict[str, re.Pattern[str]]] = {
    ".": {"1234.5": re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)},
    ",": {"1234,5": re.compile(r"[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?", re.ASCII)},
}
"""Numbers without thousands, by their decimal mark."""

NUMBER_FORMS["."]["1,234.5"] = re.compile(r"[+-]?\d{1,3}(,\d{3})*(\.\d+)?", re.ASCII)
NUMBER_FORMS[","]["1.234,5"] = re.compile(r"[+-]?\d{1,3}(\.\d{3})*(,\d+)?", re.ASCII)

PERCENT = re.compile(r"\s?%$")
"""The end of a percentage."""

DATE_PATTERN = re.compile(
    r"(?:(?P<year>\d{4})(?P<mark>[-/])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})"
    r"|(?P<first>\d{1,2})(?P<other_mark>[./-])(?P<second>\d{1,2})(?P=other_mark)(?P<last_year>\d{4}))"
    r"(?:(?P<before_time>[T ])(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<seconds>\d{2})(?P<fraction>[.,]\d{1,9})?)?"
    r"(?:\s?(?P<zone>Z|[+-]\d{2}(?::?\d{2})?))?)?",
    re.ASCII,
)
"""A date, perhaps with a time and a zone: the year first, or the year last."""

DATE_ORDERS = ("YYYY-MM-DD", "YYYY/MM/DD", "DD.MM.YYYY", "DD/MM/YYYY", "MM/DD/YYYY", "DD-MM-YYYY", "MM-DD-YYYY")
"""How a date may be written; a time may follow."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""Day 0."""

SECONDS_OF_DAY = 86_400
"""Seconds of a day."""


def read_numbers(texts: Sequence[str | None], decimal: Decimal) -> tuple[np.ndarray, str] | None:
    """Return texts as numbers, and their form; None if a text is no number in the form of the others.

    Thousands are marked by the other of the point and the comma. Either all numbers are percents or none.
    """
    known = [text for text in texts if text is not None]
    if not known or not (known[0][-1:] == "%" or known[0][-1:].isdigit() or known[0][-1:] == decimal):
        return None
    percent = PERCENT.search(known[0])
    if percent is not None:
        if not all(text.endswith("%") for text in known):
            return None
        known = [PERCENT.sub("", text) for text in known]
    for form, pattern in NUMBER_FORMS[decimal].items():
        if all(map(pattern.fullmatch, known)):
            numbers = iter(known)
            values = np.array([np.nan if text is None else _to_float(next(numbers), decimal) for text in texts])
            if np.isinf(values).any():
                return None
            if percent is not None:
                return values, form + percent.group()
            return values, "" if form == "1234.5" else form
    return None


def _to_float(text: str, decimal: Decimal) -> float:
    """Return a number without its marks of thousands, infinity if it is too large."""
    return float(text.replace(",", "") if decimal == "." else text.replace(".", "").replace(",", "."))


def is_too_large(text: str) -> bool:
    """Whether a text is a number beyond the largest float, such as 1e400, or a percentage of that size."""
    bare = PERCENT.sub("", text)
    return any(
        form.fullmatch(bare) and math.isinf(_to_float(bare, decimal))
        for decimal, forms in NUMBER_FORMS.items()
        for form in forms.values()
    )


def number_test(texts: Sequence[str], decimal: Decimal) -> Callable[[str], bool]:
    """Return a function that says whether a text is a finite number as most of these texts: a percentage or not."""
    are_percents = sum(text.endswith("%") for text in texts) > len(texts) / 2
    patterns = NUMBER_FORMS[decimal].values()

    def is_like_others(text: str) -> bool:
        bare = PERCENT.sub("", text) if are_percents else text
        if (text != bare) != are_percents:
            return False
        is_written_so = any(form.fullmatch(bare) for form in patterns)
        return is_number(bare) or (is_written_so and math.isfinite(_to_float(bare, decimal)))

    return is_like_others


def number_in_form(value: float, whole: bool, form: str) -> str:
    """Return a number as text in a form."""
    text = number_text(value, whole)
    if not form:
        return text
    if form.startswith(("1,234.5", "1.234,5")) and abs(value) < 1e15 and "e" not in text:
        sign, (integer, point, rest) = "-" * text.startswith("-"), text.removeprefix("-").partition(".")
        text = f"{sign}{int(integer):,}{point}{rest}"
    if "4,5" in form:
        text = text.translate(str.maketrans(",.", ".,"))
    percent = PERCENT.search(form)
    return text + ("" if percent is None else percent.group())


def date_form(texts: Sequence[str | None]) -> str | None:
    """Return the form of a column of dates; "" if the day and the month cannot be told apart, None if it has no dates.

    The form has the time of the day if a text has one, and a Z at its end if a text has a zone.
    """
    orders = set(DATE_ORDERS)
    time = ""
    zone = ""
    n_known = 0
    for text in texts:
        if text is None:
            continue
        match = DATE_PATTERN.fullmatch(text)
        if match is None:
            return None
        n_known += 1
        orders = {order for order in orders if _fits(match, order)}
        if not orders:
            return None
        if match["hour"]:
            written = f"{match['before_time']}hh:mm" + (":ss" if match["seconds"] else "")
            time = max(time, written, key=len)
            zone = zone or ("Z" if match["zone"] else "")
    if not n_known:
        return None
    return f"{orders.pop()}{time}{zone}" if len(orders) == 1 else ""


def read_date(text: str, form: str) -> float | None:
    """Return the days since 1970-01-01 of a date in a form; None if it is no date in this form.

    A time may follow any date. A time without a zone is taken for UTC.
    """
    match = DATE_PATTERN.fullmatch(text)
    if match is None or not _fits(match, form[:10]):
        return None
    year, month, day = _parts(match, form[:10])
    hour, minute, seconds = (int(match[part] or 0) for part in ("hour", "minute", "seconds"))
    microsecond = int(f"{(match['fraction'] or '.')[1:7]:0<6}")
    try:
        when = datetime(year, month, day, hour, minute, seconds, microsecond) - _offset(match["zone"])
    except (ValueError, OverflowError):
        return None
    return days_of(when)


def days_of(when: date) -> float:
    """Return the days since 1970-01-01 of a date, or of a time; a time without a zone is taken for UTC."""
    if not isinstance(when, datetime):
        return float((when - EPOCH.date()).days)
    since = (when if when.tzinfo else when.replace(tzinfo=UTC)) - EPOCH
    return since.days + (since.seconds + since.microseconds / 10**6) / SECONDS_OF_DAY


def is_date(text: str, form: str | None) -> bool:
    """Whether a text is a date in this form; in any form if it is None or empty."""
    return any(read_date(text, order) is not None for order in ([form] if form else DATE_ORDERS))


def date_in_form(value: float, form: str) -> str:
    """Return days since 1970-01-01 as text in a form, with a time where the form or the value has one."""
    try:
        when = EPOCH + timedelta(microseconds=round(value * SECONDS_OF_DAY * 10**6))
    except (OverflowError, ValueError):
        return number_text(value)
    parts = {"YYYY": f"{when.year:04}", "MM": f"{when.month:02}", "DD": f"{when.day:02}"}
    text = re.sub("YYYY|MM|DD", lambda match: parts[match.group()], form[:10] or DATE_ORDERS[0])
    mark = form[10:11] or "T"
    if when.second or when.microsecond or form.rstrip("Z").endswith(":ss"):
        text += f"{mark}{when:%H:%M:%S}" + (f".{when.microsecond:06}" if when.microsecond else "")
    elif when.hour or when.minute or form[10:]:
        text += f"{mark}{when:%H:%M}"
    return text + ("Z" if form.endswith("Z") else "")


def _fits(match: re.Match[str], order: str) -> bool:
    """Whether a date may be written in this order."""
    if (match["year"] is None) != order.endswith("YYYY") or (match["mark"] or match["other_mark"]) not in order:
        return False
    _, month, day = _parts(match, order)
    return 1 <= month <= 12 and 1 <= day <= 31


def _parts(match: re.Match[str], order: str) -> tuple[int, int, int]:
    if order.startswith("YYYY"):
        return int(match["year"]), int(match["month"]), int(match["day"])
    first, second = int(match["first"]), int(match["second"])
    return (
        (int(match["last_year"]), second, first) if order.startswith("DD") else (int(match["last_year"]), first, second)
    )


def _offset(zone: str | None) -> timedelta:
    if zone is None or zone == "Z":
        return timedelta(0)
    digits = zone[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
    return -offset if zone.startswith("-") else offset
