"""Where large arrays live: in memory, or in files of a folder that are mapped into it."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import Any

import numpy as np

from protoset._memory import format_bytes


@dataclass(frozen=True)
class Storage:
    """A place for arrays by name.

    Attributes
    ----------
    folder : str or None
        Folder of the files, one ``NAME.npy`` per array; None for memory.
    """

    folder: str | None = None

    @classmethod
    def at(cls, folder: str | os.PathLike[str] | None) -> Storage:
        """Storage in a folder that is there, or in memory."""
        if folder is None:
            return cls()
        if not isinstance(folder, (str, os.PathLike)):
            raise TypeError(f"lists_folder={folder!r} must be the path of a folder, or None to keep lists in memory")
        place = os.fsdecode(folder)
        if not os.path.isdir(place):
            raise FileNotFoundError(f"lists_folder={place!r} is not a folder; make it first, or pass another")
        return cls(place)

    def empty(self, name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return an array to be filled; refuses what the disk has no room for."""
        if self.folder is None:
            return np.empty(shape, dtype)
        needed = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        # Before it is mapped: writing to a mapped file on a full disk ends the process.
        free = shutil.disk_usage(self.folder).free
        if needed > free:
            raise OSError(
                f"lists_folder={self.folder!r} has {format_bytes(free)} left, and {name} needs {format_bytes(needed)}; "
                "pass a folder on a larger disk"
            )
        path = os.path.join(self.folder, f"{name}.npy")
        # Beside an older file, which somebody may still have mapped.
        if os.path.exists(path):
            os.unlink(path)
        if needed == 0:
            np.save(path, np.empty(shape, dtype))
            return np.empty(shape, dtype)
        return np.asarray(np.lib.format.open_memmap(path, "w+", np.dtype(dtype), shape))

    def keep(self, name: str, values: np.ndarray, dtype: Any) -> np.ndarray:
        """Put values where the storage is; nothing is copied in memory if they have the dtype."""
        if self.folder is None:
            return np.ascontiguousarray(values, dtype)
        kept = self.empty(name, values.shape, dtype)
        kept[...] = values
        return kept

    def open(self, name: str) -> np.ndarray:
        """Map an array that was kept in the folder, read-only."""
        path = os.path.join(str(self.folder), f"{name}.npy")
        try:
            return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"{self.folder!r} holds no neighbour lists ({name}.npy is not there); "
                "fit with REPS(lists_folder=...) to write them"
            ) from error
        except (ValueError, OSError, EOFError) as error:
            raise ValueError(f"{path!r} is damaged ({error}); fit again with REPS(lists_folder=...)") from error
