"""``-`` is the standard input and the standard output: real processes, real pipes."""

import contextlib
import csv
import gzip
import io
import json
import signal
import subprocess
import sys

import numpy as np
import pytest

from protoset import load
from protoset.datasets import read, read_queries, write_rows
from protoset.exceptions import DataError

from cli_cases import quick_command, run, write_files

TABLE = ["--target", "species", "--method", "fcnn"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = write_files(tmp_path_factory.mktemp("files"))
    made = run("select", "flowers.csv", *TABLE, "--output", "kept.csv", "--model", "m.protoset", cwd=folder)
    assert made.returncode == 0, made.stderr
    return folder


def pipe(folder, content, *arguments):
    """Run the command with bytes on its standard input; (code, bytes, text)."""
    content = (folder / content).read_bytes() if isinstance(content, str) else content
    result = subprocess.run(
        [quick_command(), *map(str, arguments)],
        input=content,
        capture_output=True,
        cwd=folder,
        check=False,
    )
    return result.returncode, result.stdout, result.stderr.decode()


def test_from_a_pipe_to_a_pipe(folder):
    """Only the rows are on the standard output, the same as in the file; all else is on the standard error."""
    expected = (folder / "kept.csv").read_bytes()
    code, out, said = pipe(folder, "flowers.csv", "select", "-", *TABLE, "--output", "-")
    assert (code, out) == (0, expected)
    assert "standard input: 150 objects (mixed), 3 classes" in said
    assert "kept " in said
    assert pipe(folder, "flowers.csv", "select", "-", *TABLE, "--output", "-", "--quiet") == (0, expected, "")
    assert pipe(folder, b"", "select", "flowers.csv", *TABLE, "--output", "-", "--quiet") == (0, expected, "")
    packed = gzip.compress((folder / "flowers.csv").read_bytes())
    assert pipe(folder, packed, "select", "-", *TABLE, "--output", "-", "--quiet") == (0, expected, "")
    code, out, _ = pipe(folder, "flowers.csv", "select", "-", *TABLE, "--json")
    assert (code, len(json.loads(out)["rows"])) == (0, expected.count(b"\n") - 1)


@pytest.mark.parametrize(
    ("shell", "code", "message"),
    [
        ("{} version >&-", 1, "protoset: the standard output is closed; open it, or send it to /dev/null\n"),
        ("{} version 2>&-", 0, ""),
        ("{} version >&- 2>&-", 1, ""),
        ("{} select nowhere.csv 2>&-", 2, ""),
        (
            "PYTHONIOENCODING=ascii {} select letters.csv --method fcnn --no-error --quiet",
            1,
            "protoset: the output has no letters '\\xfc' in its encoding ascii; set PYTHONIOENCODING=utf-8\n",
        ),
    ],
)
def test_closed_and_narrow_streams(folder, shell, code, message):
    (folder / "letters.csv").write_text("a,b,class\n1,2,ü\n3,4,v\n5,9,ü\n", encoding="utf-8")
    command = shell.format(f"{sys.executable} -m protoset")
    result = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=folder, check=False)
    assert (result.returncode, result.stderr) == (code, message)


def test_rows_to_a_pipe_and_other_outputs_to_files(folder):
    code, out, said = pipe(
        folder, "flowers.csv", "select", "-", *TABLE, "--output", "-", "--model", "piped.protoset", "--report", "r.html"
    )
    assert (code, out) == (0, (folder / "kept.csv").read_bytes())
    assert "model: piped.protoset" in said
    piped, other = load(folder / "piped.protoset"), load(folder / "m.protoset")
    assert piped.sample_indices_.tolist() == other.sample_indices_.tolist()
    assert "<html" in (folder / "r.html").read_text()
    # A file of the same format may have any name.
    assert pipe(folder, "flowers.csv", "select", "-", *TABLE, "--output", "kept.tsv", "--quiet")[0] == 0
    assert (folder / "kept.tsv").read_bytes() == (folder / "kept.csv").read_bytes()


def test_predictions_through_a_pipe(folder):
    code, expected, _ = pipe(folder, b"", "predict", "m.protoset", "unlabelled.csv")
    assert code == 0
    assert len(list(csv.reader(io.StringIO(expected.decode())))) == 16
    for words in (["-"], ["-", "--output", "-"], ["unlabelled.csv", "--output", "-"], ["-", "--format", "csv"]):
        code, out, said = pipe(folder, "unlabelled.csv", "predict", "m.protoset", *words)
        assert (code, out, said) == (0, expected, "")
    code, out, said = pipe(folder, "flowers.csv", "predict", "m.protoset", "-", "--output", "-")
    assert code == 0
    assert said.startswith("0 of 150 differ from the labels in the file; protoset evaluate --model")
    assert out.count(b"\n") == 151
    code, out, _ = pipe(folder, "flowers.csv", "predict", "m.protoset", "-", "--output", "from-pipe.csv", "--quiet")
    assert (code, out) == (0, b"")
    assert (folder / "from-pipe.csv").read_bytes().count(b"\n") == 151


