"""Every registered dissimilarity through the whole library."""

import inspect

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils import _safe_indexing

from protoset import REPS, PrototypeClassifier, _blocks, load, save
from protoset.selectors.ties import MajorityVote
from protoset.spaces import DISSIMILARITIES, CountedSpace, Space, base, choose_metric, make_space, series

N = 48
Y = np.arange(N) % 2
RNG = np.random.default_rng(0)
VECTORS = RNG.normal(size=(N, 4)) + 1.5 * Y[:, None]
SERIES = RNG.normal(size=(N, 12)).cumsum(axis=1) + 3 * Y[:, None] * np.sin(np.arange(12))
TABLE = pd.DataFrame(
    {
        "number": np.where(RNG.random(N) < 0.1, np.nan, VECTORS[:, 0]),
        "colour": pd.Categorical(np.where(RNG.random(N) < 0.3, "red", np.where(Y, "blue", "green"))),
        "flag": RNG.random(N) < 0.2 + 0.6 * Y,
        "word": np.where(RNG.random(N) < 0.4, "x", np.where(Y, "y", "z")),
    }
)
WORDS = ["".join(RNG.choice(list("abcd" if label else "cdef"), RNG.integers(2, 7))) for label in Y]
SETS = [frozenset(word) for word in WORDS]


def jaccard(a, b):
    return 1 - len(a & b) / len(a | b)


OBJECTS = {
    "vectors": VECTORS,
    "mixed attributes": TABLE,
    "series": SERIES,
    "strings": WORDS,
    "matrix": np.abs(VECTORS[:, None, :] - VECTORS[None, :, :]).sum(axis=2),
    "objects": SETS,
}
SPECIAL = {
    **dict.fromkeys(("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"), VECTORS > 0.7),
    "braycurtis": np.abs(VECTORS),
    "haversine": np.clip(VECTORS[:, :2], -1.5, 1.5),
    "nan_euclidean": np.where(RNG.random(VECTORS.shape) < 0.1, np.nan, VECTORS),
}


def case(name):
    """Objects, metric and parameters for a registered dissimilarity."""
    record = DISSIMILARITIES[name]
    if record.requires:
        pytest.importorskip({"strings": "rapidfuzz"}[record.requires])
    X = SPECIAL.get(name, OBJECTS[record.kind])
    if name == "nan_euclidean":
        X[np.isnan(X).all(axis=1)] = 0.0
    return X, (jaccard if name == "callable" else name)


def take(X, rows, name):
    return X[np.ix_(rows, np.arange(N))] if name == "precomputed" else _safe_indexing(X, rows)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in ("msm", "twe") else name for name in DISSIMILARITIES]
)
def test_the_whole_way(name, tmp_path):
    X, metric = case(name)
    selector = REPS(8, metric=metric).fit(X, Y)
    assert set(Y[selector.sample_indices_]) == {0, 1}
    matrix = make_space(X, metric, y=Y).block(slice(None), slice(None))
    given_matrix = REPS(8, metric="precomputed").fit(np.where(np.eye(N, dtype=bool), 0, matrix), Y)
    # Equal scores are ordered by content, which a matrix does not have. Copies are not known under a function, and a
    # matrix does not show them where an object has a distance to itself (missing values, "russellrao").
    if name != "callable" and not np.diag(matrix).any():
        np.testing.assert_allclose(given_matrix.scores_, selector.scores_, rtol=1e-6)

    classifier = PrototypeClassifier(clone(selector), adapt=False).fit(X, Y)
    queries = take(X, np.arange(20), name)
    predicted = classifier.predict(queries)
    kept = classifier.sample_indices_
    vote = MajorityVote(Y[kept], classifier.prototype_counts_, classifier.class_counts_)
    np.testing.assert_array_equal(predicted, Y[kept[vote(matrix[:20][:, kept])]])
    np.testing.assert_array_equal(classifier.explain(queries).labels[:, 0], predicted)
    assert classifier.predict_proba(queries).shape == (20, 2)

    save(classifier, tmp_path / "model")
    again = load(tmp_path / "model", metric=jaccard) if name == "callable" else load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(queries), predicted)
    np.testing.assert_array_equal(again.explain(queries).distances, classifier.explain(queries).distances)

    scores = cross_val_score(PrototypeClassifier(REPS(0.3, metric=metric)), X, Y, cv=3, error_score="raise")
    hopeless = ("correlation", "hamming", "russellrao", "yule")  # these do not see what sets the classes apart
    assert scores.mean() > (0.3 if name in hopeless else 0.55)


