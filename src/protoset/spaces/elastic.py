"""Time series: edit distances.

    erp     edit distance with real penalty (Chen and Ng, 2004): a point is matched, or skipped at its distance from
            ``gap``
    msm     move-split-merge (Stefan, Athitsos and Das, 2013): a value is moved, or split in two or merged at the cost
            ``c``
    twe     time warp edit distance (Marteau, 2009): matched points are compared with the points before them and in time
            (``nu``); to delete a point costs its distance from the point before it, ``nu`` and ``lmbda``

All obey the triangle inequality if there is no ``window``. Under "erp", skipping a point with the gap value costs
nothing. Series are given, and ``window`` and ``normalize`` work, as in ``protoset.spaces.series``. Points of several
channels are compared by their Euclidean distance under "erp" and "twe". Under "msm" each channel is edited alone and
the distances are added, as in aeon.

Series do not move under these metrics: the costs are absolute differences, whose gradients do not shrink near the
optimum and do not exist where a point is skipped or split. ``protoset.spaces.elastic_search`` is the exact neighbour
search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from joblib import delayed

from protoset import kernels
from protoset._blocks import in_threads
from protoset._progress import ProgressCallback
from protoset._validation import LARGEST, as_float, as_numbers, check_flag, is_number
from protoset.spaces._lists import RawLists
from protoset.spaces._pair_descent import PairDistances
from protoset.spaces.base import Dissimilarity, Rows, Space
from protoset.spaces.comparison import Alignment, PairComparison
from protoset.spaces.elastic_search import ElasticSearch, bounds_of, double_lanes, edit_shape, fits_lanes
from protoset.spaces.movable import MovableObjects, Moved
from protoset.spaces.series import SeriesSpace, band_of, check_window, read_training
from protoset.spaces.series_data import Series, check_stored
from protoset.spaces.series_search import STRIPES

if TYPE_CHECKING:
    from protoset.kernels.elastic import Edits, EditSeries
    from protoset.kernels.elastic_lanes import EditLanes, EditShape

LEAST_LANES = 16
"""Smallest number of series whose distances to another series are computed many at a time."""


class ElasticSpace(SeriesSpace):
    """Edit distances between prepared time series; ``parameters`` are all arguments of the metric, checked."""

    @classmethod
    def from_objects(cls, X: Any, metric: str, parameters: Mapping[str, Any], y: Any = None) -> Self:
        """Make the space of an array or list of series."""
        checked = _check_parameters(parameters)
        series = read_training(X, metric, checked)
        gap = _check_gap(parameters.get("gap", 0.0), series.n_channels)
        return cls(metric, series, series, checked | {"gap": gap, "factors": None})

    @property
    def _edits(self) -> Edits:
        """The metric, as the kernels take it."""
        return kernels.elastic.Edits(
            *band_of(self._parameters["window"]),
            padding=1 if self.metric == "erp" else 0,
            split=self._parameters["c"] if self.metric == "msm" else None,
            stiffness=2 * self._parameters["nu"] if self.metric == "twe" else None,
        )

    def _edit_series(self, series: Series) -> EditSeries:
        """Series with the costs of their points without a match; under "erp" a gap value comes before each series."""
        values, starts, gap = series.values, series.starts, self._parameters["gap"]
        if self.metric == "erp":
            gap = gap if values.ndim > 1 else gap[0]
            values, starts = np.insert(values, starts[:-1], gap, axis=0), starts + np.arange(len(starts))
            skips = _lengths_of(values - gap)
        elif self.metric == "twe":
            steps = np.diff(values, axis=0, prepend=values[:1])
            skips = _lengths_of(steps) + (self._parameters["nu"] + self._parameters["lmbda"])
        else:
            skips = np.full(len(values), self._parameters["c"])
        skips[starts[:-1]] = np.inf
        return kernels.elastic.EditSeries(values, starts, skips)

    @cached_property
    def _row_edits(self) -> EditSeries:
        return self._column_edits if self._rows is self._columns else self._edit_series(self._rows)

    @cached_property
    def _column_edits(self) -> EditSeries:
        return self._edit_series(self._columns)

    def _all_pairs(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Distances of rows to columns, many at a time among training series of one channel and one length."""
        if max(len(rows), len(columns)) < LEAST_LANES or not self._is_training or self._lanes is None:
            return self._block(rows, columns, upper=False)
        others, many = (rows, columns) if len(rows) < len(columns) else (columns, rows)
        block = np.empty((len(others), len(many)))
        kernels.elastic_lanes.edit_block(*self._lanes, others, many, block)
        return block if others is rows else np.ascontiguousarray(block.T)

    @cached_property
    def _lanes(self) -> tuple[EditLanes, EditShape] | None:
        """Training series of one channel and one length, as the kernels for many pairs take them; None for others."""
        series, edits = self._column_edits, self._edits
        return (double_lanes(series, edits), edit_shape(series, edits)) if fits_lanes(series) else None

    def _compute_matrix(self, matrix: np.ndarray, n_jobs: int | None) -> None:
        """Compute the distances of all training series, many at a time where they have one channel and one length."""
        if self._lanes is None:
            Space.write_matrix(self, matrix, n_jobs=n_jobs)
            return
        upper, write = np.zeros(self.shape), kernels.elastic_lanes.edit_matrix
        in_threads(n_jobs)(delayed(write)(*self._lanes, stripe, STRIPES, upper) for stripe in range(STRIPES))
        np.add(upper, upper.T, out=matrix)

    def _can_abandon(self) -> bool:
        """Whether series are compared pair by pair; many at a time are faster without abandoning."""
        return self._lanes is None

    def _write_within(self, column: int, cutoffs: np.ndarray, distances: np.ndarray) -> tuple[int, int, int]:
        """Write the distances of all training series to one; return the pairs bounded, abandoned and computed."""
        n, write = self.shape[0], self._pair_distances()
        return write(np.full(n, column), np.arange(n), cutoffs, distances)

    def _block(self, rows: Rows, columns: Rows, *, upper: bool) -> np.ndarray:
        row_indices, column_indices = np.arange(self.shape[0])[rows], np.arange(self.shape[1])[columns]
        return kernels.elastic.elastic_block(
            self._row_edits, row_indices, self._column_edits, column_indices, self._edits, upper
        )

    def compare(self, row: int, column: int) -> PairComparison:
        """Return the best alignment; under "msm" with several channels, without a common path, the distance alone."""
        if self.metric == "msm" and self._columns.n_channels > 1:
            return PairComparison(self._distance(row, column))
        a, b = self._edit_series(self._rows[[row]]), self._edit_series(self._columns[[column]])
        radius = kernels.elastic.edit_radius(len(a.values), len(b.values), self._edits)
        pairs, costs = kernels.alignment.align_edits(a.values, b.values, a.skips, b.skips, radius, self._edits)
        if self.metric == "erp":
            # The first pair are the gap values before the series.
            pairs, costs = np.maximum(pairs[1:] - 1, -1), costs[1:]
        return Alignment(self._distance(row, column), pairs, costs, 1)

    @property
    def movable(self) -> None:
        """None: series do not move under edit distances."""
        return None

    def moving_among(self, objects: Any) -> tuple[MovableObjects, Moved] | None:
        """None: series do not move under edit distances."""
        return None

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the prepared column series and the arguments."""
        values = {name: value for name, value in self._parameters.items() if name not in ("gap", "factors")}
        arrays = {"values": self._columns.values, "starts": self._columns.starts, "gap": self._parameters["gap"]}
        return values, arrays

    @classmethod
    def from_state(cls, metric: str, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Space without rows, whose columns are the stored series."""
        parameters = _check_parameters(values)
        series = Series(arrays["values"], arrays["starts"])
        check_stored(series, metric)
        gap = _check_gap(arrays["gap"], series.n_channels)
        return cls(metric, series[:0], series, parameters | {"gap": gap, "factors": None})

    def _nearest_search(self, columns: np.ndarray) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Search for the nearest of the columns to given rows, by lower bounds and abandoning."""
        a, b, edits = self._row_edits, self._column_edits, self._edits
        is_equal = self._columns.equal_length and (self._rows.lengths == self._columns.lengths[0]).all()
        longest = max(np.diff(series.starts).max(initial=1) for series in (a, b))
        a_bounds, b_bounds = (bounds_of(series, edits, longest, equal=bool(is_equal)) for series in (a, b))
        nearest = kernels.elastic_search.nearest_elastic
        return lambda rows: nearest(a, rows, a_bounds, b, columns, b_bounds, edits)

    def _kneighbors(
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Find exact neighbours by lower bounds and abandoning; the result has counters of both."""
        if self._remembered is not None:
            return self._remembered_neighbors(n_neighbors, limit, n_jobs)
        search = ElasticSearch(self._column_edits, self._edits, n_neighbors, limit, n_jobs, progress)
        return self._with_all_ties(search.lists(), n_neighbors, limit, n_jobs)

    def _pair_distances(self) -> PairDistances:
        """Distances of pairs of training series within cut-offs."""
        return partial(kernels.series_pairs.edited_pairs, self._column_edits, self._edits)


