"""Rules, probabilities, refusals and sets of labels, and the held-out objects that they are learned by."""

import json
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import approx_fprime
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_blobs, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score
from sklearn.model_selection import train_test_split

from protoset import REPS, PrototypeClassifier, Refined, load, save
from protoset.adaptation.selected import FitLists
from protoset.decisions import NearestRule, hold_out, learn_degradations, leave_one_out, probabilities_of
from protoset.decisions import probabilities as mapping
from protoset.decisions.novelty import HeldOutScores
from protoset.decisions.probabilities import ProbabilityMap, learn_map
from protoset.decisions.scores import Kernel, learn_scores
from protoset.selectors import CNN, RandomSelector
from protoset.selectors._distinct import TrainingSet
from protoset.selectors.ties import MajorityVote
from protoset.spaces import make_space

SEEDS = st.integers(0, 2**31)
RULES = ["nearest", "adjusted", "scores", "auto"]

pytestmark = pytest.mark.filterwarnings("ignore:rule='adjusted' can never predict")


@pytest.fixture(scope="module")
def overlapping():
    X, y = make_blobs(900, centers=4, n_features=3, cluster_std=3.0, random_state=3)
    return train_test_split(X, y, random_state=0, stratify=y, train_size=500)


def words(n=120, seed=0):
    rng = np.random.default_rng(seed)
    stems = np.array(["abcdef", "uvwxyz", "mnopqr"])
    y = np.arange(n) % 3
    return ["".join(rng.permutation(list(stems[code]))[: rng.integers(3, 7)]) for code in y], y


class TestClassWeights:
    @pytest.fixture(scope="class")
    @staticmethod
    def rare():
        X, y = make_classification(4_000, 6, n_informative=4, weights=[0.95], class_sep=0.8, flip_y=0, random_state=1)
        return train_test_split(X, y, stratify=y, random_state=0)

    @pytest.mark.parametrize("adapt", [False, "auto"])
    def test_probabilities_are_those_of_a_population_with_these_weights(self, rare, adapt):
        X, X_test, y, y_test = rare
        selector = Refined(REPS(20, class_weight="balanced"))
        classifier = PrototypeClassifier(selector, adapt=adapt).fit(X, y)
        weighted = classifier.predict_proba(X_test)[:, 1]
        # Half of the weight is that of 50 rare test objects; without class weights the mean is 0.28.
        mean = np.average(weighted, weights=(len(y) / 2 / np.bincount(y))[y_test])
        assert mean == pytest.approx(0.5, abs=0.1)
        plain = weighted * y.mean() / (weighted * y.mean() + (1 - weighted) * (1 - y.mean()))
        assert plain.mean() == pytest.approx(y_test.mean(), abs=0.03)
        assert weighted.mean() > 2 * y_test.mean()

    def test_scores_count_the_classes_by_their_weights(self, rare):
        X, X_test, y, y_test = rare
        recalls = {}
        for class_weight in (None, "balanced"):
            selector = Refined(REPS(20, class_weight=class_weight))
            classifier = PrototypeClassifier(selector, rule="scores", adapt=False).fit(X, y)
            recalls[class_weight] = recall_score(y_test, classifier.predict(X_test))
        assert recalls["balanced"] > recalls[None] + 0.1

    def test_a_stream_counts_them_too(self, rare):
        X, X_test, y, y_test = rare
        means = []
        for class_weight in (None, {1: 19.0}):
            classifier = PrototypeClassifier(REPS(20, class_weight=class_weight))
            for part in np.array_split(np.arange(len(X)), 5):
                classifier.partial_fit(X[part], y[part], classes=[0, 1])
            assert classifier.calibration_.how == "prequential"
            means.append(classifier.predict_proba(X_test)[:, 1].mean())
        assert means[0] == pytest.approx(y_test.mean(), abs=0.03)
        assert means[1] > 2 * means[0]


