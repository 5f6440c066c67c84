"""``protoset predict`` and ``protoset explain``: columns, ids, and how objects differ."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

import protoset
from protoset.datasets import Attribute, Dataset
from protoset.models import as_model, fit_model

pytest.importorskip("typer", reason="no typer: pip install 'protoset[cli]'")

from protoset.cli import explain as explain_command
from protoset.cli import main
from protoset.cli import predict as predict_command

N_ATTRIBUTES = 14
NAMES = [f"x{position}" for position in range(N_ATTRIBUTES)]


def table(n=40, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = (rng.normal(size=(n, N_ATTRIBUTES)) * np.arange(1, N_ATTRIBUTES + 1) + 2 * y[:, None]).round(2)
    columns = tuple(Attribute(name, "real") for name in NAMES)
    ids = np.array([f"=cell{row}" if row % 5 == 0 else f"plant {row}" for row in range(n)])
    return Dataset("table", "vectors", X, np.array(["dry", "wet"])[y], columns, ids=ids)


def answer(capsys, *words):
    """Run the command in this process; (code, out, err)."""
    code = main([str(word) for word in words])
    return code, *capsys.readouterr()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A model with ids, a model without, both of prototypes that did not move, and a table of queries."""
    dataset = table()
    protoset.save(fit_model(dataset, n_prototypes=6, adapt=False), tmp_path / "ids.protoset")
    protoset.save(fit_model(replace(dataset, ids=None), n_prototypes=6, adapt=False), tmp_path / "rows.protoset")
    with open(tmp_path / "queries.csv", "w", newline="") as file:
        csv.writer(file).writerows([NAMES, *table(12, seed=1).objects.tolist()])
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def ids(monkeypatch):
    """Ids of the queries, as a file with a column of ids has them."""
    names = np.array(["=first", "b", "c", "c", *(f"query {row}" for row in range(4, 12))])
    for command in (predict_command, explain_command):
        monkeypatch.setattr(
            command,
            "read_for",
            lambda *arguments, read=command.read_for, **options: replace(read(*arguments, **options), ids=names),
        )
    return names


def test_predictions_agree_with_the_library(folder, capsys):
    code, out, err = answer(capsys, "predict", "rows.protoset", "queries.csv")
    assert (code, err) == (0, "")
    rows = list(csv.DictReader(out.splitlines()))
    assert list(rows[0]) == ["row", "prediction", "probability", "prototype", "distance"]
    model, queries = protoset.load("rows.protoset"), table(12, seed=1).objects
    shown = model.explain(queries, 1)
    assert [int(row["row"]) for row in rows] == list(range(12))
    assert [row["prediction"] for row in rows] == model.predict(queries).tolist()
    shares = [float(row["probability"]) for row in rows]
    np.testing.assert_allclose(shares, model.predict_proba(queries).max(axis=1), atol=5e-5)
    assert [int(row["prototype"]) for row in rows] == shown.indices[:, 0].tolist()
    np.testing.assert_allclose([float(row["distance"]) for row in rows], shown.distances[:, 0], rtol=1e-5)
    document = json.loads(answer(capsys, "predict", "rows.protoset", "queries.csv", "--json")[1])
    assert [{name: str(value) for name, value in row.items()} for row in document["predictions"]] == rows
    assert "n_errors" not in document


def test_chosen_columns(folder, capsys):
    for columns in ("row,prediction", "prediction", "distance,prototype,row", "probability"):
        code, out, _ = answer(capsys, "predict", "ids.protoset", "queries.csv", "--columns", columns)
        assert code == 0
        assert out.splitlines()[0] == columns
        document = json.loads(
            answer(capsys, "predict", "ids.protoset", "queries.csv", "--columns", columns, "--json")[1]
        )
        assert [",".join(row) for row in document["predictions"]] == [columns] * 12
    for columns, message in [
        ("row,colour,prediction,size", r"there is no ['colour', 'size']; choose from ['id', 'row', 'prediction',"),
        ("row,row", "names a column twice"),
        ("", "there is no ['']"),
        ("id,prediction", "the file has no ids; name the column row instead"),
    ]:
        code, out, err = answer(capsys, "predict", "ids.protoset", "queries.csv", "--columns", columns)
        assert (code, out) == (2, "")
        assert message in err


def test_ids_of_queries_and_prototypes(folder, ids, capsys):
    code, out, _ = answer(capsys, "predict", "ids.protoset", "queries.csv")
    rows = list(csv.DictReader(out.splitlines()))
    assert code == 0
    assert next(iter(rows[0])) == "id"
    assert [row["id"] for row in rows] == ids.tolist()
    model, names = protoset.load("ids.protoset"), table().ids
    shown = model.explain(table(12, seed=1).objects, 1)
    assert [row["prototype"] for row in rows] == names[shown.indices[:, 0]].tolist()
    _, out, _ = answer(
        capsys, "predict", "ids.protoset", "queries.csv", "--spreadsheet-safe", "--columns", "id,prototype"
    )
    safe = [[f"'{text}" if text.startswith("=") else text for text in (row["id"], row["prototype"])] for row in rows]
    assert list(csv.reader(out.splitlines()))[1:] == safe
    _, out, _ = answer(capsys, "predict", "ids.protoset", "queries.csv", "--columns", "row,id")
    assert out.splitlines()[1] == "0,=first"


