"""Runs of the paper's studies on small data, their report, and the command."""

import csv
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from protoset.datasets import Dataset
from protoset.exceptions import DataError, JournalError
from protoset.experiments import results, status
from protoset.paper import run_paper, write_paper_report
from protoset.paper.evidence import read_evidence
from protoset.paper.pages import MISSING_TEXT, Page, csv_table, markdown_table, probability, shown, signed
from protoset.paper.studies import journal_of

from cli_cases import run_many

pytest.importorskip("matplotlib")

SECTIONS = (
    "Findings",
    "What agrees and what does not",
    "Vector data",
    "Best parameter",
    "Fixed parameters",
    "REPS at the printed selection rates",
    "Fixed selection rate: REPS at the size of each baseline",
    "Signed-rank tests",
    "Friedman and Nemenyi",
    "The paper's mixture of distances",
    "Time series",
    "Windows of DTW",
    "Sensitivity to β and C",
    "Case studies",
    "Where the paper's figures are inconsistent",
    "Completeness",
)


def waves(name, n=28, n_train=16):
    rng = np.random.default_rng(len(name))
    y = np.arange(n) % 2 + 1
    series = [np.sin(np.arange(24) / (3 + label) + rng.normal()) + 0.3 * rng.normal(size=24) for label in y]
    return Dataset(name, "series", series, y, n_train=n_train)


@pytest.fixture(scope="module")
def small_data():
    found = {}
    for name, load, step in (("iris", load_iris, 4), ("wine", load_wine, 4)):
        X, y = load(return_X_y=True)
        found[name] = Dataset(name, "vectors", X[::step], y[::step])
    return found | {name: waves(name) for name in ("Plane", "ECG200")}


@pytest.fixture(scope="module")
def small_run(small_data, tmp_path_factory):
    """All studies on small data, RMHC left out."""
    output = tmp_path_factory.mktemp("paper")
    done = run_paper(output, data=small_data, without=("RMHC",))
    return output, done


@pytest.fixture(scope="module")
def small_report(small_run):
    """The report of that run in its folder, and a summary beside it."""
    output, _ = small_run
    return write_paper_report(output, summary=output / "docs.md")


def test_a_run_has_a_journal_per_plan(small_run):
    output, done = small_run
    plans = [one.plan for one in done]
    assert plans == [
        "vectors",
        "vectors-ssma",
        "series",
        "windows",
        "sensitivity",
        "mixture",
        "mixture-ssma",
        "mixture-reps",
    ]
    for one in done:
        assert one.progress.done == one.progress.total > 0
        assert status(journal_of(output, one.plan, "z")).done == one.progress.total


def test_running_again_computes_nothing(small_run, small_data):
    output, _ = small_run
    told = []
    again = run_paper(output, data=small_data, without=("RMHC",), progress=lambda plan, state: told.append(plan))
    assert told == []
    assert all(one.progress.done == one.progress.total for one in again)


def test_a_run_that_was_ended_goes_on(small_data, tmp_path):
    cells = []

    def stop(plan, state):
        cells.append(state.cell)
        return len(cells) == 5

    first = run_paper(tmp_path, data=small_data, studies=["series"], progress=stop)
    assert first[0].progress.done == 5
    run_paper(tmp_path, data=small_data, studies=["series"], progress=lambda plan, state: cells.append(state.cell))
    assert len(cells) == len(set(cells)) == status(tmp_path / "series.sqlite").total


def test_the_report_has_every_section(small_report):
    text = small_report.read_text()
    for section in SECTIONS:
        assert f"# {section}\n" in text
    assert "Not run." not in text
    for line in text.splitlines():
        if line.startswith("!["):
            image = line[line.index("](") + 2 : -1]
            assert small_report.with_name(image).read_bytes().startswith(b"<?xml")
            png = small_report.with_name(image).with_suffix(".png")
            assert png.read_bytes().startswith(b"\x89PNG")


