"""``protoset predict``: labels for the objects of a file."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from protoset._files import write_atomically
from protoset.cli._options import (
    Debug,
    Force,
    FormatOption,
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
from protoset.cli._streams import check_dashes, is_dash
from protoset.cli._work import working

if TYPE_CHECKING:
    from protoset.datasets import Queries
    from protoset.models import DataModel

PREDICTION_COLUMNS = ("id", "row", "prediction", "probability", "prototype", "distance")
"""Columns of the output; of "id" and "row" the first one that the queries have is written by default."""

CHEAP_COLUMNS = {"id", "row", "prediction"}
"""Columns that need no distance to every prototype."""

PROBABILITY_DIGITS = 4
"""Decimals of a probability."""


def predict(
    model: ModelArgument,
    path: QueryArgument,
    output: Annotated[
        Path | None, option("Write the predictions here (CSV); without it, or with -, they are printed.")
    ] = None,
    columns: Annotated[
        str | None,
        option(f"Which columns, in which order: some of {', '.join(PREDICTION_COLUMNS)}.", metavar="NAME,NAME"),
    ] = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    format: FormatOption = None,
    json: Json = False,
    quiet: Quiet = False,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Predict the labels of objects with a saved model.

    Each prediction has its probability, the prototype that decided (its id, or its row in the training data; of a
    prototype that moved, those of the nearest training object of its class) and the distance to it. The columns of a
    table are found by their names. A row of a distance matrix has the distances from an object to all training objects,
    or to the prototypes.
    """
    check_dashes({"MODEL": model, "the file": path}, {"--output": output}, json=json)
    output = None if is_dash(output) else output
    check_outputs({"--output": output}, [model, path], force)
    names = None if columns is None else _check_columns(columns)
    with working("predicting", quiet):
        loaded = open_model(model)
        queries = read_for(loaded, path, format=format)
        names = _columns_for(queries, names)
        labels, table = _predict(loaded, queries, names)
    rows = list(zip(*(table[name] for name in names), strict=True))
    document: dict[str, Any] = {"model": model, "path": path, "n_objects": len(queries)}
    document["predictions"] = [dict(zip(names, row, strict=True)) for row in rows] if json else None
    if queries.labels is not None:
        document["n_errors"] = int((queries.labels != labels.astype(str)).sum())
    if output is not None or not json:
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([safe_text(value) for value in row] if spreadsheet_safe else row for row in rows)
        if output is None:
            typer.echo(text.getvalue(), nl=False)
        else:
            write_atomically(output, text.getvalue().encode())
    if json:
        say_json(document | ({} if output is None else {"output": output}))
    else:
        if "n_errors" in document:
            differ = f"{document['n_errors']} of {len(queries)} differ from the labels in the file"
            note(f"{differ}; protoset evaluate --model compares that with guessing", quiet)
        if output is not None:
            note(f"{len(queries)} predictions: {output}", quiet)


def _check_columns(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in PREDICTION_COLUMNS]
    if unknown:
        raise ValueError(f"--columns {text!r}: there is no {unknown}; choose from {list(PREDICTION_COLUMNS)}")
    if len(set(names)) < len(names):
        raise ValueError(f"--columns {text!r} names a column twice; name each once")
    return names


def _columns_for(queries: Queries, names: list[str] | None) -> list[str]:
    """Return the columns to write; refuse ids where the queries have none."""
    if names is None:
        return [name for name in PREDICTION_COLUMNS if name != ("id" if queries.ids is None else "row")]
    if "id" in names and queries.ids is None:
        raise ValueError("--columns id: the file has no ids; name the column row instead")
    return names


def _predict(model: DataModel, queries: Queries, names: list[str]) -> tuple[Any, dict[str, Any]]:
    """Return the predicted labels, and the columns by name."""
    table: dict[str, Any] = {"row": range(len(queries)), "id": None if queries.ids is None else queries.ids.tolist()}
    if CHEAP_COLUMNS.issuperset(names):
        labels = model.predict(queries.objects)
        return labels, table | {"prediction": labels.tolist()}
    details = model.predict_details(queries.objects)
    return details.labels, table | {
        "prediction": details.labels.tolist(),
        "probability": details.probabilities.round(PROBABILITY_DIGITS).tolist(),
        "prototype": model.names_of(details.indices),
        # As many digits as a table shows; the last digits of a distance mean nothing.
        "distance": [float(f"{distance:.6g}") for distance in details.distances.tolist()],
    }
