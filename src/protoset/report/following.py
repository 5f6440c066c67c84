"""Who is nearest at every stop of the slider, from one pass over the dissimilarities.

Sets of growing size share most of their members. So an object has few nearest prototypes over all stops; they are
listed once, nearest first, and at any stop the first of them that is kept is the nearest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from protoset._blocks import row_slices
from protoset.classifier import decide
from protoset.report.budget import Stop
from protoset.spaces import Space


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
    space: Space,
    rows: np.ndarray,
    stops: Sequence[Stop],
    *,
    n_nearest: int,
    leave_out_self: bool,
    degradations: np.ndarray | None = None,
) -> Followed:
    """Find the nearest prototypes of rows at every stop.

    Parameters
    ----------
    space : Space
        From the rows to the training objects.
    rows : ndarray of int
    stops : sequence of Stop
    n_nearest : int
        How many prototypes to list at each stop.
    leave_out_self : bool
        Whether rows are training objects; none is its own neighbour.
    degradations : ndarray, optional
        Of all training objects, where adjusted ranks decide.
    """
    columns = np.unique(np.concatenate([stop.kept for stop in stops]))
    winners, ranks = np.full((len(stops), len(rows)), -1), np.ones((len(stops), len(rows)), int)
    nearest: list[np.ndarray] = []
    distances: list[np.ndarray] = []
    for part in row_slices(len(rows), 3 * 8 * len(columns)):
        block = np.array(space.block(rows[part], columns), float)
        if leave_out_self:
            block[rows[part][:, None] == columns[None, :]] = np.inf
        listed = np.zeros(block.shape, bool)
        for number, stop in enumerate(stops):
            places = np.searchsorted(columns, stop.kept)
            shown = places[_first(block[:, places], n_nearest)]
            np.put_along_axis(listed, shown, True, axis=1)
            if degradations is None:
                winner = shown[:, 0]
            else:
                decision = decide(block[:, places], degradations[stop.kept])
                first = decision.adjusted_ranks.argmin(axis=1)[:, None]
                winner = places[np.take_along_axis(decision.order, first, axis=1)[:, 0]]
                ranks[number, part] = np.take_along_axis(decision.ranks, first, axis=1)[:, 0]
            known = np.isfinite(np.take_along_axis(block, winner[:, None], axis=1)[:, 0])
            winners[number, part] = np.where(known, columns[winner], -1)
        listed &= np.isfinite(block)
        for row, mask in zip(block, listed, strict=True):
            found = np.flatnonzero(mask)
            found = found[np.argsort(row[found], kind="stable")]
            nearest.append(columns[found])
            distances.append(row[found])
    return Followed(winners, ranks, nearest, distances)


def _first(block: np.ndarray, n_nearest: int) -> np.ndarray:
    """Columns of the smallest entries of each row, smallest first, the first among equals."""
    if n_nearest == 1:
        return block.argmin(axis=1)[:, None]
    return np.argsort(block, axis=1, kind="stable")[:, :n_nearest]
