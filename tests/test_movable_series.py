"""Series that move: distances and gradients along the best paths, and the spaces of moved series."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from protoset import REPS, PrototypeClassifier, Refined, kernels
from protoset.adaptation.adapting import starting_set
from protoset.adaptation.descent import Course, WeightedObjects, descend, nearby_prototypes
from protoset.adaptation.validation import Errors, measure, should_move
from protoset.selectors._distinct import DistinctObjects
from protoset.spaces import make_space, movable_series
from protoset.spaces.movable import Moved
from protoset.spaces.movable_series import MovableSeries
from protoset.spaces.series import SeriesSpace

METRICS = ("dtw", "ddtw", "series_euclidean")
EVERYTHING = slice(None)

windows = st.one_of(st.none(), st.integers(0, 6), st.floats(0, 1))


@st.composite
def cases(draw):
    """Space of training series, moved prototypes with scales, and a generator."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, channels = draw(st.integers(3, 40)), draw(st.integers(1, 3))
    metric = draw(st.sampled_from(METRICS))
    equal = metric == "series_euclidean" or draw(st.booleans())
    lengths = np.full(n, draw(st.integers(3, 9))) if equal else rng.integers(3, 10, n)
    parameters = {"squared": draw(st.booleans()), "normalize": draw(st.booleans())}
    if metric != "series_euclidean":
        parameters["window"] = draw(windows)
    space = make_space([rng.normal(size=(channels, length)) for length in lengths], metric, parameters)
    points = space.movable.start(rng.integers(0, n, draw(st.integers(1, 5))))
    points += rng.normal(0, 0.5, points.shape)
    scales = rng.uniform(0.3, 2.0, channels)
    return space, Moved(points, scales), rng


def distances_of_moved(space, prototypes):
    """Distances by the space of the moved prototypes, from the prepared series of the training space."""
    placed = space.movable.place(prototypes)
    factors = np.sqrt(prototypes.scales)
    queries = type(space._columns)(space._columns.values * factors, space._columns.starts)
    block = placed._like(queries, placed._columns).block(EVERYTHING, EVERYTHING)
    return np.sqrt(block) if space._parameters["squared"] else block


@given(cases())
def test_distances_are_those_of_the_space_of_the_moved_series(case):
    space, prototypes, rng = case
    movable, rows = space.movable, rng.permutation(space.shape[0])
    distances = movable.distances(rows, prototypes)
    np.testing.assert_allclose(distances, distances_of_moved(space, prototypes)[rows], rtol=1e-12)
    columns = rng.integers(0, len(prototypes.points), (len(rows), 3))
    listed = movable.distances(rows, prototypes, columns)
    np.testing.assert_array_equal(listed, np.take_along_axis(distances, columns, axis=1))


@given(cases())
def test_at_the_start_distances_are_those_of_the_metric(case):
    space, prototypes, rng = case
    indices = rng.integers(0, space.shape[0], 3)
    start = Moved(space.movable.start(indices), np.ones_like(prototypes.scales))
    block = space.block(EVERYTHING, indices)
    expected = np.sqrt(block) if space._parameters["squared"] else block
    movable, rows = space.movable, rng.permutation(space.shape[0])
    np.testing.assert_array_equal(movable.distances(rows, start), expected[rows])
    np.testing.assert_array_equal(movable.all_distances(), space.block(EVERYTHING, EVERYTHING))
    np.testing.assert_array_equal(movable.distances(rows, start), expected[rows])
    np.testing.assert_array_equal(movable.distances(rows, prototypes), space.movable.distances(rows, prototypes))


@given(cases())
def test_the_matrix_of_all_series_has_the_numbers_of_blocks(case):
    space, _, _ = case
    everything = np.arange(space.shape[0])
    matrix = space.block(EVERYTHING, EVERYTHING)
    np.testing.assert_array_equal(matrix, space.block(everything, everything))
    np.testing.assert_array_equal(matrix, matrix.T)


def relative_loss(distances, labels, codes, slopes):
    return kernels.adapting.relative_loss(distances, labels, codes, np.ones(len(codes)), 3.0, slopes)


