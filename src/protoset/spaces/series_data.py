"""Reading of time series: checks, normalisation, derivatives, and their layout one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from protoset import kernels
from protoset._arrays import row_pointers
from protoset._frames import is_frame, is_series
from protoset._validation import LARGEST, input_error, name_rows, refuse_ambiguous
from protoset.spaces.base import Rows

if TYPE_CHECKING:
    from protoset.kernels.series import SeriesArrays


DERIVATIVE_GROWTH = 2
"""Largest factor between the values of a series and its derivatives (see ``prepare_series``)."""


@dataclass(frozen=True, eq=False)
class Series:
    """Series one after the other; series i has the points ``starts[i]`` to ``starts[i + 1]``."""

    values: np.ndarray
    starts: np.ndarray

    def __len__(self) -> int:
        """Count the series."""
        return len(self.starts) - 1

    @property
    def arrays(self) -> SeriesArrays:
        """The series, as the kernels take them."""
        return kernels.series.SeriesArrays(self.values, self.starts)

    @cached_property
    def lengths(self) -> np.ndarray:
        """Number of points of each series."""
        return np.diff(self.starts)

    @property
    def n_channels(self) -> int:
        """Number of values of a point."""
        return 1 if self.values.ndim == 1 else self.values.shape[1]

    @cached_property
    def equal_length(self) -> bool:
        """Whether all series are equally long."""
        return len(np.unique(self.lengths)) == 1

    def __getitem__(self, which: Rows) -> Series:
        """Return the given series."""
        indices = np.arange(len(self))[which]
        chosen = [self.values[self.starts[i] : self.starts[i + 1]] for i in indices]
        values = np.concatenate(chosen) if chosen else self.values[:0]
        return Series(values, row_pointers(self.lengths[indices]))


def prepare_series(X: Any, metric: str, parameters: Mapping[str, Any]) -> Series:
    """Check series, normalise them and take derivatives where that is asked for."""
    X = _plain_series(X)
    if isinstance(X, np.ndarray) and X.dtype.kind != "O":
        points = _points_of(X)
        if metric != "ddtw" and not parameters["normalize"] and points.size and _in_range(points):
            return series_in_turn(points.reshape(-1, points.shape[2]), np.full(len(points), points.shape[1]))
        series = list(points)
    else:
        series = [_one_series(row, number) for number, row in enumerate(X)]
    values = _check_points(series)
    if parameters["normalize"]:
        series = [_normalised(points) for points in series]
    if metric == "ddtw":
        short = np.flatnonzero([len(points) < 3 for points in series])
        if len(short):
            raise ValueError(f"metric='ddtw' needs series of at least 3 points; {name_rows(short)} of X have fewer")
        series = [((points[1:-1] - points[:-2]) + (points[2:] - points[:-2]) / 2) / 2 for points in series]
    lengths = np.array([len(points) for points in series])
    if metric == "series_euclidean" and len(np.unique(lengths)) > 1:
        raise ValueError(
            f"metric='series_euclidean' needs series of one length, got lengths from {lengths.min()} to "
            f"{lengths.max()}; use metric='dtw', or cut or resample them"
        )
    if parameters["normalize"] or metric == "ddtw":
        values = np.concatenate(series)
    return series_in_turn(values, lengths)


def series_in_turn(values: np.ndarray, lengths: np.ndarray) -> Series:
    """Series whose points follow each other in an array of shape (points, channels)."""
    return Series(np.ascontiguousarray(values[:, 0] if values.shape[1] == 1 else values), row_pointers(lengths))


def check_stored(series: Series, metric: str) -> None:
    """Raise an error for series from a file that ``prepare_series`` cannot have made."""
    values, starts = series.values, series.starts
    if values.dtype != np.float64 or values.ndim not in (1, 2) or not values.size:
        raise ValueError("its series are not points of float64")
    if starts.dtype != np.int64 or starts.ndim != 1 or len(starts) < 2:
        raise ValueError("the starts of its series are not positions")
    # First the range, as differences of numbers outside it could overflow.
    inside = starts[0] == 0 and starts[-1] == len(values) and starts.min() >= 0 and starts.max() <= len(values)
    if not inside or (series.lengths < 1).any():
        raise ValueError("the starts of its series do not fit their points")
    if not max(abs(float(values.min())), abs(float(values.max()))) <= DERIVATIVE_GROWTH * LARGEST:
        raise ValueError("its series hold NaN, infinity or numbers that are too large")
    if metric == "series_euclidean" and not series.equal_length:
        raise ValueError("its series differ in length")


def _plain_series(X: Any) -> Any:
    """Return the series of a table as an array, others as they are; refuse what cannot be series."""
    refuse_ambiguous(X)
    if is_frame(X) or is_series(X):
        X = X.to_numpy()
    if sparse.issparse(X):
        raise TypeError("Sparse data was passed for X, but series are dense; use X.toarray()")
    if not hasattr(X, "__len__") or isinstance(X, (str, bytes, set, frozenset, dict)):
        raise TypeError(f"X={type(X).__name__} is not understood; pass series as an array or a list of arrays")
    return X


def _points_of(X: np.ndarray) -> np.ndarray:
    """Return series in an array of numbers as an array of shape (series, points, channels)."""
    if X.ndim not in (2, 3):
        raise ValueError(
            f"Expected 2D array (series, points) or 3D array (series, channels, points), got the shape {X.shape}. "
            "Reshape your data: a single series with X.reshape(1, -1)"
        )
    if len(X):
        _one_series(X[0], 0)  # refuses what is no number; the other rows have the same type
    return np.array(X[:, :, None] if X.ndim == 2 else X.swapaxes(1, 2), np.float64, order="C")


def _one_series(series: Any, row: int) -> np.ndarray:
    refuse_ambiguous(series)
    try:
        array = np.asarray(series)
        if array.dtype.kind == "O" and not any(isinstance(value, (str, bytes)) for value in array.flat):
            array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise input_error(f"row {row} of X is not a series of numbers: {error}", error) from error
    if array.dtype.kind not in "fiub":
        raise TypeError(f"row {row} of X is not a series of numbers: it has the dtype {array.dtype}")
    if array.ndim not in (1, 2):
        raise ValueError(f"row {row} of X has the shape {array.shape}; a series is 1-D, or 2-D as (channels, points)")
    return (array[:, None] if array.ndim == 1 else array.T).astype(np.float64)


def _in_range(values: np.ndarray) -> bool:
    """Whether no value is NaN or too large."""
    return bool(max(-values.min(), values.max()) <= LARGEST)  # both are NaN if there is a NaN


def _check_points(series: list[np.ndarray]) -> np.ndarray:
    """Return the points of all series, one after the other; refuse series that cannot be compared."""
    if not series:
        raise ValueError("Found array with 0 sample(s) (shape=(0,)) while a minimum of 1 is required.")
    empty = np.flatnonzero([points.size == 0 for points in series])
    if len(empty):
        raise ValueError(f"X holds series without points in {name_rows(empty)}; remove them")
    channels = np.array([points.shape[1] for points in series])
    other = np.flatnonzero(channels != channels[0])
    if len(other):
        raise ValueError(
            f"the series of X have {channels[0]} channels in row 0, but other numbers in {name_rows(other)}; "
            "pass the same channels for every series"
        )
    values = np.concatenate(series)
    if _in_range(values):
        return values
    # Rows are looked for only where there is an error.
    bad = np.flatnonzero([not np.isfinite(points).all() for points in series])
    if len(bad):
        raise ValueError(
            f"Input X contains NaN or infinity in {name_rows(bad)}; fill the gaps in, "
            "or pass series of unequal lengths as a list of arrays without padding"
        )
    large = np.flatnonzero([np.abs(points).max() > LARGEST for points in series])
    raise ValueError(f"X holds values above {LARGEST:g} in {name_rows(large)}, whose squares overflow; scale X")


def _normalised(points: np.ndarray) -> np.ndarray:
    # Squares of very small numbers would be 0. A power of 2 changes no digit.
    points = np.ldexp(points, -np.frexp(np.abs(points).max(axis=0))[1])
    centred = points - points.mean(axis=0)
    deviation = points.std(axis=0)
    constant = points.max(axis=0) == points.min(axis=0)
    return np.where(constant, 0.0, centred / np.where(deviation > 0, deviation, 1.0))
