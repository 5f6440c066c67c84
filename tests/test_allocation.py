"""Shares of the classes and cuts of a ranking."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protoset.selectors.allocation import ALLOCATIONS, allocate, check_size, cut, resolve_size

class_sizes = st.lists(st.integers(1, 40), min_size=1, max_size=6).map(np.array)


@given(class_sizes, st.data(), st.sampled_from(["proportional", "equal"]))
def test_places_are_kept_and_every_class_has_one(sizes, data, allocation):
    k = data.draw(st.integers(len(sizes), int(sizes.sum())))
    places = allocate(k, sizes, allocation)
    assert places.dtype.kind == "i"
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
        (5, [42, 40, 9, 9], "proportional", [2, 1, 1, 1]),  # the small classes have their place from the second
        (7, [90, 9, 1], "equal", [3, 3, 1]),
        (6, [90, 9, 1], "equal", [3, 2, 1]),
        (3, [5, 9], "equal", [1, 2]),  # the place left over goes to the larger class
        (4, [3, 0, 5], "equal", [2, 0, 2]),
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


def test_the_smallest_and_the_largest_size():
    """Each class that has members counts, and no other."""
    sizes = np.array([5, 1, 0, 4])
    assert resolve_size(0.01, sizes, "proportional") == resolve_size(3, sizes, "equal") == 3
    assert resolve_size(10, sizes, "equal") == 10
    with pytest.raises(ValueError, match="n_prototypes=2 is less than the 3 classes"):
        resolve_size(2, sizes, "equal")
    with pytest.raises(ValueError, match="n_prototypes=11 is more than the 10 training objects"):
        resolve_size(11, sizes, "global")


@pytest.mark.parametrize("n_prototypes", [1, 500, np.int64(3), 1e-9, 0.5, 1.0])
def test_counts_and_rates_are_sizes(n_prototypes):
    check_size(n_prototypes)


@pytest.mark.parametrize("n_prototypes", [0, -1, 0.0, 1.5, 2.0, np.nan, "half", None])
def test_other_sizes_are_refused(n_prototypes):
    with pytest.raises(ValueError, match=rf"n_prototypes={n_prototypes!r} .*pass a count .* \(float\)$"):
        check_size(n_prototypes)
    with pytest.raises(ValueError, match=r"\(float\) or 'auto'$"):
        check_size(n_prototypes, automatic=True)


def test_a_cut_follows_the_allocation():
    codes = np.array([0] * 6 + [1] * 2)
    ranking = np.arange(8)[::-1]
    assert cut(ranking, codes, 4, "proportional").tolist() == [3, 4, 5, 7]
    assert cut(ranking, codes, 4, "equal").tolist() == [4, 5, 6, 7]
    assert cut(ranking, codes, 3, "global").tolist() == [5, 6, 7]
