"""What long work says about itself: log records at INFO, and lines on stderr where ``verbose`` asks for them."""

import logging
import sys
import time
from collections.abc import Callable

logger = logging.getLogger("protoset")

ProgressCallback = Callable[[int, int | None], object]
"""Called as ``progress(done, total)`` during long work; the total is None where it is not known."""


def report(verbose: int, message: str, *arguments: object) -> None:
    """Log a message; show it on stderr too if ``verbose``."""
    logger.info(message, *arguments)
    if verbose:
        sys.stderr.write(f"[protoset] {message % arguments}\n")


INTERVAL = 2.0
"""Seconds between two lines about the same work."""


def reporter(verbose: int, what: str) -> ProgressCallback | None:
    """Return a function of (done, total) that now and then says how far the work is; None where nobody listens."""
    if not verbose and not logger.isEnabledFor(logging.INFO):
        return None
    started = last = time.monotonic()

    def tell(done: int, total: int | None) -> None:
        nonlocal last
        now = time.monotonic()
        if done and total and now - last >= INTERVAL:
            last = now
            left = (now - started) * (total - done) / done
            report(verbose, "%s: %.0f %% of %d, about %.0f s left", what, 100 * done / total, total, left)

    return tell
