"""Sizes of memory: what users write, what messages say, what a machine has, what a fit will need."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from protoset._validation import is_count

UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


@dataclass(frozen=True)
class MemoryEstimate:
    """Memory that a fit will need beyond the objects themselves, in bytes.

    Attributes
    ----------
    stages : dict of str to int
        What is held at the height of each stage: "search", "solve", and where there are such, "refine".
    lists : int
        The neighbour lists alone, which may live on disk.
    """

    stages: dict[str, int]
    lists: int

    @property
    def peak(self) -> int:
        """The largest of the stages."""
        return max(self.stages.values())

    def __str__(self) -> str:
        parts = ", ".join(f"{stage} {format_bytes(size)}" for stage, size in self.stages.items())
        return f"{format_bytes(self.peak)} ({parts}; neighbour lists {format_bytes(self.lists)})"


def parse_bytes(name: str, value: Any) -> int:
    """Return a number of bytes from an int or from a text such as "4GB" or "512 MiB"."""
    if is_count(value) and value > 0:
        return int(value)
    if isinstance(value, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*", value)
        if match and match[2].upper() in UNITS and float(match[1]) > 0:
            return int(float(match[1]) * UNITS[match[2].upper()])
    raise ValueError(f"{name}={value!r} is not a size of memory; pass bytes (int) or a text such as '4GB' or '512MiB'")


def format_bytes(size: float) -> str:
    """Size as a person reads it: "512 B", "3.1 GB"."""
    for unit in ("TB", "GB", "MB", "KB"):
        if size >= UNITS[unit]:
            return f"{size / UNITS[unit]:.1f} {unit}"
    return f"{size:.0f} B"


def available_memory() -> int | None:
    """Bytes that programs can still take on this machine; None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def check_fits(estimate: MemoryEstimate, limit: int | None, ways_out: str) -> None:
    """Refuse work that needs more than ``limit``; without one, more than the machine has left."""
    room = available_memory() if limit is None else limit
    if room is not None and estimate.peak > room:
        whose = "this machine has left" if limit is None else "max_memory allows"
        raise MemoryError(f"the fit needs about {estimate} beyond X, and {whose} {format_bytes(room)}; {ways_out}")
