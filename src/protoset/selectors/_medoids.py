"""The member of a group that is nearest to all of it."""

from __future__ import annotations

import numpy as np

from protoset._blocks import row_slices
from protoset.spaces import TrainingSpace


def medoid(space: TrainingSpace, members: np.ndarray) -> int:
    """Member with the smallest sum of dissimilarities from the members; the lowest index among ties."""
    sums = np.empty(len(members))
    for part in row_slices(len(members), len(members) * 8):
        sums[part] = space.block(members, members[part]).sum(axis=0)
    return int(members[sums.argmin()])