def test_what_is_missing_is_shown_as_missing(small_report):
    """RMHC was left out."""
    text = small_report.read_text()
    row = next(line for line in text.splitlines() if line.startswith("| 1 iris"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[6].startswith(f"{MISSING_TEXT}<br>*0.033 / 0.1*<br>{MISSING_TEXT}")
    assert MISSING_TEXT not in cells[4]
    with small_report.with_name("vectors-best.csv").open() as file:
        (iris, _) = csv.DictReader(file)
    assert iris["RMHC_error"] == iris["RMHC_rate"] == ""
    assert float(iris["SSMA_error"]) >= 0


def test_measured_numbers_are_those_of_the_journal(small_report):
    vectors = read_evidence(small_report.parent.parent).vectors
    with small_report.with_name("vectors-fixed.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["dataset"] for row in rows] == list(vectors.data) == ["iris", "wine"]
    for row, error, rate in zip(rows, vectors.errors("DROP3"), vectors.rates("DROP3"), strict=True):
        assert float(row["DROP3_error"]) == error
        assert float(row["DROP3_rate"]) == rate
    assert rows[0]["DROP3_error_printed"] == "0.087"


def test_failed_cells_are_told_and_never_numbers(small_data, tmp_path):
    def load(name):
        if name == "wine":
            raise FileNotFoundError("there is no file wine.dat")
        return small_data[name]

    run_paper(tmp_path, data=load, studies=["sensitivity"], datasets=["iris", "wine"])
    text = write_paper_report(tmp_path).read_text()
    assert "failed with: FileNotFoundError: there is no file wine.dat" in text
    assert "Not run." in text
    sensitivity = read_evidence(tmp_path).sensitivity
    assert np.isnan(sensitivity.error_table[1]).all()
    assert np.isfinite(sensitivity.error_table[0]).all()
    with (tmp_path / "report" / "missing.csv").open() as file:
        assert {row["dataset"] for row in csv.DictReader(file)} == {"wine"}


def test_half_a_run_gives_a_report(small_data, tmp_path):
    run_paper(
        tmp_path, data=small_data, studies=["vectors"], datasets=["iris"], progress=lambda plan, state: state.done == 30
    )
    text = write_paper_report(tmp_path).read_text()
    assert "are not computed yet" in text
    assert MISSING_TEXT in text


def test_the_same_run_gives_the_same_report(small_report):
    first = {file.name: file.read_bytes() for file in small_report.parent.iterdir()}
    write_paper_report(small_report.parent.parent)
    assert first == {file.name: file.read_bytes() for file in small_report.parent.iterdir()}


def test_the_summary_has_its_figures_beside_it(small_report):
    folder = small_report.parent.parent
    summary = (folder / "docs.md").read_text()
    assert "protoset paper report --summary" in summary
    images = [line[line.index("](") + 2 : -1] for line in summary.splitlines() if line.startswith("![")]
    assert images
    assert all((folder / image).is_file() for image in images)


def test_arguments_that_are_not_known(small_data, tmp_path):
    for arguments, message in (
        ({"studies": ["vector"]}, "studies='vector'"),
        ({"studies": []}, "studies=\\[\\] must name"),
        ({"without": ["FCNN"]}, "without='FCNN'"),
        ({"datasets": ["irs"]}, "no data set 'irs' \\(did you mean 'iris'"),
        ({"data": "nowhere"}, "data='nowhere': there is no such folder"),
        ({"scaling": "log"}, "scaling='log'"),
    ):
        with pytest.raises(ValueError, match=message):
            run_paper(tmp_path / "new", **{"data": small_data} | arguments)
    assert not (tmp_path / "new").exists()


def test_a_later_run_keeps_the_case_study_of_an_earlier_one(small_data, tmp_path):
    """Also where its data are not there any more."""

    def load(name):
        if name == "Plane":
            raise DataError("there is no file of Plane any more")
        return small_data[name]

    run_paper(tmp_path, data=small_data, studies=["series"], datasets=["Plane"])
    (before,) = read_evidence(tmp_path).cases
    run_paper(tmp_path, data=load, studies=["series"], datasets=["Plane", "ECG200"])
    after = read_evidence(tmp_path).cases
    assert [case.name for case in after] == ["Plane", "ECG200"]
    np.testing.assert_array_equal(after[0].series, before.series)
    np.testing.assert_array_equal(after[0].distances, before.distances)


def test_a_summary_replaces_no_file_unasked(small_run, tmp_path):
    output, _ = small_run
    mine = tmp_path / "mine.md"
    mine.write_text("mine")
    with pytest.raises(FileExistsError, match="exists; choose another name, or pass overwrite=True"):
        write_paper_report(output, summary=mine)
    answers = run_many(
        [
            ["paper", "report", "--output", output, "--summary", mine],
            ["paper", "report", "--output", output, "--scaling", "bogus"],
        ],
        tmp_path,
    )
    assert [code for code, _, _ in answers] == [2, 2]
    assert "--summary" in answers[0][2]
    assert "pass --force" in answers[0][2]
    assert "--scaling='bogus'" in answers[1][2]
    assert mine.read_text() == "mine"
    assert [file.name for file in tmp_path.iterdir()] == ["mine.md"]
    [(code, said, _)] = run_many([["paper", "report", "--output", output, "--summary", mine, "--force"]], tmp_path)
    assert (code, said) == (0, f"report: {output / 'report' / 'report.md'}\n")
    assert mine.read_text().startswith("# The paper, measured again")


def test_reports_of_nothing(tmp_path):
    gone, empty = run_many([["paper", "report", "--output", tmp_path / name] for name in ("gone", "")], tmp_path)
    assert (gone[0], empty[0]) == (2, 2)
    assert "there is no folder" in gone[2]
    assert "has no results of the paper's studies" in empty[2]


def test_the_command_says_what_failed(tmp_path):
    (tmp_path / "keel").mkdir()
    (tmp_path / "keel" / "iris.dat").write_text("@relation iris\n")
    words = ["paper", "run", "--output", "out", "--data", ".", "--study", "sensitivity", "--dataset", "iris"]
    [(code, said, complaint)] = run_many([words], tmp_path)
    assert code == 1
    assert said.startswith("sensitivity: 0 of 200 cells done, 200 failed\n")
    assert complaint == "some cells failed; the report lists them, and --retry-failed computes them again\n"


def test_numbers_and_what_is_not_one():
    assert [shown(value) for value in (0.12345, float("nan"), None, "text", 3)] == [
        "0.123",
        MISSING_TEXT,
        MISSING_TEXT,
        "text",
        "3",
    ]
    assert signed(-0.01) == "-0.010"
    assert signed(float("nan")) == probability(float("nan")) == MISSING_TEXT
    assert markdown_table(["a", "b"], [["x|y", 0.5]]).splitlines()[2] == r"| x\|y | 0.500 |"
    assert csv_table(["a", "b"], [["x", float("nan")]]) == b"a,b\nx,\n"


def test_a_page_without_figures(tmp_path):
    page = Page()
    page.heading("Title", 1)
    page.bullets(["one", "two"])
    page.write(tmp_path / "page.md", tmp_path / "more")
    assert (tmp_path / "page.md").read_text() == "# Title\n\n- one\n- two\n"


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done(tmp_path):
    """The command goes on after it was stopped; scikit-learn has the data."""
    run = [sys.executable, "-m", "protoset", "paper", "run", "--dataset", "wine", "--study", "vectors", "--quiet"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    journal = tmp_path / "vectors-z.sqlite"
    process = subprocess.Popen([*run, "--output", str(tmp_path)], stderr=subprocess.PIPE, text=True, env=environment)
    limit = time.monotonic() + 120
    while not (journal.exists() and journal.stat().st_size and done_so_far(journal)):
        assert process.poll() is None
        assert time.monotonic() < limit
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert complaint == "protoset: interrupted; files that were not finished are not there\n"
    before = {row.id: row.finished for row in results(journal)}
    assert 0 < len(before) < status(journal).total
    again = subprocess.run([*run, "--without", "SSMA", "--without", "RMHC", "--output", str(tmp_path)], env=environment)
    assert again.returncode == 0
    after = {row.id: row.finished for row in results(journal)}
    assert before.items() <= after.items()
    assert len(after) == status(journal).done == status(journal).total


def done_so_far(journal):
    try:
        return status(journal).done
    except JournalError:  # it is being made
        return 0


@pytest.mark.slow
def test_one_data_set_end_to_end(data_folder, tmp_path):
    """The command on real data: iris, and a report beside the printed numbers."""
    command = [sys.executable, "-m", "protoset", "paper"]
    run = [*command, "run", "--data", str(data_folder), "--dataset", "iris", "--study", "vectors", "--n-jobs", "2"]
    done = subprocess.run(
        [*run, "--without", "RMHC", "--without", "SSMA", "--output", str(tmp_path)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    assert "vectors: 220 of 220 cells done, 0 failed" in done.stdout
    error = read_evidence(tmp_path).vectors.errors("NoPS")[0]
    assert error == pytest.approx(0.05, abs=0.02)  # 1-NN on iris
    done = subprocess.run(
        [*command, "report", "--output", str(tmp_path)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("report.md")
    assert "| 1 iris |" in (tmp_path / "report" / "report.md").read_text()
