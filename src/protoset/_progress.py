"""Reports of long work: log records at INFO, and with ``verbose`` also lines on stderr."""

import logging
import sys
import time
from collections.abc import Callable

logger = logging.getLogger("protoset")

ProgressCallback = Callable[[int, int | None], object]
"""Called as ``progress(done, total)`` during long work; the total is None where it is not known."""


def report(verbose: int, message: str, *arguments: object) -> None:
    """Log a message; with ``verbose`` also write it to stderr."""
    logger.info(message, *arguments)
    if verbose:
        sys.stderr.write(f"[protoset] {message % arguments}\n")


REPORT_SECONDS = 2.0
"""Seconds between two lines about the same work."""


def reporter(verbose: int, what: str) -> ProgressCallback | None:
    """Return a callback that reports progress every few seconds; None if nothing would be shown or logged."""
    if not verbose and not logger.isEnabledFor(logging.INFO):
        return None
    started = last = time.monotonic()

    def tell(done: int, total: int | None) -> None:
        nonlocal last
        now = time.monotonic()
        if done and total and now - last >= REPORT_SECONDS:
            last = now
            left = (now - started) * (total - done) / done
            report(verbose, "%s: %.0f %% of %d, about %.0f s left", what, 100 * done / total, total, left)

    return tell
