"""The base class of all estimators: plain parameters during a fit, and nested parameters."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from sklearn.base import BaseEstimator


class CheckedEstimator(BaseEstimator):
    """An estimator that works with checked, plain values of its parameters, and keeps the values that users gave."""

    def _check_parameters(self) -> dict[str, Any]:
        """Return the parameters as plain values; raise where a value is wrong."""
        return {}

    @contextmanager
    def _fitting(self) -> Iterator[Self]:
        """Yield a copy with plain parameters to fit, then take over its learned attributes.

        A fit that fails changes nothing.
        """
        plain = copy.copy(self)
        plain.__dict__.update(self._check_parameters())
        # Features of an earlier fit; objects such as arrays and strings have no names, or no features.
        features = ("n_features_in_", "feature_names_in_")
        for name in features:
            plain.__dict__.pop(name, None)
        yield plain
        parameters = self.get_params(deep=False)
        for name in features:
            self.__dict__.pop(name, None)
        self.__dict__.update({name: value for name, value in vars(plain).items() if name not in parameters})

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also of nested estimators, as in ``selector__n_prototypes=10``.

        Returns
        -------
        self
        """
        present = self.get_params(deep=False) | params
        for name in params:
            outer, _, inner = name.partition("__")
            if inner and outer in present and not hasattr(present[outer], "set_params"):
                raise ValueError(
                    f"{name}={params[name]!r} sets a parameter of {outer}={present[outer]!r}, which has no parameters; "
                    f"pass an object first, as in set_params({outer}=...)"
                )
        return super().set_params(**params)
