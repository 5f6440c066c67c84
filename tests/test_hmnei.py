"""HMN-EI against a literal reading on a full matrix, and what it promises."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protoset.selectors import HMNEI
from protoset.selectors.hmnei import edit, hmnei
from protoset.spaces import make_space

from conftest import labelled_vectors, overlapping


def pass_literally(D, y, members, epsilon):
    """HMN-E: what stays of the members."""
    labels = sorted(set(y))
    hits, misses = dict.fromkeys(members, 0), dict.fromkeys(members, 0)
    for a in members:
        for label in labels:
            others = sorted((D[a, b], b) for b in members if b != a and y[b] == label)
            if others:
                (hits if y[a] == label else misses)[others[0][1]] += 1
    size = {label: sum(y[m] == label for m in members) for label in labels}
    share = {label: Fraction(size[label], len(members)) for label in labels}
    stays = {m for m in members if not share[y[m]] * misses[m] + epsilon > (1 - share[y[m]]) * hits[m]}
    few = {label for label in labels if sum(y[m] == label for m in stays) < 4}
    linked = {m for m in members if hits[m] + misses[m] > 0}
    stays |= {m for m in linked if y[m] in few}
    if len(labels) > 3:
        stays |= {m for m in linked if misses[m] < Fraction(len(labels), 2)}
    return sorted(stays | {m for m in members if hits[m] >= Fraction(size[y[m]], 4)})


def errors_literally(D, y, members):
    wrong = 0
    for i in range(len(y)):
        others = sorted((D[i, j], j) for j in members if j != i)
        wrong += not others or y[others[0][1]] != y[i]
    return wrong


def hmnei_literally(D, y, epsilon=Fraction(1, 10)):
    members = pass_literally(D, y, list(range(len(y))), epsilon)
    while True:
        fewer = pass_literally(D, y, members, epsilon)
        if fewer == members or errors_literally(D, y, fewer) > errors_literally(D, y, members):
            return members
        members = fewer


def check_against_the_literal_reading(X, y):
    space = make_space(X, "euclidean")
    assert hmnei(space, y)[0].tolist() == hmnei_literally(space.block(slice(None), slice(None)), y)


@given(labelled_vectors())
def test_literal_reading(data):
    check_against_the_literal_reading(*data)


@given(labelled_vectors(tied=True))
def test_literal_reading_with_ties_and_duplicates(data):
    check_against_the_literal_reading(*data)


@pytest.mark.parametrize(("n_classes", "seed"), [(2, 1), (2, 2), (3, 3), (4, 4), (5, 5)])
def test_literal_reading_of_larger_sets(n_classes, seed):
    """Large enough for several passes."""
    check_against_the_literal_reading(*overlapping(80, d=2, n_classes=n_classes, seed=seed))


@given(labelled_vectors() | labelled_vectors(tied=True))
def test_every_class_keeps_something(data):
    X, y = data
    selector = HMNEI().fit(X, y)
    assert set(y[selector.sample_indices_]) == set(y)
    assert len(selector.fallback_classes_) == 0


@given(st.integers(0, 2**32 - 1))
def test_a_pass_drops_what_nobody_has_as_nearest(seed):
    """Without a hit or a miss no rule takes the mark back."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.concatenate([np.arange(5), rng.integers(0, 5, 25)]))
    degrees = rng.integers(0, 3, (30, 5)) * (rng.random((30, 1)) < 0.7)
    assert not edit(degrees, codes, 0.1)[degrees.sum(axis=1) == 0].any()


def test_a_larger_epsilon_drops_more_in_a_pass():
    rng = np.random.default_rng(0)
    codes, degrees = np.arange(60) % 2, rng.integers(0, 9, (60, 2))
    assert edit(degrees, codes, 1.0).sum() < edit(degrees, codes, 0.1).sum()


@pytest.mark.parametrize("epsilon", [0, -0.1, np.inf, np.nan, "small", True, None])
def test_epsilon_is_checked(epsilon):
    with pytest.raises(ValueError, match="epsilon=.* must be a finite number above 0; pass a small number"):
        HMNEI(epsilon=epsilon).fit([[0.0], [1.0]], [0, 1])


def test_asymmetric_matrix():
    """Columns are the prototypes."""
    rng = np.random.default_rng(3)
    D = rng.random((40, 40))
    np.fill_diagonal(D, 0)
    y = rng.permutation(np.arange(40) % 3)
    assert hmnei(make_space(D, "precomputed"), y)[0].tolist() == hmnei_literally(D, y)
