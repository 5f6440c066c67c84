"""Objects that move: gradients are those of the distances, and moved prototypes are where the distances say."""

import runpy

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.special import logsumexp

from protoset import REPS, PrototypeClassifier, export, kernels, load, save
from protoset.adaptation import descent
from protoset.adaptation.adapting import starting_set
from protoset.adaptation.descent import Course, WeightedObjects, descend
from protoset.adaptation.validation import measure
from protoset.selectors._distinct import DistinctObjects
from protoset.spaces import DISSIMILARITIES, make_space
from protoset.spaces.movable import Moved
from protoset.spaces.movable_vectors import Differences

EUCLIDEAN = ("euclidean", "l2", "sqeuclidean", "seuclidean", "mahalanobis")
ANGULAR = ("cosine", "correlation")
CITYBLOCK = ("cityblock", "manhattan", "l1")
MIXED = ("heom", "gower")
VECTOR_METRICS = (*EUCLIDEAN, *ANGULAR, *CITYBLOCK)
METRICS = (*VECTOR_METRICS, *MIXED)
N = 40


def vectors(seed, n=N):
    """Vectors of two classes, and their labels."""
    generator = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return generator.normal(size=(n, 4)) + [0.0, 1.0, 2.0, 3.0] + 0.7 * y[:, None] * [1.0, -1.0, 0.0, 0.0], y


def table(seed, *, missing=0.0, n=N):
    """Objects with two numbers and two categories of two classes, and their labels."""
    X, y = vectors(seed, n)
    generator = np.random.default_rng(seed + 1)
    frame = pd.DataFrame(
        {
            "colour": np.where(generator.random(n) < 0.3, "red", np.where(y, "blue", "green")),
            "size": X[:, 0] * 30,
            "flag": generator.random(n) < 0.3 + 0.4 * y,
            "age": X[:, 1],
        }
    )
    return frame.astype(object).mask(generator.random(frame.shape) < missing).infer_objects(), y


def objects_of(metric, seed, **options):
    return table(seed, **options) if metric in MIXED else vectors(seed)


def start_of(movable, indices):
    return Moved(movable.start(indices), np.ones(movable.n_scales))


def moved_set(movable, seed, n_prototypes=6):
    """Prototypes that have moved, with scales that differ."""
    generator = np.random.default_rng(seed)
    points = movable.start(np.arange(n_prototypes))
    points += generator.normal(scale=0.05, size=points.shape)
    kernels.moving.put_back(points, movable.surface)
    return Moved(points, generator.uniform(0.3, 2.0, movable.n_scales))


def measured(metric, distances):
    """Convert distances of the adaptation to those of the metric."""
    if metric in ANGULAR:
        return distances**2 / 2
    return distances**2 if metric == "sqeuclidean" else distances


# distances


def test_records_say_what_moves():
    for name, record in DISSIMILARITIES.items():
        if record.kind in ("vectors", "mixed attributes"):
            assert record.moves == (name in METRICS), name
    for metric in ("hvdm", "overlap"):
        X, y = table(0)
        assert make_space(X, metric, y=y).movable is None
    assert make_space(vectors(0)[0], "chebyshev").movable is None


@pytest.mark.parametrize("metric", METRICS)
@given(seed=st.integers(0, 2**16))
def test_distances_at_the_start_are_those_of_the_metric(metric, seed):
    space = make_space(objects_of(metric, seed)[0], metric)
    movable, homes = space.movable, np.array([3, 0, 17])
    distances = movable.distances(np.arange(N), start_of(movable, homes))
    np.testing.assert_allclose(
        measured(metric, distances), space.block(slice(None), homes), rtol=1e-9, atol=1e-14 if metric in ANGULAR else 0
    )