def softmax_loss(distances, labels, codes, slopes):
    return kernels.adapting.softmax_loss(distances, labels, codes, np.ones(len(codes)), 0.1, slopes)[0]


@pytest.mark.parametrize("loss", [relative_loss, softmax_loss])
@given(case=cases())
def test_gradients_are_numerical_differences(loss, case):
    space, prototypes, rng = case
    movable, n, k = space.movable, space.shape[0], len(prototypes.points)
    rows = rng.permutation(n)[:8]
    codes, labels = np.arange(len(rows)) % 2, np.broadcast_to(np.arange(k) % 2, (len(rows), k))
    columns = np.broadcast_to(np.arange(k), labels.shape)

    def value(points, logarithms):
        distances = movable.distances(rows, Moved(points, np.exp(logarithms)))
        return loss(distances, labels, codes, np.empty_like(distances))

    distances = movable.distances(rows, prototypes)
    assume((distances > 0.1).all())
    slopes = np.empty_like(distances)
    loss(distances, labels, codes, slopes)
    gradient = Moved(np.zeros_like(prototypes.points), np.zeros_like(prototypes.scales))
    movable.add_gradients(rows, prototypes, columns, distances, slopes, gradient)

    direction = np.where(np.isnan(prototypes.points), 0.0, rng.normal(size=prototypes.points.shape))
    turn = rng.normal(size=prototypes.scales.shape)
    points, logarithms = prototypes.points, np.log(prototypes.scales)

    def slope(eps):
        after, before = (value(points + s * direction, logarithms + s * turn) for s in (eps, -eps))
        return (after - before) / (2 * eps)

    # Where two paths or two prototypes tie, the differences of two lengths do not agree.
    assume(abs(slope(1e-4) - slope(1e-6)) < 1e-6)
    assert np.isfinite(gradient.points).all()
    expected = (gradient.points * direction).sum() + (gradient.scales * turn).sum()
    assert slope(1e-6) == pytest.approx(expected, rel=1e-4, abs=3e-5)


@given(cases())
def test_state_and_queries_of_a_placed_space(case):
    space, prototypes, rng = case
    placed = space.movable.place(prototypes)
    values, arrays = placed.state()
    restored = SeriesSpace.from_state(space.metric, values, arrays)
    length = int(space._columns.lengths[0]) + 2 * (space.metric == "ddtw")
    queries = rng.normal(size=(4, len(prototypes.scales), length))
    block = placed.cross(queries).block(EVERYTHING, EVERYTHING)
    np.testing.assert_array_equal(restored.cross(queries).block(EVERYTHING, EVERYTHING), block)
    np.testing.assert_array_equal(placed.cross(queries).nearest()[1], block.min(axis=1))
    alike = make_space(
        queries, space.metric, {name: v for name, v in values.items() if name != "window"} | window_of(space)
    )
    expected = alike.movable.distances(np.arange(4), prototypes)
    np.testing.assert_allclose(np.sqrt(block) if values["squared"] else block, expected, rtol=1e-12)


def window_of(space):
    return {} if space.metric == "series_euclidean" else {"window": space._parameters["window"]}


@pytest.mark.parametrize(
    "factors", [np.ones(3), np.array([1.0, -1.0]), np.array([1.0, np.nan]), np.array([1.0, np.inf]), np.array([1, 1])]
)
def test_factors_in_a_file_are_checked(factors):
    space = make_space(np.random.default_rng(0).normal(size=(4, 2, 6)), "dtw", {})
    placed = space.movable.place(Moved(space.movable.start(np.array([0, 1])), np.array([0.5, 1.5])))
    values, arrays = placed.state()
    with pytest.raises(ValueError, match="factors"):
        SeriesSpace.from_state("dtw", values, arrays | {"factors": factors})


