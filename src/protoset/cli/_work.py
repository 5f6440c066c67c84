"""Long work: progress on the standard error, and Ctrl-C."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Interruption:
    """Whether Ctrl-C was pressed.

    A search that Ctrl-C ends returns the best set so far. An interrupted command writes nothing, so it checks ``seen``
    after the work.
    """

    seen = False

    def handle(self, *_: Any) -> None:
        """Handle the signal: note it, and end the work, a compilation only when it is done."""
        self.seen = True
        compiler = sys.modules.get("protoset.kernels._compile")
        if compiler is None or not compiler.watch.postpone_interruption():
            raise KeyboardInterrupt


_current = Interruption()


@contextmanager
def watching() -> Iterator[Interruption]:
    """Watch for Ctrl-C; where the process ignores it, as in the background of a shell, leave it ignored."""
    _current.seen = False
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before in (signal.SIG_IGN, None):
        yield _current
        return
    signal.signal(signal.SIGINT, _current.handle)
    try:
        yield _current
    finally:
        signal.signal(signal.SIGINT, before)


Tell = Callable[[int, int], None]
"""Called with the progress of the work: ``tell(done, total)``."""


@contextmanager
def working(what: str, quiet: bool) -> Iterator[Tell]:
    """Show progress where the standard error is a terminal; raise KeyboardInterrupt at the end if interrupted."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, total: None
    else:
        with _bar(what) as tell:
            yield tell
    if _current.seen:
        raise KeyboardInterrupt


@contextmanager
def _bar(what: str) -> Iterator[Tell]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = [
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    ]
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        with _listening(lambda message: progress.update(task, description=f"{what}: {message}")):
            yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def _listening(tell: Callable[[str], None]) -> Iterator[None]:
    """Pass on the log messages of the library."""

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            tell(record.getMessage())

    logger, handler = logging.getLogger("protoset"), Listener(logging.INFO)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
