"""Lines of the part "models": model files, changed by bytes and by structure."""

from __future__ import annotations

from hypothesis import strategies as st

from campaigns.lines.objects import NAMES
from campaigns.lines.text import fill, pick
from campaigns.model_files import ARRAY_CHANGES
from protoset.spaces import DISSIMILARITIES

CLASSIFIERS = [f"saved({name!r})" for name in ["callable", *NAMES]]
FRAMES = [f"saved({name!r}, frame=True)" for name in NAMES if DISSIMILARITIES[name].kind == "vectors"]
ADJUSTED = [f"saved({name!r}, 'adjusted')" for name in NAMES]
DATA = [f"saved_data({kind!r})" for kind in ("vectors", "mixed", "series", "strings", "matrix")] * 4
FILE = pick(*CLASSIFIERS, *FRAMES, *ADJUSTED, *DATA)

NUMBER = st.integers(0, 9).map(str)
JSON_VALUE = pick(
    *(
        "None",
        "True",
        "False",
        "0",
        "1",
        "-1",
        "2",
        "7",
        "0.5",
        "1e308",
        "-1e308",
        "nan",
        "inf",
        "2**63",
        "10**30",
        "''",
    ),
    *("'x'", "'euclidean'", "'precomputed'", "'callable'", "'gower'", "'adjusted'", "'float64'", "'<f8'", "'|O'", "[]"),
    *("[1]", "['a', 'b']", "{}", "{'a': 1}", "[[]]", "DROP", "DROP", "DROP", "'a' * 1000", "'\\x00'", "[None] * 3"),
)
HEADER = pick(
    *("{'descr': '<f8', 'fortran_order': False, 'shape': (6, 3), }", "{'descr': '<f8', 'fortran_order': False, }"),
    *(
        "{'descr': '|O', 'fortran_order': False, 'shape': (6,), }",
        "{'descr': '<i8', 'fortran_order': True, 'shape': ()}",
    ),
    *("{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999999,), }", "__import__('os')", "", "{", "[]"),
    *("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }", "{'descr': '<M8[s]', 'fortran_order': 0}"),
).map(repr)

BY_BYTES = fill("load_bytes(damaged({file}, {seed}))", file=FILE, seed=st.integers(0, 9999).map(str))
BY_JSON = fill(
    "load_bytes(with_json({file}, {leaf}, {value}))", file=FILE, leaf=st.integers(0, 60).map(str), value=JSON_VALUE
)
BY_ARRAY = fill(
    "load_bytes(with_array({file}, {number}, {change}{declared}))",
    file=FILE,
    number=NUMBER,
    change=pick(*map(repr, ARRAY_CHANGES)),
    declared=pick("", "", "", ", declared=False"),
)
TWO_CHANGES = fill(
    "load_bytes(with_json(with_array({file}, {number}, {change}), {leaf}, {value}))",
    file=FILE,
    number=NUMBER,
    change=pick(*map(repr, ARRAY_CHANGES)),
    leaf=st.integers(0, 60).map(str),
    value=JSON_VALUE,
)
BY_MEMBER = st.one_of(
    fill("load_bytes(with_header({file}, {number}, {header}))", file=FILE, number=NUMBER, header=HEADER),
    fill("load_bytes(without_member({file}, {number}))", file=FILE, number=NUMBER),
    fill("load_bytes(swapped({file}, {number}, {other}))", file=FILE, number=NUMBER, other=NUMBER),
    fill("load_bytes(repacked({file}, {kind}))", file=FILE, kind=pick("0", "8", "12", "14")),
    fill(
        "load_bytes(with_member({file}, {name}, {content}))",
        file=FILE,
        name=pick("'metadata.json'", "'codes.npy'", "'../x.npy'", "'x.npy'", "'/etc/x'"),
        content=pick("b''", "b'{}'", "b'[]'", "b'[' * 100000", "b'x' * 99", "b'\\x93NUMPY'", "b'nan'", "b'\\xff\\xfe'"),
    ),
)

LINES = st.one_of(BY_BYTES, BY_JSON, BY_ARRAY, TWO_CHANGES, BY_MEMBER)