def test_evaluate_compare_and_explain_read_the_standard_input(folder):
    methods = ["--methods", "nops,fcnn", "--folds", "2"]
    for words in (
        ["evaluate", "flowers.csv", *TABLE, "--folds", "2"],
        ["evaluate", "flowers.csv", "--model", "m.protoset"],
        ["explain", "m.protoset", "flowers.csv", "--row", "7"],
        ["compare", "flowers.csv", "--target", "species", *methods],
    ):
        code, expected, _ = pipe(folder, b"", *words, "--json")
        assert code == 0
        code, out, said = pipe(
            folder, "flowers.csv", *("-" if word == "flowers.csv" else word for word in words), "--json"
        )
        assert (code, said) == (0, "")
        ours, theirs = json.loads(out), json.loads(expected)
        assert (ours.pop("path"), theirs.pop("path")) == ("-", "flowers.csv")
        for document in (ours, theirs):
            for row in document.get("methods", []):
                row.pop("seconds")
        assert ours == theirs


def test_other_formats_are_known_by_their_content(folder):
    names = (folder / "names.txt").read_bytes()
    code, out, _ = pipe(folder, names, "select", "-", "--method", "fcnn", "--output", "-", "--quiet")
    assert code == 0
    assert set(out.splitlines()) <= set(names.splitlines())
    arrays = io.BytesIO()
    D = np.abs(np.subtract.outer(np.arange(10.0), np.arange(10.0)))
    np.savez(arrays, D=D, labels=np.arange(10) // 5)
    code, out, said = pipe(folder, arrays.getvalue(), "select", "-", "--method", "fcnn", "--output", "-")
    assert code == 0, said
    with np.load(io.BytesIO(out)) as kept:
        assert set(kept) == {"D", "labels"}
    # The labels of a matrix may come through the pipe; the matrix in a text cannot take them along.
    matrix = ["select", "distances.csv", "--labels", "-", "--method", "fcnn"]
    code, out, _ = pipe(folder, "kinds.txt", *matrix)
    assert code == 0
    assert b"distances: 150 objects (matrix), 3 classes" in out
    code, out, said = pipe(folder, "kinds.txt", *matrix, "--output", "-")
    assert (code, out) == (2, b"")
    assert "the format matrix-csv has the labels of a matrix in a second file" in said


def test_a_format_by_name(folder):
    rows = "\n".join("\t".join(str(label + point / 9) for point in range(20)) for label in (1, 2, 1, 2)).encode()
    code, out, _ = pipe(folder, rows.replace(b"1.0", b"1").replace(b"2.0", b"2"), "select", "-", "--format", "ucr")
    assert (code, out.splitlines()[0]) == (0, b"standard input: 4 objects (series), 2 classes")
    code, _, said = pipe(folder, rows, "select", "-", "--format", "cvs")
    assert code == 2
    assert "--format='cvs' is not known (did you mean 'csv'?)" in said


WRONG = {
    "the file and --labels are both -": ["select", "-", "--labels", "-"],
    "are both -, the standard input": ["compare", "-", "--labels", "-"],
    "--json and --output - both write": ["select", "flowers.csv", *TABLE, "--output", "-", "--json"],
    "--json and --output - both": ["predict", "m.protoset", "flowers.csv", "--output", "-", "--json"],
    "--model - does not work: the standard output is for --output": ["select", "flowers.csv", "--model", "-"],
    "--report - does not work": ["select", "flowers.csv", "--report", "-"],
    "--plot - does not work": ["compare", "flowers.csv", "--plot", "-"],
    "a model cannot be read from the standard input": ["predict", "-", "-"],
    "a model cannot be read from the": ["explain", "-", "flowers.csv", "--row", "0"],
    "a model cannot be read": ["evaluate", "flowers.csv", "--model", "-"],
    "standard input: the file is empty": ["select", "-"],
}


@pytest.mark.parametrize("message", WRONG)
def test_what_does_not_work(folder, message):
    before = sorted(folder.iterdir())
    code, out, said = pipe(folder, b"", *WRONG[message])
    assert (code, out) == (2, b"")
    assert message in said
    assert said.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_excel_through_a_pipe_is_refused_by_name(folder):
    code, out, said = pipe(folder, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504), "select", "-")
    assert (code, out) == (2, b"")
    assert said.startswith("protoset: standard input: is an Excel file, which protoset does not read; save the sheet")


