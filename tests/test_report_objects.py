"""Objects as the page holds them: images, shares of attributes, matched points, edits, rivals, main attributes."""

import base64
import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.feature_selection import f_classif
from sklearn.preprocessing import Normalizer, StandardScaler

from protoset import REPS, PrototypeClassifier
from protoset._report.building import build_report
from protoset._report.images import describe_images, find_image_shape
from protoset._report.main_attributes import explained_share, main_attributes
from protoset._report.objects import describe_objects
from protoset.datasets import Attribute, Dataset

DAY = datetime.date(2026, 1, 31)
X, Y = load_wine(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(X))
X, Y = X[ORDER], Y[ORDER]
NAMES = tuple(Attribute(name, "real") for name in load_wine().feature_names)
MIXED = np.array(
    [[row[0], "red" if row[9] > 5 else "white", row[12], "abc"[int(row[1]) % 3]] for row in X.tolist()], object
)


def model_of(objects, labels, selector, n_train=120, kind="vectors", attributes=(), transform=None):
    prepared = objects[:n_train] if transform is None else transform(objects[:n_train])
    dataset = Dataset("d", kind, objects, labels, attributes, n_train=n_train)
    return build_report(dataset, selector.fit(prepared, labels[:n_train]), transform=transform, created=DAY).model


def shares_of(model, n_columns):
    """Shares of all attributes, a row for each test object."""
    table = np.zeros((len(model["queries"]["ids"]), n_columns))
    for row, comparison in zip(table, model["queries"]["comparisons"]["values"], strict=True):
        row[comparison["columns"]] = comparison["shares"]
        assert comparison["shares"] == sorted(comparison["shares"], reverse=True)
    return table


def vector_terms(metric, a, b, train):
    if metric == "cityblock":
        return np.abs(a - b)
    return (a - b) ** 2 / (train.var(axis=0, ddof=1) if metric == "seuclidean" else 1.0)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cityblock", "seuclidean"])
def test_shares_of_numbers(metric):
    model = model_of(X, Y, REPS(9, metric=metric), attributes=NAMES)
    shares = shares_of(model, 13)
    for query, winner in enumerate(model["queries"]["winners"][0]):
        terms = vector_terms(metric, X[120 + query], X[winner], X[:120])
        assert shares[query] == pytest.approx(terms / terms.sum(), abs=1e-4)
    assert model["queries"]["comparisons"]["is_squared"] == (metric in ("euclidean", "seuclidean"))


def mixed_terms(metric, a, b, train, labels):
    """Terms of the two numbers and the two categories."""
    terms = []
    for column in range(4):
        if column in (0, 2):
            values = train[:, column].astype(float)
            divisor = 4 * values.std() if metric == "hvdm" else np.ptp(values)
            difference = abs(float(a[column]) - float(b[column])) / divisor
            terms.append(difference if metric == "gower" else difference**2)
        elif metric == "hvdm":
            shares = [
                [np.mean(labels[train[:, column] == value] == label) for label in np.unique(labels)]
                for value in (a[column], b[column])
            ]
            terms.append(float(np.square(np.subtract(*shares)).sum()))
        else:
            terms.append(float(a[column] != b[column]))
    return np.array(terms)


@pytest.mark.parametrize("metric", ["heom", "gower", "hvdm"])
def test_shares_of_mixed_attributes(metric):
    selector = REPS(9, metric=metric, metric_params={"categorical": [1, 3]})
    columns = tuple(Attribute(name, "real") for name in ("alcohol", "colour", "proline", "letter"))
    model = model_of(MIXED, Y, selector, kind="mixed", attributes=columns)
    shares = shares_of(model, 4)
    for query, winner in enumerate(model["queries"]["winners"][0]):
        terms = mixed_terms(metric, MIXED[120 + query], MIXED[winner], MIXED[:120], Y[:120])
        assert shares[query] == pytest.approx(terms / terms.sum(), abs=1e-3)
    facts = {name: text for part in model["facts"] for name, text in part["rows"]}
    assert facts["categorical"] == "colour, letter"


