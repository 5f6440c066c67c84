"""Progress of long work: each line once, bars in terminals, lines elsewhere."""

import fcntl
import logging
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import numpy as np
import pytest

from protoset import REPS
from protoset._progress import report

from conftest import overlapping

X, Y = overlapping(60)

PROGRAM = """
import sys, time
for name in sys.argv[1:]:
    sys.modules[name] = None
from protoset._progress import report, reporter
report(1, "searching %d neighbours", 50)
tell = reporter(1, "pairs compared")
for done in range(1, 101):
    tell(done, 100)
    time.sleep(0.025)
report(1, "kept %d of %d objects", 3, 10)
"""


def in_terminal(*arguments):
    """Standard error of the program in a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM", "COLUMNS")}
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments], stderr=theirs, env=environment | {"TERM": "xterm"}
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            read = os.read(ours, 4096)
        except OSError:  # Linux says so at the end
            break
        if not read:
            break
        written += read
    os.close(ours)
    assert process.wait() == 0
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written.decode())


@pytest.mark.parametrize("missing", [(), ("rich",)], ids=["rich", "tqdm"])
def test_a_terminal_shows_a_bar(missing):
    pytest.importorskip("tqdm" if missing else "rich")
    text = in_terminal(*missing)
    states = re.findall(r"\[protoset\] pairs compared\W+(\d+)%", text)
    assert len(set(states)) > 5
    assert "s left" not in text
    assert text.count("searching 50 neighbours") == text.count("kept 3 of 10 objects") == 1
    # The bar was there before the last line, and is not after it.
    assert "pairs" not in text[text.index("kept 3") :]


def test_without_rich_and_tqdm_there_are_lines():
    lines = in_terminal("rich", "tqdm").split("\r\n")
    assert lines[0] == "[protoset] searching 50 neighbours"
    assert re.fullmatch(r"\[protoset\] pairs compared: \d+ % of 100, about \d s left", lines[1])
    assert lines[-2:] == ["[protoset] kept 3 of 10 objects", ""]


def test_a_file_gets_lines_and_no_bar():
    result = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert [line.split()[1] for line in result.stderr.splitlines()] == ["searching", "pairs", "kept"]


def shown_lines(configure):
    """Lines about the fit that a program shows which configures logging."""
    program = f"""
import logging, sys
{configure}
from protoset import REPS
from sklearn.datasets import load_iris
REPS(9, verbose=1).fit(*load_iris(return_X_y=True))
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return [line for line in (result.stdout + result.stderr).splitlines() if "kept 9 of 150 objects" in line]


@pytest.mark.parametrize(
    "configure",
    [
        "",
        "logging.basicConfig(level=logging.INFO)",
        "logging.basicConfig(level=logging.INFO, stream=sys.stdout)",
        "logging.basicConfig(level=logging.WARNING)",
        "logging.getLogger('protoset').setLevel(logging.INFO)",
        "logging.basicConfig(level=logging.INFO); logging.getLogger().handlers[0].setLevel(logging.ERROR)",
        "logging.basicConfig(level=logging.INFO); logging.getLogger('protoset').propagate = False",
        "from rich.logging import RichHandler; logging.basicConfig(level=logging.INFO, handlers=[RichHandler()])",
    ],
)
def test_every_line_is_shown_once(configure):
    assert len(shown_lines(configure)) == 1


def test_a_log_file_does_not_take_the_lines_from_the_screen(tmp_path, capsys):
    logger, handler = logging.getLogger("protoset"), logging.FileHandler(tmp_path / "log")
    logger.addHandler(handler)
    propagates, logger.propagate = logger.propagate, False
    logger.setLevel(logging.INFO)
    try:
        report(1, "moving %d prototypes", 3)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
        logger.propagate = propagates
        handler.close()
    assert capsys.readouterr().err == "[protoset] moving 3 prototypes\n"
    assert (tmp_path / "log").read_text() == "moving 3 prototypes\n"


def test_a_fit_that_fails_leaves_no_bar(monkeypatch):
    closed = []

    class Bar:
        def show(self, what, done, total, seconds):
            raise RuntimeError("broken terminal")

        def close(self):
            closed.append(True)

    monkeypatch.setattr("protoset._progress.open_bar", Bar)
    monkeypatch.setattr("protoset._progress.BAR_DELAY", 0.0)
    monkeypatch.setattr("protoset._progress.BAR_SECONDS", 0.0)
    with pytest.raises(RuntimeError, match="broken terminal"):
        REPS(verbose=1).fit(X, Y)
    assert closed == [True]


def test_a_bar_changes_no_result():
    np.testing.assert_array_equal(REPS(verbose=1).fit(X, Y).sample_indices_, REPS().fit(X, Y).sample_indices_)
