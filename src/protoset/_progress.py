"""What long work says about itself: log records at INFO, and lines on stderr where ``verbose`` asks for them."""

import logging
import sys

logger = logging.getLogger("protoset")


def report(verbose: int, message: str, *arguments: object) -> None:
    """Log a message; show it on stderr too if ``verbose``."""
    logger.info(message, *arguments)
    if verbose:
        sys.stderr.write(f"[protoset] {message % arguments}\n")
