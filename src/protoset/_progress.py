"""Reports of long work: log records at INFO; with ``verbose`` also lines on stderr, and a bar where one can be drawn.

Where logging shows its records on the screen, there are neither lines nor bars beside them.
"""

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from protoset._bars import Bar, open_bar

logger = logging.getLogger("protoset")

ProgressCallback = Callable[[int, int | None], object]
"""Called as ``progress(done, total)`` during long work; the total is None where it is not known."""

REPORT_SECONDS = 2.0
"""Seconds between two lines about the same work."""

BAR_DELAY = 0.5
"""Seconds of work after which a bar appears: short work needs none."""

BAR_SECONDS = 0.1
"""Seconds between two states of a bar."""


class _Screen:
    """The only bar on the screen: ``what`` names its work, ``n_askers`` is the number of running verbose fits."""

    bar: Bar | None = None
    what = ""
    n_askers = 0


def report(verbose: int, message: str, *arguments: object) -> None:
    """Log a message; with ``verbose`` also write it to stderr, unless logging shows it."""
    logger.info(message, *arguments)
    if verbose and not _is_logged_to_screen():
        close_bar()
        sys.stderr.write(f"[protoset] {message % arguments}\n")


@contextmanager
def asking(verbose: int) -> Iterator[None]:
    """Inside this context, let ``report_to_askers`` write to stderr if ``verbose``."""
    _Screen.n_askers += bool(verbose)
    try:
        yield
    finally:
        _Screen.n_askers -= bool(verbose)


def report_to_askers(message: str, *arguments: object) -> None:
    """Report from code without a parameter ``verbose``, such as a kernel: to stderr during a verbose fit."""
    report(_Screen.n_askers, message, *arguments)


def close_bar() -> None:
    """Remove the bar from the screen, if there is one."""
    bar, _Screen.bar = _Screen.bar, None
    if bar is not None:
        bar.close()


def reporter(verbose: int, what: str) -> ProgressCallback | None:
    """Return a callback that shows progress, by a bar or by a line every few seconds; None if reports are off."""
    if not verbose and not logger.isEnabledFor(logging.INFO):
        return None
    started = last_line = last_state = time.monotonic()
    has_bar = bool(verbose) and not _is_logged_to_screen()

    def tell(done: int, total: int | None) -> None:
        nonlocal last_line, last_state, has_bar
        now = time.monotonic()
        if not done or not total or (now - last_state < BAR_SECONDS and done < total):
            return
        last_state = now
        if has_bar and now - started >= BAR_DELAY:
            has_bar = _draw(what, done, total, now - started)
        if not has_bar and now - last_line >= REPORT_SECONDS:
            last_line = now
            left = (now - started) * (total - done) / done
            report(verbose, "%s: %.0f %% of %d, about %.0f s left", what, 100 * done / total, total, left)

    return tell


def _draw(what: str, done: int, total: int, seconds: float) -> bool:
    """Draw a state of the bar; return whether there is one."""
    if _Screen.bar is not None and what != _Screen.what:
        close_bar()
    if _Screen.bar is None and done == total:
        return True  # a bar would come too late
    if _Screen.bar is None:
        _Screen.bar, _Screen.what = open_bar(), what
    if _Screen.bar is not None:
        _Screen.bar.show(what, done, total, seconds)
    return _Screen.bar is not None


def _is_logged_to_screen() -> bool:
    """Whether a handler of logging shows the library's reports on the screen."""
    if not logger.isEnabledFor(logging.INFO):
        return False
    above: logging.Logger | None = logger
    while above is not None:
        for handler in above.handlers:
            is_stream = isinstance(handler, logging.StreamHandler) and not isinstance(handler, logging.FileHandler)
            # The handler of rich writes to its console.
            if handler.level <= logging.INFO and (is_stream or hasattr(handler, "console")):
                return True
        above = above.parent if above.propagate else None
    return False