@pytest.mark.parametrize("metric", METRICS)
def test_listed_distances_are_those_of_the_block(metric):
    X, _ = objects_of(metric, 1, **({"missing": 0.2} if metric in MIXED else {}))
    movable = make_space(X, metric).movable
    prototypes, rows = moved_set(movable, 0), np.array([4, 0, 9])
    columns = np.array([[0, 3], [5, 1], [2, 2]])
    block = movable.distances(rows, prototypes)
    np.testing.assert_allclose(
        movable.distances(rows, prototypes, columns), np.take_along_axis(block, columns, axis=1), rtol=1e-12
    )


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("has_scales", [False, True])
def test_a_placed_set_has_the_distances_of_the_adaptation(metric, has_scales):
    X, _ = objects_of(metric, 2, **({"missing": 0.2} if metric in MIXED else {}))
    movable = make_space(X, metric).movable
    prototypes = moved_set(movable, 0)
    if not has_scales:
        prototypes = Moved(prototypes.points, np.ones(movable.n_scales))
    placed = movable.place(prototypes)
    expected = measured(metric, movable.distances(np.arange(N), prototypes))
    assert placed.shape == (0, 6)
    values, arrays = placed.state()
    restored = DISSIMILARITIES[metric].space.from_state(metric, values, arrays)
    assert type(restored) is type(placed)
    assert restored.n_features == 4
    for space in (placed, restored):
        crossed = space.cross(X)
        np.testing.assert_allclose(crossed.block(slice(None), slice(None)), expected, rtol=1e-9, atol=1e-12)
        positions, distances = crossed.nearest()
        np.testing.assert_array_equal(positions, expected.argmin(axis=1))
        np.testing.assert_allclose(distances, expected.min(axis=1), rtol=1e-9)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("has_scales", [False, True])
def test_contributions_add_up_to_the_distance(metric, has_scales):
    X, _ = objects_of(metric, 3, **({"missing": 0.2} if metric in MIXED else {}))
    movable = make_space(X, metric).movable
    prototypes = moved_set(movable, 0)
    if not has_scales:
        prototypes = Moved(prototypes.points, np.ones(movable.n_scales))
    crossed = movable.place(prototypes).cross(X)
    for row in range(N):
        comparison = crossed.compare(row, row % 6)
        assert comparison.distance == crossed.block([row], [row % 6])[0, 0]
        if metric == "mahalanobis":
            assert comparison.terms is None
        else:
            assert comparison.terms.shape == (4,)
            assert comparison.terms.sum() == pytest.approx(comparison.distance**comparison.power)


@pytest.mark.parametrize("metric", VECTOR_METRICS)
def test_single_precision_moves_in_double_precision(metric):
    X, _ = vectors(0)
    single, double = make_space(X.astype(np.float32), metric).movable, make_space(X, metric).movable
    prototypes = moved_set(double, 0)
    assert single.start(np.arange(3)).dtype == np.float64
    expected = double.distances(np.arange(N), prototypes)
    np.testing.assert_allclose(single.distances(np.arange(N), prototypes), expected, rtol=1e-3)
    crossed = single.place(prototypes).cross(X.astype(np.float32))
    np.testing.assert_allclose(crossed.nearest()[1], measured(metric, expected.min(axis=1)), rtol=1e-3)


def test_scaled_vectors_are_not_those_of_the_user():
    movable = make_space(vectors(0)[0], "euclidean").movable
    points = movable.start(np.arange(3))
    np.testing.assert_array_equal(movable.place(Moved(points, np.ones(4))).vectors, points)
    assert movable.place(Moved(points, np.array([1.0, 1.0, 1.0, 2.0]))).vectors is None


@pytest.mark.parametrize("metric", ANGULAR)
def test_without_a_direction_nothing_moves(metric):
    X, _ = vectors(0)
    X[5] = 0.0
    assert make_space(X, metric).movable is None
    with pytest.raises(ValueError, match="no direction"):
        make_space(X[:5], metric).movable.read(X[:6])


