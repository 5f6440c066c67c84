"""The benchmark data, where they are at hand: all files load, with the counts that are known of them."""

import csv
import gzip
import re

import numpy as np
import pytest

from protoset.datasets import DATASETS, find, load_dataset, read, write_rows

WITH_MISSING = {"bands": 539, "breast": 286, "cleveland": 303, "crx": 690, "dermatology": 366}
WITH_MISSING |= {"housevotes": 435, "mammographic": 961, "wisconsin": 699}
WITHOUT = {"bands": 365, "breast": 277, "crx": 653, "dermatology": 358, "housevotes": 232, "mammographic": 830}
WITHOUT |= {"wisconsin": 683}


def paper_table(data_folder, name):
    with (data_folder.parent / "paper" / name).open() as lines:
        return {row.pop("dataset"): {key: int(value) for key, value in row.items()} for row in csv.DictReader(lines)}


def n_classes(dataset):
    return len(np.unique(dataset.labels))


def test_all_vector_sets(data_folder):
    printed = paper_table(data_folder, "datasets_vector.csv")
    assert len(printed) == 34
    for name, row in printed.items():
        dataset = read(data_folder / "keel" / f"{name}.dat")
        assert dataset.name == name
        assert dataset.n_objects == WITHOUT.get(name, row["examples"])
        assert (
            dataset.objects.shape[1] == len(dataset.attributes) == (34 if name == "dermatology" else row["attributes"])
        )
        assert n_classes(dataset) == (6 if name == "glass" else row["classes"])
        assert dataset.kind == ("mixed" if dataset.categorical else "vectors")
        if dataset.kind == "vectors":
            assert np.isfinite(dataset.objects).all()


def test_all_sets_with_missing_values(data_folder):
    printed = paper_table(data_folder, "datasets_vector.csv")
    for name, n in WITH_MISSING.items():
        dataset = load_dataset(name, data_folder, missing=True)
        assert dataset.path == data_folder / "keel-missing" / f"{name}.dat"
        assert dataset.n_objects == n == (303 if name == "cleveland" else printed[name]["examples"])
        gaps = [sum(value is None or value != value for value in row) for row in dataset.objects.tolist()]
        whole = read(data_folder / "keel" / f"{name}.dat").n_objects
        assert gaps.count(0) == whole, name
    assert sorted(WITH_MISSING) == sorted(file.stem for file in (data_folder / "keel-missing").glob("*.dat"))


def test_all_series_sets(data_folder):
    printed = paper_table(data_folder, "datasets_ucr.csv")
    assert len(printed) == 27
    for paper_name, row in printed.items():
        record = find(paper_name)
        dataset = read(data_folder / "ucr" / record.name)
        assert dataset.kind == "series"
        assert dataset.n_train == row["train"]
        assert dataset.n_objects == row["train"] + row["test"]
        assert {series.shape for series in dataset.objects} == {(row["length"],)}
        assert n_classes(dataset) == row["classes"]


def test_the_registry_knows_the_files(data_folder):
    vectors, series = (paper_table(data_folder, f"datasets_{kind}.csv") for kind in ("vector", "ucr"))
    assert len(DATASETS) == len(vectors) + len(series) == 61
    for record in DATASETS.values():
        dataset = load_dataset(record.name, data_folder)
        assert dataset.kind == record.kind
        assert (dataset.n_objects, n_classes(dataset)) == (record.n_objects, record.n_classes)
        assert dataset.n_train == record.n_train
        assert tuple(dataset.categorical) == record.nominal
        assert {len(row) for row in dataset.objects} == {record.n_attributes}
        if record.archive == "keel":
            printed = vectors[record.paper_name]
            assert record.printed == (printed["examples"], printed["attributes"], printed["classes"])
            assert bool(record.note) == (record.printed != (record.n_objects, record.n_attributes, record.n_classes))
        else:
            printed = series[record.paper_name]
            assert record.printed == (record.n_objects, printed["length"], printed["classes"])
            assert (record.n_train, record.n_test) == (printed["train"], printed["test"])
        assert record.n_with_missing == WITH_MISSING.get(record.name)


