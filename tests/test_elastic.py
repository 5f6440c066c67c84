"""Edit distances of series: ERP, MSM and TWE against plain recursions, aeon's numbers, and whole rows of distances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protoset import REPS, PrototypeClassifier, kernels, load, save
from protoset.neighbors import build_lists
from protoset.spaces import DISSIMILARITIES, make_space
from protoset.spaces.elastic_search import bounds_of

METRICS = ("erp", "msm", "twe")
EVERYTHING = slice(None)


def between(value, one, other):
    """Distance of a value from the range of two others."""
    return max(0.0, value - max(one, other), min(one, other) - value)


def naive(metric, a, b, radius, gap=0.0, c=1.0, nu=0.001, lmbda=1.0):
    """Recursions as they stand in the papers; points are rows."""
    if metric == "msm" and a.shape[1] > 1:
        channels = range(a.shape[1])
        return sum(naive("msm", a[:, [channel]], b[:, [channel]], radius, c=c) for channel in channels)
    norm = np.linalg.norm
    table = np.full((len(a) + 1, len(b) + 1), np.inf)
    table[0, 0] = 0
    if metric == "erp":
        table[1:, 0] = np.cumsum([norm(x - gap) for x in a])
        table[0, 1:] = np.cumsum([norm(x - gap) for x in b])
        outside = np.abs(np.subtract.outer(np.arange(len(a) + 1), np.arange(len(b) + 1))) > radius
        table[outside] = np.inf
    zero = np.zeros(a.shape[1])
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if abs(i - j) > radius:
                continue
            x, y = a[i - 1], b[j - 1]
            x_before, y_before = (a[i - 2] if i > 1 else zero), (b[j - 2] if j > 1 else zero)
            both, first, second = norm(x - y), norm(x - gap), norm(y - gap)
            if metric == "msm":
                first, second = c + between(x[0], x_before[0], y[0]), c + between(y[0], y_before[0], x[0])
            if metric == "twe":
                both += norm(x_before - y_before) + 2 * nu * abs(i - j)
                first, second = norm(x - x_before) + nu + lmbda, norm(y - y_before) + nu + lmbda
            table[i, j] = min(table[i - 1, j - 1] + both, table[i - 1, j] + first, table[i, j - 1] + second)
    return table[-1, -1]


@st.composite
def series_lists(draw):
    """Lists of short series, equally long or not, some of whole numbers so that ties occur; one to three channels."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, channels, longest = draw(st.integers(2, 24)), draw(st.integers(1, 3)), draw(st.integers(1, 12))
    lengths = np.full(n, longest) if draw(st.booleans()) else rng.integers(1, longest + 1, n)
    tied = draw(st.booleans())
    return [rng.integers(0, 3, (channels, m)) * 1.0 if tied else rng.normal(size=(channels, m)) for m in lengths]


costs = st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0])
windows = st.one_of(st.none(), st.integers(0, 9), st.floats(0, 1))
settings_of = {
    "erp": st.fixed_dictionaries({"window": windows, "gap": st.floats(-2, 2)}),
    "msm": st.fixed_dictionaries({"window": windows, "c": costs}),
    "twe": st.fixed_dictionaries({"window": windows, "nu": costs, "lmbda": costs}),
}
cases = st.sampled_from(METRICS).flatmap(lambda metric: st.tuples(st.just(metric), settings_of[metric]))


def radius_of(a, b, window):
    longest, difference = max(len(a), len(b)), abs(len(a) - len(b))
    radius = longest if window is None else window if isinstance(window, int) else int(window * longest + 1e-9)
    return max(radius, difference)


@given(series_lists(), cases)
def test_every_distance_against_its_recursion(series, case):
    metric, parameters = case
    block = make_space(series, metric, parameters).block(EVERYTHING, EVERYTHING)
    others = {name: value for name, value in parameters.items() if name != "window"}
    for i, a in enumerate(series[:6]):
        for j, b in enumerate(series[:6]):
            expected = naive(metric, a.T, b.T, radius_of(a.T, b.T, parameters["window"]), **others)
            assert block[i, j] == pytest.approx(expected, rel=1e-12, abs=1e-12)
    np.testing.assert_array_equal(block, block.T)  # to the last bit
    np.testing.assert_array_equal(np.diag(block), 0)


A = np.array([0.5, 1.0, 3.0, -2.0, 1.0, 0.25])
B = np.array([1.0, 2.5, 2.0, -1.0, 0.0, 0.75])
C = np.array([0.0, 2.0, -1.0, 1.5])
TWO = [np.array([A, 2 * A[::-1]]), np.array([B, B**2]), np.array([C, -C])]

