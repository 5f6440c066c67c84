"""``protoset predict``: labels for the objects of a file."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated

import typer

from protoset._files import write_atomically
from protoset.cli._options import (
    Debug,
    Force,
    Json,
    ModelArgument,
    QueryArgument,
    Quiet,
    SpreadsheetSafe,
    open_model,
    option,
    read_for,
)
from protoset.cli._output import check_outputs, note, say_json
from protoset.cli._output import spreadsheet_safe as safe_text
from protoset.cli._work import working


def predict(
    model: ModelArgument,
    path: QueryArgument,
    output: Annotated[Path | None, option("Write the predictions here (CSV); else they are printed.")] = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    json: Json = False,
    quiet: Quiet = False,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Predict the labels of objects with a saved model.

    The columns of a table are found by their names. A row of a distance matrix has the distances from an object to all
    training objects, or to the prototypes.
    """
    check_outputs({"--output": output}, [model, path], force)
    with working("predicting", quiet):
        loaded = open_model(model)
        queries = read_for(loaded, path)
        predictions = loaded.predict(queries.objects)
    document = {"model": model, "path": path, "n_objects": len(queries), "predictions": predictions}
    if queries.labels is not None:
        document["n_errors"] = int((queries.labels != predictions.astype(str)).sum())
    if output is not None or not json:
        table = io.StringIO(newline="")
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(["row", "prediction"])
        labels = predictions.tolist()
        writer.writerows(enumerate(map(safe_text, labels) if spreadsheet_safe else labels))
        if output is None:
            typer.echo(table.getvalue(), nl=False)
        else:
            write_atomically(output, table.getvalue().encode())
    if json:
        say_json(document | ({} if output is None else {"output": output}))
    else:
        if "n_errors" in document:
            note(f"{document['n_errors']} of {len(queries)} differ from the labels in the file", quiet)
        if output is not None:
            note(f"{len(queries)} predictions: {output}", quiet)
