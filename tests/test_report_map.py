"""What the page of a report holds for its map: packed numbers, layout, which values are held."""

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from sklearn.datasets import load_digits, load_iris

from protoset import REPS
from protoset._report.building import build_report
from protoset._report.layout import MAP_UNITS, distance_correlation, lay_out
from protoset._report.objects import describe_objects
from protoset._report.packing import PACKED_LENGTH, pack, pack_objects
from protoset._report.shown import choose_held, choose_shown, important_objects, unique_in_order
from protoset._report.stops import Stop
from protoset.datasets import Dataset
from protoset.kernels.embedding import pull_and_push
from protoset.plots.layout import CheckedDissimilarities
from protoset.spaces import make_space


def unpack(value):
    """The twin of page/unpack.js."""
    if isinstance(value, list):
        return [unpack(part) for part in value]
    if not isinstance(value, dict):
        return value
    if "packed" not in value:
        return {name: unpack(part) for name, part in value.items()}
    array = np.frombuffer(base64.b64decode(value["data"]), f"<{value['packed']}")
    numbers = [None if np.isnan(number) else number for number in array.tolist()]
    if "lengths" not in value:
        return numbers
    ends = np.cumsum(unpack(value["lengths"])).tolist()
    return [numbers[end - length : end] for end, length in zip(ends, unpack(value["lengths"]), strict=True)]


def repeated(values):
    """A list that is long enough to be packed."""
    return (values * (PACKED_LENGTH // len(values) + 1))[: PACKED_LENGTH + 7]


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=9))
def test_whole_numbers_are_packed_without_loss(values):
    numbers = repeated(values)
    packed = pack(numbers)
    assert set(packed) == {"packed", "data"}
    assert unpack(packed) == numbers
    small = all(-128 <= value < 128 for value in values)
    assert (packed["packed"] == "i1") == small


@given(st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9))
def test_numbers_are_packed_within_single_precision(values):
    numbers = repeated([*values, 0.5])
    for number, again in zip(numbers, unpack(pack(numbers)), strict=True):
        assert (number is None) == (again is None)
        if number is not None:
            assert again == pytest.approx(number, rel=1e-6, abs=0)


def test_lists_of_lists_texts_and_short_lists():
    ragged = [list(range(length % 5)) for length in range(PACKED_LENGTH)]
    packed = pack(ragged)
    assert packed["lengths"]["packed"] == "i1"
    assert unpack(packed) == ragged
    ids = [str(number) for number in range(PACKED_LENGTH)]
    objects = {"ids": ids, "winners": [None, list(range(PACKED_LENGTH))], "short": [1, 2], "values": {"values": ragged}}
    packed = pack_objects(objects)
    assert packed["ids"] is ids
    assert packed["short"] == [1, 2]
    assert packed["winners"][0] is None
    assert packed["winners"][1]["packed"] == "i2"
    assert packed["values"] is objects["values"]
    assert unpack({name: part for name, part in packed.items() if name != "values"})["winners"] == objects["winners"]
    mixed = [1, "a"] * PACKED_LENGTH
    assert pack(mixed) is mixed
    assert pack([True] * PACKED_LENGTH) == [True] * PACKED_LENGTH


def test_the_layouts_are_stated():
    X, y = load_iris(return_X_y=True)
    model = build_report(Dataset("iris", "vectors", X, y), REPS(n_prototypes=9).fit(X, y), created="2026-01-31").model
    layouts, objects = model["layouts"], model["objects"]
    assert layouts["start"] == "distances"
    assert layouts["distances"]["n_landmarks"] is None
    assert 0.98 < layouts["distances"]["correlation"] < 1
    assert layouts["neighbors"]["correlation"] < layouts["distances"]["correlation"]
    for axis in ("x", "y", "neighbor_x", "neighbor_y"):
        assert 0 <= min(objects[axis]) <= max(objects[axis]) <= MAP_UNITS
    few = build_report(Dataset("iris", "vectors", X[::5], y[::5]), REPS(n_prototypes=3).fit(X[::5], y[::5])).model
    assert few["layouts"]["neighbors"] is None
    assert few["objects"]["neighbor_x"] is None


@pytest.mark.parametrize("n", [300, 1500])
def test_the_correlation_says_how_much_a_plane_shows(n):
    rng = np.random.default_rng(0)
    flat, round_ = np.hstack([rng.normal(size=(n, 2)), np.zeros((n, 30))]), rng.normal(size=(n, 32))
    points, exact = lay_out(make_space(flat), np.arange(n))
    assert exact["distances"]["correlation"] == pytest.approx(1, abs=1e-3)
    assert exact["distances"]["kept_neighbors"] > 0.98
    assert exact["distances"]["n_landmarks"] == (None if n <= 1000 else 250)
    assert max(points["x"]) == MAP_UNITS
    _, layouts = lay_out(make_space(round_), np.arange(n))
    assert layouts["distances"]["correlation"] < 0.6
    better = layouts["neighbors"]["kept_neighbors"] > layouts["distances"]["kept_neighbors"]
    assert layouts["start"] == ("neighbors" if better else "distances")


