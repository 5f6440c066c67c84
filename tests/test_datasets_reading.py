"""Which file is what; encodings, compression and line ends; files that are none. Writing rows."""

import gzip
import os
import stat

import numpy as np
import pytest

from dataset_cases import assert_same
from protoset.datasets import Attribute, Dataset, read, take, write_rows
from protoset.exceptions import DataError

KEEL = "@relation r\n@attribute a real\n@attribute Größe {schön, 1}\n@data\n1, schön\n2, 1\n"
ARFF = "@relation r\n@attribute a numeric\n@attribute class {u, v}\n@data\n1,u\n"
TS = "@problemName r\n@classLabel true 1 2\n@data\n1,2:1\n"
LONG = "\n".join("\t".join(str(value) for value in range(label, label + 17)) for label in (1, 2)) + "\n"


@pytest.mark.parametrize(
    ("name", "text", "options", "kind", "form"),
    [
        ("x.dat", KEEL, {}, "vectors", "keel"),
        ("x.DAT", KEEL, {}, "vectors", "keel"),
        ("x.arff", ARFF, {}, "vectors", "arff"),
        ("x.ts", TS, {}, "series", "ts"),
        ("x.txt", f"% comment\n{ARFF}", {}, "vectors", "arff"),
        ("x", ARFF.replace("@data", "@outputs class\n@data"), {}, "vectors", "keel"),
        ("x.txt", f"# comment\n{TS}", {}, "series", "ts"),
        ("x.tsv", "a\tsome words\nb\tothers\n", {}, "strings", "strings"),
        ("x.txt", "1\tgcc\n2\t42\n", {}, "strings", "strings"),
        ("x.tsv", "1\tgcc\n2\t42\n", {"target": 0}, "mixed", "csv"),
        ("x.tsv", LONG, {}, "series", "ucr"),
        ("x.txt", LONG.replace("\t", "  "), {}, "series", "ucr"),
        ("x.tsv", LONG, {"target": 0}, "vectors", "csv"),
        ("x.tsv", LONG, {"kind": "vectors", "target": 0}, "vectors", "csv"),
        ("x.csv", LONG.replace("\t", ",") + "?," * 16 + "u\n", {}, "vectors", "csv"),
        ("x.csv", LONG.replace("\t", ","), {"kind": "series"}, "series", "ucr"),
        ("x_TRAIN.csv", LONG.replace("\t", ","), {}, "series", "ucr"),
        ("x_TEST", "1\t0.5\t0.75\n", {}, "series", "ucr"),
        ("x.tsv", "1\t0.5\tu\n2\t0.5\tv\n", {}, "vectors", "csv"),
        ("x.tsv", "a\tb\tclass\n1\t2\tu\n", {}, "vectors", "csv"),
        ("x.csv", "0,1\n1,0\n", {"labels": ["a", "b"]}, "matrix", "matrix-csv"),
        ("x.csv", "1,2,u\n2,3,v\n", {"kind": "mixed"}, "mixed", "csv"),
        ("x.dat", "1,2,u\n2,3,v\n", {"kind": "vectors"}, "vectors", "csv"),
        ("x.tsv", "a\tb\tc\nd\te\tf\n", {"kind": "strings"}, "strings", "strings"),
    ],
)
@pytest.mark.parametrize("compressed", [False, True])
def test_what_a_file_is(tmp_path, name, text, options, kind, form, compressed):
    path = tmp_path / (f"{name}.gz" if compressed else name)
    path.write_bytes(gzip.compress(text.encode()) if compressed else text.encode())
    dataset = read(path, **options)
    assert (dataset.kind, dataset.layout.format) == (kind, form)
    assert dataset.name == name.partition(".")[0]
    assert dataset.path == path
    assert read(str(path), **options, name="other").name == "other"


def test_a_square_of_numbers_asks_for_labels(tmp_path):
    (tmp_path / "x.csv").write_text("0,1,2\n1,0,3\n2,3,0\n")
    with pytest.raises(DataError, match=r"x.csv: a matrix of distances has no labels; pass labels="):
        read(tmp_path / "x.csv")
    (tmp_path / "x_labels.txt").write_text("a\nb\na\n")
    assert read(tmp_path / "x.csv").labels.tolist() == ["a", "b", "a"]


