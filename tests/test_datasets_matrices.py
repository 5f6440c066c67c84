"""Matrices of distances, and strings."""

import io
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import loadmat, savemat
from scipy.spatial.distance import pdist, squareform

from dataset_cases import assert_same, labels_of, letters, texts
from protoset.datasets import Dataset, read, take, write_rows
from protoset.datasets.matrices import (
    read_mat,
    read_matrix_csv,
    read_npy,
    read_npz,
    write_mat,
    write_matrix_csv,
    write_npy,
    write_npz,
)
from protoset.datasets.strings import read_string_folder, read_strings, write_strings
from protoset.exceptions import DataError

D = squareform(pdist(np.random.default_rng(0).normal(size=(6, 2))))
LABELS = ["a", "b", "a", "b", "a", "a"]


@st.composite
def made_matrices(draw):
    n = draw(st.integers(1, 5))
    values = st.floats(allow_nan=False, allow_infinity=False)
    rows = draw(st.lists(st.lists(values, min_size=n, max_size=n), min_size=n, max_size=n))
    of_texts = st.text(letters, min_size=1, max_size=5).map(lambda text: f"l{text}".strip())
    return Dataset("made", "matrix", np.array(rows), labels_of(draw, n, of_texts))


@given(made_matrices())
def test_round_trip(dataset):
    labels = dataset.labels.tolist()
    assert_same(read_matrix_csv(write_matrix_csv(dataset), labels=labels), dataset)
    assert_same(read_npy(write_npy(dataset), labels=labels), dataset)
    assert_same(read_npz(write_npz(dataset)), dataset)


@given(made_matrices().filter(lambda made: made.n_objects > 1))
def test_round_trip_of_mat(dataset):
    assert_same(read_mat(write_mat(dataset)), dataset)


@st.composite
def made_strings(draw):
    n = draw(st.integers(1, 6))
    strings = draw(st.lists(st.text(letters | st.just("\t"), max_size=8), min_size=n, max_size=n))
    of_texts = texts.map(lambda text: f"l{text}".strip())
    return Dataset("made", "strings", strings, labels_of(draw, n, of_texts))


@given(made_strings())
def test_round_trip_of_strings(dataset):
    again = read_strings(write_strings(dataset))
    assert_same(again, dataset)
    assert_same(read_strings(write_strings(take(again, [0]))), take(dataset, [0]))


def test_square_and_condensed(tmp_path):
    above = squareform(D)
    np.savetxt(tmp_path / "a.csv", D, delimiter=",", fmt="%.17g")
    np.savetxt(tmp_path / "b.txt", D, fmt="%.17g")
    np.savetxt(tmp_path / "c.csv", above[None], delimiter=";", fmt="%.17g")
    np.savetxt(tmp_path / "d.csv", above, fmt="%.17g")
    np.save(tmp_path / "e.npy", D)
    np.save(tmp_path / "f.npy", above)
    (tmp_path / "labels.txt").write_text("\n".join(LABELS))
    for name in ("a.csv", "b.txt", "c.csv", "d.csv", "e.npy", "f.npy"):
        for labels in (tmp_path / "labels.txt", LABELS, np.array(LABELS)):
            dataset = read(tmp_path / name, labels=labels)
            assert dataset.kind == "matrix"
            np.testing.assert_array_equal(dataset.objects, D)
            assert dataset.labels.tolist() == LABELS
        rows = [4, 1, 3]
        place = tmp_path / f"part_{name}"
        write_rows(dataset, rows, place)
        again = read(place)
        np.testing.assert_array_equal(again.objects, D[np.ix_(rows, rows)])
        assert again.labels.tolist() == ["a", "b", "b"]
        assert again.layout.condensed == (name[0] in "cdf")


def test_names_in_npz_and_mat(tmp_path):
    np.savez(tmp_path / "a.npz", D=D, y=LABELS, other=np.ones((6, 6)))
    np.savez(tmp_path / "b.npz", whatever=D, kinds=np.array([1.0, 2, 1, 2, 1, 1]))
    savemat(tmp_path / "c.mat", {"D": D, "labels": np.array(LABELS, dtype=object)})
    savemat(tmp_path / "d.mat", {"dist": squareform(D), "labels": [1, 2, 1, 2, 1, 1]})
    savemat(tmp_path / "e.mat", {"D": D, "labels": np.array(LABELS)})
    for name, labels, expected in (
        ("a.npz", None, LABELS),
        ("a.npz", LABELS, LABELS),
        ("b.npz", "kinds", [1, 2, 1, 2, 1, 1]),
        ("c.mat", None, LABELS),
        ("d.mat", None, [1, 2, 1, 2, 1, 1]),
        ("e.mat", "labels", LABELS),
    ):
        dataset = read(tmp_path / name, labels=labels)
        np.testing.assert_array_equal(dataset.objects, D)
        assert dataset.labels.tolist() == expected
        place = tmp_path / f"part_{name}"
        write_rows(dataset, [5, 1], place, overwrite=True)
        again = read(place, labels=labels if isinstance(labels, str) else None)
        assert again.objects.tolist() == D[np.ix_([5, 1], [5, 1])].tolist()
        assert again.labels.tolist() == [expected[5], expected[1]]
    assert loadmat(tmp_path / "part_d.mat")["dist"].shape == (1, 1)


