"""Time series: dynamic time warping and its kin, and the search that passes over most pairs."""

import numpy as np
import pandas as pd
import pytest
from dtaidistance import dtw as dtaidistance_dtw
from dtaidistance import dtw_ndim
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score

from protoset import REPS, PrototypeClassifier, _blocks, kernels
from protoset.neighbors import build_lists
from protoset.spaces import SearchCounters, make_space, series_search
from protoset.spaces.series_search import as_points, largest_value, rounding_of, single_series

METRICS = ("dtw", "ddtw", "series_euclidean")
EVERYTHING = slice(None)


def naive_dtw(a, b, radius):
    """Squared distance by the recursion as it stands; points are rows."""
    table = np.full((len(a) + 1, len(b) + 1), np.inf)
    table[0, 0] = 0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if abs(i - j) <= radius:
                cost = ((a[i - 1] - b[j - 1]) ** 2).sum()
                table[i, j] = cost + min(table[i - 1, j - 1], table[i - 1, j], table[i, j - 1])
    return table[-1, -1]


@st.composite
def series_lists(draw, equal=False):
    """Lists of short series, some of whole numbers so that ties occur; one or two channels."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, channels = draw(st.integers(2, 12)), draw(st.integers(1, 2))
    tied, longest = draw(st.booleans()), draw(st.integers(1, 9))
    lengths = np.full(n, longest) if equal else rng.integers(1, longest + 1, n)
    make = (lambda size: rng.integers(0, 3, size).astype(float)) if tied else (lambda size: rng.normal(size=size))
    return [make((channels, length)) for length in lengths]


windows = st.one_of(st.none(), st.integers(0, 9), st.floats(0, 1))


def radius_of(a, b, window):
    longest, difference = max(len(a), len(b)), abs(len(a) - len(b))
    radius = longest if window is None else window if isinstance(window, int) else int(window * longest + 1e-9)
    return max(radius, difference)


@given(series_lists(), windows, st.booleans())
def test_dtw_against_the_recursion(series, window, squared):
    block = make_space(series, "dtw", {"window": window, "squared": squared}).block(EVERYTHING, EVERYTHING)
    for i, a in enumerate(series):
        for j, b in enumerate(series):
            expected = naive_dtw(a.T, b.T, radius_of(a.T, b.T, window))
            assert block[i, j] == pytest.approx(expected if squared else np.sqrt(expected), rel=1e-12, abs=1e-12)
    np.testing.assert_array_equal(block, block.T)


def test_agreement_with_dtaidistance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 40)).cumsum(axis=1)
    for radius in (0, 1, 5, 39):
        ours = make_space(X, "dtw", {"window": radius}).block(EVERYTHING, EVERYTHING)
        # There a window of w admits |i - j| < w.
        theirs = dtaidistance_dtw.distance_matrix(X, window=radius + 1, compact=False)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
    ragged = [rng.normal(size=length) for length in rng.integers(5, 30, 12)]
    np.testing.assert_allclose(
        make_space(ragged, "dtw").block(EVERYTHING, EVERYTHING),
        dtaidistance_dtw.distance_matrix(ragged, compact=False),
        rtol=1e-9,
        atol=1e-9,
    )
    several = rng.normal(size=(8, 3, 20))
    np.testing.assert_allclose(
        make_space(several, "dtw").block(EVERYTHING, EVERYTHING),
        dtw_ndim.distance_matrix([series.T.copy() for series in several], compact=False),
        rtol=1e-9,
        atol=1e-9,
    )


def test_literal_distances():
    """Worked out by hand: one point of b is matched twice."""
    a, b = [0.0, 1.0, 3.0, 3.0], [0.0, 1.0, 1.0, 3.0]
    space = make_space([a, b, [0.0, 2.0]], "dtw")
    np.testing.assert_allclose(space.block(EVERYTHING, EVERYTHING)[0], [0, 0, np.sqrt(1 + 1 + 1)])
    assert make_space([a, b], "dtw", {"window": 0}).block(EVERYTHING, EVERYTHING)[0, 1] == 2
    assert make_space([a, b], "series_euclidean").block(EVERYTHING, EVERYTHING)[0, 1] == 2
    assert make_space([a, b], "series_euclidean", {"squared": True}).block(EVERYTHING, EVERYTHING)[0, 1] == 4
    assert make_space([a, b], "erp").block(EVERYTHING, EVERYTHING)[0, 1] == 2
    derivatives = make_space([[0.0, 1.0, 4.0], [0.0, 0.0, 0.0]], "ddtw").block(EVERYTHING, EVERYTHING)
    assert derivatives[0, 1] == ((1 - 0) + (4 - 0) / 2) / 2


@given(series_lists(equal=True), st.integers(0, 9), st.integers(0, 2**32 - 1))
def test_every_bound_is_below_the_distance(series, radius, seed):
    """LB_Kim, LB_Keogh, and the early end never above the cut-off."""
    prepared = make_space(series, "dtw", {"window": radius})._rows
    points = as_points(prepared.arrays)
    _, length, channels = points.shape
    rounding = rounding_of(largest_value(points), points.shape[1:], root=False)
    single = single_series(points, radius, rounding.scale)
    high, low = (array[:, : length * channels].reshape(points.shape) for array in (single.upper, single.lower))
    scaled = (points * rounding.scale).astype(np.float32)
    for t in range(length):
        window = scaled[:, max(0, t - radius) : t + radius + 1]
        np.testing.assert_array_equal(high[:, t], window.max(axis=1))
        np.testing.assert_array_equal(low[:, t], window.min(axis=1))
    a, b = (prepared.values[prepared.starts[i] : prepared.starts[i + 1]] for i in (0, 1))
    distance = naive_dtw(points[0], points[1], radius)
    assert kernels.series_search.kim(a, b) <= distance * (1 + 1e-9)
    outside = np.maximum(np.maximum(scaled[0] - high[1], low[1] - scaled[0]), 0)
    keogh = kernels.single_precision.keogh(single.values, 0, single.upper, single.lower, 1, np.float32(np.inf))
    assert keogh == pytest.approx((outside**2).sum(), rel=1e-5)
    limit = kernels.single_precision.limit_of(distance, rounding)
    assert keogh <= limit
    cutoff = distance * np.random.default_rng(seed).choice([0.5, 1.0, 2.0])
    found = kernels.series.dtw_within(a, b, radius, cutoff, np.empty(length + 2), np.empty(length + 2))
    whole = kernels.series.dtw(a, b, radius, np.empty(length + 2), np.empty(length + 2))
    assert found == (whole if whole <= cutoff * kernels.series.CUTOFF_MARGIN else np.inf)


@pytest.mark.parametrize(("channels", "window"), [(1, 4), (1, None), (3, 4), (3, None)])
def test_distances_in_single_precision_are_bounds(channels, window):
    """The thresholds of the seeds: never below the distance of the last neighbour, and close to it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70, channels, 33)).cumsum(axis=2) * 1e6
    space = make_space(X, "dtw", {"window": window})
    points, radius = as_points(space._rows.arrays), space._radius()
    rounding = rounding_of(largest_value(points), points.shape[1:], root=True)
    single = single_series(points, radius, rounding.scale)
    thresholds, shape = np.full(70, np.inf), kernels.single_precision.Shape(33, channels, radius)
    means = single.values[:, :16].copy()
    n_seeds = kernels.series_search.count_seeds(len(single.values), 20)
    work = kernels.series_search.make_seed_work(single.values, n_seeds, shape)
    kernels.series_search.seed_thresholds(single.values, means, 0, 1, 20, n_seeds, shape, rounding, work, thresholds)
    block = np.sort(space.block(EVERYTHING, EVERYTHING), axis=1)[:, 20]  # all series are seeds
    assert (thresholds >= block).all()
    np.testing.assert_allclose(thresholds, block, rtol=1e-4)


