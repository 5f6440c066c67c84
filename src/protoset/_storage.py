"""Storage of large arrays: in memory, or in memory-mapped files of a folder."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from protoset._files import lock_of
from protoset._memory import format_bytes

NO_ROOM = tuple(getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name))
"""Error codes for a full disk, a full quota, or a file that is too large."""

READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)
"""Error codes for a folder that cannot be written to."""


@dataclass(frozen=True)
class Storage:
    """Storage of arrays by name: in a folder with one ``NAME.npy`` per array, or in memory if the folder is None."""

    folder: str | None = None

    @classmethod
    def at(cls, folder: str | os.PathLike[str] | None) -> Storage:
        """Return the storage in an existing folder, or in memory."""
        if folder is None:
            return cls()
        if not isinstance(folder, (str, os.PathLike)):
            raise TypeError(f"folder={folder!r} must be the path of a folder, or None to keep lists in memory")
        path = os.fsdecode(folder)
        if not os.path.isdir(path):
            raise FileNotFoundError(f"folder={path!r} is not a folder; create it first, or pass another folder")
        return cls(path)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other fits from writing to the folder; refuse at once if another fit is writing there."""
        if self.folder is None:
            yield
            return
        from filelock import Timeout

        lock = lock_of(os.path.join(self.folder, "neighbor_lists"))
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise ValueError(
                f"folder={self.folder!r}: another fit is writing its neighbour lists there; wait until it ends, or "
                "pass another folder"
            ) from error
        try:
            yield
        finally:
            lock.release()

    def empty(self, name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return an array to fill; refuse an array that does not fit on the disk."""
        if self.folder is None:
            return np.empty(shape, dtype)
        # Do not overwrite an older file, which another process may have mapped.
        self.discard(name)
        path, needed = self._path(name), int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        if needed == 0:
            np.save(path, np.empty(shape, dtype))
            return np.empty(shape, dtype)
        try:
            self._allocate(path, shape, np.dtype(dtype), needed)
            return np.asarray(np.lib.format.open_memmap(path, "r+"))
        except BaseException as error:
            self.discard(name)
            if isinstance(error, OSError) and error.errno in NO_ROOM:
                free = shutil.disk_usage(self.folder).free
                raise OSError(
                    f"folder={self.folder!r} has {format_bytes(free)} left, and {name} needs "
                    f"{format_bytes(needed)} ({error.strerror}); pass a folder on a larger disk"
                ) from error
            raise

    def keep(self, name: str, values: np.ndarray, dtype: Any) -> np.ndarray:
        """Store values; in memory, without a copy if they have the dtype.

        A file gets its name only when it is complete.
        """
        if self.folder is None:
            return np.ascontiguousarray(values, dtype)
        self.discard(name)
        unfinished = f"unfinished_{name}"
        kept = self.empty(unfinished, values.shape, dtype)
        try:
            kept[...] = values
            os.replace(self._path(unfinished), self._path(name))
        except BaseException:
            self.discard(unfinished)
            raise
        return kept

    def scratch(self, name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return an array to fill that can be computed again: in memory if the folder is read-only."""
        try:
            return self.empty(name, shape, dtype)
        except OSError as error:
            if error.errno not in READ_ONLY:
                raise
            return np.empty(shape, dtype)

    def holds(self, name: str) -> bool:
        """Whether the folder has an array of this name."""
        return self.folder is not None and os.path.exists(self._path(name))

    def discard(self, name: str) -> None:
        """Remove the file of an array, if there is one."""
        if self.folder is not None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._path(name))

    def _path(self, name: str) -> str:
        return os.path.join(str(self.folder), f"{name}.npy")

    def _allocate(self, path: str, shape: tuple[int, ...], dtype: np.dtype, needed: int) -> None:
        """Write the header and reserve the space: writing to a mapped file on a full disk would end the process."""
        if needed > shutil.disk_usage(str(self.folder)).free:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        about = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        with open(path, "xb") as file:
            np.lib.format.write_array_header_1_0(file, about)
            size = file.tell() + needed
            file.truncate(size)
            if hasattr(os, "posix_fallocate"):
                try:
                    os.posix_fallocate(file.fileno(), 0, size)
                except OSError as error:
                    # Some file systems cannot reserve space; the check above must do.
                    if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
                        raise

    def open(self, name: str) -> np.ndarray:
        """Map an array in the folder, read-only."""
        path = self._path(name)
        try:
            return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"{self.folder!r} holds no neighbour lists ({name}.npy is not there); "
                "fit with REPS(search=NeighborSearch(folder=...)) to write them"
            ) from error
        except (ValueError, OSError, EOFError) as error:
            raise ValueError(
                f"{path!r} is damaged ({error}); fit again with REPS(search=NeighborSearch(folder=...))"
            ) from error
