"""Download one file: broken downloads are resumed, the content is checked, and the file is whole or not there.

Why not pooch: pooch downloads to a temporary file with a random name and throws that file away when the connection
breaks, so nothing can be resumed. It has no limit on time or size. With a downloader of our own, which would be this
file, pooch would add the check of the digest, the rename, and eight packages to install.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from protoset._progress import ProgressCallback
from protoset._version import __version__
from protoset.exceptions import DataError

CHUNK_BYTES = 1 << 16
"""Bytes that are read from the network at a time."""

MAX_FILE_BYTES = 1 << 30
"""Largest file that is downloaded; every file of the archives is much smaller."""

MAX_SECONDS = 1800.0
"""Longest time of a download, or of the wait for the download of another process."""

TEMPORARY_STATUSES = (408, 416, 425, 429)
"""HTTP statuses after which another attempt may succeed, besides those from 500 on."""


class _BrokenOffError(Exception):
    """An attempt failed in a way that another attempt may not."""


def fetch(
    url: str,
    path: Path,
    *,
    sha256: str | None = None,
    progress: ProgressCallback | None = None,
    timeout: float = 30.0,
    attempts: int = 4,
    wait: float = 0.5,
    max_time: float = MAX_SECONDS,
) -> str:
    """Download a file by http or https, and return its sha256 digest; the caller holds the lock of its path.

    The content is kept in ``path`` + ".part" until it is whole. A later attempt, or a later call, resumes there if the
    server's ETag or date (kept in ".part.tag") or ``sha256`` can prove that both parts belong to the same file.
    Otherwise the download starts again. If it fails, there is a DataError, and ``path`` is as it was before.

    An attempt fails after ``timeout`` seconds without an answer. The next attempt begins after ``wait`` seconds, which
    are doubled each time. After ``max_time`` seconds no attempt is started or continued.
    """
    if not re.match(r"https?://", url):
        raise DataError(f"url={url!r} must begin with http:// or https://")
    part = path.with_name(path.name + ".part")
    download = _Download(url, part, sha256 is not None, progress, timeout, time.monotonic() + max_time)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        download.run(attempts, wait)
        digest = digest_of(part)
        if sha256 is not None and digest != sha256.lower():
            download.remove_part()
            raise DataError(f"{url}: expected a file with the sha256 {sha256}, found {digest}; it was not kept")
        os.replace(part, path)
        download.tag_path.unlink(missing_ok=True)
    except OSError as reason:
        raise DataError(f"{path}: cannot be written ({reason})") from reason
    return digest


def digest_of(path: Path) -> str:
    """Return the sha256 digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class _Download:
    url: str
    part: Path
    has_digest: bool
    progress: ProgressCallback | None
    timeout: float
    deadline: float

    @property
    def tag_path(self) -> Path:
        return self.part.with_name(self.part.name + ".tag")

    def remove_part(self) -> None:
        self.part.unlink(missing_ok=True)
        self.tag_path.unlink(missing_ok=True)

    def run(self, attempts: int, wait: float) -> None:
        """Complete the part, in several attempts."""
        for attempt in range(attempts):
            try:
                return self._attempt()
            except _BrokenOffError as reason:
                pause = wait * 2**attempt
                if attempt + 1 == attempts or time.monotonic() + pause >= self.deadline:
                    raise DataError(
                        f"{self.url}: could not be downloaded in {attempt + 1} attempts ({reason}); check the "
                        "connection and try again, the download resumes where it stopped"
                    ) from reason
                time.sleep(pause)

    def _attempt(self) -> None:
        """Complete the part, or raise _BrokenOffError and keep the bytes that came."""
        try:
            request = self._request()
            with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                start, total = _range_of(answer, request.get_header("Range"))
                if total is not None and total > MAX_FILE_BYTES:
                    raise DataError(f"{self.url}: expected at most {MAX_FILE_BYTES} bytes, found {total}")
                self.tag_path.write_text(_tag_of(answer))
                with self.part.open("r+b" if start else "wb") as file:
                    file.seek(start)
                    file.truncate()
                    self._copy(answer, file, total)
                    os.fsync(file.fileno())
        except urllib.error.HTTPError as reason:
            reason.close()
            if reason.code == 416:  # the part is at least as long as the file, so it belongs to another file
                self.remove_part()
            if reason.code in TEMPORARY_STATUSES or reason.code >= 500:
                raise _BrokenOffError(f"the server says {reason.code} {reason.reason}") from reason
            raise DataError(
                f"{self.url}: the server says {reason.code} {reason.reason}; the file is not there"
            ) from reason
        except (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError) as reason:
            raise _BrokenOffError(str(getattr(reason, "reason", reason)) or type(reason).__name__) from reason

    def _request(self) -> urllib.request.Request:
        """Ask for the rest of the file, or for the whole file if nothing proves what the part belongs to."""
        headers = {"User-Agent": f"protoset/{__version__}"}
        size = self.part.stat().st_size if self.part.exists() else 0
        tag = self.tag_path.read_text() if self.tag_path.exists() else ""
        if size and (tag or self.has_digest):
            headers |= {"Range": f"bytes={size}-"} | ({"If-Range": tag} if tag else {})
        return urllib.request.Request(self.url, headers=headers)

    def _copy(self, answer: http.client.HTTPResponse, file: IO[bytes], total: int | None) -> None:
        done = file.tell()
        while chunk := answer.read(CHUNK_BYTES):
            done += file.write(chunk)
            if done > MAX_FILE_BYTES:
                raise DataError(f"{self.url}: expected at most {MAX_FILE_BYTES} bytes, found more")
            if self.progress is not None:
                self.progress(done, total)
            if time.monotonic() > self.deadline:
                raise http.client.HTTPException("it took too long")
        if total is not None and done != total:
            raise http.client.HTTPException(f"the connection broke after {done} of {total} bytes")


def _tag_of(answer: http.client.HTTPResponse) -> str:
    """Return the header that tells two versions of a file apart; a weak ETag cannot."""
    tag = answer.headers.get("ETag", "")
    return tag if tag and not tag.startswith("W/") else answer.headers.get("Last-Modified", "")


def _range_of(answer: http.client.HTTPResponse, asked: str | None) -> tuple[int, int | None]:
    """Return the byte at which the answer begins, and the size of the file."""
    length = answer.headers.get("Content-Length", "")
    if answer.status != 206:
        return 0, int(length) if length.isdecimal() else None
    match = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+|\*)", answer.headers.get("Content-Range", "").strip())
    if match is None or asked != f"bytes={match[1]}-":
        raise http.client.HTTPException("the server sent another part of the file than was asked for")
    return int(match[1]), None if match[3] == "*" else int(match[3])
