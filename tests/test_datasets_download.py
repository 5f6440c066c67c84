"""Downloads from a real server on this machine: broken off, resumed, wrong, missing, offline."""

import hashlib
import http.server
import random
import re
import socket
import subprocess
import sys
import threading
import time
import zipfile

import pytest

from protoset._files import lock_of
from protoset.datasets import archives, load_dataset
from protoset.datasets.archives import cache_folder, members
from protoset.datasets.download import fetch
from protoset.exceptions import DataError

CONTENT = random.Random(0).randbytes(300_000)
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    """A server of one file that can be made to misbehave; keeps the requests that it got."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content, self.tag = CONTENT, '"one"'
        self.ranges = True
        self.with_length = True
        self.breaks: list[int] = []
        self.statuses: list[int] = []
        self.requests: list[dict[str, str]] = []
        self.pause = 0.0
        self.shift = 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/file.zip"

    def handle_error(self, request, client_address):
        """A client that hangs up is no news."""


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self):
        server = self.server
        server.requests.append(dict(self.headers))
        if server.statuses:
            self.send_error(server.statuses.pop(0))
            return
        start = 0
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        same = self.headers.get("If-Range", server.tag) == server.tag
        if asked and server.ranges and same:
            start = int(asked[1]) + server.shift
            if start >= len(server.content):
                self.send_error(416)
                return
        content = server.content[start:]
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(server.content) - 1}/{len(server.content)}")
        if server.with_length:
            self.send_header("Content-Length", str(len(content)))
        if server.tag:
            self.send_header("ETag", server.tag)
        self.end_headers()
        if server.breaks:
            content = content[: server.breaks.pop(0)]
        for begin in range(0, len(content), 20_000):
            time.sleep(server.pause)
            self.wfile.write(content[begin : begin + 20_000])

    def log_message(self, *arguments):
        """Say nothing."""


@pytest.fixture
def server():
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def names(folder):
    """What is in a folder, but for locks, which stay."""
    return sorted(file.name for file in folder.iterdir() if file.suffix != ".lock")


def test_a_file_comes_whole(server, tmp_path):
    seen = []
    place = tmp_path / "new" / "x.zip"
    assert fetch(server.url, place, sha256=DIGEST.upper(), progress=lambda *state: seen.append(state)) == DIGEST
    assert place.read_bytes() == CONTENT
    assert names(place.parent) == ["x.zip"]
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert len(server.requests) == 1


def test_a_broken_connection_is_gone_on_with(server, tmp_path):
    server.breaks = [100_000, 50_000]
    fetch(server.url, tmp_path / "x.zip", wait=0.01)
    assert (tmp_path / "x.zip").read_bytes() == CONTENT
    assert [request.get("Range") for request in server.requests] == [None, "bytes=100000-", "bytes=150000-"]
    assert server.requests[1]["If-Range"] == '"one"'
    assert names(tmp_path) == ["x.zip"]


def test_a_later_call_goes_on(server, tmp_path):
    server.breaks = [100_000]
    with pytest.raises(
        DataError, match=r"could not be downloaded in 1 attempts \(the connection broke after 100000 of"
    ):
        fetch(server.url, tmp_path / "x.zip", attempts=1)
    assert names(tmp_path) == ["x.zip.part", "x.zip.part.tag"]
    fetch(server.url, tmp_path / "x.zip")
    assert server.requests[-1]["Range"] == "bytes=100000-"
    assert (tmp_path / "x.zip").read_bytes() == CONTENT


def test_a_file_that_changed_meanwhile_is_begun_again(server, tmp_path):
    server.breaks = [100_000]
    with pytest.raises(DataError, match="could not be downloaded"):
        fetch(server.url, tmp_path / "x.zip", attempts=1)
    server.content, server.tag = CONTENT[::-1], '"two"'
    fetch(server.url, tmp_path / "x.zip")
    assert (tmp_path / "x.zip").read_bytes() == CONTENT[::-1]


def test_a_part_of_nobody_knows_what_is_begun_again(server, tmp_path):
    server.tag = ""
    server.breaks = [100_000]
    fetch(server.url, tmp_path / "x.zip", wait=0.01)
    assert (tmp_path / "x.zip").read_bytes() == CONTENT
    assert [request.get("Range") for request in server.requests] == [None, None]
    # With a digest it can be gone on with: what does not fit is found out.
    server.breaks = [100_000]
    fetch(server.url, tmp_path / "y.zip", wait=0.01, sha256=DIGEST)
    assert server.requests[-1]["Range"] == "bytes=100000-"


def test_a_server_that_sends_another_part(server, tmp_path):
    """It says so, and what it sends is not taken for the part that was asked for."""
    (tmp_path / "x.zip.part").write_bytes(CONTENT[:100_000])
    (tmp_path / "x.zip.part.tag").write_text('"one"')
    server.shift = 10
    with pytest.raises(DataError, match=r"the server sent another part of the file than was asked for"):
        fetch(server.url, tmp_path / "x.zip", attempts=1)
    assert (tmp_path / "x.zip.part").read_bytes() == CONTENT[:100_000]


def test_a_server_that_cannot_go_on(server, tmp_path):
    server.ranges = False
    server.breaks = [100_000]
    fetch(server.url, tmp_path / "x.zip", wait=0.01)
    assert (tmp_path / "x.zip").read_bytes() == CONTENT


def test_a_part_that_is_too_long(server, tmp_path):
    (tmp_path / "x.zip.part").write_bytes(CONTENT + b"more")
    (tmp_path / "x.zip.part.tag").write_text('"one"')
    fetch(server.url, tmp_path / "x.zip", wait=0.01)
    assert (tmp_path / "x.zip").read_bytes() == CONTENT


def test_a_server_that_says_no_length(server, tmp_path):
    server.with_length = False
    seen = []
    fetch(server.url, tmp_path / "x.zip", progress=lambda *state: seen.append(state))
    assert (tmp_path / "x.zip").read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), None)


def test_a_wrong_digest(server, tmp_path):
    (tmp_path / "x.zip").write_bytes(b"what was there")
    with pytest.raises(DataError, match=f"expected a file with the sha256 {'0' * 64}, found {DIGEST}; it was not kept"):
        fetch(server.url, tmp_path / "x.zip", sha256="0" * 64)
    assert names(tmp_path) == ["x.zip"]
    assert (tmp_path / "x.zip").read_bytes() == b"what was there"


def test_a_file_that_is_not_there(server, tmp_path):
    server.statuses = [404]
    with pytest.raises(DataError, match=r"/file.zip: the server says 404 Not Found; the file is not there"):
        fetch(server.url, tmp_path / "x.zip")
    assert len(server.requests) == 1
    assert names(tmp_path) == []


def test_a_busy_server(server, tmp_path):
    server.statuses = [503, 429]
    fetch(server.url, tmp_path / "x.zip", wait=0.01)
    assert (tmp_path / "x.zip").read_bytes() == CONTENT
    server.statuses = [503] * 9
    with pytest.raises(DataError, match=r"could not be downloaded in 3 attempts \(the server says 503"):
        fetch(server.url, tmp_path / "y.zip", attempts=3, wait=0.01)
    assert names(tmp_path) == ["x.zip"]


def test_no_time(server, tmp_path):
    server.statuses = [503] * 9
    with pytest.raises(DataError, match=r"could not be downloaded in 1 attempts"):
        fetch(server.url, tmp_path / "x.zip", attempts=9, wait=60, max_time=1)


def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_offline(tmp_path):
    with pytest.raises(DataError, match=r"could not be downloaded in 2 attempts \(.*\); check the connection and try"):
        fetch(f"http://127.0.0.1:{unused_port()}/x", tmp_path / "x.zip", attempts=2, wait=0.01)
    assert names(tmp_path) == []


def test_a_server_that_does_not_answer(tmp_path):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/x"
        with pytest.raises(DataError, match=r"could not be downloaded in 2 attempts \(timed out\)"):
            fetch(url, tmp_path / "x.zip", attempts=2, wait=0.01, timeout=0.05)


def test_other_addresses_are_refused(tmp_path):
    for url in ("file:///etc/hostname", "ftp://example.org/x", "x.zip"):
        with pytest.raises(DataError, match=r"must begin with http:// or https://"):
            fetch(url, tmp_path / "x.zip")


IRIS = "@relation iris\n@attribute a real\n@attribute class {u, v}\n@data\n1, u\n2, v\n"
TS = "@problemName Plane\n@classLabel true 1 2\n@data\n1,2:1\n2,3:2\n"


def zipped(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path.read_bytes()


@pytest.fixture
def archive(server, tmp_path, monkeypatch):
    """The addresses of the archives on the server; no other place to look."""
    monkeypatch.delenv("PROTOSET_DATA", raising=False)
    for name in ("keel", "ucr"):
        monkeypatch.setitem(archives.ARCHIVE_ADDRESSES, name, server.url.replace("file", "{name}"))
    return server


def test_load_downloads_once_and_checks_ever_after(archive, tmp_path):
    archive.content = zipped(tmp_path / "made.zip", {"yeast.dat": IRIS, "../evil.dat": "x", "yeast-names.txt": "y"})
    seen = []
    cache = tmp_path / "cache"
    dataset = load_dataset("yeast", cache=cache, progress=lambda *state: seen.append(state))
    assert dataset.objects.tolist() == [[1], [2]]
    assert dataset.name == "yeast"
    assert dataset.path == cache / "keel" / "yeast.zip"
    assert seen[-1][0] == len(archive.content)
    assert names(cache / "keel") == ["yeast.zip", "yeast.zip.sha256"]
    assert names(tmp_path) == ["cache", "made.zip"]
    load_dataset("Yeast", cache=cache)
    assert len(archive.requests) == 1
    with (cache / "keel" / "yeast.zip").open("ab") as file:
        file.write(b"!")
    with pytest.raises(DataError, match=r"yeast.zip: has changed since it was downloaded .*; remove it, and it is"):
        load_dataset("yeast", cache=cache)


LOADER = """
import sys
from protoset.datasets import archives, load_dataset
archives.ARCHIVE_ADDRESSES["keel"] = sys.argv[1]
print(load_dataset("yeast", cache=sys.argv[2]).objects.tolist(), flush=True)
"""


def run_at_once(program, *arguments, n=3):
    """What several processes print, which are started together; the environment tells them of no data."""
    command = [sys.executable, "-W", "error", "-c", program, *map(str, arguments)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(n)]
    said = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0] * n, said
    return [out.strip() for out, _ in said]


@pytest.mark.slow
def test_processes_that_load_one_data_set_download_it_once(archive, tmp_path):
    files = {"noise.bin": CONTENT, "yeast.dat": IRIS}
    archive.content, archive.pause = zipped(tmp_path / "made.zip", files), 0.1
    assert run_at_once(LOADER, archive.url, tmp_path / "cache") == ["[[1.0], [2.0]]"] * 3
    assert len(archive.requests) == 1
    assert names(tmp_path / "cache" / "keel") == ["yeast.zip", "yeast.zip.sha256"]


def test_waiting_has_an_end(archive, tmp_path, monkeypatch):
    archive.content = zipped(tmp_path / "made.zip", {"yeast.dat": IRIS})
    path = tmp_path / "cache" / "keel" / "yeast.zip"
    path.parent.mkdir(parents=True)
    monkeypatch.setattr(archives, "MAX_SECONDS", 0.2)
    message = r"yeast.zip: another process has been downloading it for 0.2 seconds; wait for it, or end it"
    with lock_of(path), pytest.raises(DataError, match=message):
        load_dataset("yeast", cache=tmp_path / "cache")
    assert archive.requests == []
    assert load_dataset("yeast", cache=tmp_path / "cache").n_objects == 2


HOLDER = """
import sys, time
from protoset._files import lock_of
with lock_of(sys.argv[1]):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_killed_process_holds_nobody_up(archive, tmp_path):
    archive.content = zipped(tmp_path / "made.zip", {"yeast.dat": IRIS})
    path = tmp_path / "cache" / "keel" / "yeast.zip"
    path.parent.mkdir(parents=True)
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        holder.kill()
    assert load_dataset("yeast", cache=tmp_path / "cache").n_objects == 2


