"""The archive of a file: packing, and unpacking with checks.

Before anything is unpacked, the size of every array is compared with the metadata, and the size of the content with a
limit.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from protoset._memory import beyond_limit
from protoset._version import __version__
from protoset.exceptions import FileFormatError

CLASSIFIER_FORMAT = "protoset-classifier"
"""Format name of a file with a PrototypeClassifier."""

MODEL_FORMAT = "protoset-model"
"""Format name of a file with a DataModel."""

PIPELINE_FORMAT = "protoset-pipeline"
"""Format name of a file with a Pipeline of scikit-learn."""

FORMATS_READ = (CLASSIFIER_FORMAT, MODEL_FORMAT, PIPELINE_FORMAT)
"""Format names of the files that ``load`` reads."""

FORMAT_VERSION = 1
"""Version of the files that this version of protoset writes and reads."""

METADATA = "metadata.json"
"""Name of the JSON file in the archive."""

HEADER_BYTES = 1024
"""Largest header of an array in the archive; NumPy writes 128 bytes for few dimensions."""

CHUNK_BYTES = 2**20
"""Bytes of an array that are unpacked at a time."""

JSON_VALUE_BYTES = 100
"""Largest memory of a JSON value in Python. Each comma, colon or opening bracket counts as one value."""


@contextmanager
def naming_damage(name: str) -> Iterator[None]:
    """Turn any error into one that names the damaged file."""
    try:
        yield
    except FileFormatError:
        raise
    # On damaged files, the readers of zip, JSON and arrays raise errors of many types.
    except Exception as error:
        raise FileFormatError(f"{name!r} is damaged ({error}); write it again with protoset.save") from error


def pack(metadata: str, arrays: dict[str, np.ndarray], compression: int) -> bytes:
    """Return the bytes of an archive."""
    buffer = io.BytesIO()
    archive = zipfile.ZipFile(buffer, "w", compression)
    try:
        archive.writestr(METADATA, metadata)
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
            archive.writestr(f"{name}.npy", member.getvalue())
        archive.close()
    except BaseException:
        archive.fp = None  # closing an archive after Ctrl-C within a member would raise an error of its own
        raise
    return buffer.getvalue()


def read_metadata(archive: zipfile.ZipFile, name: str, limit: int) -> dict[str, Any]:
    """Return the metadata of a file; refuse other formats and versions, and a content larger than ``limit`` bytes."""
    if METADATA not in archive.namelist():
        raise FileFormatError(f"{name!r} is not a protoset classifier: it is a zip archive without {METADATA}")
    _check_size(archive.getinfo(METADATA).file_size, limit, name)
    with _open_member(archive, METADATA) as file:
        text = file.read(archive.getinfo(METADATA).file_size)
    _check_size(content_bytes(text), limit, name)
    metadata = json.loads(text)
    if not isinstance(metadata, dict) or metadata.get("format") not in FORMATS_READ:
        raise FileFormatError(
            f"{name!r} is not a protoset classifier: its {METADATA} does not say format={CLASSIFIER_FORMAT!r}"
        )
    version = metadata["format_version"]
    if type(version) is not int or version != FORMAT_VERSION:
        raise FileFormatError(
            f"{name!r} has format version {version!r}, written by protoset {metadata.get('protoset')}; "
            f"this is protoset {__version__}, which reads version {FORMAT_VERSION}: upgrade protoset"
        )
    _check_size(content_bytes(text, metadata), limit, name)
    return metadata


def _check_size(size: int, limit: int, name: str) -> None:
    if size > limit:
        raise FileFormatError(f"{name!r} {beyond_limit(size, limit)}")


def content_bytes(text: bytes, metadata: dict[str, Any] | None = None) -> int:
    """Upper bound on the memory of a content: its JSON and, with ``metadata``, its arrays and text labels."""
    size = 5 * len(text) + JSON_VALUE_BYTES * sum(text.count(mark) for mark in (b",", b":", b"[", b"{"))
    if metadata is None:
        return size
    declared, labels = metadata["arrays"], metadata["classes"]["values"]
    # NumPy keeps every text of an array with the length of the longest.
    longest = max((len(label) for label in labels if isinstance(label, str)), default=0)
    n_texts = len(labels) + int(np.prod(declared["codes"][1], dtype=object))
    return size + 4 * longest * n_texts + sum(_array_bytes(*entry) for entry in declared.values())


def _array_bytes(dtype: str, shape: list[int]) -> int:
    """Bytes of an array with a declared dtype and shape; refuses arrays of other things than numbers."""
    if np.dtype(dtype).kind not in "fiub" or not all(type(length) is int and length >= 0 for length in shape):
        raise ValueError(f"unknown dtype {dtype!r} or shape {shape!r} of an array")
    return np.dtype(dtype).itemsize * int(np.prod(shape, dtype=object))


def read_arrays(archive: zipfile.ZipFile, declared: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return the arrays that the metadata declare; refuse an archive with other members."""
    files = [f"{name}.npy" for name in declared]
    if sorted(archive.namelist()) != sorted([METADATA, *files]):
        raise ValueError(f"expected the arrays {list(declared)}")
    return {name: _read_array(archive, f"{name}.npy", *declared[name]) for name in declared}


def _open_member(archive: zipfile.ZipFile, file: str) -> IO[bytes]:
    # save writes no other compression; others could unpack a small file to a huge one.
    if archive.getinfo(file).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{file} has another compression than save writes")
    return archive.open(file)


def _read_array(archive: zipfile.ZipFile, file: str, dtype: str, shape: list[int]) -> np.ndarray:
    """Return an array whose size in the archive and header are as declared; nothing beyond that size is unpacked."""
    size = _array_bytes(dtype, shape)
    header_size = archive.getinfo(file).file_size - size
    if not 0 < header_size <= HEADER_BYTES:
        raise ValueError(f"{file} does not have the size of the array that {METADATA} declares")
    with _open_member(archive, file) as member:
        header = io.BytesIO(member.read(header_size))
        version = np.lib.format.read_magic(header)
        if version != (1, 0):
            raise ValueError(f"{file} has the array format {version}, expected (1, 0)")
        header_fields = np.lib.format.read_array_header_1_0(header)
        if header_fields != (tuple(shape), False, np.dtype(dtype)) or header.tell() != header_size:
            raise ValueError(f"{file} does not hold the array that {METADATA} declares")
        flat = np.empty(size, np.uint8)
        for start in range(0, size, CHUNK_BYTES):
            chunk = flat[start : start + CHUNK_BYTES]
            content = member.read(len(chunk))
            if len(content) != len(chunk):
                raise ValueError(f"{file} is cut short")
            chunk[:] = np.frombuffer(content, np.uint8)
    return flat.view(dtype).reshape(shape)


def with_prefix(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Return the arrays whose names have a prefix, by their names without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def native(array: np.ndarray) -> np.ndarray:
    """Return an array in the byte order of this machine, as the kernels need it."""
    return array.astype(array.dtype.newbyteorder("="), copy=False)
