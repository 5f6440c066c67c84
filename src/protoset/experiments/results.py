"""Reading journals: how far one is, its results, tables of means; and going on with one."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from protoset._validation import check_choice, did_you_mean
from protoset.experiments._journal_files import is_locked
from protoset.experiments.cells import CellResult
from protoset.experiments.journal import Journal
from protoset.experiments.loading import Data
from protoset.experiments.plan import Cell
from protoset.experiments.runner import Callback, Progress, run

VALUES = (
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
"""What tables can be made of."""

DIMENSIONS = ("data", "distance", "method", "fold", "seed")
AVERAGED = ("fold", "seed")
"""What means are taken over; a table of several of the other things is refused."""


@dataclass(frozen=True)
class Status:
    """How far an experiment is.

    Attributes
    ----------
    name : str
        Of the plan.
    total, done, failed, missing : int
        Cells.
    running : bool
        Whether someone is writing to the journal now.
    failures : tuple of (str, int)
        Messages of failures and how many cells have them, most frequent first.
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
    """A cell without result.

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
        What the means are of.
    rows, columns : tuple of str
    values : ndarray of shape (n_rows, n_columns)
        NaN where a cell that belongs there is missing or failed: a mean over the others would be of other folds than
        its neighbours.
    missing : tuple of Missing
        Those cells.
    """

    value: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: np.ndarray
    missing: tuple[Missing, ...]


def status(journal: str | os.PathLike[str]) -> Status:
    """Say how far the experiment of a journal is, also while it is running."""
    with Journal.to_read(journal) as opened:
        rows = list(opened.rows(kept=False))
        total, name = len(opened.plan.cells), opened.plan.name
    failures = Counter(f"{row.failure_type}: {row.failure_message}" for row in rows if row.state == "failed")
    n_failed = failures.total()
    running = is_locked(Path(journal))
    return Status(
        name, total, len(rows) - n_failed, n_failed, total - len(rows), running, tuple(failures.most_common())
    )


def resume(
    journal: str | os.PathLike[str],
    *,
    n_jobs: int | None = None,
    data: Data = None,
    callback: Callback | None = None,
    retry_failed: bool = False,
    verbose: int = 0,
    client: Any = None,
) -> Progress:
    """Go on with the plan that is in a journal; the arguments are those of :func:`run`."""
    with Journal.to_read(journal) as opened:
        plan = opened.plan
    return run(
        plan,
        journal,
        n_jobs=n_jobs,
        data=data,
        callback=callback,
        retry_failed=retry_failed,
        verbose=verbose,
        client=client,
    )


def results(journal: str | os.PathLike[str], *, kept: bool = False) -> list[CellResult]:
    """Return all results and failures, in the order of the plan.

    Parameters
    ----------
    journal : path-like
    kept : bool, default=False
        Whether to read the prototypes and the tracebacks of failures, too.

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
    value : str
        A measure of :class:`CellResult`, such as "error", "selection_rate", "macro_f1" or "cpu_seconds".
    rows, columns : {"data", "distance", "method", "fold", "seed"}
    where : dict, optional
        Takes only some cells, such as ``{"distance": "z"}`` or ``{"method": ["REPS", "FCNN"]}``.

    Returns
    -------
    Table
    """
    check_choice("value", value, VALUES)
    check_choice("rows", rows, DIMENSIONS)
    check_choice("columns", columns, DIMENSIONS)
    with Journal.to_read(journal) as opened:
        cells = _chosen(opened.plan.cells, {} if where is None else where)
        found = {row.id: row for row in opened.rows(kept=False)}
    for name in DIMENSIONS:
        several = list(dict.fromkeys(getattr(cell, name) for cell in cells))
        if len(several) > 1 and name not in (*AVERAGED, rows, columns):
            raise ValueError(
                f"the table would mix the values {several} of {name!r}; choose one with where={{{name!r}: ...}}, "
                "or put it in rows or columns"
            )
    names = [tuple(dict.fromkeys(str(getattr(cell, name)) for cell in cells)) for name in (rows, columns)]
    sums, counts = np.zeros((len(names[0]), len(names[1]))), np.zeros((len(names[0]), len(names[1])))
    missing = []
    for cell in cells:
        place = names[0].index(str(getattr(cell, rows))), names[1].index(str(getattr(cell, columns)))
        row = found.get(cell.id)
        if row is None or row.state == "failed":
            reason = "not computed yet" if row is None else f"{row.failure_type}: {row.failure_message}"
            missing.append(Missing(cell, reason))
            sums[place] = np.nan
        else:
            sums[place] += getattr(row, value)
        counts[place] += 1
    # A combination that the plan does not have is NaN too.
    means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return Table(value, names[0], names[1], means, tuple(missing))


def _chosen(cells: tuple[Cell, ...], where: Mapping[str, Any]) -> list[Cell]:
    chosen = list(cells)
    for name, wanted in where.items():
        check_choice("a key of where", name, DIMENSIONS)
        values = list(wanted) if isinstance(wanted, (list, tuple, set)) else [wanted]
        known = {getattr(cell, name) for cell in cells}
        for one in values:
            if one not in known:
                hint = did_you_mean(one, [str(other) for other in known])
                raise ValueError(f"where: the plan has no {name} {one!r}{hint}")
        chosen = [cell for cell in chosen if getattr(cell, name) in values]
    return chosen
