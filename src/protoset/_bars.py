"""Progress bars: in a notebook as HTML, in a terminal by rich or tqdm, whichever is installed."""

from __future__ import annotations

import html
import multiprocessing
import sys
import threading
import time
from typing import Any, Protocol


class Bar(Protocol):
    """A bar that is on the screen until it is closed."""

    def show(self, what: str, done: int, total: int, seconds: float) -> None:
        """Show how much of the work is done after so many seconds."""

    def close(self) -> None:
        """Take the bar off the screen, or leave its last state."""


def open_bar() -> Bar | None:
    """Return a bar; None where there is no screen for it, or where others draw on the same screen."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or multiprocessing.current_process().name != "MainProcess":
        return None
    if in_notebook():
        return NotebookBar()
    if not sys.stderr.isatty():
        return None
    for bar in (RichBar, TqdmBar):
        try:
            return bar()
        except ImportError:
            continue
    return None


def in_notebook() -> bool:
    """Whether a kernel runs this process, so that a notebook shows what is displayed."""
    interactive = sys.modules.get("IPython")
    shell = None if interactive is None else interactive.get_ipython()
    return hasattr(shell, "kernel")


class NotebookBar:
    """A bar in the output of a cell; its last state stays there."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._last = ("", 0, 1)
        self._started = 0.0

    def show(self, what: str, done: int, total: int, seconds: float) -> None:
        """Draw the bar, or draw it again."""
        self._last, self._started = (what, done, total), time.monotonic() - seconds
        self._draw(f"about {seconds * (total - done) / max(done, 1):.0f} s left")

    def close(self) -> None:
        """Leave the bar with the time that the work took."""
        if self._handle is not None:
            _, done, total = self._last
            seconds = f"{time.monotonic() - self._started:.1f} s"
            self._draw(seconds if done >= total else f"ended after {seconds}")

    def _draw(self, state: str) -> None:
        from IPython.display import display

        what, done, total = self._last
        text = f"{what}: {100 * done / total:.0f} % of {total:,}, {state}"
        bar = f'<progress value="{done}" max="{total}" style="width:16em;vertical-align:middle"></progress>'
        content = {"text/plain": text, "text/html": f"<div>{bar} {html.escape(text)}</div>"}
        if self._handle is None:
            self._handle = display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)


class RichBar:
    """A bar of rich on the standard error; vanishes at its end."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.errors import LiveError
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = [TextColumn("[protoset] {task.description}", markup=False), BarColumn()]
        columns += [TaskProgressColumn(), TimeRemainingColumn()]
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._progress.add_task("", total=None)
        try:
            self._progress.start()
        except LiveError as error:
            raise ImportError("another bar of rich is on the screen") from error

    def show(self, what: str, done: int, total: int, seconds: float) -> None:
        """Draw the bar again."""
        self._progress.update(self._task, description=what, completed=done, total=total)

    def close(self) -> None:
        """Remove the bar."""
        self._progress.stop()


class TqdmBar:
    """A bar of tqdm on the standard error; vanishes at its end."""

    def __init__(self) -> None:
        from tqdm import tqdm

        self._bar = tqdm(total=1, file=sys.stderr, leave=False, unit="")

    def show(self, what: str, done: int, total: int, seconds: float) -> None:
        """Draw the bar again."""
        self._bar.total, self._bar.n = total, done
        self._bar.set_description(f"[protoset] {what}")

    def close(self) -> None:
        """Remove the bar."""
        self._bar.close()
