"""Exporting journals to tables, and merging several journals."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable
from typing import Any

from protoset._extras import how_to_install
from protoset._files import write_atomically
from protoset._validation import check_path
from protoset.exceptions import JournalError, PlanError
from protoset.experiments.cells import CellResult
from protoset.experiments.journal import COLUMNS, Journal, column_types
from protoset.experiments.parsing import parse_plan
from protoset.experiments.plan import Plan
from protoset.experiments.results import results

MUST_AGREE = ("error", "n_prototypes", "macro_f1", "balanced_accuracy", "n_train", "n_test", "data_digest")
"""Values of a cell that must be equal in all journals; times may differ."""


def export_results(journal: str | os.PathLike[str], path: str | os.PathLike[str], *, kept: bool = False) -> int:
    """Write results and failures to a table, one row per cell.

    Parameters
    ----------
    journal : path-like
        The journal.
    path : path-like
        File to write; its name ends with ``.csv`` or ``.parquet``.
    kept : bool, default=False
        Whether to write the prototypes as well, as a list of rows of the data set. In CSV the rows are separated by
        spaces.

    Returns
    -------
    int
        Number of rows.
    """
    target = check_path("path", path)
    if target.suffix not in (".csv", ".parquet"):
        raise ValueError(f"path={str(target)!r} must end with .csv or .parquet")
    rows = results(journal, kept=kept)
    columns = [name for name in COLUMNS if name != "failure_traceback" and (kept or name != "kept")]
    content = (_csv if target.suffix == ".csv" else _parquet)(rows, columns)
    write_atomically(target, content)
    return len(rows)


def _value(row: CellResult, column: str) -> Any:
    if column != "kept":
        return getattr(row, column)
    indices = row.kept_indices
    return None if indices is None else indices.tolist()


def _csv(rows: list[CellResult], columns: list[str]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    for row in rows:
        values = [_value(row, column) for column in columns]
        writer.writerow([" ".join(map(str, value)) if isinstance(value, list) else value for value in values])
    return text.getvalue().encode()


def _parquet(rows: list[CellResult], columns: list[str]) -> bytes:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(
            f"Parquet files need pyarrow, which is not installed; {how_to_install('parquet')}, or write .csv"
        ) from error
    numbers = pyarrow.int64()
    kinds = {str: pyarrow.string(), int: numbers, float: pyarrow.float64(), bytes: pyarrow.list_(numbers)}
    types = column_types()
    arrays = {column: pyarrow.array([_value(row, column) for row in rows], kinds[types[column]]) for column in columns}
    sink = io.BytesIO()
    parquet.write_table(pyarrow.table(arrays), sink)
    return sink.getvalue()


def merge(target: str | os.PathLike[str], sources: Iterable[str | os.PathLike[str]]) -> int:
    """Copy the cells of several journals into one journal.

    The plans may differ in data, methods and distances; the plan of the target gets all of them. A cell that is in
    several journals must have the same result in all, except for its times. A result replaces a failure. If an error
    occurs, the target is not changed.

    Parameters
    ----------
    target : path-like
        A journal; created if it does not exist.
    sources : iterable of path-like
        The other journals, which are not changed.

    Returns
    -------
    int
        Number of cells that were added to the target.
    """
    if not isinstance(sources, (str, os.PathLike, Iterable)):
        raise TypeError(f"sources={sources!r} must be a list of journals")
    given = [sources] if isinstance(sources, (str, os.PathLike)) else sources
    paths = [check_path("sources", source) for source in given]
    if not paths:
        raise ValueError("sources=[] must name at least one journal")
    target_path = check_path("target", target)
    if any(source.resolve() == target_path.resolve() for source in paths):
        raise ValueError(
            f"target={str(target_path)!r} is among the sources; name another target, or leave it out of them"
        )
    merged: dict[str, CellResult] = {}
    digests: dict[str, str] = {}
    before: dict[str, str] = {}
    plan: Plan | None = None
    for source in ([target_path] if target_path.exists() else []) + paths:
        with Journal.to_read(source) as opened:
            plan = opened.plan if plan is None else _united(plan, opened.plan, source)
            for row in opened.rows():
                _check_data(digests, row, str(source))
                _keep_better(merged, row, str(source))
                if source is target_path:
                    before[row.id] = row.state
    new = [row for row in merged.values() if _is_better(row, before.get(row.id))]
    Journal.to_write(target_path, plan, new).close()
    return len(new)


def _is_better(row: CellResult, state: str | None) -> bool:
    """Whether a row replaces a row in the given state; None stands for no row."""
    return state is None or (state, row.state) == ("failed", "done")


def _check_data(digests: dict[str, str], row: CellResult, source: str) -> None:
    if row.data_digest is not None and digests.setdefault(row.data, row.data_digest) != row.data_digest:
        raise JournalError(
            f"the data {row.data!r} in {source!r} differ in objects or labels from those in the journals before it; "
            "leave this journal out"
        )


def _keep_better(merged: dict[str, CellResult], row: CellResult, source: str) -> None:
    other = merged.get(row.id)
    if other is None or _is_better(row, other.state):
        merged[row.id] = row
    elif other.state == row.state == "done":
        differing = [name for name in MUST_AGREE if getattr(other, name) != getattr(row, name)]
        if not differing and list(other.kept_indices) != list(row.kept_indices):  # type: ignore[arg-type]
            differing = ["kept"]
        if differing:
            cell = f"{row.method} on {row.data}, {row.distance}, fold {row.fold}, seed {row.seed}"
            name = differing[0]
            values = "" if name == "kept" else f" ({getattr(row, name)} and {getattr(other, name)})"
            raise JournalError(
                f"the cell {row.id} ({cell}) has another {name} in {source!r} than in the journals before it{values}; "
                "compute the cell again in one of the journals"
            )


def _united(first: Plan, second: Plan, source: str | os.PathLike[str]) -> Plan:
    """Return a plan with everything of two plans."""
    for name, usual in (("folds", 5), ("order", "content"), ("seeds", [0])):
        mine, other = (plan.document.get(name, usual) for plan in (first, second))
        if mine != other and not (name == "folds" and first.folds == second.folds):
            raise JournalError(
                f"the plan in {os.fspath(source)!r} has {name} = {other!r}, but the plans before it have {mine!r}; "
                "only plans with the same folds, order and seeds can be merged"
            )
    document = dict(first.document)
    for name in ("data", "methods", "distances"):
        entries = list(first.document.get(name, [{}]))
        document[name] = entries + [entry for entry in second.document.get(name, [{}]) if entry not in entries]
    try:
        return parse_plan(document, "the merged plan", first.folder)
    except PlanError as error:
        raise JournalError(
            f"the plan in {os.fspath(source)!r} cannot be merged with the plans before it: {error}"
        ) from error
