"""The files of a journal: whether one is a journal, may be written to, and is being written to."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import BaseFileLock, Timeout

from protoset._files import lock_of
from protoset._version import __version__
from protoset.exceptions import JournalError

APPLICATION = 0x50534A4E
SCHEMA = 1
HEADER = b"SQLite format 3\0"
LOCK_SECONDS = 1.0
"""Seconds to wait for a lock: `is_locked` of another process may hold it for a moment."""


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise JournalError(f"the journal {str(path)!r} cannot be used: {error}") from error


def check_is_journal(path: Path) -> None:
    """Refuse what is no journal, or one that this version does not read."""
    if not path.exists():
        raise JournalError(f"there is no journal {str(path)!r}; run a plan to make it")
    if not path.is_file():
        raise JournalError(f"{str(path)!r} is not a file; name a journal, such as results.sqlite")
    # From the header, which is as it was made: no library need touch what may not be ours.
    with path.open("rb") as file:
        header = file.read(100)
    schema, application = (int.from_bytes(header[place : place + 4]) for place in (60, 68))
    if not header.startswith(HEADER) or application != APPLICATION:
        raise JournalError(f"{str(path)!r} is not a journal, and is left as it is; choose another name")
    if schema != SCHEMA:
        raise JournalError(
            f"the journal {str(path)!r} has the schema version {schema}, and protoset {__version__} knows {SCHEMA}; "
            "use the version that wrote it, or export it there"
        )


def check_writable(path: Path) -> None:
    """Refuse a place that cannot or should not be written to."""
    folder = path.resolve().parent
    if not folder.is_dir():
        raise JournalError(f"cannot write {str(path)!r}: there is no folder {str(folder)!r}; make it first")
    for place in [path, folder] if path.exists() else [folder]:
        if not _may_write(place):
            what = "the journal" if place == path else "the folder of the journal"
            raise JournalError(f"{what} {str(place)!r} is read-only; make it writable, or work on a copy")


def _may_write(place: Path) -> bool:
    # The mode counts even for those who could write in spite of it.
    return os.access(place, os.W_OK) and bool(place.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))


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
        connection = connect_to_read(path)
        try:
            (found,) = connection.execute("SELECT value FROM meta WHERE key = 'runner'").fetchone()
        finally:
            connection.close()
        return " by the process {process} on {machine}".format(**json.loads(found))
    except (sqlite3.Error, TypeError, KeyError, ValueError):
        return ""


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a journal for reading alone; SQLite may have to put in order what a killed process left, where it may."""
    place = path.resolve()
    address = place.as_uri() + "?mode=rw"
    if not (_may_write(place) and _may_write(place.parent)):
        address = place.as_uri() + "?mode=ro"
        if not place.with_name(place.name + "-wal").exists():
            address += "&immutable=1"  # SQLite cannot put its shared memory beside the file
    with told(path):
        connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=30)
        connection.execute("PRAGMA query_only=ON")
        return connection
