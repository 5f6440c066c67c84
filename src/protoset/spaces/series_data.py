"""Series as they are given: checked, normalised, differentiated, laid out one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from protoset._arrays import row_pointers
from protoset._validation import LARGEST, name_rows, refuse_masked


@dataclass(frozen=True, eq=False)
class Series:
    """Series one after the other.

    Attributes
    ----------
    values : ndarray of shape (n_points,) or (n_points, n_channels)
    starts : ndarray of int64, shape (n_series + 1,)
        Where each series starts.
    """

    values: np.ndarray
    starts: np.ndarray

    def __len__(self) -> int:
        """Count the series."""
        return len(self.starts) - 1

    @property
    def lengths(self) -> np.ndarray:
        """Number of points of each series."""
        return np.diff(self.starts)

    @property
    def n_channels(self) -> int:
        """Number of values of a point."""
        return 1 if self.values.ndim == 1 else self.values.shape[1]

    @property
    def equal_length(self) -> bool:
        """Whether all series are equally long."""
        return len(np.unique(self.lengths)) == 1

    def take(self, indices: np.ndarray) -> Series:
        """Return the given series."""
        parts = [self.values[self.starts[i] : self.starts[i + 1]] for i in indices]
        values = np.concatenate(parts) if parts else self.values[:0]
        return Series(values, row_pointers(self.lengths[indices]))


def prepare_series(X: Any, metric: str, parameters: Mapping[str, Any]) -> Series:
    """Check series, normalise them and take derivatives where that is asked for."""
    parts = _as_list(X)
    _check_points(parts)
    if parameters["normalize"]:
        parts = [_normalised(part) for part in parts]
    if metric == "ddtw":
        short = np.flatnonzero([len(part) < 3 for part in parts])
        if len(short):
            raise ValueError(f"metric='ddtw' needs series of at least 3 points; {name_rows(short)} of X have fewer")
        parts = [((part[1:-1] - part[:-2]) + (part[2:] - part[:-2]) / 2) / 2 for part in parts]
    lengths = np.array([len(part) for part in parts])
    if metric == "series_euclidean" and len(np.unique(lengths)) > 1:
        raise ValueError(
            f"metric='series_euclidean' needs series of one length, got lengths from {lengths.min()} to "
            f"{lengths.max()}; use metric='dtw', or cut or resample them"
        )
    values = np.concatenate(parts)
    return Series(np.ascontiguousarray(values[:, 0] if values.shape[1] == 1 else values), row_pointers(lengths))


def _as_list(X: Any) -> list[np.ndarray]:
    """Return series as arrays of shape (points, channels)."""
    refuse_masked(X)
    if hasattr(X, "iloc"):
        X = X.to_numpy()
    if sparse.issparse(X):
        raise TypeError("Sparse data was passed for X, but series are dense; use X.toarray()")
    if isinstance(X, np.ndarray) and X.dtype.kind != "O":
        if X.ndim not in (2, 3):
            raise ValueError(
                f"Expected 2D array (series, points) or 3D array (series, channels, points), got the shape {X.shape}. "
                "Reshape your data: a single series with X.reshape(1, -1)"
            )
        return [_one_series(series, row) for row, series in enumerate(X)]
    if not hasattr(X, "__len__") or isinstance(X, (str, bytes, set, frozenset, dict)):
        raise TypeError(f"X={type(X).__name__} is not understood; pass series as an array or a list of arrays")
    return [_one_series(series, row) for row, series in enumerate(X)]


def _one_series(series: Any, row: int) -> np.ndarray:
    refuse_masked(series)
    try:
        array = np.asarray(series)
        if array.dtype.kind == "O" and not any(isinstance(value, (str, bytes)) for value in array.flat):
            array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"row {row} of X is not a series of numbers: {error}") from error
    if array.dtype.kind not in "fiub":
        raise TypeError(f"row {row} of X is not a series of numbers: it has the dtype {array.dtype}")
    if array.ndim not in (1, 2):
        raise ValueError(f"row {row} of X has the shape {array.shape}; a series is 1-D, or 2-D as (channels, points)")
    return (array[:, None] if array.ndim == 1 else array.T).astype(np.float64)


def _check_points(parts: list[np.ndarray]) -> None:
    if not parts:
        raise ValueError("Found array with 0 sample(s) (shape=(0,)) while a minimum of 1 is required.")
    empty = np.flatnonzero([part.size == 0 for part in parts])
    if len(empty):
        raise ValueError(f"X holds series without points in {name_rows(empty)}; remove them")
    channels = np.array([part.shape[1] for part in parts])
    other = np.flatnonzero(channels != channels[0])
    if len(other):
        raise ValueError(
            f"the series of X have {channels[0]} channels in row 0, but other numbers in {name_rows(other)}; "
            "pass the same channels for every series"
        )
    bad = np.flatnonzero([not np.isfinite(part).all() for part in parts])
    if len(bad):
        raise ValueError(
            f"Input X contains NaN or infinity in {name_rows(bad)}; fill the gaps in, "
            "or pass series of unequal lengths as a list of arrays without padding"
        )
    large = np.flatnonzero([np.abs(part).max() > LARGEST for part in parts])
    if len(large):
        raise ValueError(f"X holds values above {LARGEST:g} in {name_rows(large)}, whose squares overflow; scale X")


def _normalised(part: np.ndarray) -> np.ndarray:
    centred = part - part.mean(axis=0)
    deviation = part.std(axis=0)
    constant = part.max(axis=0) == part.min(axis=0)
    return np.where(constant, 0.0, centred / np.where(deviation > 0, deviation, 1.0))
