"""Files that are whole or not there, locks of files, paths that are the same file."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file beside its place and rename it; a link stays one, and a file that was there keeps its mode."""
    place = os.path.realpath(os.fsdecode(path))
    directory = os.path.dirname(place)
    if not os.path.isdir(directory):
        raise FileNotFoundError(f"cannot write {os.fsdecode(path)!r}: there is no folder {directory!r}; make it first")
    if os.path.lexists(place) and not os.path.isfile(place):
        raise FileExistsError(f"cannot write {os.fsdecode(path)!r}: it is there and not a file; choose another name")
    mode = stat.S_IMODE(os.stat(place).st_mode) if os.path.lexists(place) else None
    beside = os.path.join(directory, f".protoset-{secrets.token_hex(8)}")
    with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            if mode is not None:
                os.chmod(beside, mode)
            os.replace(beside, place)
        except BaseException:
            os.unlink(beside)
            raise


def lock_of(path: str | os.PathLike[str]) -> BaseFileLock:
    """Return the lock of a file, for threads and processes; it is not taken yet.

    The lock is a file beside the file, with the ending ".lock". The system ends the lock with the process that holds
    it. The lock file may stay, and means nothing by itself.
    """
    from filelock import FileLock

    return FileLock(f"{os.path.realpath(path)}.lock", thread_local=False)


def is_part_of(path: str | os.PathLike[str], source: str | os.PathLike[str]) -> bool:
    """Whether a path is a source, by whatever name, or is inside one that is a folder."""
    place, origin = Path(path), Path(source)
    if place.exists() and origin.exists() and os.path.samefile(place, origin):
        return True
    real, real_origin = Path(os.path.realpath(place)), Path(os.path.realpath(origin))
    return real == real_origin or (real_origin.is_dir() and real_origin in real.parents)
