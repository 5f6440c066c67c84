"""Files from the network: resumed where they were broken off, checked, and whole or not there."""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import time
import urllib.error
import urllib.request
from contextlib import nullcontext
from pathlib import Path

from protoset._progress import ProgressCallback
from protoset._version import __version__
from protoset.datasets._alone import alone
from protoset.exceptions import DataError

CHUNK = 1 << 16
LARGEST = 1 << 30
"""Bytes that no file of the archives comes near."""

MAX_TIME = 1800.0
"""Seconds that a download, or the wait for that of another process, may take."""


class _InterruptedError(Exception):
    """An attempt failed in a way that another may not."""


def fetch(
    url: str,
    path: str | os.PathLike[str],
    *,
    sha256: str | None = None,
    progress: ProgressCallback | None = None,
    timeout: float = 30.0,
    attempts: int = 4,
    wait: float = 0.5,
    max_time: float = MAX_TIME,
    lock: bool = True,
) -> str:
    """Download a file.

    What has come stays in ``path`` + ".part" until it is whole, so that a later attempt, or a later call, goes on from
    there; if the server does not do that, or the file has changed meanwhile, it starts again. A part is only gone on
    with if the server's ETag or date, kept beside it, or ``sha256`` can prove that both halves are of one file.

    Parameters
    ----------
    url : str
        With http or https.
    path : path-like
        Where the file goes; its folder is made. What is there is replaced.
    sha256 : str, optional
        Digest that the file must have; without one it is taken as it comes.
    progress : callable, optional
        Called as ``progress(bytes_done, bytes_total)``; the total is None if the server does not say it.
    timeout : float
        Seconds without an answer after which an attempt has failed.
    attempts : int
        How often to try while the connection fails or the server is busy.
    wait : float
        Seconds before the second attempt, twice as many before each further one.
    max_time : float
        Seconds after which no attempt is begun or gone on with; and those that another process, which downloads to the
        same place, is waited for.
    lock : bool
        Whether to keep others from the place meanwhile; False for a caller that does so already.

    Returns
    -------
    str
        The sha256 digest of the file.

    Raises
    ------
    DataError
        If the file could not be had; then nothing is at ``path`` that was not there before.
    """
    if not re.match(r"https?://", url):
        raise DataError(f"url={url!r} must begin with http:// or https://")
    place = Path(path)
    part = place.with_name(place.name + ".part")
    with alone(place, max_time) if lock else nullcontext():
        deadline = time.monotonic() + max_time
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            _whole(url, part, sha256 is not None, progress, timeout, attempts, wait, deadline)
            digest = digest_of(part)
            if sha256 is not None and digest != sha256.lower():
                _remove(part)
                raise DataError(f"{url}: expected a file with the sha256 {sha256}, found {digest}; it was not kept")
            os.replace(part, place)
            _tag_file(part).unlink(missing_ok=True)
        except OSError as reason:
            raise DataError(f"{place}: cannot be written ({reason})") from reason
    return digest


def digest_of(path: Path) -> str:
    """Return the sha256 digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _tag_file(part: Path) -> Path:
    return part.with_name(part.name + ".tag")


def _remove(part: Path) -> None:
    part.unlink(missing_ok=True)
    _tag_file(part).unlink(missing_ok=True)


def _whole(
    url: str,
    part: Path,
    checked: bool,
    progress: ProgressCallback | None,
    timeout: float,
    attempts: int,
    wait: float,
    deadline: float,
) -> None:
    """Bring the part up to the whole file, in several attempts."""
    for attempt in range(attempts):
        try:
            _attempt(url, part, checked, progress, timeout, deadline)
            return
        except _InterruptedError as reason:
            pause = wait * 2**attempt
            if attempt + 1 == attempts or time.monotonic() + pause >= deadline:
                raise DataError(
                    f"{url}: could not be downloaded in {attempt + 1} attempts ({reason}); "
                    "check the connection and try again, it goes on where it stopped"
                ) from reason
            time.sleep(pause)


def _attempt(
    url: str, part: Path, checked: bool, progress: ProgressCallback | None, timeout: float, deadline: float
) -> None:
    """Bring the part up to the whole file, or raise _InterruptedError and leave what came."""
    done = part.stat().st_size if part.exists() else 0
    tag = _tag_file(part).read_text() if _tag_file(part).exists() else ""
    if done and not tag and not checked:
        done = 0
    request = urllib.request.Request(url, headers={"User-Agent": f"protoset/{__version__}"})
    if done:
        request.add_header("Range", f"bytes={done}-")
        if tag:
            request.add_header("If-Range", tag)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            started, total = _place(answer, done)
            if total is not None and total > LARGEST:
                raise DataError(f"{url}: expected at most {LARGEST} bytes, found {total}")
            _tag_file(part).write_text(_tag(answer))
            with part.open("r+b" if started else "wb") as file:
                file.seek(started)
                file.truncate()
                _copy(answer, file, started, total, progress, deadline, url)
                os.fsync(file.fileno())
    except urllib.error.HTTPError as reason:
        reason.close()
        if reason.code == 416:
            # The part is longer than the file, or as long: it is of another file.
            _remove(part)
        if reason.code in (408, 416, 425, 429) or reason.code >= 500:
            raise _InterruptedError(f"the server says {reason.code} {reason.reason}") from reason
        raise DataError(f"{url}: the server says {reason.code} {reason.reason}; the file is not there") from reason
    except (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError) as reason:
        raise _InterruptedError(str(getattr(reason, "reason", reason)) or type(reason).__name__) from reason


def _tag(answer: http.client.HTTPResponse) -> str:
    """Return what tells two versions of a file apart; a weak ETag does not tell enough."""
    tag = answer.headers.get("ETag", "")
    return tag if tag and not tag.startswith("W/") else answer.headers.get("Last-Modified", "")


def _place(answer: http.client.HTTPResponse, done: int) -> tuple[int, int | None]:
    """Return where in the file the answer begins, and how long the file is."""
    length = answer.headers.get("Content-Length", "")
    size = int(length) if length.isdecimal() else None
    if answer.status != 206:
        return 0, size
    found = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+|\*)", answer.headers.get("Content-Range", "").strip())
    if found is None or int(found[1]) != done:
        raise http.client.HTTPException("the server sent another part of the file than was asked for")
    return done, None if found[3] == "*" else int(found[3])


def _copy(
    answer: http.client.HTTPResponse,
    file: object,
    done: int,
    total: int | None,
    progress: ProgressCallback | None,
    deadline: float,
    url: str,
) -> None:
    write = file.write  # type: ignore[attr-defined]
    while chunk := answer.read(CHUNK):
        write(chunk)
        done += len(chunk)
        if done > LARGEST:
            raise DataError(f"{url}: expected at most {LARGEST} bytes, found more")
        if progress is not None:
            progress(done, total)
        if time.monotonic() > deadline:
            raise http.client.HTTPException("it took too long")
    if total is not None and done != total:
        raise http.client.HTTPException(f"the connection broke after {done} of {total} bytes")
