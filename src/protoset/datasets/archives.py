"""Zip files of the archives: their addresses, their cache, and reading files inside them."""

from __future__ import annotations

import os
import sys
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from filelock import Timeout

from protoset._files import lock_of, write_atomically
from protoset._progress import ProgressCallback
from protoset.datasets._errors import error_at
from protoset.datasets.download import MAX_SECONDS, digest_of, fetch
from protoset.datasets.registry import Record
from protoset.exceptions import DataError

ARCHIVE_ADDRESSES = {
    "keel": "https://sci2s.ugr.es/keel/dataset/data/classification/{name}.zip",
    "ucr": "https://timeseriesclassification.com/aeon-toolkit/{name}.zip",
}
"""Address of the zip file of a data set. The UCR archive itself is one zip file with a password."""

MAX_MEMBER_BYTES = 1 << 28
"""Largest file inside a zip file that is read; files of the archives are much smaller."""

ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError)
"""Errors that reading a zip file raises if it is damaged or has a password."""


def cache_folder(cache: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of downloads: ``cache``, PROTOSET_CACHE, or the platform's folder for caches."""
    folder = cache or os.environ.get("PROTOSET_CACHE")
    if folder:
        return Path(folder).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "protoset" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "protoset"


def cached_zip(record: Record, folder: Path) -> Path | None:
    """Return the zip file of a data set in the cache, or None; refuse a file that changed since it was downloaded."""
    path = folder / record.archive / f"{record.name}.zip"
    digest_file = _digest_file(path)
    if not path.is_file() or not digest_file.is_file():
        return None
    try:
        expected, digest = record.sha256 or digest_file.read_text().strip(), digest_of(path)
    except (OSError, ValueError) as reason:
        raise error_at(str(path), f"cannot be read ({reason})") from reason
    if digest != expected:
        raise error_at(
            str(path),
            f"has changed since it was downloaded (expected the sha256 {expected:.64}, found {digest}); "
            "remove it, and it is downloaded again",
        )
    return path


def download_zip(record: Record, folder: Path, progress: ProgressCallback | None) -> Path:
    """Download the zip file of a data set into the cache.

    If the registry has no digest, the first download is trusted: its digest is written beside it, and every later use
    checks the file against that digest.
    """
    path, url = (
        folder / record.archive / f"{record.name}.zip",
        ARCHIVE_ADDRESSES[record.archive].format(name=record.name),
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with lock_of(path).acquire(timeout=MAX_SECONDS):
            # Another process may have downloaded the file meanwhile.
            return cached_zip(record, folder) or _download(record, path, url, progress)
    except Timeout as reason:
        raise error_at(
            str(path), f"another process has been downloading it for {MAX_SECONDS:g} seconds; wait for it, or end it"
        ) from reason
    except OSError as reason:
        raise error_at(str(path), f"cannot be written ({reason})") from reason


def _download(record: Record, path: Path, url: str, progress: ProgressCallback | None) -> Path:
    digest = fetch(url, path, sha256=record.sha256, progress=progress)
    fault = _fault(path)
    if fault is not None:
        path.unlink(missing_ok=True)
        raise DataError(f"{url}: {fault}")
    write_atomically(_digest_file(path), f"{digest}\n".encode())
    return path


def _fault(path: Path) -> str | None:
    """Return a message if a zip file is damaged, else None; every byte is read."""
    if not zipfile.is_zipfile(path):
        return "expected a zip file, found another kind of file"
    try:
        with zipfile.ZipFile(path) as archive:
            large = next((entry for entry in archive.infolist() if entry.file_size > MAX_MEMBER_BYTES), None)
            if large is not None:
                return f"expected {large.filename} to have at most {MAX_MEMBER_BYTES} bytes"
            damaged = archive.testzip()
    except ZIP_ERRORS as reason:
        return f"expected a whole zip file, found one that is damaged or locked ({reason})"
    return None if damaged is None else f"expected a whole zip file, found one in which {damaged} is damaged"


def _digest_file(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def members(path: Path, wanted: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, bytes]]:
    """Return the name and the content of files inside a zip file, by the keys of ``wanted``.

    ``wanted`` has the possible file names for each key, better names first; folders and case do not matter. Nothing is
    extracted to disk, so that names such as ``../file`` can do no harm.
    """
    files: dict[str, tuple[str, bytes]] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            entries = {entry.filename.rpartition("/")[2].casefold(): entry for entry in archive.infolist()}
            for key, names in wanted.items():
                entry = next((entries[name.casefold()] for name in names if name.casefold() in entries), None)
                if entry is None:
                    raise error_at(str(path), f"expected {' or '.join(names)} in it, found none of them")
                # The size in the entry may be wrong, so the bytes are counted.
                with archive.open(entry) as file:
                    content = file.read(MAX_MEMBER_BYTES + 1)
                if len(content) > MAX_MEMBER_BYTES:
                    raise error_at(str(path), f"expected {entry.filename} to have at most {MAX_MEMBER_BYTES} bytes")
                files[key] = (entry.filename.rpartition("/")[2], content)
    except ZIP_ERRORS as reason:
        raise error_at(str(path), f"the zip file is damaged or locked ({reason}); remove it and load again") from reason
    return files
