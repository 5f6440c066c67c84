"""Scenarios of single processes: models, exported files, ``select``, lists on disk, memory of pairs, downloads."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import http.server
import io
import os
import random
import re
import sqlite3
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import protoset
from campaigns.chaos_base import Scenario, finish_command, make_data, run_command, write_table
from campaigns.chaos_processes import expect
from protoset import REPS, NeighborSearch, PrototypeClassifier
from protoset.selectors import RandomSelector

N_WRITES = 60
"""Files that a process writes one after the other."""

N_FITS = 6
"""Fits of a process that writes neighbour lists."""

TIME_OF_PAGE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
"""Part of a page that differs between two runs."""

N_SETS = 60
"""Objects of the memory of pairs."""

N_PAIRS = N_SETS * (N_SETS - 1) // 2
"""Pairs of objects of the memory of pairs."""

KEEL_FILE = "@relation yeast\n@attribute a real\n@attribute class {u, v}\n@data\n1, u\n2, v\n"
"""A small data set in the format of KEEL."""

CHUNK_SIZE = 20_000
"""Bytes that the server of the downloads sends at a time."""

CHUNK_PAUSE = 0.02
"""Seconds between two of them."""


class WrittenFile(Scenario):
    """Two classifiers are written to one path in turns: the file is always one of them, and whole."""

    def __init__(self, name: str, file: str, write: Callable[..., None], read: Callable[[Path], Any]):
        self.name, self.file, self.write, self.read = name, file, write, read

    @functools.cached_property
    def classifiers(self) -> list[PrototypeClassifier]:
        """The classifiers, of different sizes."""
        selectors = [RandomSelector(size, metric="euclidean", random_state=0) for size in (200, 1500)]
        return [PrototypeClassifier(selector).fit(*make_data(3000, 10)) for selector in selectors]

    @functools.cached_property
    def answers(self) -> list[list[int]]:
        """Predictions of the classifiers."""
        return [self.answer(classifier.predict) for classifier in self.classifiers]

    def answer(self, predict: Callable[[np.ndarray], np.ndarray]) -> list[int]:
        """Predictions of some queries."""
        return predict(make_data(3000, 10)[0][::10]).tolist()

    def prepare(self, folder: Path) -> None:
        """Write the first classifier."""
        self.write(self.classifiers[0], folder / self.file)

    def warm(self) -> None:
        """Fit the classifiers."""
        assert len(self.classifiers) == 2

    def work(self, folder: Path, **_: Any) -> int:
        """Write the classifiers in turns."""
        for number in range(N_WRITES):
            self.write(self.classifiers[number % 2], folder / self.file)
        return 0

    def check(self, folder: Path) -> None:
        """The file is there, whole, and one of both."""
        path = folder / self.file
        expect(path.exists(), f"lost: {self.file} is not there any more")
        try:
            answer = self.answer(self.read(path))
        except Exception as error:
            expect(False, f"truncated: {self.file} cannot be read: {type(error).__name__}: {error}")
        expect(answer in self.answers, f"damaged: {self.file} predicts as neither of the classifiers")

    def recover(self, folder: Path) -> None:
        """The next file is the one that was written."""
        self.write(self.classifiers[1], folder / self.file)
        expect(self.answer(self.read(folder / self.file)) == self.answers[1], f"lost: {self.file} is not the new one")


class Select(Scenario):
    """``protoset select`` with all its outputs: each is not there, or as an undisturbed command writes it."""

    name = "select"
    is_command = True

    def prepare(self, folder: Path) -> None:
        """Write the data."""
        write_table(folder / "data.csv", 300)

    def _arguments(self, folder: Path) -> list[object]:
        words: list[object] = ["select", folder / "data.csv", "--target", "label", "--n-prototypes", 20, "--seed", 0]
        return [*words, "--output", folder / "kept.csv", "--model", folder / "model", "--report", folder / "page.html"]

    def work(self, folder: Path, **_: Any) -> int:
        """Select, over the files that are there."""
        return run_command(*self._arguments(folder), "--force")

    @functools.cached_property
    def outputs(self) -> dict[str, Any]:
        """Outputs of an undisturbed command."""
        with tempfile.TemporaryDirectory() as folder:
            self.prepare(Path(folder))
            finish_command(*self._arguments(Path(folder)))
            return self._read(Path(folder))

    def _read(self, folder: Path) -> dict[str, Any]:
        paths = [folder / name for name in ("kept.csv", "page.html") if (folder / name).exists()]
        read: dict[str, Any] = {path.name: TIME_OF_PAGE.sub("", path.read_text()) for path in paths}
        if not (folder / "model").exists():
            return read
        model = protoset.load(folder / "model")
        return read | {"model": (model.sample_indices_.tolist(), model.predict(make_data(300, 4)[0]).tolist())}

    def check(self, folder: Path) -> None:
        """Outputs are whole or not there."""
        for name, content in self._read(folder).items():
            expect(content == self.outputs[name], f"truncated or damaged: {name} is not that of an undisturbed command")

    def recover(self, folder: Path) -> None:
        """Select again."""
        finish_command(*self._arguments(folder), "--force")
        expect(self._read(folder) == self.outputs, "lost: the outputs are not those of an undisturbed command")


class Lists(Scenario):
    """Fits with neighbour lists in a folder: the lists are whole, or refused as missing or unfinished."""

    name = "lists"

    def work(self, folder: Path, **_: Any) -> int:
        """Fit several times."""
        for _fit in range(N_FITS):
            self._fit(folder)
        return 0

    def _fit(self, folder: Path) -> Any:
        search = NeighborSearch("exact", folder=folder)
        return REPS(30, metric="euclidean", search=search).fit(*make_data(1500, 8))

    @functools.cached_property
    def undisturbed(self) -> tuple[list[int], list[np.ndarray]]:
        """Prototypes and lists of an undisturbed fit."""
        with tempfile.TemporaryDirectory() as folder:
            return self._fit(Path(folder)).sample_indices_.tolist(), self._read(Path(folder))

    def _read(self, folder: Path) -> list[np.ndarray]:
        lists = protoset.neighbors.NeighborLists.from_folder(folder)
        return [np.array(values) for values in (lists.indptr, lists.indices, lists.distances, lists.ranks)]

    def is_refusal(self, code: int, errors: str) -> bool:
        """A second fit in the folder may be refused."""
        return code == 1 and re.search("another (fit|process)", errors) is not None

    def check(self, folder: Path) -> None:
        """Lists that can be read are those of an undisturbed fit."""
        try:
            lists = self._read(folder)
        except FileNotFoundError:
            return
        except ValueError as error:
            expect("unfinished" in str(error), f"truncated: the lists are damaged: {error}")
            return
        self._compare(lists)

    def _compare(self, lists: list[np.ndarray]) -> None:
        same = all(np.array_equal(*pair) for pair in zip(lists, self.undisturbed[1], strict=True))
        expect(same, "damaged: the lists are not those of an undisturbed fit")

    def recover(self, folder: Path) -> None:
        """Fit again."""
        expect(self._fit(folder).sample_indices_.tolist() == self.undisturbed[0], "another fit gives other prototypes")
        self._compare(self._read(folder))


def jaccard(a: frozenset[str], b: frozenset[str], seconds: float = 0.001) -> float:
    """Share of the elements of two sets that are not in both; it takes its time, and is counted."""
    CALLS.append(0)
    time.sleep(seconds)
    return 1 - len(a & b) / len(a | b)


CALLS: list[int] = []
"""An entry per call of ``jaccard`` in this process."""


class PairMemory(Scenario):
    """A function as metric with its memory on disk: known pairs stay known, and are not computed again."""

    name = "pairs"

    def prepare(self, folder: Path) -> None:
        """Nothing is known yet."""
        self._n_stored = 0

    def choices(self) -> list[dict[str, Any]]:
        """In one process, or in two more."""
        return [{"n_jobs": 1}, {"n_jobs": 2}]

    def work(self, folder: Path, *, n_jobs: int = 1, **arguments: Any) -> int:
        """Fit, with all pairs; ``arguments`` are those of the function."""
        self._fit(folder, n_jobs, **arguments)
        return 0

    def _fit(self, folder: Path | None, n_jobs: int = 1, **arguments: Any) -> list[int]:
        rng = np.random.default_rng(0)
        labels = rng.integers(0, 2, N_SETS)
        sets = [frozenset([f"set {i}", *map(str, rng.choice(12, 5) + 4 * labels[i])]) for i in range(N_SETS)]
        memory = {} if folder is None else {"memory": str(folder)}
        params = {"symmetric": True} | memory | arguments
        selector = REPS(10, metric=jaccard, metric_params=params, n_jobs=n_jobs)
        return selector.fit(sets, labels).sample_indices_.tolist()

    @functools.cached_property
    def prototypes(self) -> list[int]:
        """Prototypes of a fit without memory."""
        return self._fit(None)

    def _stored(self, folder: Path) -> int:
        """Count the pairs in the file."""
        files = list(folder.glob("*.sqlite3"))
        expect(len(files) <= 1, f"doubled: {len(files)} files for one function")
        if not files:
            return 0
        with contextlib.closing(sqlite3.connect(files[0])) as connection:
            (state,) = connection.execute("PRAGMA integrity_check").fetchone()
            expect(state == "ok", f"damaged: {state}")
            exists = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'pairs'").fetchone()[0]
            return connection.execute("SELECT count(*) FROM pairs").fetchone()[0] if exists else 0

    def check(self, folder: Path) -> None:
        """Pairs that were stored are stored."""
        n_stored = self._stored(folder)
        expect(n_stored >= self._n_stored, f"lost: {n_stored} pairs are stored, {self._n_stored} were before")
        self._n_stored = n_stored

    def recover(self, folder: Path) -> None:
        """Compute the other pairs, and nothing twice."""
        for n_missing in (N_PAIRS - self._stored(folder), 0):
            prototypes = self.prototypes
            CALLS.clear()
            expect(self._fit(folder) == prototypes, "another fit gives other prototypes")
            expect(len(CALLS) == n_missing, f"doubled: {len(CALLS)} pairs were computed, {n_missing} were missing")


class _Server(http.server.ThreadingHTTPServer):
    """A slow server of one file, which can be resumed."""

    def __init__(self, content: bytes):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.content, self.tag = content, f'"{hashlib.sha256(content).hexdigest()}"'
        self.ranges: list[str | None] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is no error."""


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        """Send the file, or the rest of it."""
        content, wanted = self.server.content, self.headers.get("Range")
        self.server.ranges.append(wanted)
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        self.send_response(206 if wanted else 200)
        if wanted:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.send_header("ETag", self.server.tag)
        self.end_headers()
        for begin in range(start, len(content), CHUNK_SIZE):
            time.sleep(CHUNK_PAUSE)
            self.wfile.write(content[begin : begin + CHUNK_SIZE])

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextlib.contextmanager
def _address(url: str) -> Iterator[None]:
    """Download from another address, and look in no folder."""
    from protoset.datasets import archives

    known, folder = archives.ARCHIVE_ADDRESSES["keel"], os.environ.pop("PROTOSET_DATA", None)
    archives.ARCHIVE_ADDRESSES["keel"] = url
    try:
        yield
    finally:
        archives.ARCHIVE_ADDRESSES["keel"] = known
        if folder is not None:
            os.environ["PROTOSET_DATA"] = folder


