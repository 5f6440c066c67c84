"""Scalers, encoders and imputers of scikit-learn: the values that they learn, and steps that are made of these values.

Private attributes differ between versions of scikit-learn, so files hold none of them. To restore a step, it is fitted
to a few made-up rows, and then gets its learned values under the names of scikit-learn's documentation.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder, RobustScaler, StandardScaler

from protoset._step_values import as_number_dtype

MOST_CELLS = 10**7
"""Largest table that an encoder with infrequent categories is fitted to while it is restored."""

SCALED: dict[type, tuple[str, ...]] = {
    StandardScaler: ("mean_", "var_", "scale_", "n_samples_seen_"),
    MinMaxScaler: ("min_", "scale_", "data_min_", "data_max_", "data_range_", "n_samples_seen_"),
    RobustScaler: ("center_", "scale_"),
}
"""Values that scalers learn."""


class StepKind(NamedTuple):
    """How the steps of one class are written and restored."""

    make: type[BaseEstimator]
    """The class."""
    learned: Callable[[Any], dict[str, Any]]
    """Returns the values that a fitted step learned."""
    restore: Callable[[Any, dict[str, Any], int], None]
    """Makes a step a fitted step, from its learned values and the number of its input columns."""


def check_fits(condition: bool, name: str) -> None:
    """Refuse a learned value that does not fit to its step."""
    if not condition:
        raise ValueError(f"a step does not work with its {name}")


def is_array(value: Any, length: int, kinds: str) -> bool:
    """Whether a value is a one-dimensional array of a length and of one of the kinds of dtypes."""
    return isinstance(value, np.ndarray) and value.shape == (length,) and value.dtype.kind in kinds


def _scaler_values(step: Any) -> dict[str, Any]:
    return {name: getattr(step, name) for name in SCALED[type(step)]}


def _restore_scaler(step: Any, learned: dict[str, Any], n_features: int) -> None:
    step.fit(np.zeros((2, 1)))
    for name in SCALED[type(step)]:
        value = learned[name]
        if name == "n_samples_seen_":
            count = np.asarray(value)
            check_fits(count.dtype.kind in "iuf" and count.shape in ((), (n_features,)), name)
        else:
            # StandardScaler(with_std=False) has a variance after dense rows, and none after a sparse matrix.
            absent = value is None and (getattr(step, name) is None or name in ("mean_", "var_"))
            check_fits(absent or is_array(value, n_features, "f"), name)
        setattr(step, name, value)
    divides = type(step) is not MinMaxScaler and step.scale_ is not None
    check_fits(not divides or bool((step.scale_ != 0).all()), "scale of 0")


def _encoder_values(step: OneHotEncoder) -> dict[str, Any]:
    values: dict[str, Any] = {"categories_": list(step.categories_), "drop_idx_": None, "infrequent": None}
    if step.drop is not None and not isinstance(step.drop, str):
        values["drop_idx_"] = [int(index) for index in step.drop_idx_]
    if hasattr(step, "infrequent_categories_"):
        pairs = zip(step.categories_, step.infrequent_categories_, strict=True)
        values["infrequent"] = [[] if rare is None else _positions(rare, categories) for categories, rare in pairs]
    return values


def _positions(values: np.ndarray, categories: np.ndarray) -> list[int]:
    """Return the positions of values among categories; NaN is a value."""
    where = {"nan" if value != value else (value,): position for position, value in enumerate(categories.tolist())}
    return [where["nan" if value != value else (value,)] for value in values.tolist()]


def _restore_encoder(step: OneHotEncoder, learned: dict[str, Any], n_features: int) -> None:
    """Fit an encoder to the numbers of its categories, then give it the categories."""
    categories, infrequent = learned["categories_"], learned["infrequent"]
    check_fits(np.dtype(step.dtype).kind in "fiub", f"dtype {step.dtype!r}")
    check_fits(isinstance(categories, list) and len(categories) == n_features, "categories_")
    for values in categories:
        _check_categories(values)
    parameters = step.get_params()
    step.set_params(categories=[np.arange(len(values)) for values in categories], handle_unknown="ignore")
    step.set_params(min_frequency=None, max_categories=None)
    if isinstance(learned["drop_idx_"], list):
        step.set_params(drop=learned["drop_idx_"])
    codes = np.zeros((1, n_features), int)
    if infrequent is not None:
        check_fits(isinstance(infrequent, list) and len(infrequent) == n_features, "infrequent categories")
        if any(infrequent):
            # A category that does not occur is infrequent.
            codes = _frequent_codes([len(values) for values in categories], infrequent)
            step.set_params(min_frequency=1)
        else:
            step.set_params(max_categories=max(map(len, categories)) + 1)
    step.fit(codes)
    step.set_params(**parameters)
    step.categories_ = categories


def _check_categories(values: Any) -> None:
    known = isinstance(values, np.ndarray) and values.ndim == 1 and len(values) and values.dtype.kind in "OUfiub"
    check_fits(bool(known), "categories_")
    if values.dtype.kind in "fiub":
        # scikit-learn searches in sorted numbers; NaN is the last.
        numbers = values[:-1] if values[-1] != values[-1] else values
        check_fits(bool((numbers[1:] > numbers[:-1]).all()) and not np.isnan(numbers).any(), "order of categories_")
    else:
        plain = [value for value in values.tolist() if value == value]
        check_fits(len(values) - len(plain) <= 1 and len(set(plain)) == len(plain), "equal categories_")


def _frequent_codes(n_categories: list[int], infrequent: list[list[int]]) -> np.ndarray:
    """Return a table in which each frequent category of a column occurs once, and no infrequent category does."""
    n_rows = max(1, *(length - len(rare) for length, rare in zip(n_categories, infrequent, strict=True)))
    check_fits(n_rows * len(n_categories) <= MOST_CELLS, "frequent categories: too many of them in too many columns")
    codes = np.full((n_rows, len(n_categories)), -1)
    for column, (length, rare) in enumerate(zip(n_categories, infrequent, strict=True)):
        frequent = np.setdiff1d(np.arange(length), rare)
        check_fits(len(frequent) == length - len(rare), "infrequent categories")
        codes[: len(frequent), column] = frequent
    return codes


def _imputer_values(step: SimpleImputer) -> dict[str, Any]:
    dtype = step._fit_dtype
    return {
        "statistics_": step.statistics_,
        "dtype": "object" if dtype.kind == "O" else dtype.str,
        "indicated": None if step.indicator_ is None else step.indicator_.features_,
    }


def _restore_imputer(step: SimpleImputer, learned: dict[str, Any], n_features: int) -> None:
    """Fit an imputer to two rows with missing values in the columns that it indicates, then give it its statistics."""
    statistics, indicated = learned["statistics_"], learned["indicated"]
    check_fits(is_array(statistics, n_features, "Ofiu"), "statistics_")
    dtype = np.dtype(object) if learned["dtype"] == "object" else as_number_dtype(learned["dtype"])
    missing, fillers = step.missing_values, ("other", "another") if dtype.kind == "O" else (0, 1)
    first_is_missing = isinstance(missing, (int, float, str, np.generic)) and bool(missing == fillers[0])
    rows = np.full((2, n_features), fillers[first_is_missing], dtype)
    if indicated is not None:
        check_fits(isinstance(indicated, np.ndarray) and indicated.dtype.kind == "i", "indicator")
        if indicated.size:
            rows[0, indicated] = missing
    step.fit(rows)
    features = None if step.indicator_ is None else step.indicator_.features_.tolist()
    check_fits(features == (None if indicated is None else indicated.tolist()), "indicator")
    if statistics.dtype == object and step.statistics_.dtype != object:
        # Before version 1.8 scikit-learn kept constants as numbers.
        statistics = statistics.astype(step.statistics_.dtype)
    step.statistics_ = statistics
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        n_outputs = step.transform(rows).shape[1]
    # Before version 1.8 scikit-learn did not drop columns without values when it filled in constants.
    check_fits(n_outputs == len(step.get_feature_names_out()), "statistics_ of empty columns")


def _no_values(step: Any) -> dict[str, Any]:
    return {}


def _restore_identity(step: FunctionTransformer, learned: dict[str, Any], n_features: int) -> None:
    step.fit(np.zeros((2, 1)))


SIMPLE_KINDS = (
    StepKind(StandardScaler, _scaler_values, _restore_scaler),
    StepKind(MinMaxScaler, _scaler_values, _restore_scaler),
    StepKind(RobustScaler, _scaler_values, _restore_scaler),
    StepKind(OneHotEncoder, _encoder_values, _restore_encoder),
    StepKind(SimpleImputer, _imputer_values, _restore_imputer),
    StepKind(FunctionTransformer, _no_values, _restore_identity),
)
"""Classes of steps that hold no other steps. FunctionTransformer without a function is a fitted "passthrough"."""
