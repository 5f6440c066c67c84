"""The archives' own zip files: where they are, the cache that keeps them, and what is taken out of them."""

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
"""Zip file of each data set. The UCR archive itself is one zip file behind a password."""

MAX_MEMBER_BYTES = 1 << 28
"""Bytes that no file in the archives comes near."""

ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError)
"""What a damaged zip file, or one behind a password, may raise."""


def cache_folder(cache: str | os.PathLike[str] | None = None) -> Path:
    """Return where downloads are kept: ``cache``, PROTOSET_CACHE, or the platform's folder for caches."""
    given = cache or os.environ.get("PROTOSET_CACHE")
    if given:
        return Path(given).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "protoset" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "protoset"


def cached_zip(record: Record, folder: Path) -> Path | None:
    """Return the data set's zip file in the cache if it is there and is still the file that was downloaded."""
    path = folder / record.archive / f"{record.name}.zip"
    noted = _digest_file(path)
    if not path.is_file() or not noted.is_file():
        return None
    try:
        expected, found = record.sha256 or noted.read_text().strip(), digest_of(path)
    except (OSError, ValueError) as reason:
        raise error_at(str(path), f"cannot be read ({reason})") from reason
    if found != expected:
        raise error_at(
            str(path),
            f"has changed since it was downloaded (expected the sha256 {expected:.64}, found {found}); "
            "remove it, and it is downloaded again",
        )
    return path


def download_zip(record: Record, folder: Path, progress: ProgressCallback | None) -> Path:
    """Download the data set's zip file into the cache.

    Where the registry knows no digest, the file is trusted as it first comes: its digest is noted beside it, and every
    later use checks against that.
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
    """Say what is wrong with a zip file; every byte in it is read."""
    if not zipfile.is_zipfile(path):
        return "expected a zip file, found another"
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
    """Return the wanted files of a zip file, by what they are wanted for: their name and their content.

    Nothing is extracted to disk, so that no name in the zip file means anything but itself.

    Parameters
    ----------
    path : Path
    wanted : mapping
        For each purpose the file names that serve it, the better ones first; folders and case do not matter.
    """
    found: dict[str, tuple[str, bytes]] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            entries = {entry.filename.rpartition("/")[2].casefold(): entry for entry in archive.infolist()}
            for purpose, names in wanted.items():
                entry = next((entries[name.casefold()] for name in names if name.casefold() in entries), None)
                if entry is None:
                    raise error_at(str(path), f"expected {' or '.join(names)} in it, found none of them")
                # What the entry says of its size may be wrong; what is read is not.
                with archive.open(entry) as file:
                    content = file.read(MAX_MEMBER_BYTES + 1)
                if len(content) > MAX_MEMBER_BYTES:
                    raise error_at(str(path), f"expected {entry.filename} to have at most {MAX_MEMBER_BYTES} bytes")
                found[purpose] = (entry.filename.rpartition("/")[2], content)
    except ZIP_ERRORS as reason:
        raise error_at(str(path), f"the zip file is damaged or locked ({reason}); remove it and load again") from reason
    return found