@pytest.mark.parametrize(
    "content",
    [
        KEEL.encode(),
        KEEL.encode("utf-8-sig"),
        b"\xff\xfe" + KEEL.encode("utf-16-le"),
        b"\xfe\xff" + KEEL.encode("utf-16-be"),
        b"\xff\xfe\0\0" + KEEL.encode("utf-32-le"),
        KEEL.encode("latin-1"),
        KEEL.replace("\n", "\r\n").encode(),
        KEEL.replace("\n", "\r").encode(),
        KEEL.replace("\n", "\r\n", 2).replace("r\n", "r\r", 1).encode(),
        (KEEL + "\n\n  \n").encode(),
        KEEL.rstrip("\n").encode(),
        KEEL.encode() + b"\x1a",
        gzip.compress(KEEL.encode("latin-1"), mtime=0),
    ],
    ids=lambda content: f"{content[:4].hex()}-{len(content)}",
)
def test_encodings_and_line_ends(tmp_path, content):
    (tmp_path / "x.dat").write_bytes(content)
    dataset = read(tmp_path / "x.dat")
    assert dataset.labels.tolist() == ["schön", "1"]
    assert dataset.layout.target_name == "Größe"


def assert_refused(path, message, **options):
    with pytest.raises(DataError, match=message) as caught:
        read(path, **options)
    assert type(caught.value) is DataError
    assert len(str(caught.value)) < 400 + len(str(path))


@pytest.mark.parametrize(
    "ending", [".dat", ".arff", ".ts", ".tsv", ".txt", ".csv", ".parquet", ".npy", ".npz", ".mat", ""]
)
def test_files_that_are_none(tmp_path, ending):
    path = tmp_path / f"x{ending}"
    assert_refused(path, "there is no such file")
    path.write_bytes(b"")
    assert_refused(path, "empty|found the end|expected")
    path.write_bytes(b"\n\n")
    assert_refused(path, "empty|found the end|expected")
    path.write_bytes(bytes(range(256)) * 20)
    assert_refused(path, "expected")
    path.write_bytes(gzip.compress(KEEL.encode() * 50)[:-30])
    assert_refused(path, "the gzip file is cut off or damaged .*; get it again")
    path.write_bytes(b"\xff\xfe" + "abc".encode("utf-16-le") + b"\x00")
    assert_refused(path, "expected|mark of utf-16-le")


def test_places_that_are_none(tmp_path):
    assert_refused(tmp_path / "nowhere" / "x.dat", r"there is no such file")
    assert_refused(tmp_path, r"is a folder; expected")
    (tmp_path / "iris.dat").write_text("hello, 1\n")
    assert_refused(tmp_path / "irsi.dat", r"there is no such file \(did you mean 'iris.dat'\?\)")
    assert_refused(
        tmp_path / "iris.dat", r"line 1: expected a header such as '@relation name', found 'hello, 1'; kind='vec"
    )
    assert_refused(tmp_path / "iris.dat", r"kind='vector' is not known \(did you mean 'vectors'\?\)", kind="vector")
    assert_refused("a\0b.dat", r"cannot be read")
    (tmp_path / "x.ts").write_text(TS)
    assert_refused(tmp_path / "x.ts", r"the format ts takes no target=; leave it out", target=0)
    assert_refused(tmp_path / "x.ts", r"the format ts takes no labels=; leave it out", labels=["a"])
    assert_refused(tmp_path / "x.ts", r"kind='mixed' does not fit the format ts; choose one of series", kind="mixed")


@pytest.mark.skipif(os.name == "nt" or (hasattr(os, "geteuid") and os.geteuid() == 0), reason="root may read anything")
def test_a_file_that_may_not_be_read(tmp_path):
    (tmp_path / "x.dat").write_text(KEEL)
    (tmp_path / "x.dat").chmod(0)
    assert_refused(tmp_path / "x.dat", r"cannot be read")


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "x.dat"
    path.write_text(KEEL, encoding="utf-8")
    return path


def test_writing(source, tmp_path):
    dataset = read(source)
    write_rows(dataset, [1], tmp_path / "y.dat")
    assert (tmp_path / "y.dat").read_text("utf-8") == KEEL.replace("1, schön\n", "").replace("2, 1", "2.0, 1")
    write_rows(dataset, np.array([False, True]), tmp_path / "y.dat.gz")
    assert_same(read(tmp_path / "y.dat.gz"), take(dataset, [1]))
    assert source.read_text("utf-8") == KEEL
    write_rows(dataset, [0, 1, 0], tmp_path / "z.dat")
    assert read(tmp_path / "z.dat").labels.tolist() == ["schön", "1", "schön"]


