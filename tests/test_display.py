"""Results in terminals and notebooks: short, and texts from data stay texts."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import protoset
from protoset import REPS, PrototypeClassifier, Refined
from protoset.datasets import Attribute, Dataset, load_dataset
from protoset.evaluation import pairwise_wilcoxon
from protoset.experiments import compare
from protoset.experiments.comparison import Comparison
from protoset.models import fit_model
from protoset.selectors import SizeCurve, all_selectors

from conftest import overlapping

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</table></div><h1>",
    "\u202egnp.exe\u202c",
    "שלום עולם",
    "\ud800\x00\r\n",
    "&lt;b&gt;",
    "x" * 5000,
]
X, Y = overlapping(80, seed=2)
LABELS = np.array(HOSTILE)[np.arange(80) % len(HOSTILE)]


class Markup(HTMLParser):
    """Tags, attributes and texts of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes |= set(attributes)

    def handle_data(self, data):
        self.texts.append(data)


def small_comparison(names):
    n = len(names)
    errors = np.random.default_rng(0).random((3, n))
    return Comparison(
        tuple(names), HOSTILE[0], errors, errors, errors, np.arange(n) + 1.0, None, HOSTILE[1], {names[2]: HOSTILE[3]}
    )


KINDS = ["explanation", "predictions", "curve", "suspects", "comparison", "pairs"]
KINDS += ["texts", "table", "mixed", "series", "matrix"]


@pytest.fixture(scope="module")
def things():
    """Everything that shows itself as a table, about data with hostile labels, names and ids."""
    classifier = PrototypeClassifier(REPS(), adapt=False).fit(X, LABELS)
    columns = tuple(Attribute(name, "real") for name in HOSTILE[: X.shape[1]])
    texts = Dataset(HOSTILE[1], "strings", list(LABELS), LABELS, ids=LABELS)
    table = Dataset(HOSTILE[0], "vectors", X, LABELS, columns)
    return {
        "explanation": classifier.explain(X),
        "predictions": classifier.predict_details(X),
        "curve": classifier.selector_.size_curve_,
        "suspects": protoset.suspects(
            X, np.where(np.arange(80) == 3, HOSTILE[1], np.array(HOSTILE)[2 + Y]), PrototypeClassifier(REPS(12))
        ),
        "comparison": small_comparison(HOSTILE),
        "pairs": pairwise_wilcoxon(np.random.default_rng(0).random((9, len(HOSTILE))), names=HOSTILE),
        "texts": texts,
        "table": table,
        "mixed": Dataset("m", "mixed", np.array(LABELS.reshape(20, 4), object), LABELS[:20]),
        "series": Dataset("s", "series", [np.zeros(5)] * 80, LABELS),
        "matrix": Dataset("d", "matrix", np.zeros((80, 80)), LABELS),
        "model": fit_model(table, n_prototypes=9, adapt=False),
    }


@pytest.mark.parametrize("name", [*KINDS, "model"])
def test_tables_are_short_and_safe(name, things):
    text = things[name]._repr_html_()
    markup = Markup(text)
    assert set(markup.tags) <= {"div", "style", "p", "table", "thead", "tbody", "tr", "th", "td", "bdi"}
    assert markup.attributes <= {("class", "protoset-table"), ("class", "title"), ("class", "number"), ("dir", "auto")}
    assert markup.tags.count("tr") <= 11
    assert len(text) < 12_000
    assert not re.search("[\u200e\u200f\u202a-\u202e\u2066-\u2069]", text), "no order to write in another direction"
    text.encode()  # lone surrogates would raise
    assert re.search(r"color:(?!inherit)", text) is None, "tables have no colours of their own"
    line = repr(things[name])
    assert "\n" not in line
    assert "\u202e" not in line
    assert "\ud800" not in line


@pytest.mark.parametrize("name", ["explanation", "predictions", "comparison", "pairs"])
def test_tables_show_the_texts(name, things):
    shown = "".join(Markup(things[name]._repr_html_()).texts)
    assert HOSTILE[0] in shown
    assert HOSTILE[6] in shown
    assert HOSTILE[7] not in shown


def test_a_huge_result_is_as_short():
    classifier = PrototypeClassifier(REPS(30), adapt=False).fit(X, Y)
    queries = np.repeat(X, 1250, axis=0)
    for thing in (
        classifier.explain(queries),
        classifier.predict_details(queries),
        Dataset("big", "vectors", queries, np.repeat(Y, 1250)),
    ):
        assert len(repr(thing)) < 120
        assert len(thing._repr_html_()) < 6_000
    assert "and 99,990 more" in classifier.explain(queries)._repr_html_()


def test_printed_results_are_short():
    rows = np.random.default_rng(0).normal(size=(240, 40))
    labels = np.arange(240) % 2
    rows += labels[:, None] * 0.3
    classifier = PrototypeClassifier(Refined(REPS(30)), adapt=True).fit(rows, labels)
    series = PrototypeClassifier(REPS(20, metric="series_euclidean"), adapt=True).fit(list(rows[:120]), labels[:120])
    lists = protoset.NeighborSearch().find(protoset.spaces.make_space(rows, "euclidean"), 2.0, ties="min")
    for thing in (
        classifier,
        classifier.selector_,
        classifier.adaptation_,
        series.adaptation_,
        classifier.calibration_,
        classifier.selector_.refinement_,
        classifier.compare(rows[:1])[0],
        series.compare(list(rows[:1]))[0],
        lists,
        fit_model(Dataset("r", "vectors", rows, labels), n_prototypes=9).preparation,
    ):
        assert len(repr(thing)) < 700, type(thing)
        assert repr(thing).count("\n") < 5, type(thing)


