"""Matrices with names: of pandas, of R and of PHYLIP; labels and queries by name; rows written with their names."""

import io
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist, squareform

from dataset_cases import letters
from protoset import load, save
from protoset.datasets import Dataset, read, read_queries, write_rows
from protoset.datasets.formats import recognise
from protoset.datasets.matrices import read_matrix_csv, write_matrix_csv
from protoset.datasets.phylip import read_phylip, write_phylip
from protoset.exceptions import DataError
from protoset.models import fit_model

from cli_cases import run

pandas = pytest.importorskip("pandas", reason="no pandas: pip install pandas")

POINTS = np.random.default_rng(0).normal(size=(12, 2)) + np.repeat([[0, 0], [4, 4]], 6, axis=0)
D = squareform(pdist(POINTS))
NAMES = [f"{genus} {number}" for genus in ("Pan", "Homo, s.") for number in range(6)]
LABELS = ["ape"] * 6 + ["man"] * 6
BY_NAME = dict(zip(NAMES, LABELS, strict=True))


def frame(matrix=D, names=NAMES, columns=NAMES):
    return pandas.DataFrame(matrix, index=names, columns=columns)


def assert_read(dataset, labels=LABELS):
    assert dataset.kind == "matrix"
    np.testing.assert_array_equal(dataset.objects, D)
    assert dataset.ids.tolist() == NAMES
    assert dataset.labels.tolist() == labels


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_matrix_as_pandas_writes_it(tmp_path, separator):
    order = np.random.default_rng(1).permutation(12)
    texts = {
        "both": frame().to_csv(sep=separator),
        "corner": frame().to_csv(sep=separator, index_label="name"),
        "columns in another order": frame(D[:, order], columns=np.array(NAMES)[order]).to_csv(sep=separator),
        "columns alone": frame().to_csv(sep=separator, index=False),
        "rows alone": frame().to_csv(sep=separator, header=False),
    }
    if separator == ";":
        texts["decimal commas"] = frame().to_csv(sep=separator, decimal=",")
    for text in texts.values():
        (tmp_path / "d.csv").write_text(text)
        assert_read(read(tmp_path / "d.csv", labels=LABELS))
        assert_read(read(tmp_path / "d.csv", kind="matrix", labels=BY_NAME))
    # With both names it is known for a matrix without any option, and asks for labels.
    for text in list(texts.values())[:3]:
        with pytest.raises(DataError, match=r"stream: a matrix of distances has no labels; pass labels="):
            read(io.StringIO(text))
    (tmp_path / "d_labels.txt").write_text("\n".join(LABELS))
    assert_read(read(tmp_path / "d.csv"))


def test_a_matrix_as_r_writes_it(tmp_path):
    """write.table leaves the corner out; names are in quotes, and there are spaces between the fields."""
    names = [name.replace(" ", "_") for name in NAMES]
    quoted = [f'"{name}"' for name in NAMES]
    for these, expected in ((names, names), (quoted, NAMES)):
        rows = [" ".join([name, *map(repr, row)]) for name, row in zip(these, D.tolist(), strict=True)]
        (tmp_path / "d.txt").write_text("\n".join([" ".join(these), *rows]) + "\n")
        dataset = read(tmp_path / "d.txt", labels=LABELS)
        assert dataset.ids.tolist() == expected
        np.testing.assert_array_equal(dataset.objects, D)


def test_names_that_are_numbers():
    """As pandas names rows and columns by default."""
    dataset = read_matrix_csv(pandas.DataFrame(D).to_csv(), labels=LABELS)
    assert dataset.ids.tolist() == [str(number) for number in range(12)]
    dataset = read_matrix_csv(pandas.DataFrame(D).to_csv(index_label="n"), labels=LABELS)
    assert dataset.ids.tolist() == [str(number) for number in range(12)]


def test_a_table_stays_a_table():
    """A column of labels, names that differ, or another number of rows: no matrix."""
    for text in (
        ",a,b,class\na,0,1,u\nb,1,0,v\n",
        ",a,b\nx,0,1\ny,1,0\n",
        ",a,b\na,0,1\nb,1,0\nc,2,2\n",
        "a,b,c\n1,2,u\n3,4,v\n",
    ):
        assert recognise(Path("t.csv"), text.encode(), labels=None, kind=None).name == "csv"


