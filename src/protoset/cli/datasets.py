"""``protoset datasets``: list, show and save the data sets of the paper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from protoset.cli._options import DataFolder, Debug, Force, Json, Quiet
from protoset.cli._output import check_outputs, note, plain, say, say_json, say_table

app = typer.Typer(help="The data sets of the paper.", rich_markup_mode=None)

NameArgument = Annotated[str, typer.Argument(help="Name in the paper or in the archive.")]
Download = Annotated[bool, typer.Option(help="Download the data set if it is not found.")]


@app.callback(invoke_without_command=True)
def _begin(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        show_list()


@app.command("list")
def show_list(json: Json = False, debug: Debug = False) -> None:
    """List the data sets with their sizes, as `protoset datasets` without a subcommand does."""
    from protoset.datasets import describe

    rows = describe()
    if json:
        say_json({"datasets": rows})
        return
    names = ("name", "kind", "objects", "train", "attributes", "nominal", "classes")
    say_table(names, [[row[name] or None for name in names] for row in rows])


@app.command()
def save(
    name: NameArgument,
    path: Annotated[
        Path, typer.Argument(metavar="OUTPUT", help="File to write; its extension, such as .csv, sets the format.")
    ],
    data: DataFolder = None,
    download: Download = True,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a data set to a file."""
    check_outputs({"OUTPUT": path}, [data], force)
    from protoset.datasets import load_dataset, write_rows

    loaded = load_dataset(name, data, download=download)
    # Without the layout of the source, the ending of the file tells the format.
    write_rows(replace(loaded, layout=None), range(loaded.n_objects), path, overwrite=force)
    note(f"{loaded.n_objects} objects: {plain(path)}", quiet)


@app.command()
def show(
    name: NameArgument, data: DataFolder = None, download: Download = False, json: Json = False, debug: Debug = False
) -> None:
    """Show a data set and its source: --data, PROTOSET_DATA, installed packages, or the cache."""
    from protoset.datasets import describe, find, load_dataset

    record = find(name)
    row = next(row for row in describe() if row["name"] == record.name)
    loaded = load_dataset(name, data, download=download)
    where = str(loaded.path) if loaded.path is not None else "scikit-learn"
    if json:
        say_json(row | {"found": where, "objects_found": loaded.n_objects})
        return
    for key, value in row.items():
        if value != "":
            say(f"{key}: {plain(value)}")
    say(f"found: {plain(where)} ({loaded.n_objects} objects)")
