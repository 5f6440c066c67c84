"""Doors for data files: every reader, with files that are made, damaged or hostile."""

from __future__ import annotations

import gzip
import io
import random
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.io import savemat

from campaigns.checks import require
from campaigns.model_files import zipped
from campaigns.models import data_set
from campaigns.values import scratch
from protoset.datasets import Attribute, Dataset, read, read_queries, write_rows
from protoset.exceptions import DataError
from protoset.models import fit_model

TEXTS = {
    ".dat": "@relation r\n@attribute a real [0, 1]\n@attribute b integer[1,3]\n@attribute 'c d'{x, 'y z', \"w\"}\n"
    "@attribute class {1, 2.0}\n@inputs a, b, 'c d'\n@outputs class\n@data\n0.5, 2, x, 1\n?, 3, 'y z', 2\n"
    "<null>, 1, w, 2.0\n",
    ".arff": "@relation r\n@attribute a real\n@attribute b integer\n@attribute 'c d'{x, 'y z', \"w\"}\n"
    "@attribute class {1, 2.0}\n@data\n0.5, 2, x, 1\n?, 3, 'y z', 2\n{0 1, 2 'y z'}\n",
    ".tsv": "1\t0.5\t-1e3\t2\n2\t1\tNaN\tNaN\n1\t1\t?\t3\n",
    ".ts": "#x\n@problemName r\n@univariate false\n@dimensions 2\n@equalLength false\n@classLabel true 1 2\n@data\n"
    "1,2:3,?:1\n3,4:5,6:2\n",
    ".csv": 'a,b,class\n1,"x, y",u\n2.5,,v\n?,z,u\n',
    ".txt": "+\tgcc\n-\tatt\n",
}
"""Valid text files of every format, by ending."""

PIECES = (
    *("@data", "@attribute", "@outputs", "{", "}", "'", '"', ",", ";", ":", "\t", "\n", "\r", "?", "\\", "%", "nan"),
    *("inf", "1e999", "-", "_", "0", "1", "٣", " ", "\ufeff", "\x85", "\u2028", "\x00", "é", "@", "true", "real"),
    *("<null>", "9" * 400, "\n\n\n", "@classLabel false\n", "@univariate true\n", "{0 1}", "=1+1", "1e-400", "\ud7ff"),
)
"""Pieces that texts are broken with."""


def text(ending: str) -> bytes:
    """A valid text file."""
    return TEXTS[ending].encode()


def broken(ending: str, seed: int, encoding: str = "utf-8") -> bytes:
    """A text file with parts removed, doubled, exchanged or put in."""
    rng, content = random.Random(seed), TEXTS[ending]
    for _ in range(rng.randint(1, 4)):
        start, end = sorted(rng.choices(range(len(content) + 1), k=2))
        end = min(end, start + rng.choice([0, 1, 3, 20]))
        new = rng.choice(["", content[start:end] * 2, rng.choice(PIECES), content[end : end + 9]])
        content = content[:start] + new + content[end:]
    return content.encode(encoding, errors="replace")


def gzipped(content: bytes) -> bytes:
    """Compressed content."""
    return gzip.compress(content, 1)


def npy(array: Any) -> bytes:
    """An array as a file."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def npz(**arrays: Any) -> bytes:
    """Arrays as a file."""
    return zipped({f"{name}.npy": npy(array) for name, array in arrays.items()})


def mat(**arrays: Any) -> bytes:
    """Arrays as a file of MATLAB."""
    buffer = io.BytesIO()
    savemat(buffer, arrays)
    return buffer.getvalue()


def parquet(frame: pd.DataFrame) -> bytes:
    """A table as a Parquet file."""
    return bytes(frame.to_parquet(index=False))


@cache
def data_file(kind: str, ending: str) -> bytes:
    """A data set of a kind as a file."""
    path = scratch() / f"made{ending}"
    dataset = data_set(kind)
    write_rows(dataset, np.arange(dataset.n_objects), path, overwrite=True)
    return path.read_bytes()


def read_file(ending: str, content: bytes, **options: Any) -> Dataset:
    """Read a file; what is read is a data set, and what is written of it can be read again."""
    path = scratch() / f"read{ending}"
    path.write_bytes(content)
    try:
        dataset = read(path, **options)
    except DataError as error:
        require("\n" not in str(error), "an error of a reader has several lines")
        require(path.name in str(error) or options, "an error of a reader does not name the file")
        raise
    require(
        dataset.n_objects == len(dataset.objects) == len(dataset.labels) > 0, "numbers of objects and labels differ"
    )
    require(dataset.labels.dtype.kind in "iU", f"labels of the dtype {dataset.labels.dtype}")
    if dataset.kind == "vectors":
        require(not np.isinf(dataset.objects).any(), "infinite numbers in vectors")
    if dataset.kind in ("vectors", "mixed"):
        require(dataset.objects.shape == (dataset.n_objects, len(dataset.attributes)), "shape of a table")
    written = scratch() / f"written{ending}"
    written.unlink(missing_ok=True)
    rows = np.arange(dataset.n_objects)
    write_rows(dataset, rows, written, overwrite=True)
    if dataset.kind in ("vectors", "mixed", "series", "strings") and not options and not ending.endswith(".gz"):
        again = read(written, kind=dataset.kind)
        require(again.labels.tolist() == dataset.labels.tolist(), "labels differ after writing and reading")
        require(str(again.objects) == str(dataset.objects), "objects differ after writing and reading")
    return dataset


def fit_file(ending: str, content: bytes, method: str = "FCNN", **options: Any) -> None:
    """Read a file and fit a model to it, which predicts its own objects."""
    dataset = read_file(ending, content)
    fitted = fit_model(dataset, method, **options)
    require(len(fitted.predict(dataset.objects)) == dataset.n_objects, "another number of predictions than of objects")


ATTRIBUTES = {
    "vectors": (Attribute("a", "real"), Attribute("b", "integer")),
    "mixed": (Attribute("b", "nominal", ("1", "x, y")), Attribute("a", "real"), Attribute("c d", "nominal", ("x",))),
}
"""Attributes of a training set, for queries."""


def read_as_queries(ending: str, content: bytes, kind: Any, **options: Any) -> None:
    """Read a file as objects to classify."""
    path = scratch() / f"queries{ending}"
    path.write_bytes(content)
    attributes = ATTRIBUTES.get(kind, ())
    queries = read_queries(path, kind=kind, attributes=attributes, target="class", target_position=1, **options)
    require(len(queries) > 0, "no queries")
    require(queries.labels is None or len(queries.labels) == len(queries), "labels of queries")
    if attributes:
        require(queries.objects.shape == (len(queries), len(attributes)), "shape of queries")


DATA_FILE_DOORS = (text, broken, gzipped, npy, npz, mat, parquet, data_file, read_file, fit_file, read_as_queries)