@pytest.mark.parametrize("metric", METRICS)
@given(
    series=series_lists(), equal=series_lists(equal=True), window=windows, k=st.integers(1, 5), squared=st.booleans()
)
def test_the_search_finds_what_whole_rows_hold(metric, series, equal, window, k, squared):
    for given_series in (equal,) if metric == "series_euclidean" else (series, equal):
        objects = [np.pad(one, ((0, 0), (0, 3)), mode="edge") for one in given_series]
        parameters = {"squared": squared} | ({} if metric == "series_euclidean" else {"window": window})
        space = make_space(objects, metric, parameters)
        expected = space.kneighbors_by_block(np.arange(len(objects)), k, limit=len(objects))
        for n_jobs in (1, 2):
            found = space.kneighbors(k, limit=len(objects), n_jobs=n_jobs)
            np.testing.assert_array_equal(found.counts, expected.counts)
            np.testing.assert_array_equal(found.indices, expected.indices)
            np.testing.assert_array_equal(found.distances, expected.distances)
            assert found.closed.all()


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(20, 90),
    length=st.integers(1, 14),
    window=st.sampled_from([0, 1, 2, 0.1, 0.2, None]),
    k=st.integers(1, 6),
    kind=st.sampled_from(["noise", "walk", "tied", "large", "small"]),
)
def test_the_search_is_exact_where_bounds_matter(seed, n, length, window, k, kind):
    """Many short series, so that every bound decides about some pair."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n, length)).astype(float) if kind == "tied" else rng.normal(size=(n, length))
    X = {"walk": X.cumsum(axis=1), "large": X * 1e100, "small": X * 1e-100}.get(kind, X)
    space = make_space(X, "dtw", {"window": window})
    found, expected = space.kneighbors(k, limit=n), space.kneighbors_by_block(np.arange(n), k, limit=n)
    np.testing.assert_array_equal(found.counts, expected.counts)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.distances, expected.distances)


@pytest.mark.parametrize("window", [3, 20, 26, None])
@pytest.mark.parametrize("kind", ["walk", "tied"])
@pytest.mark.parametrize("channels", [1, 2])
def test_batches_of_pairs_change_nothing(window, kind, channels):
    """More series than lanes, narrow and wide bands, rows with ties: the same lists as from whole rows."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (150, channels, 64)) * 1.0 if kind == "tied" else rng.normal(size=(150, channels, 64))
    X = X[rng.integers(0, 120, 150)] if kind == "tied" else X.cumsum(axis=2)
    for metric in ("dtw", "ddtw"):
        space = make_space(X, metric, {"window": window})
        expected = space.kneighbors_by_block(np.arange(150), 4, limit=150)
        block = space.block(np.arange(150), np.arange(120))
        np.testing.assert_array_equal(block[:120], space._block(np.arange(120), np.arange(120), upper=False))
        np.testing.assert_array_equal(block[:20], space.block(np.arange(20), np.arange(120)))
        for n_jobs in (1, 2):
            found = space.kneighbors(4, limit=150, n_jobs=n_jobs)
            np.testing.assert_array_equal(found.indices, expected.indices)
            np.testing.assert_array_equal(found.distances, expected.distances)
            positions, distances = space.nearest(EVERYTHING, np.arange(120), n_jobs=n_jobs)
            np.testing.assert_array_equal(positions, block.argmin(axis=1))
            np.testing.assert_array_equal(distances, block.min(axis=1))