def test_labels_by_name(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text(frame().to_csv())
    shuffled = random.Random(0).sample(list(BY_NAME.items()), 12)
    quoted = [f'"{name}",{label}' for name, label in shuffled]
    for lines in (
        [f"{name}\t{label}" for name, label in shuffled],
        [f"{name};{label}" for name, label in shuffled],
        quoted,
        ["name,label", *quoted, "stranger,elf"],
    ):
        (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n")
        assert_read(read(path, labels=tmp_path / "labels.csv"))
        assert_read(read(path, labels=lines))
    path.write_text(frame(names=range(12), columns=range(12)).to_csv())
    assert read(path, labels=[f"{11 - row} {row}" for row in range(12)]).labels.tolist() == list(range(12))[::-1]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a\tu", "b\tv"], r"x: expected a label for each name, found none for c, d"),
        (["a\tu", "b\tv", "c\tu", "D\tv"], r"found none for d \(did you mean 'D'\?\)"),
        (["a\tu", "b\tv", "c\tu", "d\tv", "a\tu"], r"expected one label for each name, found several for a"),
        ({"a": "u"}, r"expected a label for each name, found none for b, c, d"),
        (["u", "v"], r"expected 4 labels, one per object, found 2"),
        (["a\t", "b\tv", "c\tv", "d\tv"], r"expected a label for each object, found none for object 0"),
    ],
)
def test_labels_that_do_not_fit(lines, message):
    text = frame(D[:4, :4], list("abcd"), list("abcd")).to_csv()
    with pytest.raises(DataError, match=message):
        read_matrix_csv(text, file="x", labels=lines)
    with pytest.raises(DataError, match=r"x: labels= are by name, but the matrix has no names"):
        read_matrix_csv("0,1\n1,0\n", file="x", labels={"a": "u"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",a,b\na,0,1\nc,1,0\n", r"expected the same names for rows and columns; c is not among the columns"),
        (",a,b\na,0,1\na,1,0\n", r"expected a name of its own for each of the rows, found a twice"),
        (",a,a\na,0,1\nb,1,0\n", r"expected a name of its own for each of the columns, found a twice"),
        (",a,b\na,0,1\n,1,0\n", r"expected a name for each of the rows, found an empty one"),
        ("a 1 b 2\n0 1\n1 0\n", r"expected a name for each of the 2 columns of distances, found 4; names with spaces"),
        (",a,b,c\na,0,1,2\nb,1,0,3\n", r"expected as many rows as columns, found 2 rows and 3 columns"),
        (",a,b\na,0,1\nb,1\n", r"line 3: expected 2 distances as in the first row, found 1"),
        (",a,b\na,0,1\nb,1,x\n", r"line 3: expected a distance in column 3, found 'x'"),
        (",a,b\na,0,1\nb,,0\n", r"line 3: expected a distance in column 2, found ''"),
        (",a,b\na,0,1\nb,nan,0\n", r"expected a distance from object 1 to 0, found NaN"),
        (",a,b\n", r"expected rows of distances after the names, found none"),
    ],
)
def test_what_is_wrong(text, message):
    with pytest.raises(DataError, match=message):
        read_matrix_csv(text, file="x", labels=["u", "v"])


@st.composite
def named_matrices(draw):
    n = draw(st.integers(1, 5))
    values = st.floats(0, 1e9, allow_nan=False)
    matrix = squareform(np.array(draw(st.lists(values, min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2)) or [0.0]))
    matrix = matrix[:n, :n]
    name = st.text(letters, min_size=1, max_size=14).map(lambda text: " ".join(text.split())).filter(bool)
    names = draw(st.lists(name, min_size=n, max_size=n, unique=True))
    return Dataset("made", "matrix", matrix, np.array([f"l{row}" for row in range(n)]), ids=np.array(names))


@given(named_matrices())
@settings(max_examples=200)
def test_round_trip(dataset):
    labels = dataset.labels.tolist()
    for read_text, write_text in ((read_matrix_csv, write_matrix_csv), (read_phylip, write_phylip)):
        again = read_text(write_text(dataset), labels=labels)
        np.testing.assert_array_equal(again.objects, dataset.objects)
        assert again.ids.tolist() == dataset.ids.tolist()
        np.testing.assert_array_equal(read_text(write_text(again), labels=labels).objects, dataset.objects)


