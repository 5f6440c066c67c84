"""How kernels are compiled: without the lock of the interpreter, and with a cache on disk if a folder is writable."""

import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from numba import njit

from protoset.exceptions import CompilationCacheWarning


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function at its first call; ``options`` are Numba's."""
    if function is None:
        return partial(compiled, **options)
    try:
        return njit(cache=True, nogil=True, **options)(function)
    except RuntimeError as error:
        if "cannot cache function" not in str(error):
            raise
        _warn_of_no_cache()
        return njit(nogil=True, **options)(function)


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
