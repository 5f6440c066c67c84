"""The nearest prototypes of objects at every stop of the slider, from one pass over the dissimilarities.

The sets of the stops share most of their members, so an object has few nearest prototypes over all stops. They are
listed once, nearest first. At any stop, the first listed prototype that is kept is the nearest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from joblib import delayed

from protoset._blocks import in_threads
from protoset.classifier import decide
from protoset.report.stops import Stop
from protoset.spaces import DISSIMILARITIES, Dissimilarities, TrainingSpace

ROWS_PER_TASK = 250
"""Rows of dissimilarities that a worker computes at once."""


@dataclass(frozen=True, eq=False)
class NearestPrototypes:
    """The nearest prototypes of some objects (rows) at every stop.

    ``winners`` (n_stops, n_rows) are the prototypes that decide, as positions in the training set, -1 if there is none;
    ``ranks`` are their ranks among the prototypes. ``nearest`` lists for each row all prototypes that are among the
    nearest at some stop, nearest first, and ``distances`` the dissimilarities to them.
    """

    winners: np.ndarray
    ranks: np.ndarray
    nearest: list[np.ndarray]
    distances: list[np.ndarray]


def find_nearest(
    space: Dissimilarities,
    rows: np.ndarray,
    stops: Sequence[Stop],
    *,
    n_nearest: int,
    leave_out_self: bool,
    degradations: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> NearestPrototypes:
    """Find the nearest prototypes of rows at every stop.

    ``leave_out_self`` is for rows that are training objects, which are not their own neighbours. Degradations of all
    training objects are passed if the adjusted ranks decide.
    """
    columns = np.unique(np.concatenate([stop.kept for stop in stops]))

    def search(some: np.ndarray) -> NearestPrototypes:
        block = np.array(space.block(some, columns), float)
        if leave_out_self:
            block[some[:, None] == columns[None, :]] = np.inf
        return _search_block(block, columns, stops, n_nearest, degradations)

    tasks = [rows[start : start + ROWS_PER_TASK] for start in range(0, len(rows), ROWS_PER_TASK)]
    results = in_threads(n_jobs)(delayed(search)(some) for some in tasks)
    return NearestPrototypes(
        np.concatenate([result.winners for result in results], axis=1),
        np.concatenate([result.ranks for result in results], axis=1),
        [row for result in results for row in result.nearest],
        [row for result in results for row in result.distances],
    )


def nearest_others(space: TrainingSpace, rows: np.ndarray, *, n_jobs: int | None = None) -> np.ndarray:
    """Nearest other object of each of the given training objects; the first one if several are equally near."""
    # The search of series shares its lower bounds among all rows, so that a search of some rows is not faster.
    if len(rows) == space.shape[0] or space.partial or DISSIMILARITIES[space.metric].kind == "series":
        return _first_neighbors(space, n_jobs)[0][rows]
    others = np.setdiff1d(np.arange(space.shape[0]), rows)
    inside, inside_distances = _first_neighbors(space.subset(rows), n_jobs)
    outside, outside_distances = space.nearest(rows, others, n_jobs=n_jobs)
    inside, outside = rows[inside], others[outside]
    is_outside = (outside_distances < inside_distances) | ((outside_distances == inside_distances) & (outside < inside))
    return np.where(is_outside, outside, inside)


def _first_neighbors(space: TrainingSpace, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray]:
    lists = space.kneighbors(1, limit=1, n_jobs=n_jobs)
    first = np.cumsum(lists.counts) - lists.counts
    return lists.indices[first], lists.distances[first]


def _search_block(
    block: np.ndarray, columns: np.ndarray, stops: Sequence[Stop], n_nearest: int, degradations: np.ndarray | None
) -> NearestPrototypes:
    winners, ranks = np.full((len(stops), len(block)), -1), np.ones((len(stops), len(block)), int)
    listed = np.zeros(block.shape, bool)
    for number, stop in enumerate(stops):
        slots = np.searchsorted(columns, stop.kept)
        shown = slots[_smallest(block[:, slots], n_nearest)]
        np.put_along_axis(listed, shown, True, axis=1)
        winner = shown[:, 0]
        if degradations is not None:
            decision = decide(block[:, slots], degradations[stop.kept])
            first = decision.adjusted_ranks.argmin(axis=1)[:, None]
            winner = slots[np.take_along_axis(decision.order, first, axis=1)[:, 0]]
            ranks[number] = np.take_along_axis(decision.ranks, first, axis=1)[:, 0]
        is_known = np.isfinite(block[np.arange(len(block)), winner])
        winners[number] = np.where(is_known, columns[winner], -1)
    listed &= np.isfinite(block)
    nearest, distances = [], []
    for row, mask in zip(block, listed, strict=True):
        slots = np.flatnonzero(mask)
        slots = slots[np.argsort(row[slots], kind="stable")]
        nearest.append(columns[slots])
        distances.append(row[slots])
    return NearestPrototypes(winners, ranks, nearest, distances)


def _smallest(block: np.ndarray, n_nearest: int) -> np.ndarray:
    """Columns of the smallest entries of each row, smallest first; ties in the order of columns."""
    if n_nearest == 1:
        return block.argmin(axis=1)[:, None]
    return np.argsort(block, axis=1, kind="stable")[:, :n_nearest]