@pytest.mark.parametrize("form", ["2-D", "3-D", "list", "list of channels"])
def test_objects_have_the_form_that_users_give(form):
    rng = np.random.default_rng(0)
    X = {
        "2-D": rng.normal(size=(5, 7)),
        "3-D": rng.normal(size=(5, 2, 7)),
        "list": [rng.normal(size=length) for length in (3, 7, 4, 7, 1)],
        "list of channels": [rng.normal(size=(2, length)) for length in (3, 7, 4, 7, 1)],
    }[form]
    movable = make_space(X, "dtw", {"window": 2}).movable
    chosen = np.array([3, 0, 2])
    points = movable.start(chosen)
    objects = movable.objects(Moved(points, np.ones(movable.n_scales)))
    for index, series in zip(chosen, objects, strict=True):
        np.testing.assert_array_equal(series, X[index])
    assert isinstance(objects, list) == form.startswith("list")
    np.testing.assert_array_equal(movable.read(objects), points)


@pytest.mark.parametrize("n_members", [5, 9])
def test_distances_among_members_are_those_of_the_space(n_members):
    rng = np.random.default_rng(0)
    space, members = make_space(rng.normal(size=(9, 6)), "dtw", {"window": 2}), rng.permutation(9)[:n_members]
    movable = space.movable_among(members)
    np.testing.assert_array_equal(movable.all_distances(), space.block(members, members))
    np.testing.assert_array_equal(movable.start(np.arange(n_members)), space.movable.start(members))
    assert make_space(rng.normal(size=(9, 6)), "msm", {}).movable_among(members) is None


def test_what_moves():
    X = np.random.default_rng(0).normal(size=(4, 6))
    assert all(make_space(X, metric, {}).movable is None for metric in ("erp", "msm", "twe"))
    with pytest.raises(ValueError, match="channels"):
        make_space(X, "dtw", {}).movable.read(np.zeros((2, 3, 6)))


def test_gradients_of_long_series():
    """The steps of long series without a band need much memory, so that few pairs are warped together."""
    rng = np.random.default_rng(0)
    space = make_space(rng.normal(size=(10, 3000)), "dtw", {})
    moved, rows = Moved(space.movable.start(np.array([0])), np.ones(1)), np.arange(1, 10)
    slopes, gradient = rng.normal(size=(9, 1)), Moved(np.zeros_like(moved.points), np.zeros(1))
    distances = space.movable.distances(rows, moved)
    space.movable.add_gradients(rows, moved, np.zeros((9, 1), int), distances, slopes, gradient)
    expected, values = np.zeros(3000), space._columns.values.reshape(10, 3000)
    for row, slope, distance in zip(rows, slopes[:, 0], distances[:, 0], strict=True):
        i, j = space.compare(row, 0).pairs.T
        expected += np.bincount(j, slope / distance * (values[0, j] - values[row, i]))
    np.testing.assert_allclose(gradient.points[0, :, 0], expected, atol=1e-12)


@pytest.mark.parametrize("window", [2, None])
@pytest.mark.parametrize("n_channels", [1, 2])
def test_gradients_follow_the_best_paths(n_channels, window):
    """More pairs than lanes, of few and many points. Whole numbers have many equally good paths: one rule decides."""
    rng = np.random.default_rng(n_channels)
    lengths = np.repeat([1, 4, 9, 21], 10)
    space = make_space(
        [rng.integers(0, 4, (n_channels, length)) * 1.0 for length in lengths], "dtw", {"window": window}
    )
    movable, scales = space.movable, rng.uniform(0.5, 2.0, n_channels)
    moved = Moved(movable.start(np.array([0, 11, 22, 33])), scales)
    rows, columns = np.arange(40), rng.integers(0, 4, (40, 3))
    distances, slopes = movable.distances(rows, moved, columns), rng.normal(size=(40, 3))
    gradient = Moved(np.zeros_like(moved.points), np.zeros(n_channels))
    movable.add_gradients(rows, moved, columns, distances, slopes, gradient)
    points, of_scales = np.zeros_like(moved.points), np.zeros(n_channels)
    for row, entry in np.argwhere(distances > 0):
        column = columns[row, entry]
        a, b = (movable.start(np.array([at]))[0] * np.sqrt(scales) for at in (row, 11 * column))
        radius = kernels.series.band_radius(len(a), len(b), -1 if window is None else window, -1.0)
        for i, j in kernels.alignment.align(a, b, radius)[0]:
            pull = slopes[row, entry] / distances[row, entry] * (b[j] - a[i])
            points[column, j] += pull * np.sqrt(scales)
            of_scales += 0.5 * pull * (b[j] - a[i])
    np.testing.assert_allclose(gradient.points, points, atol=1e-12)
    np.testing.assert_allclose(gradient.scales, of_scales, atol=1e-12)