def test_nothing_is_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    content = io.BytesIO()
    np.save(content, np.array([Trap()], dtype=object), allow_pickle=True)
    (tmp_path / "x.npy").write_bytes(content.getvalue())
    (tmp_path / "y.npy").write_bytes(pickle.dumps(Trap()))
    content = io.BytesIO()
    np.savez(content, D=D, labels=np.array([Trap()] * 6, dtype=object), allow_pickle=True)
    (tmp_path / "z.npz").write_bytes(content.getvalue())
    for name in ("x.npy", "y.npy", "z.npz"):
        with pytest.raises(DataError, match=f"{name}: expected a NumPy file without pickled objects"):
            read(tmp_path / name, labels=None if name == "z.npz" else ["a"])
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("text", "labels", "message"),
    [
        ("", ["a"], r"x: expected a matrix of distances, found an empty file"),
        ("0,1\n1,0\n", None, r"x: a matrix of distances has no labels; pass labels="),
        ("0,1\n1,0\n", ["a"], r"x: expected 2 labels, one per object, found 1"),
        ("0,1\n1\n", ["a", "b"], r"x, line 2: expected 2 distances as in the first line, found 1"),
        ("0,1\n1,x\n", ["a", "b"], r"x, line 2: expected a distance in column 2, found 'x'"),
        ("0,1\n1,nan\n", ["a", "b"], r"x: expected a distance from object 1 to 1, found NaN"),
        ("0,1,2\n1,0,2\n", ["a", "b"], r"x: expected as many rows as columns, found the shape \(2, 3\)"),
        ("1,2,3,4\n", ["a", "b"], r"x: expected n \(n - 1\) / 2 distances of a condensed matrix, found 4"),
        ("0,1\n1,0\n", ["a", " "], r"x: expected a label for each object, found none for object 1"),
    ],
)
def test_what_is_wrong(text, labels, message):
    with pytest.raises(DataError, match=message):
        read_matrix_csv(text, file="x", labels=labels)


def test_what_is_wrong_in_arrays(tmp_path):
    np.savez(tmp_path / "a.npz", u=D, v=D)
    with pytest.raises(DataError, match=r"a.npz: expected one square array of numbers, or one called D, found u, v"):
        read(tmp_path / "a.npz", labels=LABELS)
    with pytest.raises(
        DataError, match=r"a.npz: labels='w' is neither a file nor the name of an array; there are u, v"
    ):
        read(tmp_path / "a.npz", labels="w")
    np.save(tmp_path / "b.npy", np.array(["x"]))
    with pytest.raises(DataError, match=r"b.npy: expected distances, found an array of the type <U1"):
        read(tmp_path / "b.npy", labels=["a"])
    (tmp_path / "c.mat").write_bytes(b"MATLAB 5.0 MAT-file" + b"\0" * 200)
    with pytest.raises(DataError, match=r"c.mat: expected"):
        read(tmp_path / "c.mat", labels=["a"])
    with pytest.raises(DataError, match=r"nowhere.txt: there is no such file"):
        read(tmp_path / "b.npy", labels=tmp_path / "nowhere.txt")


def test_strings_as_they_are(tmp_path):
    dataset = read_strings("+\tgcc \r\n\n- \t\tat\tg\n+\t\n")
    assert dataset.labels.tolist() == ["+", "-", "+"]
    assert dataset.objects == ["gcc ", "\tat\tg", ""]
    folder = tmp_path / "names"
    folder.mkdir()
    (folder / "Czech.txt").write_text("Novák\nDvořák\n", encoding="utf-8")
    (folder / "Greek.txt").write_bytes(b"\xff\xfe" + "Μέγας\r\n".encode("utf-16-le"))
    (folder / ".hidden.txt").write_text("x")
    found = read(folder)
    assert found.objects == ["Novák", "Dvořák", "Μέγας"]
    assert found.labels.tolist() == ["Czech", "Czech", "Greek"]
    with pytest.raises(DataError, match=r"which is never written to"):
        write_rows(found, [0], folder / "Slovak.tsv")
    with pytest.raises(DataError, match=r"expected files with a string in each line, found none"):
        read_string_folder({"a": "\n"})
    for text in ("", "no tab\n", "\tx\n"):
        with pytest.raises(DataError, match=r"expected .*a label, a tab and a string, found"):
            read_strings(text)
    with pytest.raises(DataError, match=r"the label 'a' with the string 'b\\nc' does not fit into a line"):
        write_strings(Dataset("made", "strings", ["b\nc"], np.array(["a"])))