class TestProbabilities:
    @settings(max_examples=30)
    @given(SEEDS)
    def test_gradient_of_the_log_loss(self, seed):
        rng = np.random.default_rng(seed)
        evidence, codes, weights = rng.normal(size=(2, 30, 3)), rng.integers(3, size=30), rng.random(30) + 0.1
        found = {}

        def keep(function, start, **options):
            found["loss"] = function
            found["at"] = start + rng.normal(size=3) * 0.3
            return original(function, start, **options)

        with pytest.MonkeyPatch.context() as patch:
            original = mapping.minimize
            patch.setattr(mapping, "minimize", keep)
            learned = learn_map(evidence, codes, weights, (1.0, 1.0))
        _, gradient = found["loss"](found["at"])
        numerical = approx_fprime(found["at"], lambda at: found["loss"](at)[0], 1e-7)
        np.testing.assert_allclose(gradient, numerical, rtol=1e-4, atol=1e-5)
        assert (learned.slopes > 0).all()
        assert 0 < learned.shared <= 0.5

    def test_the_map_finds_the_slopes_that_made_the_classes(self):
        rng = np.random.default_rng(0)
        evidence = rng.normal(size=(1, 4000, 3))
        truth = ProbabilityMap(np.array([2.5]), 0.1)
        codes = np.array([rng.choice(3, p=row) for row in truth(evidence)])
        learned = learn_map(evidence, codes, np.ones(4000), (1.0,))
        np.testing.assert_allclose(learned.slopes, 2.5, rtol=0.15)
        np.testing.assert_allclose(learned.shared, 0.1, atol=0.04)

    @pytest.mark.parametrize("rule", RULES)
    @pytest.mark.parametrize("adapt", ["auto", False])
    def test_they_sum_to_one_and_agree_with_predict(self, overlapping, rule, adapt):
        X, queries, y, _ = overlapping
        classifier = PrototypeClassifier(Refined(REPS(0.05)), rule=rule, adapt=adapt).fit(X, y)
        probabilities = classifier.predict_proba(queries)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        assert (probabilities > 0).all()
        predicted = classifier.predict(queries)
        np.testing.assert_array_equal(classifier.classes_[probabilities.argmax(axis=1)], predicted)
        details = classifier.predict_details(queries)
        np.testing.assert_array_equal(details.labels, predicted)
        np.testing.assert_allclose(details.probabilities, probabilities.max(axis=1))
        np.testing.assert_array_equal(classifier.explain(queries).labels[:, 0], predicted)

    @settings(max_examples=8)
    @given(SEEDS, st.sampled_from(RULES))
    def test_ties_agree_with_predict_too(self, seed, rule):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 3, (60, 2)).astype(float), rng.integers(3, size=60)
        classifier = PrototypeClassifier(REPS(0.3), rule=rule, adapt=False).fit(X, y)
        queries = rng.integers(0, 4, (30, 2)) / 2
        probabilities = classifier.predict_proba(queries)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        np.testing.assert_array_equal(classifier.classes_[probabilities.argmax(axis=1)], classifier.predict(queries))

    def test_they_mean_what_they_say(self, overlapping):
        """Of the objects with a probability near p, a part near p has the class."""
        X, queries, y, truth = overlapping
        classifier = PrototypeClassifier(Refined(REPS(0.05))).fit(X, y)
        probabilities = classifier.predict_proba(queries)
        certainty, is_right = probabilities.max(axis=1), classifier.predict(queries) == truth
        assert abs(certainty.mean() - is_right.mean()) < 0.06
        half = np.argsort(certainty)[: len(certainty) // 2]
        assert abs(certainty[half].mean() - is_right[half].mean()) < 0.1

    def test_they_follow_the_distances(self, overlapping):
        X, queries, y, _ = overlapping
        classifier = PrototypeClassifier(REPS(20), adapt=False).fit(X, y)
        block, calibration = cdist(queries, X[classifier.sample_indices_]), classifier.calibration_
        nearest = np.stack([block[:, classifier._codes == code].min(axis=1) for code in range(4)], axis=1)
        ratio = nearest / classifier._learned.typical
        slopes = calibration.probabilities.slopes
        powers = np.exp(-slopes[0] * np.log(ratio + 0.01) - slopes[1] * ratio)
        shared = calibration.probabilities.shared
        expected = (1 - shared) * powers / powers.sum(axis=1, keepdims=True) + shared / 4
        np.testing.assert_allclose(classifier.predict_proba(queries), expected)

    def test_two_objects_are_enough(self):
        classifier = PrototypeClassifier(REPS(2)).fit([[0.0], [1.0]], ["a", "b"])
        np.testing.assert_allclose(classifier.predict_proba([[0.2]]).sum(), 1)

    def test_no_probabilities_without_a_calibration(self, overlapping):
        X, queries, y, _ = overlapping
        classifier = PrototypeClassifier(REPS(20), calibrate=False).fit(X, y)
        assert classifier.calibration_ is None
        assert np.isnan(classifier.predict_details(queries).probabilities).all()
        for ask in (classifier.predict_proba, classifier.predict_set, classifier.novelty_scores, classifier.is_novel):
            with pytest.raises(ValueError, match="not calibrated.*fit it again with calibrate=True"):
                ask(queries)
        classifier = PrototypeClassifier(REPS(20)).fit(X, y).set_params(rule="adjusted", adapt=False)
        classifier.fit(X, y).set_params(rule="nearest")
        with pytest.raises(
            ValueError, match="rule='nearest' was set after fit, but only rule='adjusted' is calibrated"
        ):
            classifier.predict_proba(queries)


class TestRules:
    @settings(max_examples=20)
    @given(SEEDS)
    def test_scores_are_those_of_a_logistic_regression(self, seed):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 2)), np.arange(40) % 3
        kept, counts = rng.permutation(40)[:6], rng.integers(1, 4, 40).astype(float)
        judged = leave_one_out(make_space(X), y, kept)
        judged.known.weights[:] = counts
        learned = learn_scores(judged, 3, Kernel(2, 0.5), (1e-3,), typical=1.5)[0]
        block = cdist(X, X[kept])
        block[kept, np.arange(6)] = np.inf
        features = np.exp(-0.5 * (block / 1.5) ** 2)
        model = LogisticRegression(C=1 / (1e-3 * counts.sum()), max_iter=1000).fit(features, y, sample_weight=counts)
        shares = np.exp(learned(block))
        shares /= shares.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(shares, model.predict_proba(features), atol=0.02)

    def test_scores_of_two_classes_and_of_absent_ones(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
        X[:, 0] += 3 * y
        judged = leave_one_out(make_space(X), y, np.arange(6))
        learned = learn_scores(judged, 3, Kernel(2, 0.5), (1e-4,), typical=1.0)[0]
        scores = learned(cdist(X, X[:6]))
        assert np.mean(scores.argmax(axis=1) == y) > 0.8
        assert (scores[:, 2] < scores[:, :2].min(axis=1) - 100).all()

    @pytest.mark.parametrize("shift", [0.0, 1e3, 1e30])
    def test_quick_scores_are_the_exact_ones(self, overlapping, shift):
        X, queries, y, _ = overlapping
        X = X + shift if shift < 1e30 else X * shift
        queries = queries + shift if shift < 1e30 else queries * shift
        classifier = PrototypeClassifier(REPS(30), rule="scores", adapt=False).fit(X, y)
        exact = classifier._learned.labels(cdist(queries, X[classifier.sample_indices_]))
        np.testing.assert_array_equal(classifier.predict(queries), classifier.classes_[exact])

    @pytest.mark.slow
    def test_scores_lower_the_error_of_few_prototypes(self):
        X, y = load_digits(return_X_y=True)
        X, queries, y, truth = train_test_split(X, y, random_state=0)
        errors = {}
        for rule in ("nearest", "scores", "auto"):
            classifier = PrototypeClassifier(Refined(REPS(20)), rule=rule, adapt=False).fit(X, y)
            errors[rule] = 1 - classifier.score(queries, truth)
        assert errors["scores"] < errors["nearest"]
        assert classifier.rule_ == "scores"
        assert errors["auto"] == errors["scores"]
        tried = classifier.calibration_.errors
        assert tried["scores"] < tried["nearest"]

    def test_auto_takes_the_rule_with_fewer_errors(self, overlapping):
        X, _, y, _ = overlapping
        classifier = PrototypeClassifier(Refined(REPS(0.1)), rule="auto").fit(X, y)
        tried = classifier.calibration_.errors
        assert set(tried) == {"nearest", "scores"}
        assert classifier.rule_ == min(tried, key=tried.get)

    @pytest.mark.parametrize("rule", RULES)
    def test_a_matrix_decides_as_the_objects_do(self, overlapping, rule):
        X, queries, y, _ = overlapping
        ours = PrototypeClassifier(REPS(0.06), rule=rule, adapt=False).fit(X, y)
        ready = PrototypeClassifier(REPS(0.06, metric="precomputed"), rule=rule).fit(cdist(X, X), y)
        np.testing.assert_allclose(ready.novelty_scores(cdist(queries, X)), ours.novelty_scores(queries))
        # The folds are others: a matrix does not know the contents of the objects.
        assert np.mean(ready.predict(cdist(queries, X)) == ours.predict(queries)) > 0.95
        assert np.abs(ready.predict_proba(cdist(queries, X)) - ours.predict_proba(queries)).mean() < 0.05

    def test_strings_have_scores(self):
        X, y = words()
        classifier = PrototypeClassifier(REPS(9, metric="levenshtein"), rule="scores").fit(X[:90], y[:90])
        assert classifier.calibration_.how == "folds"
        assert classifier.score(X[90:], y[90:]) > 0.9

    def test_the_adjusted_rule_of_a_refined_set_is_learned_for_it(self):
        X, y = load_breast_cancer(return_X_y=True)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        X, queries, y, truth = train_test_split(X, y, random_state=0)
        options = {"selector": Refined(REPS(0.05)), "adapt": False}
        nearest = PrototypeClassifier(**options).fit(X, y)
        adjusted = PrototypeClassifier(**options, rule="adjusted").fit(X, y)
        assert nearest.degradations_ is None
        assert adjusted.degradations_.shape == adjusted.sample_indices_.shape
        assert adjusted.score(queries, truth) > nearest.score(queries, truth) - 0.02

    def test_degradations_are_0_where_plain_ranks_are_better(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 2))
        y = (X[:, 0] > 0).astype(int)
        kept = np.array([np.flatnonzero(y == code)[0] for code in (0, 1)])
        X[kept] = [[-1.0, 0.0], [1.0, 0.0]]
        judged = leave_one_out(make_space(X), y, kept)
        learned = learn_degradations(judged, MajorityVote(y[kept], np.ones(2), np.bincount(y).astype(float)))
        np.testing.assert_allclose(learned, [0.0, 0.0], atol=1e-6)

    def test_explanations_of_scores_name_prototypes_of_the_class(self, overlapping):
        X, queries, y, _ = overlapping
        classifier = PrototypeClassifier(Refined(REPS(0.06)), rule="scores", adapt=False).fit(X, y)
        shown = classifier.explain(queries, n_neighbors=5)
        np.testing.assert_array_equal(shown.labels[:, 0], classifier.predict(queries))
        assert (np.diff(shown.adjusted_ranks[:, 1:], axis=1) >= 0).all()
        assert np.isin(shown.indices, classifier.sample_indices_).all()

    def test_a_graph_has_no_scores_and_no_probabilities(self, overlapping):
        X, _, y, _ = overlapping
        graph = sparse.csr_matrix(cdist(X, X))
        selector = REPS(20, metric="precomputed")
        for options in ({"rule": "scores"}, {"rule": "auto"}, {"calibrate": True}):
            name = next(iter(options))
            with pytest.raises(ValueError, match=f"{name}=.* X is a sparse graph, which does not have them"):
                PrototypeClassifier(selector, **options).fit(graph, y)
        classifier = PrototypeClassifier(selector).fit(graph, y)
        with pytest.raises(ValueError, match="not calibrated"):
            classifier.predict_proba(graph)


