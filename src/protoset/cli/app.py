"""The whole command: its subcommands, and the exit codes of errors."""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from protoset._version import __version__
from protoset.cli import compare, datasets, demo, evaluate, experiment, explain, paper, predict, select, version, warmup
from protoset.cli._work import Interruption, watching

EXIT_CODES = (
    "Exit codes: 0 success, 1 failed run, 2 wrong usage or bad input, 130 interrupted. Results go to the standard "
    "output, everything else to the standard error."
)

UsageError: Any = typer.BadParameter.__mro__[1]
"""Class of click's usage errors; some versions of typer bring their own click, so it is not imported by name."""

ARGUMENT_NAMES = (
    "target|labels|kind|method|metric|n_prototypes|scaling|folds|holdout|n_jobs|random_state|n_neighbors|data|"
    "studies|datasets|without|cluster|ignore|use|id|categorical|numeric|text|header|separator|decimal|format|rule|refuse|"
    "coverage|outlier_label"
)
"""Arguments of the library that the command has as options."""

OPTION_OF_ARGUMENT = {"random_state": "seed", "studies": "study", "datasets": "dataset"}
"""Options whose names differ from the arguments of the library."""

FLAG_OF_ARGUMENT = {
    "overwrite=True": "--force",
    "adapt=True": "--adapt",
    "adapt=False": "--no-adapt",
    "relevances=True": "--relevances",
}
"""Arguments of the library, with their values, that are flags of the command."""

SYSTEM_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
"""Error numbers of failures of the system, such as a full disk. Other errors, such as a wrong path, are wrong usage."""

SYSTEM_SQLITE_CODES = (7, 10, 13)
"""SQLite's codes of failures of the system: no memory, failed input or output, full disk."""

app = typer.Typer(
    name="protoset",
    help="Prototype selection for any dissimilarity: find a few objects that represent a whole data set.",
    epilog=EXIT_CODES,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for command in (select.select, predict.predict, evaluate.evaluate, compare.compare, explain.explain):
    app.command(epilog=EXIT_CODES)(command)
app.add_typer(experiment.app, name="experiment", epilog=EXIT_CODES)
app.add_typer(paper.app, name="paper", epilog=EXIT_CODES)
app.add_typer(datasets.app, name="datasets", epilog=EXIT_CODES)
app.command(epilog=EXIT_CODES)(demo.demo)
app.command(epilog=EXIT_CODES)(warmup.warmup)
app.command(epilog=EXIT_CODES)(version.version)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"protoset {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _begin(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


def run(arguments: list[str]) -> int:
    """Run the command and return its exit code."""
    if sys.stderr is None:  # closed by the shell
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        sys.stderr.write("protoset: the standard output is closed; open it, or send it to /dev/null\n")
        return 1
    with watching() as interruption, _short_warnings(interruption):
        try:
            code = typer.main.get_command(app).main(arguments, prog_name="protoset", standalone_mode=False)
            sys.stdout.flush()
            if interruption.seen:  # some versions of typer turn it into an exit code
                raise KeyboardInterrupt
            return code if isinstance(code, int) else 0
        except typer.Exit as ended:
            return _complain(KeyboardInterrupt()) if interruption.seen else ended.exit_code
        except (BrokenPipeError, SystemExit):
            # The reader closed the pipe, as in `protoset datasets | head`; typer turns that into an exit. The
            # interpreter must not write at its end either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return 1
        except BaseException as error:
            if "--debug" in arguments:
                traceback.print_exc()
            # A library may raise another error when Ctrl-C ends its work.
            return _complain(KeyboardInterrupt() if interruption.seen else error)


def _complain(error: BaseException) -> int:
    code, message = judge(error)
    if isinstance(error, KeyboardInterrupt):
        # Python remembers a KeyboardInterrupt that left the exec of a string, as in an import, and `python -m` then
        # ends by the signal and not with the exit code. The next exec makes it forget.
        exec("")
    sys.stderr.write(f"protoset: {message}\n")
    return code


def judge(error: BaseException) -> tuple[int, str]:
    """Return the exit code and the message of an error."""
    if isinstance(error, (KeyboardInterrupt, typer.Abort)):
        return 130, "interrupted; files that were not finished are not there"
    if isinstance(error, UsageError):
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "protoset"
        return 2, f"{_line(error.format_message()).rstrip('.')}; see {command} --help"
    if isinstance(error, UnicodeEncodeError):
        letters = error.object[error.start : error.end][:20]
        return 1, f"the output has no letters {letters!r} in its encoding {error.encoding}; set PYTHONIOENCODING=utf-8"
    if isinstance(error, (ValueError, TypeError, ImportError, FileNotFoundError, NotADirectoryError)):
        return 1 if _is_system_failure(error) else 2, in_options(_line(str(error)))
    if isinstance(error, MemoryError):
        return 1, f"there is not enough memory: {_line(str(error)) or 'take fewer objects'}"
    from protoset.exceptions import JournalError

    if isinstance(error, (OSError, RuntimeError)) and str(error):
        is_usage = isinstance(error, JournalError) and not _is_system_failure(error)
        return 2 if is_usage else 1, _line(str(error))
    return 1, f"{type(error).__name__}: {_line(str(error))} (--debug shows where)"


def _is_system_failure(error: BaseException | None) -> bool:
    """Whether an error comes from the system, as on a full disk, and not from wrong usage."""
    while error is not None:
        # The lowest byte is SQLite's primary code; the other bytes say details.
        if (
            getattr(error, "errno", None) in SYSTEM_ERRNOS
            or getattr(error, "sqlite_errorcode", 0) % 256 in SYSTEM_SQLITE_CODES
        ):
            return True
        error = error.__cause__
    return False


def in_options(message: str) -> str:
    """Name options in a message of the library: --target for target=."""
    for argument, flag in FLAG_OF_ARGUMENT.items():
        message = message.replace(argument, flag)
    return re.sub(
        rf"(?:(?<=\s)|(?<=\()|^)({ARGUMENT_NAMES})=",
        lambda match: "--" + OPTION_OF_ARGUMENT.get(match[1], match[1]).replace("_", "-") + "=",
        message,
    )


def _line(message: str) -> str:
    return " ".join(message.split())


@contextmanager
def _short_warnings(interruption: Interruption) -> Iterator[None]:
    """Show warnings as one line each; after Ctrl-C show none."""

    def show(message: Warning | str, category: type[Warning], *_: Any) -> None:
        if not interruption.seen:
            sys.stderr.write(f"protoset: warning: {in_options(_line(str(message)))}\n")

    with warnings.catch_warnings():
        warnings.showwarning = show  # type: ignore[assignment]
        yield
