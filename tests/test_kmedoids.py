"""K-medoids: no swap is left that improves, and the loss is what it says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from protoset import kernels
from protoset.selectors import KMedoids, kmedoids
from protoset.selectors.kmedoids import k_medoids
from protoset.spaces import make_space

from conftest import labelled_vectors, overlapping


def loss_of(matrix, medoids):
    return matrix[:, medoids].min(axis=1).sum()


@given(labelled_vectors(max_objects=20, tied=True), st.integers(1, 6), st.integers(0, 99), st.sampled_from([1, 64]))
def test_no_swap_improves(data, k, seed, candidates):
    X, _ = data
    matrix = cdist(X, X, "cityblock")
    everyone = np.arange(len(X))
    start = np.random.default_rng(seed).permutation(everyone)[: min(k, len(X))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kmedoids, "CANDIDATES_PER_BLOCK", candidates)
        found = k_medoids(make_space(matrix, "precomputed"), everyone, start)
    assert found.indices.tolist() == sorted(set(found.indices))
    assert len(found.indices) == len(start)
    assert found.loss == pytest.approx(loss_of(matrix, found.indices))
    assert found.loss <= loss_of(matrix, start) + 1e-9
    for leaving in found.indices:
        for entering in np.setdiff1d(everyone, found.indices):
            swapped = np.append(found.indices[found.indices != leaving], entering)
            assert loss_of(matrix, swapped) >= found.loss - 1e-9


def test_each_class_has_its_own_medoids():
    X, y = overlapping(120, seed=3)
    selector = KMedoids(12, random_state=0).fit(X, y)
    matrix = cdist(X, X)
    losses = 0.0
    for code in range(3):
        members = np.flatnonzero(y == code)
        own = selector.sample_indices_[y[selector.sample_indices_] == code]
        losses += loss_of(matrix[members], own)
    assert selector.loss_ == pytest.approx(losses)
    equal = KMedoids(12, allocation="equal", random_state=0).fit(X, y)
    assert np.bincount(y[equal.sample_indices_]).tolist() == [4, 4, 4]


def test_passes_can_be_limited():
    X, y = overlapping(200, seed=3)
    short, long = (KMedoids(30, max_iter=m, random_state=0).fit(X, y) for m in (1, 100))
    assert short.n_iter_ == 1
    assert long.n_iter_ > 1
    assert long.loss_ <= short.loss_


@given(labelled_vectors(max_objects=15, tied=True), st.integers(2, 5))
def test_kernels(data, k):
    X, _ = data
    matrix = cdist(X, X, "cityblock")
    k = min(k, len(X))
    columns, values = kernels.medoids.two_smallest(matrix[:, :k])
    order = np.argsort(matrix[:, :k], axis=1, kind="stable")[:, :2]
    np.testing.assert_array_equal(columns, order)
    np.testing.assert_array_equal(values, np.take_along_axis(matrix, order, axis=1))
    found, leaving = kernels.medoids.improving_swap(
        np.asfortranarray(matrix), 0, np.arange(len(X)) < k, columns, values, k
    )
    loss = values[:, 0].sum()
    changes = [
        [loss_of(matrix, [*[j for j in range(k) if j != i], candidate]) - loss for i in range(k)]
        for candidate in range(k, len(X))
    ]
    better = [place for place, change in enumerate(changes) if min(change) < -1e-9]
    assert found == (k + better[0] if better else -1)
    if better:
        assert changes[better[0]][leaving] == pytest.approx(min(changes[better[0]]))