def test_shares_of_a_moved_prototype_are_those_of_the_moved_values():
    scaler = StandardScaler().fit(X[:120])
    classifier = PrototypeClassifier(REPS(6), adapt=True)
    model = model_of(X, Y, classifier, attributes=NAMES, transform=scaler.transform)
    assert classifier.adaptation_.has_moved
    shares, n = shares_of(model, 13), 120
    for query, winner in enumerate(model["queries"]["winners"][0]):
        terms = (scaler.transform(X[[120 + query]])[0] - classifier.adaptation_.prototypes[winner - n]) ** 2
        assert shares[query] == pytest.approx(terms / terms.sum(), abs=1e-3)


def test_a_transform_that_mixes_attributes_has_no_shares():
    assert model_of(X, Y, REPS(9), transform=StandardScaler().fit(X).transform)["queries"]["comparisons"] is not None
    for transform in (PCA(13).fit(X), PCA(3).fit(X), Normalizer().fit(X)):
        assert model_of(X, Y, REPS(9), transform=transform.transform)["queries"]["comparisons"] is None


def test_a_metric_that_is_no_sum_has_no_shares():
    comparisons = model_of(X, Y, REPS(9, metric="chebyshev"))["queries"]["comparisons"]
    assert {one["shares"] for one in comparisons["values"]} == {None}
    matrix = cdist(X, X)
    dataset = Dataset("m", "matrix", matrix, Y, n_train=120)
    fitted = REPS(9, metric="precomputed").fit(matrix[:120, :120], Y[:120])
    assert build_report(dataset, fitted, created=DAY).model["queries"]["comparisons"] is None


def warping_cost(a, b, window):
    """Smallest sum of squared differences along a path, by plain dynamic programming."""
    costs = np.full((len(a) + 1, len(b) + 1), np.inf)
    costs[0, 0] = 0
    for i in range(len(a)):
        for j in range(len(b)):
            if abs(i - j) <= window:
                costs[i + 1, j + 1] = (a[i] - b[j]) ** 2 + min(costs[i, j], costs[i, j + 1], costs[i + 1, j])
    return costs[-1, -1]


def series(n, n_points, seed):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    return [np.sin((3 + 3 * label) * np.linspace(0, 1, n_points) + rng.random()) for label in labels], labels


def test_matched_points_are_a_cheapest_path():
    objects, labels = series(60, 30, 0)
    model = model_of(objects, labels, REPS(4, metric="dtw", metric_params={"window": 5}), 40, kind="series")
    for query, comparison in enumerate(model["queries"]["comparisons"]["values"]):
        a, b = objects[40 + query], objects[comparison["prototype"]]
        assert comparison["prototype"] == model["queries"]["winners"][0][query]
        if comparison["pairs"] is None:
            pairs = np.column_stack([np.arange(30)] * 2)
        else:
            pairs = np.array(comparison["pairs"]).T
            assert len(pairs) == comparison["n_pairs"]
        assert pairs[0].tolist() == [0, 0]
        assert pairs[-1].tolist() == [29, 29]
        steps = np.diff(pairs, axis=0)
        assert ((steps >= 0) & (steps <= 1)).all()
        assert (steps.sum(axis=1) >= 1).all()
        assert np.abs(pairs[:, 0] - pairs[:, 1]).max() <= 5
        cost = float(np.square(a[pairs[:, 0]] - b[pairs[:, 1]]).sum())
        assert cost == pytest.approx(warping_cost(a, b, 5), rel=1e-9)
        for first, last, start, end, share in comparison["segments"]:
            inside = (pairs[:, 0] >= first) & (pairs[:, 0] <= last) & (pairs[:, 1] >= start) & (pairs[:, 1] <= end)
            part = np.square(a[pairs[:, 0]] - b[pairs[:, 1]])[inside].sum()
            assert share == pytest.approx(part / cost, abs=0.01)


def test_long_paths_are_thinned_and_points_without_warping_are_not_listed():
    objects, labels = series(40, 180, 1)
    model = model_of(objects, labels, REPS(4, metric="dtw"), 30, kind="series")
    thinned = [one for one in model["queries"]["comparisons"]["values"] if one["pairs"] is not None]
    assert thinned
    for comparison in thinned:
        pairs = np.array(comparison["pairs"]).T
        assert len(pairs) == 100 < comparison["n_pairs"]
        assert (np.diff(pairs, axis=0) >= 0).all()
        assert pairs[-1].tolist() == [179, 179]
    model = model_of(objects, labels, REPS(4, metric="series_euclidean"), 30, kind="series")
    assert {one["pairs"] for one in model["queries"]["comparisons"]["values"]} == {None}


