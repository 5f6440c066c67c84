"""The kernels that chain up who has an object as a neighbour, each against a plain twin."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from protoset import kernels

from conftest import vote

seeds = st.integers(0, 2**32 - 1)


def random_neighbors(rng, n, width):
    """Up to ``width`` other objects in each row, ended by -1."""
    neighbors = np.full((n, width), -1)
    for row in range(n):
        some = rng.permutation(np.delete(np.arange(n), row))[: rng.integers(0, width + 1)]
        neighbors[row, : len(some)] = some
    return neighbors


def chain(member, head, following):
    links, link = [], head[member]
    while link >= 0:
        links.append(int(link))
        link = following[link]
    return links


@given(seeds, st.integers(2, 20), st.integers(1, 4))
def test_chains(seed, n, width):
    rng = np.random.default_rng(seed)
    neighbors = random_neighbors(rng, n, width)
    rows = np.flatnonzero(rng.random(n) < 0.8)
    head, following = rng.integers(0, 5, n), rng.integers(0, 5, n * width)  # what was there does not count
    kernels.associates.link_associates(rows, neighbors, head, following)
    for member in range(n):
        expected = [row * width + place for row in rows for place in range(width) if neighbors[row, place] == member]
        assert chain(member, head, following) == expected[::-1]


@given(seeds, st.integers(1, 10))
def test_one_link(seed, n_links):
    rng = np.random.default_rng(seed)
    head, following = np.full(3, -1), np.full(n_links, -1)
    expected = [[], [], []]
    for link in rng.permutation(n_links):
        member = rng.integers(3)
        kernels.associates.link_one(link, member, head, following)
        expected[member].insert(0, link)
    assert [chain(member, head, following) for member in range(3)] == expected


@given(seeds, st.integers(1, 7), st.integers(1, 6), st.booleans())
def test_votes_with_and_without_one(seed, n_neighbors, k, leave_out):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, 12)
    neighbors = rng.permutation(12)[:n_neighbors]
    neighbors[rng.integers(0, n_neighbors + 1) :] = -1
    left_out = rng.choice(neighbors) if leave_out else -1
    expected = [other for other in neighbors if other >= 0 and other != left_out][:k]
    voters = rng.integers(0, 12, k)
    assert kernels.associates.vote_without(neighbors, left_out, voters, codes) == vote(expected, codes)
    assert voters.tolist() == expected + [-1] * (k - len(expected))


@given(seeds, st.integers(1, 6), st.integers(1, 6))
def test_moving_up(seed, width, n_listed):
    rng = np.random.default_rng(seed)
    listed = rng.permutation(9)[: min(width, n_listed)].tolist()
    neighbors = np.array(listed + [-1] * (width - len(listed)))
    place = rng.integers(len(listed))
    assert kernels.associates.move_up(neighbors, listed[place]) == place
    del listed[place]
    assert neighbors.tolist() == listed + [-1] * (width - len(listed))
