"""Queries are read by the names that the training set has, whatever these look like."""

import numpy as np
import pytest

from protoset.datasets import read, read_queries
from protoset.exceptions import DataError


def write(path, lines):
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("names", [("2019", "2020"), ("a", "b"), ("x y", "ä")])
def test_columns_are_found_by_name_in_any_order(tmp_path, names):
    """A header of numbers, or one whose names are values of its columns, is a header all the same."""
    rows = [(str(i), "ab"[i % 2], "yes" if i % 3 else "no") for i in range(12)]
    training = write(tmp_path / "train.csv", [f"{names[0]},{names[1]},class", *(",".join(row) for row in rows)])
    known = read(training, target="class")
    assert known.n_objects == 12
    swapped = write(tmp_path / "new.csv", [f"{names[1]},more,{names[0]}", *(f"{b},7,{a}" for a, b, _ in rows)])
    for path in (training, swapped):
        found = read_queries(path, kind=known.kind, attributes=known.attributes, target="class", target_position=2)
        np.testing.assert_array_equal(found.objects, known.objects)


def test_no_two_columns_have_the_same_name(tmp_path):
    path = write(tmp_path / "twice.csv", ["x,x,c", "1,2,a", "3,4,b"])
    with pytest.raises(DataError, match=r"line 1: expected a name of its own .* found 'x' for the columns 0 and 1"):
        read(path, target="c")