def _lengths_of(steps: np.ndarray) -> np.ndarray:
    """Euclidean length of each row; a row is a number where there is one channel."""
    return np.abs(steps) if steps.ndim == 1 else np.sqrt(np.square(steps).sum(axis=1))


def _check_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "window": check_window(given.get("window")),
        "normalize": check_flag("metric_params: normalize", given.get("normalize", False)),
        "c": _check_cost("c", given.get("c", 1.0), "1 is usual"),
        "nu": _check_cost("nu", given.get("nu", 0.001), "0.001 is usual"),
        "lmbda": _check_cost("lmbda", given.get("lmbda", 1.0), "1 is usual"),
    }


def _check_cost(name: str, cost: Any, remedy: str) -> float:
    number = as_float(cost)
    if 0 <= number <= LARGEST:
        return number
    raise ValueError(f"metric_params: {name}={cost!r} must be a number from 0 to {LARGEST:g}; {remedy}")


def _check_gap(gap: Any, n_channels: int) -> np.ndarray:
    gaps = as_numbers("metric_params: gap", [gap] * n_channels if is_number(gap) else gap)
    if gaps.shape != (n_channels,) or not (np.abs(gaps) <= LARGEST).all():
        raise ValueError(
            f"metric_params: gap={gap!r} must be a number, or one for each of the {n_channels} channels, from "
            f"{-LARGEST:g} to {LARGEST:g}; 0 is usual"
        )
    return gaps


METRICS = (
    Dissimilarity("erp", ElasticSpace, "series", ("window", "gap", "normalize"), ragged=True, bounds=True),
    Dissimilarity("msm", ElasticSpace, "series", ("window", "c", "normalize"), ragged=True, bounds=True),
    Dissimilarity("twe", ElasticSpace, "series", ("window", "nu", "lmbda", "normalize"), ragged=True, bounds=True),
)