def test_a_cache_that_cannot_be_written(archive, tmp_path):
    (tmp_path / "cache").write_text("a file, not a folder")
    with pytest.raises(DataError, match=r"yeast.zip: cannot be written \(.*cache"):
        load_dataset("yeast", cache=tmp_path / "cache")
    assert archive.requests == []


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip_file_with_a_hole_is_not_trusted(archive, tmp_path, compression):
    """Its directory is whole, so that it is a zip file; what is in it is not what was put there."""
    with zipfile.ZipFile(tmp_path / "made.zip", "w", compression) as made:
        made.writestr("noise.bin", CONTENT)
        made.writestr("yeast.dat", IRIS)
    whole = (tmp_path / "made.zip").read_bytes()
    archive.content = whole[:50_000] + bytes(60_000) + whole[110_000:]
    with pytest.raises(DataError, match=r"expected a whole zip file, found one"):
        load_dataset("yeast", cache=tmp_path / "cache")
    assert names(tmp_path / "cache" / "keel") == []
    archive.content = whole
    assert load_dataset("yeast", cache=tmp_path / "cache").n_objects == 2


def test_load_of_series_from_a_zip(archive, tmp_path):
    files = {"Plane/Plane_TEST.ts": TS, "Plane/Plane_TRAIN.ts": TS.partition("2,3")[0], "Plane_TRAIN.txt": "x"}
    archive.content = zipped(tmp_path / "made.zip", files)
    dataset = load_dataset("plane", cache=tmp_path / "cache")
    assert (dataset.n_train, dataset.n_objects, dataset.labels.tolist()) == (1, 3, [1, 1, 2])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html>not found</html>", r"expected a zip file, found another"),
        ({"other.dat": IRIS}, r"expected yeast.dat in it, found none of them"),
        ({"yeast.dat": "hello"}, r"yeast.zip/yeast.dat, line 1: expected"),
    ],
)
def test_what_comes_is_something_else(archive, tmp_path, content, message):
    archive.content = content if isinstance(content, bytes) else zipped(tmp_path / "made.zip", content)
    with pytest.raises(DataError, match=message):
        load_dataset("yeast", cache=tmp_path / "cache")


