"""Journals: what cannot be written to says why and stays as it is; plans may grow; two runs do not mix."""

import os
import sqlite3
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace

import pytest

from protoset.datasets import Dataset
from protoset.exceptions import JournalError
from protoset.experiments import merge, read_plan, results, resume, run, status, table
from protoset.experiments.journal import Journal

from experiment_data import load

PLAN = {"data": ["iris"], "methods": ["NoPS", {"method": "FCNN", "n_neighbors": [1, 2]}], "folds": 2}


@pytest.fixture
def journal(tmp_path):
    path = tmp_path / "journal.sqlite"
    run(PLAN, path, data=load)
    return path


def test_one_file_is_left(journal):
    """A copy of it is the whole journal; the lock file beside it, if it stays, is empty."""
    for _ in range(2):
        sizes = {path.name: path.stat().st_size for path in journal.parent.iterdir()}
        assert sizes.pop("journal.sqlite.lock", 0) == 0
        assert list(sizes) == ["journal.sqlite"]
        status(journal)


def test_the_log_is_written_ahead(journal):
    with Journal.to_write(journal) as opened:
        assert opened._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert opened._connection.execute("PRAGMA synchronous").fetchone() == (1,)


def edited(path, statement):
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def text(path):
    path.write_text("my notes")


def empty(path):
    path.write_bytes(b"")


def other_database(path):
    path.unlink()
    edited(path, "CREATE TABLE notes (text)")


def other_version(path):
    edited(path, "PRAGMA user_version = 7")


def damaged(path):
    content = path.read_bytes()
    path.write_bytes(content[:100] + b"\x5a" * (len(content) - 100))


def without_plan(path):
    edited(path, "DELETE FROM meta WHERE key = 'plan'")


def unknown_plan(path):
    edited(path, "UPDATE meta SET value = replace(value, 'FCNN', 'FCN')")


NO_JOURNALS = [
    (text, "is not a journal and was not changed; choose another name"),
    (empty, "is not a journal and was not changed"),
    (other_database, "is not a journal and was not changed"),
    (other_version, "is of the newer version 7, and protoset .* reads version 3; export it with the protoset that"),
    (damaged, "cannot be (read|used)"),
    (without_plan, "holds no plan that can be read"),
    (unknown_plan, "holds no plan that can be read: .*'FCN', which is not known .*'FCNN'"),
]


@pytest.mark.parametrize(("change", "message"), NO_JOURNALS, ids=[change.__name__ for change, _ in NO_JOURNALS])
def test_what_is_no_journal_stays_as_it_is(change, message, journal):
    change(journal)
    before = journal.read_bytes()
    for attempt in (lambda: run(PLAN, journal, data=load), lambda: resume(journal), lambda: status(journal)):
        with pytest.raises(JournalError, match=message) as caught:
            attempt()
        assert "journal.sqlite" in str(caught.value)
    with pytest.raises(JournalError, match=message):
        merge(journal.with_name("target.sqlite"), [journal])
    assert journal.read_bytes() == before
    assert not journal.with_name("target.sqlite").exists()


def test_no_journal_and_no_folder(tmp_path):
    for attempt in (status, resume, results, table):
        with pytest.raises(JournalError, match="there is no journal .*; run a plan to make it"):
            attempt(tmp_path / "journal.sqlite")
    with pytest.raises(JournalError, match="there is no folder .*; make it first"):
        run(PLAN, tmp_path / "away" / "journal.sqlite", data=load)
    with pytest.raises(JournalError, match="is not a file"):
        run(PLAN, tmp_path, data=load)
    assert list(tmp_path.iterdir()) == []


def test_a_read_only_journal_is_read_and_not_written(journal):
    journal.chmod(0o444)
    before = journal.read_bytes()
    assert status(journal).done == 6
    assert len(results(journal, kept=True)) == 6
    for attempt in (lambda: run(PLAN, journal, data=load), lambda: merge(journal, [journal.with_name("x")])):
        with pytest.raises(JournalError, match="read-only; make it writable, or work on a copy|there is no journal"):
            attempt()
    assert journal.read_bytes() == before


def test_a_read_only_folder(journal):
    journal.parent.chmod(0o555)
    try:
        assert status(journal).done == 6
        for name in (journal.name, "new.sqlite"):
            with pytest.raises(JournalError, match="the folder of the journal .* is read-only"):
                run(PLAN, journal.with_name(name), data=load)
    finally:
        journal.parent.chmod(0o755)


HOLDER = """
import sys, experiment_data
from protoset.experiments import run
def wait(progress):
    print("at work", flush=True)
    sys.stdin.readline()
run({"data": ["iris"], "methods": ["NoPS", "FCNN"], "folds": 2}, sys.argv[1], data=experiment_data.load, callback=wait)
"""