class TestHeldOut:
    @pytest.mark.parametrize(
        ("selector", "adapt", "how"),
        [
            (Refined(REPS(0.1)), "auto", "folds"),
            (REPS(0.1), False, "folds"),
            (CNN(), False, "leave-one-out"),
            (RandomSelector(0.1), False, "leave-one-out"),
        ],
    )
    def test_how_objects_are_held_out(self, overlapping, selector, adapt, how):
        X, _, y, _ = overlapping
        calibration = PrototypeClassifier(selector, adapt=adapt).fit(X, y).calibration_
        assert calibration.how == how
        assert calibration.n_objects == len(X)

    def test_many_objects_hold_a_part_out(self):
        X, y = make_blobs(3000, centers=3, random_state=0)
        for adapt in (True, False):
            calibration = PrototypeClassifier(Refined(REPS(30)), adapt=adapt).fit(X, y).calibration_
            assert calibration.how == "held-out part"
            assert calibration.n_objects == 600

    def test_distances_of_folds_are_those_of_the_metric(self, overlapping):
        """Also where prototypes move by distances that the metric squares."""
        X, _, y, _ = overlapping
        for metric in ("euclidean", "sqeuclidean", "cosine"):
            space = make_space(X, metric)
            classifier = PrototypeClassifier(Refined(REPS(20)), adapt=True).fit(space, y)
            training = TrainingSet.of(space, y)
            moved = classifier._place(space, lambda known=training: known, FitLists())
            held_out = hold_out(space, training, classifier.selector_, moved)
            final, kept = held_out.final, classifier.sample_indices_
            block = np.concatenate([part for _, part in final.known.blocks(len(kept))])
            rows = training.in_content_order().rows
            direct = classifier._prototypes.cross(X[rows]).block(slice(None), slice(None))
            finite = np.isfinite(block)
            assert (~finite).sum() <= len(kept)
            np.testing.assert_allclose(block[finite], direct[finite], rtol=1e-6, atol=1e-9)

    def test_no_object_is_its_own_neighbour(self, overlapping):
        X, _, y, _ = overlapping
        judged = leave_one_out(make_space(X), y, np.arange(10))
        block = judged.known.distances(np.arange(len(X)))
        np.testing.assert_array_equal(np.isinf(block), np.eye(len(X), 10, dtype=bool))

    def test_copies_are_weights(self, overlapping):
        X, queries, y, _ = overlapping
        X, y = X[:150], y[:150]
        options = {"selector": REPS(0.1), "adapt": False}
        twice = PrototypeClassifier(**options).fit(np.vstack([X, X]), np.concatenate([y, y]))
        weighted = PrototypeClassifier(**options).fit(X, y, sample_weight=np.full(len(X), 2.0))
        np.testing.assert_allclose(twice.predict_proba(queries), weighted.predict_proba(queries))
        np.testing.assert_array_equal(twice.is_novel(queries, 0.05), weighted.is_novel(queries, 0.05))

    @pytest.mark.parametrize("adapt", [False, "auto"])
    @pytest.mark.parametrize("rule", ["nearest", "scores"])
    def test_the_order_of_rows_changes_nothing(self, overlapping, adapt, rule):
        X, queries, y, _ = overlapping
        order = np.random.default_rng(0).permutation(len(X))
        first = PrototypeClassifier(REPS(0.05), adapt=adapt, rule=rule).fit(X, y)
        second = PrototypeClassifier(REPS(0.05), adapt=adapt, rule=rule).fit(X[order], y[order])
        np.testing.assert_allclose(first.predict_proba(queries), second.predict_proba(queries), rtol=1e-6)

    def test_a_class_of_one_member(self):
        X, y = load_iris(return_X_y=True)
        X, y = np.vstack([X[:100], X[149:]]), np.append(y[:100], 2)
        for adapt in ("auto", False):
            classifier = PrototypeClassifier(Refined(REPS(0.1)), adapt=adapt).fit(X, y)
            np.testing.assert_allclose(classifier.predict_proba(X).sum(axis=1), 1)
            assert classifier.predict_set(X, 0.9, by_class=True)[:, 2].all()


