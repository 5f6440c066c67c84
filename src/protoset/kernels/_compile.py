"""How kernels are compiled: without the lock of the interpreter, and with a cache on disk if a folder is writable."""

import gc
import threading
import time
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from numba import njit
from numba.core import event

from protoset._progress import report_to_askers
from protoset.exceptions import CompilationCacheWarning

ZERO = np.int64(0)
"""Start of a counter that is passed to a part compiled apart: for a plain 0, Numba would compile the part twice."""

LONG_COMPILATION = 1.0
"""Seconds of compilation in a process after which users are told."""


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function at its first call; ``options`` are Numba's."""
    if function is None:
        return partial(compiled, **options)
    # Nothing calls kernels from C; the code for such calls takes time to compile.
    options = {"nogil": True, "no_cfunc_wrapper": True, **options}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError as error:
        if "cannot cache function" not in str(error):
            raise
        _warn_of_no_cache()
        return njit(**options)(function)


def part(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function that only kernels call, never Python: no code to be called by Python, no cache of its own.

    It is written into its callers before they are compiled, which takes less time than to compile it apart. With
    options of its own, such as ``fastmath``, it is compiled apart; ``inline="never"`` does so too, for functions that a
    kernel calls at several points, and for those that ask for ``ndim``: Numba leaves out branches of a function alone.
    """
    if function is None:
        return partial(part, **options)
    options = options or {"inline": "always"}
    return njit(nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=True, **options)(function)


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function that stays Python: it makes the work space of a kernel, or calls a kernel with it.

    Code for new arrays and views takes long to compile. Such a function also passes None for what is not used: Numba
    leaves out the branches ``if argument is not None``. The condition has to stand alone, and the argument has to be
    one of the kernel's own, not a field of a named tuple.
    """
    return function


class CompilationWatch(event.Listener):
    """Count what this process compiles for protoset, tell users when it takes long, and pause the garbage collector.

    The compiler makes many objects that live long; looking for garbage among them is a sixth of its time. Numba
    compiles under a lock, so events of two threads do not mix.

    Attributes
    ----------
    seconds : float
        Seconds of compilation so far.
    names : list of str
        Kernels compiled so far, without the parts of kernels.
    """

    def __init__(self) -> None:
        self.seconds, self.names = 0.0, list[str]()
        self._depth, self._started, self._resumes, self._told = 0, 0.0, False, False
        self._thread, self._is_interrupted = 0, False

    def on_start(self, event: Any) -> None:
        """Note the start of a kernel, or of a part of it."""
        if self._depth == 0:
            if not event.data["dispatcher"].py_func.__module__.startswith("protoset."):
                return
            self._started, self._resumes = time.perf_counter(), gc.isenabled()
            self._thread = threading.get_ident()
            gc.disable()
        self._depth += 1
        self._tell()

    def on_end(self, event: Any) -> None:
        """Note the end of a kernel, or of a part of it."""
        if self._depth == 0:
            return
        self._depth -= 1
        self._tell()
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._started
            self.names.append(event.data["dispatcher"].py_func.__qualname__)
            if self._resumes:
                gc.enable()
            if self._is_interrupted:
                self._is_interrupted = False
                raise KeyboardInterrupt

    def postpone_interruption(self) -> bool:
        """Raise KeyboardInterrupt once the kernel that this thread compiles is done; return False if there is none.

        The compiler calls Python from C, where Python can only print an exception and go on.
        """
        self._is_interrupted = self._depth > 0 and self._thread == threading.get_ident()
        return self._is_interrupted

    @property
    def n_kernels(self) -> int:
        """Number of kernels compiled so far."""
        return len(self.names)

    def _tell(self) -> None:
        if not self._told and self.seconds + time.perf_counter() - self._started > LONG_COMPILATION:
            self._told = True
            report_to_askers("compiling, once after an installation: this takes about ten seconds")


watch = CompilationWatch()
event.register("numba:compile", watch)


@cache
def _warn_of_no_cache() -> None:
    """Warn once per process."""
    warnings.warn(
        "compiled code cannot be kept, as neither the folder of protoset nor the cache folder of this user can be "
        "written to: every process compiles its code again, which may take a minute. Set the environment variable "
        "NUMBA_CACHE_DIR to a folder that can be written to",
        CompilationCacheWarning,
        stacklevel=3,
    )
