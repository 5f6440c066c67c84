"""Exported files: predictions with NumPy alone, the same to the last tie."""

import io
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protoset import REPS, PrototypeClassifier, export
from protoset.selectors import CNN, RandomSelector

from conftest import labelled_vectors, overlapping

METRICS = ("euclidean", "l2", "sqeuclidean", "cosine", "correlation", "seuclidean", "mahalanobis")


def run_file(path):
    """What the file defines, run on its own."""
    names = {"__name__": "exported"}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names


@pytest.mark.parametrize("rule", ["nearest", "adjusted"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.filterwarnings("ignore:rule='adjusted' can never predict")
def test_predictions_are_identical(tmp_path, metric, rule):
    X, y = overlapping(400, d=5)
    classifier = PrototypeClassifier(REPS(40, metric=metric), rule=rule).fit(X[:300], y[:300])
    export(classifier, tmp_path / "model.py")
    queries = np.vstack([X, np.repeat(X[:1], 4, axis=0), np.zeros((1, 5)), np.ones((1, 5))])
    assert (run_file(tmp_path / "model.py")["predict"](queries) == classifier.predict(queries)).all()


@settings(max_examples=25)
@given(labelled_vectors(tied=True), st.sampled_from(["nearest", "adjusted"]), st.sampled_from([np.float32, np.float64]))
@pytest.mark.filterwarnings("ignore:rule='adjusted' can never predict")
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
    classifier = PrototypeClassifier(RandomSelector(9, random_state=0), adapt=False).fit(X, y)
    export(classifier, tmp_path / "model.py")
    arrays = run_file(tmp_path / "model.py")["_arrays"]
    assert (arrays["images"] == X[classifier.sample_indices_]).all()


def test_what_cannot_be_exported(tmp_path):
    X, y = overlapping(40)
    with pytest.raises(ValueError, match=r"metric='manhattan' cannot be exported.*Use protoset.save"):
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


def test_masked_queries_are_refused_as_the_classifier_refuses_them(tmp_path):
    X, y = overlapping(40)
    classifier = PrototypeClassifier(REPS(6)).fit(X, y)
    export(classifier, tmp_path / "model.py")
    said = []
    for predict in (classifier.predict, run_file(tmp_path / "model.py")["predict"]):
        with pytest.raises(TypeError, match="X is a masked array") as refusal:
            predict(np.ma.masked_greater(X, 0))
        said.append(str(refusal.value))
    assert said[0] == said[1]


@pytest.mark.parametrize("path", [3, None, 2.5, ["model.py"]])
def test_what_is_no_path(tmp_path, path):
    X, y = overlapping(40)
    with pytest.raises(TypeError, match=r"^path=.* must be a str or a path"):
        export(PrototypeClassifier(REPS(6)).fit(X, y), path)


@pytest.mark.parametrize("name", ["x\0.py", "x\0/x.py", "\ud800.py"])
def test_names_that_no_file_can_have(tmp_path, name):
    X, y = overlapping(40)
    with pytest.raises(ValueError, match=r"^path=.* no file name can have; choose another name"):
        export(PrototypeClassifier(REPS(6)).fit(X, y), f"{tmp_path}/{name}")
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_written(tmp_path):
    """The error names what was asked for, never the file beside it, and nothing is left behind."""
    X, y = overlapping(40)
    fitted = PrototypeClassifier(REPS(6)).fit(X, y)
    folder = tmp_path / "folder.py"
    folder.mkdir()
    with pytest.raises(FileExistsError, match=r"folder\.py.*not a file; choose another name"):
        export(fitted, folder)
    with pytest.raises(OSError, match=r"^cannot write path='.*nnn\.py': .*; choose another path") as refusal:
        export(fitted, tmp_path / f"{'n' * 300}.py")
    assert ".protoset-" not in str(refusal.value)
    assert list(tmp_path.rglob("*")) == [folder]


@pytest.mark.skipif(os.name == "nt" or (hasattr(os, "geteuid") and os.geteuid() == 0), reason="root may write anywhere")
def test_a_folder_that_is_read_only(tmp_path):
    X, y = overlapping(40)
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(
            PermissionError, match=r"^cannot write path='.*model\.py': .*; choose another path"
        ) as refusal:
            export(PrototypeClassifier(REPS(6)).fit(X, y), tmp_path / "model.py")
    finally:
        tmp_path.chmod(0o755)
    assert ".protoset-" not in str(refusal.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("rule", ["foo", None, ["nearest"]])
def test_a_rule_that_predict_refuses_is_not_exported(tmp_path, rule):
    X, y = overlapping(40)
    classifier = PrototypeClassifier(CNN()).fit(X, y).set_params(rule=rule)
    for attempt in (lambda: classifier.predict(X), lambda: export(classifier, tmp_path / "model.py")):
        with pytest.raises(ValueError, match=r"rule=.* is not known"):
            attempt()
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=25)
@given(labelled_vectors(tied=True), st.permutations(["nearest", "adjusted"]))
@pytest.mark.filterwarnings("ignore:rule='adjusted' can never predict")
def test_a_rule_changed_after_fit_is_the_one_exported(tmp_path_factory, data, rules):
    X, y = data
    classifier = PrototypeClassifier(REPS(0.7), rule=rules[0], adapt=False).fit(X, y).set_params(rule=rules[1])
    path = tmp_path_factory.mktemp("changed") / "model.py"
    export(classifier, path)
    queries = np.vstack([X, X + 0.5, X - 0.5])
    assert (run_file(path)["predict"](queries) == classifier.predict(queries)).all()


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A file of three features as a program, with its classifier."""
    X, y = overlapping(60)
    classifier = PrototypeClassifier(REPS(6)).fit(X, y)
    path = tmp_path_factory.mktemp("program") / "model.py"
    export(classifier, path)
    return path, classifier


EXPECTED = "expected 3 numbers on every line, separated by commas, and no header"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"a,b,c\n1,2,3\n", f"line 1 holds 'a', which is not a number; {EXPECTED}"),
        (b"", f"standard input holds no queries; {EXPECTED}"),
        (b"\n \n# 1,2,3\n", f"standard input holds no queries; {EXPECTED}"),
        (b"1;2;3\n", f"line 1 holds '1;2;3', which is not a number; {EXPECTED}"),
        (b"1,2,3\n\n1,2\n", f"line 3 holds 2 numbers; {EXPECTED}"),
        (b"1,2,3\r\n1,2,3,\r\n", f"line 2 holds '', which is not a number; {EXPECTED}"),
        (b"1,2,3,4\n" * 2, f"line 1 holds 4 numbers; {EXPECTED}"),
        (b"1,2,1_000\n", f"line 1 holds '1_000', which is not a number; {EXPECTED}"),
        (b"1,2,3\n1,\xff,3\n", f"line 2 holds '\ufffd', which is not a number; {EXPECTED}"),
        (b"1,2,3\n\n1,nan,3\n", "line 3 holds nan; expected finite numbers of at most 1e+150"),
        (b"1,2,3\n1,2,-1e400\n", "line 2 holds -inf; expected finite numbers of at most 1e+150"),
        (b"1,2,3\n1,2e150,3\n", "line 2 holds 2e+150; expected finite numbers of at most 1e+150"),
    ],
)
def test_the_program_names_the_line_that_it_cannot_read(program, text, message):
    command = [sys.executable, "-X", "utf8", str(program[0])]
    ended = subprocess.run(command, input=text, capture_output=True)
    assert ended.returncode == 2
    assert ended.stdout == b""
    said = ended.stderr.decode()
    assert said.startswith(f"model.py: {message}")
    assert said.count("\n") == 1
    assert said.endswith("\n")


def test_the_program_passes_over_empty_lines_and_comments(program):
    path, classifier = program
    text = b"\xef\xbb\xbf# a,b,c\n0.5, -1,2 # here\r\n\n3,1e0,.5"
    ended = subprocess.run([sys.executable, str(path)], input=text, capture_output=True, check=True)
    assert ended.stdout.decode().split() == [str(label) for label in classifier.predict([[0.5, -1, 2], [3, 1, 0.5]])]
    assert ended.stderr == b""


@given(st.lists(st.lists(st.floats(-1e150, 1e150), min_size=3, max_size=3), min_size=1))
def test_numbers_are_read_as_they_were_written(program, rows):
    read = run_file(program[0])["_read"]
    assert read([",".join(map(repr, row)) + "\n" for row in rows]).tolist() == rows


@given(st.lists(st.text(st.sampled_from("0123456789.,;-+e_#naif \x00\u0661"), max_size=12)))
def test_any_lines_are_rows_or_one_clear_error(program, lines):
    names = run_file(program[0])
    try:
        X = names["_read"](lines)
    except ValueError as error:
        assert "expected" in str(error)
        assert "\n" not in str(error)
        assert str(error).startswith(("line ", "standard input holds no queries"))
    else:
        assert X.shape == (sum(bool(line.split("#")[0].strip()) for line in lines), 3)
        assert len(names["predict"](X)) == len(X)


@pytest.mark.skipif(os.name == "nt", reason="pipes of Windows end otherwise")
def test_a_reader_that_has_enough_ends_the_program_quietly(program):
    ended = subprocess.Popen(
        [sys.executable, str(program[0])], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    # Closed before anything is written: the program reads all of its input first.
    ended.stdout.close()
    ended.stdin.write(b"1,2,3\n" * 50_000)
    ended.stdin.close()
    assert ended.stderr.read() == b""
    assert ended.wait() == 1
    ended.stderr.close()


@pytest.mark.parametrize("rule", ["nearest", "adjusted"])
@pytest.mark.filterwarnings("ignore:rule='adjusted' can never predict")
def test_workers_change_no_prediction(rule):
    X, y = overlapping(500)
    one, two = (PrototypeClassifier(REPS(30), rule=rule, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    assert (one.predict(X) == two.predict(X)).all()
    with pytest.raises(ValueError, match="n_jobs=0 must be"):
        one.set_params(n_jobs=0).predict(X)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("rule", ["nearest", "adjusted", "scores"])
@pytest.mark.parametrize("adapt", [False, True])
@pytest.mark.filterwarnings("ignore:rule='adjusted' can never predict")
def test_probabilities_and_refusals(tmp_path, metric, rule, adapt):
    X, y = overlapping(120)
    X = X + 3.0
    options = {"rule": rule, "adapt": adapt, "refuse": 0.1, "outlier_label": 77}
    classifier = PrototypeClassifier(REPS(0.1, metric=metric), **options).fit(X, y)
    export(classifier, tmp_path / "model.py")
    program, queries = run_file(tmp_path / "model.py"), np.vstack([X, X + 0.3, X - 0.5])
    np.testing.assert_array_equal(program["predict"](queries), classifier.predict(queries))
    assert (classifier.predict(queries) == 77).any()
    np.testing.assert_allclose(program["predict_proba"](queries), classifier.predict_proba(queries), rtol=1e-9)


@settings(max_examples=25)
@given(labelled_vectors(tied=True), st.sampled_from(["nearest", "adjusted"]))
@pytest.mark.filterwarnings("ignore:rule='adjusted' can never predict")
def test_probabilities_of_tied_prototypes(tmp_path_factory, data, rule):
    X, y = data
    classifier = PrototypeClassifier(REPS(0.7), rule=rule, adapt=False).fit(X, y)
    path = tmp_path_factory.mktemp("tied") / "model.py"
    export(classifier, path)
    queries = np.vstack([X, X + 0.5, X - 0.5])
    np.testing.assert_allclose(run_file(path)["predict_proba"](queries), classifier.predict_proba(queries), rtol=1e-9)


def test_no_probabilities_without_a_calibration(tmp_path):
    X, y = overlapping(40)
    export(PrototypeClassifier(CNN(), calibrate=False).fit(X, y), tmp_path / "model.py")
    with pytest.raises(ValueError, match="was not calibrated"):
        run_file(tmp_path / "model.py")["predict_proba"](X)
