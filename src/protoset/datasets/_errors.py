"""Error messages about files: every reader raises ``error_at(file, message, line)``."""

from __future__ import annotations

from collections.abc import Iterable

from protoset._memory import beyond_limit
from protoset.exceptions import DataError


def error_at(file: str, message: str, line: int | None = None) -> DataError:
    """Return an error whose message begins with the file and the line."""
    return DataError(f"{file}{'' if line is None else f', line {line}'}: {message}")


def check_unpacked(file: str, size: int, limit: int) -> None:
    """Raise an error if the content of a file is larger than may be unpacked."""
    if size > limit:
        raise error_at(file, beyond_limit(size, limit))


def shown(text: str) -> str:
    """Return a text for a message: in quotes, cut after 40 characters."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


def listed(names: Iterable[str], most: int = 8) -> str:
    """Return names for a message: separated by commas, the first ``most`` of them and their number."""
    names = [name if name.isprintable() else repr(name) for name in map(str, names)]
    return ", ".join(names[:most]) + (f", ... ({len(names)} in all)" if len(names) > most else "")
