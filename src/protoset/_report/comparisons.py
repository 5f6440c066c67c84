"""Test objects beside the prototypes that decided about them: shares of attributes, matched points, edits.

All come from ``compare`` of the spaces, so they are what the metric computes. They are about the chosen set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from protoset._display import cut_text
from protoset._report.inputs import ReportInputs
from protoset._report.objects import MAX_CELL_LENGTH, significant
from protoset.spaces import Alignment, Contributions, EditScript, PairComparison

MAX_SHARES = 24
"""Attributes of which the page holds the share of a distance; the others are summed up."""

MAX_PAIRS = 100
"""Matched points of two series that the page holds at most, evenly spaced."""

MAX_SEGMENTS = 2
"""Stretches of a series, of large costs, that the page names at most."""

MAX_COLUMNS = 600
"""Symbols of two aligned strings that the page holds at most."""

MAX_PAIR_CELLS = 4_000_000
"""Largest product of the lengths of two objects that are aligned."""

MAX_CELLS_OF_ALL = 1_000_000_000
"""Products of the lengths of all aligned pairs, in sum."""

MAX_PYTHON_CELLS = 4_000_000
"""The same for "damerau_levenshtein", which is aligned in Python."""


def describe_comparisons(
    inputs: ReportInputs, rows: np.ndarray, winners: np.ndarray, page_indices: list[int]
) -> tuple[dict[str, Any] | None, list[str]]:
    """Return comparisons of test objects with their deciding prototypes as JSON values, and notes.

    ``rows`` are the test objects on the page, ``winners`` their prototypes as columns of the dissimilarities, -1 for
    none, and ``page_indices`` the same as indices on the page. None where the metric says nothing about parts.
    """
    queries, test = inputs.query_distances, inputs.test
    if queries is None or test is None or not len(rows) or not (winners >= 0).any():
        return None, []
    first = int(np.argmax(winners >= 0))
    example = queries.compare(int(rows[first]), int(winners[first]))
    describe = _describer(inputs, example)
    if describe is None:
        return None, []
    is_affordable = _affordable(inputs, rows, winners)
    values = [
        describe(queries.compare(row, winner)) | {"prototype": index} if affordable and index >= 0 else None
        for row, winner, index, affordable in zip(
            rows.tolist(), winners.tolist(), page_indices, is_affordable, strict=True
        )
    ]
    n_left_out = sum(not affordable for affordable in is_affordable)
    notes = [f"{n_left_out:,} test objects are too long to be aligned with their prototypes."] if n_left_out else []
    # Shares are of a sum, which is the distance or its square.
    is_squared = getattr(example, "power", 1) == 2
    return {"kind": describe.__name__.lstrip("_"), "is_squared": is_squared, "values": values}, notes


def _describer(inputs: ReportInputs, comparison: PairComparison) -> Callable[[Any], dict[str, Any]] | None:
    """Return the function that describes comparisons of this type; None where the page can show no parts."""
    kind = inputs.train.kind
    if isinstance(comparison, Contributions) and kind in ("vectors", "mixed"):
        return _shares if inputs.keeps_attributes else None
    if isinstance(comparison, (Alignment, Contributions)) and kind == "series":
        return _path
    if isinstance(comparison, EditScript) and comparison.edits is not None:
        return _edits
    return None


def _affordable(inputs: ReportInputs, rows: np.ndarray, winners: np.ndarray) -> list[bool]:
    """Whether each pair is aligned: not too long, and as long as the work for all before it allows."""
    test: Any = inputs.test
    if inputs.train.kind not in ("series", "strings"):
        return [True] * len(rows)
    is_python = inputs.space.metric == "damerau_levenshtein"
    left = MAX_PYTHON_CELLS if is_python else MAX_CELLS_OF_ALL
    affordable = []
    n = inputs.train.n_objects
    for row, winner in zip(rows.tolist(), winners.tolist(), strict=True):
        # A moved prototype is as long as the object from which it started.
        start = winner if winner < n or inputs.moved is None else int(inputs.moved.starts[winner - n])
        cells = len(test.objects[row]) * len(inputs.train.objects[start])
        affordable.append(cells <= min(MAX_PAIR_CELLS, left))
        left -= cells if affordable[-1] else 0
    return affordable


def _shares(comparison: Contributions) -> dict[str, Any]:
    """Shares of the attributes in the distance, the largest first; without shares where the metric has none."""
    shares = comparison.shares
    if shares is None:
        return {"columns": None, "shares": None}
    order = comparison.order[:MAX_SHARES]
    order = order[shares[order] > 0]
    return {"columns": order.tolist(), "shares": [significant(value) for value in shares[order].tolist()]}


def _path(comparison: Alignment | Contributions) -> dict[str, Any]:
    """Matched points, some of them if there are many; without them where points are compared one by one."""
    if isinstance(comparison, Contributions):
        return {"n_pairs": 0, "pairs": None, "segments": []}
    pairs = comparison.pairs
    segments = comparison.segments()[:MAX_SEGMENTS]
    is_direct = len(pairs) == 0 or (pairs[:, 0] == pairs[:, 1]).all()
    chosen = pairs[np.linspace(0, len(pairs) - 1, min(MAX_PAIRS, len(pairs))).round().astype(int)]
    return {
        "n_pairs": len(pairs),
        "pairs": None if is_direct else chosen.T.tolist(),
        "segments": [[*segment.query, *segment.prototype, significant(segment.share, 3)] for segment in segments],
    }


def _edits(comparison: EditScript) -> dict[str, Any]:
    """Runs of equal edits: kind, symbols of the test object and of the prototype; a gap is None.

    Symbols of a string are joined to a text, tokens are lists of texts.
    """
    is_text = isinstance(comparison.query, str)
    runs: list[tuple[str, list[str | None], list[str | None]]] = []
    n_columns = 0
    counts = {"replace": 0, "insert": 0, "delete": 0, "transpose": 0}
    for edit in comparison.edits or ():
        counts[edit.kind] += 1
    for n_columns, column in enumerate(comparison.columns(), 1):
        if n_columns > MAX_COLUMNS:
            break
        kind = column.edit or "equal"
        if not runs or runs[-1][0] != kind:
            runs.append((kind, [], []))
        runs[-1][1].append(_symbol(column.query))
        runs[-1][2].append(_symbol(column.prototype))
    described = [[kind, _joined(query, is_text), _joined(other, is_text)] for kind, query, other in runs]
    return {"runs": described, "counts": counts, "is_cut": n_columns > MAX_COLUMNS}


def _symbol(symbol: Any) -> str | None:
    """Return the text of a symbol; a symbol of bytes is a number."""
    if symbol is None:
        return None
    return cut_text(f"{symbol:02x}" if isinstance(symbol, int) else str(symbol), MAX_CELL_LENGTH)


def _joined(symbols: list[str | None], is_text: bool) -> str | list[str] | None:
    known = [symbol for symbol in symbols if symbol is not None]
    if len(known) < len(symbols):
        return None
    return "".join(known) if is_text else known
