"""Series that can move: their points follow the gradient of warped distances along the best paths.

    prototypes   (prototypes, points, channels); after the end of a shorter series there is NaN, which no step changes
    distances    square root of the summed squared differences along the best path, also under ``squared=True``
    gradients    of a pair of points on the best path: the difference, divided by the distance (Jain and Schultz, 2018)

The number of points of a prototype does not change. The points are those of prepared series: under ``normalize=True``
they start with mean 0 and deviation 1, under "ddtw" they are derivatives. Moves may change mean and deviation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from protoset import kernels
from protoset.spaces.base import PrototypeSpace
from protoset.spaces.movable import MovableObjects, Moved
from protoset.spaces.series_data import Series, series_in_turn

if TYPE_CHECKING:
    from protoset.kernels.series import SeriesArrays, Warping

FEW_ROWS = 32
"""Up to so many series, each lane gets a pair of its own; with more, all lanes share a prototype and differ in the
series."""

KNOWN_DISTANCES_BYTES = 256 * 2**20
"""Largest memory of the distances of all training series; more distances are computed when they are needed."""


class _KnownDistances(NamedTuple):
    """Dissimilarities of all training series, and the row of each series by its points."""

    matrix: np.ndarray
    row_of: dict[bytes, int]


class MovableSeries(MovableObjects):
    """Series under dynamic time warping, with a scale for each channel.

    Parameters
    ----------
    series : Series
        The prepared training series.
    warping : Warping
        The band.
    read : callable
        Checks and prepares new series.
    place : callable
        Makes the space of moved series from the series multiplied by a factor for each channel, and from the factors.
    matrix : callable
        Computes the dissimilarities of all training series with so many workers.
    """

    step = 0.4
    steepness = (10.0, 20.0)
    n_passes = 20
    trial_share = 0.25
    is_costly = True
    attribute_word = "channel"
    n_listed = 12

    def __init__(
        self,
        series: Series,
        warping: Warping,
        read: Callable[[Any], Series],
        place: Callable[[Series, np.ndarray], PrototypeSpace],
        matrix: Callable[[int | None], np.ndarray],
    ):
        self._series, self._warping, self._read, self._place = series, warping, read, place
        self._compute_matrix = matrix
        self._known: _KnownDistances | None = None
        self._arrays = kernels.series.SeriesArrays(series.values.reshape(len(series.values), -1), series.starts)
        self._extent = int(series.lengths.min()), int(series.lengths.max())
        self.n_scales = series.n_channels
        self.n_coordinates = float(series.lengths.mean()) * series.n_channels

    def all_distances(self, n_jobs: int | None = None) -> np.ndarray | None:
        """Dissimilarities of all training series, if there are not too many; ``distances`` looks them up then."""
        if len(self._series) ** 2 * 8 > KNOWN_DISTANCES_BYTES:
            return None
        if self._known is None:
            contents = {points.tobytes(): row for row, points in enumerate(self._rows_of_points())}
            self._known = _KnownDistances(self._compute_matrix(n_jobs), contents)
        return self._known.matrix

    def _rows_of_points(self) -> list[np.ndarray]:
        """Points of each training series."""
        return np.split(self._arrays.values, self._series.starts[1:-1])

    def _homes(self, prototypes: Moved) -> np.ndarray | None:
        """Return the training series at which the prototypes stand, if their distances are known."""
        if self._known is None or (prototypes.scales != 1).any():
            return None
        homes = []
        for points, length in zip(prototypes.points, _lengths(prototypes.points), strict=True):
            home = self._known.row_of.get(points[:length].tobytes())
            if home is None:
                return None
            homes.append(home)
        return np.array(homes)

    def constant_attributes(self) -> np.ndarray:
        """Channels with one value at all points of all series."""
        return np.flatnonzero(np.ptp(self._arrays.values, axis=0) == 0)

    def start(self, indices: np.ndarray) -> np.ndarray:
        """Points of some training series."""
        return _padded(self._series[indices])

    def read(self, objects: Any) -> np.ndarray:
        """Points of new series; they are prepared as the training series were."""
        return _padded(self._read(objects))

    def objects(self, prototypes: Moved) -> Any:
        """Moved series as users give them: an array where all are equally long, else a list of arrays.

        They are prepared series: derivatives under "ddtw", and normalised at the start under ``normalize=True``.
        """
        points = prototypes.points[:, :, 0] if self.n_scales == 1 else prototypes.points.transpose(0, 2, 1)
        lengths = _lengths(prototypes.points)
        if (lengths == points.shape[-1]).all():
            return points.copy()
        return [series[..., :length].copy() for series, length in zip(points, lengths, strict=True)]

    def distances(self, rows: np.ndarray, prototypes: Moved, columns: np.ndarray | None = None) -> np.ndarray:
        """Distances along the best paths, every pair to the end."""
        if columns is None:
            homes = self._homes(prototypes)
            if self._known is not None and homes is not None:
                block = self._known.matrix[rows[:, None], homes]
                return block if self._warping.root else np.sqrt(block)
            if len(rows) > FEW_ROWS:
                return self._all_distances(rows, prototypes)
            columns = np.broadcast_to(np.arange(len(prototypes.points)), (len(rows), len(prototypes.points)))
        pairs, order = self._pairs(np.repeat(rows, columns.shape[1]), columns.reshape(-1), prototypes)
        computed, nothing = np.empty(len(order)), np.empty(0)
        kernels.adapting_series.warp_pairs(pairs, 0, nothing, computed, np.empty((0, 0, 0)), nothing)
        distances = np.empty(columns.shape)
        distances.reshape(-1)[order] = computed
        return distances

    def lengths_of_moves(self, before: np.ndarray, prototypes: Moved) -> np.ndarray:
        """Distance of each prototype from its coordinates ``before``, point by point."""
        changes = np.nan_to_num(prototypes.points - before) ** 2 * prototypes.scales
        return np.sqrt(changes.sum(axis=(1, 2)))

    def measured(self, distances: np.ndarray) -> np.ndarray:
        """Squared distances under ``squared=True``."""
        return distances if self._warping.root else distances**2

    def _all_distances(self, rows: np.ndarray, prototypes: Moved) -> np.ndarray:
        """Distances to all prototypes, those of series of equal lengths together."""
        lengths, factors = _lengths(prototypes.points), np.sqrt(prototypes.scales)
        n_prototypes, n_points, n_channels = prototypes.points.shape
        points = (prototypes.points * factors).reshape(-1, n_channels)
        order = np.argsort(self._series.lengths[rows], kind="stable")
        computed = np.empty((n_prototypes, len(rows)))
        starts = np.arange(n_prototypes) * n_points
        kernels.adapting_series.squared_block(
            self._scaled(factors), rows[order], points, starts, lengths, self._warping, computed
        )
        distances = np.empty((len(rows), n_prototypes))
        distances[order] = np.sqrt(computed).T
        return distances

    def add_gradients(
        self,
        rows: np.ndarray,
        prototypes: Moved,
        columns: np.ndarray,
        distances: np.ndarray,
        slopes: np.ndarray,
        gradient: Moved,
    ) -> None:
        """Pull prototypes along the best paths to the series, for pairs whose slope is not 0."""
        at, entry = np.nonzero((slopes != 0) & (distances > 0))
        pairs, order = self._pairs(rows[at], columns[at, entry], prototypes)
        pulls = (slopes[at, entry] / distances[at, entry])[order]
        is_scaled = pairs.points is not prototypes.points
        moves = np.zeros_like(prototypes.points) if is_scaled else gradient.points
        first = 0
        while first < len(pulls):
            first = kernels.adapting_series.warp_pairs(pairs, first, pulls, np.empty(0), moves, gradient.scales)
            if first < len(pulls):
                kernels.adapting_series.pull_along_alignment(pairs, first, pulls[first], moves, gradient.scales)
                first += 1
        if is_scaled:
            gradient.points[:] += moves * np.sqrt(prototypes.scales)

    def _pairs(self, rows: np.ndarray, columns: np.ndarray, prototypes: Moved) -> tuple[Any, np.ndarray]:
        """Pairs as the kernels take them, those of equal bands together, and their positions among the given ones."""
        lengths, factors = _lengths(prototypes.points), np.sqrt(prototypes.scales)
        order = np.arange(len(rows))
        if not (self._series.equal_length and (lengths == lengths[0]).all()):
            n, m = self._series.lengths[rows], lengths[columns]
            order = np.lexsort((m, n, kernels.adapting_series.shared_bands(n, m, self._warping)))
            rows, columns = rows[order], columns[order]
        points = np.ascontiguousarray(prototypes.points if (factors == 1).all() else prototypes.points * factors)
        columns = np.ascontiguousarray(columns, np.int64)
        return kernels.adapting_series.Pairs(
            self._scaled(factors), *self._extent, rows, points, lengths, columns, self._warping
        ), order

    def _scaled(self, factors: np.ndarray) -> SeriesArrays:
        """Training series with their channels multiplied by factors."""
        return self._arrays if (factors == 1).all() else self._arrays._replace(values=self._arrays.values * factors)

    def place(self, prototypes: Moved) -> PrototypeSpace:
        """Space of the moved series."""
        factors, lengths = np.sqrt(prototypes.scales), _lengths(prototypes.points)
        values = np.concatenate([series[:length] for series, length in zip(prototypes.points, lengths, strict=True)])
        return self._place(series_in_turn(values * factors, lengths), factors)


def _padded(series: Series) -> np.ndarray:
    """Points of series as rows, with NaN after the end of shorter series."""
    lengths = series.lengths
    points = np.full((len(series), lengths.max(), series.n_channels), np.nan)
    points[np.arange(points.shape[1]) < lengths[:, None]] = series.values.reshape(len(series.values), -1)
    return points


def _lengths(points: np.ndarray) -> np.ndarray:
    """Count the points of each series."""
    if not np.isnan(points[:, -1, 0]).any():
        return np.full(len(points), points.shape[1])
    return np.count_nonzero(~np.isnan(points[:, :, 0]), axis=1)
