"""Doors for model files: saved, then changed by bytes or by structure, then loaded."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from campaigns.checks import ask, require, same
from campaigns.models import data_model, example_of, model
from campaigns.values import VALUES, jaccard, scratch
from protoset import DataModel, load, save
from protoset.decisions import RuleName
from protoset.exceptions import FileFormatError

METADATA = "metadata.json"
DROP = object()
"""Stands for a JSON value that is removed."""


@cache
def saved(metric: str, rule: RuleName = "nearest", frame: bool = False) -> bytes:
    """The file of a fitted classifier."""
    return _bytes_of(model(metric, rule, frame))


@cache
def saved_data(kind: str) -> bytes:
    """The file of a model with a preparation."""
    return _bytes_of(data_model(kind))


def _bytes_of(classifier: Any) -> bytes:
    path = scratch() / "saved"
    save(classifier, path)
    return path.read_bytes()


def load_bytes(content: bytes) -> None:
    """Load a file; what can be loaded can predict, and be saved and loaded again."""
    path = scratch() / "model"
    path.write_bytes(content)
    try:
        loaded = load(path)
    except ValueError as error:
        if "files hold no code" not in str(error):
            require(isinstance(error, FileFormatError), f"load: {type(error).__name__} in place of FileFormatError")
            raise
        loaded = load(path, metric=jaccard)
    prototypes = loaded.classifier if isinstance(loaded, DataModel) else loaded
    metric = prototypes._prototypes.metric
    queries = eval(example_of(metric), VALUES)
    predicted = ask(prototypes, queries)
    save(loaded, path)
    again = load(path, metric=jaccard) if metric == "callable" else load(path)
    prototypes = again.classifier if isinstance(again, DataModel) else again
    require(same(ask(prototypes, queries), predicted), "a loaded model predicts otherwise after save and load")


def damaged(content: bytes, seed: int) -> bytes:
    """Some bytes changed, removed, doubled or cut off."""
    rng = random.Random(seed)
    for _ in range(rng.randint(1, 4)):
        if not content:
            return content
        start = rng.randrange(len(content))
        end = start + rng.choice([0, 1, 2, 8, 50])
        new = rng.choice([b"", bytes([rng.randrange(256)]), rng.randbytes(4), content[start:end] * 2, b"\xff" * 4])
        content = content[:start] + new + content[end:] if rng.random() < 0.95 else content[:start]
    return content


def _unpacked(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive with these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def with_json(content: bytes, position: int, value: Any) -> bytes:
    """The file with another JSON value in its metadata; ``position`` counts the values in order."""
    members = _unpacked(content)
    document = json.loads(members[METADATA])
    slots = list(_slots(document))
    holder, key = slots[position % len(slots)]
    if value is DROP:
        del holder[key]
    else:
        holder[key] = value
    return zipped(members | {METADATA: json.dumps(document).encode()})


def _slots(node: Any) -> Any:
    """Yield each dict or list in a JSON value with each of its keys."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in [*pairs]:
        yield node, key
        yield from _slots(value)


ARRAY_CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "nan": lambda a: np.where(np.arange(a.size).reshape(a.shape) == 0, np.nan, a),
    "inf": lambda a: np.where(np.arange(a.size).reshape(a.shape) == a.size - 1, np.inf, a),
    "negative": lambda a: -a.astype(np.float64) - 1 if a.dtype.kind == "f" else -a.astype(np.int64) - 1,
    "zeros": np.zeros_like,
    "huge": lambda a: np.full_like(a, 1e300 if a.dtype.kind == "f" and a.dtype.itemsize == 8 else 100),
    "last": lambda a: np.full_like(a, 2**62 if a.dtype == np.int64 else 1),
    "short": lambda a: a[:-1],
    "longer": lambda a: np.concatenate([a, a]),
    "empty": lambda a: a[:0],
    "flat": np.ravel,
    "deeper": lambda a: a[..., None],
    "transposed": lambda a: a.T,
    "reversed": lambda a: a[::-1],
    "float32": lambda a: a.astype(np.float32),
    "float16": lambda a: a.astype(np.float16),
    "int64": lambda a: np.nan_to_num(a, posinf=100, neginf=-100).astype(np.int64),
    "uint8": lambda a: np.nan_to_num(a, posinf=100, neginf=-100).astype(np.int64).astype(np.uint8),
    "bool": lambda a: a.astype(bool),
    "big-endian": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "text": lambda a: a.astype(str),
    "complex": lambda a: a.astype(complex),
}
"""Changes of an array."""


def with_array(content: bytes, number: int, change: str, declared: bool = True) -> bytes:
    """The file with one of its arrays changed, and with ``declared`` its size in the metadata too."""
    members = _unpacked(content)
    names = sorted(name for name in members if name.endswith(".npy"))
    name = names[number % len(names)]
    changed = np.asarray(ARRAY_CHANGES[change](np.load(io.BytesIO(members[name]))))
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(changed), version=(1, 0), allow_pickle=False)
    members[name] = buffer.getvalue()
    document = json.loads(members[METADATA])
    if declared:
        document["arrays"][name.removesuffix(".npy")] = [changed.dtype.str, list(changed.shape)]
    return zipped(members | {METADATA: json.dumps(document).encode()})


def with_header(content: bytes, number: int, header: str) -> bytes:
    """The file with another header of one of its arrays."""
    members = _unpacked(content)
    names = sorted(name for name in members if name.endswith(".npy"))
    name = names[number % len(names)]
    body = members[name][10 + int.from_bytes(members[name][8:10], "little") :]
    head = header.encode("latin-1").ljust(117) + b"\n"
    members[name] = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + body
    return zipped(members)


def with_member(content: bytes, name: str, member: bytes) -> bytes:
    """The file with one more member, or with another content of one."""
    return zipped(_unpacked(content) | {name: member})


def without_member(content: bytes, number: int) -> bytes:
    """The file without one of its members."""
    members = _unpacked(content)
    members.pop(sorted(members)[number % len(members)])
    return zipped(members)


def swapped(content: bytes, first: int, second: int) -> bytes:
    """The file with two members exchanged."""
    members = _unpacked(content)
    names = sorted(members)
    a, b = names[first % len(names)], names[second % len(names)]
    members[a], members[b] = members[b], members[a]
    return zipped(members)


def repacked(content: bytes, compression: int) -> bytes:
    """The file with another compression."""
    return zipped(_unpacked(content), compression)


MODEL_FILE_DOORS = (
    *(load_bytes, saved, saved_data, damaged, with_json, with_array, with_header, with_member, without_member, swapped),
    repacked,
)
