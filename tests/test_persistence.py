"""Classifiers as files."""

import contextlib
import io
import json
import os
import pickle
import re
import signal
import stat
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError

from protoset import REPS, FileFormatError, PrototypeClassifier, load, save
from protoset.spaces import make_space

from conftest import run_measured

X, Y = load_wine(return_X_y=True)
NAMES = load_wine().target_names


def assert_same_predictions(a, b, queries):
    np.testing.assert_array_equal(a.predict(queries), b.predict(queries))
    assert a.predict(queries).dtype == b.predict(queries).dtype
    np.testing.assert_array_equal(a.predict_proba(queries), b.predict_proba(queries))
    one, two = a.explain(queries), b.explain(queries)
    for name in ("indices", "labels", "distances", "ranks", "degradations", "adjusted_ranks"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


LABELS = {
    "int": Y,
    "int8": Y.astype(np.int8),
    "str": NAMES[Y],
    "object": NAMES.astype(object)[Y],
    "bool": Y > 0,
    "float": Y.astype(float),
    "unicode": np.array(["Ä", "β", "花"])[Y],
}


@pytest.mark.parametrize("rule", ["nearest", "adjusted"])
@pytest.mark.parametrize("kind", LABELS)
def test_round_trip(kind, rule, tmp_path):
    classifier = PrototypeClassifier(REPS(0.2, random_state=3), rule=rule).fit(X, LABELS[kind])
    save(classifier, tmp_path / "model.protoset")
    again = load(tmp_path / "model.protoset")
    assert_same_predictions(classifier, again, X)
    assert again.get_params(deep=True).keys() == classifier.get_params(deep=True).keys()
    assert again.selector.get_params() == classifier.selector.get_params()
    assert again.score(X, LABELS[kind]) == classifier.score(X, LABELS[kind])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_round_trip_of_a_matrix_and_of_float32(dtype, tmp_path):
    matrix = cdist(X, X).astype(dtype)
    classifier = PrototypeClassifier(REPS(0.1, metric="precomputed"), rule="adjusted").fit(matrix, Y)
    save(classifier, tmp_path / "a.protoset")
    assert_same_predictions(classifier, load(tmp_path / "a.protoset"), matrix[:20])
    classifier = PrototypeClassifier(REPS(0.1)).fit(X.astype(dtype), Y)
    save(classifier, tmp_path / "b.protoset")
    assert_same_predictions(classifier, load(tmp_path / "b.protoset"), X[:20])


def test_feature_names_and_default_selector_survive(tmp_path):
    frame = load_wine(as_frame=True).data
    classifier = PrototypeClassifier().fit(frame, Y)
    save(classifier, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.feature_names_in_.tolist() == frame.columns.tolist()
    assert again.selector is None
    with pytest.raises(ValueError, match="feature names should match"):
        again.predict(frame.rename(columns={frame.columns[0]: "other"}))
    assert_same_predictions(classifier, again, pd.DataFrame(frame))


def test_saved_again_it_is_the_same_file(tmp_path):
    save(PrototypeClassifier(REPS(0.1)).fit(X, Y), tmp_path / "a")
    save(load(tmp_path / "a"), tmp_path / "b")
    with zipfile.ZipFile(tmp_path / "a") as a, zipfile.ZipFile(tmp_path / "b") as b:
        assert a.namelist() == b.namelist()
        assert all(a.read(name) == b.read(name) for name in a.namelist())


def test_another_process_predicts_the_same(tmp_path):
    classifier = PrototypeClassifier(REPS(0.1)).fit(X, NAMES[Y])
    save(classifier, tmp_path / "model.protoset")
    program = (
        "import sys, protoset; from sklearn.datasets import load_wine;"
        "print(','.join(protoset.load(sys.argv[1]).predict(load_wine().data)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "model.protoset")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip().split(",") == classifier.predict(X).tolist()


# writing


def test_what_is_no_classifier_or_has_no_folder_is_refused(tmp_path):
    classifier = PrototypeClassifier(REPS(0.1)).fit(X, Y)
    for other in (REPS(0.1).fit(X, Y), None):
        with pytest.raises(TypeError, match=f"save takes a fitted PrototypeClassifier, got {type(other).__name__}"):
            save(other, tmp_path / "model.protoset")
    with pytest.raises(FileNotFoundError, match=r"cannot write '.*model.protoset': there is no folder '.*missing'"):
        save(classifier, tmp_path / "missing" / "model.protoset")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="links and modes as on POSIX systems")
def test_what_was_there_keeps_its_mode_and_its_links(tmp_path):
    classifier = PrototypeClassifier(REPS(0.1)).fit(X, Y)
    place, link = tmp_path / "model", tmp_path / "link"
    place.touch(mode=0o600)
    link.symlink_to(place)
    save(classifier, link)
    assert link.is_symlink()
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert load(place).score(X, Y) == classifier.score(X, Y)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileExistsError, match=r"pipe': it exists but is not a file; choose another name"):
        save(classifier, tmp_path / "pipe")
    save(classifier, os.fsencode(tmp_path / ("n" * 255)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "model", "n" * 255, "pipe"]


def test_labels_that_a_file_cannot_hold(tmp_path):
    classifier = PrototypeClassifier(REPS(0.1)).fit(X, np.array(["2020", "2021", "2022"], "M8[ns]")[Y])
    with pytest.raises(TypeError, match=r"labels of the types \['datetime64'\] cannot be written"):
        save(classifier, tmp_path / "model")


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "model.protoset"
    save(PrototypeClassifier(REPS(0.1)).fit(X, Y), path)
    before = path.read_bytes()
    with pytest.raises(NotFittedError):
        save(PrototypeClassifier(), path)
    strange = PrototypeClassifier(REPS(0.1)).fit(X, Y)
    strange.classes_ = np.array([(0, 1), (1, 2), (2, 3), None], dtype=object)[:3]
    with pytest.raises(TypeError, match="labels of the types \\['tuple'\\] cannot be written without pickle"):
        save(strange, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.protoset"]


def test_a_foreign_selector_is_refused(tmp_path):
    class Mine(REPS):
        pass

    classifier = PrototypeClassifier(Mine(0.1)).fit(X, Y)
    with pytest.raises(TypeError, match="selector=Mine is not one of protoset's own"):
        save(classifier, tmp_path / "model")
    assert not os.listdir(tmp_path)


def test_a_random_state_object_is_dropped_and_an_unwritable_parameter_named(tmp_path):
    classifier = PrototypeClassifier(REPS(0.1, random_state=np.random.RandomState(0))).fit(X, Y)
    save(classifier, tmp_path / "model")
    assert load(tmp_path / "model").selector.random_state is None
    classifier.set_params(selector__verbose={1, 2})
    with pytest.raises(TypeError, match=r"REPS\(verbose=\{1, 2\}\) cannot be written"):
        save(classifier, tmp_path / "model")


def test_permissions_follow_the_umask(tmp_path):
    save(PrototypeClassifier(REPS(0.1)).fit(X, Y), tmp_path / "model")
    (tmp_path / "plain").write_text("")
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


@pytest.mark.skipif(os.name != "posix", reason="processes as on POSIX systems")
def test_a_killed_save_leaves_a_file_that_the_next_one_removes(tmp_path):
    program = """
import os, signal, sys
import protoset._files
def kill(*paths):
    os.kill(os.getpid(), signal.SIGKILL)
protoset._files.os.replace = kill
protoset._files.write_atomically(sys.argv[1], b"content")
"""
    killed = subprocess.run([sys.executable, "-c", program, str(tmp_path / "model")], check=False)
    assert killed.returncode == -signal.SIGKILL
    [left] = tmp_path.iterdir()
    machine, process, number = left.name.removeprefix(".protoset-").split("-")
    alive = tmp_path / f".protoset-{machine}-{os.getpid()}-{number}"
    elsewhere = tmp_path / f".protoset-{machine[::-1]}-{process}-{number}"
    alive.touch()
    elsewhere.touch()
    save(PrototypeClassifier(REPS(4)).fit(X, Y), tmp_path / "model")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([alive.name, elsewhere.name, "model"])


# reading what is not right


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.protoset"
    save(PrototypeClassifier(REPS(4), rule="adjusted").fit(X, NAMES[Y]), path)
    return path


@pytest.mark.parametrize("content", [b"", b"hello", pickle.dumps({"a": 1}), b"PK\x03\x04 half a zip"])
def test_foreign_files(content, tmp_path):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(FileFormatError, match="is not a protoset classifier, or is cut short"):
        load(tmp_path / "file")


def test_foreign_archives(tmp_path):
    np.savez(tmp_path / "arrays.npz", a=np.arange(3))
    with pytest.raises(FileFormatError, match=r"a zip archive without metadata\.json"):
        load(tmp_path / "arrays.npz")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("metadata.json", '{"format": "other"}')
    with pytest.raises(FileFormatError, match="does not say format='protoset-classifier'"):
        load(tmp_path / "other.zip")


def test_a_missing_file_is_the_systems_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")


def test_every_truncation_is_noticed(model):
    content = model.read_bytes()
    for length in range(0, len(content), 7):
        model.write_bytes(content[:length])
        with pytest.raises(FileFormatError):
            load(model)


@pytest.mark.slow
def test_no_flipped_byte_goes_unnoticed(model):
    """Each byte in turn: a clear refusal, or the very same predictions (bytes that carry no meaning)."""
    content = bytearray(model.read_bytes())
    expected = load(model).predict(X)
    refused = 0
    for position in range(len(content)):
        content[position] ^= 0x5A
        model.write_bytes(content)
        try:
            got = load(model).predict(X)
        except FileFormatError as error:
            assert "model.protoset" in str(error)
            refused += 1
        else:
            np.testing.assert_array_equal(got, expected)
        content[position] ^= 0x5A
    assert refused > 0.7 * len(content)


def rewrite(path, change):
    """Rewrite the archive after changing its members (a dict of name to bytes); replaced arrays are declared."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    metadata, before = json.loads(members["metadata.json"]), dict(members)
    change(metadata, members)
    for name, content in members.items():
        if content != before.get(name) and name.endswith(".npy"):
            with contextlib.suppress(ValueError, MemoryError):
                array = np.load(io.BytesIO(content))
                metadata["arrays"][name.removesuffix(".npy")] = [array.dtype.str, list(array.shape)]
    members["metadata.json"] = json.dumps(metadata).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


HOSTILE = {
    "newer version": (
        lambda m, f: m.update(format_version=2, protoset="9.0"),
        "written by protoset 9.0.*upgrade protoset",
    ),
    "unknown metric": (lambda m, f: m.update(metric="os.system"), "damaged"),
    "unknown selector": (lambda m, f: m["selector"].update(name="load"), "damaged"),
    "module as selector": (lambda m, f: m["selector"].update(name="__loader__"), "damaged"),
    "wrong parameter": (lambda m, f: m["selector"]["parameters"].update(evil=1), "damaged"),
    "unknown rule": (lambda m, f: m.update(rule="eval"), "damaged"),
    "no labels": (lambda m, f: m.pop("classes"), "damaged"),
    "too few labels": (lambda m, f: m["classes"].update(values=["a"]), "damaged"),
    "object labels": (lambda m, f: m["classes"].update(dtype="O8"), "damaged"),
    "missing array": (lambda m, f: f.pop("codes.npy"), "damaged"),
    "pickled array": (lambda m, f: f.update({"codes.npy": npy(np.array([print], dtype=object))}), "damaged"),
    "wrong length": (lambda m, f: f.update({"codes.npy": npy(np.zeros(3, int))}), "damaged"),
    "negative code": (lambda m, f: f.update({"codes.npy": npy(np.full(4, -1))}), "damaged"),
    "float codes": (lambda m, f: f.update({"codes.npy": npy(np.zeros(4))}), "damaged"),
    "nan degradation": (lambda m, f: f.update({"degradations.npy": npy(np.full(4, np.nan))}), "damaged"),
    "no degradations": (lambda m, f: f.pop("degradations.npy"), "damaged"),
    "nan prototype": (lambda m, f: f.update({"space_images.npy": npy(np.full((4, 13), np.nan))}), "NaN or infinity"),
    "no features": (lambda m, f: f.update({"space_images.npy": npy(np.zeros((4, 0)))}), "0 feature"),
    "text for a number": (lambda m, f: m.update(n_features_in="four"), "damaged"),
    "nested labels": (lambda m, f: m["classes"].update(values=[["a", "b"], ["c", "d"], ["e", "f"]]), "damaged"),
    "equal labels": (lambda m, f: m["classes"].update(values=["a", "a", "a"]), "damaged"),
    "unsorted labels": (lambda m, f: m["classes"].update(values=["c", "b", "a"]), "damaged"),
    "other width": (lambda m, f: m.update(n_features_in=7), "damaged.*features"),
    "half a feature": (lambda m, f: m.update(n_features_in=13.5), "damaged"),
    "names as text": (lambda m, f: m.update(feature_names_in="abcdefghijklm"), "damaged"),
    "too few names": (lambda m, f: m.update(feature_names_in=["a"]), "damaged"),
    "beta as text": (lambda m, f: m.update(beta="3"), "damaged"),
    "infinite beta": (lambda m, f: m.update(beta=np.inf), "damaged"),
    "version as truth": (lambda m, f: m.update(format_version=True), "format version True"),
    "abstract selector": (lambda m, f: m["selector"].update(name="BaseSelector", parameters={}), "damaged"),
    "parameter of another kind": (lambda m, f: m["selector"]["parameters"].update(beta="two"), "damaged"),
    "unknown member": (lambda m, f: f.update({"more.txt": b"more"}), "damaged"),
    "other shape": (lambda m, f: m["arrays"]["codes"].__setitem__(1, [2, 2]), "not hold the array that metadata.json"),
    "other dtype": (lambda m, f: m["arrays"]["codes"].__setitem__(0, "<u8"), "not hold the array that metadata.json"),
    "other size": (lambda m, f: m["arrays"]["codes"].__setitem__(1, [3000]), "does not have the size of the array"),
    "object dtype": (lambda m, f: m["arrays"]["codes"].__setitem__(0, "|O"), "unknown dtype"),
    "shape as text": (lambda m, f: m["arrays"]["codes"].__setitem__(1, ["4"]), "damaged"),
    "arrays as list": (lambda m, f: m.update(arrays=list(m["arrays"])), "damaged"),
    "negative degradation": (lambda m, f: f.update({"degradations.npy": npy(np.full(4, -1.0))}), "damaged"),
    "repeated prototype": (lambda m, f: f.update({"sample_indices.npy": npy(np.zeros(4, int))}), "damaged"),
    "too few votes": (lambda m, f: f.update({"prototype_counts.npy": npy(np.ones(3))}), "prototype_counts must have 4"),
    "negative votes": (lambda m, f: f.update({"prototype_counts.npy": npy(np.full(4, -1.0))}), "prototype_counts must"),
    "votes as integers": (
        lambda m, f: f.update({"prototype_counts.npy": npy(np.ones(4, int))}),
        "prototype_counts must",
    ),
    "nan as class size": (
        lambda m, f: f.update({"class_counts.npy": npy(np.full(3, np.nan))}),
        "class_counts must have 3",
    ),
    "no class sizes": (lambda m, f: (f.pop("class_counts.npy"), m["arrays"].pop("class_counts")), "damaged"),
    "broken header": (
        lambda m, f: f.update({"codes.npy": npy(np.zeros(4, int)).replace(b"descr'", b"((((((")}),
        "damaged",
    ),
    "huge header": (
        lambda m, f: f.update({"codes.npy": npy(np.zeros(4, int)).replace(b"(4,)", b"(4000000000000,)")[:200]}),
        "damaged",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_archives(case, model):
    change, message = HOSTILE[case]
    rewrite(model, change)
    with pytest.raises(FileFormatError, match=message):
        load(model)


def test_files_of_versions_without_votes_load_with_one_each(model):
    expected = load(model).predict(X)

    def forget(metadata, members):
        for name in ("prototype_counts", "class_counts"):
            del metadata["arrays"][name], members[f"{name}.npy"]

    rewrite(model, forget)
    old = load(model)
    assert old.prototype_counts_.tolist() == [1] * 4
    assert old.class_counts_.tolist() == [1] * 3
    np.testing.assert_array_equal(old.predict(X), expected)


def test_arrays_in_another_byte_order(model):
    expected = load(model).predict(X)
    swapped = {f"{name}.npy": dtype for name, dtype in {"codes": ">i8", "prototype_counts": ">f8"}.items()}

    def swap(metadata, members):
        for name, dtype in swapped.items():
            members[name] = npy(np.load(io.BytesIO(members[name])).astype(dtype))

    rewrite(model, swap)
    np.testing.assert_array_equal(load(model).predict(X), expected)


ROWS = X[:40] / X.max(axis=0)
CODES = np.arange(40) % 2
SERIES = [row[: 5 + place % 3] for place, row in enumerate(ROWS)]
MIXED = pd.DataFrame({"a": ROWS[:, 0], "b": np.where(CODES, "x", "y")})


def with_last(array, value):
    changed = array.copy()
    changed.flat[-1] = value
    return changed


def scaled(name, factor):
    return lambda v, a: a.update({name: a[name] * factor})


def last(name, value):
    return lambda v, a: a.update({name: with_last(a[name], value)})


WRONG_STATES = {
    "mahalanobis: nan": ("mahalanobis", ROWS, last("learned", np.nan)),
    "mahalanobis: indefinite": ("mahalanobis", ROWS, scaled("learned", -1.0)),
    "mahalanobis: not symmetric": ("mahalanobis", ROWS, lambda v, a: a.update(learned=np.triu(a["learned"]))),
    "mahalanobis: other width": ("mahalanobis", ROWS, lambda v, a: a.update(learned=a["learned"][1:, 1:])),
    "mahalanobis: none": ("mahalanobis", ROWS, lambda v, a: a.pop("learned")),
    "seuclidean: zero": ("seuclidean", ROWS, last("learned", 0.0)),
    "seuclidean: infinite": ("seuclidean", ROWS, last("learned", np.inf)),
    "seuclidean: none": ("seuclidean", ROWS, lambda v, a: a.pop("learned")),
    "seuclidean: sparse": ("seuclidean", ROWS, lambda v, a: v.update(sparse=True)),
    "cosine: other length": ("cosine", ROWS, scaled("images", 2.0)),
    "cosine: no attributes": ("cosine", ROWS, lambda v, a: a.update(images=np.ones((4, 1)))),
    "cosine: half without direction": ("cosine", ROWS, last("images", 0.5)),
    "minkowski: order": ("minkowski", ROWS, lambda v, a: v.update(p=-1)),
    "haversine: other width": ("haversine", ROWS[:, :2], lambda v, a: a.update(vectors=np.zeros((4, 3)))),
    "braycurtis: negative": ("braycurtis", ROWS, scaled("vectors", -1.0)),
    "sparse: index out of range": (
        "cityblock",
        sparse.csr_matrix(ROWS),
        lambda v, a: a.update(indices=a["indices"] + 13),
    ),
    "sparse: negative index": ("cityblock", sparse.csr_matrix(ROWS), lambda v, a: a.update(indices=a["indices"] - 1)),
    "mahalanobis: infinite": ("mahalanobis", ROWS, last("learned", np.inf)),
    "mahalanobis: too large": ("mahalanobis", ROWS, scaled("learned", 1e304)),
    "seuclidean: too small": ("seuclidean", ROWS, last("learned", 1e-320)),
    "sparse: no entries": ("cityblock", sparse.csr_matrix(ROWS), last("indptr", 0)),
    "sparse: negative end": ("cityblock", sparse.csr_matrix(ROWS), last("indptr", -1)),
    "sparse: pointer far out": (
        "cityblock",
        sparse.csr_matrix(ROWS),
        lambda v, a: (a["indptr"].__setitem__(1, 10**9), a["indptr"].__setitem__(-1, -1)),
    ),
    "sparse: falling pointers": ("cityblock", sparse.csr_matrix(ROWS), lambda v, a: a["indptr"].__setitem__(1, 40)),
    "series: starts that wrap": (
        "dtw",
        SERIES,
        lambda v, a: a["starts"].__setitem__(slice(1, 3), [2**62 + 10, -(2**62) - 10]),
    ),
    "series: empty": ("dtw", SERIES, lambda v, a: a["starts"].__setitem__(1, 0)),
    "series: no channels": ("dtw", SERIES, lambda v, a: a.update(values=np.empty((len(a["values"]), 0)))),
    "series: too large": ("dtw", SERIES, scaled("values", 1e200)),
    "series: nan": ("dtw", SERIES, last("values", np.nan)),
    "series: unequal": ("series_euclidean", ROWS, lambda v, a: a["starts"].__setitem__(1, 5)),
    "series: window": ("dtw", SERIES, lambda v, a: v.update(window=-1)),
    "gap": ("erp", SERIES, lambda v, a: a.update(gap=np.array([np.inf]))),
    "mixed: no attributes": (
        "gower",
        MIXED,
        lambda v, a: (v.update(categories=[]), a.update(numbers=np.zeros((4, 0)), codes=np.zeros((4, 0), np.int32))),
    ),
    "mixed: infinite range": ("gower", MIXED, last("divisors", np.inf)),
    "matrix: column out of range": ("precomputed", cdist(ROWS, ROWS), last("training_columns", 40)),
    "matrix: truth as number": ("precomputed", cdist(ROWS, ROWS), lambda v, a: v.update(n_training=True)),
}


@pytest.mark.parametrize("case", WRONG_STATES)
def test_what_cannot_work_is_neither_loaded_nor_saved(case, tmp_path, monkeypatch):
    metric, objects, change = WRONG_STATES[case]
    classifier = PrototypeClassifier(REPS(4, metric=metric), adapt=False).fit(objects, CODES)
    path = tmp_path / "model"
    save(classifier, path)
    load(path)
    values, arrays = classifier._prototypes.state()
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(values, arrays)

    def replace(metadata, members):
        metadata["space"] = values
        for name in [name for name in metadata["arrays"] if name.startswith("space_")]:
            del metadata["arrays"][name], members[f"{name}.npy"]
        for name, array in arrays.items():
            metadata["arrays"][f"space_{name}"] = [array.dtype.str, list(array.shape)]
            members[f"space_{name}.npy"] = npy(array)

    rewrite(path, replace)
    with pytest.raises(FileFormatError, match="is damaged"):
        load(path)
    monkeypatch.setattr(type(classifier._prototypes), "state", lambda self: (values, arrays))
    with pytest.raises(ValueError, match=r"(?s)cannot be saved, because it would not work after load .*; fit it again"):
        save(classifier, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_indices_beyond_the_training_objects_of_a_matrix(tmp_path):
    frame = pd.DataFrame(cdist(ROWS, ROWS), columns=[f"object {row}" for row in range(40)])
    save(PrototypeClassifier(REPS(4, metric="precomputed")).fit(frame, CODES), tmp_path / "model")
    rewrite(tmp_path / "model", lambda m, f: f.update({"sample_indices.npy": npy(np.array([1, 2, 3, 40]))}))
    with pytest.raises(FileFormatError, match="sample_indices are beyond the training objects"):
        load(tmp_path / "model")


def test_infinite_degradations_of_weights_0_come_back(tmp_path):
    classifier = PrototypeClassifier(REPS(1.0), rule="adjusted").fit(X, Y)
    assert np.isinf(classifier.degradations_).any()
    save(classifier, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").degradations_, classifier.degradations_)


def test_prototypes_near_0_come_back():
    """Vectors whose squares vanish are refused as a training set, but not as some of its prototypes."""
    rows = np.array([[0.0], [1e-160], [1.0], [2.0]])
    space = make_space(rows, "cityblock").prototypes(np.array([0, 1]))
    again = type(space).from_state("cityblock", *space.state())
    np.testing.assert_array_equal(again.cross([[0.0]]).block(slice(None), slice(None)), [[0.0, 1e-160]])


# small files with a large content

ZEROS = 400 * 10**6
"""Bytes of the large members: more than loading may take."""


def add_zeros(path, member, header=b"", n_zeros=ZEROS, **declared):
    """Add a member of zeros to an archive, with its declaration."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != member}
    metadata = json.loads(members["metadata.json"])
    metadata["arrays"].update(declared)
    members["metadata.json"] = json.dumps(metadata).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        with archive.open(member, "w", force_zip64=True) as file:
            file.write(header)
            for _ in range(n_zeros // 10**6):
                file.write(bytes(10**6))


def header_of(array_shape):
    file = io.BytesIO()
    about = {"descr": "<f8", "fortran_order": False, "shape": array_shape}
    np.lib.format.write_array_header_1_0(file, about)
    return file.getvalue()


def bombs(folder):
    """Write files that are small, but large when they are unpacked or parsed; return the expected messages."""
    whole = PrototypeClassifier(REPS(4), rule="adjusted").fit(X, NAMES[Y])
    shape = (ZEROS // 8 // 13, 13)
    texts = PrototypeClassifier(REPS(4, metric=cosine)).fit(list(ROWS), CODES)

    def undeclared(path):
        add_zeros(path, "space_images.npy", header_of((4, 13)))

    def declared(path):
        add_zeros(path, "space_images.npy", header_of(shape), space_images=["<f8", list(shape)])

    def in_json(path):
        rewrite(path, lambda m, f: m.update(more=[[]] * 8_000_000))

    def spaces_in_json(path):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr("metadata.json", b" " * ZEROS)

    def wrong_directory(path):
        spaces_in_json(path)
        content = bytearray(path.read_bytes())
        at = content.rindex(b"PK\x01\x02") + 24
        content[at : at + 4] = (1000).to_bytes(4, "little")
        path.write_bytes(content)

    def long_label(path):
        labels = [*map(str, range(1000)), "x" * 1_000_000]
        rewrite(path, lambda m, f: m["classes"].update(values=labels))

    makers = {
        undeclared: "does not have the size of the array",
        declared: "content of 400.* MB, but max_bytes allows only 200.0 MB; if you trust the file, pass max_bytes=",
        in_json: "max_bytes",
        spaces_in_json: "max_bytes",
        wrong_directory: "damaged",
        long_label: "max_bytes",
    }
    for maker in makers:
        save(whole, folder / maker.__name__)
        maker(folder / maker.__name__)
    # Many objects that are made of the same numbers.
    save(texts, folder / "repeated")
    rewrite(folder / "repeated", lambda m, f: m["space"].update(objects=[{"array": ["f8", 0, [40]]}] * 400_000))
    return {maker.__name__: message for maker, message in makers.items()} | {"repeated": "max_bytes|damaged"}


def cosine(a, b):
    return float(1 - a @ b / np.sqrt((a @ a) * (b @ b)))


def test_small_files_with_a_large_content_are_refused_before_they_are_unpacked(tmp_path):
    messages = bombs(tmp_path)
    program = """
import json, sys
from protoset import FileFormatError, load
outcomes = {}
for path in sys.argv[1:]:
    try:
        load(path, metric=max if path.endswith("repeated") else None)
    except FileFormatError as error:
        outcomes[path.rpartition("/")[2]] = str(error)
print(json.dumps(outcomes))
"""
    paths = [tmp_path / name for name in messages]
    assert all(path.stat().st_size <= 5_000_000 for path in paths)
    output, peak = run_measured(program, *paths)
    outcomes = json.loads(output)
    assert outcomes.keys() == messages.keys()
    for name, message in messages.items():
        assert re.search(message, outcomes[name]), outcomes[name]
    assert peak < 500_000_000


def test_a_large_content_is_allowed_by_name_and_always_in_files_of_save(tmp_path, monkeypatch):
    path = tmp_path / "model"
    # All but the same numbers, so that the file is much smaller than its content.
    rows = np.zeros((300, 400))
    rows[:, 0] = np.arange(300)
    classifier = PrototypeClassifier(REPS(1.0), adapt=False).fit(rows, np.arange(300) % 2)
    save(classifier, path)
    assert path.stat().st_size < 50_000
    with pytest.raises(FileFormatError, match=r"pass max_bytes=\d+") as refused:
        load(path, max_bytes="500KB")
    allowed = int(re.search(r"pass max_bytes=(\d+)", str(refused.value))[1])
    np.testing.assert_array_equal(load(path, max_bytes=allowed).predict(rows), classifier.predict(rows))
    with pytest.raises(ValueError, match="max_bytes='much' is not a size of memory"):
        load(path, max_bytes="much")
    monkeypatch.setattr("protoset._memory.UNPACKED_BYTES", 500_000)
    with pytest.raises(FileFormatError, match="max_bytes allows"):
        load(path)
    save(classifier, path)
    np.testing.assert_array_equal(load(path).predict(rows), classifier.predict(rows))