REFERENCE = [
    ("msm", {}, (5.5, 6.25), (19.25, 19.75)),
    ("msm", {"c": 0.1}, (4.2, 4.45), (14.35, 16.15)),
    ("msm", {"c": 0.1, "window": 2}, (4.2, None), (14.35, None)),
    ("twe", {}, (9.504, 9.258), (35.101693444775, 25.988022476888)),
    ("twe", {"nu": 0.05, "lmbda": 0.2}, (8.1, 8.05), (32.685693444775, 24.780022476888)),
    ("twe", {"nu": 0.05, "lmbda": 0.2, "window": 1}, (8.1, None), (37.640851473734, None)),
]
"""Distances of A to B and to C, with one channel and with two, from aeon 1.6.0; its bands of unequal lengths differ."""


@pytest.mark.parametrize(("metric", "parameters", "one", "two"), REFERENCE)
def test_numbers_of_aeon(metric, parameters, one, two):
    for series, expected in (([A, B, C], one), (TWO, two)):
        found = make_space(series, metric, parameters).block([0], [1, 2])[0]
        for distance, reference in zip(found, expected, strict=True):
            assert reference is None or distance == pytest.approx(reference, rel=1e-9)


@given(series_lists(), st.sampled_from(METRICS))
def test_they_are_metrics(series, metric):
    block = make_space(series, metric, {"nu": 0.1} if metric == "twe" else {}).block(EVERYTHING, EVERYTHING)
    through = (block[:, :, None] + block[None]).min(axis=1)
    assert (block <= through * (1 + 1e-12) + 1e-12).all()
    apart = [[not np.array_equal(a, b) for b in series] for a in series]
    if metric != "erp":  # which skips gap values for nothing
        np.testing.assert_array_equal(block > 0, apart)


@given(series_lists(), cases, st.integers(1, 6))
def test_the_search_finds_what_whole_rows_hold(series, case, k):
    metric, parameters = case
    space, n = make_space(series, metric, parameters), len(series)
    expected = space.kneighbors_by_block(np.arange(n), k, limit=n)
    for n_jobs in (1, 2):
        found = space.kneighbors(k, limit=n, n_jobs=n_jobs)
        np.testing.assert_array_equal(found.counts, expected.counts)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.distances, expected.distances)
        assert found.closed.all()


@given(
    seed=st.integers(0, 2**32 - 1),
    case=cases,
    length=st.integers(2, 30),
    kind=st.sampled_from(["noise", "walk", "tied", "large", "small"]),
)
def test_the_search_is_exact_where_bounds_matter(seed, case, length, kind):
    """Many series, so that every bound decides about some pair."""
    (metric, parameters), rng, n = case, np.random.default_rng(seed), 90
    X = rng.integers(0, 5, (n, length)) * 1.0 if kind == "tied" else rng.normal(size=(n, length))
    X = {"walk": X.cumsum(axis=1), "large": X * 1e100, "small": X * 1e-100}.get(kind, X)
    for series in (X, [row[: length - i % 2] for i, row in enumerate(X)]):
        space = make_space(series, metric, parameters)
        found, expected = space.kneighbors(3, limit=n), space.kneighbors_by_block(np.arange(n), 3, limit=n)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.distances, expected.distances)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("window", [3, 20, None])