@pytest.mark.parametrize("name", DISSIMILARITIES)
def test_what_the_flags_say(name, monkeypatch):
    X, metric = case(name)
    record = DISSIMILARITIES[name]
    space = make_space(X, metric, y=Y)
    block = space.block(slice(None), slice(None))
    assert block.dtype == np.float64
    assert (block >= 0).all()
    if record.symmetric:
        np.testing.assert_allclose(block, block.T, rtol=1e-12, atol=1e-15)
    if record.sparse and record.kind == "vectors":
        dense = make_space(np.round(X), name).block(slice(None), slice(None))
        thin = make_space(sparse.csr_array(np.round(X)), name)
        np.testing.assert_allclose(thin.block(slice(None), slice(None)), dense, rtol=1e-9, atol=1e-12)
        raw = thin.kneighbors(5, limit=N)
        expected = thin.kneighbors_by_block(np.arange(N), 5, limit=N)
        np.testing.assert_array_equal(raw.indices, expected.indices)
    raw = space.kneighbors(7, limit=N)
    assert (raw.counters is not None) == record.bounds
    expected = space.kneighbors_by_block(np.arange(N), 7, limit=N)
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 2000)
    for found in (raw, space.kneighbors(7, limit=N, n_jobs=2)):
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.distances, expected.distances)
        np.testing.assert_array_equal(found.counts, expected.counts)


@pytest.mark.parametrize("name", DISSIMILARITIES)
def test_a_matrix_is_what_blocks_hold(name, monkeypatch):
    X, metric = case(name)
    monkeypatch.setattr(base, "MATRIX_COLUMNS", 10)
    monkeypatch.setattr(series, "MATRIX_STRIP", 10)
    space = make_space(X, metric, y=Y)
    rows = np.random.default_rng(1).permutation(N)[:31]
    for part in (space, CountedSpace(space), space.subset(rows), make_space(X, metric, y=Y).subset(rows)):
        expected = part.block(np.arange(part.shape[0]), np.arange(part.shape[0]))
        for n_jobs in (1, 2):
            matrix = np.full(part.shape, np.nan)
            part.write_matrix(matrix.T if n_jobs == 2 else matrix, n_jobs=n_jobs)
            matrix = matrix.T if n_jobs == 2 else matrix
            np.testing.assert_allclose(matrix, expected, rtol=1e-12, atol=1e-15)
            if DISSIMILARITIES[name].kind == "series":
                np.testing.assert_array_equal(matrix, expected)
            if part.symmetric:
                np.testing.assert_array_equal(matrix, matrix.T)


@pytest.mark.parametrize("name", DISSIMILARITIES)
def test_distances_up_to_cutoffs(name):
    """The same numbers; those beyond the cut-offs may be infinite."""
    X, metric = case(name)
    rng = np.random.default_rng(3)
    space = make_space(X, metric, y=Y)
    for part in (space, CountedSpace(space), space.subset(np.arange(0, N, 2))):
        n = part.shape[0]
        for column in (0, 5, n - 1):
            exact = part.distances_to(column)
            for cutoffs in (np.full(n, np.inf), np.zeros(n), exact, rng.permutation(exact), np.full(n, exact.mean())):
                found = part.distances_within(column, cutoffs)
                is_within = exact <= cutoffs
                np.testing.assert_array_equal(found[is_within], exact[is_within])
                assert ((found == exact) | np.isinf(found))[~is_within].all()
                if name in ("dtw", "ddtw", "series_euclidean"):
                    assert np.isinf(found[~is_within]).all()


