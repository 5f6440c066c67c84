"""Features in blocks of rows on the workers of a Dask client: products as tasks, sums as reductions.

    weights w   --> every block: r_b w                        --> products, one after the other
    duals l_b   --> every block: r_b' l_b --> sums of pairs, of pairs of these ... --> r'l

The part of a sparse matrix that solvers use if they need only products. Blocks and pairs are always the same, so that
no digit depends on the number of workers.
"""

from __future__ import annotations

from operator import matmul
from typing import Any

import numpy as np
from scipy import sparse

from protoset._cluster import gather, reduce_pairs, send, submit


class BlockFeatures:
    """A matrix of features whose rows are on workers, in blocks of compressed rows.

    ``starts`` holds the first row of each block, and the number of rows. With ``absolute`` the features have no signs.
    """

    def __init__(self, client: Any, blocks: list[Any], starts: np.ndarray, *, absolute: bool = False):
        self._client, self._blocks, self._starts, self._absolute = client, blocks, starts, absolute
        self.shape = (int(starts[-1]), int(starts[-1]))

    def magnitudes(self) -> BlockFeatures:
        """Return the features without their signs."""
        return BlockFeatures(self._client, self._blocks, self._starts, absolute=True)

    def __matmul__(self, weights: np.ndarray) -> np.ndarray:
        sent = send(self._client, weights)
        products = [submit(self._client, matmul, block, sent) for block in self._blocks]
        return np.concatenate(gather(self._client, products))

    @property
    def T(self) -> _Transposed:  # noqa: N802 - as NumPy and SciPy call it
        """The features of each column."""
        return _Transposed(self)

    def _pull(self, dual_variables: np.ndarray) -> np.ndarray:
        parts = np.split(dual_variables, self._starts[1:-1])
        sums = [
            submit(self._client, _pull, block, part, self._absolute)
            for block, part in zip(self._blocks, parts, strict=True)
        ]
        return gather(self._client, [reduce_pairs(self._client, np.add, sums)])[0]


class _Transposed:
    """Columns of features in blocks of rows."""

    def __init__(self, features: BlockFeatures):
        self._features = features

    def tocsr(self) -> _Transposed:
        """Return itself: there is no better order."""
        return self

    def __matmul__(self, dual_variables: np.ndarray) -> np.ndarray:
        return self._features._pull(dual_variables)


def _pull(block: sparse.csr_matrix, dual_variables: np.ndarray, absolute: bool) -> np.ndarray:
    return (abs(block) if absolute else block).T @ dual_variables