def test_two_runs_at_once(tmp_path):
    path = tmp_path / "journal.sqlite"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert holder.stdout.readline() == "at work\n"
    plan = {"data": ["iris"], "methods": ["NoPS", "FCNN"], "folds": 2}
    message = rf"is locked by the process {holder.pid} on .*; wait for the other run, or end it"
    for attempt in (lambda: run(plan, path, data=load), lambda: resume(path, data=load)):
        with pytest.raises(JournalError, match=message):
            attempt()
    found = status(path)  # readers need not wait
    assert (found.done, found.missing, found.running) == (1, 3, True)
    holder.communicate("\n\n\n\n\n")
    assert holder.returncode == 0
    found = status(path)
    assert (found.done, found.missing, found.running) == (4, 0, False)
    assert resume(path, data=load).done == 4


def test_plans_may_grow(journal):
    before = {row.id: row.finished for row in results(journal)}
    seen = []
    grown = PLAN | {"data": ["wine", "iris"], "methods": [*PLAN["methods"], "DROP3"]}
    progress = run(grown, journal, data=load, callback=seen.append)
    assert len(seen) == 16 - 6
    assert (progress.done, progress.total) == (16, 16)
    assert before.items() <= {row.id: row.finished for row in results(journal)}.items()
    assert resume(journal, data=load).total == 16  # the journal has the new plan


def test_labels_may_change(journal):
    renamed = PLAN | {"methods": ["NoPS", {"method": "FCNN", "n_neighbors": [1, 2], "label": "condensed"}]}
    seen = []
    run(renamed, journal, data=load, callback=seen.append)
    assert seen == []
    assert table(journal).columns == ("NoPS", "condensed(n_neighbors=1)", "condensed(n_neighbors=2)")


OTHER_PLANS = [
    ({"folds": 3}, "folds are {'n': 3, .*}, and were {'n': 2, "),
    ({"methods": ["NoPS"]}, r"method 'FCNN\(n_neighbors=1\)' is not there any more; method 'FCNN\(n_neighbors=2\)'"),
    ({"data": ["wine"]}, "data 'iris' is not there any more"),
    ({"distances": ["raw"]}, "distance 'auto' is not there any more"),
    ({"methods": ["NoPS", {"method": "FCNN", "n_neighbors": [1, 2], "refine": [True]}]}, "is not there any more"),
    ({"data": [{"path": "iris.csv"}]}, "data 'iris' is path='iris.csv', target=None, and was path=None, target=None"),
]


@pytest.mark.parametrize(("change", "message"), OTHER_PLANS)
def test_a_journal_of_another_plan(change, message, journal):
    before = results(journal, kept=True)
    with pytest.raises(JournalError, match=f"belongs to another plan: .*{message}.*use another journal"):
        run(PLAN | change, journal, data=load)
    assert results(journal, kept=True) == before
    assert status(journal).total == 6


def test_other_data_under_the_same_name(journal):
    before = results(journal, kept=True)
    dataset = load("iris")
    changed = Dataset("iris", "vectors", dataset.objects, dataset.labels[::-1])
    with pytest.raises(JournalError, match="the data 'iris' have changed since the results"):
        run(PLAN | {"methods": [*PLAN["methods"], "DROP3"]}, journal, data={"iris": changed})
    assert results(journal, kept=True) == before


def test_a_result_is_never_replaced(journal):
    before = results(journal, kept=True)
    with Journal.to_write(journal) as opened, pytest.raises(JournalError, match="UNIQUE"):
        opened.add([replace(before[0], error=0.5)])
    assert results(journal, kept=True) == before


def test_what_a_killed_run_left_is_no_journal(journal):
    """A log without its journal is not that of a new one, nor is a journal that was being made."""
    with Journal.to_write(journal) as opened:
        opened._connection.execute("INSERT OR REPLACE INTO meta VALUES ('note', 'old')")
        left = {end: journal.with_name(journal.name + end).read_bytes() for end in ("-wal", "-shm")}
    journal.unlink()
    for end, content in left.items():
        journal.with_name(journal.name + end).write_bytes(content)
    journal.with_name(f".{journal.name}.protoset-new").write_text("half")
    run(PLAN, journal, data=load)
    assert status(journal).done == 6
    connection = sqlite3.connect(journal)
    assert connection.execute("SELECT count(*) FROM meta WHERE key = 'note'").fetchone() == (0,)
    connection.close()
    left = {path.name for path in journal.parent.iterdir()}
    assert left - {"journal.sqlite.lock"} == {"journal.sqlite"}


def test_the_plan_of_a_journal_is_the_plan(journal):
    with Journal.to_read(journal) as opened:
        assert opened.plan == read_plan(PLAN)


def test_a_journal_on_a_disk_that_becomes_full(small_disk):
    """The cells that were written stay, and once there is room the run goes on."""
    plan, path = {"data": ["iris"], "methods": ["FCNN", "NoPS"], "folds": 20}, small_disk / "journal.sqlite"

    def fill(progress):
        if progress.done == 3:
            with suppress(OSError), open(small_disk / "more", "wb", buffering=0) as file:
                while True:
                    file.write(bytes(512))

    with pytest.raises(JournalError, match="disk is full; make room and run again"):
        run(plan, path, data=load, callback=fill)
    (small_disk / "more").unlink()
    assert 3 <= status(path).done < 40
    assert resume(path, data=load).done == 40
