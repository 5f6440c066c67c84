"""Reading journals: their state, their results, tables of means."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from protoset._validation import check_choice, check_path, did_you_mean
from protoset.experiments._journal_files import is_locked
from protoset.experiments.cells import CellResult
from protoset.experiments.journal import Journal
from protoset.experiments.plan import Cell

TABLE_VALUES = (
    "error",
    "selection_rate",
    "n_prototypes",
    "macro_f1",
    "balanced_accuracy",
    "cpu_seconds",
    "wall_seconds",
    "distance_seconds",
    "n_distances",
)
"""Measures that tables can show."""

DIMENSIONS = ("data", "distance", "method", "fold", "seed")
"""Fields that identify a cell."""

AVERAGED = ("fold", "seed")
"""Dimensions that means are taken over; a table that would mix values of another dimension is refused."""


@dataclass(frozen=True)
class Status:
    """State of an experiment.

    Attributes
    ----------
    name : str
        Name of the plan.
    total, done, failed, missing : int
        Numbers of cells.
    running : bool
        Whether a run is writing to the journal now.
    failures : tuple of (str, int)
        Error messages with the number of cells that failed with them, most frequent first.
    """

    name: str
    total: int
    done: int
    failed: int
    missing: int
    running: bool
    failures: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Missing:
    """A cell without a result.

    Attributes
    ----------
    cell : Cell
    reason : str
        "not computed yet", or the message of its failure.
    """

    cell: Cell
    reason: str


@dataclass(frozen=True, eq=False)
class Table:
    """Means over folds and seeds.

    Attributes
    ----------
    value : str
        The measure.
    rows, columns : tuple of str
    values : ndarray of shape (n_rows, n_columns)
        Means. NaN if a cell is missing or failed: a mean over the other folds would not be comparable.
    missing : tuple of Missing
        Cells without a result.
    """

    value: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: np.ndarray
    missing: tuple[Missing, ...]


def status(journal: str | os.PathLike[str]) -> Status:
    """Return the state of the experiment of a journal, also during a run.

    Parameters
    ----------
    journal : path-like
        The journal of a run.

    Returns
    -------
    Status
        Numbers of cells that are done, failed and missing.
    """
    with Journal.to_read(journal) as opened:
        rows = list(opened.rows(kept=False))
        total, name = len(opened.plan.cells), opened.plan.name
    failures = Counter(f"{row.failure_type}: {row.failure_message}" for row in rows if row.state == "failed")
    n_failed = failures.total()
    running = is_locked(check_path("journal", journal))
    return Status(
        name, total, len(rows) - n_failed, n_failed, total - len(rows), running, tuple(failures.most_common())
    )


def results(journal: str | os.PathLike[str], *, kept: bool = False) -> list[CellResult]:
    """Return all results and failures, in the order of the plan.

    Parameters
    ----------
    journal : path-like
        The journal of a run.
    kept : bool, default=False
        Whether to read the prototypes and the tracebacks of failures as well.

    Returns
    -------
    list of CellResult
    """
    with Journal.to_read(journal) as opened:
        return list(opened.rows(kept=kept))


def table(
    journal: str | os.PathLike[str],
    value: str = "error",
    rows: str = "data",
    columns: str = "method",
    *,
    where: Mapping[str, Any] | None = None,
) -> Table:
    """Return means over folds and seeds.

    Parameters
    ----------
    journal : path-like
        The journal of a run.
    value : str
        A measure of :class:`CellResult`, such as "error", "selection_rate", "macro_f1" or "cpu_seconds".
    rows, columns : {"data", "distance", "method", "fold", "seed"}
        Fields of the rows and of the columns.
    where : dict, optional
        Selects cells, such as ``{"distance": "z"}`` or ``{"method": ["REPS", "FCNN"]}``.

    Returns
    -------
    Table
    """
    check_choice("value", value, TABLE_VALUES)
    check_choice("rows", rows, DIMENSIONS)
    check_choice("columns", columns, DIMENSIONS)
    with Journal.to_read(journal) as opened:
        cells = _chosen(opened.plan.cells, {} if where is None else where)
        results_by_id = {row.id: row for row in opened.rows(kept=False)}
    for name in DIMENSIONS:
        values = list(dict.fromkeys(getattr(cell, name) for cell in cells))
        if len(values) > 1 and name not in (*AVERAGED, rows, columns):
            raise ValueError(
                f"the table would mix the values {values} of {name!r}; choose one with where={{{name!r}: ...}}, "
                "or put it in rows or columns"
            )
    names = [tuple(dict.fromkeys(str(getattr(cell, name)) for cell in cells)) for name in (rows, columns)]
    sums, counts = np.zeros((len(names[0]), len(names[1]))), np.zeros((len(names[0]), len(names[1])))
    missing = []
    for cell in cells:
        entry = names[0].index(str(getattr(cell, rows))), names[1].index(str(getattr(cell, columns)))
        row = results_by_id.get(cell.id)
        if row is None or row.state == "failed":
            reason = "not computed yet" if row is None else f"{row.failure_type}: {row.failure_message}"
            missing.append(Missing(cell, reason))
            sums[entry] = np.nan
        else:
            sums[entry] += getattr(row, value)
        counts[entry] += 1
    # A combination that the plan does not have is NaN too.
    means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return Table(value, names[0], names[1], means, tuple(missing))


def _chosen(cells: tuple[Cell, ...], where: Mapping[str, Any]) -> list[Cell]:
    if not isinstance(where, Mapping):
        raise TypeError(f"where={where!r} must be a dict, such as {{'method': ['REPS', 'FCNN']}}")
    chosen = list(cells)
    for name, wanted in where.items():
        check_choice("a key of where", name, DIMENSIONS)
        values = list(wanted) if isinstance(wanted, (list, tuple, set)) else [wanted]
        known = {getattr(cell, name) for cell in cells}
        for value in values:
            if value not in known:
                hint = did_you_mean(value, [str(other) for other in known])
                raise ValueError(f"where: the plan has no {name} {value!r}{hint}")
        chosen = [cell for cell in chosen if getattr(cell, name) in values]
    return chosen