class TestRefusals:
    @settings(max_examples=50)
    @given(SEEDS)
    def test_the_tail_counts_weights(self, seed):
        rng = np.random.default_rng(seed)
        values, weights = rng.integers(0, 6, 20).astype(float), rng.random(20)
        queries = np.append(rng.integers(-1, 8, 10).astype(float), np.inf)
        expected = [(weights[values >= query].sum() + 1) / (weights.sum() + 1) for query in queries]
        np.testing.assert_allclose(HeldOutScores.of(values, weights).tail(queries), expected)

    @pytest.mark.parametrize("refuse", [0.02, 0.1])
    def test_known_objects_are_refused_as_often_as_asked_for(self, refuse):
        rates = []
        for seed in range(6):
            X, y = make_blobs(1000, centers=3, cluster_std=2.0, random_state=seed)
            classifier = PrototypeClassifier(Refined(REPS(0.05))).fit(X[:500], y[:500])
            rates.append(classifier.is_novel(X[500:], refuse).mean())
        assert abs(np.mean(rates) - refuse) < 4 * np.sqrt(2 * refuse * (1 - refuse) / 3000)

    def test_what_is_far_from_everything_is_refused(self, overlapping):
        X, queries, y, _ = overlapping
        classifier = PrototypeClassifier(Refined(REPS(0.05)), refuse=0.01).fit(X, y)
        assert (classifier.predict(queries + 1000) == -1).all()
        scores = classifier.novelty_scores(queries)
        assert (classifier.novelty_scores(queries + 1000) > scores.max()).all()
        np.testing.assert_array_equal(classifier.predict(queries) == -1, classifier.is_novel(queries, 0.01))
        classifier.set_params(refuse=None)
        assert (classifier.predict(queries + 1000) >= 0).all()

    @pytest.mark.parametrize("rule", ["scores", "adjusted"])
    def test_every_rule_refuses(self, overlapping, rule):
        X, queries, y, _ = overlapping
        classifier = PrototypeClassifier(Refined(REPS(0.05)), rule=rule, refuse=0.05).fit(X, y)
        np.testing.assert_array_equal(classifier.predict(queries) == -1, classifier.is_novel(queries, 0.05))

    def test_labels_of_refused_queries(self, overlapping):
        X, _, y, _ = overlapping
        far = X[:3] + 1000
        names = np.array(["a", "b", "c", "d"])
        for labels, given_label, expected in (
            (y, "auto", -1),
            (y, 99, 99),
            (names[y], "auto", "unknown"),
            (names[y].astype(object), "none of these", "none of these"),
        ):
            classifier = PrototypeClassifier(REPS(20), refuse=0.01, outlier_label=given_label).fit(X, labels)
            assert classifier.predict(far).tolist() == [expected] * 3
            assert classifier.predict(X[:3]).dtype.kind == labels.dtype.kind
        for labels, given_label, message in (
            (y, 2, "outlier_label=2 is a label of the training set"),
            (y, "unknown", "outlier_label='unknown' cannot stand beside labels of the dtype int64"),
            (names[y], -1, "outlier_label=-1 cannot stand beside labels"),
            (y > 1, "auto", "cannot stand beside labels of the dtype bool"),
        ):
            with pytest.raises(ValueError, match=message):
                PrototypeClassifier(REPS(20), refuse=0.01, outlier_label=given_label).fit(X, labels)

    @pytest.mark.parametrize("refuse", [0, 1, -0.1, 1.5, "often", np.nan])
    def test_rates_outside_0_and_1(self, overlapping, refuse):
        X, _, y, _ = overlapping
        with pytest.raises((ValueError, TypeError), match="refuse="):
            PrototypeClassifier(REPS(20), refuse=refuse).fit(X, y)

    def test_a_rate_that_few_objects_cannot_tell(self):
        X, y = load_iris(return_X_y=True)
        classifier = PrototypeClassifier(REPS(9)).fit(X[::2], y[::2])
        with pytest.raises(
            ValueError, match=r"refuse=0\.001 is too small for a calibration on 75 held-out training objects"
        ):
            classifier.is_novel(X, 0.001)


