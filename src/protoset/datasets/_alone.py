"""One process at a time for one file."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from protoset.exceptions import DataError

POLL_SECONDS = 0.1


@contextmanager
def alone(path: Path, max_time: float) -> Iterator[None]:
    """Keep other threads and processes that ask for the same file waiting, for ``max_time`` seconds at most.

    The lock is the file ``path`` + ".lock", an SQLite database of its own: SQLite's locks work on every system, and
    end with the process that holds them. It stays there, since a lock that is removed may be held by two.
    """
    deadline = time.monotonic() + max_time
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = sqlite3.connect(path.with_name(path.name + ".lock"), isolation_level=None, timeout=0)
    except (OSError, sqlite3.Error) as reason:
        raise DataError(f"{path}: cannot be written ({reason})") from reason
    try:
        while not _taken(lock, path):
            if time.monotonic() >= deadline:
                raise DataError(
                    f"{path}: another process has been downloading it for {max_time:g} seconds; wait for it, or end it"
                )
            time.sleep(POLL_SECONDS)
        yield
    finally:
        lock.close()


def _taken(lock: sqlite3.Connection, path: Path) -> bool:
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as reason:
        if getattr(reason, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
            return False
        raise DataError(f"{path}: cannot be written ({reason})") from reason
    return True