SQUARE = """    5
Alpha      0.000 1.000 2.000 3.000 3.000
Beta       1.000 0.000 2.000 3.000 3.000
Gamma      2.000 2.000 0.000 3.000 3.000
Delta      3.000 3.000 3.000 0.000 1.000
Epsilon    3.000 3.000 3.000 1.000 0.000
"""
LOWER = "5\nAlpha\nBeta 1\nGamma 2 2\nDelta 3 3 3\nEpsilon 3 3 3 1\n"
PHYLIP = {
    "square": SQUARE,
    "lower": LOWER,
    "lower with diagonal": "5\nAlpha 0\nBeta 1 0\nGamma 2 2 0\nDelta 3 3 3 0\nEpsilon 3 3 3 1 0\n",
    "upper": "5\nAlpha 1 2 3 3\nBeta 2 3 3\nGamma 3 3\nDelta 1\nEpsilon\n",
    "wrapped": SQUARE.replace("2.000 3", "2.000\n  3").replace("3.000 3.000\n", "3.000\n   3.000\n"),
    "tabs": LOWER.replace(" ", "\t"),
    "Windows": SQUARE.replace("\n", "\r\n") + "\r\n\r\n",
}


@pytest.mark.parametrize("name", PHYLIP)
@pytest.mark.parametrize("ending", [".phy", ".dist", ".txt", ""])
def test_phylip(tmp_path, name, ending):
    """The example of PHYLIP's documentation, in all its forms."""
    path = tmp_path / f"d{ending}"
    path.write_bytes(PHYLIP[name].encode())
    (tmp_path / "d_labels.txt").write_text("u\nu\nu\nv\nv\n")
    dataset = read(path)
    assert dataset.ids.tolist() == ["Alpha", "Beta", "Gamma", "Delta", "Epsilon"]
    assert squareform(dataset.objects).tolist() == [1, 2, 3, 3, 2, 3, 3, 3, 3, 1]
    assert dataset.labels.tolist() == ["u", "u", "u", "v", "v"]
    write_rows(dataset, [4, 0], tmp_path / f"kept{ending}")
    text = (tmp_path / f"kept{ending}").read_text()
    is_square = name in ("square", "wrapped", "Windows")
    assert text == ("2\nEpsilon    0.0 3.0\nAlpha      3.0 0.0\n" if is_square else "2\nEpsilon\nAlpha      3.0\n")
    assert read(tmp_path / f"kept{ending}", kind="matrix").ids.tolist() == ["Epsilon", "Alpha"]
    assert (tmp_path / "kept_labels.txt").read_text() == "v\nu\n"


def test_strict_names_have_ten_characters():
    """They may hold spaces and numbers, and the distances may follow at once."""
    for rows, expected in (
        (["Homo sap. 0.0 0.5", "Homo nean.0.5 0.0"], ["Homo sap.", "Homo nean."]),
        (["Sample 1  0.0 0.5", "Sample 2  0.5 0.0"], ["Sample 1", "Sample 2"]),
        (["Sample 1", "Sample 2  0.5"], ["Sample 1", "Sample 2"]),
        (["1         0.0 0.5", "2         0.5 0.0"], ["1", "2"]),
    ):
        dataset = read_phylip("\n".join(["2", *rows]), labels=["u", "v"])
        assert dataset.ids.tolist() == expected
        assert dataset.objects.tolist() == [[0, 0.5], [0.5, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"x: expected the number of objects, found an empty file"),
        ("a b c\n", r"x, line 1: expected the number of objects and a line for each of them, found 'a b c'"),
        ("3\na 0 1\nb 1 0\n", r"x, line 1: expected the number of objects and a line for each of them, found '3'"),
        ("2 4\na ACGT\nb ACGA\n", r"x, line 1: expected a distance matrix, found an alignment of sequences"),
        ("2\na 0 1\nb 1 z\n", r"x, line 3: expected a distance, found 'z'"),
        ("2\na 0 1\nb 1\n", r"x, line 3: expected 2 distances of 'b', found 1"),
        ("2\na 0 1\nb 1 0\nc 1 1\n", r"x, line 4: expected 2 objects as the first line says, found more: 'c 1 1'"),
        ("2\na 0 1\na 1 0\n", r"found a twice"),
    ],
)
def test_what_is_wrong_in_phylip(text, message):
    with pytest.raises(DataError, match=message):
        read_phylip(text, file="x", labels=["u", "v"])


def test_a_condensed_matrix_is_not_phylip(tmp_path):
    (tmp_path / "d.txt").write_text("3\n1\n2\n")
    assert read(tmp_path / "d.txt", labels=["a", "b", "a"]).objects.tolist() == [[0, 3, 1], [3, 0, 2], [1, 2, 0]]


