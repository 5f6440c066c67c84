"""KEEL and ARFF files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataset_cases import assert_same, made_tables
from protoset.datasets import Attribute, take
from protoset.datasets.arff import read_arff, write_arff
from protoset.datasets.keel import read_keel, write_keel
from protoset.exceptions import DataError

KEEL = """@relation paint
% a comment
@attribute colour{yellow, white , black}
@attribute amount integer[1,10]
@attribute density real [0.1, 2.5]
@attribute Class {1.0, 2.0, 3.0}
@inputs colour, amount, density
@output Class
@data
yellow, 4, 1.2, 1
black,?,2.1, 2.0
<null>, 2, .8,1.0
"""

ARFF = """% a comment
@RELATION 'a b'
@attribute 'the colour' {yellow, 'off white', "it's"}
@attribute amount NUMERIC
@ATTRIBUTE note string
@attribute class {1, 2, 3}

@DATA
yellow, 4, 'a, b', 1
'off white', ?, "?", 2
% another
"it's", 1e3, ?, 1
{1 5, 3 2, 2 'x\\'y'}
"""


@pytest.mark.parametrize(("read", "write"), [(read_keel, write_keel), (read_arff, write_arff)])
@given(dataset=made_tables(), choice=st.randoms())
def test_round_trip(read, write, dataset, choice):
    again = read(write(dataset))
    assert_same(again, dataset)
    assert again.attributes == dataset.attributes
    assert again.labels.dtype == dataset.labels.dtype
    rows = choice.sample(range(dataset.n_objects), choice.randint(1, dataset.n_objects))
    part = take(again, rows)
    assert_same(read(write(part)), part)


def test_keel_as_it_is():
    dataset = read_keel(KEEL)
    assert dataset.attributes == (
        Attribute("colour", "nominal", ("yellow", "white", "black")),
        Attribute("amount", "integer"),
        Attribute("density", "real"),
    )
    assert dataset.kind == "mixed"
    assert dataset.categorical == [0]
    assert dataset.objects[:, 0].tolist() == ["yellow", "black", None]
    np.testing.assert_array_equal(dataset.objects[:, 1:].astype(float), [[4, 1.2], [np.nan, 2.1], [2, 0.8]])
    assert dataset.labels.tolist() == [1, 2, 1]
    # The header is kept, and the labels are spelled as it declares them.
    lines = write_keel(take(dataset, [1])).splitlines()
    assert lines[:-1] == KEEL.splitlines()[:-3]
    assert lines[-1] == "black, ?, 2.1, 2.0"


def test_keel_with_the_class_first_or_elsewhere():
    header = "@relation x\n@attribute Class {0, 1}\n@attribute a real\n@attribute b real\n"
    for more in ("@inputs a, b\n@outputs Class\n", "@output class\n"):
        dataset = read_keel(f"{header}{more}@data\n1, 2, 3\n0, 4, 5\n")
        assert dataset.labels.tolist() == [1, 0]
        assert dataset.objects.tolist() == [[2, 3], [4, 5]]
        assert_same(read_keel(write_keel(dataset)), dataset)
    assert read_keel(f"{header}@data\n1, 2, 3\n").labels.tolist() == [3]
    chosen = read_keel(f"{header}@outputs Class\n@data\n1, 2, 3\n", target="B")
    assert chosen.labels.tolist() == [3]
    assert_same(read_keel(write_keel(chosen)), chosen)


def test_keel_takes_the_inputs_alone():
    header = "@attribute a real\n@attribute b real\n@attribute c {u, v}\n@inputs b\n@outputs c\n"
    dataset = read_keel(f"{header}@data\n1, 2, u\n")
    assert [attribute.name for attribute in dataset.attributes] == ["b"]
    assert dataset.objects.tolist() == [[2.0]]
    assert_same(read_keel(write_keel(dataset)), dataset)


def test_kind():
    text = "@attribute a real\n@attribute c {u, v}\n@data\n1, u\n"
    assert read_keel(text).objects.dtype == float
    assert read_keel(text, kind="mixed").objects.tolist() == [[1.0]]
    assert read_keel(text, kind="mixed").objects.dtype == object
    with pytest.raises(DataError, match=r"kind='vectors' takes numbers, but colour hold texts; pass kind='mixed'"):
        read_keel(KEEL, kind="vectors")


def test_labels_of_a_part_are_of_the_type_of_the_whole():
    dataset = read_keel("@attribute a real\n@attribute c {1, 2, other}\n@data\n1, 1\n2, other\n")
    part = take(dataset, [0])
    assert read_keel(write_keel(part)).labels.tolist() == ["1"]


def test_arff_as_it_is():
    dataset = read_arff(ARFF)
    assert [attribute.name for attribute in dataset.attributes] == ["the colour", "amount", "note"]
    assert dataset.attributes[0].values == ("yellow", "off white", "it's")
    assert dataset.attributes[2] == Attribute("note", "nominal", ("a, b", "?", "x'y"))
    assert dataset.objects[:, 0].tolist() == ["yellow", "off white", "it's", "yellow"]
    np.testing.assert_array_equal(dataset.objects[:, 1].astype(float), [4, np.nan, 1000, 5])
    assert dataset.objects[:, 2].tolist() == ["a, b", "?", None, "x'y"]
    assert dataset.labels.tolist() == [1, 2, 1, 2]
    assert_same(read_arff(write_arff(dataset)), dataset)


def test_arff_against_scipy(tmp_path):
    from scipy.io import arff

    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20, 3))
    labels = rng.choice(["a", "b"], 20)
    lines = [f"{','.join(map(repr, map(float, row)))},{label}" for row, label in zip(rows, labels, strict=True)]
    head = "@relation r\n@attribute x real\n@attribute y numeric\n@attribute z real\n@attribute class {a, b}\n@data\n"
    path = tmp_path / "x.arff"
    path.write_text(head + "\n".join(lines))
    theirs, _ = arff.loadarff(path)
    ours = read_arff(path.read_text())
    assert ours.objects.tolist() == [list(row)[:3] for row in theirs.tolist()] == rows.tolist()
    assert ours.labels.tolist() == [row[3].decode() for row in theirs.tolist()]


HEAD = "@relation r\n@attribute a real\n@attribute c {u, v}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"x, line 1: expected '@data' after the header, found the end of the file"),
        ("@relation r\n@attribute a\n@data\n", r"x, line 2: expected a type for 'a'.*found nothing"),
        ("@relation r\n@attribute a rael\n@data\n", r"x, line 2: expected a type for 'a'.*found 'rael'"),
        ("@relation r\n@attribute\n@data\n", r"x, line 2: expected '@attribute name type', found no name"),
        ("@relation r\n@attribute a {u, v\n@data\n", r"x, line 2: expected '}' after the values of 'a'"),
        ("@relation r\n@attribute a {}\n@data\n", r"x, line 2: expected the values of 'a' between { and }, found none"),
        ("@relation r\n@atribute a real\n", r"x, line 2: expected .*found '@atribute a real' .*'@attribute'"),
        ("@relation r\nhello\n", r"x, line 2: expected .*found 'hello'"),
        ("@relation r\n@attribute a date\n@data\n", r"x, line 2: attribute 'a' is of the type date, .*not supported"),
        (f"{HEAD}@attribute a real\n@data\n", r"x, line 4: expected a new name, but attribute 'a' is declared above"),
        ("@relation r\n@data\n1\n", r"x: expected '@attribute name type' before the data, found none"),
        (HEAD, r"x, line 4: expected '@data'"),
        (f"{HEAD}@data\n", r"x: expected rows after '@data', found none"),
        (f"{HEAD}@data\n1, u\n2, v, 3\n", r"x, line 6: expected 2 values, found 3: '2, v, 3'"),
        (f"{HEAD}@data\n1, u\n\n2\n", r"x, line 7: expected 2 values, found 1"),
        (f"{HEAD}@data\n1, w\n", r"x, line 5: expected one of the values of 'c' \(u, v\), found 'w'"),
        (f"{HEAD}@data\n1, ?\n", r"x, line 5: the label 'c' is missing; remove the row"),
        (f"{HEAD}@data\n1;2, u\n", r"x, line 5: expected a number for 'a', found '1;2'"),
        (f"{HEAD}@data\n1_0, u\n", r"x, line 5: expected a number for 'a', found '1_0'"),
        (f"{HEAD}@data\n1e999, u\n", r"x, line 5: expected a number for 'a', found '1e999'"),
        (
            "@attribute a real\n@attribute c real\n@data\n1, 0.5\n",
            r"x, line 4: expected class labels in 'c', found the",
        ),
        ("@attribute c {u, v}\n@data\nu\n", r"x: there is no column beside the labels"),
    ],
)
@pytest.mark.parametrize("read", [read_keel, read_arff])
def test_what_is_wrong_and_where(read, text, message):
    with pytest.raises(DataError, match=message):
        read(text, file="x")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("@outputs d\n", r"x, line 4: expected names of attributes, found 'd'"),
        ("@inputs a, b\n", r"x, line 4: expected names of attributes, found 'b'"),
        ("@outputs a, c\n", r"x: expected one output, found a, c; choose .* by target="),
    ],
)
def test_roles_that_are_none(more, message):
    with pytest.raises(DataError, match=message):
        read_keel(f"{HEAD}{more}@data\n1, u\n", file="x")


@pytest.mark.parametrize("row", ["{0 1, 1 u", "{0}", "{5 1}", "{0 1, 0 2}", "{x 1}", "{-1 1}", "{99999999999999 1}"])
def test_sparse_rows_that_are_none(row):
    with pytest.raises(DataError, match=r"x, line 5: expected"):
        read_arff(f"{HEAD}@data\n{row}\n", file="x")


def test_target():
    with pytest.raises(
        DataError, match=r"x: there is no column target='colr' \(did you mean 'colour'\?\); there are col"
    ):
        read_keel(KEEL, file="x", target="colr")
    with pytest.raises(DataError, match=r"x: target=4 is not a position in 4 columns, counted from 0"):
        read_keel(KEEL, file="x", target=4)
    with pytest.raises(DataError, match=r"x: target=1.5 must be the name or the position of a column"):
        read_keel(KEEL, file="x", target=1.5)
    assert read_arff(ARFF, target=-1).layout.target_name == "class"
    assert read_keel(KEEL, target="3").layout.target_name == "Class"
