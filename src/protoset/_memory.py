"""Sizes of memory: as users write them, as messages show them, what the machine has left, what a fit will need."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from protoset._blocks import BLOCK_BYTES
from protoset._validation import is_count

UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
"""Bytes of the units of memory."""

LARGEST_SIZE = 2**63
"""A size of memory is below this number of bytes."""

GROUP_FILES = {
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    2: ("memory.max", "memory.current", "inactive_file"),
}
"""By version of control groups: file of the limit, file of the usage, and the entry of memory.stat for the cache."""

WORKING_BYTES = 4 * BLOCK_BYTES
"""Memory of the blocks that a stage works on, and of the libraries."""

UNPACKED_BYTES = 200 * 10**6
"""Size of content that may be unpacked from any file, however small the file is."""

UNPACKED_RATIO = 20
"""Size of content that may be unpacked from a large file, as a multiple of the size of the file."""


@dataclass(frozen=True)
class MemoryEstimate:
    """Estimated memory of a fit in addition to the objects, in bytes.

    Attributes
    ----------
    stages : dict of str to int
        Peak of each stage: "search", "solve", and "size", "compare" and "refine" if the fit has these stages.
    lists : int
        All neighbour lists.
    lists_in_memory : int
        Neighbour lists that stay in memory during the later stages.
    """

    stages: dict[str, int]
    lists: int = 0
    lists_in_memory: int = 0

    def with_stage(self, name: str, size: int) -> MemoryEstimate:
        """Return the estimate with a further stage, which needs ``size`` bytes in addition to the lists."""
        return replace(self, stages=self.stages | {name: WORKING_BYTES + self.lists_in_memory + size})

    @property
    def peak(self) -> int:
        """Largest peak of all stages."""
        return max(self.stages.values())

    def __str__(self) -> str:
        parts = ", ".join(f"{stage} {format_bytes(size)}" for stage, size in self.stages.items())
        return f"{format_bytes(self.peak)} ({parts}; neighbour lists {format_bytes(self.lists)})"


def parse_bytes(name: str, value: Any) -> int:
    """Return a number of bytes from an int or from a text such as "4GB" or "512 MiB"."""
    if is_count(value) and 0 < value < LARGEST_SIZE:
        return int(value)
    if isinstance(value, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*", value)
        if match and match[2].upper() in UNITS and 0 < float(match[1]) < LARGEST_SIZE:
            return int(float(match[1]) * UNITS[match[2].upper()])
    raise ValueError(f"{name}={value!r} is not a size of memory; pass bytes (int) or a text such as '4GB' or '512MiB'")


def format_bytes(size: float) -> str:
    """Size as a person reads it: "512 B", "3.1 GB"."""
    for unit in ("TB", "GB", "MB", "KB"):
        if size >= UNITS[unit]:
            return f"{size / UNITS[unit]:.1f} {unit}"
    return f"{size:.0f} B"


def available_memory(root: str = "/") -> int | None:
    """Bytes that programs can still take: the least of what the machine and the process's control groups have left.

    None where the system does not say. The root is the folder of ``proc`` and ``sys``.
    """
    left = list(_left_in_groups(root))
    kilobytes = _number_after("MemAvailable:", os.path.join(root, "proc", "meminfo"))
    return min(left if kilobytes is None else [kilobytes * 1024, *left], default=None)


def _left_in_groups(root: str) -> Iterator[int]:
    """What each control group of the process allows, and those around it, which containers and job queues limit."""
    for line in _lines(os.path.join(root, "proc", "self", "cgroup")):
        _, controllers, group = [*line.split(":", 2), "", ""][:3]
        if controllers == "":
            version, folder = 2, os.path.join(root, "sys", "fs", "cgroup")
        elif "memory" in controllers.split(","):
            version, folder = 1, os.path.join(root, "sys", "fs", "cgroup", "memory")
        else:
            continue
        limit_name, usage_name, cache_name = GROUP_FILES[version]
        for part in ["", *group.strip("/").split("/")]:
            folder = os.path.join(folder, part)
            limit = _number_after("", os.path.join(folder, limit_name))
            usage = _number_after("", os.path.join(folder, usage_name))
            if limit is not None and usage is not None:
                # Files that were read and are no longer in use make room for what is needed.
                cache = _number_after(cache_name, os.path.join(folder, "memory.stat")) or 0
                yield max(0, limit - max(0, usage - cache))


def _number_after(name: str, path: str) -> int | None:
    """The number after a name at the start of a line, in the first line that has both; None where there is none."""
    for line in _lines(path):
        words = line.split()
        if name:
            words = words[1:] if words[:1] == [name] else []
        if words and words[0].isdecimal():
            return int(words[0])
    return None


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []


def check_fits(estimate: MemoryEstimate, limit: int | None, ways_out: str) -> None:
    """Raise an error if the work needs more memory than ``limit``, by default the free memory of the machine."""
    room = available_memory() if limit is None else limit
    if room is not None and estimate.peak > room:
        whose = "this machine has only" if limit is None else "max_memory allows only"
        raise MemoryError(
            f"the fit needs about {estimate} in addition to X, but {whose} {format_bytes(room)}; {ways_out}"
        )


def unpacking_limit(file_bytes: int, max_bytes: int | str | None) -> int:
    """Return the largest content that may be unpacked from a file of a given size."""
    if max_bytes is not None:
        return parse_bytes("max_bytes", max_bytes)
    return max(UNPACKED_BYTES, UNPACKED_RATIO * file_bytes)


def beyond_limit(size: int, limit: int) -> str:
    """Return the rest of an error message, after the name of a file whose content is larger than ``limit``."""
    return (
        f"has a content of {format_bytes(size)}, but max_bytes allows only {format_bytes(limit)}; if you trust the "
        f"file, pass max_bytes={size}"
    )