def test_members_have_limits(tmp_path, monkeypatch):
    content = zipped(tmp_path / "x.zip", {"x.dat": "0" * 5000})
    monkeypatch.setattr(archives, "MAX_MEMBER_BYTES", 4999)
    with pytest.raises(DataError, match=r"x.zip: expected x.dat to have at most 4999 bytes"):
        members(tmp_path / "x.zip", {"data": ("x.dat",)})
    monkeypatch.setattr(archives, "MAX_MEMBER_BYTES", 5000)
    assert members(tmp_path / "x.zip", {"data": ("y.dat", "X.dat")})["data"] == ("x.dat", b"0" * 5000)
    (tmp_path / "x.zip").write_bytes(content[:-40])
    with pytest.raises(DataError, match=r"the zip file is damaged"):
        members(tmp_path / "x.zip", {"data": ("x.dat",)})


def test_what_cannot_be_found(archive, tmp_path):
    archive.statuses = [404]
    (tmp_path / "empty").mkdir()
    message = r"'yeast' was not found \(looked in .*empty; the packages .*cache; .*404"
    with pytest.raises(DataError, match=message) as caught:
        load_dataset("yeast", tmp_path / "empty", cache=tmp_path / "cache")
    assert "pass folder= or set PROTOSET_DATA" in str(caught.value)
    with pytest.raises(DataError, match=r"was not found \(.*download=False\)\. Get it from http"):
        load_dataset("yeast", cache=tmp_path / "cache", download=False)
    with pytest.raises(DataError, match=r"the copies in packages and archives have no missing values"):
        load_dataset("crx", missing=True, cache=tmp_path / "cache")
    assert len(archive.requests) == 1


def test_where_the_cache_is(tmp_path, monkeypatch):
    assert cache_folder(tmp_path / "a") == tmp_path / "a"
    monkeypatch.setenv("PROTOSET_CACHE", str(tmp_path / "b"))
    assert cache_folder() == tmp_path / "b"
    monkeypatch.delenv("PROTOSET_CACHE")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "c"))
    assert cache_folder() == tmp_path / "c" / "protoset"
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "d"))
    assert cache_folder() == tmp_path / "d" / "protoset" / "cache"
