"""RMHC and SSMA against KEEL's own results: random searches agree on average only."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.keel import reference_folds
from protoset.selectors import RMHC, SSMA


@pytest.fixture(scope="module")
def folds(data_folder):
    folder = data_folder.parent / "reference"
    if not folder.is_dir():
        pytest.skip(f"no reference results: {folder} is not there")
    return list(reference_folds(folder))


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


def test_hill_climbing_as_keel(folds):
    error, rate, keel_error, keel_rate = means(folds, RMHC(), "RMHC", range(3))
    assert abs(error - keel_error) < 0.03
    assert abs(rate - keel_rate) < 0.03


@pytest.mark.slow
def test_memetic_search_as_keel(folds):
    error, rate, keel_error, keel_rate = means(folds, SSMA(), "SSMA", range(3))
    assert abs(error - keel_error) < 0.03
    assert abs(rate - keel_rate) < 0.03


def test_a_short_memetic_search_as_keel(folds):
    """A single seed, and a fifth of the evaluations, which come close to what all of them find."""
    error, rate, keel_error, keel_rate = means(folds, SSMA(max_evaluations=2000), "SSMA", range(1))
    assert abs(error - keel_error) < 0.03
    assert abs(rate - keel_rate) < 0.03
