"""What ``protoset paper run`` and ``protoset paper report`` do: arguments in, an exit code out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from protoset.datasets import DataError
from protoset.experiments import JournalError, PlanError
from protoset.paper.report import write_report
from protoset.paper.running import run_paper

SUCCESS, FAILED, INTERRUPTED = 0, 1, 130

Say = Callable[[str], Any]


def run_command(
    output: str,
    *,
    data: str | None = None,
    studies: Sequence[str] = (),
    datasets: Sequence[str] = (),
    scaling: str = "z",
    without: Sequence[str] = (),
    n_jobs: int | None = None,
    retry_failed: bool = False,
    say: Say | None = None,
    complain: Say | None = None,
    verbose: int = 1,
) -> int:
    """Run the studies.

    Parameters
    ----------
    output, data, studies, datasets, scaling, without, n_jobs, retry_failed, verbose
        As those of :func:`run_paper`; empty sequences stand for everything.
    say, complain : callable, optional
        Take a line for the user; the standard output and the standard error by default.

    Returns
    -------
    int
        Exit code: 0 for success, 1 where it could not run or cells failed, 130 after Ctrl-C.
    """
    say, complain = say or _out, complain or _err
    try:
        done = run_paper(
            output,
            data=data,
            studies=studies or None,
            datasets=datasets or None,
            scaling=scaling,  # type: ignore[arg-type]
            without=without,
            n_jobs=n_jobs,
            retry_failed=retry_failed,
            verbose=verbose,
        )
    except KeyboardInterrupt:
        complain(f"stopped; what is done is kept in {output!r}, and the same command goes on from there")
        return INTERRUPTED
    except (ValueError, DataError, JournalError, PlanError, OSError, TypeError) as error:
        complain(f"protoset paper run: {error}")
        return FAILED
    for one in done:
        state = one.progress
        say(f"{one.plan}: {state.done} of {state.total} cells, {state.failed} failed, {state.elapsed:.0f} s")
    n_failed = sum(one.progress.failed for one in done)
    if n_failed:
        complain(f"{n_failed} cells failed; the report lists them, and --retry-failed computes them again")
    return FAILED if n_failed else SUCCESS


def report_command(
    output: str,
    *,
    scaling: str | None = None,
    summary: str | None = None,
    say: Say | None = None,
    complain: Say | None = None,
) -> int:
    """Write the report.

    Parameters
    ----------
    output, scaling, summary
        As those of :func:`write_report`.
    say, complain : callable, optional
        Take a line for the user; the standard output and the standard error by default.

    Returns
    -------
    int
        Exit code: 0 for success, 1 where it could not be written.
    """
    try:
        place = write_report(output, scaling=scaling, summary=summary)
    except (ValueError, JournalError, OSError, ImportError) as error:
        (complain or _err)(f"protoset paper report: {error}")
        return FAILED
    (say or _out)(str(place))
    return SUCCESS


def _out(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _err(line: str) -> None:
    sys.stderr.write(f"{line}\n")