@pytest.mark.parametrize("name", DISSIMILARITIES)
def test_what_is_remembered_is_what_would_be_computed(name):
    X, metric = case(name)
    plain, space = make_space(X, metric, y=Y), make_space(X, metric, y=Y)
    CountedSpace(space).remember_matrix(n_jobs=2)
    space.remember_matrix()
    rows, columns = np.array([40, 3, 3]), np.array([7, 0])
    everything = slice(None)
    np.testing.assert_array_equal(space.block(rows, columns), plain.block(rows, columns))
    np.testing.assert_array_equal(space.block(everything, everything), plain.block(everything, everything))
    np.testing.assert_array_equal(space.distances_to(5), plain.distances_to(5))
    np.testing.assert_array_equal(space.distances_within(5, np.ones(N)), plain.distances_to(5))
    if space.remembers:
        space.block(everything, everything)[:] = -1.0  # a copy
    matrices = np.empty((2, N, N))
    for matrix, one in zip(matrices, (space, plain), strict=True):
        one.write_matrix(matrix)
    np.testing.assert_array_equal(*matrices)
    found, expected = (one.kneighbors(7, limit=N) for one in (space, plain))
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.distances, expected.distances)
    np.testing.assert_array_equal(found.counts, expected.counts)
    np.testing.assert_array_equal(found.closed, expected.closed)
    if space.remembers:
        assert (found.counters.pairs, found.counters.computed) == (N * (N - 1) // 2,) * 2
    if metric == "dtw":
        np.testing.assert_array_equal(space.movable.all_distances(), plain.movable.all_distances())


@pytest.mark.parametrize("name", DISSIMILARITIES)
def test_what_is_learned_comes_from_the_training_set(name):
    """Queries change nothing about each other."""
    X, metric = case(name)
    columns = np.arange(24)
    training = X[:24, :24] if name == "precomputed" else _safe_indexing(X, columns)
    space = make_space(training, metric, y=Y[:24])
    rest = X[24:, :24] if name == "precomputed" else _safe_indexing(X, np.arange(24, N))
    together = space.cross(rest).block(slice(None), slice(None))
    for row in range(3):
        one = X[24 + row : 25 + row, :24] if name == "precomputed" else _safe_indexing(X, np.array([24 + row]))
        np.testing.assert_array_equal(space.cross(one).block(slice(None), slice(None))[0], together[row])


def test_the_registry():
    assert len(DISSIMILARITIES) > 30
    for name, record in DISSIMILARITIES.items():
        assert record.name == name
        assert issubclass(record.space, Space)
        assert not inspect.isabstract(record.space)


SCIPY = [name for name, record in DISSIMILARITIES.items() if record.kind == "vectors" and name != "nan_euclidean"]


@pytest.mark.parametrize("name", SCIPY)
def test_vectors_against_scikit_learn(name):
    from sklearn.metrics import pairwise_distances

    X = SPECIAL.get(name, VECTORS)
    expected = pairwise_distances(X, metric=name)
    got = make_space(X, name).block(slice(None), slice(None))
    others = ~np.eye(len(X), dtype=bool)
    np.testing.assert_allclose(got[others], np.nan_to_num(expected[others]), rtol=1e-9, atol=1e-9)


def test_nan_euclidean_against_scikit_learn():
    from sklearn.metrics.pairwise import nan_euclidean_distances

    X = np.where(np.random.default_rng(1).random((30, 5)) < 0.2, np.nan, np.random.default_rng(2).normal(size=(30, 5)))
    X = X[~np.isnan(X).all(axis=1)]
    expected = nan_euclidean_distances(X)
    got = make_space(X, "nan_euclidean").block(slice(None), slice(None))
    known = ~np.isnan(expected)
    np.testing.assert_allclose(got[known], expected[known], rtol=1e-6, atol=1e-6)
    assert (got[~known] == np.finfo(float).max).all()


def test_a_constant_column_sets_nothing_apart():
    """Its variance is not 0 but a rounding error, beside which every difference would be huge."""
    X = np.column_stack([np.random.default_rng(0).normal(size=60), np.full(60, 0.1)])
    space = make_space(X, "seuclidean")
    np.testing.assert_allclose(
        space.cross([[0.0, 0.1], [0.0, 0.1001]]).block([1], [0]), space.cross([[0.0, 0.1]]).block([0], [0]), rtol=1e-3
    )


def test_mahalanobis_does_not_mind_scales():
    X = np.random.default_rng(0).normal(size=(60, 3))
    scaled = X * np.array([1e-5, 1, 1e5])
    np.testing.assert_allclose(
        make_space(scaled, "mahalanobis").block(slice(None), slice(None)),
        make_space(X, "mahalanobis").block(slice(None), slice(None)),
        rtol=1e-6,
        atol=1e-9,
    )


@pytest.mark.parametrize("scale", [1e-130, 1.0, 1e149])
def test_minkowski_neither_overflows_nor_vanishes(scale):
    X = np.random.default_rng(0).normal(size=(20, 3))
    got = make_space(X * scale, "minkowski", {"p": 3}).block(slice(None), slice(None))
    np.testing.assert_allclose(
        got / scale, make_space(X, "minkowski", {"p": 3}).block(slice(None), slice(None)), rtol=1e-9
    )


def test_a_tiny_query_is_no_tiny_training_set():
    classifier = PrototypeClassifier(REPS(8)).fit(VECTORS, Y)
    assert classifier.predict([[1e-200, 0, 0, 0]]) == classifier.predict([[0.0, 0, 0, 0]])


def test_what_has_no_direction():
    """Zero vectors are at a right angle to all others and alike among themselves, sparse or not; so are constants."""
    X = np.array([[0.0, 0, 0], [1, 2, 3], [2, 4, 6], [0, 0, 0]])
    for form in (X, sparse.csr_matrix(X)):
        block = make_space(form, "cosine").block(slice(None), slice(None))
        np.testing.assert_array_equal(block[0], [0, 1, 1, 0])
        np.testing.assert_allclose(block[1], [1, 0, 0, 1], atol=1e-15)
    with_zero = np.vstack([np.zeros((1, 4)), VECTORS, np.zeros((1, 4))])
    for form in (with_zero, sparse.csr_matrix(with_zero)):
        space = make_space(form, "cosine")
        found, expected = space.kneighbors(3, limit=N + 2), space.kneighbors_by_block(np.arange(N + 2), 3, limit=N + 2)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(space.nearest(columns=np.arange(1, N))[0][0], 0)
    block = make_space(X + 1, "correlation").block(slice(None), slice(None))
    np.testing.assert_allclose(block[0], [0, 1, 1, 0], atol=1e-15)


AUTOMATIC = [
    (VECTORS, "euclidean"),
    (VECTORS.tolist(), "euclidean"),
    (sparse.csr_matrix(VECTORS), "euclidean"),
    (pd.DataFrame(VECTORS), "euclidean"),
    (TABLE, "gower"),
    (TABLE[["number", "flag"]], "gower"),
    (WORDS, "levenshtein"),
    (np.array(WORDS), "levenshtein"),
    (np.array(WORDS, dtype=object), "levenshtein"),
    (pd.Series(WORDS), "levenshtein"),
    ([word.encode() for word in WORDS], "levenshtein"),
    (SERIES[:, None, :], "dtw"),
    ([row[: 8 + i % 4] for i, row in enumerate(SERIES)], "dtw"),
    ([row[None, :] for row in SERIES], "dtw"),
]


@pytest.mark.parametrize(("X", "expected"), AUTOMATIC, ids=range(len(AUTOMATIC)))
def test_the_automatic_metric(X, expected, capsys):
    if expected == "levenshtein":
        pytest.importorskip("rapidfuzz")
    assert choose_metric(X) == expected
    selector = REPS(6, metric="auto", verbose=1).fit(X, Y)
    assert selector.metric_ == expected
    assert f"metric='auto' took '{expected}' for 48 objects" in capsys.readouterr().err
    np.testing.assert_array_equal(selector.sample_indices_, REPS(6, metric=expected).fit(X, Y).sample_indices_)


@pytest.mark.parametrize("X", [SETS, [{"a": 1}], 5, [], ["a", 1.0], [[1.0, "a"]]])
def test_what_the_automatic_metric_does_not_know(X):
    with pytest.raises(
        ValueError, match="metric='auto' has no metric for .*; name a metric, such as .* or pass a function"
    ):
        choose_metric(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([["ab", 1.5, "u"], ["cd", 2.5, None]], r"such as 'ab' in columns 0, 2 .*\{'categorical': \[0, 2\]\}"),
        ([[1, "2.5"], [3, "red"]], r"such as 'red' in column 1 .*\{'categorical': \[1\]\}"),
    ],
)
def test_texts_in_an_array_are_told_the_way_out(X, message):
    X = np.array(X, object)
    with pytest.raises(ValueError, match=f"metric='auto' found texts {message}"):
        choose_metric(X)
    categorical = [0, 2] if X.shape[1] == 3 else [1]
    assert make_space(X, "gower", {"categorical": categorical}).shape == (2, 2)
    assert choose_metric(np.array([["1", 2], ["3", 4.5]], object)) == "euclidean"


