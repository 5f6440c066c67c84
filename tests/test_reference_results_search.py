"""RMHC and SSMA against KEEL's own results: random searches agree on average only."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from protoset.selectors import RMHC, SSMA


def means(folds, selector, name, seeds):
    """Error and selection rate of the library and of KEEL, as means over the data sets."""
    by_data = {}
    for fold in folds:
        X, y = fold.train
        for seed in seeds:
            kept = selector.set_params(random_state=seed).fit(X, y).sample_indices_
            wrong = KNeighborsClassifier(1).fit(X[kept], y[kept]).predict(fold.test[0]) != fold.test[1]
            n_keel, keel_error = fold.keel[name]
            row = (wrong.mean(), len(kept) / len(y), keel_error, n_keel / len(y))
            by_data.setdefault(fold.data, []).append(row)
    return np.mean([np.mean(rows, axis=0) for rows in by_data.values()], axis=0)


def test_hill_climbing_as_keel(keel_folds):
    error, rate, keel_error, keel_rate = means(keel_folds, RMHC(tie_rule="row_order"), "RMHC", range(3))
    assert abs(error - keel_error) < 0.03
    assert abs(rate - keel_rate) < 0.03


@pytest.mark.slow
def test_memetic_search_as_keel(keel_folds):
    error, rate, keel_error, keel_rate = means(keel_folds, SSMA(), "SSMA", range(3))
    assert abs(error - keel_error) < 0.03
    assert abs(rate - keel_rate) < 0.03
