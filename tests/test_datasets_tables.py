"""CSV and Parquet."""

import csv
import io
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine

from dataset_cases import assert_same, made_tables, texts
from protoset.datasets import Attribute, Dataset, take
from protoset.datasets.csv_tables import read_csv, write_csv
from protoset.datasets.keel import read_keel
from protoset.datasets.parquet import read_parquet, write_parquet
from protoset.datasets.queries import read_queries
from protoset.datasets.roles import ColumnOptions, column_options
from protoset.exceptions import DataError
from protoset.experiments import compare

EVERYTHING = ColumnOptions(use=("*",))

# A CSV has neither types nor values for later: texts that are no numbers, and no mark of missing.
csv_texts = texts.map(lambda text: f"v{text}".strip())


@st.composite
def csv_tables(draw):
    """Tables whose columns show what they are."""
    dataset = draw(made_tables(of_texts=csv_texts))
    for position, attribute in enumerate(dataset.attributes):
        if attribute.type == "nominal":
            dataset.objects[0, position] = attribute.values[0]
    return dataset


@given(csv_tables())
def test_round_trip_of_csv(dataset):
    again = read_csv(write_csv(dataset), target=-1, columns=EVERYTHING)
    assert_same(again, dataset)
    if again.layout.header[:1] != ("column 1",):
        # Otherwise a name was among the values of its column, and would have been taken for one of them.
        assert [attribute.name for attribute in again.attributes] == [item.name for item in dataset.attributes]
    assert_same(read_csv(write_csv(again), target=-1, columns=EVERYTHING), dataset)


@given(made_tables(of_texts=st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=5)))
def test_round_trip_of_parquet(dataset):
    nominal = tuple(attribute.name for attribute in dataset.attributes if attribute.type == "nominal")
    columns = column_options(use="*", categorical=nominal)
    again = read_parquet(write_parquet(dataset), target=-1, columns=columns)
    assert_same(again, dataset)
    assert_same(read_parquet(write_parquet(take(again, [0])), target=-1, columns=columns), take(dataset, [0]))


def test_parquet_from_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "y": ["a", "b", "a"],
            "n": [1, 2, 3],
            "f": [0.5, None, 2.0],
            "t": pandas.Categorical(["u", None, "v"]),
            "b": [True, False, True],
        },
        index=[7, 8, 9],
    )
    content = io.BytesIO()
    frame.to_parquet(content)
    dataset = read_parquet(content.getvalue(), target="y")
    assert [attribute.name for attribute in dataset.attributes] == ["n", "f", "t", "b"]
    assert [attribute.type for attribute in dataset.attributes] == ["integer", "real", "nominal", "integer"]
    assert dataset.objects[:, 2].tolist() == ["u", None, "v"]
    np.testing.assert_array_equal(dataset.objects[:, [0, 1, 3]].astype(float), [[1, 0.5, 1], [2, np.nan, 0], [3, 2, 1]])
    again = pandas.read_parquet(io.BytesIO(write_parquet(dataset)))
    assert list(again.columns) == [*frame.columns, "__index_level_0__"]
    assert dataset.ids.tolist() == ["7", "8", "9"]
    assert again["n"].tolist() == [1, 2, 3]


def test_parquet_that_is_none():
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    with pytest.raises(DataError, match=r"x: expected a Parquet file, found something else"):
        read_parquet(b"PAR1 and no more", file="x")
    content = io.BytesIO()
    parquet.write_table(pyarrow.table({"a": [[1], [2]], "y": [1, 2]}), content)
    with pytest.raises(DataError, match=r"x: expected numbers, dates or texts in the column 'a', found the type li"):
        read_parquet(content.getvalue(), file="x")


@pytest.mark.parametrize(
    "text",
    [
        "height,colour,class\n1.5,red,a\n2,blue,b\n,?,a\n",
        "height;colour;class\n1,5;red;a\n2,0;blue;b\nNA;;a\n",
        "height\tcolour\tclass\r\n1.5\tred\ta\r\n2\tblue\tb\r\n?\tNA\ta\r\n",
        '"height","colour","class"\n"1.5","red","a"\n2,"blue", "b"\n\n,,a\n',
    ],
)
def test_delimiters_headers_and_missing_values(text):
    dataset = read_csv(text)
    assert dataset.attributes == (Attribute("height", "real"), Attribute("colour", "nominal", ("red", "blue")))
    assert dataset.labels.tolist() == ["a", "b", "a"]
    np.testing.assert_array_equal(dataset.objects[:, 0].astype(float), [1.5, 2, np.nan])
    assert dataset.objects[:, 1].tolist() == ["red", "blue", None]
    again = read_csv(write_csv(dataset))
    assert_same(again, dataset)
    assert again.layout == dataset.layout