VECTOR_ERRORS = [
    ("jaccard", VECTORS, {}, r"'jaccard' compares truth values, but X holds other numbers.*pass for example X > 0"),
    ("haversine", VECTORS, {}, "'haversine' needs 2 features, latitude and longitude in radians, got 4"),
    ("haversine", [[0.1, 0.2], [52.5, 13.4]], {}, r"radians: a latitude .* pi / 2, .* 52.5 in row 1; .*np.radians"),
    ("haversine", [[0.1, 103.8], [0.2, 13.4]], {}, r"radians: a longitude .* 2 pi, .* 103.8 in rows 0, 1;"),
    ("haversine", [[1e149, 0.0], [0.2, 0.0]], {}, "a latitude .* 1e.149 in row 0"),
    ("nan_euclidean", np.full((3, 2), np.nan), {}, "needs a known value in every row, rows 0, 1, 2 have none"),
    ("braycurtis", VECTORS, {}, "compares amounts, but X holds negative numbers in rows"),
    ("minkowski", VECTORS, {"p": 0}, "metric_params: p=0 must be a finite number above 0"),
    ("minkowski", VECTORS, {"w": [1, 2]}, "w must be 4 weights"),
    ("minkowski", VECTORS, {"w": ["a"] * 4}, r"metric_params: w=\['a', 'a', 'a', 'a'\] must be numbers"),
    ("minkowski", VECTORS, {"p": 1000}, "p=1000 must be .* at most 50.*metric='chebyshev'"),
    ("seuclidean", VECTORS, {"V": "abc"}, "metric_params: V='abc' must be numbers"),
    ("seuclidean", VECTORS, {"V": [1e-320] * 4}, "transforms X to numbers above 1e.150; scale X, or pass other"),
    ("mahalanobis", VECTORS[:1], {}, "cannot learn from 1 objects"),
    ("euclidean", sparse.csr_matrix(VECTORS * 1j), {}, "2D sparse matrix of real numbers, got complex128"),
    ("euclidean", sparse.csr_matrix(VECTORS * 1e-200), {}, "squared distances of such small values underflow to 0"),
    ("nan_euclidean", VECTORS * 1e200, {}, "values above 1e.150 in rows"),
    ("seuclidean", VECTORS, {"V": [1, 2, 3]}, "V must be 4 variances above 0"),
    ("mahalanobis", VECTORS, {"VI": np.eye(3)}, "VI must be a symmetric, positive definite 4 x 4 matrix"),
    ("mahalanobis", VECTORS[:3], {}, "cannot learn from 3 objects with 4 features, because their covariance"),
    ("cosine", sparse.csr_matrix(np.array([[1.0, np.nan], [0, 1]])), {}, "NaN, infinity or numbers above.*row 0"),
]


