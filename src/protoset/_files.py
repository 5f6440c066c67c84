"""Files that are whole or not there, locks of files, paths that are the same file.

A temporary file is called ``.protoset-HOST-PID-NUMBER``. A killed process leaves its file; the next write in the folder
removes the files of processes of this machine that are no longer alive.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import platform
import re
import secrets
import stat
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a temporary file and rename it. Links are followed, and an existing file keeps its mode."""
    target = os.path.realpath(os.fsdecode(path))
    directory = os.path.dirname(target)
    if not os.path.isdir(directory):
        raise FileNotFoundError(f"cannot write {os.fsdecode(path)!r}: there is no folder {directory!r}; make it first")
    if os.path.lexists(target) and not os.path.isfile(target):
        raise FileExistsError(f"cannot write {os.fsdecode(path)!r}: it exists but is not a file; choose another name")
    mode = stat.S_IMODE(os.stat(target).st_mode) if os.path.lexists(target) else None
    _remove_leftovers(directory)
    temporary = os.path.join(directory, f".protoset-{_machine()}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        # Ctrl-C may come before the file is made, or after it was renamed.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _machine() -> str:
    """Return a name for this machine or container; a shared folder may hold files that other machines write."""
    name = platform.node()
    with contextlib.suppress(OSError):
        name += Path("/etc/machine-id").read_text(encoding="utf-8", errors="replace")
    with contextlib.suppress(OSError):
        name += os.readlink("/proc/self/ns/pid")
    return hashlib.sha256(name.encode()).hexdigest()[:12]


def _remove_leftovers(directory: str) -> None:
    """Remove the temporary files of processes of this machine that have ended."""
    pattern = re.compile(rf"\.protoset-{_machine()}-(\d+)-[0-9a-f]+")
    # A write does not fail because old files cannot be removed.
    with contextlib.suppress(OSError):
        for name in os.listdir(directory):
            match = pattern.fullmatch(name)
            if match and not _is_alive(int(match[1])):
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(directory, name))


def _is_alive(pid: int) -> bool:
    if os.name != "posix":
        return True  # os.kill would end the process
    try:
        os.kill(pid, 0)
    except OverflowError:
        return False
    except OSError as error:
        return error.errno != errno.ESRCH
    return True


def lock_of(path: str | os.PathLike[str]) -> BaseFileLock:
    """Return the lock of a file, for threads and processes; it is not taken yet.

    The lock is a file beside the file, with the ending ".lock". The system ends the lock with the process that holds
    it. The lock file may stay, and means nothing by itself.
    """
    from filelock import FileLock

    return FileLock(f"{os.path.realpath(path)}.lock", thread_local=False)


def is_part_of(path: str | os.PathLike[str], source: str | os.PathLike[str]) -> bool:
    """Whether a path is the same file as a source, under any name, or inside a source that is a folder."""
    if os.path.exists(path) and os.path.exists(source) and os.path.samefile(path, source):
        return True
    real_path, real_source = Path(os.path.realpath(path)), Path(os.path.realpath(source))
    return real_path == real_source or (real_source.is_dir() and real_source in real_path.parents)