def test_missing_values_are_written_as_they_were():
    """Left-out columns exactly; used columns with the most frequent text."""
    rows = [f"{row},{'NA' if row % 3 else row / 7:},{'' if row % 5 else 'NA'},{'uv'[row % 2]}" for row in range(1, 13)]
    text = "\n".join(["id,x,note,class", *rows]) + "\n"
    options = column_options(ignore="note")
    dataset = read_csv(text, columns=options)
    assert dataset.layout.missing == "NA"
    assert dataset.left_out[1].values.tolist() == ["" if row % 5 else "NA" for row in range(1, 13)]
    assert [line.split(",")[1:] for line in write_csv(dataset).splitlines()] == [
        line.split(",")[1:] for line in text.splitlines()
    ]
    assert read_csv(text, columns=column_options(id="note")).ids.tolist() == [""] * 12
    # A table of numbers alone is read in another way.
    text = "a,b,class\n" + "".join(f"{'NaN' if row % 2 else row},NaN,{row % 3}\n" for row in range(12))
    dataset = read_csv(text, columns=column_options(ignore="b"))
    assert write_csv(dataset) == text


def test_against_the_csv_module():
    rng = np.random.default_rng(0)
    rows = [
        [repr(float(a)), repr(float(b)), str(c)]
        for a, b, c in zip(*rng.normal(size=(2, 50)), rng.integers(0, 3, 50), strict=True)
    ]
    text = "\n".join(",".join(row) for row in rows)
    dataset = read_csv(text, target=2)
    assert dataset.kind == "vectors"
    reference = [[float(value) for value in row] for row in csv.reader(io.StringIO(text))]
    assert dataset.objects.tolist() == [row[:2] for row in reference]
    assert dataset.labels.tolist() == [row[2] for row in reference]
    # The same values by the other way of reading, which takes quotes.
    assert_same(read_csv("\n".join('"{}",{},"{}"'.format(*row) for row in rows), target=2), dataset)


def test_quoted_fields_may_hold_anything():
    text = 'a,b,class\n"x, ""y""\nz",1,u\n"w",2,v\n'
    dataset = read_csv(text)
    assert dataset.objects[:, 0].tolist() == ['x, "y"\nz', "w"]
    assert_same(read_csv(write_csv(dataset)), dataset)
    with pytest.raises(DataError, match=r"x, line 5: expected a number in 'b' as in 40 other rows, found 'oops'"):
        read_csv(text + "k,oops,u\n" + "k,3,u\n" * 38, file="x")


def test_the_column_of_labels():
    text = "a,Class,b\n1,u,2\n3,v,4\n"
    assert read_csv(text).layout.target == 1
    assert read_csv(text, target="b").labels.tolist() == [2, 4]
    assert read_csv(text, target=-1).labels.tolist() == [2, 4]
    assert read_csv(text, target="2").labels.tolist() == [2, 4]
    assert read_csv("1,u\n3,v\n").labels.tolist() == read_csv("u,1\nv,3\n").labels.tolist() == ["u", "v"]
    with pytest.raises(DataError, match=r"there is no column target='clas' \(did you mean"):
        read_csv(text.replace("Class", "Classes"), target="clas")
    with pytest.raises(
        DataError, match=r"x, line 2: expected class labels in 'price', found the number '1.5'; bin the"
    ):
        read_csv("a,price\n1,1.5\n2,3\n", file="x", target="price")


def test_headers():
    assert read_csv("a,b\nc,d\n", target=1).layout.header == ("a", "b")
    assert read_csv("a,b\na,d\n", target=1).layout.header == ()
    assert read_csv("1,b\n2,d\n").layout.header == ()
    assert read_csv(",x,class\n0,1,u\n1,2,v\n").layout.header == ("", "x", "class")
    assert read_csv("a,a\nb,c\n", target=1).layout.header == ()
    assert read_csv("a,2020,class\n1,2,u\n3,4,v\n").layout.header == ("a", "2020", "class")
    assert read_csv("1,2,class\n3,4,class\n5,6,v\n").layout.header == ()
    for text, name in (("a,a,y\n1,2,u\n3,4,v\n", "a"), (",column 1,y\n1,2,u\n3,4,v\n", "column 1")):
        with pytest.raises(DataError, match=f"line 1: expected a name of its own .* found '{name}' .*; rename one"):
            read_csv(text)


def test_a_part_without_header_is_not_taken_for_one():
    dataset = read_csv("a,u\nb,v\na,v\n", target=1)
    assert dataset.layout.header == ()
    for rows in ([0], [0, 1], [1, 0]):
        assert_same(read_csv(write_csv(take(dataset, rows)), target=1), take(dataset, rows))