@pytest.mark.parametrize(("name", "X", "parameters", "message"), VECTOR_ERRORS, ids=range(len(VECTOR_ERRORS)))
def test_errors_of_vector_metrics(name, X, parameters, message):
    with pytest.raises(ValueError, match=message):
        make_space(X, name, parameters)


def test_dense_queries_to_sparse_vectors():
    space = make_space(sparse.csr_matrix(VECTORS), "cosine")
    np.testing.assert_allclose(
        space.cross(VECTORS[:5]).block(slice(None), slice(None)),
        make_space(VECTORS, "cosine").block(slice(0, 5), slice(None)),
        atol=1e-12,
    )
    for bad, message in (
        ((60, 4), "Expected 2D array"),
        (VECTORS[0], "Reshape your data"),
        (np.ma.masked_array(VECTORS), "masked"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            space.cross(bad)


@pytest.mark.parametrize("name", ["euclidean", "cityblock", "precomputed", "dtw", "heom"])
def test_a_classifier_keeps_its_prototypes_alone(name):
    """Nothing of the other training objects stays in memory, not even behind a view of no rows."""
    X, _ = case(name)
    classifier = PrototypeClassifier(REPS(4, metric=name)).fit(X, Y)
    for array in _arrays_of(classifier._prototypes):
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        assert len(owner) <= (4 * SERIES.shape[1] if name == "dtw" else 12)


def _arrays_of(thing):
    for value in vars(thing).values() if hasattr(thing, "__dict__") else ():
        if isinstance(value, np.ndarray):
            yield value
        elif type(value).__module__.startswith("protoset"):
            yield from _arrays_of(value)


def test_queries_in_degrees_are_refused():
    degrees = np.array([[52.5, 13.4], [48.1, 11.6], [-33.9, 151.2], [-37.8, 145.0]])
    classifier = PrototypeClassifier(REPS(2, metric="haversine")).fit(np.radians(degrees), [0, 0, 1, 1])
    assert classifier.predict(np.radians(degrees)).tolist() == [0, 0, 1, 1]
    for ask in (classifier.predict, classifier.predict_proba, classifier.explain):
        with pytest.raises(ValueError, match="metric='haversine' needs radians"):
            ask(degrees)
    poles = np.array([[np.pi / 2, np.pi], [-np.pi / 2, -np.pi]], np.float32)
    assert np.isfinite(classifier.explain(poles).distances).all()
