"""Data sets whose prototypes move: methods, models, comparisons, files."""

import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits

import protoset
from protoset import REPS, PrototypeClassifier, Refined
from protoset.datasets import Attribute, Dataset
from protoset.experiments import compare, results, run, status, validate
from protoset.experiments.comparison import COMPARED_METHODS
from protoset.models import MethodSpec, as_model, find_method, fit_model, prepare
from protoset.models.known_distances import KnownDistances
from protoset.models.methods import ADAPTED
from protoset.spaces import make_space

from conftest import overlapping

WORDS = Dataset("words", "strings", ["anna", "anne", "hanna", "bob", "rob", "bobo"], np.array(list("aaabbb")))


def digits(n=300, **more):
    """Pictures of digits in units of their own: a few prototypes are better after they moved."""
    X, y = load_digits(return_X_y=True)
    columns = tuple(Attribute(f"pixel {position}", "real") for position in range(64))
    return Dataset("digits", "vectors", 10 * X[:n] + 3, np.array([f"d{label}" for label in y[:n]]), columns, **more)


def without_constant_pixels(dataset):
    """Leave out pixels with one value in most objects, and so perhaps in a fold: they have no relevance."""
    varied = np.flatnonzero(dataset.objects.std(axis=0) > 25)
    columns = tuple(dataset.attributes[position] for position in varied)
    return replace(dataset, objects=dataset.objects[:, varied], attributes=columns)


