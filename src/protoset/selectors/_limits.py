"""Long searches: their progress, and how they end early with the best set so far."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from protoset._progress import close_bar, reporter
from protoset._validation import check_callable, check_real
from protoset.exceptions import SearchInterruptedWarning, SearchStoppedWarning

INTERRUPTED = "by an interruption"
"""The reason of a search that was ended by Ctrl-C."""


@dataclass(frozen=True)
class SearchProgress:
    """Progress of a search; the argument of a callback.

    Attributes
    ----------
    n_evaluations, max_evaluations : float
        Work done so far, and all work, in the unit of the method.
    accuracy : float
        Leave-one-out accuracy of the best set so far on the training set. In a refinement, which has several starts:
        accuracy of the current set.
    n_prototypes : int
        Number of prototypes of that set.
    seconds : float
        Seconds since the search began.
    """

    n_evaluations: float
    max_evaluations: float
    accuracy: float
    n_prototypes: int
    seconds: float


Callback = Callable[[SearchProgress], Any]
"""Function that gets the progress of a search, and ends the search by returning True."""


class SearchLimits:
    """Conditions that end a search early: a time limit, a callback that returns True, Ctrl-C.

    ``what`` names the unit of work. With ``keeps_best`` false, Ctrl-C ends the whole work that the search is a part of.
    ``reason`` tells why the search ended early; None if it did not.
    """

    def __init__(
        self,
        max_time: float | None = None,
        callback: Callback | None = None,
        verbose: int = 0,
        what: str = "evaluations",
        *,
        keeps_best: bool = True,
    ):
        self._started = time.monotonic()
        self._max_time, self._callback, self._tell = max_time, callback, reporter(verbose, what)
        self._what, self._verbose, self._keeps_best = what, verbose, keeps_best
        self.reason: str | None = None

    @property
    def is_watched(self) -> bool:
        """Whether a callback needs the accuracy."""
        return self._callback is not None

    def reached(self, n_evaluations: float, max_evaluations: float, accuracy: float, n_prototypes: int) -> bool:
        """Whether to stop now. Calls the callback, unless the search has ended."""
        if self.reason is not None:
            return True
        seconds = time.monotonic() - self._started
        if self._tell is not None:
            self._tell(int(n_evaluations), int(max_evaluations))
        if self._callback is not None:
            progress = SearchProgress(n_evaluations, max_evaluations, accuracy, n_prototypes, seconds)
            try:
                answer = self._callback(progress)
            except StopIteration as error:
                # It would be lost in the generators of several threads.
                raise RuntimeError("callback raised StopIteration; return True to end the search") from error
            # Only True ends the search, not any true value: a callback that writes a log may return the number of
            # characters it wrote.
            if isinstance(answer, (bool, np.bool_)) and answer:
                self.reason = "by its callback"
        if self.reason is None and self._max_time is not None and seconds >= self._max_time:
            self.reason = f"at max_time={self._max_time:g} seconds"
        return self.reason is not None

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """End the search at Ctrl-C, if it keeps the best set: the code inside must have it ready at any moment."""
        try:
            yield
        except BaseException as error:
            # Other threads of the search end when they see a reason, also after an error in one of them.
            self.reason = INTERRUPTED
            # Numba makes a SystemError of an interruption on the way into or out of compiled code.
            cause = _first_cause(error) if isinstance(error, SystemError) else error
            if not isinstance(cause, KeyboardInterrupt):
                raise
            if not self._keeps_best:
                raise cause from None

    def warn(self, n_evaluations: float, max_evaluations: float) -> None:
        """Take the bar off the screen; warn if the search ended early."""
        if self.reason is None and self._tell is not None:
            # A search that needs no further steps is done.
            self._tell(int(max_evaluations), int(max_evaluations))
        if self._verbose:
            close_bar()
        if self.reason is not None:
            warnings.warn(
                f"the search was stopped {self.reason} after {n_evaluations:,.0f} of {max_evaluations:,.0f} "
                f"{self._what}; the prototypes so far are kept",
                SearchInterruptedWarning if self.reason == INTERRUPTED else SearchStoppedWarning,
                stacklevel=_levels_to_caller(),
            )


def _first_cause(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _levels_to_caller() -> int:
    """Number of frames from the calling function to the first frame outside the library."""
    frame, levels = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "protoset":
        frame, levels = frame.f_back, levels + 1
    return levels


def check_limits(max_time: Any, callback: Any) -> dict[str, Any]:
    """Return both limits by name, the time as a float; raise an error for wrong values."""
    if max_time is not None:
        max_time = check_real("max_time", max_time, above=0, remedy="pass seconds, or None for no limit")
    return {"max_time": max_time, "callback": check_callable("callback", callback, takes=" of one SearchProgress")}
