"""``protoset paper``: the paper's studies."""

from __future__ import annotations

import typer

app = typer.Typer(help="The paper, reproduced.", rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def _begin(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)
