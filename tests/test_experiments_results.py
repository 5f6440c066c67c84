"""Tables, exports and merged journals."""

import csv
import sqlite3

import numpy as np
import pytest

from protoset.datasets import Dataset
from protoset.exceptions import JournalError
from protoset.experiments import export_results, merge, results, resume, run, status, table

from experiment_data import load

METHODS = ["NoPS", {"method": "RandomSelector", "n_prototypes": 0.2, "label": "random"}, "FCNN"]
PLAN = {"data": ["iris", "wine"], "methods": METHODS, "folds": 2, "seeds": [0, 1], "distances": ["z", "raw"]}
BROKEN = PLAN | {"data": ["iris", "gone", "wine"]}


@pytest.fixture(scope="module")
def journal(tmp_path_factory):
    path = tmp_path_factory.mktemp("results") / "journal.sqlite"
    run(BROKEN, path, data=load)
    return path


def test_tables_are_means_over_folds_and_seeds(journal):
    found = table(journal, "macro_f1", where={"distance": "raw", "data": ["iris", "wine"]})
    assert (found.rows, found.columns) == (("iris", "wine"), ("NoPS", "random", "FCNN"))
    for i, data in enumerate(found.rows):
        for j, method in enumerate(found.columns):
            values = [
                row.macro_f1
                for row in results(journal)
                if (row.data, row.method, row.distance) == (data, method, "raw")
            ]
            assert len(values) == (4 if method == "random" else 2)
            assert found.values[i, j] == pytest.approx(np.mean(values))
    assert found.missing == ()
    other = table(journal, "selection_rate", "method", "distance", where={"data": "iris"})
    assert (other.rows, other.columns) == (("NoPS", "random", "FCNN"), ("z", "raw"))
    np.testing.assert_array_equal(other.values[0], [1.0, 1.0])


def test_incomplete_means_are_not_given(journal, tmp_path):
    found = table(journal, where={"distance": "z"})
    assert found.rows == ("iris", "gone", "wine")
    np.testing.assert_array_equal(np.isnan(found.values), [[False] * 3, [True] * 3, [False] * 3])
    assert len(found.missing) == 8
    assert found.missing[0].reason == "FileNotFoundError: there is no file gone.dat"
    assert {one.cell.data for one in found.missing} == {"gone"}
    path = tmp_path / "part.sqlite"
    run(PLAN, path, data=load, callback=lambda progress: progress.done == 6)
    part = table(path, where={"distance": "z"})
    # One of two folds is no mean of two, and three of four runs are no mean of four.
    np.testing.assert_array_equal(np.isnan(part.values), [[False, True, True], [True, True, True]])
    assert len(part.missing) == 16 - 6
    assert {one.reason for one in part.missing} == {"not computed yet"}
    resume(path, data=load)
    np.testing.assert_array_equal(table(path, where={"distance": "z"}).values, found.values[[0, 2]])


def test_tables_that_would_mix(journal):
    with pytest.raises(
        ValueError, match=r"mix the values \['z', 'raw'\] of 'distance'; choose one with where=.'distance'"
    ):
        table(journal)
    with pytest.raises(ValueError, match=r"mix the values \['iris', 'gone', 'wine'\] of 'data'"):
        table(journal, rows="distance")
    with pytest.raises(ValueError, match="value='eror' is not known .did you mean 'error'"):
        table(journal, "eror")
    with pytest.raises(ValueError, match="the plan has no method 'fcn' .did you mean 'FCNN'"):
        table(journal, where={"method": "fcn"})
    with pytest.raises(ValueError, match="a key of where='methd' is not known .did you mean 'method'"):
        table(journal, where={"methd": "FCNN"})


def test_folds_and_seeds_as_columns(journal):
    found = table(journal, columns="fold", where={"distance": "z", "method": "FCNN", "data": "iris"})
    assert found.columns == ("0", "1")
    seeds = table(journal, columns="seed", where={"distance": "z", "method": "random", "data": "wine"})
    assert seeds.columns == ("0", "1")
    assert not np.isnan(seeds.values).any()