@pytest.mark.parametrize(("radius", "fraction"), [(0, -1.0), (3, -1.0), (-1, 0.0), (-1, 0.1), (-1, 0.37), (-1, 1.0)])
def test_pairs_with_the_same_band_are_warped_together(radius, fraction):
    n, m = np.random.default_rng(0).integers(1, 30, (2, 200))
    warping = kernels.series.Warping(radius, fraction, True)
    expected = [kernels.series.band_radius(*pair, radius, fraction) for pair in zip(n, m, strict=True)]
    assert kernels.adapting_series.shared_bands(n, m, warping).tolist() == expected
    no_band = kernels.series.Warping(-1, -1.0, True)
    assert not kernels.adapting_series.shared_bands(n, m, no_band).any(), "any two lengths share lanes"


def bumps(rng, codes, length=40):
    """Series with a bump at a random time; its shape is the class."""
    times = np.arange(length) - rng.uniform(0.4, 0.6, len(codes))[:, None] * length
    shape = np.where(codes[:, None] == 0, np.exp(-((times / 5) ** 2)), np.exp(-((times / 8) ** 4)))
    return shape + rng.normal(0, 0.15, shape.shape)


def moved_and_errors(space, codes, kept, course):
    """Losses on the training set before and after moves."""
    objects = WeightedObjects(space.movable, codes, np.ones(len(codes)))
    start = starting_set(space.movable, DistinctObjects.once_each(codes), kept)
    everything = np.arange(len(codes))
    moved = descend(objects, start, everything, course, np.random.RandomState(0))
    return measure(objects, start, everything), measure(objects, moved, everything)


@pytest.mark.parametrize("loss", ["relative", "softmax"])
@pytest.mark.parametrize("metric", METRICS)
def test_moves_lower_the_loss(metric, loss):
    codes = np.arange(80) % 2
    space = make_space(bumps(np.random.default_rng(0), codes), metric, {"window": 5} if "dtw" in metric else {})
    before, after = moved_and_errors(space, codes, np.arange(4), Course(loss, n_passes=20))
    assert after.loss < 0.8 * before.loss


def test_moves_lower_the_loss_on_gun_point(data_folder):
    train = np.loadtxt(data_folder / "ucr" / "GunPoint" / "GunPoint_TRAIN.tsv.gz")
    space, codes = make_space(train[:, 1:], "dtw", {"window": 5}), (train[:, 0] == 1).astype(int)
    kept = np.array([np.flatnonzero(codes == 0)[0], np.flatnonzero(codes == 1)[0]])
    before, after = moved_and_errors(space, codes, kept, Course(n_passes=40))
    assert after.loss < 0.8 * before.loss
    assert after.rate < before.rate


def test_lists_hold_the_nearest_of_both_sides_but_not_the_own_prototype():
    codes = np.arange(80) % 2
    space = make_space(bumps(np.random.default_rng(0), codes), "dtw", {"window": 5})
    objects = WeightedObjects(space.movable, codes, np.ones(80))
    start = starting_set(space.movable, DistinctObjects.once_each(codes), np.arange(30))
    lists = nearby_prototypes(objects, start, np.arange(80), space.movable.n_listed)
    assert lists.shape == (80, space.movable.n_listed)
    assert not (lists == start.own[:, None]).any()
    distances, labels = objects.distances(start, np.arange(80))
    listed, listed_labels = objects.distances(start, np.arange(80), lists)
    for side in (0, 1):
        nearest = np.where(labels == side, distances, np.inf).min(axis=1)
        np.testing.assert_array_equal(np.where(listed_labels == side, listed, np.inf).min(axis=1), nearest)


