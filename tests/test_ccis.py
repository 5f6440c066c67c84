"""CCIS against a literal reading on a full matrix, and what it promises."""

from math import ceil, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from protoset.selectors import CCIS
from protoset.selectors.ccis import ccis, pair_scores, paired_classes
from protoset.spaces import make_space

from conftest import labelled_vectors, overlapping, tied_vote


def errors_literally(D, y, members):
    """Objects whose nearest other member has another class, or that have none."""
    return sum(tied_vote(D, i, members, 1, y) != y[i] for i in range(len(y)))


def edges_literally(D, y, members):
    """Edges (a, b): b is the nearest of a among the other members of one of the classes."""
    edges = []
    for a in members:
        for label in sorted(set(y)):
            others = sorted((D[a, b], b) for b in members if b != a and y[b] == label)
            edges += [(a, others[0][1])] if others else []
    return edges


def ccis_literally(D, y):
    """The set after growth, and after thin-out, by the description and nothing else."""
    n, labels = len(y), sorted(set(y))
    edges = edges_literally(D, y, range(n))

    def in_degree(b, label):
        return sum(y[a] == label for a, target in edges if target == b)

    def unlikeness(c, e):
        both = [b for b in range(n) if y[b] in (c, e)]
        total = sum(abs(in_degree(b, y[b]) - in_degree(b, e if y[b] == c else c)) for b in both)
        return total / min(sum(y == c), sum(y == e))

    def divergence(p, q):
        return p * log(2 * p / (p + q)) if p else 0.0

    pairs = []
    for c in labels:
        partner = min((unlikeness(c, e), e) for e in labels if e != c)[1]
        if {c, partner} not in pairs:
            pairs.append({c, partner})

    most = errors_literally(D, y, range(n))
    n_first = max(len(labels), ceil(most / 2))
    grown = set()
    for pair in pairs:
        both = [b for b in range(n) if y[b] in pair]
        within = {b: in_degree(b, y[b]) for b in both}
        between = {b: in_degree(b, next(iter(pair - {y[b]}))) for b in both}
        scored = []
        for b in both:
            p = within[b] / sum(within.values()) if any(within.values()) else 0.0
            q = between[b] / sum(between.values()) if any(between.values()) else 0.0
            score = divergence(p, q) - divergence(q, p)
            scored += [(-score, b)] if score >= 0 else []
        ranking = [b for _, b in sorted(scored)]
        grown |= set(ranking[:n_first])
        for b in ranking[n_first:]:
            errors = errors_literally(D, y, grown)
            if errors <= most or errors_literally(D, y, grown | {b}) >= errors:
                break
            grown |= {b}

    def at_border(members):
        return {b for a, b in edges_literally(D, y, sorted(members)) if {y[a], y[b]} in pairs}

    def inside(members):
        return {b for a, b in edges_literally(D, y, sorted(members)) if y[a] == y[b]}

    kept, before = at_border(grown), grown
    rest = grown - kept
    while True:
        added = at_border(rest) & (at_border(before) | inside(before))
        if errors_literally(D, y, kept | added) >= errors_literally(D, y, kept):
            break
        kept, before, rest = kept | added, rest, rest - added
    return sorted(grown), sorted(kept or grown)


def check_against_the_literal_reading(X, y):
    space = make_space(X, "euclidean")
    _, expected = ccis_literally(space.block(slice(None), slice(None)), y)
    assert ccis(space, y).tolist() == expected


@given(labelled_vectors())
def test_literal_reading(data):
    check_against_the_literal_reading(*data)


@given(labelled_vectors(tied=True))
def test_literal_reading_with_ties_and_duplicates(data):
    check_against_the_literal_reading(*data)


@pytest.mark.parametrize(
    ("n", "d", "n_classes", "seed"),
    [(70, 2, 2, 1), (70, 2, 2, 2), (70, 2, 3, 3), (70, 2, 5, 4), (70, 2, 6, 5), (40, 3, 3, 19), (40, 3, 5, 18)],
)
def test_literal_reading_of_larger_sets(n, d, n_classes, seed):
    """Large enough for several rounds; in the last two, an object that was not taken matters to the next pair."""
    X, y = overlapping(n, d=d, n_classes=n_classes, seed=seed)
    assert set(y) == set(range(n_classes))
    check_against_the_literal_reading(X, y)


