"""The medoid of a group of objects."""

from __future__ import annotations

import numpy as np

from protoset._blocks import row_slices
from protoset.spaces import TrainingSpace


def medoid(space: TrainingSpace, members: np.ndarray) -> int:
    """Member with the smallest sum of dissimilarities from all members; of ties, the lowest index."""
    sums = np.empty(len(members))
    for columns in row_slices(len(members), len(members) * 8):
        sums[columns] = space.block(members, members[columns]).sum(axis=0)
    return int(members[sums.argmin()])
