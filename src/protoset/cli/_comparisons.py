"""How a query and a prototype differ, as text and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from protoset.cli._output import percent, plain, say, say_table

if TYPE_CHECKING:
    import numpy as np

    from protoset.datasets import Attribute
    from protoset.models import Preparation
    from protoset.spaces import Alignment, Contributions, EditScript, PairComparison

SHOWN_ATTRIBUTES = 10
"""Attributes that are shown without --all."""

SHOWN_DIGITS = 4
"""Digits of a value of a prototype that moved; all digits before the decimal point are shown."""

SHOWN_SEGMENTS = 5
"""Segments of an alignment that are shown without --all."""

SHOWN_SYMBOLS = 400
"""Columns of aligned strings that are shown without --all."""

LINE_SYMBOLS = 80
"""Columns of aligned strings in a line."""

EDIT_MARKS = {"insert": "+", "delete": "-", "replace": "~", "transpose": "x"}
"""Marks between the symbols that an edit changes."""

GAP = "·"
"""Stands for no symbol."""


def say_comparison(
    comparison: PairComparison, preparation: Preparation, everything: bool, exemplar: np.ndarray | None = None
) -> None:
    """Print the parts of the distance of a query to a prototype; all parts if ``everything``.

    ``exemplar`` has, in one row, the attributes of the exemplar of a prototype that moved.
    """
    from protoset.spaces import Alignment, Contributions, EditScript, PairComparison

    if type(comparison) is not PairComparison:
        say("")
    if isinstance(comparison, Contributions):
        _say_attributes(comparison, preparation, everything, exemplar)
    elif isinstance(comparison, Alignment):
        _say_alignment(comparison, everything)
    elif isinstance(comparison, EditScript):
        _say_edits(comparison, preparation.metric, everything)


def comparison_json(
    comparison: PairComparison, attributes: Sequence[Attribute], exemplar: np.ndarray | None = None
) -> dict[str, Any]:
    """Return all of a comparison, for JSON; dates are texts."""
    from protoset.spaces import Alignment, Contributions, EditScript

    document: dict[str, Any] = {"distance": comparison.distance}
    if isinstance(comparison, Contributions):
        dates = [item for item in attributes if item.type == "date"]
        return document | {"attributes": _attributes(comparison, dates, exemplar)}
    if isinstance(comparison, Alignment):
        segments = [segment._asdict() for segment in comparison.segments()]
        return document | {"path": comparison.pairs, "costs": comparison.costs, "segments": segments}
    if isinstance(comparison, EditScript):
        edits = None if comparison.edits is None else [edit._asdict() for edit in comparison.edits]
        return document | {"query": comparison.query, "prototype": comparison.prototype, "edits": edits}
    return document


def _attributes(
    comparison: Contributions, as_texts: Sequence[Attribute], exemplar: np.ndarray | None
) -> list[dict[str, Any]]:
    """Name, values and share of each attribute, the largest share first; None where a value or a share is unknown.

    The values of the attributes in ``as_texts`` are texts as in the training file; those of a prototype that moved are
    rounded, dates among whole days to days.
    """
    from protoset.datasets._columns import value_text

    unknown = [None] * len(comparison.names)
    columns = {
        "name": comparison.names,
        "query": unknown if comparison.query is None else comparison.query.tolist(),
        "prototype": unknown if comparison.prototype is None else comparison.prototype.tolist(),
        **({} if exemplar is None else {"exemplar": exemplar[0].tolist()}),
        "share": unknown if comparison.shares is None else comparison.shares.tolist(),
    }
    rows = [{name: column[at] for name, column in columns.items()} for at in comparison.order.tolist()]
    by_name = {attribute.name: attribute for attribute in as_texts}
    for row in rows:
        if row["name"] in by_name:
            if exemplar is not None and by_name[row["name"]].type == "date":
                row["prototype"] = _rounded_days(row["prototype"], row["exemplar"])
            elif exemplar is not None:
                row["prototype"] = _rounded(row["prototype"])
            sides = [side for side in ("query", "prototype", "exemplar") if side in row]
            row |= {side: value_text(row[side], by_name[row["name"]]) for side in sides}
    return rows


def _say_attributes(
    comparison: Contributions, preparation: Preparation, everything: bool, exemplar: np.ndarray | None
) -> None:
    of_a_form = [attribute for attribute in preparation.attributes if attribute.form or attribute.type == "date"]
    attributes = _attributes(comparison, of_a_form, exemplar)
    columns, shares = ["name", "query", "prototype", "share"], comparison.shares is not None
    if exemplar is not None:
        columns.insert(3, "exemplar")
    if comparison.prototype is None:
        columns.remove("prototype")
    if shares:
        say(f"Values, and the share of each attribute in the distance of {comparison.distance:.4g} to the first:")
    else:
        say(f"Values; the metric {preparation.metric} has no share for each attribute:")
        columns.remove("share")
    shown = attributes if everything else attributes[:SHOWN_ATTRIBUTES]
    if exemplar is not None:
        shown = [attribute | {"prototype": _rounded(attribute["prototype"])} for attribute in shown]
    rows = [
        [percent(attribute[column]) if column == "share" else _number(attribute[column]) for column in columns]
        for attribute in shown
    ]
    say_table(["attribute", *columns[1:]], rows)
    rest = attributes[len(shown) :]
    if rest:
        total = f", {percent(sum(attribute['share'] for attribute in rest))} of the distance" if shares else ""
        say(f"{len(rest)} more{total}; --all shows them")


def _number(value: Any) -> Any:
    """A number as text, None where it is missing; other values as they are."""
    if isinstance(value, float):
        return f"{value:.12g}" if value == value else None
    return value


def _rounded_days(value: Any, exemplar: Any) -> Any:
    """A date of a moved prototype: a day where the exemplar has a day, else a time to some seconds."""
    is_day = isinstance(exemplar, float) and exemplar.is_integer()
    return round(value, 0 if is_day else SHOWN_DIGITS) if isinstance(value, float) else value


def _rounded(value: Any) -> Any:
    """A number of a moved prototype: it was never measured, so its last digits mean nothing."""
    if not isinstance(value, float) or not math.isfinite(value) or value == 0.0:
        return value
    n_whole = math.floor(math.log10(abs(value))) + 1
    return round(value, max(SHOWN_DIGITS - n_whole, 0))


def _say_alignment(alignment: Alignment, everything: bool) -> None:
    n_query, n_prototype = (alignment.pairs.max(axis=0) + 1).tolist()
    lags = alignment.lags.tolist()
    skipped = len(alignment.costs) - len(lags)
    more = f", {skipped} points skipped" if skipped else ""
    say(f"{n_query} points against {n_prototype} of the first: {len(lags)} pairs{more}")
    if any(lags):
        mean = sum(lags) / len(lags)
        late = "later" if mean > 0 else "earlier"
        say(f"the query is {abs(mean):.2g} points {late} on average, between {min(lags)} and {max(lags)}")
    segments = alignment.segments()
    shown = segments if everything else segments[:SHOWN_SEGMENTS]
    if not shown:
        return
    say(f"Where the distance of {alignment.distance:.4g} arises:")
    rows = [[_points(segment.query), _points(segment.prototype), percent(segment.share)] for segment in shown]
    rest = 1 - sum(segment.share for segment in shown)
    say_table(["points of the query", "of the prototype", "share"], [*rows, ["elsewhere", "", percent(max(rest, 0.0))]])


def _points(points: tuple[int, int]) -> str:
    first, last = points
    return f"{first}" if first == last else f"{first} to {last}"


def _say_edits(script: EditScript, metric: str, everything: bool) -> None:
    if script.edits is None:
        say(f"{metric} counts no edits:")
        say(f"query      {plain(script.query)}")
        say(f"prototype  {plain(script.prototype)}")
        return
    kinds = [edit.kind for edit in script.edits]
    counts = [f"{kinds.count(kind)} {kind} ({mark})" for kind, mark in EDIT_MARKS.items() if kind in kinds]
    say(f"From the query to the first: {', '.join(counts) or 'no edit'}")
    columns = [
        (_symbol(column.query), EDIT_MARKS.get(column.edit or "", ""), _symbol(column.prototype))
        for column in script.columns()
    ]
    shown = columns if everything else columns[:SHOWN_SYMBOLS]
    for start in range(0, len(shown), LINE_SYMBOLS):
        line = shown[start : start + LINE_SYMBOLS]
        for head, side in (("query", 0), ("", 1), ("prototype", 2)):
            text = "".join(column[side].ljust(max(map(len, column))) for column in line)
            say(f"{head:11}{text}".rstrip())
    if len(shown) < len(columns):
        say(f"{len(columns) - len(shown)} more symbols; --all shows them")


def _symbol(symbol: Any) -> str:
    return GAP if symbol is None else plain(symbol)