@given(labelled_vectors() | labelled_vectors(tied=True))
def test_thin_out_never_adds(data):
    X, y = data
    space = make_space(X, "euclidean")
    grown, _ = ccis_literally(space.block(slice(None), slice(None)), y)
    assert set(ccis(space, y)) <= set(grown)


@given(st.lists(st.integers(0, 5), min_size=2, max_size=8), st.randoms(use_true_random=False))
def test_scores_have_the_sign_of_the_difference_of_shares(within, random):
    between = within[:]
    random.shuffle(between)
    within, between = np.array(within), np.array(between)
    scores = pair_scores(within, between)
    np.testing.assert_array_equal(np.sign(scores), np.sign(within - between))  # the sums are equal
    np.testing.assert_array_equal(pair_scores(between, within), -scores)


def test_pairs_without_edges_score_nothing():
    """Two classes of one member each have no edge within a class."""
    scores = pair_scores(np.array([0, 0]), np.array([1, 1]))
    np.testing.assert_allclose(scores, [-log(2) / 2, -log(2) / 2])
    assert (pair_scores(np.array([0, 0]), np.array([0, 0])) == 0).all()


def test_classes_pair_with_their_neighbours():
    """Three groups on a line, the first two of which overlap."""
    x = np.concatenate([np.arange(0, 10.0), np.arange(0.4, 10.0), np.arange(100, 110.0)])
    codes = np.repeat([0, 1, 2], 10)
    degrees = np.zeros((30, 3), int)
    for i in range(30):
        for code in range(3):
            others = [j for j in range(30) if j != i and codes[j] == code]
            degrees[min(others, key=lambda j: (abs(x[i] - x[j]), j)), codes[i]] += 1
    assert paired_classes(degrees, codes)[0] == (0, 1)


def test_single_members_only():
    """Nothing scores, so that all are there as the medoids of their classes."""
    selector = CCIS().fit([[0.0], [1.0]], ["a", "b"])
    assert selector.sample_indices_.tolist() == [0, 1]
    assert selector.fallback_classes_.tolist() == ["a", "b"]


def test_a_set_of_one_class_is_not_thinned_out():
    """The growth takes a dense class only; the other is there by its medoid."""
    X = np.concatenate([np.arange(30) % 3 * 0.1, [50.0, 60.0, 75.0]])[:, None]
    y = np.repeat([0, 1], [30, 3])
    grown, kept = ccis_literally(np.abs(X - X.T), y)
    assert set(y[grown]) == {0}
    assert kept == grown
    selector = CCIS().fit(X, y)
    assert selector.sample_indices_.tolist() == [*grown, 31]
    assert selector.fallback_classes_.tolist() == [1]


def test_strings():
    words = ["cat", "cats", "car", "cart", "dog", "dogs", "dot", "doge"]
    selector = CCIS(metric="levenshtein").fit(words, [0, 0, 0, 0, 1, 1, 1, 1])
    assert set(selector.sample_indices_) <= set(range(8))
    assert selector.n_distances_ > 0


def test_asymmetric_matrix():
    """Columns are the prototypes."""
    rng = np.random.default_rng(3)
    D = rng.random((40, 40))
    np.fill_diagonal(D, 0)
    y = rng.permutation(np.arange(40) % 3)
    assert ccis(make_space(D, "precomputed"), y).tolist() == ccis_literally(D, y)[1]


def test_keels_own_results_where_its_thin_out_is_that_of_the_publication(keel_folds):
    """KEEL's program departs where it judges what to add to the border; on these folds nothing is added."""
    folds = {(fold.data, fold.fold): fold for fold in keel_folds}
    for name in [("iris", 2), ("iris", 4), ("wine", 1), ("wine", 2)]:
        X, y = folds[name].train
        queries, labels = folds[name].test
        kept = CCIS(tie_rule="row_order").fit(X, y).sample_indices_
        nearest = cdist(queries, X[kept]).argmin(axis=1)
        n_prototypes, error = folds[name].keel["CCIS"]
        assert len(kept) == n_prototypes
        assert np.mean(y[kept][nearest] != labels) == pytest.approx(error, abs=1e-5)
