"""Shares of the classes and cuts of a ranking."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protoset.selectors.allocation import ALLOCATIONS, allocate, cut, resolve_size

class_sizes = st.lists(st.integers(1, 40), min_size=1, max_size=6).map(np.array)


@given(class_sizes, st.data(), st.sampled_from(["proportional", "equal"]))
def test_places_are_kept_and_every_class_has_one(sizes, data, allocation):
    k = data.draw(st.integers(len(sizes), int(sizes.sum())))
    places = allocate(k, sizes, allocation)
    assert places.sum() == k
    assert (places >= 1).all()
    assert (places <= sizes).all()


@given(class_sizes, st.data())
def test_proportional_is_by_largest_remainder_where_no_class_is_too_small(sizes, data):
    k = data.draw(st.integers(len(sizes), int(sizes.sum())))
    quota = k * sizes / sizes.sum()
    places = allocate(k, sizes, "proportional")
    if (quota >= 1).all():
        assert (np.abs(places - quota) < 1 + 1e-9).all()
        remainders = np.round(quota - np.floor(quota), 9)
        up, down = remainders[places > np.floor(quota)], remainders[(places == np.floor(quota))]
        if len(up) and len(down):
            assert up.min() >= down.max() - 1e-9


@given(class_sizes, st.data())
def test_equal_is_as_level_as_the_members_allow(sizes, data):
    k = data.draw(st.integers(len(sizes), int(sizes.sum())))
    places = allocate(k, sizes, "equal")
    not_full = places[places < sizes]
    if len(not_full):
        assert places.max() - not_full.min() <= 1


@pytest.mark.parametrize(
    ("k", "sizes", "allocation", "expected"),
    [
        (3, [2, 3], "proportional", [1, 2]),
        (4, [50, 50, 50], "proportional", [2, 1, 1]),
        (5, [90, 9, 1], "proportional", [3, 1, 1]),
        (10, [90, 9, 1], "proportional", [8, 1, 1]),
        (7, [90, 9, 1], "equal", [3, 3, 1]),
        (6, [2, 2, 2], "equal", [2, 2, 2]),
    ],
)
def test_literal_shares(k, sizes, allocation, expected):
    assert allocate(k, np.array(sizes), allocation).tolist() == expected


@given(st.integers(0, 999), st.integers(4, 40), st.data())
def test_a_cut_takes_the_best_of_each_class(seed, n, data):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([[0, 1, 2], rng.integers(0, 3, n - 3)])
    ranking = rng.permutation(n)
    k = data.draw(st.integers(3, n))
    allocation = data.draw(st.sampled_from(ALLOCATIONS))
    kept = cut(ranking, codes, k, allocation)
    assert len(kept) == k
    assert (np.diff(kept) > 0).all()
    place = np.argsort(ranking)
    groups = [np.arange(n)] if allocation == "global" else [np.flatnonzero(codes == code) for code in range(3)]
    for members in groups:
        inside = np.isin(members, kept)
        if inside.any() and not inside.all():
            assert place[members[inside]].max() < place[members[~inside]].min()


@pytest.mark.parametrize(
    ("n_prototypes", "allocation", "expected"),
    [
        (7, "proportional", 7),
        (0.1, "proportional", 10),
        (0.001, "proportional", 3),
        (0.001, "global", 1),
        (1.0, "equal", 100),
    ],
)
def test_sizes(n_prototypes, allocation, expected):
    assert resolve_size(n_prototypes, np.array([60, 30, 10]), allocation) == expected
