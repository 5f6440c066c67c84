"""Outcomes of cases: a case works, is refused with a documented error, or is a failure.

A case is one line of Python: a call of a door (``campaigns.doors``). Documented errors are raised by a ``raise`` of
protoset, or by the input validation of scikit-learn, have an allowed type and a message. Everything else is a failure.
"""

from __future__ import annotations

import dis
import os
import re
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import sklearn
import typer

import protoset
from protoset.cli.app import UsageError
from protoset.exceptions import ProtosetError

WORKS = "works"
DOCUMENTED = "documented"
LEAKED = "leaked"
WRONG = "wrong"
HANG = "hang"
CRASH = "crash"
OUTCOMES = (WORKS, DOCUMENTED, LEAKED, WRONG, HANG, CRASH)
"""All outcomes; anything but the first two is a failure."""

DOCUMENTED_TYPES = (ValueError, TypeError, ProtosetError, ImportError, MemoryError, RuntimeError, FileNotFoundError)
"""Types of errors that protoset raises; see ``protoset.exceptions``."""

UNDOCUMENTED_TYPES = (UnicodeError, RecursionError, NotImplementedError)
"""Subclasses of allowed types that always come from somewhere else."""

PROTOSET_FOLDER = str(Path(protoset.__file__).parent) + os.sep
SKLEARN_FOLDER = str(Path(sklearn.__file__).parent) + os.sep
CAMPAIGNS_FOLDER = str(Path(__file__).parent) + os.sep

RAISE = dis.opmap["RAISE_VARARGS"]


class Wrong(Exception):  # noqa: N818
    """The library worked, and the result is not what it must be."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case.

    Attributes
    ----------
    kind : str
        One of ``OUTCOMES``.
    where : str
        Type of the error and innermost line of protoset. Failures with the same ``where`` are counted as one.
    message : str
        The message of the error.
    """

    kind: str
    where: str = ""
    message: str = ""

    @property
    def failed(self) -> bool:
        """Whether the campaign fails by this outcome."""
        return self.kind not in (WORKS, DOCUMENTED)


def judge(line: str, namespace: dict[str, Any]) -> Outcome:
    """Run a case and judge its outcome."""
    try:
        with warnings.catch_warnings():
            # Warnings of protoset and of scikit-learn are UserWarnings. NumPy's and Python's own must not reach users.
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("ignore", ResourceWarning)
            warnings.simplefilter("ignore", PendingDeprecationWarning)  # of np.matrix, when a line makes one
            eval(line, namespace)
    except Wrong as error:
        return Outcome(WRONG, _where(error), str(error))
    except Exception as error:
        return Outcome(DOCUMENTED if is_documented(error) else LEAKED, _where(error), _message(error))
    return Outcome(WORKS)


def is_documented(error: BaseException) -> bool:
    """Whether an error is one that protoset raises on purpose."""
    if isinstance(error, (UsageError, typer.BadParameter)):
        return bool(error.format_message())
    if not isinstance(error, DOCUMENTED_TYPES) or isinstance(error, UNDOCUMENTED_TYPES) or not str(error).strip():
        return False
    if type(error.__cause__).__name__ == "_RemoteTraceback":
        files = re.findall(r'File "(.+?)", line', str(error.__cause__))
        return bool(files) and files[-1].startswith(PROTOSET_FOLDER)
    frame = _innermost(error.__traceback__)
    file = frame.tb_frame.f_code.co_filename
    if file.startswith(PROTOSET_FOLDER):
        return frame.tb_frame.f_code.co_code[frame.tb_lasti] == RAISE
    return file.startswith(SKLEARN_FOLDER) and isinstance(error, (ValueError, TypeError))


def _innermost(trace: TracebackType | None) -> TracebackType:
    assert trace is not None
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace


def _where(error: BaseException) -> str:
    """Name the type of an error and the innermost line of protoset, or of the doors."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename.startswith(PROTOSET_FOLDER)]
    doors = [frame for frame in frames if frame.filename.startswith(CAMPAIGNS_FOLDER) and frame.name != "judge"]
    own = own or doors or list(frames)
    name = own[-1].filename.removeprefix(PROTOSET_FOLDER)
    if isinstance(error, Wrong) and doors:
        return f"Wrong in {doors[0].name}: {str(error).partition(':')[0]}"
    return f"{type(error).__name__} at {name}:{own[-1].lineno} ({own[-1].name})"


def _message(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]