def test_blocks_of_series_of_many_lengths():
    rng = np.random.default_rng(0)
    series = [rng.normal(size=length) for length in rng.integers(3, 12, 60)]
    space = make_space(series, "dtw", {"window": 2})
    rows, columns = rng.permutation(60)[:40], rng.permutation(60)[:25]
    expected = space._block(rows, columns, upper=False)
    np.testing.assert_array_equal(space.block(rows, columns), expected)
    np.testing.assert_array_equal(space.block(columns, rows), expected.T)
    np.testing.assert_array_equal(space.block(EVERYTHING, EVERYTHING)[rows][:, columns], expected)


def test_a_bound_that_was_none():
    """LB_Kim plus what LB_Improved adds to LB_Keogh is no bound: series 4 is as near to series 5 as 1 and 3."""
    X = np.array([[4, 1], [1, 2], [4, 0], [1, 2], [1, 2], [1, 0]], float)
    found = make_space(X, "dtw", {"window": 1}).kneighbors(1, limit=6)
    assert found.indices[-3:].tolist() == [1, 3, 4]


@pytest.mark.parametrize("window", [10**6, 2**63 - 1, 2**80])
def test_a_radius_beyond_the_length_is_no_band(window):
    X = np.random.default_rng(0).normal(size=(20, 6))
    np.testing.assert_array_equal(
        make_space(X, "dtw", {"window": window}).block(EVERYTHING, EVERYTHING),
        make_space(X, "dtw").block(EVERYTHING, EVERYTHING),
    )
    make_space(X, "dtw", {"window": window}).kneighbors(3, limit=20)