def test_csv(journal, tmp_path):
    rows = results(journal, kept=True)
    assert export_results(journal, tmp_path / "rows.csv", kept=True) == len(rows) == 48
    with (tmp_path / "rows.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    for row, text in zip(rows, found, strict=True):
        for name in ("id", "data", "method", "state", "versions", "parameters"):
            assert text[name] == getattr(row, name)
        for name in ("error", "macro_f1", "cpu_seconds", "n_prototypes", "seed"):
            value = getattr(row, name)
            assert text[name] == "" if value is None else float(text[name]) == value
        if row.state == "done":
            np.testing.assert_array_equal(np.array(text["kept"].split(), int), row.kept_indices)
        else:
            assert text["failure_message"] == "there is no file gone.dat"


def test_parquet(journal, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="no pyarrow: pip install 'protoset[parquet]'")
    rows = results(journal, kept=True)
    export_results(journal, tmp_path / "rows.parquet", kept=True)
    found = parquet.read_table(tmp_path / "rows.parquet").to_pylist()
    for row, values in zip(rows, found, strict=True):
        kept = values.pop("kept")
        assert kept == (None if row.kept_indices is None else row.kept_indices.tolist())
        assert values == {name: getattr(row, name) for name in values}
    export_results(journal, tmp_path / "rows.parquet")
    assert "kept" not in parquet.read_table(tmp_path / "rows.parquet").column_names


def test_exports_that_cannot_be(journal, tmp_path):
    with pytest.raises(ValueError, match=r"path='.*rows.xlsx' must end with .csv or .parquet"):
        export_results(journal, tmp_path / "rows.xlsx")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        export_results(journal, tmp_path / "away" / "rows.csv")


def measures(path):
    return {row.id: (row.state, row.error, row.kept) for row in results(path, kept=True)}


def test_parts_make_the_whole(journal, tmp_path):
    parts = []
    for number, data in enumerate((["iris"], ["wine"])):
        parts.append(tmp_path / f"{number}.sqlite")
        run(PLAN | {"data": data}, parts[-1], data=load)
    run(PLAN | {"data": ["wine"], "methods": ["NoPS"]}, tmp_path / "again.sqlite", data=load)
    target = tmp_path / "all.sqlite"
    assert merge(target, [*parts, tmp_path / "again.sqlite"]) == 32
    assert measures(target).items() <= measures(journal).items()
    assert status(target).missing == 0
    whole, first = table(journal, where={"distance": "z"}), table(target, where={"distance": "z"})
    np.testing.assert_array_equal(first.values, whole.values[[0, 2]])
    assert merge(target, parts) == 0


def test_a_result_takes_the_place_of_a_failure(journal, tmp_path):
    target = tmp_path / "target.sqlite"
    found = {"iris": load("iris"), "wine": load("wine"), "gone": load("mixed")}
    assert merge(target, [journal]) == 48
    run(BROKEN | {"data": ["gone"]}, tmp_path / "found.sqlite", data=found)
    assert merge(target, [tmp_path / "found.sqlite"]) == 16
    assert (status(target).done, status(target).failed) == (48, 0)
    assert merge(target, [journal]) == 0  # and not the other way round


def conflicting(source, target, statement):
    target.write_bytes(source.read_bytes())
    connection = sqlite3.connect(target)
    connection.execute(statement)
    connection.commit()
    connection.close()


CONFLICTS = [
    (
        "UPDATE cells SET error = 0.5 WHERE method = 'FCNN' AND fold = 1 AND data = 'wine'",
        "FCNN on wine, z, fold 1.*another error",
    ),
    (
        "UPDATE cells SET kept = (SELECT kept FROM cells WHERE method = 'NoPS') WHERE method = 'random'",
        "random on iris.*another kept",
    ),
    ("UPDATE cells SET data_digest = 'x' WHERE data = 'iris'", "the data 'iris' in .* differ in objects or labels"),
]


@pytest.mark.parametrize(("statement", "message"), CONFLICTS)
def test_equal_cells_must_agree(statement, message, journal, tmp_path):
    conflicting(journal, tmp_path / "other.sqlite", statement)
    with pytest.raises(JournalError, match=message):
        merge(tmp_path / "target.sqlite", [journal, tmp_path / "other.sqlite"])
    assert not (tmp_path / "target.sqlite").exists()


def test_a_merge_that_fails_on_its_way_leaves_the_target_as_it_was(tmp_path):
    """Its plan as well as its cells; the target itself refuses the last of the new ones."""
    target, other = tmp_path / "target.sqlite", tmp_path / "other.sqlite"
    plan = {"data": ["iris"], "methods": ["NoPS"], "folds": 2}
    run(plan, target, data=load)
    run(plan | {"methods": ["NoPS", "FCNN"]}, other, data=load)
    refusal = "BEGIN SELECT RAISE(ABORT, 'no room'); END"
    trigger = f"CREATE TRIGGER full BEFORE INSERT ON cells WHEN NEW.method = 'FCNN' AND NEW.fold = 1 {refusal}"
    conflicting(target, target, trigger)
    before = status(target), measures(target)
    with pytest.raises(JournalError, match="cannot be used: no room"):
        merge(target, [other])
    assert (status(target), measures(target)) == before
    conflicting(target, target, "DROP TRIGGER full")
    assert merge(target, [other]) == 2
    assert measures(target) == measures(other)


def test_plans_that_cannot_be_merged(journal, tmp_path):
    other = tmp_path / "other.sqlite"
    run(PLAN | {"folds": 3, "data": ["iris"], "methods": ["NoPS"]}, other, data=load)
    with pytest.raises(
        JournalError,
        match="has folds = 3, but the plans before it have 2; only plans with the same folds, order and seeds",
    ):
        merge(tmp_path / "target.sqlite", [journal, other])
    other = tmp_path / "clash.sqlite"
    run(
        {"data": ["iris"], "methods": [{"method": "FCNN", "label": "random"}], "folds": 2, "seeds": [0, 1]},
        other,
        data=load,
    )
    with pytest.raises(
        JournalError, match="cannot be merged with the plans before it: the merged plan: methods has 'random' twice"
    ):
        merge(tmp_path / "target.sqlite", [journal, other])
    with pytest.raises(ValueError, match="is among the sources"):
        merge(journal, [journal])
    with pytest.raises(ValueError, match="sources=.. must name at least one journal"):
        merge(tmp_path / "target.sqlite", [])
    assert not (tmp_path / "target.sqlite").exists()


def test_journals_of_other_data_are_not_merged(tmp_path):
    dataset = load("iris")
    plan = {"data": ["iris"], "methods": ["NoPS"], "folds": 2}
    run(plan, tmp_path / "a.sqlite", data=load)
    changed = Dataset("iris", "vectors", dataset.objects + 1, dataset.labels)
    run(plan | {"methods": ["FCNN"]}, tmp_path / "b.sqlite", data={"iris": changed})
    with pytest.raises(JournalError, match="the data 'iris' in '.*b.sqlite' differ in objects or labels"):
        merge(tmp_path / "c.sqlite", [tmp_path / "a.sqlite", tmp_path / "b.sqlite"])
    assert not (tmp_path / "c.sqlite").exists()
