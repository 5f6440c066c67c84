"""Tables as people have them: what the command says about them, and whether its numbers mean what they say."""

import csv
import io
import itertools
import zipfile

import numpy as np
import pandas as pd
import pytest

from protoset import REPS, PrototypeClassifier, Refined
from protoset.datasets import read
from protoset.exceptions import DataError, DoubtfulDataWarning
from protoset.experiments import compare, validate
from protoset.models import fit_model

import honest_tables
from cli_cases import run, run_json

REFERENCES = ["guess", "NoPS", "kNN"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    for table in ("titanic", "penguins", "weather", "names", "patients", "rare_class", "coin_flips"):
        (folder / f"{table}.csv").write_text(honest_tables.as_csv(*getattr(honest_tables, table)()))
    return folder


def shuffled(header, rows, seed=0):
    order = np.random.default_rng(seed).permutation(len(rows))
    return honest_tables.as_csv(header, [rows[row] for row in order])


def read_text(text, folder, **options):
    path = folder / "made.csv"
    path.write_text(text)
    return read(path, **options)


def test_the_index_of_penguins_is_no_attribute(folder):
    """Sorted by species, the row number alone would tell the species: an error of 0."""
    document = run_json("select", "penguins.csv", "--target", "species", cwd=folder)
    assert document["data"]["roles"]["left_out"] == {"column 1": "unique"}
    error, beside = document["cross_validation"]["error"], document["references"]
    assert 0.005 < error < 0.06
    assert beside["guess"] == pytest.approx(192 / 344)
    assert 0.005 < beside["knn"] <= beside["nearest"] < 0.06
    told = run_json("select", "penguins.csv", "--target", "species", "--use", "column 1", cwd=folder)
    assert told["cross_validation"]["error"] < error


def test_shuffled_penguins_have_the_same_roles(folder):
    roles = "used: 5 numeric, 2 categorical; left out: column 1 (unique)"
    assert read(folder / "penguins.csv", target="species").roles == roles
    assert read_text(shuffled(*honest_tables.penguins()), folder, target="species").roles == roles


def test_ties_on_the_titanic(folder):
    """Three categories, 2,201 people, 24 kinds of them: equal distances must not go by the order of the rows."""
    result = run("select", "titanic.csv", "--target", "survived", cwd=folder)
    assert "used: 3 categorical\n" in result.stdout
    dataset = read(folder / "titanic.csv", target="survived")
    errors = compare(dataset, ["guess", "NoPS", "kNN", "REPS", "refined"]).errors.mean(axis=0)
    assert errors[0] == pytest.approx(711 / 2201, abs=0.001)
    assert (errors[1:] <= 0.25).all()


@pytest.mark.parametrize(
    ("method", "size"),
    [
        ("REPS", 8),
        ("REPS", "auto"),
        ("refined", 8),
        ("refined", "auto"),
        ("RandomSelector", 8),
        ("KMedoids", 8),
        ("ENN", "auto"),
    ],
)
def test_identical_prototypes_of_a_class_are_one(folder, method, size):
    dataset = read(folder / "titanic.csv", target="survived")
    kept = fit_model(dataset, method, **({"n_prototypes": size} if size != "auto" else {})).sample_indices_
    assert len({(*dataset.objects[row], dataset.labels[row]) for row in kept}) == len(kept)


@pytest.mark.parametrize("table", ["titanic", "penguins", "patients", "coin_flips"])
def test_the_order_of_the_rows_changes_no_error(table, tmp_path):
    header, rows = getattr(honest_tables, table)()
    target = {"titanic": "survived", "penguins": "species"}.get(table)
    methods = [*REFERENCES, "REPS"]
    expected, got = (
        compare(read_text(text, tmp_path, target=target), methods).errors
        for text in (honest_tables.as_csv(header, rows), shuffled(header, rows))
    )
    np.testing.assert_allclose(got, expected, atol=1e-12)


def test_weather_has_dates_thousands_and_per_cent(folder):
    result = run("select", "weather.csv", cwd=folder)
    assert result.returncode == 2
    assert "There are date, station, pressure, humidity, wind, note, rain" in result.stderr
    assert "--target" in result.stderr
    dataset = read(folder / "weather.csv", target="rain")
    assert dataset.roles == (
        "used: 2 numeric (pressure with thousands, humidity in %), 1 categorical, 1 date (days); "
        "left out: station (constant), note (text)"
    )
    first = dataset.objects[0]
    assert first[0] == 19358  # days from 1970-01-01 to 2023-01-01
    row = honest_tables.weather()[1][0]
    assert (first[1], first[2]) == (float(row[2].replace(",", "")), float(row[3].removesuffix(" %")))
    beside = validate(dataset)
    assert beside.estimate.error < 0.5 * beside.references.guess.error


def test_names_are_strings_if_the_user_says_so(folder):
    result = run("select", "names.csv", cwd=folder)
    assert result.returncode == 2
    assert "name (text)" in result.stderr
    assert "--text='name'" in result.stderr
    document = run_json("select", "names.csv", "--text", "name", "--n-prototypes", "12", cwd=folder)
    assert document["metric"] == "levenshtein"
    assert document["cross_validation"]["error"] < 0.2
    assert document["cross_validation"]["at_this_size"] is True


def test_ids_of_patients_are_carried_through(folder, tmp_path):
    files = ["--model", tmp_path / "model", "--output", tmp_path / "kept.csv", "--report", tmp_path / "page.html"]
    result = run("select", "patients.csv", "--n-prototypes", "3", *files, cwd=folder)
    assert "used: 2 numeric; left out: id (unique), note (text)\n" in result.stdout
    assert "error in cross-validation at this size: " in result.stdout
    kept = list(csv.DictReader(io.StringIO((tmp_path / "kept.csv").read_text())))
    rows = {row[0]: row for row in honest_tables.patients()[1]}
    for row in kept:
        assert [row["note"], row["class"]] == [rows[row["id"]][4], rows[row["id"]][1]]
    ids = {row["id"] for row in kept}
    page = (tmp_path / "page.html").read_text()
    assert all(f'"{name}"' in page for name in ids)
    predicted = run("predict", tmp_path / "model", "patients.csv", "-q", cwd=folder).stdout
    table = list(csv.DictReader(io.StringIO(predicted)))
    assert list(table[0]) == ["id", "prediction", "probability", "prototype", "distance"]
    assert [row["id"] for row in table] == list(rows)
    assert {row["prototype"] for row in table} == ids
    explained = run("explain", tmp_path / "model", "patients.csv", "--id", "P0007", cwd=folder).stdout
    assert explained.startswith("id P0007 is taken for ")
    assert "marker_a" in explained


def test_a_target_with_as_many_values_as_rows_is_refused(folder):
    with pytest.raises(DataError, match="120 different labels in 120 rows"):
        read(folder / "patients.csv", target="note")


def test_labels_without_meaning_are_no_better_than_guessing(folder):
    for command in ("select", "evaluate"):
        result = run(command, "coin_flips.csv", cwd=folder)
        assert "no better than always answering 'tails' (0.435)" in result.stdout
    assert run_json("select", "coin_flips.csv", cwd=folder)["no_better_than_guessing"] is True
    assert validate(read(folder / "coin_flips.csv")).no_better_than_guessing
    assert not validate(read(folder / "penguins.csv", target="species")).no_better_than_guessing


@pytest.mark.slow
def test_a_rare_class_is_found_if_it_counts_as_much():
    selectors = [Refined(REPS(0.05)), Refined(REPS(0.05, class_weight="balanced")), REPS(1.0)]
    recalls = np.empty((3, len(selectors)))
    for seed, selector in itertools.product(range(3), range(len(selectors))):
        _, rows = honest_tables.rare_class(seed=seed)
        objects, labels = np.array([row[:2] for row in rows], float), np.array([row[2] for row in rows])
        classifier = PrototypeClassifier(selectors[selector]).fit(objects[::2], labels[::2])
        rare = np.flatnonzero(labels[1::2] == "rare")
        recalls[seed, selector] = np.mean(classifier.predict(objects[1::2][rare]) == "rare")
    plain, balanced, everything = np.mean(recalls, axis=0)
    assert balanced > everything + 0.1
    assert balanced > plain + 0.1


def test_distances_with_names(tmp_path):
    rng = np.random.default_rng(0)
    names = [f"protein {number}" for number in range(24)]
    points = rng.normal(size=(24, 2)) + 3 * (np.arange(24) % 2)[:, None]
    matrix = pd.DataFrame(np.linalg.norm(points[:, None] - points, axis=2), names, names)
    matrix.to_csv(tmp_path / "distances.csv")
    order = rng.permutation(24)
    labels = "".join(f"{names[row]}\t{'globin' if row % 2 else 'other'}\n" for row in order)
    (tmp_path / "labels.txt").write_text(labels)
    dataset = read(tmp_path / "distances.csv", labels=tmp_path / "labels.txt")
    assert dataset.kind == "matrix"
    assert dataset.ids.tolist() == names
    assert dataset.labels.tolist() == ["globin" if row % 2 else "other" for row in range(24)]
    phylip = "24\n" + "".join(
        f"p{row:<9}{' '.join(f'{value:.4f}' for value in matrix.to_numpy()[row])}\n" for row in range(24)
    )
    (tmp_path / "distances.phy").write_text(phylip)
    named = {f"p{row}": "globin" if row % 2 else "other" for row in range(24)}
    read_again = read(tmp_path / "distances.phy", labels=named)
    assert read_again.ids.tolist() == list(named)
    np.testing.assert_allclose(read_again.objects, dataset.objects, atol=1e-4)
    assert validate(dataset, "REPS", n_prototypes=2).estimate.error < 0.2


def test_a_thousand_classes_and_thousands_of_categories_are_doubtful():
    rng = np.random.default_rng(0)
    with pytest.warns(DoubtfulDataWarning, match="1,?000 classes"):
        REPS(1000).fit(rng.normal(size=(2000, 2)), np.arange(2000) % 1000)
    table = pd.DataFrame({"name": pd.Categorical([f"{n}" for n in range(300)]), "size": rng.normal(size=300)})
    with pytest.warns(DoubtfulDataWarning, match="name"):
        REPS(0.1).fit(table, np.arange(300) % 2)


def test_a_file_that_is_not_read_is_refused_by_name(tmp_path):
    with zipfile.ZipFile(tmp_path / "penguins.xlsx", "w") as workbook:
        workbook.writestr("xl/workbook.xml", "<workbook/>")
    with pytest.raises(DataError, match=r"penguins.xlsx.*Excel.*CSV"):
        read(tmp_path / "penguins.xlsx")
