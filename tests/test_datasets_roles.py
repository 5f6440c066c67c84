"""Roles of the columns of tables: what is used, what is left out and why, ids, dates, and the user's last word."""

import csv
import io
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import protoset
from protoset.datasets import Attribute, read, read_queries, take, write_rows
from protoset.datasets._forms import DATE_ORDERS, date_in_form, number_in_form, read_date, read_numbers
from protoset.exceptions import DataError
from protoset.models import fit_model
from protoset.spaces import make_space


def text_of(columns, separator=","):
    """A table as pandas writes it; a column whose name is empty is its index."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue()


def penguins(n=60, seed=0):
    """Sorted by species, as the penguins come."""
    rng = np.random.default_rng(seed)
    species = np.sort(rng.integers(0, 3, n))
    return {
        "bill": np.round(rng.normal(40 + 5 * species, 2), 1).tolist(),
        "mass": (100 * np.round(rng.normal(40 + 3 * species, 4))).astype(int).tolist(),
        "island": rng.choice(["Biscoe", "Dream"], n).tolist(),
        "species": np.array(["Adelie", "Chinstrap", "Gentoo"])[species].tolist(),
    }


def write_table(path, columns, separator=","):
    path.write_text(text_of(columns, separator), newline="")
    return path


def shuffled(columns, seed=0):
    order = np.random.default_rng(seed).permutation(len(next(iter(columns.values()))))
    return {name: [values[row] for row in order] for name, values in columns.items()}


def reasons(dataset):
    return {left.name: left.reason for left in dataset.left_out}


@pytest.mark.parametrize(
    "name", ["", "Unnamed: 0", "id", "Index", "PassengerId", "sample no.", "row_number", "whatever"]
)
@pytest.mark.parametrize("change", [dict, shuffled])
def test_row_numbers_are_left_out_sorted_or_shuffled(tmp_path, name, change):
    columns = {name: list(range(60)), **penguins()}
    dataset = read(write_table(tmp_path / "x.csv", change(columns)), target="species")
    assert reasons(dataset) == {name or "column 1": "unique"}
    assert dataset.roles == f"used: 2 numeric, 1 categorical; left out: {name or 'column 1'} (unique)"
    assert dataset.id_column == (name or "column 1")
    assert dataset.ids.tolist() == [str(value) for value in change(columns)[name]]
    assert [attribute.name for attribute in dataset.attributes] == ["bill", "mass", "island"]


def test_an_index_with_gaps_is_one_too(tmp_path):
    """What dropna leaves of an index: unique whole numbers that would have repeated if they had been measured."""
    rng = np.random.default_rng(0)
    index = np.sort(rng.choice(120, 60, replace=False)).tolist()
    columns = penguins()
    assert reasons(read(write_table(tmp_path / "x.csv", {"a": index, **columns}), target="species")) == {"a": "unique"}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("income", list(range(20_000, 80_000, 1000))),
        ("year", list(range(1960, 2020))),
        ("timestamp", list(range(1_700_000_000, 1_700_000_060))),
        ("weight", (np.arange(60) / 7).tolist()),
        ("bill_length", (np.arange(60) + 0.5).tolist()),
        ("patient id", [row // 2 for row in range(60)]),
        ("grid", [row % 30 for row in range(60)]),
    ],
)
def test_measurements_are_used_even_if_they_are_unique(tmp_path, name, values):
    dataset = read(write_table(tmp_path / "x.csv", {name: values, **penguins()}), target="species")
    assert dataset.roles == "used: 3 numeric, 1 categorical"
    assert dataset.ids is None


def test_few_rows_tell_nothing(tmp_path):
    columns = {"a": [1, 2, 3], "b": [5, 5, 5], "c": ["u", "v", "w"], "class": ["x", "y", "x"]}
    assert read(write_table(tmp_path / "x.csv", columns)).roles == "used: 2 numeric, 1 categorical"
    columns = {"id": [7, 8, 9], "key": ["u", "v", "w"], **columns}
    dataset = read(write_table(tmp_path / "y.csv", columns))
    assert reasons(dataset) == {"id": "unique", "key": "unique"}
    assert dataset.ids.tolist() == ["7", "8", "9"]


def test_constants_texts_and_empty_columns(tmp_path):
    notes = [f"note {row} of {row * row}" for row in range(60)]
    almost = [*notes[:58], notes[0], notes[1]]
    columns = {
        "note": notes,
        "comment": almost,
        "one": [1] * 60,
        "two": ["yes"] * 60,
        "none": [""] * 60,
        "partly": ["yes", ""] * 30,
        **penguins(),
    }
    dataset = read(write_table(tmp_path / "x.csv", columns), target="species")
    expected = {"note": "text", "comment": "text", "one": "constant", "two": "constant", "none": "empty"}
    assert reasons(dataset) == expected
    assert dataset.roles.startswith("used: 2 numeric, 2 categorical; left out: note (text), comment (text), ")
    assert dataset.ids is None


def test_many_left_out_columns_are_counted(tmp_path):
    columns = {f"p{at}": [0] * 60 for at in range(9)} | penguins()
    dataset = read(write_table(tmp_path / "x.csv", columns), target="species")
    assert dataset.roles == "used: 2 numeric, 1 categorical; left out: p0, p1, p2 and 6 more (constant)"


CELLS = {
    "index": lambda n, rng: list(range(n)),
    "id": lambda n, rng: rng.choice(10**6, n, replace=False).tolist(),
    "real": lambda n, rng: rng.normal(size=n).tolist(),
    "count": lambda n, rng: rng.integers(0, 9, n).tolist(),
    "colour": lambda n, rng: rng.choice(["red", "blue", ""], n).tolist(),
    "note": lambda n, rng: [f"n{value}" for value in rng.permutation(n)],
    "constant": lambda n, rng: ["x"] * n,
    "when": lambda n, rng: [str(date(2020, 1, 1) + timedelta(days=int(day))) for day in rng.integers(0, 999, n)],
    "day": lambda n, rng: [f"{day}/{month}/2020" for day, month in zip(*rng.integers(1, 13, (2, n)), strict=True)],
    "share": lambda n, rng: [f"{value:.1f} %" for value in rng.uniform(0, 99, n)],
}


@settings(max_examples=60, deadline=None)
@given(
    chosen=st.lists(st.sampled_from(sorted(CELLS)), min_size=1, unique=True),
    n=st.integers(2, 45),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_order_of_rows_changes_no_role(tmp_path_factory, chosen, n, seed):
    rng = np.random.default_rng(seed)
    columns = {name: CELLS[name](n, rng) for name in chosen}
    columns |= {"used": rng.normal(size=n).tolist(), "class": rng.integers(0, 2, n).tolist()}
    folder = tmp_path_factory.mktemp("rows")
    first = read(write_table(folder / "x.csv", columns))
    second = read(write_table(folder / "y.csv", shuffled(columns, seed)))
    assert first.roles == second.roles
    assert reasons(first) == reasons(second)
    assert first.id_column == second.id_column
    assert [(item.name, item.type) for item in first.attributes] == [
        (item.name, item.type) for item in second.attributes
    ]
    if first.ids is not None:
        assert sorted(first.ids) == sorted(second.ids)


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["1970-01-02", "2020-02-29", "1969-12-31"], "YYYY-MM-DD"),
        (["1970/01/02", "2020/02/29", "1969/12/31"], "YYYY/MM/DD"),
        (["02.01.1970", "29.02.2020", "31.12.1969"], "DD.MM.YYYY"),
        (["2.1.1970", "29.2.2020", "31.12.1969"], "DD.MM.YYYY"),
        (["02/01/1970", "29/02/2020", "31/12/1969"], "DD/MM/YYYY"),
        (["01/02/1970", "02/29/2020", "12/31/1969"], "MM/DD/YYYY"),
        (["01-02-1970", "02-29-2020", "12-31-1969"], "MM-DD-YYYY"),
    ],
)
def test_dates_become_days(tmp_path, texts, form):
    columns = {"when": texts * 4, "x": [0.5, 1.5] * 6, "class": ["u", "v"] * 6}
    dataset = read(write_table(tmp_path / "x.csv", columns))
    assert dataset.objects[:3, 0].tolist() == [1, 18321, -1]
    assert dataset.attributes[0].type == "date"
    assert dataset.attributes[0].form == form
    assert dataset.roles == "used: 1 numeric, 1 date (days)"
    write_rows(dataset, range(12), tmp_path / "y.csv")
    again = read(tmp_path / "y.csv")
    np.testing.assert_array_equal(again.objects, dataset.objects)
    assert again.attributes[0].form == form
    # Queries whose day and month would be in doubt are read as the training set was.
    queries = write_table(tmp_path / "q.csv", {"when": [texts[0]], "x": [1]})
    assert read_queries(queries, kind="vectors", attributes=dataset.attributes).objects.tolist() == [[1, 1]]


def test_times_and_zones(tmp_path):
    texts = ["1970-01-01T06:00:00Z", "1970-01-01 08:00+02:00", "1970-01-02T00:00:00.5+0000", "1969-12-31T18:00-06:00"]
    columns = {"when": texts * 3, "x": [0.5, 1.5] * 6, "class": ["u", "v"] * 6}
    dataset = read(write_table(tmp_path / "x.csv", columns))
    assert dataset.objects[:4, 0].tolist() == [0.25, 0.25, 1 + 0.5 / 86400, 0]
    write_rows(dataset, range(12), tmp_path / "y.csv")
    assert texts[0] in (tmp_path / "y.csv").read_text()
    np.testing.assert_array_equal(read(tmp_path / "y.csv").objects, dataset.objects)


@given(
    when=st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)),
    order=st.sampled_from(DATE_ORDERS),
    time=st.sampled_from(["", "Thh:mm", " hh:mm:ss", "Thh:mm:ssZ"]),
)
def test_dates_against_datetime(when, order, time):
    days = (when - datetime(1970, 1, 1)) / timedelta(days=1)
    form = order + time
    text = date_in_form(days, form)
    assert abs(read_date(text, form) - days) < 1e-8
    if order == "YYYY-MM-DD":
        expected = datetime.fromisoformat(text.replace("Z", "+00:00"))
        expected = expected.replace(tzinfo=expected.tzinfo or UTC)
        assert abs(expected - when.replace(tzinfo=UTC)) < timedelta(milliseconds=1)


def test_a_day_and_a_month_that_cannot_be_told_apart(tmp_path):
    columns = {"when": ["01/02/2020", "03/04/2020"] * 6, "x": [0.5, 1.5] * 6, "class": ["u", "v"] * 6}
    dataset = read(write_table(tmp_path / "x.csv", columns))
    assert dataset.roles == "used: 1 numeric; left out: when (ambiguous dates)"
    # Both orders in one column are no dates.
    columns["when"][0] = "31/12/2020"
    columns["when"][1] = "12/31/2020"
    assert read(write_table(tmp_path / "y.csv", columns)).attributes[0].type == "nominal"


def test_a_wrong_date_is_named(tmp_path):
    columns = {"when": ["2020-02-28"] * 39 + ["2020-02-30"], "x": [0.5, 1.5] * 20, "class": ["u", "v"] * 20}
    with pytest.raises(DataError, match=r"line 41: expected a date in 'when' as in 39 other rows, found '2020-02-30'"):
        read(write_table(tmp_path / "x.csv", columns))
    columns["when"][-1] = "unknown"
    with pytest.raises(
        DataError, match=r"line 41: expected a date in 'when' as in 39 other rows, found 'unknown'; cat"
    ):
        read(write_table(tmp_path / "x.csv", columns))
    assert read(tmp_path / "x.csv", categorical="when").attributes[0].type == "nominal"


@pytest.mark.parametrize("index", ["", "Unnamed: 0", "index", "level_0"])
def test_a_column_of_ids_names_objects_before_an_index_of_pandas(tmp_path, index):
    columns = {
        index: range(20),
        "id": [f"N{row}A" for row in range(20)],
        "x": [1, 2, 3, 4] * 5,
        "class": ["u", "v"] * 10,
    }
    dataset = read(write_table(tmp_path / "x.csv", columns), target="class")
    assert dataset.id_column == "id"
    assert dataset.ids[0] == "N0A"
    assert dataset.roles == f"used: 1 numeric; left out: {index or 'column 1'} (unique), id (unique); ids: id"
    assert repr(dataset) == f"<Dataset 'x': 20 objects (vectors), 2 classes; {dataset.roles}>"
    del columns["id"]
    dataset = read(write_table(tmp_path / "x.csv", columns), target="class")
    assert dataset.ids[:2].tolist() == ["0", "1"]
    assert "ids:" not in dataset.roles


def test_daily_dates_are_used_and_no_ids(tmp_path):
    days = [str(date(2020, 1, 1) + timedelta(days=day)) for day in range(60)]
    dataset = read(write_table(tmp_path / "x.csv", {"day": days, **penguins()}), target="species")
    assert dataset.roles == "used: 2 numeric, 1 categorical, 1 date (days)"
    dataset = read(tmp_path / "x.csv", target="species", id="day")
    assert dataset.roles == "used: 2 numeric, 1 categorical; left out: day (id)"
    assert dataset.ids.tolist() == days


@pytest.mark.parametrize(
    ("texts", "numbers", "options", "form"),
    [
        (["3,750", "950", "-1,234,567.5"], [3750, 950, -1234567.5], {}, "1,234.5"),
        (["18.7 %", "3%", "-0.5 %"], [18.7, 3, -0.5], {}, "1234.5 %"),
        (["18.7%", "3.5%", "-0.5%"], [18.7, 3.5, -0.5], {}, "1234.5%"),
        (["1,5", "2", "-0,25"], [1.5, 2, -0.25], {"decimal": ","}, "1234,5"),
        (["3.750,5", "2", "1.000"], [3750.5, 2, 1000], {"decimal": ","}, "1.234,5"),
        (["18,7 %", "3 %", "4,5%"], [18.7, 3, 4.5], {"decimal": ","}, "1234,5 %"),
    ],
)
def test_numbers_in_other_forms(tmp_path, texts, numbers, options, form):
    columns = {"price": texts * 4, "x": [1, 2] * 6, "class": ["u", "v"] * 6}
    dataset = read(write_table(tmp_path / "x.csv", columns), **options)
    assert dataset.objects[:3, 0].tolist() == numbers
    assert dataset.attributes[0].form == form
    stated = " (price in %)" if "%" in form else " (price with thousands)" if "234" in form[2:5] else ""
    assert dataset.roles == f"used: 2 numeric{stated}"
    write_rows(dataset, range(12), tmp_path / "y.csv")
    np.testing.assert_array_equal(read(tmp_path / "y.csv", **options).objects, dataset.objects)
    model = fit_model(dataset, "enn")
    found = read_queries(
        write_table(tmp_path / "q.csv", {"x": [1], "price": [texts[0]]}),
        kind="vectors",
        attributes=model.preparation.attributes,
    )
    assert found.objects.tolist() == [[numbers[0], 1]]


@given(
    st.lists(st.floats(-1e12, 1e12) | st.integers(-(10**9), 10**9).map(float), min_size=1, max_size=5),
    st.sampled_from(["1,234.5", "1.234,5", "1234,5", "1234.5 %", "1,234.5 %", "1234,5%"]),
)
def test_numbers_in_a_form_are_the_same_numbers(numbers, form):
    texts = [number_in_form(value, False, form) for value in numbers]
    again = read_numbers(texts, "," if "4,5" in form else ".")
    if again is None:
        # Tiny numbers are written with an exponent, which has no thousands.
        assert any("e" in text for text in texts)
        return
    assert again[0].tolist() == numbers


def test_a_mistake_among_percents_is_named(tmp_path):
    columns = {"share": ["18.7 %"] * 38 + ["?", "oops"], "class": ["u", "v"] * 20}
    with pytest.raises(
        DataError, match=r"line 41: expected a number in 'share' as in 38 other rows, found 'oops'; cat"
    ):
        read(write_table(tmp_path / "x.csv", columns))
    columns["share"][-1] = "18.7"
    with pytest.raises(DataError, match=r"line 41: expected a number in 'share' as in 38 other rows, found '18.7'"):
        read(write_table(tmp_path / "x.csv", columns))


@pytest.mark.parametrize(
    ("usual", "large", "separator"),
    [
        ("0.5", "1e400", ","),
        ("0.5", "-1e999", ","),
        ("12", "9" * 400, ","),
        ("18.7 %", "1e400 %", ","),
        ("0,5", "1,0e400", ";"),
        ("0.5", "1e400", ";"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"numeric": ["size"]}])
def test_a_number_that_is_too_large_is_named(tmp_path, usual, large, separator, options):
    """It is no category: the column would be left out without an error."""
    numbers = [f"{row}{usual}" for row in range(1, 60)]
    columns = {"size": [*numbers, large], "class": ["u", "v"] * 30}
    message = rf"line 61: expected a number in 'size' as in 59 other rows, found '{large[:9]}.*', which is too large; "
    with pytest.raises(DataError, match=message):
        read(write_table(tmp_path / "x.csv", columns, separator), **options)
    columns["size"][-1] = usual
    assert read(write_table(tmp_path / "x.csv", columns, separator), **options).kind == "vectors"


@pytest.mark.parametrize("name", ["class", "Target", "LABEL", "y"])
def test_the_target_by_its_name(tmp_path, name):
    columns = penguins()
    columns = {name: columns.pop("species"), **columns}
    assert read(write_table(tmp_path / "x.csv", columns)).layout.target_name == name


def test_the_target_is_never_guessed(tmp_path):
    columns = penguins()
    with pytest.raises(
        DataError,
        match=r"found 2 columns of categories \(island, species\); name it by target=. There are bill, mass, isl",
    ):
        read(write_table(tmp_path / "x.csv", columns))
    del columns["island"]
    columns["note"] = [f"n{row}" for row in range(60)]
    dataset = read(write_table(tmp_path / "y.csv", columns))
    assert dataset.layout.target_name == "species"
    assert dataset.roles == "used: 2 numeric; left out: note (text)"
    numbers = {"a": [0.5, 1.5], "b": [1, 2]}
    with pytest.raises(DataError, match=r"found none; name it by target=. There are a, b"):
        read(write_table(tmp_path / "z.csv", numbers))
    both = write_table(tmp_path / "w.csv", {"class": ["a", "b"], "label": ["c", "d"], "x": [1, 2]})
    with pytest.raises(DataError, match="found 2 columns of categories"):
        read(both)


def test_a_target_with_nearly_as_many_values_as_rows(tmp_path):
    columns = {"name": [f"n{row}" for row in range(60)], **penguins()}
    path = write_table(tmp_path / "x.csv", columns)
    with pytest.raises(DataError, match=r"expected classes in 'name', found 60 different labels in 60 rows; choose"):
        read(path, target="name")
    assert len(set(read(path, target="name", categorical="name").labels)) == 60
    few = {"x": list(range(20)), "class": [f"n{row}" for row in range(20)]}
    assert read(write_table(tmp_path / "y.csv", few), use="x").n_objects == 20


def test_rows_are_written_as_they_were(tmp_path):
    columns = {
        "": [f"{row:03}" for row in range(60)],
        **penguins(),
        "note": [f"a, {row}" for row in range(60)],
        "k": ["k"] * 60,
    }
    path = write_table(tmp_path / "x.csv", columns)
    dataset = read(path, target="species", ignore="island")
    assert dataset.ids[:2].tolist() == ["000", "001"]
    write_rows(dataset, [5, 3], tmp_path / "y.csv")
    lines = path.read_text().splitlines()
    assert (tmp_path / "y.csv").read_text().splitlines() == [lines[0], lines[6], lines[4]]
    assert take(dataset, [5, 3]).ids.tolist() == ["005", "003"]


def test_ids_of_queries(tmp_path):
    columns = {"id": [f"{row:03}" for row in range(60)], **penguins(), "note": [f"n{row}" for row in range(60)]}
    dataset = read(write_table(tmp_path / "x.csv", columns), target="species")
    model = fit_model(dataset, "enn")
    protoset.save(model, tmp_path / "m.protoset")
    prepared = protoset.load(tmp_path / "m.protoset").preparation
    assert (prepared.id_column, prepared.columns) == ("id", tuple(columns))
    options = {
        "kind": prepared.kind,
        "attributes": prepared.attributes,
        "target": prepared.target,
        "target_position": prepared.target_position,
        "id_column": prepared.id_column,
        "columns": prepared.columns,
    }
    found = read_queries(tmp_path / "x.csv", **options)
    assert found.ids.tolist() == columns["id"]
    assert found.labels.tolist() == columns["species"]
    np.testing.assert_array_equal(found.objects, dataset.objects)
    without = {name: columns[name] for name in ("island", "mass", "bill")}
    assert read_queries(write_table(tmp_path / "q.csv", without), **options).ids is None
    # Without names, the columns of the training file, with or without the labels, or the attributes alone.
    for names in (list(columns), [name for name in columns if name != "species"], ["bill", "mass", "island"]):
        text = text_of({name: columns[name] for name in names}).partition("\n")[2]
        (tmp_path / "bare.csv").write_text(text)
        bare = read_queries(tmp_path / "bare.csv", **options)
        np.testing.assert_array_equal(bare.objects, dataset.objects)
        assert (bare.ids is None) == ("id" not in names)


def test_models_of_older_versions_have_no_ids(tmp_path):
    dataset = read(write_table(tmp_path / "x.csv", penguins()), target="species")
    values, arrays = fit_model(dataset, "enn").preparation.state()
    assert not {"id_column", "columns", "separator"} & values.keys()
    assert all(len(column) == 3 for column in values["attributes"])
    assert protoset.models.Preparation.from_state(values, arrays).id_column is None


def test_a_model_of_dates_reads_dates_again(tmp_path):
    days = [f"{1 + row % 28}.{1 + row % 12}.2020" for row in range(60)]
    dataset = read(write_table(tmp_path / "x.csv", {"when": days, **penguins()}), target="species")
    protoset.save(fit_model(dataset, "enn"), tmp_path / "m.protoset")
    attributes = protoset.load(tmp_path / "m.protoset").preparation.attributes
    assert attributes[0] == Attribute("when", "date")
    assert attributes[0].form == "DD.MM.YYYY"
    rows = {**{name: values[:2] for name, values in penguins().items()}, "when": ["1.2.1970", "1.2.1970"]}
    found = read_queries(write_table(tmp_path / "q.csv", rows), kind="mixed", attributes=attributes)
    assert found.objects[:, 0].tolist() == [31, 31]
    rows["when"] = ["1970-02-01", ""]
    found = read_queries(write_table(tmp_path / "q.csv", rows), kind="mixed", attributes=attributes)
    assert found.objects[0, 0] == 31
    assert np.isnan(found.objects[1, 0])
    rows["when"] = ["1.2.1970", "soon"]
    with pytest.raises(
        DataError, match=r"expected dates \(DD.MM.YYYY\) in 'when' as in the training set, found 'soon'"
    ):
        read_queries(write_table(tmp_path / "q.csv", rows), kind="mixed", attributes=attributes)


@pytest.fixture
def table(tmp_path):
    columns = {
        "id": list(range(60)),
        "note": [f"note {row}" for row in range(60)],
        "code": [row % 3 for row in range(60)],
        **penguins(),
    }
    return write_table(tmp_path / "table.csv", columns)


def test_the_user_has_the_last_word(table):
    def roles(**options):
        return read(table, target="species", **options).roles

    assert roles() == "used: 3 numeric, 1 categorical; left out: id (unique), note (text)"
    assert roles(ignore="code") == "used: 2 numeric, 1 categorical; left out: id (unique), note (text), code (ignored)"
    assert roles(ignore=["id", "note"]) == "used: 3 numeric, 1 categorical; left out: id (ignored), note (ignored)"
    assert roles(use="id") == "used: 4 numeric, 1 categorical; left out: note (text)"
    assert roles(use=["id", 1]) == roles(use="*") == "used: 4 numeric, 2 categorical"
    assert roles(id="note") == "used: 3 numeric, 1 categorical; left out: id (unique), note (id)"
    assert roles(categorical="code") == "used: 2 numeric, 2 categorical; left out: id (unique), note (text)"
    assert roles(numeric="id") == "used: 4 numeric, 1 categorical; left out: note (text)"
    assert read(table, target="species", id="note").ids[0] == "note 0"
    assert read(table, target="species", ignore="id").ids is None
    assert read(table, target="species", categorical="code").objects[:3, 1].tolist() != [0, 1, 2]


def test_strings_of_a_column(table, tmp_path):
    dataset = read(table, target="species", text="note")
    assert dataset.kind == "strings"
    assert dataset.objects[:2] == ["note 0", "note 1"]
    assert dataset.roles.startswith("used: note (text); left out: id (unique), code (unused)")
    assert dataset.ids[0] == "0"
    write_rows(dataset, [1], tmp_path / "y.csv")
    assert (tmp_path / "y.csv").read_text().splitlines() == [table.read_text().splitlines()[row] for row in (0, 2)]
    model = fit_model(dataset, "enn")
    prepared = model.preparation
    found = read_queries(
        table, kind="strings", attributes=prepared.attributes, target=prepared.target, id_column=prepared.id_column
    )
    assert found.objects == dataset.objects
    assert found.ids.tolist() == dataset.ids.tolist()
    assert found.labels.tolist() == dataset.labels.tolist()
    with pytest.raises(DataError, match=r"text= takes the texts of a column"):
        read(table, target="species", text="note", kind="mixed")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ignore": "colour"}, r"there is no column ignore='colour'; there are id, note, code"),
        ({"ignore": "cod"}, r"there is no column ignore='cod' \(did you mean 'code'\?\)"),
        ({"use": 9}, r"use=9 is not a position in 7 columns"),
        (
            {"ignore": "id", "use": "id"},
            r"the column 'id' is both ignore= and use=, which exclude each other; leave out",
        ),
        ({"ignore": "species"}, r"the column 'species' is both target= and ignore="),
        ({"id": "species"}, r"the column 'species' is both target= and id="),
        ({"categorical": "code", "numeric": "code"}, r"the column 'code' is both numeric= and categorical="),
        ({"numeric": "note"}, r"line 2: expected a number in 'note', found 'note 0'"),
        ({"ignore": ["bill", "mass", "island", "code"]}, r"every column beside the labels is left out: .*by use="),
        ({"ignore": "*"}, r"there is no column ignore='\*'"),
        ({"text": "note", "use": "*"}, r"with text='note' .* are the objects, and use= has no effect"),
        ({"text": "note", "numeric": "mass"}, r"with text='note' .* numeric= has no effect; leave out one"),
        ({"text": "note", "categorical": "code"}, r"with text='note' .* categorical= has no effect"),
    ],
)
def test_contradictions_and_unknown_names(table, options, message):
    with pytest.raises(DataError, match=message):
        read(table, target="species", **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"separator": ";;"}, r"separator=';;' must be one character"),
        ({"decimal": "!"}, r"decimal='!' must be '.' or ','"),
        ({"separator": ",", "decimal": ","}, "separator and decimal are both ','"),
        ({"header": "yes"}, "header='yes' must be True, False, or None"),
        ({"header": np.array([True, False])}, r"header=array\(.* must be True, False, or None"),
        ({"decimal": np.array([".", ","])}, r"decimal=array\(.* must be '.' or ','"),
    ],
)
def test_wrong_values_of_options(table, options, message):
    with pytest.raises(ValueError, match=message):
        read(table, target="species", **options)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("option", ["ignore", "id", "use"])
def test_a_column_with_another_role_has_no_labels(tmp_path, option, ending):
    path, rows = tmp_path / f"x{ending}", range(12)
    frame = pd.DataFrame({"a": [row * 7 % 5 / 2 for row in rows], "kind": [*"xyz"] * 4, "class": [*"uv"] * 6})
    with path.open("wb") as file:
        frame.to_csv(file, index=False) if ending == ".csv" else frame.to_parquet(file, index=False)
    assert set(read(path).labels) == {"u", "v"}
    assert set(read(path, **{option: "class"}).labels) == {"x", "y", "z"}
    with pytest.raises(DataError, match=r"found none \(class has another role by an option\); name it by target="):
        read(path, ignore="kind", **({option: "class"} if option != "ignore" else {"use": "class"}))


@pytest.mark.parametrize("first", [0, 2**53 - 5, 2**62, 10**25], ids=["short", "across", "long", "longer"])
def test_ids_are_never_rounded(tmp_path, first):
    """00042 stays 00042, and numbers that floats do not tell apart stay apart; in a file without names too."""
    path, rows = tmp_path / "x.csv", range(12)
    ids = [f"{first + 3 * row:05d}" for row in rows]
    lines = [f"{name},{row * 7 % 5 / 2},{'uv'[row % 2]}" for row, name in enumerate(ids)]
    path.write_text("\n".join(["id,a,class", *lines]))
    dataset = read(path)
    assert (dataset.ids.tolist(), dataset.left_out[0].reason) == (ids, "unique")
    for text in (lines, ["id,a,class", *lines], [line.rpartition(",")[0] for line in lines]):
        path.write_text("\n".join(text))
        known = {"target": "class", "target_position": 2, "id_column": "id", "columns": ("id", "a", "class")}
        assert read_queries(path, kind="vectors", attributes=dataset.attributes, **known).ids.tolist() == ids


def test_names_of_parquet_columns_that_are_there_twice(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table([[1, 2], [3, 4], ["u", "v"]], names=["a", "a", "class"]), tmp_path / "x.parquet")
    with pytest.raises(DataError, match=r"expected a name of its own for each column, found a twice; rename one"):
        read(tmp_path / "x.parquet")


def test_header_and_separator(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a|b|c\n1|x|u\n2|y|v\n3|x|u\n")
    dataset = read(path, target=2, separator="|")
    assert dataset.layout.header == ("a", "b", "c")
    assert read(path, target=2, separator="|", header=False).n_objects == 4
    write_rows(dataset, [1], tmp_path / "y.csv")
    assert (tmp_path / "y.csv").read_text() == "a|b|c\n2|y|v\n"
    # The model remembers a separator that is not found out.
    assert fit_model(dataset, "enn").preparation.separator == "|"
    found = read_queries(path, kind="mixed", attributes=dataset.attributes, separator="|")
    assert found.objects.tolist() == [[1, "x"], [2, "y"], [3, "x"]]
    path.write_text("1,2,u\n3,4,v\n5,6,u\n")
    assert read(path, header=True, target=-1).layout.header == ("1", "2", "u")
    assert read(path, header=True, target=-1).n_objects == 2


def test_declared_formats(tmp_path):
    keel = "@relation r\n@attribute no integer\n@attribute a real\n@attribute b real\n@attribute c {u, v}\n"
    rows = "".join(f"{row}, {row / 7}, 1.0, {'uv'[row % 2]}\n" for row in range(30))
    for name, header in (("x.dat", "@inputs a, b\n@outputs c\n"), ("y.dat", ""), ("z.arff", "")):
        (tmp_path / name).write_text(f"{keel}{header}@data\n{rows}")
    assert read(tmp_path / "x.dat").roles == "used: 2 numeric; left out: no (no input)"
    assert read(tmp_path / "x.dat", use="no").roles == "used: 3 numeric"
    for name in ("x.dat", "y.dat", "z.arff"):
        dataset = read(tmp_path / name, id="no", ignore="b")
        assert dataset.roles == "used: 1 numeric; left out: no (id), b (ignored)"
        assert dataset.ids.tolist() == [str(row) for row in range(30)]
        write_rows(dataset, [3], tmp_path / f"kept_{name}")
        last = (tmp_path / f"kept_{name}").read_text().splitlines()[-1]
        assert [value.strip() for value in last.split(",")] == ["3", repr(3 / 7), "1.0", "v"]
        assert read(tmp_path / f"kept_{name}", id="no", ignore="b").objects.tolist() == [[3 / 7]]
        with pytest.raises(DataError, match="categorical= is for CSV and Parquet, and this file declares its columns"):
            read(tmp_path / name, categorical="a")
    (tmp_path / "x.ts").write_text("@problemName r\n@classLabel true 1 2\n@data\n1,2:1\n")
    with pytest.raises(DataError, match="ignore= is for tables, and the format ts is none; leave it out"):
        read(tmp_path / "x.ts", ignore="a")


def test_parquet(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow", reason="no pyarrow: pip install 'protoset[parquet]'")
    frame = pandas.DataFrame(penguins())
    frame["when"] = pandas.date_range("1970-01-02", periods=60, freq="12h")
    frame["zoned"] = pandas.date_range("1970-01-02", periods=60, freq="D", tz="Europe/Berlin")
    frame["day"] = [date(1970, 1, 1 + row % 28) for row in range(60)]
    frame["note"] = [f"note {row}" for row in range(60)]
    frame["written"] = [f"{1 + row % 28}.1.1970" for row in range(60)]
    frame["k"] = 7
    frame.index = [f"p{row}" for row in range(60)]
    frame.to_parquet(tmp_path / "x.parquet")
    dataset = read(tmp_path / "x.parquet", target="species")
    expected = {"note": "text", "k": "constant", "__index_level_0__": "unique"}
    assert reasons(dataset) == expected
    assert dataset.ids[:2].tolist() == ["p0", "p1"]
    assert dataset.roles.startswith("used: 2 numeric, 1 categorical, 4 dates (days); left out: note (text)")
    names = [attribute.name for attribute in dataset.attributes]
    assert dataset.objects[1, names.index("when")] == 1.5
    assert dataset.objects[0, names.index("zoned")] == pytest.approx(1 - 1 / 24)
    assert dataset.objects[1, names.index("day")] == 1
    assert dataset.objects[1, names.index("written")] == 1
    write_rows(dataset, [1, 0], tmp_path / "y.parquet")
    again = pandas.read_parquet(tmp_path / "y.parquet")
    assert again["when"].tolist() == frame["when"].iloc[[1, 0]].tolist()
    assert again["zoned"].tolist() == frame["zoned"].iloc[[1, 0]].tolist()
    assert again["day"].tolist() == frame["day"].iloc[[1, 0]].tolist()
    assert again["note"].tolist() == ["note 1", "note 0"]
    assert again["__index_level_0__"].tolist() == ["p1", "p0"]
    with pytest.raises(DataError, match="decimal= is for CSV files, and this is a Parquet file"):
        read(tmp_path / "x.parquet", target="species", decimal=",")
    texts = read(tmp_path / "x.parquet", target="species", text="note")
    assert texts.objects[:2] == ["note 0", "note 1"]
    prepared = fit_model(dataset, "enn").preparation
    found = read_queries(
        tmp_path / "x.parquet", kind="mixed", attributes=prepared.attributes, id_column=prepared.id_column
    )
    assert found.ids.tolist() == dataset.ids.tolist()
    np.testing.assert_array_equal(found.objects, dataset.objects)


def test_dates_of_a_frame_are_days():
    pandas = pytest.importorskip("pandas")
    days = pandas.to_datetime(["1970-01-01T00:00", "1970-01-03T00:00", None, "1970-01-11T12:00"])
    times = [days, days.tz_localize("UTC").tz_convert("Asia/Tokyo"), [0, 2, np.nan, 10.5]]
    matrices = [
        make_space(pandas.DataFrame({"when": when, "x": [1.0, 2, 3, 4]}), "gower").block(slice(None), slice(None))
        for when in times
    ]
    np.testing.assert_array_equal(matrices[0], matrices[2])
    np.testing.assert_array_equal(matrices[1], matrices[2])