def test_channels_keep_their_own_scales():
    rng = np.random.default_rng(0)
    objects = [np.column_stack([rng.random(20), 1e6 * rng.random(20)]) for _ in range(5)]
    values, _ = describe_objects(Dataset("c", "series", objects, np.arange(5) % 2), np.arange(5))
    (low, high), (other_low, other_high) = values["limits"]
    assert 0 <= low < high <= 1 < other_high
    assert other_low < other_high


def edit_distance(a, b):
    before = list(range(len(b) + 1))
    for i, symbol in enumerate(a, 1):
        now = [i]
        for j, other in enumerate(b, 1):
            now.append(min(before[j] + 1, now[-1] + 1, before[j - 1] + (symbol != other)))
        before = now
    return before[-1]


@pytest.mark.parametrize("tokens", [False, True])
@pytest.mark.parametrize("metric", ["levenshtein", "damerau_levenshtein"])
def test_edits_turn_the_test_object_into_the_prototype(metric, tokens):
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 2
    objects = ["".join(rng.choice(list("ab" if label else "bcd"), rng.integers(3, 9))) for label in labels]
    if tokens:
        objects = [[f"<{symbol}>" for symbol in text] for text in objects]
    model = model_of(objects, labels, REPS(4, metric=metric), 40, kind="strings")
    for query, comparison in enumerate(model["queries"]["comparisons"]["values"]):
        a, b = objects[40 + query], objects[comparison["prototype"]]
        empty = [] if tokens else ""
        for side, expected in ((1, a), (2, b)):
            assert (
                sum((run[side] or empty for run in comparison["runs"]), empty) == expected
                if tokens
                else ("".join(run[side] or "" for run in comparison["runs"]) == expected)
            )
        for kind, first, second in comparison["runs"]:
            assert (first is None) == (kind == "insert")
            assert (second is None) == (kind == "delete")
            assert (first == second) == (kind == "equal")
        n_edits = sum(comparison["counts"].values())
        if metric == "levenshtein":
            assert n_edits == edit_distance(a, b)
        assert (
            n_edits
            == model["queries"]["distances"][query][model["queries"]["nearest"][query].index(comparison["prototype"])]
        )


def test_long_strings_are_not_aligned_and_the_page_says_so():
    objects = ["ab" * 1500, "ba" * 1500, "a", "b", "ab" * 1400, "a"]
    model = model_of(objects, np.array([0, 1, 0, 1, 0, 0]), REPS(2, metric="levenshtein"), 4, kind="strings")
    kept = [comparison is not None for comparison in model["queries"]["comparisons"]["values"]]
    lengths = [len(objects[4 + query]) * len(objects[model["queries"]["winners"][0][query]]) for query in range(2)]
    assert kept == [length <= 4_000_000 for length in lengths]
    assert any("too long to be aligned" in note for note in model["notes"]) == (False in kept)


@given(st.integers(1, 5), st.integers(2, 9), st.integers(2, 9), st.sampled_from([1, 3]), st.integers(0, 99))
def test_images_are_written_within_half_a_level(n, height, width, channels, seed):
    rng = np.random.default_rng(seed)
    objects = rng.normal(size=(n, height * width * channels))
    objects[0, 0] = np.nan
    values, notes = describe_images(objects, (height, width, channels), 10_000)
    assert values["shape"] == [height, width, channels]
    assert notes == []
    low, high = values["limits"]
    levels = np.array([list(base64.b64decode(text)) for text in values["values"]])
    assert np.array_equal(levels == 255, np.isnan(objects))
    read = low + levels / 254 * (high - low)
    assert np.nanmax(np.abs(read - objects)) <= (high - low) / 254 * 0.5001


def test_many_images_are_scaled_down_by_means():
    objects = np.arange(2 * 40 * 50.0).reshape(2, -1)
    values, notes = describe_images(objects, (40, 50, 1), 2 * 20 * 25)
    assert values["shape"] == [20, 25, 1]
    assert notes == ["Images are shown with 20 × 25 of their 40 × 50 pixels."]
    first = base64.b64decode(values["values"][0])[0]
    low, high = values["limits"]
    assert low == objects[0].reshape(40, 50)[:2, :2].mean()
    assert first == 0
    assert high == objects[1].reshape(40, 50)[-2:, -2:].mean()


