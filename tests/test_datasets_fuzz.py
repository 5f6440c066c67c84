"""Whatever is in a file: it is read, or there is a DataError. What is read can be written, and read again."""

import random
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from protoset.datasets import Attribute, Dataset, read, read_queries, write_rows
from protoset.datasets._parsing import decode
from protoset.datasets.arff import read_arff, write_arff
from protoset.datasets.csv_tables import read_csv, write_csv
from protoset.datasets.keel import read_keel, write_keel
from protoset.datasets.matrices import read_mat, read_matrix_csv, read_npy, read_npz, write_mat, write_npy, write_npz
from protoset.datasets.parquet import read_parquet, write_parquet
from protoset.datasets.strings import read_strings, write_strings
from protoset.datasets.ts import read_ts, write_ts
from protoset.datasets.ucr import read_ucr, write_ucr
from protoset.exceptions import DataError

KEEL = """@relation r
@attribute a real [0, 1]
@attribute b integer[1,3]
@attribute 'c d'{x, 'y z', "w"}
@attribute class {1, 2.0}
@inputs a, b, 'c d'
@outputs class
@data
0.5, 2, x, 1
?, 3, 'y z', 2
<null>, 1, w, 2.0
"""
ARFF = KEEL.replace("@inputs a, b, 'c d'\n@outputs class\n", "").replace("<null>", "?") + "{0 1, 2 'y z'}\n"
UCR = "1\t0.5\t-1e3\t2\n2\t1\tNaN\tNaN\n1\t1\t?\t3\n"
TS = (
    "#x\n@problemName r\n@univariate false\n@dimensions 2\n@equalLength false\n@classLabel true 1 2\n@data\n1,2:3,?:1\n"
)
CSV = 'a,b,class\n1,"x, y",u\n2.5,,v\n?,z,u\n'
STRINGS = "+\tgcc\n-\tatt\n"

READERS = {
    "keel": (read_keel, write_keel, KEEL),
    "arff": (read_arff, write_arff, ARFF),
    "ucr": (read_ucr, write_ucr, UCR),
    "ts": (read_ts, write_ts, TS),
    "csv": (read_csv, write_csv, CSV),
    "strings": (read_strings, write_strings, STRINGS),
}
PIECES = ["@data", "@attribute", "@outputs", "{", "}", "'", '"', ",", ";", ":", "\t", "\n", "\r", "?", "\\", "%", "nan"]
PIECES += [
    "inf",
    "1e999",
    "-",
    "_",
    "0",
    "1",
    "٣",
    " ",
    "\ufeff",
    "\x85",
    "\u2028",
    "\x00",
    "é",
    "@",
    "true",
    "real",
    "<null>",
]
pieces = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=30).map("".join)


def mutated(text, seed):
    """Some changes to a valid file: parts removed, doubled, exchanged or put in."""
    rng = random.Random(seed)
    for _ in range(rng.randint(1, 4)):
        a, b = sorted(rng.choices(range(len(text) + 1), k=2))
        b = min(b, a + rng.choice([0, 1, 3, 20]))
        text = text[:a] + rng.choice(["", text[a:b] * 2, rng.choice(PIECES), text[b : b + 9]]) + text[b:]
    return text


def assert_read_or_refused(name, text):
    read_text, write_text, _ = READERS[name]
    try:
        dataset = read_text(text, file="x")
    except DataError as reason:
        assert str(reason).startswith("x")
        assert "\n" not in str(reason)
        return
    assert dataset.n_objects == len(dataset.objects) > 0
    assert dataset.labels.dtype.kind in "iU"
    if dataset.kind == "vectors":
        assert not np.isinf(dataset.objects).any()
    if dataset.kind in ("vectors", "mixed"):
        assert dataset.objects.shape == (dataset.n_objects, len(dataset.attributes))
    # NumPy's texts lose a NUL at their end; a file that has one is refused before.
    if name in ("keel", "arff", "ts", "ucr") and "\0" not in text:
        again = read_text(write_text(dataset), file="y")
        assert again.labels.tolist() == dataset.labels.tolist()
        assert str(again.objects) == str(dataset.objects)


@pytest.mark.parametrize("name", READERS)
@given(text=pieces)
@example(text="")
def test_any_text(name, text):
    assert_read_or_refused(name, text)


@pytest.mark.parametrize("name", READERS)
@given(text=pieces)
def test_any_text_in_the_place_of_data(name, text):
    head, mark, _ = READERS[name][2].partition("@data\n")
    assert_read_or_refused(name, head + mark + text)


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=120)
@given(seed=st.integers(0, 2**32))
def test_changed_files(name, seed):
    assert_read_or_refused(name, mutated(READERS[name][2], seed))


@settings(max_examples=150)
@given(content=st.binary(max_size=60), seed=st.integers(0, 2**32), which=st.sampled_from(sorted(READERS)))
def test_any_bytes_decode_or_are_refused(content, seed, which):
    whole = READERS[which][2].encode()
    position = random.Random(seed).randint(0, len(whole))
    try:
        text = decode(whole[:position] + content + whole[position:], "x")
    except DataError as reason:
        assert str(reason).startswith("x")
        return
    assert_read_or_refused(which, text)