@pytest.mark.parametrize(("normalize", "smooth"), [(True, True), (False, False)])
def test_a_larger_search_and_its_counters(normalize, smooth):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 60))
    X = X.cumsum(axis=1) if smooth else X
    space = make_space(X, "dtw", {"window": 0.1, "normalize": normalize})
    lists = build_lists(space, 5)
    expected = space.kneighbors_by_block(np.arange(150), 5, limit=150)
    np.testing.assert_array_equal(lists.indices, expected.indices)
    np.testing.assert_array_equal(lists.distances, expected.distances)
    counters = lists.counters
    assert counters.pairs == 150 * 149 // 2
    assert counters.bounded + counters.abandoned + counters.computed == counters.pairs
    # Pairs are computed in batches, to the end if one of a batch is near enough.
    assert counters.computed < (0.4 if smooth else 1.0) * counters.pairs
    if smooth:
        assert counters.bounded > 0.5 * counters.pairs
    ragged = make_space([*X[:-1], X[-1][:30]], "dtw", {"window": 0.1}).kneighbors(5, limit=150).counters
    assert ragged.bounded + ragged.abandoned + ragged.computed == ragged.pairs
    assert ragged.abandoned > 0


@given(series_lists(), windows, st.booleans(), st.sampled_from(["dtw", "erp", "twe"]), st.integers(0, 2**32 - 1))
def test_distances_up_to_cutoffs(series, window, squared, metric, seed):
    parameters = {"window": window} | ({"squared": squared} if metric == "dtw" else {})
    space, rng = make_space(series, metric, parameters), np.random.default_rng(seed)
    for column in range(len(series)):
        exact = space.distances_to(column)
        cutoffs = np.where(rng.random(len(series)) < 0.5, exact, rng.permutation(exact))
        found = space.distances_within(column, cutoffs)
        np.testing.assert_array_equal(found[exact <= cutoffs], exact[exact <= cutoffs])
        assert ((found == exact) | np.isinf(found)).all()


