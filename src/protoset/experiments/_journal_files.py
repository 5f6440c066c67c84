"""The file of a journal and its lock: checks before a journal is read or written."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from filelock import BaseFileLock, Timeout

from protoset._files import lock_of
from protoset._version import __version__
from protoset.exceptions import JournalError

APPLICATION = 0x50534A4E
"""SQLite's application_id of a journal ("PSJN")."""

SCHEMA = 3
"""Version of journals that is read and written. In version 1 a plan without ``nominal`` compared categories by their
positions, and FCNN started from medoids; in version 2 a plan without ``order`` assigned objects to folds in the order
of their rows. Such plans would have other cells today."""

SQLITE_HEADER = b"SQLite format 3\0"
"""First bytes of an SQLite file."""

LOCK_SECONDS = 1.0
"""Seconds to wait for a lock: `is_locked` of another process may hold it for a moment."""


@contextmanager
def journal_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into a JournalError."""
    try:
        yield
    except sqlite3.Error as error:
        is_full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
        way_out = "; make room and run again, the finished cells are kept" if is_full else ""
        raise JournalError(f"the journal {str(path)!r} cannot be used: {error}{way_out}") from error


def check_is_journal(path: Path) -> None:
    """Refuse a file that is not a journal, or a journal of another version."""
    if not path.exists():
        raise JournalError(f"there is no journal {str(path)!r}; run a plan to make it")
    if not path.is_file():
        raise JournalError(f"{str(path)!r} is not a file; name a journal, such as results.sqlite")
    # Read the header only: SQLite must not touch a file that is not a journal.
    with path.open("rb") as file:
        header = file.read(100)
    schema, application = (int.from_bytes(header[offset : offset + 4]) for offset in (60, 68))
    if not header.startswith(SQLITE_HEADER) or application != APPLICATION:
        raise JournalError(f"{str(path)!r} is not a journal and was not changed; choose another name")
    if schema != SCHEMA:
        raise JournalError(
            f"the journal {str(path)!r} is of the {'older' if schema < SCHEMA else 'newer'} version {schema}, and "
            f"protoset {__version__} reads version {SCHEMA}; export it with the protoset that wrote it, and run the "
            "plan on a new journal"
        )


def check_writable(path: Path) -> None:
    """Refuse a journal that is, or whose folder is, missing or read-only."""
    folder = path.resolve().parent
    if not folder.is_dir():
        raise JournalError(f"cannot write {str(path)!r}: there is no folder {str(folder)!r}; make it first")
    for checked in [path, folder] if path.exists() else [folder]:
        if not _may_write(checked):
            what = "the journal" if checked == path else "the folder of the journal"
            raise JournalError(f"{what} {str(checked)!r} is read-only; make it writable, or work on a copy")


def _may_write(path: Path) -> bool:
    # The mode counts too: a superuser could write although the mode is read-only.
    return os.access(path, os.W_OK) and bool(path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))


def is_locked(path: Path) -> bool:
    """Whether another run is writing to a journal now."""
    lock = lock_of(path)
    if not os.path.exists(lock.lock_file):
        return False
    try:
        with lock.acquire(timeout=0):
            return False
    except Timeout:
        return True
    except OSError:  # a folder that is read-only
        return False


def take_lock(path: Path) -> BaseFileLock:
    """Return the lock of a journal, taken: one run at a time writes to a journal."""
    lock = lock_of(path)
    try:
        lock.acquire(timeout=LOCK_SECONDS)
    except Timeout as error:
        raise JournalError(
            f"the journal {str(path)!r} is locked{_holder(path)}; wait for the other run, or end it"
        ) from error
    except OSError as error:
        raise JournalError(f"the journal {str(path)!r} cannot be locked ({error}); work on a copy elsewhere") from error
    return lock


def _holder(path: Path) -> str:
    try:
        with closing(connect_to_read(path)) as connection:
            (runner,) = connection.execute("SELECT value FROM meta WHERE key = 'runner'").fetchone()
        return " by the process {process} on {machine}".format(**json.loads(runner))
    except (sqlite3.Error, TypeError, KeyError, ValueError):
        return ""


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a journal for reading only. SQLite may first recover the log of a killed process, if it may write."""
    real_path = path.resolve()
    address = real_path.as_uri() + "?mode=rw"
    if not (_may_write(real_path) and _may_write(real_path.parent)):
        address = real_path.as_uri() + "?mode=ro"
        if not real_path.with_name(real_path.name + "-wal").exists():
            address += "&immutable=1"  # SQLite cannot put its shared memory beside the file
    with journal_errors(path):
        connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=30)
        connection.execute("PRAGMA query_only=ON")
        return connection