class TestSets:
    @pytest.mark.parametrize("adapt", [False, "auto"])
    def test_the_coverage_is_reached(self, adapt):
        covered, by_class = [], []
        for seed in range(5):
            X, y = make_blobs(1000, centers=4, n_features=3, cluster_std=4.0, random_state=seed)
            classifier = PrototypeClassifier(Refined(REPS(0.05)), adapt=adapt).fit(X[:500], y[:500])
            rows, truth = np.arange(500), y[500:]
            covered.append(classifier.predict_set(X[500:], 0.9)[rows, truth].mean())
            sets = classifier.predict_set(X[500:], 0.8, by_class=True)[rows, truth]
            by_class.append([sets[truth == code].mean() for code in range(4)])
        assert np.mean(covered) > 0.9 - 3 * np.sqrt(0.09 / 2500)
        assert np.mean(by_class, axis=0).min() > 0.8 - 3 * np.sqrt(0.16 / 600)

    def test_more_coverage_has_more_labels(self, overlapping):
        X, queries, y, _ = overlapping
        classifier = PrototypeClassifier(Refined(REPS(0.05))).fit(X, y)
        codes = np.searchsorted(classifier.classes_, classifier.predict(queries))
        for by_class in (False, True):
            former = np.zeros((len(queries), 4), bool)
            for coverage in (0.5, 0.7, 0.9, 0.99):
                sets = classifier.predict_set(queries, coverage, by_class=by_class)
                assert (sets >= former).all()
                assert sets[np.arange(len(queries)), codes].all()
                former = sets

    @pytest.mark.parametrize("coverage", [0, 1, -1, 2, "most", None])
    def test_coverage_outside_0_and_1(self, overlapping, coverage):
        X, queries, y, _ = overlapping
        classifier = PrototypeClassifier(REPS(20)).fit(X, y)
        with pytest.raises((ValueError, TypeError), match="coverage="):
            classifier.predict_set(queries, coverage)