def test_explanations_by_row_and_by_id(folder, ids, capsys):
    by_row = answer(capsys, "explain", "ids.protoset", "queries.csv", "--row", 1, "--json")
    by_id = answer(capsys, "explain", "ids.protoset", "queries.csv", "--id", "b", "--json")
    assert by_row == by_id
    document = json.loads(by_id[1])
    assert (document["row"], document["id"]) == (1, "b")
    names = table().ids
    shown = protoset.load("ids.protoset").explain(table(12, seed=1).objects[1:2])
    assert [prototype["id"] for prototype in document["prototypes"]] == names[shown.indices[0]].tolist()
    assert "degradation" not in by_id[1]
    text = answer(capsys, "explain", "ids.protoset", "queries.csv", "--id", "b")[1]
    assert text.startswith(f"id b is taken for {shown.labels[0, 0]}, by these prototypes:\nid ")
    for words, message in [
        (["--id", "z"], "--id 'z' is not among the ids of the file"),
        (["--id", "qery 5"], "did you mean 'query 5'"),
        (["--id", "c"], "--id 'c' is the id of 2 rows (2, 3); choose one of them with --row"),
        (["--id", "b", "--row", "1"], "pass either --row NUMBER or --id ID"),
        ([], "pass either --row NUMBER or --id ID"),
        (["--row", "12"], "has the rows 0 to 11"),
        (["--row", "-1"], "has the rows 0 to 11"),
    ]:
        code, out, err = answer(capsys, "explain", "ids.protoset", "queries.csv", *words)
        assert (code, out) == (2, ""), words
        assert message in err


def test_ids_are_refused_where_there_are_none(folder, capsys):
    code, _, err = answer(capsys, "explain", "ids.protoset", "queries.csv", "--id", "b")
    assert code == 2
    assert "the file has no ids; use --row NUMBER" in err


def test_values_and_shares_of_attributes(folder, capsys):
    document = json.loads(answer(capsys, "explain", "rows.protoset", "queries.csv", "--row", 3, "--json")[1])
    attributes = document["comparison"]["attributes"]
    query = table(12, seed=1).objects[3]
    prototype = table().objects[document["prototypes"][0]["row"]]
    at = [NAMES.index(attribute["name"]) for attribute in attributes]
    assert sorted(at) == list(range(N_ATTRIBUTES))
    assert [attribute["query"] for attribute in attributes] == query[at].tolist()
    assert [attribute["prototype"] for attribute in attributes] == prototype[at].tolist()
    width = protoset.load("rows.protoset").preparation.width
    terms = ((query - prototype) / width) ** 2
    np.testing.assert_allclose([attribute["share"] for attribute in attributes], terms[at] / terms.sum())
    assert np.sqrt(terms.sum()) == pytest.approx(document["comparison"]["distance"])
    assert document["comparison"]["distance"] == document["prototypes"][0]["distance"]

    lines = answer(capsys, "explain", "rows.protoset", "queries.csv", "--row", 3)[1].splitlines()
    first = lines.index("") + 3
    shown = [line.split() for line in lines[first : first + 10]]
    expected = [[NAMES[position], f"{query[position]:.12g}", f"{prototype[position]:.12g}"] for position in at[:10]]
    assert [cells[:3] for cells in shown] == expected
    rest = terms[at[10:]].sum() / terms.sum()
    assert lines[first + 10 :] == [f"4 more, {100 * rest:.1f} % of the distance; --all shows them"]
    every = answer(capsys, "explain", "rows.protoset", "queries.csv", "--row", 3, "--all")[1].splitlines()
    assert len(every) == first + N_ATTRIBUTES


def test_a_metric_without_shares_shows_the_values(folder, capsys):
    protoset.save(fit_model(table(), n_prototypes=6, metric="chebyshev"), "chebyshev.protoset")
    out = answer(capsys, "explain", "chebyshev.protoset", "queries.csv", "--row", 0)[1]
    assert "Values; the metric chebyshev has no share for each attribute:" in out
    assert "%" not in out
    assert out.endswith("4 more; --all shows them\n")
    document = json.loads(answer(capsys, "explain", "chebyshev.protoset", "queries.csv", "--row", 0, "--json")[1])
    assert {attribute["share"] for attribute in document["comparison"]["attributes"]} == {None}
    X = table().objects
    angular = protoset.PrototypeClassifier(protoset.REPS(6, metric="cosine")).fit(X, table().labels)
    protoset.save(as_model(angular), "cosine.protoset")
    out = answer(capsys, "explain", "cosine.protoset", "queries.csv", "--row", 0)[1]
    assert "prototype " not in out.split("\n\n")[1]


