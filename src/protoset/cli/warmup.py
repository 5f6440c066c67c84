"""``protoset warmup``: compile once, before the first use."""

from __future__ import annotations

from typing import Annotated

from protoset.cli._options import Debug, Json, Quiet, option
from protoset.cli._output import say, say_json
from protoset.cli._work import working

Variants = Annotated[
    bool,
    option(
        "Compile also learned relevances, the metrics cosine and correlation, the moves of more than 512 prototypes, "
        "and approximate searches.",
        "--all",
    ),
]


def warmup(variants: Variants = False, json: Json = False, quiet: Quiet = False, debug: Debug = False) -> None:
    """Compile the most used code and keep it on disk, so that later commands do not wait for the compiler.

    For container images and servers: run it when the image is built, as the user that will run protoset. The
    environment variable NUMBA_CACHE_DIR sets another folder for the compiled code.
    """
    with working("compiling", quiet) as tell:
        from protoset._warmup import warmup as warm_up

        done = warm_up(tell, variants=variants)
    if json:
        say_json({"folder": done.folder, "n_kernels": done.n_kernels, "seconds": done.seconds})
        return
    what = f"compiled {done.n_kernels} kernels" if done.n_kernels else "everything had been compiled"
    say(f"{what}; {done.seconds:.0f} s")
    say(f"the compiled code is in {done.folder}")
