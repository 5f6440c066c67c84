"""Roles of the columns of a table: attributes, ids, columns that are left out. The rules are here, and nowhere else.

A column of a CSV or Parquet file is left out if it says nothing about its objects, or names them:

- "unique": whole numbers that number or name the rows: all different, none missing, and one of the following. The
  column has the name of an id (id, index, row, no, nr, customer_id, PassengerId, "Unnamed: 0", or none, as pandas
  writes an index). The numbers are consecutive. Or measured numbers of this range would have repeated: n numbers from a
  range of r values have n (n - 1) / (2 r) equal pairs or more on average, and this is above ``EQUAL_PAIRS``. Unique
  incomes or weights stay, for their range is wide. Columns with the name of a time (year, day, timestamp) and percents
  stay. Texts that all differ are "unique" if their column has the name of an id, and so are whole numbers from
  ``LONG_NUMBER`` on, which floats do not tell apart;
- "text": texts of which nearly all differ (``TEXT_SHARE``), in more than ``MOST_ROWS_OF_CATEGORIES`` rows;
- "constant": one value in all rows; "empty": no value;
- "ambiguous dates": 03/04/2020 with the day or the month first, and no value tells which.

With fewer than ``FEWEST_ROWS`` rows, values tell nothing: then names alone count. Nothing depends on the order of the
rows. The first "unique" column with the name of an id has the ids, a column without a name or with one of pandas'
index (``INDEX_NAMES``) only where there is no other; else the first "unique" column. Formats that declare their
attributes (KEEL, ARFF) are taken at their word: columns are left out there only if the user says so.

Without ``target`` the labels are in the column called class, target, label or y, or in the only column of categories.
Columns that the user ignores, uses, or names for another role have no labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from protoset._validation import did_you_mean
from protoset.datasets._errors import error_at, listed, shown
from protoset.datasets._parsing import LABELS_BYTES, is_number, whole_number
from protoset.datasets.base import Attribute, Kind, LeftOut

FEWEST_ROWS = 10
"""Rows from which on the values of a column, and not only its name, tell its role."""

EQUAL_PAIRS = 10
"""Expected number of equal pairs above which unique whole numbers are taken for row numbers or ids."""

LONG_NUMBER = 2.0**53
"""Whole number from which on floats are not all whole numbers."""

TEXT_SHARE = 0.95
"""Share of different values from which on a column of texts is free text."""

MOST_ROWS_OF_CATEGORIES = 20
"""Rows up to which texts that all differ may be categories, and labels that all differ may be classes."""

TARGET_NAMES = ("class", "target", "label", "y")
"""Names of the column of labels."""

ID_NAMES = frozenset(("", "#", "id", "ids", "uid", "uuid", "guid", "key", "index", "idx", "row", "no", "nr", "rowid"))
"""Names of columns of ids, in lower case, without points at the end."""

ID_ENDINGS = frozenset(("id", "uid", "uuid", "guid", "idx", "no", "nr"))
"""Last words of names of columns of ids, in lower case: customer_id, PassengerId, "sample no."."""

ID_PHRASES = re.compile(r"unnamed: \d+|level_\d+|row[ _-]?(id|index|number|no|nr|num)|__index_level_\d+__")
"""Other names of columns of ids, in lower case."""

INDEX_NAMES = re.compile(r"(unnamed: \d+|level_\d+|index|__index_level_\d+__)?")
"""Names that pandas gives to an index in a file, in lower case; no name is one of them."""

TIME_WORDS = frozenset(
    (
        "year",
        "month",
        "week",
        "day",
        "days",
        "hour",
        "minute",
        "second",
        "seconds",
        "date",
        "time",
        "timestamp",
        "epoch",
    )
)
"""Words in names of columns of times, in lower case; such columns are never taken for row numbers."""

WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
"""Words of a name such as PassengerId or customer_id."""

LISTED_COLUMNS = 4
"""Number of columns up to which those left out for one reason are all named."""


@dataclass(frozen=True)
class ColumnOptions:
    """What the user says about the columns of a table; see :func:`protoset.datasets.read`.

    ``raw`` is for queries: all columns are read as plain numbers or texts, and none is left out.
    """

    ignore: tuple[str | int, ...] = ()
    use: tuple[str | int, ...] = ()
    id: str | int | None = None
    categorical: tuple[str | int, ...] = ()
    numeric: tuple[str | int, ...] = ()
    text: str | int | None = None
    header: bool | None = None
    separator: str | None = None
    decimal: Literal[".", ","] | None = None
    raw: bool = False

    @property
    def given(self) -> list[str]:
        """Names of the options that the user gave."""
        return [field.name for field in fields(self) if getattr(self, field.name) != field.default]

    @property
    def names(self) -> list[str]:
        """Names of columns in the options."""
        single = [name for name in (self.id, self.text) if name is not None]
        columns = (*self.ignore, *self.use, *self.categorical, *self.numeric, *single)
        return [name for name in columns if isinstance(name, str) and name != "*" and not is_number(name)]


def column_options(**options: Any) -> ColumnOptions:
    """Return checked options; a single column may stand for a list of columns."""
    checked: dict[str, Any] = {}
    for name in ("ignore", "use", "categorical", "numeric"):
        columns = options.pop(name, ())
        single = isinstance(columns, (str, int, np.integer))
        if not single and (not isinstance(columns, Iterable) or isinstance(columns, bytes)):
            raise TypeError(f"{name}={columns!r} must be the name or the position of a column, or a list of them")
        checked[name] = (columns,) if single else tuple(columns)
    separator, decimal, header = (options.get(name) for name in ("separator", "decimal", "header"))
    if separator is not None and (not isinstance(separator, str) or len(separator) != 1 or separator in '"\r\n'):
        raise ValueError(f"separator={separator!r} must be one character between fields, such as ',', ';' or a tab")
    if decimal is not None and not (isinstance(decimal, str) and decimal in (".", ",")):
        raise ValueError(f"decimal={decimal!r} must be '.' or ','")
    if separator is not None and separator == decimal:
        raise ValueError(f"separator and decimal are both {separator!r}; choose two characters")
    if not (header is None or isinstance(header, (bool, np.bool_))):
        raise ValueError(f"header={header!r} must be True, False, or None to find out")
    return ColumnOptions(**checked, **options)


@dataclass(frozen=True)
class ChosenColumns:
    """Positions of the columns that the options name."""

    target: int | None
    ignore: frozenset[int]
    use: frozenset[int]
    id: int | None
    categorical: frozenset[int]
    numeric: frozenset[int]
    text: int | None
    everything: bool

    def keeps(self, position: int) -> bool:
        """Whether a column is used for any content."""
        forced = self.use | self.categorical | self.numeric
        return self.everything or position in forced or position == self.text

    def reason(self, position: int) -> str | None:
        """Why the user leaves a column out; None if the user does not."""
        if position == self.id:
            return "id"
        return "ignored" if position in self.ignore else None

    def has_another_role(self, position: int) -> bool:
        """Whether the user says of a column that it has no labels."""
        return position in self.ignore | self.use | self.numeric or position in (self.id, self.text)


def choose_columns(
    options: ColumnOptions, target: str | int | Literal[False] | None, names: Sequence[str], file: str
) -> ChosenColumns:
    """Find the columns that the user names; refuse unknown names and contradictions."""

    def several(option: str) -> frozenset[int]:
        columns = [column for column in getattr(options, option) if (option, column) != ("use", "*")]
        return frozenset(find_column(column, names, file, option) for column in columns)

    def single(option: str) -> int | None:
        column = getattr(options, option)
        # A file of queries need not have ids.
        is_absent = column is None or (options.raw and column not in names)
        return None if is_absent else find_column(column, names, file, option)

    at = None if target is None or target is False else find_column(target, names, file)
    chosen = ChosenColumns(
        target=at,
        ignore=several("ignore"),
        use=several("use"),
        id=single("id"),
        categorical=several("categorical"),
        numeric=several("numeric"),
        text=single("text"),
        everything=options.raw or "*" in options.use,
    )
    # Categories may be declared for the labels, and used columns may have a type.
    named: dict[int, str] = {}
    for option in ("target", "ignore", "id", "text", "numeric", "categorical", "use"):
        value = getattr(chosen, option)
        for position in value if isinstance(value, frozenset) else () if value is None else (value,):
            other = named.setdefault(position, option)
            together = {other, option}
            if len(together) == 2 and together not in (
                {"target", "categorical"},
                {"numeric", "use"},
                {"categorical", "use"},
            ):
                raise error_at(
                    file,
                    f"the column {shown(names[position])} is both {other}= and {option}=, which exclude each other; "
                    "leave out one of them",
                )
    if chosen.text is not None and not options.raw:
        typed = chosen.categorical - {at} if target is not None else frozenset()
        idle = [
            name for name, value in (("use", options.use), ("numeric", chosen.numeric), ("categorical", typed)) if value
        ]
        if idle:
            raise error_at(
                file,
                f"with text={options.text!r} the texts of one column are the objects, and {idle[0]}= has no effect; "
                "leave out one of them",
            )
    return chosen


def find_column(column: str | int, names: Sequence[str], file: str, option: str = "target") -> int:
    """Return the position of the column with this name or position; negative positions count from the end."""
    if isinstance(column, str):
        for same in (lambda name: name == column, lambda name: name.casefold() == column.casefold()):
            matches = [position for position, name in enumerate(names) if same(name)]
            if len(matches) == 1:
                return matches[0]
        position = whole_number(column)
        if position is None:
            hint = did_you_mean(column, names)
            raise error_at(file, f"there is no column {option}={shown(column)}{hint}; there are {listed(names)}")
        column = position
    if not isinstance(column, (int, np.integer)) or isinstance(column, bool):
        raise error_at(
            file, f"{option}={column!r} must be the name or the position of a column; there are {listed(names)}"
        )
    if not -len(names) <= column < len(names):
        raise error_at(file, f"{option}={column} is not a position in {len(names)} columns, counted from 0")
    return int(column) % len(names)


def named_target(names: Sequence[str], chosen: ChosenColumns) -> int | None:
    """Return the position of the only column that is called as labels are."""
    matches = [position for position, name in enumerate(names) if name.casefold() in TARGET_NAMES]
    matches = [position for position in matches if not chosen.has_another_role(position)]
    return matches[0] if len(matches) == 1 else None


def only_categorical(nominal: Sequence[int], names: Sequence[str], chosen: ChosenColumns, file: str) -> int:
    """Return the position of the only column of categories; raise an error if there is another number of them."""
    nominal = [position for position in nominal if not chosen.has_another_role(position)]
    if len(nominal) == 1:
        return nominal[0]
    several = f"{len(nominal)} columns of categories ({listed(names[at] for at in nominal)})" if nominal else "none"
    other = [name for at, name in enumerate(names) if name.casefold() in TARGET_NAMES and chosen.has_another_role(at)]
    unless = f" ({listed(other)} has another role by an option)" if other else ""
    raise error_at(
        file,
        f"expected a column of labels: called {', '.join(TARGET_NAMES[:-1])} or {TARGET_NAMES[-1]}, or the only column "
        f"of categories, found {several}{unless}; name it by target=. There are {listed(names, 20)}",
    )


def check_classes(name: str, labels: np.ndarray, file: str) -> None:
    """Refuse labels with nearly as many values as rows."""
    n_different = len(np.unique(labels))
    if len(labels) > MOST_ROWS_OF_CATEGORIES and n_different > len(labels) / 2:
        raise error_at(
            file,
            f"expected classes in {shown(name)}, found {n_different} different labels in {len(labels)} rows; choose "
            "another column by target=, bin its values, or pass it as categorical= too if "
            "these are classes",
        )


def is_id_name(name: str | None) -> bool:
    """Whether a column is called as ids and row numbers are; None is a column of a file without names."""
    if name is None:
        return False
    lower = name.strip().rstrip(".").casefold()
    if lower in ID_NAMES or ID_PHRASES.fullmatch(lower):
        return True
    words = WORDS.findall(name)
    return len(words) > 1 and words[-1].casefold() in ID_ENDINGS


def is_index_name(name: str | None) -> bool:
    """Whether a column is called as pandas calls an index."""
    return name is not None and INDEX_NAMES.fullmatch(name.strip().casefold()) is not None


def is_time_name(name: str | None) -> bool:
    """Whether a column is called as times are."""
    return name is not None and not TIME_WORDS.isdisjoint(word.casefold() for word in WORDS.findall(name))


def why_no_number(names: Sequence[str | None], values: np.ndarray) -> dict[int, str]:
    """Return the reason for each column of numbers that is left out, by its position; NaN is a missing value.

    ``names`` are those in the file, None where it has none.
    """
    n = len(values)
    reasons: dict[int, str] = {}
    if n < 2:
        return reasons
    missing = np.isnan(values)
    complete = ~missing.any(axis=0)
    filled = np.where(missing, 0.0, values)
    lowest, highest = filled.min(axis=0), filled.max(axis=0)
    if n >= FEWEST_ROWS:
        reasons.update(dict.fromkeys(np.flatnonzero(missing.all(axis=0)).tolist(), "empty"))
        reasons.update(dict.fromkeys(np.flatnonzero(complete & (lowest == highest)).tolist(), "constant"))
    whole = complete & (lowest < highest) & (np.floor(values) == values).all(axis=0)
    too_long = complete & (np.maximum(-lowest, highest) >= LONG_NUMBER) & (np.floor(values) == values).all(axis=0)
    for position in np.flatnonzero(too_long).tolist():
        if is_id_name(names[position]):
            reasons[position] = "unique"
    with np.errstate(over="ignore"):
        spans = highest - lowest + 1
    counted = (n >= FEWEST_ROWS) & ((spans == n) | (spans <= n * (n - 1) / (2 * EQUAL_PAIRS)))
    for position in np.flatnonzero(whole).tolist():
        name = names[position]
        if (is_id_name(name) or (counted[position] and not is_time_name(name))) and len(
            np.unique(values[:, position])
        ) == n:
            reasons[position] = "unique"
    return reasons


def why_no_category(name: str | None, texts: Sequence[str | None]) -> str | None:
    """Return the reason why a column of texts is left out; None if it is used. ``name`` as above."""
    n_different = len({text for text in texts if text is not None})
    n_known = sum(text is not None for text in texts)
    if 1 < n_different == len(texts) and is_id_name(name):
        return "unique"
    if len(texts) < FEWEST_ROWS:
        return None
    if n_different <= 1 and n_known in (0, len(texts)):
        return "constant" if n_different else "empty"
    return "text" if n_known > MOST_ROWS_OF_CATEGORIES and n_different >= TEXT_SHARE * n_known else None


def as_ids(
    chosen: ChosenColumns, left_out: Sequence[LeftOut], named: Sequence[str | None], file: str
) -> tuple[np.ndarray | None, str | None]:
    """Return the ids and the name of their column: the one that the user names, else the first "unique" column.

    ``named`` are the names of all columns as in the file.
    """
    unique = [left for left in left_out if left.reason == "unique"]
    # A column called id names the objects better than an index of pandas before it.
    unique.sort(key=lambda left: (not is_id_name(named[left.position]), is_index_name(named[left.position])))
    source = next((left for left in left_out if left.position == chosen.id), unique[0] if unique else None)
    if source is None:
        return None, None
    texts = ["" if value is None else str(value) for value in source.values]
    if 4 * len(texts) * max(map(len, texts)) > LABELS_BYTES:
        if chosen.id is None:
            return None, None
        longest = max(texts, key=len)
        raise error_at(file, f"expected ids in {shown(source.name)}, found a text of {len(longest)} characters")
    return np.array(texts, dtype=str), source.name


def refuse_no_attributes(left_out: Sequence[LeftOut], file: str) -> None:
    """Raise the error about a table without attributes."""
    if not left_out:
        raise error_at(file, "there is no column beside the labels")
    texts = [left.name for left in left_out if left.reason == "text"]
    compare = f"; to compare the texts under an edit distance, pass text={texts[0]!r}" if texts else ""
    raise error_at(
        file,
        f"every column beside the labels is left out: {_describe_left_out(left_out)}; name columns by use={compare}",
    )


def describe_roles(
    kind: Kind, attributes: Sequence[Attribute], left_out: Sequence[LeftOut], id_column: str | None
) -> str:
    """Return what each column is used for, in one line; see ``Dataset.roles``."""
    if not attributes:
        return ""
    used = f"{attributes[0].name} (text)" if kind == "strings" else ", ".join(_describe_used(attributes))
    rest = f"; left out: {_describe_left_out(left_out)}" if left_out else ""
    # One column of row numbers needs no word about the ids.
    named = f"; ids: {id_column}" if sum(left.reason == "unique" for left in left_out) > 1 else ""
    return f"used: {used}{rest}{named}"


def _describe_used(attributes: Sequence[Attribute]) -> list[str]:
    numeric = [attribute for attribute in attributes if attribute.type in ("real", "integer")]
    others = {kind: sum(attribute.type == kind for attribute in attributes) for kind in ("nominal", "date")}
    parts = []
    if numeric:
        stated = [
            f"{attribute.name} {'in %' if attribute.form.endswith('%') else 'with thousands'}"
            for attribute in numeric
            if attribute.form.startswith(("1,", "1.")) or attribute.form.endswith("%")
        ]
        parts.append(f"{len(numeric)} numeric" + (f" ({listed(stated, LISTED_COLUMNS)})" if stated else ""))
    if others["nominal"]:
        parts.append(f"{others['nominal']} categorical")
    if others["date"]:
        parts.append(f"{others['date']} date{'s' if others['date'] > 1 else ''} (days)")
    return parts


def _describe_left_out(left_out: Sequence[LeftOut]) -> str:
    by_reason: dict[str, list[str]] = {}
    for left in left_out:
        by_reason.setdefault(left.reason, []).append(left.name)
    parts = []
    for reason, names in by_reason.items():
        if len(names) <= LISTED_COLUMNS:
            parts += [f"{name} ({reason})" for name in names]
        else:
            parts.append(
                f"{', '.join(names[: LISTED_COLUMNS - 1])} and {len(names) - LISTED_COLUMNS + 1} more ({reason})"
            )
    return ", ".join(parts)
