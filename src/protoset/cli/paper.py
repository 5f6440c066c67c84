"""``protoset paper``: run the paper's studies, and report them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from protoset.cli._options import DataFolder, Debug, Force, Jobs, Json, Quiet, option
from protoset.cli._output import check_outputs, note, plain, say, say_json
from protoset.cli._work import working

app = typer.Typer(help="Reproduce the paper.", rich_markup_mode=None)

Output = Annotated[Path, typer.Option("--output", help="Folder for the results.")]


@app.command()
def run(
    data: DataFolder = None,
    output: Output = Path("paper-output"),
    study: Annotated[
        list[str] | None, option("Only vectors, series, windows, sensitivity or mixture; repeatable.")
    ] = None,
    dataset: Annotated[list[str] | None, option("Only this data set; repeatable.")] = None,
    scaling: Annotated[str, typer.Option(help="Scaling of the attributes, for all methods: z, minmax, raw.")] = "z",
    without: Annotated[list[str] | None, option("Leave out SSMA or RMHC, which are slow; repeatable.")] = None,
    retry_failed: Annotated[bool, option("Compute failed cells again.", "--retry-failed")] = False,
    n_jobs: Jobs = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run the studies of the paper. A run may be ended at any moment; the next run computes the missing results."""
    from protoset.paper import run_paper

    with working("running", quiet) as tell:
        runs = run_paper(
            output,
            data=data,
            studies=study or None,
            datasets=dataset or None,
            scaling=scaling,  # type: ignore[arg-type]
            without=without or (),
            n_jobs=n_jobs,
            progress=lambda plan, state: tell(state.done + state.failed, state.total),
            retry_failed=retry_failed,
        )
    plans = [
        {"plan": run.plan, "done": run.progress.done, "failed": run.progress.failed, "total": run.progress.total}
        for run in runs
    ]
    if json:
        say_json({"output": output, "plans": plans})
    else:
        for plan in plans:
            say(f"{plain(plan['plan'])}: {plan['done']} of {plan['total']} cells done, {plan['failed']} failed")
        say(f"results: {plain(output)}")
    if any(plan["failed"] for plan in plans):
        note("some cells failed; the report lists them, and --retry-failed computes them again")
        raise typer.Exit(1)


@app.command()
def report(
    output: Output = Path("paper-output"),
    scaling: Annotated[str | None, option("The vector study to report, if there are several: z, minmax, raw.")] = None,
    summary: Annotated[Path | None, option("Also write a shorter page to this file.")] = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a report of all results so far: measured values, values printed in the paper, and their difference."""
    check_outputs({"--summary": summary}, [], force)
    from protoset.paper import write_paper_report

    with working("writing the report", quiet):
        path = write_paper_report(output, scaling=scaling, summary=summary, overwrite=force)  # type: ignore[arg-type]
    if json:
        say_json({"report": path})
    else:
        say(f"report: {plain(path)}")