def test_the_layout_by_neighbours_parts_groups():
    X, y = load_digits(return_X_y=True)
    points, layouts = lay_out(make_space(X), np.arange(len(X)))
    near = np.column_stack([points["neighbor_x"], points["neighbor_y"]])
    flat = np.column_stack([points["x"], points["y"]])

    def same_class(places):
        _, nearest = cKDTree(places).query(places, k=11)
        return float((y[nearest[:, 1:]] == y[:, None]).mean())

    assert same_class(flat) < 0.7
    assert same_class(near) > 0.9
    assert layouts["neighbors"]["kept_neighbors"] > 2 * layouts["distances"]["kept_neighbors"]
    again, _ = lay_out(make_space(X), np.arange(len(X)))
    assert again == points


def test_equal_objects_and_slow_metrics_can_be_laid_out():
    points, layouts = lay_out(make_space(np.ones((60, 3))), np.arange(60))
    assert layouts["distances"]["correlation"] is None
    assert np.isfinite(points["neighbor_x"]).all()
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("abc"), 6)) for _ in range(1100)]
    points, layouts = lay_out(make_space(texts, "levenshtein"), np.arange(1100))
    assert layouts["neighbors"] is points["neighbor_x"] is None


def moved_by_forces(points, heads, tails, n_rounds, n_pushes, strength, seed):
    """The plain twin of the kernel."""
    points, state, mask = points.copy(), seed, 2**64 - 1
    for step in range(n_rounds):
        rate = 1 - step / n_rounds
        for head, tail in zip(heads, tails, strict=True):
            apart = points[head] - points[tail]
            move = np.clip(-2 * rate / (1 + apart @ apart) * apart, -4, 4)
            points[head] += move
            points[tail] -= move
            for _ in range(n_pushes):
                state = (state ^ (state << 13)) & mask
                state ^= state >> 7
                state = (state ^ (state << 17)) & mask
                other = state % len(points)
                if other != head:
                    apart = points[head] - points[other]
                    square = apart @ apart
                    points[head] += np.clip(2 * strength * rate / ((0.001 + square) * (1 + square)) * apart, -4, 4)
    return points


@pytest.mark.parametrize("seed", [1, 77])
def test_the_kernel_of_the_layout_agrees_with_its_twin(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(20, 2))
    heads, tails = np.repeat(np.arange(20), 3), rng.integers(0, 20, 60)
    expected = moved_by_forces(points, heads.tolist(), tails.tolist(), 3, 2, 3.0, seed)
    moved = points.copy()
    pull_and_push(moved, heads, tails, 3, 2, 3.0, seed)
    assert moved == pytest.approx(expected, rel=1e-9)
    assert np.abs(moved - points).max() > 0.1


def test_a_correlation_that_is_not_defined():
    for n in (1, 2, 5):
        matrix = np.ones((n, n)) - np.eye(n)
        assert distance_correlation(CheckedDissimilarities(matrix, n), np.random.default_rng(0).random((n, 2))) is None


def test_the_most_important_objects_are_held():
    stops = [Stop(2, np.array([1, 8]), None), Stop(3, np.array([8, 4, 12]), None, chosen=True), Stop(9, None, None)]
    important = important_objects(stops, 10, (np.array([7, 1]),))
    # Position 12 is a moved prototype, which is no object.
    assert important.tolist() == [7, 1, 8, 4]
    assert choose_shown(important, 10, 10).tolist() == list(range(10))
    assert choose_shown(important, 10, 3).tolist() == [1, 7, 8]
    shown = choose_shown(important, 10, 6)
    assert len(shown) == 6
    assert set(important.tolist()) <= set(shown.tolist())
    assert unique_in_order(np.array([3, 1, 3, 2, 1])).tolist() == [3, 1, 2]
    assert np.flatnonzero(choose_held(10, important, 2)).tolist() == [1, 7]
    assert choose_held(10, important, 7).sum() == 7
    assert choose_held(4, np.empty(0, int), 9).all()


def test_of_many_series_some_are_held():
    rng = np.random.default_rng(0)
    n = 12_000
    series = Dataset("s", "series", list(rng.normal(size=(n, 150))), np.arange(n) % 2)
    values, notes = describe_objects(series, np.arange(n), first=np.array([11, 5]))
    held = [position for position, text in enumerate(values["values"]) if text is not None]
    assert len(held) == 10_000
    assert {5, 11} <= set(held)
    assert len(values["lengths"]) == n
    assert notes == [
        "The page holds the values of 10,000 of 12,000 objects: the prototypes first, then a random sample."
    ]


def test_prototypes_of_a_wide_table_have_values():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(900, 800)).astype(np.float32), np.arange(900) % 3
    selector = REPS(n_prototypes=30).fit(X, y)
    model = build_report(Dataset("wide", "vectors", X, y), selector, created="2026-01-31").model
    values = model["objects"]["values"]
    assert len(values["names"]) == 800
    assert sum(row is not None for row in values["values"]) == 562
    assert all(values["values"][index] is not None for index in model["stops"][0]["kept"])
    assert any("values of 562 of 900 objects" in note for note in model["notes"])