def test_degradations_are_shown_where_the_rule_uses_them(folder, capsys):
    for rule in ("nearest", "adjusted"):
        protoset.save(fit_model(table(), "REPS", n_prototypes=6, rule=rule), f"{rule}.protoset")
        text = answer(capsys, "explain", f"{rule}.protoset", "queries.csv", "--row", 0)[1]
        document = json.loads(answer(capsys, "explain", f"{rule}.protoset", "queries.csv", "--row", 0, "--json")[1])
        assert ("degradation" in text) == (rule == "adjusted")
        assert ("degradation" in document["prototypes"][0]) == (rule == "adjusted")
        assert ("adjusted rank" in document["prototypes"][0]) == (rule == "adjusted")


def test_series_strings_and_matrices(folder, capsys):
    t = np.linspace(0, 1, 40)
    peaks = [np.exp(-(((t - 0.3 - 0.01 * row) / (0.05 + 0.05 * (row % 2))) ** 2)) for row in range(20)]
    protoset.save(fit_model(Dataset("s", "series", peaks, np.arange(20) % 2), n_prototypes=2), "series.protoset")
    np.savetxt("series.tsv", np.column_stack([[0], [peaks[0] * 1.5]]), delimiter="\t")
    out = answer(capsys, "explain", "series.protoset", "series.tsv", "--row", 0)[1]
    assert "40 points against 40 of the first: " in out
    assert "Where the distance of " in out
    assert "points of the query" in out
    document = json.loads(answer(capsys, "explain", "series.protoset", "series.tsv", "--row", 0, "--json")[1])
    comparison = document["comparison"]
    assert comparison["path"][0] == [0, 0]
    assert comparison["path"][-1] == [39, 39]
    assert np.sqrt(sum(comparison["costs"])) == pytest.approx(comparison["distance"])

    pytest.importorskip("rapidfuzz")
    words = ["kitten", "mitten", "bitten", "sunday", "monday", "friday"]
    model = fit_model(Dataset("w", "strings", words, np.array(list("kkksss"))), "REPS", n_prototypes=2)
    protoset.save(model, "words.protoset")
    prototype = words[model.explain(["sitting"]).indices[0, 0]]
    (folder / "words.txt").write_text("sitting\n" + "sitting" * 70 + "\n")
    out = answer(capsys, "explain", "words.protoset", "words.txt", "--row", 0)[1]
    assert out.endswith(
        "\nFrom the query to the first: 1 delete (-), 2 replace (~)\n"
        f"query      sitting\n           ~   ~ -\nprototype  {prototype}·\n"
    )
    out = answer(capsys, "explain", "words.protoset", "words.txt", "--row", 1)[1]
    assert out.endswith("90 more symbols; --all shows them\n")
    assert "more symbols" not in answer(capsys, "explain", "words.protoset", "words.txt", "--row", 1, "--all")[1]

    distances = np.abs(np.subtract.outer(np.arange(20.0) ** 1.5, np.arange(20.0) ** 1.5))
    model = fit_model(Dataset("m", "matrix", distances, np.arange(20) // 10), n_prototypes=4)
    protoset.save(model, "matrix.protoset")
    np.savetxt("rows.csv", distances[:2], delimiter=",")
    out = answer(capsys, "explain", "matrix.protoset", "rows.csv", "--row", 1)[1]
    assert len(out.splitlines()) == 5
    document = json.loads(answer(capsys, "explain", "matrix.protoset", "rows.csv", "--row", 1, "--json")[1])
    assert document["comparison"] == {"distance": document["prototypes"][0]["distance"]}


def test_values_are_shown_as_the_training_file_writes_them(tmp_path, monkeypatch, capsys):
    """Dates, percents and thousands; ids of the prototypes where nothing is written."""
    monkeypatch.chdir(tmp_path)
    lines = [
        f'P{row},{1 + row:02}/03/2020,{row}%,"{3000 + 7 * row:,}",{"wet" if row > 12 else "dry"}' for row in range(24)
    ]
    (tmp_path / "days.csv").write_text("\n".join(["id,day,share,height,class", *lines]) + "\n")
    words = ("select", "days.csv", "--n-prototypes", "2", "--metric", "gower", "--no-error", "--no-adapt")
    code, out, _ = answer(capsys, *words)
    names = out.splitlines()[-1].removeprefix("ids: ").split(", ")
    document = json.loads(answer(capsys, *words, "--json")[1])
    assert (code, document["ids"]) == (0, names)
    assert [f"P{row}" for row in document["rows"]] == names
    assert answer(capsys, *words, "--model", "days.protoset")[0] == 0
    _, out, _ = answer(capsys, "explain", "days.protoset", "days.csv", "--id", "P5")
    values = {line.split()[0]: line.split()[1:3] for line in out.splitlines()[-3:]}
    decided = int(out.splitlines()[2].split()[0].removeprefix("P"))
    assert values == {
        "day": ["06/03/2020", f"{1 + decided:02}/03/2020"],
        "share": ["5%", f"{decided}%"],
        "height": ["3,035", f"{3000 + 7 * decided:,}"],
    }
    shown = json.loads(answer(capsys, "explain", "days.protoset", "days.csv", "--id", "P5", "--json")[1])
    in_json = {row["name"]: row["query"] for row in shown["comparison"]["attributes"]}
    assert in_json == {"day": "06/03/2020", "share": 5, "height": 3035}
