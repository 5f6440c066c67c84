"""The nearest prototypes of objects at every stop of the slider, from one pass over the dissimilarities.

Among equally near prototypes the majority of the labels decides, as in the classifier. The sets of the stops share many
of their members, so an object has few nearest prototypes over all stops. They are listed once, nearest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from joblib import delayed

from protoset._blocks import in_threads
from protoset.decisions import Rule
from protoset.decisions.degradations import ranks_of
from protoset.selectors.ties import MajorityVote, nearest_prototypes
from protoset.spaces import Dissimilarities

ROWS_PER_TASK = 250
"""Rows of dissimilarities that a worker computes at once."""


@dataclass(frozen=True, eq=False)
class PrototypeSet:
    """Prototypes, and all that decides among them.

    ``kept`` are columns of the dissimilarities: positions in the training set, or of moved prototypes after it.
    ``vote`` is the rule of ties. ``rule`` is None where the nearest prototype decides.
    """

    kept: np.ndarray
    vote: MajorityVote
    rule: Rule | None = None

    def decide(self, block: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Slot of the prototype that decides in each row, its rank, the number of tied ones, and the class."""
        if self.rule is None:
            is_nearest, winners = block == block.min(axis=1, keepdims=True), self.vote(block)
            return winners, np.ones(len(block), int), is_nearest.sum(axis=1), self.vote.codes[winners]
        winners, tied = self.rule.winners(block), self.rule.tied(block)
        ranks = ranks_of(block)[np.arange(len(block)), winners].astype(int)
        n_tied = np.ones(len(block), int) if tied is None else tied.sum(axis=1)
        return winners, ranks, n_tied, self.rule.labels(block)


@dataclass(frozen=True, eq=False)
class NearestPrototypes:
    """The nearest prototypes of some objects (rows), in every set.

    ``winners`` (n_sets, n_rows) are the prototypes that decide, as columns of the dissimilarities, -1 if there is none;
    ``ranks`` are their ranks among the prototypes, ``n_tied`` is the number of prototypes that vote, ``codes`` are the
    predicted classes, -1 if there is none. ``nearest``
    lists for each row the prototypes that are among the nearest of some set, nearest first, and ``distances`` the
    dissimilarities to them.
    """

    winners: np.ndarray
    ranks: np.ndarray
    n_tied: np.ndarray
    codes: np.ndarray
    nearest: list[np.ndarray]
    distances: list[np.ndarray]


def find_nearest(
    space: Dissimilarities,
    rows: np.ndarray,
    sets: Sequence[PrototypeSet],
    *,
    n_nearest: int,
    leave_out_self: bool,
    n_jobs: int | None = None,
) -> NearestPrototypes:
    """Find the prototypes that decide about rows, in every set, and list them with the ``n_nearest`` nearest.

    ``leave_out_self`` is for rows that are training objects, which are not their own neighbours; a moved prototype is
    no training object.
    """
    columns = np.unique(np.concatenate([prototypes.kept for prototypes in sets]))

    def search(some: np.ndarray) -> NearestPrototypes:
        block = np.array(space.block(some, columns), float)
        if leave_out_self:
            block[some[:, None] == columns[None, :]] = np.inf
        return _search_block(block, columns, sets, n_nearest)

    tasks = [rows[start : start + ROWS_PER_TASK] for start in range(0, len(rows), ROWS_PER_TASK)]
    results = in_threads(n_jobs)(delayed(search)(some) for some in tasks)
    return NearestPrototypes(
        np.concatenate([result.winners for result in results], axis=1),
        np.concatenate([result.ranks for result in results], axis=1),
        np.concatenate([result.n_tied for result in results], axis=1),
        np.concatenate([result.codes for result in results], axis=1),
        [row for result in results for row in result.nearest],
        [row for result in results for row in result.distances],
    )


def count_members(
    space: Dissimilarities,
    codes: np.ndarray,
    prototypes: PrototypeSet,
    known_rows: np.ndarray,
    known_winners: np.ndarray,
    *,
    n_jobs: int | None = None,
) -> list[list[list[int]]]:
    """Count the training objects that each prototype stands for: pairs of class and number, the largest number first.

    A prototype stands for all objects whose nearest prototype it is, and, unless it has moved, for itself. So the
    numbers add up to the number of training objects. ``known_winners`` are the nearest prototypes of ``known_rows``;
    the others are searched.
    """
    kept = prototypes.kept
    winners = np.empty(len(codes), int)
    winners[known_rows] = known_winners
    others = np.setdiff1d(np.arange(len(codes)), known_rows)
    if len(others):
        vote = prototypes.vote
        slots, distances = nearest_prototypes(
            space, vote.codes, vote.counts, vote.class_totals, others, kept, n_jobs=n_jobs
        )
        winners[others] = np.where(np.isfinite(distances), kept[slots], -1)
    own = kept[kept < len(codes)]
    winners[own] = own
    near, n_classes = winners >= 0, int(codes.max()) + 1
    pairs, counts = np.unique(winners[near] * n_classes + codes[near], return_counts=True)
    members: dict[int, list[list[int]]] = {position: [] for position in kept.tolist()}
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        members[pair // n_classes].append([pair % n_classes, count])
    return [sorted(shares, key=lambda share: (-share[1], share[0])) for shares in members.values()]


def _search_block(
    block: np.ndarray, columns: np.ndarray, sets: Sequence[PrototypeSet], n_nearest: int
) -> NearestPrototypes:
    every_row, shape = np.arange(len(block)), (len(sets), len(block))
    winners, ranks, n_tied, codes = (np.empty(shape, int) for _ in range(4))
    listed = np.zeros(block.shape, bool)
    for number, prototypes in enumerate(sets):
        slots = np.searchsorted(columns, prototypes.kept)
        distances = block[:, slots]
        winner, ranks[number], n_tied[number], code = prototypes.decide(distances)
        nearest_slots = (
            np.argsort(distances, axis=1, kind="stable")[:, :n_nearest] if n_nearest > 1 else winner[:, None]
        )
        np.put_along_axis(listed, slots[nearest_slots], True, axis=1)
        listed[every_row, slots[winner]] = True
        is_known = np.isfinite(distances[every_row, winner])
        winners[number], codes[number] = np.where(is_known, prototypes.kept[winner], -1), np.where(is_known, code, -1)
    listed &= np.isfinite(block)
    nearest, nearest_distances = [], []
    for row, mask in zip(block, listed, strict=True):
        slots = np.flatnonzero(mask)
        slots = slots[np.argsort(row[slots], kind="stable")]
        nearest.append(columns[slots])
        nearest_distances.append(row[slots])
    return NearestPrototypes(winners, ranks, n_tied, codes, nearest, nearest_distances)