def test_a_plain_reading_of_keel_agrees(data_folder):
    """All values of all files, against lines that are split by hand."""
    for path in sorted(data_folder.glob("keel*/*.dat")):
        text = path.read_text()
        rows = [line.replace(" ", "").split(",") for line in re.split(r"@data\n", text)[1].split("\n") if line.strip()]
        dataset = read(path)
        at = dataset.layout.target
        for row, values, label in zip(rows, dataset.objects.tolist(), dataset.labels.tolist(), strict=True):
            assert row.pop(at) == str(label)
            for written, value in zip(row, values, strict=True):
                if written in ("?", "<null>"):
                    assert value is None or value != value
                else:
                    assert written == value or float(written) == value


def test_a_plain_reading_of_series_agrees(data_folder):
    for name in ("GunPoint", "ECGFiveDays", "Trace"):
        dataset = read(data_folder / "ucr" / name)
        rows = []
        for part in ("TRAIN", "TEST"):
            with gzip.open(data_folder / "ucr" / name / f"{name}_{part}.tsv.gz", "rt") as lines:
                rows += [[float(value) for value in line.split("\t")] for line in lines]
        assert dataset.labels.tolist() == [row[0] for row in rows]
        assert [series.tolist() for series in dataset.objects] == [row[1:] for row in rows]


@pytest.mark.parametrize(("name", "shape", "classes"), [("letter", (20000, 16), 26), ("magic", (19020, 10), 2)])
def test_large_keel_files(data_folder, name, shape, classes):
    dataset = read(data_folder / "large" / f"{name}.dat")
    assert dataset.objects.shape == shape
    assert n_classes(dataset) == classes


def test_proteins(data_folder):
    folder = data_folder / "dissimilarity"
    dataset = read(folder / "protein_D.csv", labels=folder / "protein_labels.txt")
    assert dataset.kind == "matrix"
    assert dataset.objects.shape == (213, 213)
    assert n_classes(dataset) == 4
    np.testing.assert_array_equal(dataset.objects, np.loadtxt(folder / "protein_D.csv", delimiter=","))
    beside = read(folder / "protein_D.csv")
    assert beside.labels.tolist() == dataset.labels.tolist() == (folder / "protein_labels.txt").read_text().split()


def test_strings(data_folder):
    genes = read(data_folder / "strings" / "promotergene.tsv")
    assert genes.kind == "strings"
    assert genes.n_objects == 106
    assert sorted(set(genes.labels.tolist())) == ["+", "-"]
    assert {len(gene) for gene in genes.objects} == {57}
    names = read(data_folder / "strings" / "names")
    assert (names.n_objects, n_classes(names)) == (20050, 18)
    assert names.labels[names.objects.index("Ślusarski")] == "Polish"


def test_prototypes_of_every_format_come_back(data_folder, tmp_path):
    cases = [
        (data_folder / "keel" / "crx.dat", "x.dat"),
        (data_folder / "keel-missing" / "housevotes.dat", "y.dat.gz"),
        (data_folder / "keel" / "glass.dat", "z.dat"),
        (data_folder / "ucr" / "Plane", "plane.tsv.gz"),
        (data_folder / "strings" / "promotergene.tsv", "genes.tsv"),
        (data_folder / "strings" / "names", "names.tsv"),
        (data_folder / "dissimilarity" / "protein_D.csv", "part.csv"),
    ]
    for source, name in cases:
        dataset = read(source)
        rows = np.random.default_rng(0).permutation(dataset.n_objects)[:30]
        write_rows(dataset, rows, tmp_path / name)
        again = read(tmp_path / name)
        assert again.labels.tolist() == dataset.labels[rows].tolist()
        assert again.attributes == dataset.attributes
        if dataset.kind == "matrix":
            np.testing.assert_array_equal(again.objects, dataset.objects[np.ix_(rows, rows)])
        else:
            for found, row in zip(again.objects, rows, strict=True):
                assert np.array_equal(found, dataset.objects[row])
