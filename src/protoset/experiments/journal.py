"""The journal of an experiment: one SQLite file with the plan and a row per cell.

Each cell is a transaction in the write-ahead log, so a kill at any moment loses at most the cell being computed. The
log is synchronised at checkpoints only (``synchronous=NORMAL``): after a power failure the file is still consistent,
but the last cells may be missing, and are computed again. A new journal is made beside its path and renamed, so that it
is complete or does not exist. At the end of a run the log goes into the journal, which is a single file then.

A run that writes holds a lock on a file beside the journal. That file may stay behind and means nothing by itself.
Readers need no lock.
"""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import typing
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, Self

from filelock import BaseFileLock

from protoset._validation import check_path
from protoset._version import __version__
from protoset.exceptions import JournalError, PlanError
from protoset.experiments._journal_files import (
    APPLICATION,
    SCHEMA,
    check_is_journal,
    check_writable,
    connect_to_read,
    journal_errors,
    take_lock,
)
from protoset.experiments.cells import CellResult
from protoset.experiments.parsing import parse_plan
from protoset.experiments.plan import Plan, lost_cells

COLUMNS = [column.name for column in fields(CellResult) if column.name != "predictions"]
SQL_TYPES = {str: "TEXT", int: "INTEGER", float: "REAL", bytes: "BLOB"}


def column_types() -> dict[str, type]:
    """Python type of each column, besides None."""
    hints = typing.get_type_hints(CellResult)
    kinds = {name: typing.get_args(hints[name]) or (hints[name],) for name in COLUMNS}
    return {name: next((kind for kind in kinds[name] if kind in SQL_TYPES), str) for name in COLUMNS}