@pytest.mark.parametrize("loss", ["relative", "softmax"])
def test_lists_change_little(monkeypatch, loss):
    codes = np.arange(120) % 2
    space = make_space(bumps(np.random.default_rng(0), codes), "dtw", {"window": 5})
    assert space.movable.n_listed < 30
    before, listed = moved_and_errors(space, codes, np.arange(30), Course(loss, n_passes=10))
    monkeypatch.setattr(MovableSeries, "n_listed", 30)
    _, whole = moved_and_errors(space, codes, np.arange(30), Course(loss, n_passes=10))
    assert abs(listed.loss - whole.loss) < 0.1 * (before.loss - whole.loss)


@pytest.fixture
def bump_series():
    codes = np.arange(100) % 2
    return bumps(np.random.default_rng(1), codes), codes


def fitted(X, y, **parameters):
    selector = Refined(REPS(0.1, metric="dtw", metric_params={"window": 3}))
    return PrototypeClassifier(selector, **parameters).fit(X, y)


def test_known_distances_change_no_trial(monkeypatch, bump_series):
    known = fitted(*bump_series)
    assert known.adaptation_.has_moved
    monkeypatch.setattr(movable_series, "KNOWN_DISTANCES_BYTES", 0)
    anew = fitted(*bump_series)
    assert anew.adaptation_.held_out_after == known.adaptation_.held_out_after
    np.testing.assert_array_equal(anew.adaptation_.prototypes, known.adaptation_.prototypes)


def test_the_distances_of_all_series_are_computed_once(monkeypatch, bump_series):
    computed, compute = [], SeriesSpace._compute_matrix

    def counting(space, *arguments):
        computed.append(space.shape)
        return compute(space, *arguments)

    monkeypatch.setattr(SeriesSpace, "_compute_matrix", counting)
    fitted(*bump_series)
    assert computed == [(100, 100)]


@pytest.mark.parametrize(("n_passes", "of_trial"), [(1, 1), (8, 2)])
def test_a_trial_makes_a_quarter_of_the_passes(bump_series, n_passes, of_trial):
    seen = []
    classifier = fitted(*bump_series, adapt={"callback": seen.append, "n_passes": n_passes})
    assert classifier.adaptation_.n_passes == n_passes
    assert [progress.n_evaluations for progress in seen] == list(range(1, of_trial + n_passes + 1))
    assert {progress.max_evaluations for progress in seen} == {of_trial + n_passes}


@pytest.mark.parametrize("n", [200, 520])
def test_many_series_that_move_are_calibrated_by_their_trial(n):
    codes = np.arange(n) % 2
    classifier = fitted(bumps(np.random.default_rng(2), codes, length=10), codes)
    assert classifier.adaptation_.has_moved
    assert classifier.calibration_.how == ("folds" if n == 200 else "held-out part")


def test_workers_change_nothing(bump_series):
    one, several = (fitted(*bump_series, n_jobs=n_jobs) for n_jobs in (None, 2))
    np.testing.assert_array_equal(one.adaptation_.prototypes, several.adaptation_.prototypes)


def test_the_softmax_loss_is_taken_when_asked(bump_series):
    classifier = fitted(*bump_series, adapt={"loss": "softmax"})
    assert classifier.adaptation_.loss == "softmax"
    assert classifier.score(*bump_series) > 0.9


@pytest.mark.parametrize("rate", [0.1, 0.2, 0.3])
def test_moves_need_no_lower_error_in_one_trial(rate):
    movable = make_space(np.zeros((3, 4)) + np.arange(3)[:, None], "dtw", {}).movable
    before, after = Errors(np.array([0.4, 0.0]), 1.0, weight=2.0), Errors(np.array([2 * rate, 0.0]), 2.0, weight=2.0)
    assert should_move(after, before, movable) == (rate <= 0.2)