@pytest.mark.parametrize("ending", [".dat", ".arff", ".ts", ".tsv", ".txt", ".csv", ""])
def test_changed_files_on_disk(tmp_path, ending):
    """Through read, which has to find out what they are; what can be read can be written, and is not the source."""
    rng = random.Random(ending)
    path = tmp_path / f"x{ending}"
    for number in range(120):
        _, _, text = READERS[rng.choice(sorted(READERS))]
        content = mutated(text, rng.random()).encode(rng.choice(["utf-8", "utf-16", "latin-1"]), errors="replace")
        path.write_bytes(content)
        try:
            dataset = read(path)
        except DataError:
            continue
        write_rows(dataset, [0], tmp_path / f"y{number}{ending}")
        assert path.read_bytes() == content


ARRAY_READERS = {"npy": read_npy, "npz": read_npz, "mat": read_mat, "parquet": read_parquet}


@pytest.mark.parametrize("ending", ARRAY_READERS)
@given(seed=st.integers(0, 2**32), content=st.binary(max_size=40))
def test_damaged_arrays(ending, seed, content):
    """No labels, so that whatever array is found, an error follows; never another one."""
    rng, valid = random.Random(seed), valid_bytes(ending)
    whole = bytearray(valid)
    for _ in range(rng.randint(1, 5)):
        whole[rng.randrange(len(whole))] = rng.randrange(256)
    position = rng.randrange(len(whole))
    for damaged in (bytes(whole), valid[:position], valid[:position] + content, content):
        try:
            ARRAY_READERS[ending](damaged, file="x")
        except DataError as reason:
            assert str(reason).startswith("x")


@cache
def valid_bytes(ending):
    """Return a file without fault."""
    if ending == "parquet":
        pytest.importorskip("pyarrow", reason="no pyarrow: pip install 'protoset[parquet]'")
        attributes = (Attribute("a", "real"), Attribute("b", "nominal", ("u",)))
        objects = np.array([[1.0, "u"]] * 3, dtype=object)
        return write_parquet(Dataset("made", "mixed", objects, np.array([1, 2, 2]), attributes))
    matrix = Dataset("made", "matrix", np.zeros((3, 3)), np.array(["a", "b", "c"]))
    return {"npy": write_npy, "npz": write_npz, "mat": write_mat}[ending](matrix)


@given(pieces)
def test_any_matrix(text):
    try:
        dataset = read_matrix_csv(text, file="x", labels=["a", "b"])
    except DataError:
        return
    assert dataset.objects.shape == (2, 2)


ATTRIBUTES = {
    "vectors": (Attribute("a", "real"), Attribute("b", "integer")),
    "mixed": (Attribute("b", "nominal", ("1", "x, y")), Attribute("a", "real"), Attribute("c d", "nominal", ("x",))),
}
KINDS = ("vectors", "mixed", "series", "strings", "matrix")


def check_queries(path, kind, **options):
    attributes = ATTRIBUTES.get(kind, ())
    try:
        found = read_queries(path, kind=kind, attributes=attributes, target="class", target_position=1, **options)
    except DataError as reason:
        assert str(path) in str(reason)
        assert "\n" not in str(reason)
        return
    assert len(found) > 0
    assert found.labels is None or len(found.labels) == len(found)
    if attributes:
        assert found.objects.shape == (len(found), len(attributes))
    if kind in ("vectors", "matrix"):
        assert found.objects.dtype == np.float64


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", [".dat", ".arff", ".ts", ".tsv", ".csv"])
def test_changed_queries(tmp_path, kind, ending):
    rng = random.Random(kind + ending)
    path = tmp_path / f"x{ending}"
    for _ in range(25):
        text = READERS[rng.choice(sorted(READERS))][2]
        if rng.random() < 0.5:
            # As many columns as there are attributes, of which the header knows nothing.
            text = "".join(f"{rng.choice(['1', '2.5', 'x', '?', ''])},{rng.choice('12')},u\n" for _ in range(3))
        path.write_bytes((mutated(text, rng.random()) if rng.random() < 0.8 else text).encode("utf-8", "replace"))
        check_queries(path, kind)


@pytest.mark.parametrize("ending", ARRAY_READERS)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), kind=st.sampled_from(KINDS))
def test_damaged_queries(tmp_path_factory, ending, seed, kind):
    rng = random.Random(seed)
    path = tmp_path_factory.mktemp("queries") / f"x.{ending}"
    content = bytearray(valid_bytes(ending))
    for _ in range(rng.randint(0, 5)):
        content[rng.randrange(len(content))] = rng.randrange(256)
    path.write_bytes(bytes(content[: rng.choice([len(content), rng.randrange(len(content))])]))
    check_queries(path, kind)