@pytest.mark.parametrize("shape", [(200, 40), (200, 2, 40)])
@pytest.mark.parametrize("squared", [False, True])
def test_a_column_up_to_cutoffs_and_its_counters(shape, squared):
    rng = np.random.default_rng(0)
    space = make_space(rng.normal(size=shape).cumsum(axis=-1), "dtw", {"window": 4, "squared": squared})
    for column in (0, 77):
        exact = space.distances_to(column)
        for cutoffs in (np.full(200, np.partition(exact, 12)[12]), exact * rng.uniform(0.5, 1.1, 200)):
            found = np.empty(200)
            bounded, abandoned, computed = space._write_within(column, cutoffs, found)
            np.testing.assert_array_equal(found, np.where(exact <= cutoffs, exact, np.inf))
            assert bounded + abandoned + computed == 200
            assert np.isfinite(found).sum() <= computed < 200
            assert bounded > 0


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("metric", ["dtw", "erp"])
def test_more_ties_than_a_search_keeps(metric, n_jobs, monkeypatch):
    """Most series have few values, so that many are equally far; lists have all ties, the lowest rows first."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (80, 5)).astype(float)
    X[::4] = rng.normal(size=(20, 5))
    expected = make_space(X, metric).kneighbors(3, limit=60, n_jobs=n_jobs)
    monkeypatch.setattr(series_search, "KEPT_NEIGHBORS", 1)
    got = make_space(X, metric).kneighbors(3, limit=60, n_jobs=n_jobs)
    assert (expected.counts > 6).any()
    assert (expected.counts <= 6).any()
    for name in ("counts", "indices", "distances", "closed"):
        np.testing.assert_array_equal(getattr(got, name), getattr(expected, name))


def test_ties_beyond_the_limit():
    X = np.zeros((30, 8))
    X[:3, 4] = 1.0
    found = make_space(X, "dtw", {"window": 0}).kneighbors(3, limit=6)
    expected = make_space(X, "dtw", {"window": 0}).kneighbors_by_block(np.arange(30), 3, limit=6)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.closed, expected.closed)
    assert not found.closed.all()


@pytest.mark.parametrize("metric", ["dtw", "ddtw", "series_euclidean", "erp", "msm", "twe"])
def test_nearest_of_no_rows_is_empty(metric):
    X = np.random.default_rng(0).normal(size=(300, 64))
    space = make_space(X, metric)
    positions, distances = space.nearest(np.empty(0, np.int64))
    assert len(positions) == len(distances) == 0


@pytest.mark.parametrize("few_cells", [0, np.inf])
@given(series_lists(equal=True), series_lists(), windows, st.booleans())
def test_nearest_is_the_first_smallest(few_cells, equal, ragged, window, squared):
    """Of few points by all distances, of many points by bounds."""
    for objects in (equal, ragged):
        space = make_space(objects, "dtw", {"window": window, "squared": squared})
        columns = np.arange(len(objects))[::2]
        block = space.block(EVERYTHING, columns)
        for n_jobs in (1, 2):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("protoset.spaces.series.FEW_CELLS", few_cells)
                positions, distances = space.nearest(EVERYTHING, columns, n_jobs=n_jobs)
            np.testing.assert_array_equal(positions, block.argmin(axis=1))
            np.testing.assert_array_equal(distances, block.min(axis=1))


def test_forms_of_input_agree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 9))
    expected = make_space(X, "dtw").block(EVERYTHING, EVERYTHING)
    forms = [X[:, None, :], list(X), X.tolist(), pd.DataFrame(X), [row[None, :] for row in X], X.astype(np.float32)]
    for form in forms[:-1]:
        np.testing.assert_array_equal(make_space(form, "dtw").block(EVERYTHING, EVERYTHING), expected)
    np.testing.assert_allclose(make_space(forms[-1], "dtw").block(EVERYTHING, EVERYTHING), expected, rtol=1e-5)
    objects = np.empty(12, object)
    objects[:] = list(X)
    np.testing.assert_array_equal(make_space(objects, "dtw").block(EVERYTHING, EVERYTHING), expected)


def test_normalisation_is_per_series_and_channel():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 2, 10))
    moved = X * np.array([3.0, 0.1])[None, :, None] + np.array([5.0, -7.0])[None, :, None]
    a = make_space(X, "dtw", {"normalize": True}).block(EVERYTHING, EVERYTHING)
    b = make_space(moved, "dtw", {"normalize": True}).block(EVERYTHING, EVERYTHING)
    np.testing.assert_allclose(a, b, atol=1e-12)
    tiny = make_space(np.ldexp(X, -600), "dtw", {"normalize": True}).block(EVERYTHING, EVERYTHING)
    np.testing.assert_array_equal(tiny, a)
    flat = make_space([np.full(5, 0.1), np.zeros(5)], "dtw", {"normalize": True})
    assert flat.block(EVERYTHING, EVERYTHING)[0, 1] == 0


def test_progress_is_told():
    seen = []
    X = np.random.default_rng(0).normal(size=(70, 20))
    make_space(X, "dtw").kneighbors(3, limit=70, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (70 * 69 // 2, 70 * 69 // 2)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_block_size_changes_nothing(monkeypatch):
    space = make_space(np.random.default_rng(0).normal(size=(40, 12)), "erp")
    expected = space.kneighbors(4, limit=40)
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 1000)
    for n_jobs in (1, 2):
        found = space.kneighbors(4, limit=40, n_jobs=n_jobs)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.distances, expected.distances)
    assert isinstance(make_space([[1.0], [2.0, 3]], "dtw").kneighbors(1, limit=1).counters, SearchCounters)


def shifted_bumps(n=60, length=40, seed=0):
    """Two classes of bumps, narrow and wide, at different places."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    t = np.linspace(0, 1, length)
    widths = np.where(y == 0, 0.05, 0.12)
    X = np.exp(-(((t - rng.uniform(0.35, 0.65, n)[:, None]) / widths[:, None]) ** 2))
    return X + 0.02 * rng.normal(size=X.shape), y


def test_warping_serves_where_points_do_not():
    X, y = shifted_bumps()
    warped = PrototypeClassifier(REPS(0.2, metric="dtw", metric_params={"window": 0.3}), adapt=False)
    stiff = PrototypeClassifier(REPS(0.2), adapt=False)
    assert cross_val_score(warped, X, y, cv=5).mean() > 0.95
    assert cross_val_score(warped, X, y, cv=5).mean() > cross_val_score(stiff, X, y, cv=5).mean()
    ragged = [series[: 36 + i % 5] for i, series in enumerate(X)]
    assert cross_val_score(warped, ragged, y, cv=5).mean() > 0.9


