"""``protoset experiment``: plans, and the journals of their results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from protoset.cli._options import Cluster, DataFolder, Debug, Force, Jobs, Json, Quiet, connected, option
from protoset.cli._output import check_outputs, note, plain, say, say_json, say_table
from protoset.cli._work import Tell, working

if TYPE_CHECKING:
    from protoset.experiments import RunProgress

app = typer.Typer(
    help="Run plans (data x methods x folds); a journal keeps all results.",
    rich_markup_mode=None,
)

JournalArgument = Annotated[Path, typer.Argument(metavar="JOURNAL", help="A file that `experiment run` wrote.")]
Retry = Annotated[bool, option("Compute failed cells again.", "--retry-failed")]


@app.command()
def run(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="A TOML file.")],
    journal: Annotated[
        Path | None, option("File for the results; by default PLAN with the extension .journal.")
    ] = None,
    data: DataFolder = None,
    retry_failed: Retry = False,
    n_jobs: Jobs = None,
    cluster: Cluster = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compute the cells that are not yet in the journal. A run may be ended at any moment and started again."""
    from protoset import experiments

    if not plan.name:
        raise ValueError(f"PLAN {str(plan)!r} is not a file; pass the path of a TOML file")
    path = plan.with_suffix(".journal") if journal is None else journal
    with working("running", quiet) as tell, connected(cluster) as client:
        done = experiments.run(
            plan, path, n_jobs=n_jobs, data=data, callback=_callback(tell), retry_failed=retry_failed, client=client
        )
    _end(done, path, json)


@app.command()
def resume(
    journal: JournalArgument,
    data: DataFolder = None,
    retry_failed: Retry = False,
    n_jobs: Jobs = None,
    cluster: Cluster = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Continue the plan of a journal."""
    from protoset import experiments

    with working("running", quiet) as tell, connected(cluster) as client:
        done = experiments.resume(
            journal, n_jobs=n_jobs, data=data, callback=_callback(tell), retry_failed=retry_failed, client=client
        )
    _end(done, journal, json)


@app.command()
def status(journal: JournalArgument, json: Json = False, debug: Debug = False) -> None:
    """Show the state of the experiment of a journal, also during a run."""
    from protoset import experiments

    state = experiments.status(journal)
    if json:
        say_json(vars(state))
        return
    name = plain(state.name) or "plan"
    say(f"{name}: {state.done} of {state.total} done, {state.failed} failed, {state.missing} left")
    if state.running:
        say("it is running")
    if state.failures:
        say_table(["cells", "failure"], [[count, message] for message, count in state.failures])


@app.command()
def export(
    journal: JournalArgument,
    path: Annotated[Path, typer.Argument(metavar="OUTPUT", help="A .csv or .parquet file.")],
    kept: Annotated[bool, option("Also write the rows that were kept.", "--kept")] = False,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write results and failures to a table, a row per cell."""
    check_outputs({"OUTPUT": path}, [journal], force)
    from protoset import experiments

    n_rows = experiments.export_results(journal, path, kept=kept)
    if json:
        say_json({"path": path, "rows": n_rows})
    else:
        note(f"{n_rows} rows: {path}", quiet)


@app.command()
def merge(
    journal: Annotated[Path, typer.Argument(metavar="TARGET", help="A journal; created if it does not exist.")],
    sources: Annotated[
        list[Path], typer.Argument(metavar="JOURNAL...", help="The other journals; they are not changed.")
    ],
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Copy the cells of several journals into one journal."""
    from protoset import experiments

    n_cells = experiments.merge(journal, sources)
    if json:
        say_json({"path": journal, "cells": n_cells})
    else:
        note(f"{n_cells} cells were added to {journal}", quiet)


def _callback(tell: Tell) -> Callable[[RunProgress], None]:
    return lambda progress: tell(progress.done + progress.failed, progress.total)


def _end(done: RunProgress, journal: Path, json: bool) -> None:
    if json:
        say_json({"journal": journal, "done": done.done, "failed": done.failed, "total": done.total})
    else:
        say(f"{done.done} of {done.total} cells done, {done.failed} failed: {plain(journal)}")
    if done.failed:
        note(f"protoset experiment status {journal} shows what failed")
        raise typer.Exit(1)