@given(st.text(max_size=60), st.integers(0, 2**32))
@example("", 0)
def test_damaged_files_are_refused(text, seed):
    rng = random.Random(seed)
    for valid, read_text in ((SQUARE, read_phylip), (LOWER, read_phylip), (frame().to_csv(), read_matrix_csv)):
        at = rng.randrange(len(valid))
        for damaged in (text, valid[:at] + text, valid[:at] + text + valid[at + rng.choice([0, 1, 7]) :]):
            try:
                dataset = read_text(damaged, file="x", labels=["u", "v"])
            except DataError as reason:
                assert str(reason).startswith("x")
                assert "\n" not in str(reason)
                continue
            assert dataset.objects.shape == (2, 2)


@pytest.fixture(scope="module")
def model():
    dataset = Dataset("apes", "matrix", D, np.array(LABELS), ids=np.array(NAMES))
    return fit_model(dataset, "FCNN", random_state=0)


def test_a_model_knows_the_names_of_its_prototypes(tmp_path, model):
    assert model.prototype_ids_.tolist() == [NAMES[row] for row in model.sample_indices_]
    save(model, tmp_path / "m.protoset")
    assert load(tmp_path / "m.protoset").prototype_ids_.tolist() == model.prototype_ids_.tolist()
    plain = fit_model(Dataset("apes", "matrix", D, np.array(LABELS)), "FCNN", random_state=0)
    save(plain, tmp_path / "p.protoset")
    assert load(tmp_path / "p.protoset").prototype_ids_ is None


def test_queries_are_matched_by_name(tmp_path, model):
    new = np.random.default_rng(2).normal(size=(5, 2)) * 3 + 2
    distances, rows = cdist(new, POINTS), [f"new {row}" for row in range(5)]
    expected = model.predict(distances).tolist()
    assert len(set(expected)) == 2
    order = np.random.default_rng(3).permutation(12)
    kept = model.sample_indices_
    tables = [
        frame(distances, rows),
        frame(distances[:, order], rows, np.array(NAMES)[order]),
        frame(distances[:, kept[::-1]], rows, np.array(NAMES)[kept[::-1]]),
        frame(np.column_stack([np.ones(5), distances]), rows, ["other", *NAMES]),
    ]
    for table in tables:
        table.to_csv(tmp_path / "new.csv")
        queries = read_queries(tmp_path / "new.csv", kind="matrix", names=model.prototype_ids_.tolist())
        assert model.predict(queries.objects).tolist() == expected
        assert queries.ids.tolist() == rows
        table.to_csv(tmp_path / "new.csv", index=False)
        queries = read_queries(tmp_path / "new.csv", kind="matrix", names=model.prototype_ids_.tolist())
        assert model.predict(queries.objects).tolist() == expected
        assert queries.ids is None
    # Labels of queries by name.
    tables[0].to_csv(tmp_path / "new.csv")
    (tmp_path / "new_labels.txt").write_text(
        "\n".join(f"{row}\t{label}" for row, label in zip(rows, expected, strict=True))
    )
    queries = read_queries(tmp_path / "new.csv", kind="matrix", labels=tmp_path / "new_labels.txt")
    assert queries.labels.tolist() == expected
    tables[0].drop(columns=NAMES[kept[0]]).to_csv(tmp_path / "new.csv")
    with pytest.raises(
        DataError, match=r"new.csv: expected a column of distances for each prototype; there is none for"
    ):
        read_queries(tmp_path / "new.csv", kind="matrix", names=model.prototype_ids_.tolist())


def test_the_command_with_names(tmp_path):
    pytest.importorskip("typer", reason="no typer: pip install 'protoset[cli]'")
    frame().to_csv(tmp_path / "d.csv")
    lines = [f"{name}\t{label}" for name, label in sorted(BY_NAME.items(), reverse=True)]
    (tmp_path / "kinds.tsv").write_text("\n".join(lines))
    words = ["select", "d.csv", "--labels", "kinds.tsv", "--method", "fcnn", "--output", "kept.csv", "--model", "m.ps"]
    result = run(*words, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    kept = pandas.read_csv(tmp_path / "kept.csv", index_col=0)
    assert list(kept.index) == list(kept.columns)
    np.testing.assert_array_equal(kept.to_numpy(), frame().loc[kept.index, kept.columns].to_numpy())
    assert read(tmp_path / "kept.csv").labels.tolist() == [BY_NAME[name] for name in kept.index]
    order = np.random.default_rng(3).permutation(12)
    frame(D[:, order], columns=np.array(NAMES)[order]).to_csv(tmp_path / "new.csv")
    result = run("evaluate", "new.csv", "--model", "m.ps", "--labels", "kinds.tsv", "--json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert '"error": 0.0' in result.stdout