def test_shapes_are_guessed_given_or_off():
    digits, labels = load_digits(return_X_y=True)
    named = tuple(Attribute(name, "real") for name in load_digits().feature_names)
    dataset = Dataset("digits", "vectors", digits, labels)
    assert find_image_shape(dataset, None) == (8, 8, 1)
    assert find_image_shape(Dataset("digits", "vectors", digits, labels, named), None) == (8, 8, 1)
    assert find_image_shape(dataset, False) is None
    assert find_image_shape(dataset, (4, 16)) == (4, 16, 1)
    rng = np.random.default_rng(0)
    others = [
        rng.random((100, 64)),  # no image: neighbours are not alike
        rng.integers(0, 255, (100, 64)).astype(float),
        digits[:, :63],  # no square
        digits - 8,  # negative values
        digits[:, rng.permutation(64)],
    ]
    for objects in others:
        assert find_image_shape(Dataset("x", "vectors", objects, np.zeros(len(objects))), None) is None
    own = tuple(Attribute(f"measure of {name}", "real") for name in range(64))
    assert find_image_shape(Dataset("x", "vectors", digits, labels, own), None) is None
    colours = Dataset("x", "vectors", rng.random((5, 12)), np.zeros(5))
    assert find_image_shape(colours, (2, 2, 3)) == (2, 2, 3)
    for shape in ((8, 9), (8, 8, 3)):
        with pytest.raises(ValueError, match=r"image_shape=.* has \d+ values, but the objects have 64"):
            find_image_shape(dataset, shape)
    for shape in ((64,), (8, 4, 2), (8.0, 8), "8x8", True):
        with pytest.raises(ValueError, match=r"image_shape=.* must be \(height, width\)"):
            find_image_shape(dataset, shape)


def test_dates_and_positions_of_categories_are_texts():
    columns = (Attribute("day", "date"), Attribute("colour", "nominal", ("red", "blue")), Attribute("size", "real"))
    objects = np.array([[0.0, 1.0, 2.5], [31.0, 0.0, 3.0], [1.0, 7.0, np.nan]])
    values, _ = describe_objects(Dataset("d", "vectors", objects, np.array([0, 1, 0]), columns), np.arange(3))
    assert values["values"] == [["1970-01-01", "blue", 2.5], ["1970-02-01", "red", 3], ["1970-01-02", 7, None]]


def test_rivals_are_the_nearest_prototypes_of_other_classes():
    for classifier in (PrototypeClassifier(REPS(9), adapt=False), PrototypeClassifier(REPS(9), adapt=True)):
        model = model_of(X[:, :6], Y, classifier)
        kept, n = model["stops"][0]["kept"], 120
        if model["moved"] is None:
            rows = points = X[kept, :6]
            codes = Y[kept]
        else:
            rows, points = X[model["moved"]["exemplars"], :6], classifier.adaptation_.prototypes
            codes = Y[model["moved"]["exemplars"]]
            assert kept == list(range(n, n + 9))
        distances = np.where(codes[:, None] == codes[None], np.inf, cdist(rows, points))
        for position, (rival, distance) in enumerate(model["objects"]["rivals"]):
            assert kept.index(rival) == distances[position].argmin()
            assert distance == pytest.approx(distances[position].min(), rel=1e-5)


def test_main_attributes_tell_the_classes_apart():
    ratios, _ = f_classif(X, Y)
    expected = 2 * ratios / (2 * ratios + len(X) - 3)
    shares = [explained_share(X[:, [column]], Y) for column in range(13)]
    assert shares == pytest.approx(expected)
    main = main_attributes(Dataset("w", "vectors", X, Y), Y, 13)
    assert main["columns"] == np.argsort(-expected)[:4].tolist()
    assert all(low < high for low, high in main["ranges"])
    # Categories: one that is the class explains everything, one that is random nothing.
    rows = np.array([["abc"[label], "xy"[place % 2], None] for place, label in enumerate(np.arange(60) % 3)], object)
    main = main_attributes(Dataset("m", "mixed", rows, np.arange(60) % 3), np.arange(60) % 3, 3)
    assert main["columns"][0] == 0
    assert main["ranges"] == [None, None, None]