@pytest.mark.parametrize("metric", ANGULAR)
def test_a_query_without_a_direction_is_as_far_from_all(metric):
    movable = make_space(vectors(0)[0], metric).movable
    crossed = movable.place(moved_set(movable, 0)).cross(np.zeros((1, 4)))
    np.testing.assert_array_equal(crossed.block(slice(None), slice(None)), np.ones((1, 6)))


# objects


@pytest.mark.parametrize("metric", VECTOR_METRICS)
def test_vectors_go_to_coordinates_and_back(metric):
    X, _ = vectors(4)
    movable = make_space(X, metric).movable
    chosen = np.array([7, 2, 30])
    points = movable.read(X[chosen])
    np.testing.assert_allclose(points, movable.start(chosen), rtol=1e-12)
    restored = movable.objects(Moved(points, np.ones(4)))
    expected = X[chosen]
    if metric in ANGULAR:
        expected = expected - (expected.mean(axis=1, keepdims=True) if metric == "correlation" else 0)
        expected = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(restored, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(movable.read(restored), points, rtol=1e-9)


@pytest.mark.parametrize("metric", ANGULAR)
def test_projected_points_are_directions(metric):
    movable = make_space(vectors(0)[0], metric).movable
    points = np.random.default_rng(0).normal(size=(5, 4))
    kernels.moving.put_back(points, movable.surface)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1)
    if metric == "correlation":
        np.testing.assert_allclose(points.sum(axis=1), 0, atol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cityblock"])
def test_scaling_all_vectors_scales_points_and_gradients(metric):
    X, y = vectors(5)
    once, twice = make_space(X, metric).movable, make_space(2 * X, metric).movable
    np.testing.assert_array_equal(2 * once.start(np.arange(6)), twice.start(np.arange(6)))
    prototypes = moved_set(once, 0)
    larger = Moved(2 * prototypes.points, prototypes.scales)
    rows = np.arange(10, N)
    np.testing.assert_array_equal(2 * once.distances(rows, prototypes), twice.distances(rows, larger))
    gradient = gradient_of(once, rows, y, prototypes, "relative")
    larger_gradient = gradient_of(twice, rows, y, larger, "relative")
    np.testing.assert_allclose(gradient.points, 2 * larger_gradient.points, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(gradient.scales, larger_gradient.scales, rtol=1e-9, atol=1e-14)


# gradients


def loss_of(movable, rows, y, prototypes, loss):
    """Loss of all distances, distances, and slopes."""
    distances = movable.distances(rows, prototypes)
    labels = np.broadcast_to(y[: len(prototypes.points)], distances.shape)
    slopes, weights = np.empty_like(distances), np.linspace(0.5, 1.5, len(rows))
    if loss == "relative":
        total = kernels.adapting.relative_loss(distances, labels, y[rows], weights, 5.0, slopes)
    else:
        total, _ = kernels.adapting.softmax_loss(distances, labels, y[rows], weights, 0.05, slopes)
    return total, distances, slopes


def gradient_of(movable, rows, y, prototypes, loss):
    _, distances, slopes = loss_of(movable, rows, y, prototypes, loss)
    columns = np.broadcast_to(np.arange(distances.shape[1]), distances.shape)
    gradient = Moved(np.zeros_like(prototypes.points), np.zeros(movable.n_scales))
    movable.add_gradients(rows, prototypes, columns, distances, slopes, gradient)
    return gradient


@given(seed=st.integers(0, 2**16), sharpness=st.floats(1e-3, 1e3), n_prototypes=st.integers(1, 40))
def test_the_softmax_is_that_of_numpy(seed, sharpness, n_prototypes):
    """Shares by powers of 2 and a polynomial, near and far, with prototypes that do not count."""
    rng = np.random.default_rng(seed)
    distances, y = rng.random((5, n_prototypes)), rng.integers(3, size=5)
    labels = np.broadcast_to(rng.integers(3, size=n_prototypes), distances.shape)
    distances[0, : n_prototypes // 2] = np.inf
    slopes, weights = np.empty_like(distances), rng.random(5)
    total, _ = kernels.adapting.softmax_loss(distances, labels, y, weights, sharpness, slopes)
    exponents = -sharpness * distances**2
    same = np.where(labels == y[:, None], exponents, -np.inf)
    counts = np.isfinite(same).any(axis=1)
    of_all, of_same = (logsumexp(each[counts], axis=1, keepdims=True) for each in (exponents, same))
    np.testing.assert_allclose(total, (weights[counts] * (of_all - of_same)[:, 0]).sum(), rtol=1e-7, atol=1e-7)
    expected = np.zeros_like(distances)
    strengths = 2 * sharpness * weights[counts, None] * np.where(np.isinf(distances), 0, distances)[counts]
    expected[counts] = strengths * (np.exp(same[counts] - of_same) - np.exp(exponents[counts] - of_all))
    np.testing.assert_allclose(slopes, expected, rtol=1e-6, atol=4e-6 * sharpness)


@pytest.mark.parametrize("metric", [m for m in METRICS if m not in ("l2", "manhattan", "l1")])
@pytest.mark.parametrize("loss", ["relative", "softmax"])
@given(seed=st.integers(0, 2**16))
def test_gradients_are_those_of_numerical_differences(metric, loss, seed):
    X, y = objects_of(metric, seed, **({"missing": 0.15} if metric in MIXED else {}))
    movable, rows = make_space(X, metric).movable, np.arange(6, 30)
    prototypes = moved_set(movable, seed)
    # The loss has a kink where another prototype becomes the nearest one, and absolute differences where they are 0.
    by_class = [np.sort(movable.distances(rows, prototypes)[:, y[:6] == label], axis=1) for label in (0, 1)]
    assume(min(np.diff(distances).min() for distances in by_class) > 1e-4)

    def loss_at(numbers):
        points = numbers[: prototypes.points.size].reshape(prototypes.points.shape)
        return loss_of(movable, rows, y, Moved(points, np.exp(numbers[points.size :])), loss)[0]

    numbers = np.concatenate([prototypes.points.ravel(), np.log(prototypes.scales)])
    up, down = (approx_fprime(numbers, loss_at, step) for step in (1e-6, -1e-6))
    gradient = gradient_of(movable, rows, y, prototypes, loss)
    computed = np.concatenate([gradient.points.ravel(), gradient.scales])
    is_smooth = np.isclose(up, down, rtol=1e-2, atol=1e-3)
    assert is_smooth.mean() > 0.9
    np.testing.assert_allclose(computed[is_smooth], ((up + down) / 2)[is_smooth], rtol=1e-4, atol=3e-6)


@pytest.mark.parametrize("metric", METRICS)
def test_gradients_are_added_for_listed_prototypes_alone(metric):
    X, _ = objects_of(metric, 6)
    movable, rows = make_space(X, metric).movable, np.arange(10, 14)
    prototypes, columns = moved_set(movable, 0), np.array([[1], [1], [4], [1]])
    gradient = Moved(np.ones_like(prototypes.points), np.ones(movable.n_scales))
    distances, slopes = movable.distances(rows, prototypes, columns), np.full((4, 1), 0.5)
    movable.add_gradients(rows, prototypes, columns, distances, slopes, gradient)
    changed = np.flatnonzero((gradient.points != 1).any(axis=1))
    np.testing.assert_array_equal(changed, [1, 4])
    assert (gradient.scales >= 1).all()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("loss", ["relative", "softmax"])
def test_a_descent_lowers_the_loss(metric, loss):
    X, y = objects_of(metric, 7, **({"missing": 0.1} if metric in MIXED else {}))
    movable, homes = make_space(X, metric).movable, np.arange(4)
    objects = WeightedObjects(movable, y, np.ones(N))
    start = starting_set(movable, DistinctObjects.once_each(y), homes)
    course = Course(loss=loss, n_passes=30, relevances=True)
    end = descend(objects, start, np.arange(N), course, np.random.RandomState(0))
    assert np.isfinite(end.moved.points).all()
    assert measure(objects, end, np.arange(N)).loss < 0.9 * measure(objects, start, np.arange(N)).loss


# mixed attributes


def naive_distance(metric, query, prototype, scales, ranges):
    """Distance of a row to a prototype whose categories are shares, attribute by attribute."""
    total, known = 0.0, 0
    for value, other, scale, size in zip(query, prototype, scales, ranges, strict=True):
        is_missing = value is None or value != value
        if is_missing:
            total += scale if metric == "heom" else 0
            continue
        known += 1
        if size is not None and metric == "heom":
            total += scale * ((value - other) / size) ** 2
        elif size is not None:
            total += np.sqrt(scale) * min(abs(value - other) / size, 1)
        else:
            shares = other if isinstance(other, dict) else {other: 1.0}
            gaps = [float(value == name) - shares.get(name, 0.0) for name in {value, *shares}]
            total += scale * sum(gap**2 for gap in gaps) / 2 if metric == "heom" else 0
            total += np.sqrt(scale) * sum(abs(gap) for gap in gaps) / 2 if metric == "gower" else 0
    if metric == "heom":
        return np.sqrt(total)
    return total / known if known else 1.0


@pytest.mark.parametrize("metric", MIXED)
@given(seed=st.integers(0, 2**16))
def test_prototypes_between_categories(metric, seed):
    """Queries far away, with missing values and with unseen categories, by the definition."""
    X, _ = table(seed, missing=0.2)
    X.iloc[:6] = table(seed)[0].iloc[:6]
    generator = np.random.default_rng(seed)
    movable = make_space(X, metric).movable
    weights = (1 + 6 * generator.dirichlet(np.ones(6), size=3)) / 12
    prototypes = Moved(weights @ movable.start(np.arange(6)), generator.uniform(0.3, 2.0, 4))
    described = movable.objects(prototypes)
    queries = X.astype(object).where(X.notna(), None)
    queries.loc[1, "colour"] = "mauve"
    queries.loc[2, "size"] = 1e4
    queries.loc[3] = [None] * 4
    queries["size"], queries["age"] = queries["size"].astype(float), queries["age"].astype(float)
    ranges = [None, X["size"].max() - X["size"].min(), None, X["age"].max() - X["age"].min()]
    expected = [
        [naive_distance(metric, query, row, prototypes.scales, ranges) for row in described]
        for query in queries.itertuples(index=False)
    ]
    computed = movable.place(prototypes).cross(queries).block(slice(None), slice(None))
    np.testing.assert_allclose(computed, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("metric", MIXED)
@given(seed=st.integers(0, 2**16))
def test_prototypes_that_did_not_move_are_compared_as_by_the_metric(metric, seed):
    X, _ = table(seed)
    space = make_space(X, metric)
    homes = np.arange(5)
    queries, _ = table(seed + 1, missing=0.3)
    queries.loc[0, "colour"] = "mauve"
    by_metric = space.prototypes(homes).cross(queries)
    moved = space.movable.place(start_of(space.movable, homes)).cross(queries)
    np.testing.assert_allclose(
        moved.block(slice(None), slice(None)), by_metric.block(slice(None), slice(None)), rtol=1e-9, atol=1e-12
    )
    for row in range(N):
        expected, computed = by_metric.compare(row, row % 5), moved.compare(row, row % 5)
        assert computed.power == expected.power
        assert (computed.terms is None) == (expected.terms is None)
        if expected.terms is not None:
            np.testing.assert_allclose(computed.terms, expected.terms, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("metric", MIXED)
def test_an_unseen_category_differs_by_1_from_every_category(metric):
    X = pd.DataFrame({"a": list("xyzxyz"), "b": list("uuvvww")})
    movable = make_space(X, metric).movable
    crossed = movable.place(start_of(movable, np.arange(3))).cross(pd.DataFrame({"a": ["?"], "b": ["?"]}))
    expected = np.sqrt(2) if metric == "heom" else 1
    np.testing.assert_allclose(crossed.block(slice(None), slice(None)), np.full((1, 3), expected), rtol=1e-12)


@pytest.mark.parametrize("metric", MIXED)
def test_objects_are_in_the_units_of_the_user(metric):
    X = pd.DataFrame({"colour": ["red", "red", "blue", "green"], "size": [10.0, 20.0, 60.0, 30.0]})
    movable = make_space(X, metric).movable
    points = movable.start(np.arange(4))
    assert movable.objects(Moved(points, np.ones(2))).tolist() == X.to_numpy(object).tolist()
    mixtures = np.array([[0.25, 0.75, 0, 0], [0, 0.3, 0.7, 0], [0.004, 0, 0.996, 0], [0, 0.01, 0.0, 0.99]]) @ points
    described = movable.objects(Moved(mixtures, np.ones(2)))
    np.testing.assert_allclose(described[:, 1].astype(float), [17.5, 48, 59.8, 29.9])
    assert described[0, 0] == "red"
    assert list(described[1, 0]) == ["blue", "red"]
    assert described[1, 0] == pytest.approx({"blue": 0.7, "red": 0.3})
    assert described[2, 0] == "blue"
    assert described[3, 0] == pytest.approx({"green": 0.99, "red": 0.01})


@pytest.mark.parametrize("metric", MIXED)
def test_missing_values_start_at_means(metric):
    X = pd.DataFrame({"colour": ["red", "blue", None, "red"], "size": [0.0, 4.0, 10.0, np.nan]})
    movable = make_space(X, metric).movable
    described = movable.objects(start_of(movable, np.array([2, 3])))
    assert described[0, 0] == pytest.approx({"red": 2 / 3, "blue": 1 / 3})
    assert described[1].tolist() == ["red", pytest.approx(14 / 3)]
    np.testing.assert_array_equal(movable.read(X), movable.start(np.arange(4)))
    unseen = movable.read(pd.DataFrame({"colour": ["mauve"], "size": [4.0]}))
    assert movable.objects(Moved(unseen, np.ones(2)))[0, 0] == pytest.approx({"red": 2 / 3, "blue": 1 / 3})


@pytest.mark.parametrize("metric", MIXED)
def test_attributes_with_one_value_or_none(metric):
    X = pd.DataFrame(
        {
            "same": [5.0, 5.0, 5.0],
            "never": [np.nan] * 3,
            "none": [None] * 3,
            "one": list("aaa"),
            "size": [1.0, 2.0, 4.0],
        }
    )
    space = make_space(X, metric)
    movable = space.movable
    prototypes = start_of(movable, np.arange(3))
    queries = pd.DataFrame(
        {"same": [5.0, 6.0], "never": [1.0, np.nan], "none": ["b", None], "one": ["a", "b"], "size": [1.0, 9.0]}
    )
    placed = movable.place(prototypes)
    expected = space.cross(queries).block(slice(None), slice(None))
    np.testing.assert_allclose(placed.cross(queries).block(slice(None), slice(None)), expected, rtol=1e-12)
    np.testing.assert_allclose(movable.distances(np.arange(3), prototypes), space.block(slice(None), slice(None)))
    described = movable.objects(prototypes)
    assert described[1, [0, 2, 3, 4]].tolist() == [5.0, None, "a", 2.0]
    assert np.isnan(described[1, 1])
    restored = DISSIMILARITIES[metric].space.from_state(metric, *placed.state())
    np.testing.assert_array_equal(
        restored.cross(queries).block(slice(None), slice(None)), placed.cross(queries).block(slice(None), slice(None))
    )


# files


def changed(array, value):
    array = array.copy()
    array.flat[-1] = value
    return array


WRONG = {
    "euclidean": [("factors", -1.0), ("factors", np.nan), ("factors", np.inf), ("images", np.nan)],
    "cosine": [("factors", 2.0), ("factors", -1.0), ("images", 1.0)],
    "cityblock": [("w", -1.0), ("w", np.nan)],
    "heom": [
        *(("factors", -1.0), ("factors", np.inf), ("points", np.nan), ("points", np.inf)),
        *(("ranges", -1.0), ("ranges", np.nan), ("smallest", np.inf)),
    ],
}


@pytest.mark.parametrize(("metric", "name", "value"), [(m, *case) for m, cases in WRONG.items() for case in cases])
def test_wrong_states_are_refused(metric, name, value):
    movable = make_space(objects_of(metric, 0)[0], metric).movable
    values, arrays = movable.place(moved_set(movable, 0)).state()
    restore = DISSIMILARITIES[metric].space.from_state
    restore(metric, values, arrays)
    with pytest.raises(ValueError, match="."):
        restore(metric, values, arrays | {name: changed(arrays[name], value)})
    with pytest.raises(ValueError, match="."):
        restore(metric, values, arrays | {name: arrays[name][..., :-1]})


def test_only_metrics_whose_objects_move_have_moved_sets():
    movable = make_space(table(0)[0], "heom").movable
    with pytest.raises(ValueError, match="hvdm"):
        DISSIMILARITIES["hvdm"].space.from_state("hvdm", *movable.place(moved_set(movable, 0)).state())


# kernels


def with_gaps(seed):
    generator = np.random.default_rng(seed)
    X, points = generator.normal(size=(9, 5)), generator.normal(size=(4, 5))
    attribute_of = np.array([0, 1, 2, 2, 2])
    is_missing = generator.random((9, 3)) < 0.3
    is_missing[0] = True
    X[is_missing[:, attribute_of]] = np.nan
    return X, points, attribute_of, generator.uniform(0.1, 2, 3)


@pytest.mark.parametrize(("is_absolute", "is_mean"), [(False, False), (True, False), (True, True)])
@given(seed=st.integers(0, 2**16))
def test_kernels_agree_with_numpy(is_absolute, is_mean, seed):
    X, points, attribute_of, factors = with_gaps(seed)
    form = Differences(attribute_of, is_absolute, is_mean)
    differences = np.abs(X[:, None, :] - points[None])
    known = ~np.isnan(X)[:, [0, 1, 2]]
    if is_absolute:
        terms = np.nan_to_num(np.minimum(differences, 1) if is_mean else differences) * factors[attribute_of]
        expected = terms.sum(axis=2)
        if is_mean:
            expected = np.where(known.any(axis=1)[:, None], expected / np.maximum(known.sum(axis=1), 1)[:, None], 1)
        elif not known[0].any():
            expected[0] = 0
    else:
        terms = (np.nan_to_num(differences) * factors[attribute_of]) ** 2
        expected = np.sqrt(terms.sum(axis=2) + (~known * factors**2).sum(axis=1)[:, None])
    columns = np.broadcast_to(np.arange(4), expected.shape)
    np.testing.assert_allclose(form.block(X, points, factors), expected, rtol=1e-12)
    listed = np.empty(columns.shape)
    kernels.differences.listed_distances(*form.coordinates(X), points, columns, factors[attribute_of], listed)
    np.testing.assert_allclose(listed, expected, rtol=1e-12)


class _Uncompiled:
    """Objects that take their steps in Python."""

    def __init__(self, movable):
        self._movable = movable
        self.coordinates = None

    def take(self, rows):
        return None

    def __getattr__(self, name):
        return getattr(self._movable, name)


@pytest.mark.parametrize("loss", ["relative", "softmax"])
@pytest.mark.parametrize("metric", [name for name in METRICS if name not in ANGULAR])
@given(seed=st.integers(0, 2**16), has_lists=st.booleans())
def test_the_compiled_pass_takes_the_steps_in_python(metric, loss, seed, has_lists):
    X, y = objects_of(metric, seed, **({"missing": 0.1} if metric in MIXED else {}))
    movable, objects = make_space(X, metric).movable, DistinctObjects.once_each(y)
    start, course = (
        starting_set(movable, objects, np.arange(6)),
        Course(loss, n_passes=2, relevances=metric != "mahalanobis"),
    )
    moved = []
    with pytest.MonkeyPatch.context() as patch:
        if has_lists:
            patch.setattr(descent, "MANY_IN_SOFTMAX" if loss == "softmax" else "MANY_PROTOTYPES", 3)
            patch.setattr(descent, "LISTED_IN_SOFTMAX" if loss == "softmax" else "LISTED_PROTOTYPES", 4)
        for each in (movable, _Uncompiled(movable)):
            weighted = WeightedObjects(each, y, np.linspace(0.5, 1.5, N))
            moved.append(descend(weighted, start, np.arange(3, N), course, np.random.RandomState(seed)).moved)
    for compiled, plain in zip(*moved, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-6, atol=1e-9)


# classifiers


def moved_classifier(metric, seed):
    """Return a classifier whose prototypes have moved, and the objects that it was fitted on."""
    X, y = objects_of(metric, seed, **({"missing": 0.1} if metric in MIXED else {}))
    classifier = PrototypeClassifier(REPS(6, metric=metric)).fit(X, y)
    movable = make_space(X, metric).movable
    prototypes = Moved(movable.start(classifier.sample_indices_), np.linspace(0.5, 1.5, movable.n_scales))
    prototypes.points[:] += np.random.default_rng(seed).normal(scale=0.1, size=prototypes.points.shape)
    kernels.moving.put_back(prototypes.points, movable.surface)
    classifier._prototypes = movable.place(prototypes)
    expected = classifier.prototype_labels_[movable.distances(np.arange(N), prototypes).argmin(axis=1)]
    return classifier, X, expected


@pytest.mark.parametrize("metric", ["euclidean", "seuclidean", "mahalanobis", *ANGULAR, "cityblock", *MIXED])
def test_files_of_moved_prototypes_predict_the_same(metric, tmp_path):
    classifier, X, expected = moved_classifier(metric, 8)
    np.testing.assert_array_equal(classifier.predict(X), expected)
    save(classifier, tmp_path / "model.protoset")
    np.testing.assert_array_equal(load(tmp_path / "model.protoset").predict(X), expected)


@pytest.mark.parametrize("metric", ["euclidean", "seuclidean", "mahalanobis", *ANGULAR])
def test_exported_moved_prototypes_predict_the_same(metric, tmp_path):
    classifier, X, expected = moved_classifier(metric, 9)
    export(classifier, tmp_path / "model.py")
    exported = runpy.run_path(str(tmp_path / "model.py"))
    np.testing.assert_array_equal(exported["predict"](X), expected)


@pytest.mark.parametrize("unit", [1e-100, 1e40])
def test_noise_has_the_unit_of_the_objects(unit):
    rng = np.random.default_rng(0)
    X, y = rng.random((300, 3)), rng.integers(0, 2, 300)
    course = Course("softmax", n_passes=3, noise=0.5)
    ends = []
    for factor in (1.0, unit):
        objects = DistinctObjects.once_each(y)
        movable = make_space(factor * X).movable
        weighted = WeightedObjects.of(movable, objects, None)
        start = starting_set(movable, objects, np.arange(8))
        ends.append(descend(weighted, start, np.arange(300), course, np.random.RandomState(0)).moved.points / factor)
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-40, 1.0, 1e100])
def test_the_screen_has_the_order_of_the_distances_in_any_unit(unit):
    rng = np.random.default_rng(0)
    movable = make_space(unit * rng.normal(size=(60, 4))).movable
    prototypes = Moved(unit * rng.normal(size=(9, 4)), np.ones(4))
    rows = np.arange(60)
    order = movable.distances(rows, prototypes).argsort(axis=1)
    assert (movable.screen(rows, prototypes).argsort(axis=1) == order).all()
