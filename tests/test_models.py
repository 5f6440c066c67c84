"""Models: preparation, files, queries."""

import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import protoset
from protoset import PrototypeClassifier
from protoset.datasets import Attribute, Dataset, read, read_queries, take
from protoset.exceptions import DataError, HopelessClassWarning
from protoset.experiments import compare, validate, validate_model
from protoset.experiments.folds import splits
from protoset.experiments.plan import Folds
from protoset.models import DataModel, Preparation, as_model, find_method, fit_model, prepare
from protoset.models.preparation import learn_scaling
from protoset.spaces import make_space

from conftest import labelled_vectors, overlapping

SCALERS = {"z": StandardScaler, "minmax": MinMaxScaler}


def dataset_of(X, y, **more):
    columns = tuple(Attribute(f"x{position}", "real") for position in range(X.shape[1]))
    return Dataset("some", "vectors", X, y, columns, **more)


def mixed(n=40, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    objects = np.empty((n, 2), dtype=object)
    objects[:, 0] = (rng.normal(size=n) + 2 * y).tolist()
    objects[:, 1] = np.where(rng.random(n) < 0.2, None, np.where(y, "on", "off")).tolist()
    columns = (Attribute("level", "real"), Attribute("switch", "nominal", ("on", "off")))
    return Dataset("mixed", "mixed", objects, np.array(["no", "yes"])[y], columns)


@given(labelled_vectors(), st.sampled_from(sorted(SCALERS)))
def test_scaling_is_that_of_scikit_learn(data, scaling):
    X, y = data
    prepared = prepare(dataset_of(X, y), scaling=scaling)
    assert np.allclose(prepared(X), SCALERS[scaling]().fit_transform(X))


@given(labelled_vectors(), st.integers(0, 3))
def test_what_is_learned_undoes_moving_and_stretching(data, seed):
    """Attributes in other units give the same objects, so the same prototypes."""
    X, y = data
    rng = np.random.default_rng(seed)
    moved = X * 2.0 ** rng.integers(-3, 3, X.shape[1]) + rng.integers(-5, 5, X.shape[1])
    assert np.allclose(prepare(dataset_of(moved, y))(moved), prepare(dataset_of(X, y))(X))


def test_columns_that_are_constant_missing_or_partly_missing():
    X = np.array([[1.0, np.nan, 2.0], [1.0, np.nan, np.nan], [1.0, np.nan, 4.0]])
    centre, width = learn_scaling(X, "z")
    assert centre.tolist() == [1, 0, 3]
    assert width.tolist() == [1, 1, 1]
    assert learn_scaling(X, "minmax")[1].tolist() == [1, 1, 2]


@pytest.mark.parametrize("exponent", [-1010, -600, 0, 600, 1010])
def test_very_large_and_very_small_values_are_scaled_too(exponent):
    X, y = overlapping(20)
    plain, extreme = (prepare(dataset_of(values, y))(values) for values in (X, np.ldexp(X, exponent)))
    np.testing.assert_array_equal(extreme, plain)


@pytest.mark.parametrize("scaling", ["z", "minmax"])
def test_a_range_that_no_number_can_hold_is_refused(scaling):
    X, y = overlapping(20)
    X[0, 1], X[1, 1] = -1.5e308, 1.5e308
    with pytest.raises(ValueError, match=f"scaling='{scaling}' cannot scale 'x1': its range is too large"):
        prepare(dataset_of(X, y), scaling=scaling)


def test_the_automatic_metric():
    X, y = overlapping(20)
    assert prepare(dataset_of(X, y)).metric == "euclidean"
    gaps = np.where(np.arange(20)[:, None] == 3, np.nan, X)
    assert prepare(dataset_of(gaps, y)).metric == "gower"
    assert prepare(mixed()).metric == "gower"
    assert prepare(mixed()).metric_params == {"categorical": [1]}
    assert prepare(Dataset("s", "series", list(X), y)).metric == "dtw"
    assert prepare(Dataset("s", "strings", ["a"] * 20, y)).metric == "levenshtein"
    assert prepare(Dataset("s", "matrix", np.zeros((20, 20)), y)).metric == "precomputed"


def test_other_ways_to_compare_categories():
    """As positions in the declaration, and by HEOM; both say nothing where there are no categories."""
    dataset, train = mixed(), np.arange(30)
    by_index = prepare(dataset, train=train, nominal="index")
    assert (by_index.metric, by_index.scaling) == ("euclidean", "z")
    positions = np.array([[level, {"on": 0, "off": 1, None: np.nan}[switch]] for level, switch in dataset.objects])
    centre, width = np.nanmean(positions[train], axis=0), np.nanstd(positions[train], axis=0)
    np.testing.assert_allclose(by_index(dataset.objects), (positions - centre) / width)
    assert prepare(dataset, metric="manhattan", nominal="index", scaling="raw").metric == "manhattan"
    assert prepare(dataset, nominal="heom").metric == "heom"
    for nominal in ("index", "heom"):
        assert prepare(dataset_of(*overlapping(20)), nominal=nominal).metric == "euclidean"
    unknown = dataset.objects.copy()
    unknown[0, 1] = "broken"
    with pytest.raises(ValueError, match="'switch' has the value 'broken', which is not among the declared values"):
        by_index(unknown)


def test_the_metric_is_that_of_all_objects_and_the_scaling_that_of_the_training_part():
    X, y = overlapping(20)
    gaps = np.where(np.arange(20)[:, None] == 19, np.nan, X)
    assert prepare(dataset_of(gaps, y), train=np.arange(10)).metric == "gower"
    np.testing.assert_allclose(prepare(dataset_of(X, y), train=np.arange(10)).centre, X[:10].mean(axis=0))


def test_series_of_channels_are_turned():
    rng = np.random.default_rng(0)
    series = [rng.normal(size=(7, 2)) for _ in range(6)]
    prepared = prepare(Dataset("s", "series", series, np.arange(6) % 2))
    assert [one.shape for one in prepared(series)] == [(2, 7)] * 6
    equal = [one[:, 0] for one in series]
    flat = prepare(Dataset("s", "series", equal, np.arange(6) % 2), metric="euclidean")
    assert (flat.scaling, flat(equal).shape) == ("raw", (6, 7))
    with pytest.raises(ValueError, match="one length and one channel"):
        flat(series)


KINDS = {
    "vectors": dataset_of(*overlapping(40)),
    "mixed": mixed(),
    "series": Dataset("s", "series", list(overlapping(30, d=12)[0]), overlapping(30, d=12)[1]),
    "strings": Dataset("s", "strings", ["anna", "anne", "hanna", "bob", "rob", "bobo"], np.array(list("aaabbb"))),
    "matrix": Dataset(
        "s",
        "matrix",
        make_space(overlapping(30)[0], "euclidean").block(slice(None), slice(None)),
        overlapping(30)[1],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_from_a_file_predicts_as_before(kind, tmp_path):
    dataset = KINDS[kind]
    model = fit_model(dataset, n_prototypes=4, random_state=0)
    protoset.save(model, tmp_path / "model")
    loaded = protoset.load(tmp_path / "model")
    assert isinstance(loaded, DataModel)
    assert (loaded.predict(dataset.objects) == model.predict(dataset.objects)).all()
    assert np.array_equal(loaded.predict_proba(dataset.objects), model.predict_proba(dataset.objects))
    assert np.array_equal(loaded.novelty_scores(dataset.objects), model.novelty_scores(dataset.objects))
    assert loaded.explain(dataset.objects).indices.tolist() == model.explain(dataset.objects).indices.tolist()
    before, after = model.preparation, loaded.preparation
    assert (before.kind, before.metric, before.scaling) == (after.kind, after.metric, after.scaling)
    assert (before.attributes, before.target) == (after.attributes, after.target)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m["preparation"].update(scaling="raw"), "scaling 'raw' does not fit the arrays"),
        (lambda m: m["preparation"].update(scaling="y"), "scaling 'y' is not known; expected one of"),
        (lambda m: m["preparation"].update(metric="cosine"), "has another metric than the classifier"),
        (lambda m: m["preparation"].update(surprise=1), "surprise"),
        (lambda m: m["preparation"].update(attributes=[["x0", "real", []]]), "centre has 3 values for 1 attributes"),
        (lambda m: m["preparation"].update(attributes=[[0, "real", []]]), "not texts"),
        (lambda m: m["preparation"].update(target_position=9), "target_position 9 is not a position"),
        (lambda m: m["preparation"].update(metric_params=[1]), "metric_params is not a dict"),
        (lambda m: m["preparation"].update(kind="matrix"), "does not compare the kind 'matrix'"),
        (
            lambda m: m["preparation"].update(kind="mixed", attributes=[], target_position=0),
            "does not compare the kind 'mixed' without attributes",
        ),
        (lambda m: m.pop("preparation"), "preparation"),
        (lambda m: m.update(format="protoset-something"), "does not say format"),
    ],
)
def test_damaged_preparations_are_refused(change, message, tmp_path):
    protoset.save(fit_model(KINDS["vectors"], n_prototypes=4), tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    metadata = json.loads(members["metadata.json"])
    change(metadata)
    with zipfile.ZipFile(tmp_path / "damaged", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, json.dumps(metadata) if name == "metadata.json" else content)
    with pytest.raises(protoset.FileFormatError, match=message):
        protoset.load(tmp_path / "damaged")


def repacked(path, change):
    """Write a model file again with changed metadata and arrays."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    metadata = json.loads(members["metadata.json"])
    change(metadata, members)
    members["metadata.json"] = json.dumps(metadata)
    changed = path.with_name("changed")
    with zipfile.ZipFile(changed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return changed


def with_ids(dataset):
    return replace(dataset, ids=np.array([f"object-{row}" for row in range(dataset.n_objects)]))


def test_prototypes_without_an_id_are_rows():
    dataset = replace(KINDS["vectors"], ids=np.full(KINDS["vectors"].n_objects, ""))
    model = fit_model(dataset, n_prototypes=4, random_state=0)
    assert model.names_of(model.sample_indices_) == [f"row {row}" for row in model.exemplars_]


@pytest.mark.parametrize("kind", KINDS)
def test_ids_and_values_of_prototypes_are_kept_and_saved(kind, tmp_path):
    dataset = with_ids(KINDS[kind])
    model = fit_model(dataset, n_prototypes=4, random_state=0, adapt=False)
    assert fit_model(KINDS[kind], n_prototypes=4, random_state=0).prototype_ids_ is None
    protoset.save(model, tmp_path / "model")
    protoset.save(protoset.load(tmp_path / "model"), tmp_path / "again")
    kept = model.sample_indices_
    for one in (model, protoset.load(tmp_path / "model"), protoset.load(tmp_path / "again")):
        assert one.prototype_ids_.tolist() == one.names_of(kept) == dataset.ids[kept].tolist()
        if kind in ("vectors", "mixed"):
            assert [list(row) for row in one.prototype_values_] == [list(row) for row in dataset.objects[kept]]
        else:
            assert one.prototype_values_ is None


def test_ids_of_a_training_part_are_those_of_its_rows():
    X, y = overlapping(40)
    dataset = with_ids(dataset_of(X, y, n_train=25))
    model = fit_model(dataset, n_prototypes=5)
    assert model.prototype_ids_.tolist() == dataset.ids[model.exemplars_].tolist()


def test_an_older_file_has_no_ids_and_no_values(tmp_path):
    protoset.save(fit_model(with_ids(KINDS["vectors"]), n_prototypes=4), tmp_path / "model")

    def age(metadata, members):
        del metadata["prototype_ids"], metadata["arrays"]["prototype_values"], members["prototype_values.npy"]

    model = protoset.load(repacked(tmp_path / "model", age))
    assert model.prototype_ids_ is None
    assert model.prototype_values_ is None
    comparison = model.compare(KINDS["vectors"].objects[:1])[0]
    assert comparison.prototype is None
    assert comparison.query.tolist() == KINDS["vectors"].objects[0].tolist()


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("vectors", lambda m: m.update(prototype_ids=["a"]), "prototype_ids are not a text for each"),
        ("vectors", lambda m: m.update(prototype_ids=[1, 2, 3, 4]), "prototype_ids are not a text for each"),
        ("vectors", lambda m: m.update(prototype_ids="abcd"), "prototype_ids are not a text for each"),
        ("vectors", lambda m: m.update(prototype_values=[[1, 2, 3]] * 4), "prototype_values are not a row"),
        ("mixed", lambda m: m.update(prototype_values=[[1, 2]] * 3), "prototype_values are not a row"),
        ("mixed", lambda m: m.update(prototype_values=[[1, 2, 3]] * 4), "prototype_values are not a row"),
        ("mixed", lambda m: m.update(prototype_values=[[1, [2]]] * 4), "not numbers and texts"),
        ("strings", lambda m: m.update(prototype_values=[[]] * 4), "do not fit the kind 'strings'"),
    ],
)
def test_ids_and_values_that_do_not_fit_are_refused(kind, change, message, tmp_path):
    protoset.save(fit_model(with_ids(KINDS[kind]), n_prototypes=4), tmp_path / "model")
    with pytest.raises(protoset.FileFormatError, match=message):
        protoset.load(repacked(tmp_path / "model", lambda metadata, members: change(metadata)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loaded", [False, True])
def test_a_model_compares_objects_as_they_were_given(kind, loaded, tmp_path):
    dataset = KINDS[kind]
    model = fit_model(dataset, n_prototypes=4, random_state=0, adapt=False)
    if loaded:
        protoset.save(model, tmp_path / "model")
        model = protoset.load(tmp_path / "model")
    shown = model.explain(dataset.objects, 2)
    comparisons = model.compare(dataset.objects)
    assert [comparison.distance for comparison in comparisons] == shown.distances[:, 0].tolist()
    second = model.compare(dataset.objects, shown.indices[:, 1])
    assert [comparison.distance for comparison in second] == shown.distances[:, 1].tolist()
    if kind not in ("vectors", "mixed"):
        return
    for row, comparison in enumerate(second):
        assert comparison.names == tuple(attribute.name for attribute in dataset.attributes)
        assert list(comparison.query) == list(dataset.objects[row])
        assert list(comparison.prototype) == list(dataset.objects[shown.indices[row, 1]])


def test_metrics_that_change_vectors_still_show_their_values(tmp_path):
    X, y = overlapping(40)
    for metric in ("cosine", "mahalanobis", "seuclidean", "cityblock"):
        model = fit_model(dataset_of(X, y), n_prototypes=4, metric=metric, adapt=False)
        protoset.save(model, tmp_path / "model")
        comparison = protoset.load(tmp_path / "model").compare(X[:1])[0]
        assert comparison.prototype.tolist() == X[model.explain(X[:1]).indices[0, 0]].tolist()
        assert (comparison.terms is None) == (metric == "mahalanobis")


def test_series_that_are_compared_as_vectors_have_a_share_for_each_point():
    series = KINDS["series"]
    comparison = fit_model(series, n_prototypes=4, metric="euclidean").compare(series.objects[:1])[0]
    assert comparison.names[:2] == ("point 0", "point 1")
    assert comparison.query.tolist() == series.objects[0].tolist()


@pytest.mark.parametrize("width", [0.0, np.inf, np.nan])
def test_a_scaling_that_cannot_work_is_neither_loaded_nor_saved(width, tmp_path):
    model = fit_model(KINDS["vectors"], n_prototypes=4)
    wrong = replace(model, preparation=replace(model.preparation, width=model.preparation.width * 0 + width))
    with pytest.raises(ValueError, match=r"cannot be saved.*finite, positive width"):
        protoset.save(wrong, tmp_path / "model")
    values, arrays = wrong.preparation.state()
    with pytest.raises(ValueError, match=r"finite, positive width"):
        Preparation.from_state(values, arrays)


def test_a_plain_classifier_as_a_model():
    X, y = overlapping(30)
    classifier = protoset.PrototypeClassifier(protoset.REPS(4), adapt=False).fit(X, y)
    model = as_model(classifier)
    assert (model.predict(X) == classifier.predict(X)).all()
    assert [attribute.name for attribute in model.preparation.attributes] == ["column 1", "column 2", "column 3"]
    assert model.compare(X[:1])[0].prototype.tolist() == X[classifier.explain(X[:1]).indices[0, 0]].tolist()
    angular = protoset.PrototypeClassifier(protoset.REPS(4, metric="cosine")).fit(X, y)
    assert as_model(angular).compare(X[:1])[0].prototype is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "rpes"}, "did you mean 'REPS'"),
        ({"name": "FCNN", "n_prototypes": 3}, "chooses its size itself"),
        ({"name": "FCNN", "parameters": {"refine": True}}, "FCNN has no parameter 'refine'"),
        ({"name": "refined", "parameters": {"betta": 2}}, "did you mean 'beta'"),
        ({"name": "REPS", "parameters": {"score": "literal"}}, "no parameter 'score' any more; write 'reading'"),
        ({"name": "REPS", "parameters": {"n_neighbors": 9}}, "write 'search__n_neighbors'"),
        ({"name": "REPS", "parameters": {"beta": 0}}, "beta=0 must be"),
        ({"name": "REPS", "parameters": {"metric": "cosine"}}, "has no parameter 'metric'"),
    ],
)
def test_wrong_methods(arguments, message):
    with pytest.raises(ValueError, match=message):
        find_method(**arguments)


@pytest.mark.parametrize(
    ("dataset", "arguments", "message"),
    [
        (KINDS["mixed"], {"metric": "euclidean"}, "categories in switch"),
        (KINDS["vectors"], {"metric": "euclidian"}, "did you mean 'euclidean'"),
        (KINDS["mixed"], {"scaling": "z"}, "in its own way"),
        (KINDS["vectors"], {"scaling": "log"}, "scaling='log' is not known"),
        (KINDS["matrix"], {"metric": "dtw"}, "'precomputed'"),
        (KINDS["mixed"], {"nominal": "indx"}, "nominal='indx' is not known"),
    ],
)
def test_wrong_preparations(dataset, arguments, message):
    with pytest.raises(ValueError, match=message):
        prepare(dataset, **arguments)


def test_queries_of_tables(tmp_path):
    columns = (Attribute("a", "real"), Attribute("b", "nominal", ("1", "x")))
    options = {"kind": "mixed", "attributes": columns, "target": "class", "target_position": 2}
    (tmp_path / "all.csv").write_text("b,extra,class,a\nx,7,yes,0.5\n1,8,no,1.5\n")
    found = read_queries(tmp_path / "all.csv", **options)
    assert found.objects.tolist() == [[0.5, "x"], [1.5, "1"]]
    assert found.labels.tolist() == ["yes", "no"]
    # Categories that look like numbers stay the categories that they were in training.
    (tmp_path / "codes.csv").write_text("a,b\n0.5,1\n1.5,1\n")
    found = read_queries(tmp_path / "codes.csv", **options)
    assert found.objects.tolist() == [[0.5, "1"], [1.5, "1"]]
    assert found.labels is None
    (tmp_path / "bare.csv").write_text("0.5,x,1\n1.5,1,2\n")
    found = read_queries(tmp_path / "bare.csv", **options)
    assert (found.objects[:, 0].tolist(), found.labels.tolist()) == ([0.5, 1.5], ["1", "2"])
    (tmp_path / "few.csv").write_text("a,c\n0.5,u\n1.5,v\n")
    with pytest.raises(DataError, match="there is no b"):
        read_queries(tmp_path / "few.csv", **options)
    (tmp_path / "texts.csv").write_text("a,b\nlow,x\nhigh,x\n")
    with pytest.raises(DataError, match="expected numbers in 'a'"):
        read_queries(tmp_path / "texts.csv", **options)


def test_tables_without_labels(tmp_path):
    (tmp_path / "some.csv").write_text("a,b\n1,2\n3,4\n")
    found = read(tmp_path / "some.csv", target=False)
    assert found.objects.tolist() == [[1, 2], [3, 4]]
    assert found.labels.tolist() == ["", ""]


def test_queries_of_strings_and_matrices(tmp_path):
    (tmp_path / "s.txt").write_text("a\tanna\nbob\n")
    with pytest.raises(DataError, match="line 2"):
        read_queries(tmp_path / "s.txt", kind="strings")
    np.save(tmp_path / "m.npy", np.ones((2, 3)))
    (tmp_path / "m.txt").write_text("x\ny\nz\n")
    assert read_queries(tmp_path / "m.npy", kind="matrix").objects.shape == (2, 3)
    with pytest.raises(DataError, match="expected 2 labels"):
        read_queries(tmp_path / "m.npy", kind="matrix", labels=tmp_path / "m.txt")


def test_queries_of_every_matrix_file(tmp_path):
    """What write_rows wrote, with the labels in the file where the format has a place for them."""
    from protoset.datasets import write_rows

    matrix = np.arange(9.0).reshape(3, 3)
    matrix = matrix + matrix.T - 2 * np.diag(matrix.diagonal())
    for labels in (np.array(["u", "vw", "u"]), np.array([2, 10, 2])):
        dataset = Dataset("made", "matrix", matrix, labels)
        for ending in ("csv", "npy", "npz", "mat"):
            path = tmp_path / f"m.{ending}"
            write_rows(dataset, [0, 1, 2], path, overwrite=True)
            found = read_queries(path, kind="matrix")
            assert found.objects.tolist() == matrix.tolist()
            assert found.labels is None if ending in ("csv", "npy") else found.labels.tolist() == [*map(str, labels)]


def test_a_nominal_column_of_numbers_is_numbers(tmp_path):
    """A declaration of another file; and an error that names the file."""
    header = "@relation r\n@attribute a {1, 2.5, x}\n@attribute class {u, v}\n@data\n"
    options = {"kind": "vectors", "attributes": (Attribute("a", "real"),), "target": "class"}
    (tmp_path / "q.arff").write_text(header + "1, u\n2.5, v\n?, v\n")
    found = read_queries(tmp_path / "q.arff", **options)
    assert np.array_equal(found.objects, [[1], [2.5], [np.nan]], equal_nan=True)
    (tmp_path / "q.arff").write_text(header + "1, u\nx, v\n")
    with pytest.raises(DataError, match=r"q\.arff: expected numbers in 'a' as in the training set, found 'x'"):
        read_queries(tmp_path / "q.arff", **options)


def test_validation_is_a_loop_over_folds():
    """Against the same folds by hand: scaling learned on the training part of each."""
    X, y = overlapping(60)
    X = X * [1, 100, 0.01]
    found = validate(dataset_of(X, y), "FCNN", folds=3, random_state=1)
    from sklearn.pipeline import make_pipeline

    errors = []
    for train, test in splits(dataset_of(X, y), Folds(3, seed=1)):
        model = make_pipeline(StandardScaler(), protoset.PrototypeClassifier(protoset.selectors.FCNN(), adapt=False))
        errors.append(1 - model.fit(X[train], y[train]).score(X[test], y[test]))
    assert np.allclose(found.fold_errors, errors)
    assert found.confusion.sum() == found.estimate.n_test == 60
    assert found.estimate.n_errors == 60 - np.trace(found.confusion)


def test_comparison_has_the_errors_of_validation():
    X, y = overlapping(60)
    dataset = dataset_of(X, y)
    found = compare(dataset, ["fcnn"], folds=3, random_state=1)
    assert np.allclose(found.errors[:, 0], validate(dataset, "FCNN", folds=3, random_state=1).fold_errors)
    assert found.tests is None


SERIES = Dataset("waves", "series", list(np.random.default_rng(0).normal(size=(20, 8))), np.arange(20) % 2)
BLOBS = Dataset("blobs", "vectors", *overlapping(60))
WRONG_ARGUMENTS = [
    (BLOBS, {"folds": 51}, "n_splits=51 cannot be greater than the number of members in each class"),
    (BLOBS, {"folds": 61}, "folds=61 is more than the 60 objects of .*; pass fewer"),
    (take(BLOBS, [0]), {}, "folds=5 is more than the 1 objects of .*; pass more objects"),
    (BLOBS, {"folds": 3, "n_prototypes": 41}, "n_prototypes=41 is more than the 40 training objects"),
    (BLOBS, {"folds": 3, "n_prototypes": 1}, "n_prototypes=1 is less than the [23] classes"),
    (BLOBS, {"metric": "gower", "metric_params": {"categorical": [7]}}, "categorical"),
    (BLOBS, {"metric": "gower", "metric_params": 3}, "metric_params=3 must be a dict"),
    (BLOBS, {"metric": "minkowski", "metric_params": {"p": -1}}, "p=-1"),
    (BLOBS, {"metric": ["dtw"]}, r"metric=\['dtw'\] is not known"),
    (BLOBS, {"random_state": 2**32}, "random_state=4294967296 must be"),
    (BLOBS, {"random_state": "0"}, "random_state='0' must be"),
    (SERIES, {"metric_params": {"window": -1}}, "window=-1"),
]


@pytest.mark.parametrize(("dataset", "arguments", "message"), WRONG_ARGUMENTS, ids=[m for _, _, m in WRONG_ARGUMENTS])
def test_wrong_arguments_are_errors_and_not_failed_methods(dataset, arguments, message):
    """In a comparison, a failed method has NaN; a wrong argument is an error, as in a validation."""
    with pytest.raises((ValueError, TypeError), match=message):
        compare(dataset, ["FCNN", "KMedoids"], **arguments)
    with pytest.raises((ValueError, TypeError), match=message):
        validate(dataset, "KMedoids", **arguments)


@pytest.mark.parametrize("call", [fit_model, validate, compare, prepare])
@pytest.mark.parametrize("data", [None, np.eye(4), "iris"], ids=["None", "array", "text"])
def test_no_data_set(call, data):
    with pytest.raises(TypeError, match=r"dataset has the type \w+; pass a protoset.datasets.Dataset, for example"):
        call(data)


@pytest.mark.parametrize("methods", ["REPS", 3])
def test_methods_are_a_list_of_names(methods):
    with pytest.raises(TypeError, match=r"methods=.* must be a list of names"):
        compare(BLOBS, methods)


@pytest.mark.parametrize("parameters", [3, ["beta"], {2: 3}])
def test_parameters_are_a_dict(parameters):
    with pytest.raises(TypeError, match=r"parameters=.* must be a dict from names to values"):
        find_method("REPS", parameters=parameters)


def test_a_model_is_made_of_a_fitted_classifier():
    with pytest.raises(NotFittedError):
        as_model(PrototypeClassifier())
    with pytest.raises(TypeError, match="classifier=3 must be a fitted PrototypeClassifier"):
        as_model(3)


def test_numbers_of_numpy_are_plain_numbers():
    options = {"folds": 3, "random_state": 1, "n_prototypes": 9}
    plain = validate(BLOBS, "KMedoids", **options)
    fancy = validate(BLOBS, "KMedoids", **{name: np.int64(value) for name, value in options.items()})
    np.testing.assert_array_equal(fancy.fold_errors, plain.fold_errors)
    inverse = {"metric": "mahalanobis", "metric_params": {"VI": np.eye(BLOBS.objects.shape[1])}}
    compared = compare(BLOBS, ["FCNN"], folds=np.int32(3), scaling="raw", **inverse)
    expected = compare(BLOBS, ["FCNN"], folds=3, scaling="raw")
    np.testing.assert_array_equal(compared.errors, expected.errors)


def test_validation_warns_of_classes_that_the_adjusted_rule_cannot_answer_with():
    """As the classifier does, by the names of the classes."""
    X, y = load_iris(return_X_y=True)
    iris = Dataset("iris", "vectors", X, np.array(["setosa", "versicolor", "virginica"])[y])
    with pytest.warns(HopelessClassWarning, match=r"can never predict the classes \['setosa'\]"):
        validate(iris, "REPS", folds=2, n_prototypes=6, rule="adjusted", scaling="raw")


def test_labels_are_compared_as_texts():
    X, y = overlapping(30)
    model = fit_model(dataset_of(X, y), n_prototypes=6)
    found = validate_model(model, X, y.astype(str))
    assert found.estimate.n_errors == (model.predict(X) != y).sum()


def test_holding_out_with_a_class_of_one():
    X, y = overlapping(30)
    y = np.where(np.arange(30) == 4, 9, y)
    assert validate(dataset_of(X, y), "FCNN", holdout=0.3).estimate.n_test == 9
    with_split = replace(dataset_of(X, y), n_train=20)
    assert validate(with_split, "FCNN").estimate.n_test == 10