class TestFiles:
    @pytest.mark.parametrize("rule", RULES)
    def test_what_was_learned_is_in_the_file(self, overlapping, rule, tmp_path):
        X, queries, y, _ = overlapping
        classifier = PrototypeClassifier(Refined(REPS(0.05)), rule=rule, refuse=0.05, outlier_label=-7).fit(X, y)
        save(classifier, tmp_path / "model.protoset")
        again = load(tmp_path / "model.protoset")
        assert again.rule_ == classifier.rule_
        assert again.calibration_.errors == classifier.calibration_.errors
        for name in ("predict", "predict_proba", "predict_set", "novelty_scores"):
            np.testing.assert_array_equal(getattr(again, name)(queries), getattr(classifier, name)(queries))
        assert (again.predict(queries + 1000) == -7).all()

    def test_a_file_without_a_calibration(self, overlapping, tmp_path):
        """As an older version writes it."""
        X, queries, y, _ = overlapping
        classifier = PrototypeClassifier(REPS(20)).fit(X, y)
        path, older = tmp_path / "model.protoset", tmp_path / "older.protoset"
        save(classifier, path)
        with zipfile.ZipFile(path) as archive, zipfile.ZipFile(older, "w") as written:
            for name in archive.namelist():
                content = archive.read(name)
                if name.endswith(".json"):
                    metadata = json.loads(content)
                    for key in ("learned", "calibration", "calibrate", "refuse", "outlier_label"):
                        del metadata[key]
                    arrays = metadata["arrays"]
                    metadata["arrays"] = {key: arrays[key] for key in arrays if not key.startswith("calibration_")}
                    content = json.dumps(metadata).encode()
                if not name.startswith("calibration_"):
                    written.writestr(name, content)
        again = load(older)
        np.testing.assert_array_equal(again.predict(queries), classifier.predict(queries))
        with pytest.raises(ValueError, match="comes from a file of an older version; fit it again"):
            again.predict_proba(queries)


def test_probabilities_of_tied_classes_keep_the_answer_first():
    vote = MajorityVote(np.array([0, 1]), np.array([1.0, 2.0]), np.array([5.0, 5.0]))
    probabilities = probabilities_of(NearestRule(vote, 1.0), ProbabilityMap(np.ones(2), 0.01), np.ones((1, 2)))
    np.testing.assert_allclose(probabilities, [[1 / 3, 2 / 3]])