class Journal:
    """An open journal.

    Use :meth:`to_write` and :meth:`to_read`; it closes at the end of a ``with`` block.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: BaseFileLock | None = None):
        self.path, self._connection, self._lock = path, connection, lock
        try:
            with journal_errors(path):
                meta = dict(connection.execute("SELECT key, value FROM meta"))
            self.plan = _stored_plan(path, meta)
        except BaseException:
            connection.close()
            raise

    @classmethod
    def to_read(cls, path: str | os.PathLike[str]) -> Self:
        """Open an existing journal; another process may be writing to it."""
        file = check_path("journal", path)
        check_is_journal(file)
        return cls(file, connect_to_read(file))

    @classmethod
    def to_write(
        cls, path: str | os.PathLike[str], plan: Plan | None = None, results: Sequence[CellResult] = ()
    ) -> Self:
        """Open a journal for writing, alone; it is created if it does not exist.

        The plan has everything in the plan of the journal, and perhaps more; by default it is the journal's plan.
        ``results`` are written together with the plan: both, or neither.
        """
        file = check_path("journal", path)
        if file.exists() or plan is None:
            cls.to_read(file).close()
        check_writable(file)
        lock = take_lock(file)
        try:
            if not file.exists():
                assert plan is not None
                _create(file, plan, results)
                results = ()
            with cls.to_read(file) as known:  # before anything is written
                known._refuse_lost(plan)
            with journal_errors(file):
                connection = sqlite3.connect(file, isolation_level=None, timeout=30)
            journal = cls(file, connection, lock)
        except BaseException:
            lock.release()
            raise
        try:
            journal._begin(plan, results)
        except BaseException:
            journal.close()
            raise
        return journal

    def _refuse_lost(self, plan: Plan | None) -> None:
        lost = [] if plan is None else lost_cells(self.plan, plan)
        if lost:
            raise JournalError(
                f"the journal {str(self.path)!r} belongs to another plan: {'; '.join(lost)}. "
                "A plan may get new cells, but must not lose cells; restore the missing parts, or use another journal"
            )

    def _begin(self, plan: Plan | None, results: Sequence[CellResult]) -> None:
        self.plan = self.plan if plan is None else plan
        meta = {
            "plan": json.dumps(self.plan.document),
            "folder": str(self.plan.folder),
            "runner": json.dumps({"process": os.getpid(), "machine": platform.node()}),
        }
        with journal_errors(self.path):
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
        with self._transaction():
            self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta.items())
            _insert(self._connection, self.path, results)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Write everything inside, or nothing."""
        with journal_errors(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # on a full disk SQLite ends the transaction itself
                    self._connection.execute("ROLLBACK")
                raise

    def add(self, results: Iterable[CellResult]) -> None:
        """Write results in one transaction; a result may replace a failure, never another result."""
        with self._transaction():
            _insert(self._connection, self.path, results)

    def rows(self, *, kept: bool = True) -> Iterator[CellResult]:
        """Read the results of the cells of the plan, in the order and with the labels of the plan."""
        columns = [name if kept or name not in ("kept", "failure_traceback") else "NULL" for name in COLUMNS]
        with journal_errors(self.path):
            stored = {row[0]: row for row in self._connection.execute(f"SELECT {', '.join(columns)} FROM cells")}
        for cell in self.plan.cells:
            if cell.id in stored:
                values = dict(zip(COLUMNS, stored[cell.id], strict=True))
                yield CellResult(**values | {"data": cell.data, "distance": cell.distance, "method": cell.method})

    def sizes(self) -> dict[str, int | None]:
        """Number of prototypes of each cell in the journal; None for failed cells."""
        with journal_errors(self.path):
            return dict(self._connection.execute("SELECT id, n_prototypes FROM cells"))

    def seconds(self) -> dict[str, float]:
        """Mean seconds of each method so far."""
        query = "SELECT method, AVG(wall_seconds) FROM cells WHERE state = 'done' GROUP BY method"
        with journal_errors(self.path):
            return dict(self._connection.execute(query))

    def close(self) -> None:
        """Close the journal and release the lock."""
        if self._lock is not None:
            with suppress(sqlite3.Error):  # a reader at this moment keeps the log in place
                self._connection.execute("PRAGMA journal_mode=DELETE")
        self._connection.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _insert(connection: sqlite3.Connection, path: Path, results: Iterable[CellResult]) -> None:
    """Write results as part of a transaction."""
    marks = ", ".join("?" * len(COLUMNS))
    for result in results:
        _check_data(connection, path, result)
        connection.execute("DELETE FROM cells WHERE id = ? AND state = 'failed'", (result.id,))
        connection.execute(f"INSERT INTO cells VALUES ({marks})", [getattr(result, column) for column in COLUMNS])


def _check_data(connection: sqlite3.Connection, path: Path, result: CellResult) -> None:
    """Refuse results of data that have changed."""
    if result.data_digest is None:
        return
    connection.execute("INSERT OR IGNORE INTO data VALUES (?, ?)", (result.data, result.data_digest))
    (known,) = connection.execute("SELECT digest FROM data WHERE name = ?", (result.data,)).fetchone()
    if known != result.data_digest:
        raise JournalError(
            f"the data {result.data!r} have changed since the results in {str(path)!r} were computed (objects or "
            "labels); restore them, or start another journal"
        )


def _create(path: Path, plan: Plan, results: Sequence[CellResult]) -> None:
    file = path.resolve()
    beside = file.with_name(f".{file.name}.protoset-new")
    # Files of a killed process: its log would be taken for the log of the new journal.
    for leftover in (beside, f"{beside}-journal", f"{file}-wal", f"{file}-shm"):
        Path(leftover).unlink(missing_ok=True)
    kinds = column_types()
    columns = ", ".join(f"{name} {SQL_TYPES[kinds[name]]}{' PRIMARY KEY' if name == 'id' else ''}" for name in COLUMNS)
    meta = {"plan": json.dumps(plan.document), "folder": str(plan.folder), "protoset": __version__}
    with journal_errors(path):
        connection = sqlite3.connect(beside, isolation_level=None)
        try:
            connection.execute("BEGIN")
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {SCHEMA}")
            connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
            connection.execute("CREATE TABLE data (name TEXT PRIMARY KEY, digest TEXT NOT NULL)")
            connection.execute(f"CREATE TABLE cells ({columns})")
            connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            _insert(connection, path, results)
            connection.execute("COMMIT")
            connection.close()
            os.replace(beside, file)
        finally:
            connection.close()
            beside.unlink(missing_ok=True)


def _stored_plan(path: Path, meta: dict[str, Any]) -> Plan:
    try:
        return parse_plan(json.loads(meta["plan"]), f"the plan in {path}", Path(meta["folder"]))
    except (KeyError, PlanError, ValueError) as error:
        raise JournalError(f"the journal {str(path)!r} holds no plan that can be read: {error}") from error
