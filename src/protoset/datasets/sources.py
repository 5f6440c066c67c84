"""The content of files and of streams, such as the standard input, as bytes within limits."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protoset._memory import format_bytes, unpacking_limit
from protoset._validation import did_you_mean
from protoset.datasets._errors import error_at
from protoset.datasets._parsing import decompress

STANDARD_INPUT = "standard input"
"""Name of the standard input in messages."""

STREAM_BLOCK = 2**20
"""Bytes or characters that are read from a stream at a time."""


@dataclass(frozen=True, eq=False)
class Source:
    """Content to read, unpacked where it was compressed.

    ``path`` is the path of the file, or a name for a stream. ``limit`` is the number of bytes that may be unpacked from
    the content. ``files`` has the path of the file; it is empty for a stream that is not a file.
    """

    path: Path
    content: bytes
    limit: int
    files: tuple[Path, ...]


def is_stream(source: Any) -> bool:
    """Whether a source is an open file, and not a path."""
    return hasattr(source, "read") and not isinstance(source, (str, os.PathLike))


def open_source(source: Any, max_bytes: int | str | None = None) -> Source:
    """Return the content of a file, or all that is left in an open file."""
    if is_stream(source):
        return _of_stream(source, stream_name(source), max_bytes)
    if not isinstance(source, (str, os.PathLike)) or isinstance(os.fspath(source), bytes):
        raise TypeError(
            f"path={source!r:.80} must be the path of a file, as text or a Path, or an open file; pass a DataFrame to "
            "fit directly, without its ids"
        )
    path = Path(source)
    if _is_pipe(path):
        try:
            with open(path, "rb") as stream:
                return _of_stream(stream, path, max_bytes)
        except OSError as reason:
            raise error_at(str(path), f"cannot be read ({reason})") from reason
    return Source(path, read_bytes(path, max_bytes), file_limit(path, max_bytes), (path,))


def _is_pipe(path: Path) -> bool:
    """Whether a path is a pipe or a device, whose size is not known: /dev/stdin, or <(command) of a shell."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _of_stream(stream: Any, path: Path, max_bytes: int | str | None) -> Source:
    packed = _read_stream(stream, str(path), max_bytes)
    limit = unpacking_limit(len(packed), max_bytes)
    files = (path,) if path.is_file() else ()
    return Source(path, decompress(packed, str(path), limit), limit, files)


def stream_name(stream: Any) -> Path:
    """Return a name for a stream: its own, as files and members of archives have one, or "standard input"."""
    name = getattr(stream, "name", None)
    if name in (0, "<stdin>"):
        return Path(STANDARD_INPUT)
    return Path(name) if isinstance(name, str) and name and "\0" not in name else Path("stream")


def _read_stream(stream: Any, name: str, max_bytes: int | str | None) -> bytes:
    """Return all bytes of a stream; texts in UTF-8. Reading ends with an error beyond the limit."""
    limit, size = unpacking_limit(0, max_bytes), 0
    blocks: list[bytes] = []
    # Where there is read1, Ctrl-C is handled between the blocks of a slow pipe.
    read_block = getattr(stream, "read1", stream.read)
    while size <= limit:
        try:
            block = read_block(STREAM_BLOCK)
            block = block.encode() if isinstance(block, str) else block
        except (OSError, ValueError) as reason:
            raise error_at(name, f"cannot be read ({reason})") from reason
        if not isinstance(block, (bytes, bytearray)):
            raise error_at(name, f"cannot be read (its read returned {type(block).__name__}, and not bytes or text)")
        if not block:
            return b"".join(blocks)
        blocks.append(bytes(block))
        size += len(block)
    raise error_at(
        name,
        f"holds more than the {format_bytes(limit)} that are read from a stream; save it to a file and pass that, or "
        "pass a larger max_bytes in Python",
    )


def file_limit(path: Path, max_bytes: int | str | None) -> int:
    """Return the number of bytes that may be unpacked from a file."""
    return unpacking_limit(path.stat().st_size, max_bytes)


def read_bytes(path: Path, max_bytes: int | str | None = None) -> bytes:
    """Return the content of a file, unpacked if it is a gzip file."""
    try:
        content = path.read_bytes()
    except FileNotFoundError as reason:
        hint = ""
        if path.parent.is_dir():
            hint = did_you_mean(path.name, [other.name for other in path.parent.iterdir()])
        raise error_at(str(path), f"there is no such file{hint}") from reason
    except (OSError, ValueError) as reason:
        raise error_at(str(path), f"cannot be read ({reason})") from reason
    return decompress(content, str(path), file_limit(path, max_bytes))
