"""What makes up the dissimilarity of two objects: terms of attributes, alignments of series, edits of strings."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from protoset import REPS, PrototypeClassifier, kernels
from protoset.spaces import DISSIMILARITIES, Alignment, Contributions, EditScript, PairComparison, make_space
from protoset.spaces.pairwise import BOOLEAN
from test_dissimilarities import TABLE, VECTORS, N, Y, case

ATTRIBUTES = [name for name, record in DISSIMILARITIES.items() if record.kind in ("vectors", "mixed attributes")]
WITHOUT_TERMS = {"mahalanobis", "chebyshev", "haversine", *BOOLEAN}
"""Metrics that are no sum over the attributes."""

NOT_ATTRIBUTE_BY_ATTRIBUTE = {"cosine", "correlation", "braycurtis"}
"""Metrics whose term of an attribute depends on the other attributes."""

KIND_OF_COMPARISON = {
    "vectors": Contributions,
    "mixed attributes": Contributions,
    "series": Alignment,
    "strings": EditScript,
    "matrix": PairComparison,
    "objects": PairComparison,
}


@pytest.mark.parametrize("name", DISSIMILARITIES)
def test_every_metric_compares_in_the_way_of_its_objects(name):
    X, metric = case(name)
    space = make_space(X, metric, y=Y)
    matrix = space.block(slice(None), slice(None))
    for row, column in ((0, 1), (3, 20), (7, 46)):
        comparison = space.compare(row, column)
        assert type(comparison) is KIND_OF_COMPARISON[DISSIMILARITIES[name].kind]
        assert comparison.distance == matrix[row, column]


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_terms_add_up_to_the_distance(name):
    X, metric = case(name)
    space = make_space(X, metric, y=Y)
    for row in range(0, N, 5):
        for column in range(0, N, 3):
            comparison = space.compare(row, column)
            if name in WITHOUT_TERMS:
                assert comparison.terms is None
                assert comparison.shares is None
                continue
            assert comparison.terms.shape == comparison.shares.shape == (space.n_features,)
            assert (comparison.terms >= 0).all()
            np.testing.assert_allclose(
                comparison.terms.sum() ** (1 / comparison.power), comparison.distance, rtol=1e-12, atol=1e-15
            )
            total = 1 if comparison.distance > 0 else 0
            np.testing.assert_allclose(comparison.shares.sum(), total, rtol=1e-12)
            assert (np.diff(comparison.shares[comparison.order]) <= 0).all()


@pytest.mark.parametrize("name", sorted(set(ATTRIBUTES) - WITHOUT_TERMS - NOT_ATTRIBUTE_BY_ATTRIBUTE))
def test_the_term_of_an_attribute_is_the_distance_where_all_others_are_equal(name):
    X, metric = case(name)
    frame = pd.DataFrame(X)
    known = frame.notna().all(axis=1).to_numpy()
    frame = frame[known].reset_index(drop=True)
    space = make_space(frame, metric, y=Y[known])
    for row, column in ((0, 2), (5, 17), (20, 11)):
        comparison = space.compare(row, column)
        for attribute in range(space.n_features):
            query = frame.iloc[[column]].copy()
            query[query.columns[attribute]] = frame.iloc[[row], attribute].to_numpy()
            query = query.astype(frame.dtypes.to_dict())
            alone = space.cross(query).block(slice(None), [column])[0, 0]
            np.testing.assert_allclose(comparison.terms[attribute], alone**comparison.power, rtol=1e-9, atol=1e-12)


def test_missing_values_count_as_the_metrics_say():
    frame = pd.DataFrame({"a": [0.0, 1.0, np.nan], "b": [0.0, 4.0, 2.0], "c": ["x", "y", None]})
    gower, heom, overlap = (make_space(frame, metric) for metric in ("gower", "heom", "overlap"))
    np.testing.assert_allclose(gower.compare(0, 2).terms, [0, 0.5, 0])
    np.testing.assert_allclose(gower.compare(0, 1).terms, [1 / 3, 1 / 3, 1 / 3])
    np.testing.assert_allclose(heom.compare(0, 2).terms, [1, 0.25, 1])
    np.testing.assert_allclose(overlap.compare(0, 2).terms, [1 / 3, 1 / 3, 1 / 3])
    unknown = make_space(pd.DataFrame({"a": [0.0, np.nan, 1.0]}), "gower")
    assert unknown.compare(0, 1).distance == 1
    assert unknown.compare(0, 1).terms is None
    gaps = make_space(np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, 2.0]]), "nan_euclidean")
    assert gaps.compare(0, 1).terms is None
    np.testing.assert_allclose(gaps.compare(0, 2).terms, [8, 0])


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_vectors_without_direction(metric):
    for convert in (np.asarray, sparse.csr_array) if metric == "cosine" else (np.asarray,):
        space = make_space(convert(np.array([[0.0, 0, 0], [1, 2, 4], [0, 0, 0]])), metric)
        assert space.compare(0, 1).terms is None
        assert space.compare(0, 2).terms.tolist() == [0, 0, 0]
        assert space.compare(0, 2).shares.tolist() == [0, 0, 0]


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "cityblock"])
def test_sparse_rows_compare_as_dense_ones(metric):
    X = np.round(VECTORS)
    thin, dense = make_space(sparse.csr_array(X), metric), make_space(X, metric)
    for row, column in ((0, 1), (5, 30), (11, 46)):
        a, b = thin.compare(row, column), dense.compare(row, column)
        np.testing.assert_allclose(a.terms, b.terms, atol=1e-12)
        assert a.power == b.power


def test_terms_that_overflow_are_left_out():
    space = make_space(np.array([[0.0, 1.0], [1e140, 2.0]]), "minkowski", {"p": 40})
    assert space.compare(0, 1).distance == pytest.approx(1e140)
    assert space.compare(0, 1).terms is None


# series


def plain_alignment(a, b, radius):
    """Cost of the best warping path, by recursion on the last step."""
    n, m = len(a), len(b)
    best = np.full((n + 1, m + 1), np.inf)
    best[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if abs(i - j) <= radius:
                before = min(best[i - 1, j - 1], best[i - 1, j], best[i, j - 1])
                best[i, j] = before + ((a[i - 1] - b[j - 1]) ** 2).sum()
    return best[n, m]


@given(st.integers(0, 10_000), st.sampled_from([None, 0, 1, 3, 0.2]), st.integers(1, 3))
def test_the_kernel_against_plain_python(seed, window, n_channels):
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(-3, 4, (rng.integers(1, 9), n_channels)).astype(float) for _ in range(2))
    radius = kernels.series.band_radius(
        len(a), len(b), window if isinstance(window, int) else -1, window if isinstance(window, float) else -1.0
    )
    x, y = (np.ascontiguousarray(s[:, 0]) if n_channels == 1 else s for s in (a, b))
    pairs, costs = kernels.alignment.align(x, y, radius)
    np.testing.assert_allclose(costs.sum(), plain_alignment(a, b, radius), rtol=1e-12, atol=1e-12)
    for (i, j), cost in zip(pairs, costs, strict=True):
        assert abs(i - j) <= radius
        np.testing.assert_allclose(cost, ((a[i] - b[j]) ** 2).sum(), rtol=1e-12, atol=1e-12)


SETTINGS = [
    *(("dtw", {"window": window, "squared": squared}) for window in (None, 0, 2, 0.3) for squared in (False, True)),
    *(("ddtw", {"window": window}) for window in (None, 1)),
    *(("erp", {"window": window, "gap": gap}) for window in (None, 2) for gap in (0.0, 1.5)),
    *(("series_euclidean", {"squared": squared}) for squared in (False, True)),
    *(("twe", {"window": window, "nu": 0.1}) for window in (None, 2)),
    *(("msm", {"window": window, "c": 0.3}) for window in (None, 2)),
    *((metric, {"normalize": True}) for metric in ("dtw", "ddtw", "erp", "msm", "twe", "series_euclidean")),
]


@pytest.mark.parametrize("n_channels", [1, 2])
@pytest.mark.parametrize(("metric", "parameters"), SETTINGS)
def test_the_costs_of_a_path_add_up_to_the_distance(metric, parameters, n_channels):
    rng = np.random.default_rng(0)
    lengths = [12] * 8 if metric == "series_euclidean" else [12, 7, 12, 15, 3, 9, 12, 20]
    series = [rng.normal(size=(n_channels, length)).cumsum(axis=1) for length in lengths]
    space = make_space(series, metric, parameters)
    first = 1 if metric == "ddtw" else 0
    for row in range(len(series)):
        for column in range(len(series)):
            alignment = space.compare(row, column)
            assert alignment.distance == space.block([row], [column])[0, 0]
            if metric == "msm" and n_channels > 1:
                continue  # the channels have no common path
            total = alignment.costs.sum() ** (1 / alignment.power)
            np.testing.assert_allclose(total, alignment.distance, rtol=1e-12, atol=1e-12)
            # Each point of both series is on the path, in its order.
            for side, length in ((0, lengths[row]), (1, lengths[column])):
                points = alignment.pairs[:, side]
                points = points[points >= 0]
                assert points.tolist() == sorted(points.tolist())
                assert set(points.tolist()) == set(range(first, length - first))
            assert len(alignment.lags) == (alignment.pairs >= 0).all(axis=1).sum()
            assert metric in ("erp", "msm", "twe") or (alignment.pairs >= 0).all()
            segments = alignment.segments()
            assert sum(segment.share for segment in segments) <= 1 + 1e-12
            assert (len(segments) > 0) == (alignment.distance > 0)


def test_segments_are_where_the_series_differ():
    flat = np.zeros(60)
    bumps = flat.copy()
    bumps[10:15], bumps[40:44] = 3, 1
    alignment = make_space(np.array([bumps, flat]), "series_euclidean").compare(0, 1)
    segments = alignment.segments()
    assert [segment.query for segment in segments] == [(10, 14), (40, 43)]
    assert [segment.prototype for segment in segments] == [(10, 14), (40, 43)]
    np.testing.assert_allclose([segment.share for segment in segments], [45 / 49, 4 / 49])
    shifted = make_space(np.array([np.roll(bumps, 3), bumps]), "dtw").compare(0, 1)
    assert shifted.distance == 0
    assert shifted.segments() == []
    assert shifted.lags.max() == 3
    skipping = make_space([np.array([5.0, 5, 5]), np.array([5.0])], "erp")
    assert [segment.prototype for segment in skipping.compare(0, 1).segments()] == [(0, 0)]


# strings

SYMBOLS = st.text("abcd", max_size=9)


def edited(query, prototype, edits):
    """Apply edits without exchanges."""
    result = list(query)
    for edit in reversed(edits):
        end = edit.query if edit.kind == "insert" else edit.query + 1
        result[edit.query : end] = [] if edit.kind == "delete" else [prototype[edit.prototype]]
    return result


@pytest.mark.parametrize("metric", ["levenshtein", "normalized_levenshtein", "string_hamming", "damerau_levenshtein"])
@given(SYMBOLS, SYMBOLS)
def test_edits_turn_the_query_into_the_prototype(metric, query, prototype):
    pytest.importorskip("rapidfuzz")
    kinds = {
        "str": (query, prototype),
        "bytes": (query.encode(), prototype.encode()),
        "tokens": (tuple(query), tuple(prototype)),
    }
    for a, b in kinds.values():
        script = make_space([a, b], metric).compare(0, 1)
        assert (script.query, script.prototype) == (a, b)
        longest = max(len(a), len(b)) if metric == "normalized_levenshtein" else 1
        np.testing.assert_allclose(len(script.edits), script.distance * longest)
        columns = list(script.columns())
        assert [column.query for column in columns if column.query is not None] == list(a)
        assert [column.prototype for column in columns if column.prototype is not None] == list(b)
        exchanged = [column for column in columns if column.edit == "transpose"]
        for first, second in zip(exchanged[::2], exchanged[1::2], strict=True):
            assert (first.query, second.query) == (second.prototype, first.prototype)
        assert len([column for column in columns if column.edit]) - len(exchanged) // 2 == len(script.edits)
        assert all((column.query == column.prototype) == (column.edit is None) for column in columns)
        if not exchanged:
            assert edited(a, b, script.edits) == list(b)


def test_exchanges_and_metrics_without_edits():
    pytest.importorskip("rapidfuzz")
    script = make_space(["ca", "abc"], "damerau_levenshtein").compare(0, 1)
    assert [edit.kind for edit in script.edits] == ["transpose", "insert"]
    assert [tuple(column) for column in script.columns()] == [
        ("c", "a", "transpose"),
        (None, "b", "insert"),
        ("a", "c", "transpose"),
    ]
    script = make_space(["martha", "marhta"], "jaro_winkler").compare(0, 1)
    assert script.edits is None
    assert list(script.columns()) == []
    space = make_space([["to", "be"], ["or", "not"]], "levenshtein").cross([["to", "see", "be"]])
    script = space.compare(0, 0)
    assert script.query == ("to", "see", "be")
    assert [tuple(column) for column in script.columns()][1] == ("see", None, "delete")


# classifiers


@pytest.mark.parametrize("rule", ["nearest", "adjusted"])
def test_a_classifier_compares_with_the_prototype_that_decides(rule):
    classifier = PrototypeClassifier(REPS(8), rule=rule).fit(VECTORS, Y)
    queries = VECTORS[:10] + 0.1
    shown = classifier.explain(queries, 2)
    for position, comparisons in (
        (0, classifier.compare(queries)),
        (1, classifier.compare(queries, shown.indices[:, 1])),
    ):
        assert [comparison.distance for comparison in comparisons] == shown.distances[:, position].tolist()
        expected = np.square(queries - VECTORS[shown.indices[:, position]])
        np.testing.assert_allclose([comparison.terms for comparison in comparisons], expected)
    assert comparisons[0].names == ()
    for wrong in ([0], shown.indices, [10**6] * 10):
        with pytest.raises(ValueError, match=r"prototypes=.* must have one entry per query \(10 in all\), each from"):
            classifier.compare(queries, wrong)


def test_names_of_columns_are_in_the_comparison():
    classifier = PrototypeClassifier(REPS(8)).fit(TABLE, Y)
    assert classifier.compare(TABLE[:1])[0].names == tuple(TABLE.columns)


@pytest.mark.parametrize("rule", ["nearest", "adjusted"])
def test_details_of_predictions_agree_with_the_other_methods(rule, monkeypatch):
    from protoset import _blocks

    classifier = PrototypeClassifier(REPS(12), rule=rule).fit(VECTORS, np.array(["no", "yes"])[Y])
    queries = np.vstack([VECTORS, VECTORS[::-1] + 0.3])
    whole = classifier.predict_details(queries)
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 12 * 8 * 7)
    in_blocks = classifier.predict_details(queries)
    shown, shares = classifier.explain(queries, 1), classifier.predict_proba(queries)
    columns = np.searchsorted(classifier.classes_, whole.labels)
    for details in (whole, in_blocks):
        np.testing.assert_array_equal(details.labels, classifier.predict(queries))
        np.testing.assert_allclose(details.probabilities, shares[np.arange(len(queries)), columns], rtol=1e-12)
        np.testing.assert_array_equal(details.indices, shown.indices[:, 0])
        np.testing.assert_array_equal(details.distances, shown.distances[:, 0])


@pytest.mark.parametrize("rule", ["nearest", "adjusted"])
def test_tied_prototypes_are_decided_as_in_predict(rule):
    """Few categories: nearly every query has several nearest prototypes, of both classes."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({name: rng.choice(list("ab"), 60) for name in ("one", "two", "three")})
    y = (rng.random(60) < np.where(frame["one"] == "a", 0.2, 0.7)).astype(int)
    classifier = PrototypeClassifier(REPS(20, metric="overlap"), rule=rule).fit(frame, y)
    details, shown = classifier.predict_details(frame), classifier.explain(frame, 2)
    assert (shown.distances[:, 0] == shown.distances[:, 1]).any()
    np.testing.assert_array_equal(details.labels, classifier.predict(frame))
    np.testing.assert_array_equal(details.indices, shown.indices[:, 0])
    np.testing.assert_array_equal(details.distances, shown.distances[:, 0])
    assert [comparison.distance for comparison in classifier.compare(frame)] == shown.distances[:, 0].tolist()
    shares = classifier.predict_proba(frame)
    np.testing.assert_array_equal(details.probabilities, shares[np.arange(60), details.labels])


def test_details_of_predictions_compute_each_distance_once(monkeypatch):
    from protoset.spaces.vectors import VectorSpace

    classifier = PrototypeClassifier(REPS(12)).fit(VECTORS, Y)
    block, sizes = VectorSpace.block, []

    def counted(space, rows, columns):
        result = block(space, rows, columns)
        sizes.append(result.size)
        return result

    monkeypatch.setattr(VectorSpace, "block", counted)
    classifier.predict_details(VECTORS)
    assert sum(sizes) == N * 12
