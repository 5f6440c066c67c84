"""Lower bounds on warped distances beyond LB_Keogh: the pairs that each excludes, and its cost beside the distance.

    python -m benchmarks.series_bounds FOLDER        FOLDER holds ucr/NAME/NAME_TRAIN.tsv.gz and _TEST

500 series of each set, z-normalised. "left": pairs that LB_Keogh in both directions leaves within the distance of the
32nd neighbour of either series; "near": those of them that really are. Then the share of the pairs left that
LB_Improved (Lemire, 2009) and LB_Webb (Webb and Petitjean, 2021; without paths at the ends of the series) exclude, in
the better of both directions. Nanoseconds of CPU per pair: both bounds in one direction, and the distance in single
precision, 64 pairs at a time and to the end. A bound pays where its share of the distance is more than its cost.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numba import njit
from scipy.ndimage import maximum_filter1d, minimum_filter1d

from benchmarks.measure import cpu_seconds
from benchmarks.series import smooth_gestures
from protoset import kernels
from protoset.spaces import make_space
from protoset.spaces.series_search import as_points, largest_value, rounding_of, single_series

N_SERIES = 500
NEIGHBORS = 32
WINDOWS = (5, 0.1, 0.2)
NAMES = ("TwoPatterns", "FaceAll", "ChlorineConcentration", "CBF", "MedicalImages", "FacesUCR")
SLACK = 1e-4
"""Rounding of bounds in single precision."""

N_WARPED = 448
"""Pairs that a series is warped with to measure the cost of a distance, a multiple of 64."""

FAST = {"nnan", "nsz", "reassoc", "contract"}


@njit(fastmath=FAST)
def keogh(a, upper, lower):
    """LB_Keogh of a to an envelope."""
    total, zero = np.float32(0.0), np.float32(0.0)
    for t in range(a.shape[0]):
        beyond = max(max(a[t] - upper[t], lower[t] - a[t]), zero)
        total += beyond * beyond
    return total


@njit(fastmath=FAST)
def merge(high, low, shift, n_windows, new_high, new_low):
    """Extremes of the union of each window with the window ``shift`` points later."""
    later_high, later_low = high[shift:], low[shift:]
    for t in range(n_windows):
        new_high[t] = max(high[t], later_high[t])
    for t in range(n_windows):
        new_low[t] = min(low[t], later_low[t])


@njit(fastmath=FAST)
def improved(a, b, b_ranges, radius, work):
    """LB_Improved: LB_Keogh of a, and of b to the projection of a onto the envelope of b."""
    n, width = a.shape[0], 2 * radius + 1
    high, low = work[0, 0], work[0, 1]
    middle, upper, lower = high[radius:], b_ranges[0], b_ranges[1]
    for t in range(n):
        middle[t] = min(max(a[t], lower[t]), upper[t])
    for t in range(radius):
        high[t], high[radius + n + t] = high[radius], high[radius + n - 1]
    for t in range(n + width - 1):
        low[t] = high[t]
    size, n_windows, current = 1, n + width - 1, 0
    while size < width:  # windows of 1, 2, 4, ... points; the last two overlap
        shift = min(size, width - size)
        n_windows -= shift
        merge(work[current, 0], work[current, 1], shift, n_windows, work[1 - current, 0], work[1 - current, 1])
        current, size = 1 - current, size + shift
    return keogh(a, b_ranges[0], b_ranges[1]) + keogh(b, work[current, 0], work[current, 1])


@njit(fastmath=FAST)
def webb(a, b, a_ranges, b_ranges):
    """LB_Webb: LB_Keogh of a, and the costs of b beyond the envelope of a that LB_Keogh of a cannot have counted.

    A point of a that is counted and matched with a point of b above all points of a in reach is below the envelope of
    b, at most at the upper envelope (row 2) of the lower one; the cost up to there is taken off. The same downwards.
    """
    total, zero = np.float32(0.0), np.float32(0.0)
    upper, lower, high, low = a_ranges[0], a_ranges[1], b_ranges[2], b_ranges[3]
    for t in range(b.shape[0]):
        above, below = max(high[t] - upper[t], zero), max(lower[t] - low[t], zero)
        rise, fall = max(b[t] - upper[t], above), max(lower[t] - b[t], below)
        total += rise * rise - above * above + fall * fall - below * below
    return keogh(a, b_ranges[0], b_ranges[1]) + total


@njit
def improved_bounds(pairs, values, ranges, radius, work, bounds):
    """Write LB_Improved of pairs."""
    for p in range(pairs.shape[0]):
        i, j = pairs[p]
        bounds[p] = improved(values[i], values[j], ranges[j], radius, work)


@njit
def webb_bounds(pairs, values, ranges, radius, work, bounds):
    """Write LB_Webb of pairs."""
    for p in range(pairs.shape[0]):
        i, j = pairs[p]
        bounds[p] = webb(values[i], values[j], ranges[i], ranges[j])


def envelope(values: np.ndarray, radius: int) -> tuple[np.ndarray, np.ndarray]:
    """Largest and smallest value within the radius of each point."""
    return tuple(f(values, 2 * radius + 1, axis=1, mode="nearest") for f in (maximum_filter1d, minimum_filter1d))


def measure(name: str, X: np.ndarray, window: float) -> None:
    """Print the shares and costs for one set."""
    space = make_space(X, "dtw", {"window": window, "normalize": True})
    points, radius = as_points(space._columns.arrays), space._radius()
    rounding = rounding_of(largest_value(points), points.shape[1:], root=True)
    values = (points[:, :, 0] * rounding.scale).astype(np.float32)
    upper, lower = envelope(values, radius)
    ranges = np.stack([upper, lower, envelope(lower, radius)[0], envelope(upper, radius)[1]], axis=1)
    distances = space.block(slice(None), slice(None)) * rounding.scale
    last = np.sort(distances, axis=1)[:, NEIGHBORS]
    i, j = np.triu_indices(len(X), 1)
    limits, exact = np.maximum(last[i], last[j]) ** 2 * (1 + SLACK), distances[i, j] ** 2
    bounds = np.maximum(
        *(np.square(values[p] - np.clip(values[p], lower[q], upper[q])).sum(1) for p, q in ((i, j), (j, i)))
    )
    left = bounds <= limits
    pairs, limits, exact = np.column_stack([i, j])[left], limits[left], exact[left]
    work = np.empty((2, 2, X.shape[1] + 2 * radius), np.float32)

    def excluded(write: Callable[..., None]) -> tuple[float, float]:
        both = np.empty((2, len(pairs)))
        write(pairs[:2], values, ranges, radius, work, both[0, :2])  # compiles
        seconds = [
            cpu_seconds(lambda out=out, some=some: write(some, values, ranges, radius, work, out))[0]
            for out, some in zip(both, (pairs, np.ascontiguousarray(pairs[:, ::-1])), strict=True)
        ]
        assert (both <= exact * (1 + SLACK) + SLACK).all()
        return float(np.mean(both.max(axis=0) > limits)), sum(seconds) / (2 * len(pairs)) * 1e9

    by_improved, by_webb = map(excluded, (improved_bounds, webb_bounds))
    print(
        f"{name:<22}{radius:>6}{left.mean():>9.1%}{np.mean(exact <= limits):>8.1%}{by_improved[0]:>11.1%}"
        f"{by_webb[0]:>8.1%}{by_improved[1]:>13.0f}{by_webb[1]:>9.0f}{warping_cost(space, rounding):>13.0f}",
        flush=True,
    )


def warping_cost(space, rounding) -> float:
    """Nanoseconds per pair of the distance in single precision."""
    points, radius, kernel = as_points(space._columns.arrays), space._radius(), kernels.series_search
    shape = kernels.single_precision.Shape(points.shape[1], 1, radius)
    values, n = single_series(points, radius, rounding.scale).values, len(points)
    work, means = kernel.make_seed_work(values, N_WARPED, shape), np.zeros((n, 1), np.float32)

    def warp() -> None:
        kernel.seed_thresholds(values, means, 0, 1, 1, N_WARPED, shape, rounding, work, np.full(n, np.inf))

    warp()  # compiles
    return cpu_seconds(warp)[0] / (n * N_WARPED) * 1e9


def main(folder: Path) -> None:
    """Print all sets."""
    sets = {"smooth": smooth_gestures(N_SERIES, 128)}
    for name in NAMES:
        files = [folder / "ucr" / name / f"{name}_{part}.tsv.gz" for part in ("TRAIN", "TEST")]
        sets[name] = np.vstack([np.loadtxt(path) for path in files])[:N_SERIES, 1:]
    print(f"{'':<22}radius     left    near   improved    webb  improved ns  webb ns  distance ns")
    for window in WINDOWS:
        for name, X in sets.items():
            measure(name, X, window)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