BAD = [
    ([[1.0, 2.0], []], {}, ValueError, "series without points in row 1; remove them"),
    ([[1.0, np.nan], [1.0, 2.0]], {}, ValueError, "NaN or infinity in row 0; fill the gaps in.*list of arrays"),
    (np.array([[1.0, np.inf], [1.0, 2.0]]), {}, ValueError, "NaN or infinity in row 0"),
    ([[1.0, 2.0], "abc"], {}, TypeError, "row 1 of X is not a series of numbers"),
    ([[1.0, 2.0], ["a", "b"]], {}, TypeError, "row 1 of X is not a series of numbers"),
    ([np.zeros((2, 5)), np.zeros((3, 5))], {}, ValueError, "2 channels in row 0, but other numbers in row 1"),
    (np.zeros(5), {}, ValueError, "Expected 2D array .* got the shape .5,."),
    ([np.zeros((1, 2, 3))], {}, ValueError, "row 0 of X has the shape"),
    ([], {}, ValueError, "0 sample"),
    (7, {}, TypeError, "X=int is not understood"),
    ({(1.0, 2.0), (3.0, 4.0)}, {}, TypeError, "X=set is not understood"),
    ([np.ma.masked_array([1.0, 99.0], [0, 1])], {}, TypeError, "masked array"),
    ([np.array(["1", "2"], object)], {}, TypeError, "row 0 of X is not a series of numbers"),
    (np.full((3, 4), 1e-200), {}, ValueError, "no value above 1e-200, and squared differences of such values vanish"),
    (np.full((3, 4), 1e200), {}, ValueError, "values above 1e.150 in rows 0, 1, 2"),
    (np.zeros((3, 4)), {"window": -1}, ValueError, "window=-1 must be None for no band, an int"),
    (np.zeros((3, 4)), {"window": 1.5}, ValueError, "window=1.5 as a float is a fraction.*pass an int"),
    (np.zeros((3, 4)), {"window": "5"}, ValueError, "window='5' must be"),
    (np.zeros((3, 4)), {"window": True}, ValueError, "window=True must be"),
    (np.zeros((3, 4)), {"squared": 1}, ValueError, "squared=1 must be True or False"),
    (np.zeros((3, 4)), {"radius": 1}, ValueError, r"does not know \['radius'\]; it takes \['window', 'squared'"),
]


@pytest.mark.parametrize(("X", "parameters", "error", "message"), BAD, ids=range(len(BAD)))
def test_bad_input(X, parameters, error, message):
    with pytest.raises(error, match=message):
        make_space(X, "dtw", parameters)


def test_bad_input_of_the_others():
    with pytest.raises(ValueError, match="'ddtw' needs series of at least 3 points; row 0 of X have fewer"):
        make_space([[1.0, 2.0], [1.0, 2.0, 3.0]], "ddtw")
    with pytest.raises(ValueError, match="series of one length, got lengths from 2 to 3; use metric='dtw'"):
        make_space([[1.0, 2.0], [1.0, 2.0, 3.0]], "series_euclidean")
    with pytest.raises(ValueError, match="series of 2 points, but the series in fit had 3"):
        make_space(np.zeros((3, 3)), "series_euclidean").cross(np.zeros((1, 2)))
    with pytest.raises(ValueError, match="series of 1 channels, but the series in fit had 2"):
        make_space(np.zeros((3, 2, 4)), "dtw").cross(np.zeros((1, 4)))


def test_a_radius_below_the_difference_of_lengths_is_widened_to_it():
    a, b = np.arange(5.0), np.arange(9.0)
    narrow = make_space([a, b], "dtw", {"window": 1}).block(EVERYTHING, EVERYTHING)
    assert narrow[0, 1] ** 2 == pytest.approx(naive_dtw(a[:, None], b[:, None], 4))


def test_gunpoint(data_folder):
    """The data of the archive's first example: warped prototypes against 1-NN on everything."""
    parts = [np.loadtxt(data_folder / "ucr" / "GunPoint" / f"GunPoint_{part}.tsv.gz") for part in ("TRAIN", "TEST")]
    (y, X), (y_test, X_test) = ((part[:, 0].astype(int), part[:, 1:]) for part in parts)
    everything = PrototypeClassifier(REPS(1.0, metric="dtw"), adapt=False).fit(X, y)
    assert everything.score(X_test, y_test) == pytest.approx(0.907, abs=0.001)  # the archive's published accuracy
    classifier = PrototypeClassifier(REPS(0.4, metric="dtw", metric_params={"window": 0.1}), adapt=False).fit(X, y)
    assert classifier.score(X_test, y_test) > 0.8
