"""What long work says about itself: log records, shown where the user asked with ``verbose``."""

import logging
import sys

logger = logging.getLogger("protoset")


def report(verbose: int, message: str, *arguments: object) -> None:
    """Log a message: at INFO, and visible without set-up, if ``verbose``; at DEBUG otherwise."""
    if verbose and not logger.hasHandlers():
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("[protoset] %(message)s"))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    logger.log(logging.INFO if verbose else logging.DEBUG, message, *arguments)