@pytest.mark.parametrize("kind", ["walk", "tied"])
def test_batches_of_pairs_change_nothing(metric, window, kind):
    """More series than lanes, narrow and wide bands, rows with ties: the same numbers as pair by pair."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (150, 40)) * 1.0 if kind == "tied" else rng.normal(size=(150, 40)).cumsum(axis=1)
    X = X[rng.integers(0, 120, 150)] if kind == "tied" else X
    space = make_space(X, metric, {"window": window})
    by_pair = space.block(np.arange(150), np.arange(150))
    np.testing.assert_array_equal(space.block(EVERYTHING, EVERYTHING), by_pair)
    expected = space.kneighbors_by_block(np.arange(150), 4, limit=150)
    for n_jobs in (1, 2):
        found = space.kneighbors(4, limit=150, n_jobs=n_jobs)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.distances, expected.distances)


@given(series_lists(), series_lists(), cases)
def test_nearest_is_the_first_smallest(queries, series, case):
    metric, parameters = case
    queries = [one[:1] for one in queries]
    space = make_space([one[:1] for one in series], metric, parameters).cross(queries)
    columns = np.arange(len(series))[::2]
    block = space.block(EVERYTHING, columns)
    for n_jobs in (1, 2):
        positions, distances = space.nearest(EVERYTHING, columns, n_jobs=n_jobs)
        np.testing.assert_array_equal(positions, block.argmin(axis=1))
        np.testing.assert_array_equal(distances, block.min(axis=1))


@given(series_lists(), cases, st.sampled_from([0.0, 0.5, 1.0, 1.5]))
def test_bounds_and_cutoffs(series, case, share):
    """No bound is above the distance, and a distance within the cut-off is found to the last bit."""
    metric, parameters = case
    space = make_space(series, metric, parameters)
    edits, prepared, kernel = space._edits, space._column_edits, kernels.elastic_search
    lengths = np.diff(prepared.starts)
    bounds = bounds_of(prepared, edits, lengths.max(), equal=len(set(lengths)) == 1)
    work = kernel.work_space(prepared, prepared)
    for j, distance in enumerate(space.block([0], EVERYTHING)[0]):
        bound = kernel.pair_bound(prepared, 0, bounds, prepared, j, bounds, edits, np.inf, work)
        assert bound <= distance * (1 + 1e-9) + 1e-9
        cutoff = share * distance
        found = kernel.distance_within(prepared, 0, bounds, prepared, j, bounds, edits, cutoff, work)
        assert found == distance or (found == np.inf and distance > cutoff)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("window", [3, None])
def test_a_larger_search_and_its_counters(metric, window, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 40)).cumsum(axis=1)
    space = make_space(X, metric, {"window": window})
    lists = build_lists(space, 5)
    expected = space.kneighbors_by_block(np.arange(150), 5, limit=150)
    np.testing.assert_array_equal(lists.indices, expected.indices)
    np.testing.assert_array_equal(lists.distances, expected.distances)
    counters = lists.counters
    assert counters.pairs == 150 * 149 // 2
    assert counters.bounded + counters.abandoned + counters.computed == counters.pairs
    assert counters.computed < 0.5 * counters.pairs
    # Bounds that do not fit into memory are computed again.
    monkeypatch.setattr("protoset._blocks.BLOCK_BYTES", 1000)
    again = space.kneighbors(5, limit=150)
    np.testing.assert_array_equal(again.indices, expected.indices)
    assert again.counters.computed < 0.5 * counters.pairs


@pytest.mark.parametrize("metric", METRICS)
def test_what_the_records_say(metric):
    record = DISSIMILARITIES[metric]
    assert (record.kind, record.ragged, record.bounds, record.moves) == ("series", True, True, False)
    X = np.random.default_rng(0).normal(size=(6, 2, 9))
    assert make_space(X, metric).movable is None
    assert make_space(X, metric).moving_among(X) is None


def test_several_channels_of_msm_have_no_common_path():
    space = make_space(TWO, "msm")
    assert space.compare(0, 1).distance == pytest.approx(19.25)
    assert not hasattr(space.compare(0, 1), "pairs")
    # The point 1 of b is split into two.
    alignment = make_space([np.array([0.0, 1, 1, 5]), np.array([0.0, 1, 5])], "msm").compare(0, 1)
    assert alignment.distance == 1
    assert alignment.costs.tolist() == [0, 0, 1, 0] or alignment.costs.tolist() == [0, 1, 0, 0]
    assert (alignment.pairs[:, 1] == -1).sum() == 1


@pytest.mark.parametrize("metric", METRICS)
def test_a_saved_classifier_predicts_the_same(metric, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = [rng.normal(size=12 + i % 3) * 0.3 + y[i] * np.sin(np.arange(12 + i % 3)) for i in range(40)]
    parameters = {"erp": {"gap": 0.5}, "msm": {"c": 0.3}, "twe": {"nu": 0.2, "lmbda": 0.4}}[metric]
    classifier = PrototypeClassifier(REPS(0.3, metric=metric, metric_params=parameters), adapt=False).fit(X, y)
    assert classifier.score(X, y) > 0.8
    save(classifier, tmp_path / "model.protoset")
    again = load(tmp_path / "model.protoset")
    np.testing.assert_array_equal(again.predict_proba(X), classifier.predict_proba(X))


@pytest.mark.parametrize(
    ("metric", "parameters", "message"),
    [
        ("msm", {"c": -1}, "c=-1 must be a number from 0 to 1e.150; 1 is usual"),
        ("msm", {"c": "1"}, "c='1' must be a number"),
        ("twe", {"nu": np.nan}, "nu=nan must be a number from 0 to 1e.150; 0.001 is usual"),
        ("twe", {"lmbda": np.inf}, "lmbda=inf must be a number"),
        ("twe", {"window": 1.5}, "window=1.5 as a float is a fraction"),
        ("erp", {"gap": [1, 2, 3]}, "gap=.* must be a number, or one for each of the 2 channels"),
        ("erp", {"gap": 1e200}, "gap=1e.200 must be a number"),
        ("erp", {"c": 1}, r"does not know \['c'\]; it takes \['window', 'gap', 'normalize'\]"),
    ],
)
def test_bad_parameters(metric, parameters, message):
    with pytest.raises(ValueError, match=message):
        make_space(np.ones((3, 2, 4)), metric, parameters)
