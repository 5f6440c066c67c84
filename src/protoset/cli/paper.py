"""``protoset paper``: the paper's studies, run and reported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from protoset.cli._options import DataFolder, Debug, Force, Jobs, Json, Quiet
from protoset.cli._output import check_outputs, note, plain, say, say_json
from protoset.cli._work import working

if TYPE_CHECKING:
    from protoset.experiments import Progress

app = typer.Typer(help="The paper, measured again.", rich_markup_mode=None)

Output = Annotated[Path, typer.Option("--output", help="Folder of the results.")]


@app.command()
def run(
    data: DataFolder = None,
    output: Output = Path("paper-output"),
    study: Annotated[
        list[str] | None,
        typer.Option(help="Only vectors, series, windows, sensitivity or mixture; several times.", show_default=False),
    ] = None,
    dataset: Annotated[
        list[str] | None, typer.Option(help="Only this data set; several times.", show_default=False)
    ] = None,
    scaling: Annotated[str, typer.Option(help="Of the attributes, for all methods: z, minmax, raw.")] = "z",
    without: Annotated[
        list[str] | None,
        typer.Option(help="Leave out SSMA or RMHC, which are slow; several times.", show_default=False),
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Compute cells that failed again.", show_default=False)
    ] = False,
    n_jobs: Jobs = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run the studies of the paper. It may be ended at any moment; run again, it computes what is still missing."""
    from protoset.paper import run_paper

    with working("running", quiet) as tell:

        def follow(plan: str, state: Progress) -> None:
            tell(state.done + state.failed, state.total)

        done = run_paper(
            output,
            data=data,
            studies=study or None,
            datasets=dataset or None,
            scaling=scaling,  # type: ignore[arg-type]
            without=without or (),
            n_jobs=n_jobs,
            progress=follow,
            retry_failed=retry_failed,
        )
    plans = [
        {"plan": one.plan, "done": one.progress.done, "failed": one.progress.failed, "total": one.progress.total}
        for one in done
    ]
    if json:
        say_json({"output": output, "plans": plans})
    else:
        for one in plans:
            say(f"{plain(one['plan'])}: {one['done']} of {one['total']} cells done, {one['failed']} failed")
        say(f"results: {plain(output)}")
    if any(one["failed"] for one in plans):
        note("some cells failed; the report lists them, and --retry-failed computes them again")
        raise typer.Exit(1)


@app.command()
def report(
    output: Output = Path("paper-output"),
    scaling: Annotated[
        str | None,
        typer.Option(help="Which vector study, where there are several: z, minmax, raw.", show_default=False),
    ] = None,
    summary: Annotated[
        Path | None, typer.Option(help="Also write a shorter page to this file.", show_default=False)
    ] = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write the report of what has been computed so far: measured, printed, and the difference."""
    check_outputs({"--summary": summary}, [], force)
    from protoset.paper import write_report

    with working("writing the report", quiet):
        place = write_report(output, scaling=scaling, summary=summary, overwrite=force)  # type: ignore[arg-type]
    if json:
        say_json({"report": place})
    else:
        say(f"report: {plain(place)}")