def test_made_data_with_numbers_as_names():
    dataset = Dataset(
        "x", "vectors", np.array([[1.0, 2.0]]), np.array(["u"]), (Attribute("0", "real"), Attribute("1", "real"))
    )
    assert_same(read_csv(write_csv(dataset)), dataset)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"x: expected a table, found an empty file"),
        ("\n \n", r"x: expected a table, found an empty file"),
        ("hello\n", r"x, line 1: expected columns with commas, semicolons or tabs between them, found 'hello'"),
        ("a,b,class\n", r"x: expected rows after the header, found none"),
        ("a,b\n1,2\n1,2,3\n", r"x, line 3: expected 2 values as in the first line, found 3"),
        ("a,b\n1,2\n1\n", r"x, line 3: expected 2 values as in the first line, found 1"),
        ('a,b\n1,"2\n', r"x, line \d: expected fields with or without quotes, found a field that cannot be read"),
        ("a,class\n1,u\n2,\n", r"x, line 3: the label 'class' is missing"),
    ],
)
def test_what_is_wrong_and_where(text, message):
    with pytest.raises(DataError, match=message):
        read_csv(text, file="x")


def test_mistakes_among_numbers():
    text = "a,class\n" + "1,u\n" * 30 + "1..5,v\n"
    with pytest.raises(DataError, match=r"x, line 32: expected a number in 'a' .*found '1..5'; categorical= "):
        read_csv(text, file="x")
    assert read_csv(text, kind="mixed").attributes == (Attribute("a", "nominal", ("1", "1..5")),)


def wide_csv(n_columns):
    return "\n".join(
        [",".join(f"c{at}" for at in range(n_columns)), *(",".join(["1"] * (n_columns - 1) + ["ab"]),) * 2]
    )


def wide_keel(n_columns):
    names = [f"c{at}" for at in range(n_columns)]
    declared = "\n".join(f"@attribute {name} real" for name in names)
    return f"{declared}\n@attribute y {{a}}\n@inputs {','.join(names)}\n@outputs y\n@data\n{'1,' * n_columns}a\n"


def cpu_seconds(function, *arguments):
    """CPU seconds of the fastest of three calls."""
    seconds = []
    for _ in range(3):
        start = time.process_time()
        function(*arguments)
        seconds.append(time.process_time() - start)
    return min(seconds)


@pytest.mark.parametrize("form", ["csv", "keel", "queries"])
def test_the_time_grows_as_the_number_of_columns_and_not_faster(form, tmp_path):
    def read_columns(n_columns):
        if form == "keel":
            return cpu_seconds(read_keel, wide_keel(n_columns))
        text = wide_csv(n_columns)
        if form == "csv":
            return cpu_seconds(read_csv, text)
        (tmp_path / "wide.csv").write_text(text)
        columns = read_csv(text).attributes
        return cpu_seconds(lambda: read_queries(tmp_path / "wide.csv", kind="vectors", attributes=columns))

    read_columns(100)
    # 10 if it grows as the number of columns, 100 if it grows as its square.
    assert read_columns(40_000) < 50 * read_columns(4_000)


def test_a_data_frame_becomes_a_data_set():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"a": [1.5, 2.5, None], "b": pandas.array([1, None, 3], "Int64"), "c": [True, False, True]}
    )
    dataset = Dataset("mine", "vectors", frame, pandas.Series(["x", "y", "x"]))
    np.testing.assert_array_equal(dataset.objects, [[1.5, 1, 1], [2.5, np.nan, 0], [np.nan, 3, 1]])
    assert [attribute.name for attribute in dataset.attributes] == ["a", "b", "c"]
    assert isinstance(dataset.labels, np.ndarray)
    frame["d"], frame["e"] = ["red", None, "blue"], pandas.to_datetime(["1970-01-02", "1970-01-03", None])
    with pytest.raises(ValueError, match=r"kind='vectors', but the columns \['d'\] .*not numeric; pass kind='mixed'"):
        Dataset("mine", "vectors", frame, [0, 1, 0])
    mixed = Dataset("mine", "mixed", frame, [0, 1, 0])
    assert mixed.objects[:, 2].tolist() == ["True", "False", "True"]
    assert mixed.objects[:, 3].tolist() == ["red", None, "blue"]
    assert mixed.objects[:2, 4].tolist() == [1.0, 2.0]
    assert np.isnan(mixed.objects[2, 4])
    assert [attribute.type for attribute in mixed.attributes] == ["real", "real", "nominal", "nominal", "date"]
    assert mixed.attributes[3].values == ("red", "blue")


def test_methods_are_compared_on_a_data_frame_as_on_its_array():
    pytest.importorskip("pandas")
    frame, labels = load_wine(return_X_y=True, as_frame=True)
    by_frame = compare(Dataset("wine", "vectors", frame, labels), ["NoPS", "FCNN"])
    by_array = compare(Dataset("wine", "vectors", frame.to_numpy(), labels.to_numpy()), ["NoPS", "FCNN"])
    np.testing.assert_array_equal(by_frame.errors, by_array.errors)
