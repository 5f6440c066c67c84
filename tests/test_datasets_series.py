"""Series: lines of the UCR archive, .ts files, folders with two parts."""

import gzip

import numpy as np
import pytest
from hypothesis import given

from dataset_cases import assert_same, made_series, plain_texts
from protoset.datasets import Dataset, read, take, write_rows
from protoset.datasets.ts import read_ts, write_ts
from protoset.datasets.ucr import read_ucr, write_ucr
from protoset.exceptions import DataError

TS = """#A description
@problemName Made
@timeStamps false
@missing true
@univariate false
@dimensions 2
@equalLength false
@classLabel true walk run stand
@data
1,2,3:4,5,6:walk
1,?:NaN,2.5 : run
"""


@given(made_series(channels=False))
def test_round_trip_of_lines(dataset):
    again = read_ucr(write_ucr(dataset))
    assert_same(again, dataset)
    part = take(again, [again.n_objects - 1])
    assert_same(read_ucr(write_ucr(part)), part)


@given(made_series())
def test_round_trip_of_ts(dataset):
    again = read_ts(write_ts(dataset))
    assert_same(again, dataset)
    part = take(again, [again.n_objects - 1])
    assert_same(read_ts(write_ts(part)), part)


def test_lines_with_tabs_commas_and_spaces():
    expected = [[1.5, -2.0, 3.0], [4.0, 5.0, 6.0]]
    for text in (
        "1\t1.5\t-2\t3\n2\t4\t5\t6\n",
        "1,1.5,-2,3\r\n2,4,5,6",
        "  1.0000000e+00  1.5000000e+00 -2.0  3\r  2.0000000e+00   4 5 6\r",
        "1;1.5;-2;3\n\n2; 4; 5; 6\n",
    ):
        dataset = read_ucr(text)
        assert [series.tolist() for series in dataset.objects] == expected
        assert dataset.labels.tolist() == [1, 2]


def test_padding_is_taken_away_and_gaps_stay():
    dataset = read_ucr("1\t1\t2\tNaN\n2\tNaN\t5\tNaN\n-1\t?\t?\t7\n")
    assert [len(series) for series in dataset.objects] == [2, 2, 3]
    np.testing.assert_array_equal(dataset.objects[1], [np.nan, 5])
    np.testing.assert_array_equal(dataset.objects[2], [np.nan, np.nan, 7])


def test_ts_as_it_is():
    dataset = read_ts(TS)
    assert dataset.labels.tolist() == ["walk", "run"]
    np.testing.assert_array_equal(dataset.objects[0], [[1, 4], [2, 5], [3, 6]])
    np.testing.assert_array_equal(dataset.objects[1], [[1, np.nan], [np.nan, 2.5]])
    assert write_ts(take(dataset, [0])) == TS.partition("1,2,3")[0] + "1.0,2.0,3.0:4.0,5.0,6.0:walk\n"
    assert read_ts("@classLabel true 1.0 2.0\n@data\n5:1\n6:2.0\n").labels.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"x: expected series, a label and numbers in each line, found an empty file"),
        ("1\t2\t3\n2\t4\n", r"x, line 2: expected 2 values after the label as in line 1, found 1; pad shorter series"),
        ("1\t2\tx\n", r"x, line 1: expected a number as value 2 of the series, found 'x'"),
        ("1\t2\tinf\n", r"x, line 1: expected a number as value 2 of the series, found 'inf'"),
        ("1\n", r"x, line 1: expected a label and then the values of a series, found '1'"),
        ("\n1\tNaN\tNaN\n", r"x, line 2: expected a series with at least one value, found none"),
        ("\t1\t2\n", r"x, line 1: expected a label, found none before"),
    ],
)
def test_what_is_wrong_in_lines(text, message):
    with pytest.raises(DataError, match=message):
        read_ucr(text, file="x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"x, line 1: expected '@data' after the header, found the end"),
        ("@problemName a\n1,2:3\n", r"x, line 2: expected '@data' or another line with '@' before the series"),
        ("@classLabel true 1\n@data\n", r"x: expected series after '@data', found none"),
        ("@classLabel true 1\n@data\n1,2\n", r"x, line 3: expected values, a colon and a label, found no colon"),
        ("@classLabel true 1\n@data\n1,a:1\n", r"x, line 3: expected a number as value 2 of channel 1, found 'a'"),
        (
            "@classLabel true 1\n@data\n1,2:1,2,3:1\n",
            r"x, line 3: expected 2 values in channel 2 as in the first, found 3",
        ),
        (
            "@classLabel true 1\n@data\n1,2:2\n",
            r"x, line 3: expected one of the values of 'class label' \(1\), found '2'",
        ),
        ("@classLabel true 1\n@data\n1,2:\n", r"x, line 3: the label 'class label' is missing"),
        ("@classLabel true 1\n@data\n1:2:1\n3:1\n", r"x, line 4: expected 2 channels as in line 3, found 1"),
        ("@univariate true\n@data\n1:2:1\n", r"x, line 3: expected one channel \(@univariate true\), found 2"),
        ("@dimensions 3\n@data\n1:2:1\n", r"x, line 3: expected 3 channels as declared, found 2"),
        ("@equalLength true\n@data\n1,2:1\n1:1\n", r"x, line 4: expected 2 values \(@equalLength true\), found 1"),
        ("@equalLength true\n@seriesLength 3\n@data\n1,2:1\n", r"x, line 4: expected 3 values"),
        ("@timeStamps true\n@data\n(0,1):1\n", r"x: the series have time stamps, which are not supported"),
        ("@targetLabel true\n@data\n1:0.5\n", r"x: the file has numbers to predict \(@targetlabel\)"),
        ("@classLabel false\n@data\n1,2\n", r"x: expected '@classLabel true' and the labels, found no labels"),
    ],
)
def test_what_is_wrong_in_ts(text, message):
    with pytest.raises(DataError, match=message):
        read_ts(text, file="x")


