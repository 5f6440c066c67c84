"""Made data sets and comparisons for the tests of protoset.datasets."""

import numpy as np
from hypothesis import strategies as st

from protoset.datasets import Attribute, Dataset
from protoset.datasets._parsing import is_number

letters = st.characters(exclude_categories=("Cs", "Cc"))
texts = st.text(letters, min_size=1, max_size=6) | st.sampled_from(
    ["?", "it's", 'a"b', "a,b", "{x}", "100%", "\\", "<null>", " a", "NA", "'", '"', "@data", "-", "1", "1.0", "}", ";"]
)
plain_texts = st.from_regex(r"[a-z][a-z0-9_.+-]{0,5}", fullmatch=True).filter(lambda text: not is_number(text))
numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-5, 5).map(float)


def labels_of(draw, n, of_texts):
    """Labels of n objects: whole numbers, or texts of which at least one is no number."""
    if draw(st.booleans()):
        return np.array(draw(st.lists(st.integers(-3, 12), min_size=n, max_size=n)), dtype=np.int64)
    first = draw(of_texts.filter(lambda text: not is_number(text.strip()) and text.strip()))
    return np.array([first, *draw(st.lists(of_texts, min_size=n - 1, max_size=n - 1))], dtype=str)


@st.composite
def made_tables(draw, of_texts=texts, max_objects=6, max_attributes=4, missing=True):
    """Data sets of vectors or mixed attributes."""
    n = draw(st.integers(1, max_objects))
    names = draw(st.lists(of_texts, min_size=1, max_size=max_attributes, unique_by=str.casefold))
    attributes, columns = [], []
    for name in names:
        if draw(st.booleans()):
            attributes.append(Attribute(name, draw(st.sampled_from(["real", "integer"]))))
            number = numbers if attributes[-1].type == "real" else st.integers(-999, 999).map(float)
            columns.append(draw(st.lists(number | st.just(np.nan) if missing else number, min_size=n, max_size=n)))
        else:
            values = draw(st.lists(of_texts, min_size=1, max_size=3, unique=True))
            attributes.append(Attribute(name, "nominal", tuple(values)))
            value = st.sampled_from(values)
            columns.append(draw(st.lists(value | st.none() if missing else value, min_size=n, max_size=n)))
    is_mixed = any(attribute.type == "nominal" for attribute in attributes)
    objects = np.empty((n, len(names)), dtype=object if is_mixed else float)
    for position, column in enumerate(columns):
        objects[:, position] = column
    kind = "mixed" if is_mixed else "vectors"
    return Dataset("made", kind, objects, labels_of(draw, n, of_texts), tuple(attributes))


@st.composite
def made_series(draw, of_texts=plain_texts, channels=True):
    """Data sets of series of one or several lengths and channels, with values missing inside."""
    n = draw(st.integers(1, 5))
    n_channels = draw(st.integers(1, 3)) if channels else 1
    objects = []
    for _ in range(n):
        length = draw(st.integers(1, 5))
        value = numbers | st.just(np.nan)
        rows = draw(
            st.lists(st.lists(value, min_size=n_channels, max_size=n_channels), min_size=length, max_size=length)
        )
        rows[-1] = draw(st.lists(numbers, min_size=n_channels, max_size=n_channels))
        objects.append(np.array(rows) if n_channels > 1 else np.array(rows)[:, 0])
    return Dataset("made", "series", objects, labels_of(draw, n, of_texts))


def assert_same(found, expected):
    """The same objects and labels, in value and type."""
    assert found.kind == expected.kind
    assert found.labels.tolist() == expected.labels.tolist()
    assert found.labels.dtype.kind == expected.labels.dtype.kind
    assert len(found.objects) == len(expected.objects)
    if expected.kind == "mixed":
        assert found.objects.dtype == object
        for row, other in zip(found.objects.tolist(), expected.objects.tolist(), strict=True):
            for value, wanted in zip(row, other, strict=True):
                assert type(value) is type(wanted)
                assert value == wanted or (value != value and wanted != wanted)
    elif expected.kind == "strings":
        assert list(found.objects) == list(expected.objects)
    else:
        for row, wanted in zip(found.objects, expected.objects, strict=True):
            np.testing.assert_array_equal(row, wanted)
