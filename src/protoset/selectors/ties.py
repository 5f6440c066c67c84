"""The rule of ties: among equally near prototypes the majority of their labels decides.

Each prototype has as many votes as training objects stand behind it. Among classes with equal votes, the class that is
more frequent in the training set wins, then the lower code. So a prediction does not depend on the order of rows or
prototypes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from protoset import kernels
from protoset.spaces import Dissimilarities
from protoset.spaces._lists import FEW_ENTRIES
from protoset.spaces.base import Rows


@dataclass(frozen=True, eq=False)
class MajorityVote:
    """The vote of equally near prototypes.

    Attributes
    ----------
    codes : ndarray of int
        Class of each prototype.
    counts : ndarray of float
        Votes of each prototype.
    class_totals : ndarray of float
        Size of each class in the training set.
    """

    codes: np.ndarray
    counts: np.ndarray
    class_totals: np.ndarray

    def __call__(self, block: np.ndarray) -> np.ndarray:
        """Return, for each row of distances, the position of the nearest prototype of the class that wins the vote."""
        # Without ties no vote is needed, and nothing is compiled.
        if 0 < block.size <= FEW_ENTRIES and (block == block.min(axis=1, keepdims=True)).sum() == len(block):
            return block.argmin(axis=1)
        return kernels.ties.nearest_by_majority(block, self.codes, self.counts, self.class_totals)


def vote_of(selector: Any, codes: np.ndarray) -> MajorityVote:
    """Vote of the prototypes of a fitted selector; ``codes`` are the classes of all training objects."""
    kept, totals = selector.sample_indices_, getattr(selector, "class_counts_", None)
    totals = np.bincount(codes).astype(float) if totals is None else totals
    return MajorityVote(codes[kept], counts_of(selector, kept), totals)


def counts_of(selector: Any, kept: np.ndarray) -> np.ndarray:
    """Number of training objects that each kept object represents; 1 if the selector does not know it."""
    counts = np.ones(int(max(kept.max(), selector.sample_indices_.max())) + 1)
    counts[selector.sample_indices_] = getattr(selector, "sample_counts_", 1.0)
    return counts[kept]


def nearest_prototypes(
    dissimilarities: Dissimilarities,
    codes: np.ndarray,
    counts: np.ndarray,
    class_totals: np.ndarray,
    rows: Rows = slice(None),
    columns: Rows = slice(None),
    *,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the nearest prototype of each row; among equally near prototypes the majority of the labels decides.

    ``codes`` and ``counts`` are those of the prototypes, which are the ``columns``. Returns their positions among the
    columns, and their distances.
    """
    vote = MajorityVote(codes, counts, class_totals)
    return dissimilarities.nearest(rows, columns, choose=vote, n_jobs=n_jobs)
