"""Writing files so that they are whole or not there."""

from __future__ import annotations

import os
import tempfile


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file beside its place and rename it, so that it is whole or not there."""
    directory, name = os.path.split(os.path.abspath(path))
    if not os.path.isdir(directory):
        raise FileNotFoundError(f"cannot write {os.fspath(path)!r}: there is no folder {directory!r}; make it first")
    handle, beside = tempfile.mkstemp(prefix=f".{name}.", dir=directory)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, 0o666 & ~_umask())
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