def test_nothing_is_shown_of_nothing():
    classifier = PrototypeClassifier(REPS(6)).fit(X, Y)
    empty = classifier.explain(X[:1])
    empty = replace(empty, **{name: value[:0] for name, value in vars(empty).items()})
    assert repr(empty) == "<Explanation: 0 queries, 3 prototypes each>"
    assert Markup(empty._repr_html_()).tags.count("tr") == 1
    suspects = protoset.suspects(X, X[:, 0] > np.median(X[:, 0]))
    none = replace(
        suspects,
        **{
            name: getattr(suspects, name)[:0]
            for name in ("indices", "given", "suggested", "probabilities", "odds", "evidence")
        },
    )
    assert repr(none) == "<Suspects: 0 of 80 objects>"
    assert "more" not in none._repr_html_()
    assert len(repr(Dataset("n" * 9999, "strings", ["a" * 9999], np.array(["b"])))) < 120
    assert "0 objects" in Dataset("nothing", "strings", [], np.array([], str))._repr_html_()


def test_what_tables_say():
    curve = SizeCurve(np.array([0.1, 0.2]), np.array([3, 6]), np.array([0.25, 0.2]), np.array([0.06, 0.05]), 1, 0)
    assert repr(curve) == "<SizeCurve: 2 sizes, chosen 3 with an error of 0.2500 ± 0.0600>"
    cells = Markup(curve._repr_html_()).texts
    assert cells[cells.index("3") :] == [
        "3",
        "10.0\xa0%",
        "0.25",
        "0.06",
        "chosen",
        "6",
        "20.0\xa0%",
        "0.2",
        "0.05",
        "best",
    ]
    errors = np.linspace(0.1, 0.2, 8)[:, None] + np.array([0, 0.1, 0.1001]) * np.linspace(0.5, 1, 8)[:, None]
    errors[:4, 2] = errors[:4, 1] - 0.0001
    pairs = pairwise_wilcoxon(errors, names=["a", "b", "c"])
    assert repr(pairs) == "<PairwiseTests: 3 pairs of 3 methods, 2 different (corrected p < 0.05)>"
    cells = Markup(pairs._repr_html_()).texts
    assert [cell for cell in cells if cell.strip()][-19:-1] == [
        *("a", "b", "8", "0.007812", "0.02344", "different"),
        *("a", "c", "8", "0.007812", "0.02344", "different"),
        *("b", "c", "8", "0.4531", "0.4531", "no difference shown"),
    ]
    iris = load_dataset("iris", download=False)
    comparison = compare(iris, ["guess", "NoPS", "FCNN"], folds=2)
    shown = comparison._repr_html_()
    for name, error in zip(comparison.methods, comparison.errors.mean(axis=0), strict=True):
        assert f'<td dir="auto">{name}</td><td dir="auto">{error:.4f}\xa0±' in shown
    assert "±" not in replace(comparison, errors=comparison.errors[:1])._repr_html_().split("<tbody>")[1]


@pytest.mark.parametrize("name", [name for name, _ in all_selectors()])
def test_selectors_show_what_they_learned_beside_their_diagram(name):
    (selector,) = (kind for each, kind in all_selectors() if each == name)
    fresh = selector()
    assert "Learned" not in fresh._repr_html_()
    fitted = fresh.fit(X, LABELS)
    shown = fitted._repr_html_()
    assert shown.startswith(fresh._repr_html_()[:40])
    assert "sk-top-container" in shown
    assert f"{len(fitted.sample_indices_)} of 80 objects" in shown
    assert "<script>alert" not in shown
    assert fitted._repr_mimebundle_()["text/html"].count("Learned") == 1
    with sklearn.config_context(display="text"):
        assert not hasattr(fitted, "_repr_html_")
        assert fitted._repr_mimebundle_() == {"text/plain": repr(fitted)}


def test_the_classifier_says_what_its_prototypes_did(tmp_path):
    classifier = PrototypeClassifier(REPS(12), adapt=True).fit(X, Y)
    shown = " ".join(Markup(classifier._repr_html_().split("protoset-table", 1)[1]).texts)
    assert "12 of 80 objects (15.0\xa0%)" in shown
    assert "euclidean" in shown
    assert "held-out objects" in shown
    assert ("moved; held-out error" in shown) == classifier.adaptation_.has_moved
    protoset.save(classifier, tmp_path / "c.protoset")
    assert "12 of 80 objects" in protoset.load(tmp_path / "c.protoset")._repr_html_()
    assert "sk-top-container" in make_pipeline(StandardScaler(), classifier)._repr_html_()


def test_the_page_stays_in_its_frame():
    title = '"><script>alert(1)</script>'
    report = protoset.report(REPS(9).fit(X, LABELS), X, LABELS, title=title, created="2026-01-31")
    markup = Markup(report._repr_html_())
    assert markup.tags == ["iframe"]
    attributes = dict(markup.attributes)
    assert attributes["sandbox"] == "allow-scripts"
    assert attributes["srcdoc"] == report.html
    assert attributes["title"] == title
    assert len(repr(report)) < 120
