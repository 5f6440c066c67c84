"""CPU time and memory of this process, synthetic data, and verdicts."""

from __future__ import annotations

import platform
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np


def cpu_seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of one call over all threads, and its result."""
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def peak_gigabytes() -> float:
    """Peak resident memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if platform.system() == "Darwin" else 1024) / 1e9


def overlapping_classes(n: int, d: int, n_classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian classes with overlap."""
    rng = np.random.default_rng(seed)
    centres = 0.7 * rng.normal(size=(n_classes, d))
    labels = rng.integers(n_classes, size=n)
    return centres[labels] + rng.normal(size=(n, d)), labels


def verdict(value: float, limit: float, *, at_most: bool, digits: int = 2) -> str:
    """Format a measured value, and whether it is within its limit."""
    reached = value <= limit if at_most else value >= limit
    wanted = f"{'at most' if at_most else 'at least'} {limit:g} wanted"
    return f"{value:.{digits}f} ({wanted}: {'reached' if reached else 'MISSED'})"