@pytest.mark.parametrize("ending", [".tsv", ".tsv.gz", ".ts", ".txt", ".ts.gz"])
def test_folder_with_two_parts(tmp_path, ending):
    folder = tmp_path / "Made"
    folder.mkdir()
    head = "@classLabel true 1 2\n@data\n" if ".ts" in ending and ".tsv" not in ending else ""
    for part, rows in (("TRAIN", [(1, 0.5, 2.0)]), ("TEST", [(2, 1.0, 3.0), (1, 4.0, 5.0)])):
        lines = [f"{a},{b}:{label}" if head else f"{label}\t{a}\t{b}" for label, a, b in rows]
        text = (head + "\n".join(lines)).encode()
        (folder / f"Made_{part}{ending}").write_bytes(gzip.compress(text) if ending.endswith(".gz") else text)
    dataset = read(folder)
    assert (dataset.name, dataset.kind, dataset.n_train, dataset.path) == ("Made", "series", 1, folder)
    assert dataset.labels.tolist() == [1, 2, 1]
    assert [series.tolist() for series in dataset.objects] == [[0.5, 2], [1, 3], [4, 5]]
    write_rows(dataset, [2, 0], tmp_path / f"part_TRAIN{ending}")
    again = read(tmp_path / f"part_TRAIN{ending}")
    assert again.n_train is None
    assert_same(again, take(dataset, [2, 0]))


def test_folders_that_are_none(tmp_path):
    with pytest.raises(DataError, match=r"is a folder; expected NAME_TRAIN and NAME_TEST .*, found nothing"):
        read(tmp_path)
    (tmp_path / "A_TRAIN.tsv").write_text("1\t2\t3\n")
    with pytest.raises(DataError, match=r"expected A_TRAIN and A_TEST, found A_TRAIN.tsv alone; read that file"):
        read(tmp_path)
    (tmp_path / "B_TRAIN.tsv").write_text("1\t2\t3\n")
    with pytest.raises(DataError, match=r"expected one data set, found A, B; read one of its files"):
        read(tmp_path)
    with pytest.raises(DataError, match=r"target= and labels= are not for folders"):
        read(tmp_path, target=0)


def test_labels_of_the_parts_become_of_one_type(tmp_path):
    (tmp_path / "A_TRAIN.tsv").write_text("1.0\t2\t3\n")
    (tmp_path / "A_TEST.tsv").write_text("b\t2\t3\n")
    assert read(tmp_path).labels.tolist() == ["1.0", "b"]


def test_series_that_do_not_fit():
    wide = Dataset("made", "series", [np.zeros((3, 2))], np.array([1]))
    with pytest.raises(DataError, match=r"a series of the shape \(3, 2\) cannot be a line of values; write a .ts file"):
        write_ucr(wide)
    with pytest.raises(DataError, match=r"the label 'a b' cannot be in a .ts file; replace its spaces and colons"):
        write_ts(Dataset("made", "series", [np.zeros(3)], np.array(["a b"])))


@given(plain_texts)
def test_a_ts_file_needs_no_list_of_labels(label):
    assert read_ts(f"@problemName x\n@data\n1,2:{label}\n").labels.tolist() == [label]
