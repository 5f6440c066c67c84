"""Exported files: predictions with NumPy alone, the same to the last tie."""

import io
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protoset import REPS, PrototypeClassifier, export
from protoset.selectors import RandomSelector

from conftest import labelled_vectors, overlapping

METRICS = ("euclidean", "l2", "sqeuclidean", "cosine", "correlation", "seuclidean", "mahalanobis")


def run_file(path):
    """What the file defines, run on its own."""
    names = {"__name__": "exported"}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names


@pytest.mark.parametrize("rule", ["nearest", "adjusted"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.filterwarnings("ignore:rule='adjusted' can never answer")
def test_predictions_are_identical(tmp_path, metric, rule):
    X, y = overlapping(400, d=5)
    classifier = PrototypeClassifier(REPS(40, metric=metric), rule=rule).fit(X[:300], y[:300])
    export(classifier, tmp_path / "model.py")
    queries = np.vstack([X, np.repeat(X[:1], 4, axis=0), np.zeros((1, 5)), np.ones((1, 5))])
    assert (run_file(tmp_path / "model.py")["predict"](queries) == classifier.predict(queries)).all()


@settings(max_examples=25)
@given(labelled_vectors(tied=True), st.sampled_from(["nearest", "adjusted"]), st.sampled_from([np.float32, np.float64]))
@pytest.mark.filterwarnings("ignore:rule='adjusted' can never answer")
def test_ties_are_decided_alike(tmp_path_factory, data, rule, dtype):
    X, y = data
    X = X.astype(dtype)
    classifier = PrototypeClassifier(REPS(0.7), rule=rule).fit(X, y)
    path = tmp_path_factory.mktemp("tied") / "model.py"
    export(classifier, path)
    queries = np.vstack([X, X + 0.5, X - 0.5]).astype(dtype)
    assert (run_file(path)["predict"](queries) == classifier.predict(queries)).all()


def test_the_file_runs_without_protoset(tmp_path):
    """In a process that finds neither protoset nor scikit-learn nor SciPy."""
    X, y = overlapping(200, d=4)
    labels = np.array(["red", "green", "blü"])[y]
    classifier = PrototypeClassifier(REPS(20)).fit(X, labels)
    export(classifier, tmp_path / "model.py")
    np.save(tmp_path / "X.npy", X)
    program = """
import sys
class Refuse:
    def find_spec(self, name, *rest):
        if name.split(".")[0] in ("protoset", "sklearn", "scipy", "numba", "joblib"):
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
import numpy as np, model
np.save("labels.npy", model.predict(np.load("X.npy")))
assert "protoset" not in sys.modules
"""
    environment = {"PYTHONPATH": str(tmp_path), "PATH": ""}
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, check=True)
    assert (np.load(tmp_path / "labels.npy") == classifier.predict(X)).all()
    text = io.StringIO()
    np.savetxt(text, X[:7], delimiter=",", fmt="%.17g")
    command = [sys.executable, "-I", "-X", "utf8", str(tmp_path / "model.py")]
    queries, nowhere = text.getvalue(), tmp_path / "nowhere"
    nowhere.mkdir()
    shown = subprocess.run(
        command, input=queries, capture_output=True, check=True, encoding="utf-8", cwd=nowhere, env={}
    )
    assert shown.stdout.split() == classifier.predict(X[:7]).tolist()


def test_lines_of_the_file_are_short(tmp_path):
    X, y = overlapping(600, d=20)
    classifier = PrototypeClassifier(REPS(300)).fit(X, y)
    export(classifier, tmp_path / "model.py")
    lines = (tmp_path / "model.py").read_text(encoding="utf-8").splitlines()
    assert max(len(line) for line in lines if not line.startswith("DESCRIPTION")) <= 122
    assert (run_file(tmp_path / "model.py")["predict"](X) == classifier.predict(X)).all()


@pytest.mark.parametrize("labels", [[True, False], [1.5, 2.5], ["a", "b"], [3, 1]])
def test_labels_keep_their_type(tmp_path, labels):
    X, y = overlapping(60, n_classes=2)
    values = np.array(labels)[y]
    values = values if values.dtype.kind != "f" else (values * 2).astype(np.float64)
    classifier = PrototypeClassifier(REPS(10)).fit(X, values)
    export(classifier, tmp_path / "model.py")
    found = run_file(tmp_path / "model.py")["predict"](X)
    assert found.dtype.kind == classifier.predict(X).dtype.kind
    assert (found == classifier.predict(X)).all()


def test_the_file_holds_no_other_objects_than_the_prototypes(tmp_path):
    X, y = overlapping(300)
    classifier = PrototypeClassifier(RandomSelector(9, random_state=0)).fit(X, y)
    export(classifier, tmp_path / "model.py")
    arrays = run_file(tmp_path / "model.py")["_arrays"]
    assert (arrays["images"] == X[classifier.sample_indices_]).all()


def test_what_cannot_be_exported(tmp_path):
    X, y = overlapping(40)
    with pytest.raises(ValueError, match=r"metric='manhattan' cannot be exported.*use protoset.save"):
        export(PrototypeClassifier(REPS(6, metric="manhattan")).fit(X, y), tmp_path / "model.py")
    with pytest.raises(TypeError, match="export takes a fitted PrototypeClassifier, got REPS"):
        export(REPS(), tmp_path / "model.py")
    fitted = PrototypeClassifier(REPS(6)).fit(X, y)
    with pytest.raises(ValueError, match=r"must end in \.py"):
        export(fitted, tmp_path / "model.txt")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        export(fitted, tmp_path / "nowhere" / "model.py")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        (np.ones((2, 9)), r"shape \(n_queries, 3\), got \(2, 9\)"),
        (np.ones(3), r"shape \(n_queries, 3\), got \(3,\)"),
        (np.full((1, 3), np.nan), "finite numbers"),
        (np.array([["a", "b", "c"]]), "must be numbers"),
    ],
)
def test_the_file_refuses_what_are_no_queries(tmp_path, queries, message):
    X, y = overlapping(40)
    export(PrototypeClassifier(REPS(6)).fit(X, y), tmp_path / "model.py")
    with pytest.raises(ValueError, match=message):
        run_file(tmp_path / "model.py")["predict"](queries)


@pytest.mark.parametrize("rule", ["nearest", "adjusted"])
@pytest.mark.filterwarnings("ignore:rule='adjusted' can never answer")
def test_workers_change_no_prediction(rule):
    X, y = overlapping(500)
    one, two = (PrototypeClassifier(REPS(30), rule=rule, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    assert (one.predict(X) == two.predict(X)).all()
    with pytest.raises(ValueError, match="n_jobs=0 must be"):
        one.set_params(n_jobs=0).predict(X)