def test_nothing_is_overwritten(source, tmp_path):
    dataset = read(source)
    (tmp_path / "y.dat").write_text("mine")
    with pytest.raises(DataError, match=r"y.dat: exists; choose another name, or pass overwrite=True"):
        write_rows(dataset, [0], tmp_path / "y.dat")
    assert (tmp_path / "y.dat").read_text() == "mine"
    write_rows(dataset, [0], tmp_path / "y.dat", overwrite=True)
    assert read(tmp_path / "y.dat").n_objects == 1
    os.link(source, tmp_path / "hard.dat")
    os.symlink(source, tmp_path / "soft.dat")
    for path in (source, tmp_path / "." / "x.dat", tmp_path / "hard.dat", tmp_path / "soft.dat"):
        with pytest.raises(DataError, match=r"the data set was read from .*x.dat, which is never written to"):
            write_rows(dataset, [0], path, overwrite=True)
    assert source.read_text("utf-8") == KEEL


def test_labels_of_a_matrix_are_not_overwritten_either(tmp_path):
    (tmp_path / "a_D.csv").write_text("0,1\n1,0\n")
    (tmp_path / "a_labels.txt").write_text("u\nv\n")
    dataset = read(tmp_path / "a_D.csv")
    with pytest.raises(DataError, match=r"a_labels.txt: the data set was read from .*, which is never written to"):
        write_rows(dataset, [0, 1], tmp_path / "a.csv", overwrite=True)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a_D.csv", "a_labels.txt"]


def test_writing_that_fails_leaves_nothing(source, tmp_path):
    dataset = read(source)
    for rows in ([], [2], [-1], [0.5], [[0]], "x", [True]):
        with pytest.raises(DataError, match=r"rows must be positions"):
            write_rows(dataset, rows, tmp_path / "y.dat")
    with pytest.raises(DataError, match=r"y.csv: the data were read as keel; expected a name that ends with .dat"):
        write_rows(dataset, [0], tmp_path / "y.csv")
    with pytest.raises(DataError, match=r"cannot be written \(.*there is no folder"):
        write_rows(dataset, [0], tmp_path / "nowhere" / "y.dat")
    (tmp_path / "folder.dat").mkdir()
    with pytest.raises(DataError, match=r"cannot be written \(.*it exists but is not a file"):
        write_rows(dataset, [0], tmp_path / "folder.dat", overwrite=True)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["folder.dat", "x.dat"]


def test_data_that_were_not_read_are_written_as_the_name_says(tmp_path):
    table = Dataset("made", "vectors", np.array([[1.0], [2.0]]), np.array(["u", "v"]), (Attribute("a", "real"),))
    for name in ("x.dat", "x.arff", "x.csv", "x.parquet"):
        write_rows(table, [1, 0], tmp_path / name)
        assert_same(read(tmp_path / name), take(table, [1, 0]))
    series = Dataset("made", "series", [np.arange(20.0), np.arange(30.0)], np.array([1, 2]))
    for name in ("y.ts", "y.tsv"):
        write_rows(series, [1], tmp_path / name)
        assert_same(read(tmp_path / name), take(series, [1]))
    with pytest.raises(DataError, match=r"x.ts: expected a name that ends with one of .dat.* for vectors"):
        write_rows(table, [0], tmp_path / "x.ts")


@pytest.mark.skipif(os.name == "nt", reason="modes of files are of Unix")
def test_a_replaced_file_keeps_its_mode(source, tmp_path):
    (tmp_path / "y.dat").write_text("")
    (tmp_path / "y.dat").chmod(0o600)
    write_rows(read(source), [0], tmp_path / "y.dat", overwrite=True)
    assert stat.S_IMODE((tmp_path / "y.dat").stat().st_mode) == 0o600


@pytest.mark.parametrize("path", [5, None, b"x.csv", ["x.csv"]])
def test_a_path_of_another_type(path):
    with pytest.raises(TypeError, match=r"path=.* must be the path of a file, as text or a Path, or an open file"):
        read(path)


def test_a_stream_that_returns_no_bytes():
    class Numbers:
        def read(self, size):
            return 5

    with pytest.raises(DataError, match="stream: cannot be read .its read returned int, and not bytes or text"):
        read(Numbers())