class Download(Scenario):
    """A data set from a server on this machine: downloaded once, resumed where it stopped, whole or not there."""

    name = "download"

    def prepare(self, folder: Path) -> None:
        """Start the server."""
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w") as archive:
            archive.writestr("noise.bin", random.Random(0).randbytes(600_000))
            archive.writestr("yeast.dat", KEEL_FILE)
        self._server = _Server(content.getvalue())
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        """End the server."""
        self._server.shutdown()
        self._server.server_close()

    @property
    def _url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/file.zip"

    def choices(self) -> list[dict[str, Any]]:
        """The address of the server."""
        return [{"url": self._url}]

    def warm(self) -> None:
        """Import what the download needs."""
        import protoset.datasets.loading  # noqa: F401

    def work(self, folder: Path, *, url: str = "", **_: Any) -> int:
        """Load the data set."""
        self._load(folder, url)
        return 0

    def _load(self, folder: Path, url: str) -> list[list[float]]:
        from protoset.datasets import load_dataset

        with _address(url):
            return load_dataset("yeast", cache=folder).objects.tolist()

    def check(self, folder: Path) -> None:
        """A file with its name is whole."""
        path = folder / "keel" / "yeast.zip"
        whole = not path.exists() or path.read_bytes() == self._server.content
        expect(whole, "truncated: the zip file has its name and is not whole")

    def recover(self, folder: Path) -> None:
        """Load again; the bytes that came are not asked for again."""
        part = folder / "keel" / "yeast.zip.part"
        n_bytes, known = part.stat().st_size if part.exists() else 0, (folder / "keel" / "yeast.zip.sha256").exists()
        self._server.ranges.clear()
        expect(self._load(folder, self._url) == [[1.0], [2.0]], "damaged: the data set has other objects")
        if known:
            expect(not self._server.ranges, "doubled: the file was there, and was downloaded again")
        elif n_bytes:
            wanted = self._server.ranges[0]
            expect(wanted == f"bytes={n_bytes}-", f"lost: {n_bytes} bytes were there, and {wanted} was asked for")
