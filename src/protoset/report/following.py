"""Who is nearest at every stop of the slider, from one pass over the dissimilarities.

Sets of growing size share most of their members. So an object has few nearest prototypes over all stops; they are
listed once, nearest first, and at any stop the first of them that is kept is the nearest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from protoset.classifier import decide
from protoset.report.budget import Stop
from protoset.spaces import Dissimilarities

ROWS_AT_ONCE = 250


@dataclass(frozen=True, eq=False)
class Followed:
    """The nearest prototypes of some objects at every stop.

    Attributes
    ----------
    winners : ndarray of int, shape (n_stops, n_rows)
        The prototype that decides, as a position in the training set; -1 where there is none.
    ranks : ndarray of int, shape (n_stops, n_rows)
        Its rank among the prototypes, 1 for the nearest.
    nearest : list of ndarray of int
        For each row all prototypes that are among the nearest at some stop, nearest first.
    distances : list of ndarray
        How far they are.
    """

    winners: np.ndarray
    ranks: np.ndarray
    nearest: list[np.ndarray]
    distances: list[np.ndarray]


def follow(
    space: Dissimilarities,
    rows: np.ndarray,
    stops: Sequence[Stop],
    *,
    n_nearest: int,
    leave_out_self: bool,
    degradations: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> Followed:
    """Find the nearest prototypes of rows at every stop.

    Parameters
    ----------
    space : Dissimilarities
        From the rows to the training objects.
    rows : ndarray of int
    stops : sequence of Stop
    n_nearest : int
        How many prototypes to list at each stop.
    leave_out_self : bool
        Whether rows are training objects; none is its own neighbour.
    degradations : ndarray, optional
        Of all training objects, where adjusted ranks decide.
    n_jobs : int, optional
        Workers. Changes no result.
    """
    columns = np.unique(np.concatenate([stop.kept for stop in stops]))

    def search(part: np.ndarray) -> Followed:
        block = np.array(space.block(part, columns), float)
        if leave_out_self:
            block[part[:, None] == columns[None, :]] = np.inf
        return _follow_block(block, columns, stops, n_nearest, degradations)

    parts = [rows[start : start + ROWS_AT_ONCE] for start in range(0, len(rows), ROWS_AT_ONCE)]
    found = Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(search)(part) for part in parts)
    return Followed(
        np.concatenate([one.winners for one in found], axis=1),
        np.concatenate([one.ranks for one in found], axis=1),
        [row for one in found for row in one.nearest],
        [row for one in found for row in one.distances],
    )


def _follow_block(
    block: np.ndarray, columns: np.ndarray, stops: Sequence[Stop], n_nearest: int, degradations: np.ndarray | None
) -> Followed:
    winners, ranks = np.full((len(stops), len(block)), -1), np.ones((len(stops), len(block)), int)
    listed = np.zeros(block.shape, bool)
    for number, stop in enumerate(stops):
        places = np.searchsorted(columns, stop.kept)
        shown = places[_first(block[:, places], n_nearest)]
        np.put_along_axis(listed, shown, True, axis=1)
        winner = shown[:, 0]
        if degradations is not None:
            decision = decide(block[:, places], degradations[stop.kept])
            first = decision.adjusted_ranks.argmin(axis=1)[:, None]
            winner = places[np.take_along_axis(decision.order, first, axis=1)[:, 0]]
            ranks[number] = np.take_along_axis(decision.ranks, first, axis=1)[:, 0]
        known = np.isfinite(block[np.arange(len(block)), winner])
        winners[number] = np.where(known, columns[winner], -1)
    listed &= np.isfinite(block)
    found = [np.flatnonzero(mask) for mask in listed]
    ordered = [some[np.argsort(row[some], kind="stable")] for row, some in zip(block, found, strict=True)]
    return Followed(
        winners,
        ranks,
        [columns[some] for some in ordered],
        [row[some] for row, some in zip(block, ordered, strict=True)],
    )


def _first(block: np.ndarray, n_nearest: int) -> np.ndarray:
    """Columns of the smallest entries of each row, smallest first, the first among equals."""
    if n_nearest == 1:
        return block.argmin(axis=1)[:, None]
    return np.argsort(block, axis=1, kind="stable")[:, :n_nearest]