def mixed(n=150):
    """Many noisy attributes: an object between others is better than any of them."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    objects = np.empty((n, 8), dtype=object)
    for column in range(6):
        objects[:, column] = (100 * rng.normal(size=n) + 80 * y).tolist()
    switch = np.where(rng.random(n) < 0.3 + 0.4 * y, "on", "off")
    objects[:, 6] = np.where(rng.random(n) < 0.1, None, switch).tolist()
    objects[:, 7] = rng.choice(["red", "green", "blue"], n).tolist()
    columns = (
        *(Attribute(f"level {column}", "real") for column in range(6)),
        Attribute("switch", "nominal", ("on", "off")),
        Attribute("colour", "nominal", ("red", "green", "blue")),
    )
    return Dataset("mixed", "mixed", objects, np.array(["no", "yes"])[y], columns)


def series(n=60):
    rng = np.random.default_rng(0)
    t, y = np.linspace(0, 1, 20), np.arange(n) % 2
    bumps = np.exp(-(((t - rng.uniform(0.3, 0.7, (n, 1))) / (0.08 + 0.06 * y[:, None])) ** 2))
    return Dataset("bumps", "series", list(bumps + 0.1 * rng.normal(size=(n, 20))), y)


def channels(n=30):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    objects = [rng.normal(size=(9, 2)) + np.array([2 * label, 0]) for label in y]
    return Dataset("channels", "series", objects, y)


KINDS = {"vectors": digits(), "mixed": mixed(), "series": series()}


def moved_model(kind, **options):
    model = fit_model(KINDS[kind], n_prototypes=20 if kind == "vectors" else 4, **options)
    assert model.has_moved
    return model


class TestMethods:
    def test_adapted_is_refined_reps_that_moves(self):
        for name in ("adapted", "Adapted", "adapted REPS", " adapted reps "):
            assert find_method(name) == MethodSpec("REPS", {}, refined=True, adapted=True)
        assert find_method("adapted").name == ADAPTED
        assert find_method("refined").moves is None
        assert isinstance(find_method("adapted").build(), Refined)
        names = [MethodSpec(name, {}, *flags).name for name in ("REPS", "FCNN") for flags in ((1, 1), (0, 1), (1, 0))]
        assert len(set(names)) == 6

    def test_parameters_of_the_moves(self):
        given = {
            "relevances": True,
            "n_passes": 7,
            "step": 0.2,
            "adapt__loss": "softmax",
            "loss": "sum",
            "n_starts": 2,
        }
        spec = find_method("adapted", parameters=given)
        assert spec.moves == {"relevances": True, "n_passes": 7, "step": 0.2, "loss": "softmax"}
        selector = spec.build()
        assert (selector.n_starts, selector.selector.loss) == (2, "sum")

    @pytest.mark.parametrize(
        ("name", "parameters", "message"),
        [
            ("adapted", {"step": -1}, "step=-1"),
            ("adapted", {"n_passes": 0}, "n_passes=0"),
            ("adapted", {"adapt__loss": "hinge"}, "loss='hinge' is not known"),
            ("adapted", {"relevances": 3}, "relevances=3"),
            ("refined", {"relevances": True}, "method='adapted' moves the prototypes of REPS"),
            ("FCNN", {"step": 0.1}, "method='adapted' moves the prototypes of REPS"),
            ("adaptd", {}, "did you mean 'adapted'"),
        ],
    )
    def test_wrong_parameters(self, name, parameters, message):
        with pytest.raises((ValueError, TypeError), match=message):
            find_method(name, parameters=parameters)

    @pytest.mark.parametrize(
        ("method", "adapt", "moves"),
        [
            ("refined", "auto", True),
            ("adapted", "auto", True),
            ("adapted", True, True),
            ("refined", False, False),
            ("REPS", "auto", False),
            ("FCNN", "auto", False),
            ("FCNN", True, True),
            ("REPS", {"n_passes": 2}, True),
            ("refined", {}, True),
        ],
    )
    def test_when_prototypes_move(self, method, adapt, moves):
        """By default those of the default method alone, so that the name of another method means its set."""
        model = fit_model(KINDS["mixed"], method, adapt=adapt)
        assert (model.classifier.adaptation_ is not None) == moves
        if isinstance(adapt, dict) and adapt:
            assert model.classifier.adaptation_.n_passes in (0, 2)

    def test_objects_that_cannot_move(self):
        assert fit_model(WORDS, n_prototypes=2).classifier.adaptation_ is None
        for options in ({"method": "adapted"}, {"adapt": True}, {"method": "FCNN", "adapt": {"relevances": True}}):
            for call in (fit_model, validate):
                with pytest.raises(ValueError, match=r"metric='levenshtein' cannot move; those under .*adapt=False"):
                    call(WORDS, **options)
        with pytest.raises(ValueError, match="metric='levenshtein' cannot move"):
            compare(WORDS, ["FCNN", "adapted"], folds=2)
        zeros = replace(KINDS["vectors"], objects=np.where(np.arange(300)[:, None] < 2, 0.0, KINDS["vectors"].objects))
        still = {"metric": "cosine", "scaling": "raw", "n_prototypes": 10}
        assert fit_model(zeros, **still).classifier.adaptation_ is None
        with pytest.raises(ValueError, match="a vector of X has none, as all its values are 0"):
            fit_model(zeros, "adapted", **still)

    @pytest.mark.parametrize("call", [fit_model, validate])
    def test_arguments_that_exclude_each_other(self, call):
        vectors = KINDS["mixed"]
        with pytest.raises(ValueError, match="adapt=False and method='adapted REPS' exclude each other"):
            call(vectors, "adapted", adapt=False)
        with pytest.raises(ValueError, match="adapt='always' must be"):
            call(vectors, adapt="always")
        with pytest.raises(ValueError, match="adapt has 'steps'"):
            call(vectors, adapt={"steps": 3})

    @pytest.mark.parametrize(("method", "adapt"), [("REPS", True), ("REPS", {"step": 0.1}), ("adapted", "auto")])
    def test_folds_measure_no_other_rule_with_moves(self, method, adapt):
        with pytest.raises(ValueError, match="rule='adjusted' needs prototypes that do not move"):
            validate(KINDS["mixed"], method, rule="adjusted", adapt=adapt)

    def test_the_adjusted_rule_leaves_prototypes_where_they_are(self):
        model = fit_model(KINDS["mixed"], "refined", rule="adjusted", n_prototypes=6)
        assert model.classifier.adaptation_ is None
        model = fit_model(KINDS["mixed"], "refined", rule="adjusted", n_prototypes=6, adapt=True)
        assert model.classifier.adaptation_ is not None

    @pytest.mark.parametrize("rule", ["scores", "auto"])
    def test_other_rules_decide_among_moved_prototypes(self, rule):
        dataset = KINDS["vectors"]
        model = fit_model(dataset, rule=rule, n_prototypes=10)
        assert model.classifier.adaptation_ is not None
        assert model.classifier.rule_ in ("nearest", "scores")


class TestModels:
    @pytest.mark.parametrize("kind", KINDS)
    def test_it_is_the_classifier_on_prepared_objects(self, kind):
        dataset, model = KINDS[kind], moved_model(kind)
        prepared = model.preparation(dataset.objects)
        selector = Refined(REPS(len(model.sample_indices_), metric=model.preparation.metric))
        selector.selector.metric_params = model.preparation.metric_params or None
        classifier = PrototypeClassifier(selector, adapt=True).fit(prepared, dataset.labels)
        np.testing.assert_array_equal(model.exemplars_, classifier.exemplars_)
        np.testing.assert_array_equal(model.predict(dataset.objects), classifier.predict(prepared))

    def test_the_seed_is_that_of_the_moves_too(self):
        options = {"n_prototypes": 20, "parameters": {"n_starts": 1}}
        distances = [
            fit_model(KINDS["vectors"], random_state=seed, **options)
            .predict_details(KINDS["vectors"].objects)
            .distances
            for seed in (1, 1, 2)
        ]
        np.testing.assert_array_equal(distances[0], distances[1])
        assert (distances[0] != distances[2]).any()

    def test_values_are_in_the_units_of_the_data(self):
        """The distance to a moved prototype is that to its values, scaled as all objects are."""
        model, objects = moved_model("vectors"), KINDS["vectors"].objects
        shown = model.explain(objects[:20], 1)
        slots = np.searchsorted(model.sample_indices_, shown.indices[:, 0])
        scaled = model.preparation(model.prototype_values_[slots])
        expected = np.linalg.norm(model.preparation(objects[:20]) - scaled, axis=1)
        np.testing.assert_allclose(shown.distances[:, 0], expected)
        np.testing.assert_array_equal(model.exemplar_values_, objects[model.exemplars_])

    def test_categories_between_several_ones_are_shares(self):
        model = moved_model("mixed", adapt={"n_passes": 40})
        texts = {value for value in model.prototype_values_[:, 6:].ravel() if value is not None}
        assert any("%" in text and ", " in text for text in texts), texts
        assert all(isinstance(value, float) for value in model.prototype_values_[:, 0])
        numbers, moved = KINDS["mixed"].objects[:, 0], model.prototype_values_[:, 0]
        assert numbers.min() - 50 < moved.min() < moved.max() < numbers.max() + 50

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_person_sees_real_objects(self, kind, tmp_path):
        """Names, ids and exemplars are those of training objects of the same class, also after loading."""
        dataset = replace(KINDS[kind], ids=np.array([f"object-{row}" for row in range(KINDS[kind].n_objects)]))
        model = fit_model(dataset, n_prototypes=20 if kind == "vectors" else 4)
        protoset.save(model, tmp_path / "model")
        protoset.save(protoset.load(tmp_path / "model"), tmp_path / "again")
        for one in (model, protoset.load(tmp_path / "model"), protoset.load(tmp_path / "again")):
            assert one.has_moved
            assert one.has_moved
            assert one.names_of(one.sample_indices_) == dataset.ids[one.exemplars_].tolist()
            assert (dataset.labels[one.exemplars_] == one.prototype_labels_).all()
            np.testing.assert_array_equal(one.predict(dataset.objects), model.predict(dataset.objects))
            if kind == "series":
                assert one.prototype_values_ is None
                assert one.exemplar_values_ is None
                continue
            assert [list(row) for row in one.exemplar_values_] == [list(row) for row in dataset.objects[one.exemplars_]]
            assert [list(row) for row in one.prototype_values_] == [list(row) for row in model.prototype_values_]
            assert one.compare(dataset.objects[:3])[0].prototype is not None

    def test_a_file_of_prototypes_that_stayed_is_as_before(self, tmp_path):
        protoset.save(fit_model(KINDS["vectors"], n_prototypes=20, adapt=False), tmp_path / "model")
        with zipfile.ZipFile(tmp_path / "model") as archive:
            metadata = json.loads(archive.read("metadata.json"))
        assert "moved" not in metadata
        assert "exemplar_values" not in metadata["arrays"]
        model = protoset.load(tmp_path / "model")
        assert not model.has_moved
        np.testing.assert_array_equal(model.exemplars_, model.sample_indices_)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda m: m.update(exemplar_values=[[1] * 64] * 20), "exemplar_values are not a row"),
            (lambda m: m.update(moved=1), "moved is 1; expected true or false"),
        ],
    )
    def test_damaged_files_are_refused(self, change, message, tmp_path):
        protoset.save(moved_model("vectors"), tmp_path / "model")
        with zipfile.ZipFile(tmp_path / "model") as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        metadata = json.loads(members["metadata.json"])
        change(metadata)
        with zipfile.ZipFile(tmp_path / "damaged", "w") as archive:
            for name, content in members.items():
                archive.writestr(name, json.dumps(metadata) if name == "metadata.json" else content)
        with pytest.raises(protoset.FileFormatError, match=message):
            protoset.load(tmp_path / "damaged")

    def test_directions_have_no_values(self):
        model = fit_model(KINDS["vectors"], n_prototypes=20, metric="cosine")
        assert model.has_moved
        assert model.prototype_values_ is None
        np.testing.assert_array_equal(model.exemplar_values_, KINDS["vectors"].objects[model.exemplars_])

    def test_a_plain_classifier_that_moved(self, tmp_path):
        X, y = load_digits(return_X_y=True)
        classifier = PrototypeClassifier(REPS(20)).fit(X[:300], y[:300])
        protoset.save(classifier, tmp_path / "classifier")
        for one in (classifier, protoset.load(tmp_path / "classifier")):
            model = as_model(one)
            assert model.has_moved
            assert model.names_of(model.sample_indices_) == classifier.exemplars_.tolist()
            slot = np.searchsorted(model.sample_indices_, model.explain(X[:1], 1).indices[0, 0])
            np.testing.assert_allclose(model.compare(X[:1])[0].prototype, classifier.adaptation_.prototypes[slot])


class TestComparisons:
    def test_moved_where_objects_can_move(self):
        some = overlapping(60)
        assert compare(Dataset("some", "vectors", *some), folds=2).methods == (*COMPARED_METHODS, ADAPTED)
        words = Dataset("words", "strings", WORDS.objects * 3, np.tile(WORDS.labels, 3))
        assert compare(words, folds=2).methods == COMPARED_METHODS

    def test_moves_help_and_refined_stays(self):
        dataset = KINDS["vectors"]
        found = compare(dataset, ["refined", "adapted"], n_prototypes=20, folds=3)
        assert found.methods == ("refined REPS", ADAPTED)
        refined, adapted = found.errors.mean(axis=0)
        assert adapted < refined - 0.02
        stays = validate(dataset, "refined", n_prototypes=20, folds=3, adapt=False)
        np.testing.assert_allclose(found.errors[:, 0], stays.fold_errors)
        assert stays.moved is None
        moves = validate(dataset, "refined", n_prototypes=20, folds=3)
        np.testing.assert_allclose(found.errors[:, 1], moves.fold_errors)
        assert moves.moved.all()

    def test_folds_of_many_objects_are_not_matrices(self, monkeypatch):
        dataset = KINDS["vectors"]
        expected = validate(dataset, "adapted", n_prototypes=20, folds=3).fold_errors
        monkeypatch.setattr("protoset.experiments.folds.LARGEST_MATRIX", 10)
        np.testing.assert_allclose(validate(dataset, "adapted", n_prototypes=20, folds=3).fold_errors, expected)

    def test_references_have_no_prototypes_to_move(self):
        for name in ("guess", "NoPS", "kNN"):
            with pytest.raises(ValueError, match=f"{name} has no prototypes to move"):
                validate(KINDS["vectors"], name, adapt=True, folds=2)
            assert validate(KINDS["mixed"], name, adapt=False, folds=2).moved is None

    def test_settings_of_runs_are_refused(self):
        with pytest.raises(ValueError, match="adapt has 'max_time', which does not work with folds"):
            validate(KINDS["vectors"], adapt={"max_time": 3})

    def test_relevances_of_channels_count(self):
        model = fit_model(channels(), n_prototypes=2, adapt={"relevances": True})
        assert len(model.classifier.relevances_) == 2


PLAN = {
    "data": ["it"],
    "folds": 3,
    "methods": [
        "adapted",
        {"method": "adapted", "n_prototypes": 20, "relevances": [False, True], "label": "small"},
        {"method": "adapted", "rates": [0.05, 0.1]},
        "refined",
        {"method": "FCNN", "adapt": [False, True], "n_passes": 3},
        {"method": "REPS", "adapt": True, "at": "refined REPS"},
    ],
}


class TestPlans:
    @pytest.mark.slow
    def test_results(self, tmp_path):
        """The same numbers alone and in several processes, and those of a validation."""
        data = {"it": without_constant_pixels(digits(120))}
        progress = run(PLAN, tmp_path / "journal", data=data)
        assert (progress.failed, progress.done) == (0, 3 * 9)
        run(PLAN, tmp_path / "parallel", data=data, n_jobs=2)
        rows = results(tmp_path / "journal", kept=True)
        measured = [
            [(row.id, row.error, row.kept, row.counters) for row in results(tmp_path / name, kept=True)]
            for name in ("journal", "parallel")
        ]
        assert sorted(measured[0]) == sorted(measured[1])
        labels = sorted({row.method for row in rows})
        assert labels == sorted(
            [
                ADAPTED,
                "small(relevances=False)",
                "small(relevances=True)",
                "adapted REPS at 0.05",
                "adapted REPS at 0.1",
                "refined REPS",
                "FCNN",
                "FCNN(adapt=True, n_passes=3)",
                "REPS(adapt=True) at refined REPS",
            ]
        )
        expected = validate(data["it"], "adapted", folds=3).fold_errors
        assert [row.error for row in rows if row.method == ADAPTED] == pytest.approx(list(expected))
        for row in rows:
            moves = "adapt" in row.method or "small" in row.method
            assert ("n_passes_of_moves" in json.loads(row.counters)) == moves
            assert json.loads(row.parameters).get("adapt", False) == moves

    def test_a_run_that_ends_goes_on(self, tmp_path):
        data = {"it": digits(120)}
        plan = PLAN | {"methods": ["refined", {"method": "adapted", "n_prototypes": 12}]}
        whole = run(plan, tmp_path / "whole", data=data)
        run(plan, tmp_path / "parts", data=data, callback=lambda progress: progress.done == 2)
        assert status(tmp_path / "parts").missing == 4
        assert run(plan, tmp_path / "parts", data=data).done == whole.done == 6
        errors = [[row.error for row in results(tmp_path / name)] for name in ("whole", "parts")]
        assert errors[0] == errors[1]

    def test_objects_that_cannot_move_fail_with_the_reason(self, tmp_path):
        words = Dataset("words", "strings", WORDS.objects * 3, np.tile(WORDS.labels, 3))
        progress = run({"data": ["it"], "methods": ["adapted", "FCNN"], "folds": 2}, tmp_path / "j", data={"it": words})
        assert (progress.done, progress.failed) == (2, 2)
        messages = {row.failure_message for row in results(tmp_path / "j") if row.state == "failed"}
        assert len(messages) == 1
        assert "metric='levenshtein' cannot move" in messages.pop()


def test_known_distances_are_those_of_the_objects():
    X = overlapping(30)[0]
    X = np.vstack([X, X[:5]])
    space = make_space(X)
    known = KnownDistances(space.block(slice(None), slice(None)), space)
    np.testing.assert_array_equal(known.identical(), space.identical())
    members = np.array([3, 1, 20])
    part = known.subset(members).subset(np.array([2, 0]))
    np.testing.assert_array_equal(part.movable.start(np.arange(2)), X[[20, 3]])
    assert known.central_member(members) == space.central_member(members)
    words = prepare(WORDS).space(WORDS.objects)
    assert KnownDistances(words.block(slice(None), slice(None)), words).movable is None