def test_a_reader_that_has_enough(folder):
    """``protoset predict ... | head -1``: no traceback, and no more than the usual remark."""
    lines = (folder / "flowers.csv").read_bytes().splitlines(keepends=True)
    (folder / "many.csv").write_bytes(lines[0] + b"".join(lines[1:]) * 200)
    for words in (["predict", "m.protoset", "many.csv"], ["select", "flowers.csv", *TABLE, "--output", "-", "-q"]):
        process = subprocess.Popen(
            [sys.executable, "-m", "protoset", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder
        )
        process.stdout.close()
        said, code = process.stderr.read(), process.wait(120)
        process.stderr.close()
        assert (code, said) == (1, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are of Unix")
def test_ctrl_c_while_it_waits_for_input(folder):
    process = subprocess.Popen(
        [sys.executable, "-m", "protoset", "select", "-", *TABLE, "--output", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
    )
    # More than a pipe holds: once it is written, the process is reading.
    process.stdin.write(b"a,b,species\n" * 100_000)
    process.stdin.flush()
    for _ in range(20):
        process.send_signal(signal.SIGINT)
        # A signal just before the process waits for more input is handled after it.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
            break
    said, out = process.stderr.read(), process.stdout.read()
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()
    assert (process.returncode, out) == (130, b"")
    assert b"interrupted" in said
    assert b"Traceback" not in said


def test_pipes_of_the_shell_are_read_as_streams(folder):
    """And so is /dev/zero, which has no end, up to the limit."""
    result = subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -m protoset select <(cat flowers.csv) --target species --output - -q'],
        capture_output=True,
        cwd=folder,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(b"length,width")
    with pytest.raises(DataError, match=r"/dev/zero: holds more than the 1\.0 MB that are read from a stream; save it"):
        read("/dev/zero", max_bytes="1MB")


class Endless(io.RawIOBase):
    """A stream without end."""

    def readable(self):
        return True

    def read(self, size=-1):
        return b"1,2,a\n" * (size // 6)


def test_open_files_in_python(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b,kind\n1,2,u\n2,3,v\n")
    expected = read(path)
    for stream in (path.open("rb"), path.open(), io.BytesIO(path.read_bytes()), io.StringIO(path.read_text())):
        with stream:
            found = read(stream)
        assert found.objects.tolist() == expected.objects.tolist()
        assert found.labels.tolist() == ["u", "v"]
        assert (found.path, found.name) == ((path, "x") if hasattr(stream, "name") else (None, "stream"))
        options = {"kind": "vectors", "attributes": expected.attributes, "target": "kind", "target_position": 2}
        with io.BytesIO(path.read_bytes()) as queries:
            assert read_queries(queries, **options).objects.tolist() == expected.objects.tolist()
    # The file that was read stays protected, and its ending counts.
    with open(path, "rb") as stream, pytest.raises(DataError, match="never written to"):
        write_rows(read(stream), [0], path, overwrite=True)
    np.save(tmp_path / "x.npy", np.zeros((2, 2)))
    with open(tmp_path / "x.npy", "rb") as stream:
        assert read(stream, labels=io.StringIO("u\nv\n")).labels.tolist() == ["u", "v"]
    with pytest.raises(DataError, match=r"stream: holds more than the 2\.0 MB that are read from a stream"):
        read(Endless(), max_bytes="2MB")
    closed = io.BytesIO(b"")
    closed.close()
    with pytest.raises(DataError, match=r"stream: cannot be read \(I/O operation on closed file"):
        read(closed)


def test_rows_to_an_open_file(tmp_path):
    (tmp_path / "x.csv").write_text("a,b,kind\n1,2,u\n2,3,v\n")
    dataset = read(tmp_path / "x.csv")
    target = io.BytesIO()
    write_rows(dataset, [1], target)
    assert target.getvalue() == b"a,b,kind\n2,3,v\n"
    with pytest.raises(TypeError, match=r"must be a path, or a file that is open for writing in binary mode"):
        write_rows(dataset, [1], io.StringIO())
    (tmp_path / "d.csv").write_text("0,1\n1,0\n")
    with pytest.raises(DataError, match=r"the format matrix-csv has the labels of a matrix in a second file"):
        write_rows(read(tmp_path / "d.csv", labels=["u", "v"]), [1], target)
