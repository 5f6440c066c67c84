"""FCNN and CNN: against literal versions, and consistent."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from protoset.selectors import CNN, FCNN
from protoset.selectors.base import TIE_RULES
from protoset.selectors.fcnn import fcnn
from protoset.selectors.ties import MajorityVote
from protoset.spaces import make_space

from conftest import distinct_vectors, labelled_vectors, tied_vote, vote, without_copies


def literal_fcnn(matrix, codes, k, tie_rule="row_order"):
    n = len(codes)
    members, added = [], []
    for code in sorted(set(codes)):
        own = [i for i in range(n) if codes[i] == code]
        added.append(min(own, key=lambda i: (sum(matrix[j, i] for j in own), i)))
    while added:
        members += added
        misled = {}
        for i in range(n):
            if i in members:
                continue
            nearest = sorted(members, key=lambda j: (matrix[i, j], j))[:k]
            winner = vote(nearest, codes) if tie_rule == "row_order" else tied_vote(matrix, i, members, k, codes)
            if winner != codes[i]:
                for j in nearest:
                    misled.setdefault(j, []).append(i)
        added = sorted({min(wrong, key=lambda i: (matrix[i, j], i)) for j, wrong in misled.items()})
    return sorted(members)


def literal_cnn(matrix, codes, order, tie_rule):
    members = [order[0]]
    while True:
        before = len(members)
        for i in order:
            if i not in members:
                nearest = min(members, key=lambda j: (matrix[i, j], j))
                by_rows = tie_rule == "row_order"
                if (codes[nearest] if by_rows else tied_vote(matrix, i, members, 1, codes)) != codes[i]:
                    members.append(i)
        if len(members) == before:
            return sorted(members)


def is_consistent(X, y, kept):
    """Whether the nearest kept object has the label of each object that no other label's object equals."""
    matrix = cdist(X, X)
    codes = np.unique(y, return_inverse=True)[1]
    nearest = kept[MajorityVote(codes[kept], np.ones(len(kept)), np.bincount(codes).astype(float))(matrix[:, kept])]
    contradicted = ((matrix == 0) & (y[:, None] != y[None, :])).any(axis=1)
    return bool(np.all((y[nearest] == y) | contradicted))


@given(labelled_vectors(tied=False), st.integers(1, 3))
def test_fcnn_is_the_literal_one(data, k):
    X, y = data
    matrix = cdist(X, X)
    found, _ = fcnn(make_space(matrix, "precomputed"), y, n_neighbors=k)
    assert found.tolist() == literal_fcnn(matrix, y, k)


@pytest.mark.parametrize("tie_rule", TIE_RULES)
@given(data=labelled_vectors(tied=True), k=st.integers(1, 3))
def test_fcnn_is_the_literal_one_on_ties(tie_rule, data, k):
    X, y = data
    matrix = cdist(X, X, "cityblock")
    found, _ = fcnn(make_space(matrix, "precomputed"), y, n_neighbors=k, tie_rule=tie_rule)
    assert found.tolist() == literal_fcnn(matrix, y, k, tie_rule)


@pytest.mark.parametrize("tie_rule", TIE_RULES)
@given(data=labelled_vectors(tied=True), seed=st.integers(0, 5))
def test_cnn_is_the_literal_one(tie_rule, data, seed):
    X, y = data
    matrix = cdist(X, X, "cityblock")
    in_order = CNN(metric="cityblock", tie_rule=tie_rule).fit(X, y)
    expected = without_copies(literal_cnn(matrix, y, range(len(y)), tie_rule), X, y, tie_rule)
    assert in_order.sample_indices_.tolist() == expected
    order = np.random.RandomState(seed).permutation(len(y))
    shuffled = CNN(metric="cityblock", tie_rule=tie_rule, random_state=seed).fit(X, y)
    expected = without_copies(literal_cnn(matrix, y, order, tie_rule), X, y, tie_rule)
    assert shuffled.sample_indices_.tolist() == expected


@given(labelled_vectors(max_objects=60, tied=True), st.sampled_from([FCNN(), FCNN(start="medoid"), CNN()]))
def test_condensed_sets_are_consistent(data, selector):
    X, y = distinct_vectors(data)
    assert is_consistent(X, y, selector.fit(X, y).sample_indices_)


def test_a_start_without_coordinates():
    X = np.abs(np.arange(6)[:, None] - np.arange(6)[None, :]).astype(float)
    with pytest.raises(ValueError, match="start='centroid' needs objects with coordinates.*pass start='medoid'"):
        FCNN(start="centroid", metric="precomputed").fit(X, [0, 0, 0, 1, 1, 1])
    assert len(FCNN(metric="precomputed").fit(X, [0, 0, 0, 1, 1, 1]).sample_indices_) == 2


def test_the_start_is_the_member_nearest_to_the_mean_or_to_the_others():
    X = np.array([[0.0], [1.0], [10.0], [5.4], [100.0], [100.0]])
    y = np.array([0, 0, 0, 0, 1, 1])
    assert FCNN(start="centroid").fit(X, y).sample_indices_.tolist() == [3, 4]  # the mean is 4.1
    assert FCNN(start="medoid").fit(X, y).sample_indices_.tolist() == [1, 4]


def test_distances_are_counted():
    X, y = np.array([[0.0], [1.0], [10.0], [11.0]]), np.array([0, 0, 1, 1])
    # Two means to two members each, then two objects outside to two members.
    assert FCNN().fit(X, y).n_distances_ == 2 * 2 + 2 * 2


@pytest.mark.parametrize("k", [1, 2, 3])
def test_keels_results(keel_folds, k):
    """KEEL's own numbers of prototypes: every one of them for k = 1, where no vote is tied."""
    ours, theirs = [], []
    for fold in keel_folds:
        X, y = fold.train
        kept = FCNN(k, start="centroid", tie_rule="row_order").fit(X, y).sample_indices_
        ours.append(len(kept) / len(y))
        theirs.append(fold.keel[f"FCNN{k}"][0] / len(y))
        if k == 1:
            assert len(kept) == fold.keel["FCNN1"][0], f"{fold.data}, fold {fold.fold}"
            assert is_consistent(X, y, kept)
    assert abs(np.mean(ours) - np.mean(theirs)) < 0.03
