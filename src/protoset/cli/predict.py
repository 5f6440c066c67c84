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
    import numpy as np

    from protoset.datasets import Queries
    from protoset.models import DataModel

PREDICTION_COLUMNS = ("id", "row", "prediction", "probability", "prototype", "distance")
"""Columns of the output; of "id" and "row" the first one that the queries have is written by default."""

ADDED_COLUMNS = {"probabilities": "--proba", "novelty": "--refuse", "possible": "--coverage"}
"""Columns that need a calibrated model, each with the option that adds it; "probabilities" is a column per class."""

ALL_COLUMNS = (*PREDICTION_COLUMNS, *ADDED_COLUMNS)
"""Names that --columns knows."""

USUAL_COVERAGE = 0.9
"""Coverage of the column "possible" where no other one is given."""

BETWEEN_LABELS = " | "
"""Separator of the labels in the column "possible" of a CSV file."""

CHEAP_COLUMNS = {"id", "row", "prediction"}
"""Columns that need no distance to every prototype."""

PROBABILITY_DIGITS = 4
"""Decimals of a probability."""


def predict(
    model: ModelArgument,
    path: QueryArgument,
    *,
    output: Annotated[
        Path | None, option("Write the predictions to this CSV file. By default, and with -, they are printed.")
    ] = None,
    columns: Annotated[
        str | None,
        option(f"Columns of the output, in this order: some of {', '.join(ALL_COLUMNS)}.", metavar="NAME,NAME"),
    ] = None,
    proba: Annotated[bool, option("Add a column with the probability of each label.", "--proba")] = False,
    refuse: Annotated[
        float | None,
        option(
            "Refuse objects that are unlike all training objects: they get the outlier label. The value is the share "
            "of known objects that may be refused by mistake, such as 0.01. Adds the column novelty.",
            metavar="PART",
        ),
    ] = None,
    outlier_label: Annotated[
        str | None,
        option("Label of refused objects; by default unknown, or -1 if the labels are numbers.", metavar="LABEL"),
    ] = None,
    coverage: Annotated[
        float | None,
        option(
            "Add a column with a set of possible labels; this share of the sets, such as 0.9, has the true label.",
            metavar="PART",
        ),
    ] = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    format: FormatOption = None,
    json: Json = False,
    quiet: Quiet = False,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Predict the labels of objects with a saved model.

    Each prediction has its probability, the deciding prototype, and the distance to this prototype. A prototype is
    shown by its id, or by its row in the training data; a moved prototype by the nearest training object of its class.
    The columns of a table are matched by name. A row of a distance matrix has the distances of an object to all
    training objects, or to the prototypes.
    """
    check_dashes({"MODEL": model, "the file": path}, {"--output": output}, json=json)
    output = None if is_dash(output) else output
    check_outputs({"--output": output}, [model, path], force)
    _check_part("--refuse", refuse)
    _check_part("--coverage", coverage)
    is_asked = {"probabilities": proba, "novelty": refuse is not None, "possible": coverage is not None}
    asked = [name for name in ADDED_COLUMNS if is_asked[name]]
    names = None if columns is None else _check_columns(columns, asked)
    with working("predicting", quiet):
        loaded = open_model(model)
        rate = loaded.classifier.refuse if refuse is None else refuse
        if outlier_label is not None and rate is None:
            raise ValueError("--outlier-label has no effect, because no objects are refused; add --refuse 0.01")
        queries = read_for(loaded, path, format=format)
        names = _columns_for(queries, names, asked)
        _check_calibration(loaded, model, names, refuse)
        labels, is_refused, table = _predict(loaded, queries, names, rate, outlier_label, coverage)
    document: dict[str, Any] = {"model": model, "path": path, "n_objects": len(queries)}
    records = zip(*(table[name] for name in names), strict=True)
    document["predictions"] = [dict(zip(names, record, strict=True)) for record in records] if json else None
    if rate is not None:
        document["n_refused"] = int(is_refused.sum())
    if queries.labels is not None:
        document["n_errors"] = int(((queries.labels != labels.astype(str)) & ~is_refused).sum())
    if output is not None or not json:
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        header, rows = _as_rows(table, names, loaded.classes_.tolist())
        for row in [header, *rows] if spreadsheet_safe else []:
            row[:] = map(safe_text, row)
        writer.writerows([header, *rows])
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
        if "n_refused" in document:
            note(f"{document['n_refused']} of {len(queries)} are refused as unlike anything seen", quiet)
        if output is not None:
            note(f"{len(queries)} predictions: {output}", quiet)


def _check_part(option: str, value: float | None) -> None:
    """Refuse a part of the objects that is not between 0 and 1."""
    if value is not None and not 0 < value < 1:
        raise ValueError(f"{option} {value:g} must be above 0 and below 1, such as 0.01 or 0.9")


def _check_columns(text: str, asked: list[str]) -> list[str]:
    """Return the columns that --columns names; refuse options that add others."""
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in ALL_COLUMNS]
    if unknown:
        raise ValueError(f"--columns {text!r}: there is no {unknown}; choose from {list(ALL_COLUMNS)}")
    if len(set(names)) < len(names):
        raise ValueError(f"--columns {text!r} names a column twice; name each once")
    for name in asked:
        # --refuse changes the predictions, for any columns.
        if name not in names and name != "novelty":
            option = ADDED_COLUMNS[name]
            raise ValueError(
                f"{option} adds the column {name}, which --columns {text!r} lacks; name it, or leave {option} out"
            )
    return names


def _columns_for(queries: Queries, names: list[str] | None, asked: list[str]) -> list[str]:
    """Return the columns to write; refuse ids where the queries have none."""
    if names is None:
        return [name for name in PREDICTION_COLUMNS if name != ("id" if queries.ids is None else "row")] + asked
    if "id" in names and queries.ids is None:
        raise ValueError("--columns id: the file has no ids; name the column row instead")
    return names


def _check_calibration(model: DataModel, path: Path, names: list[str], refuse: float | None) -> None:
    """Refuse columns and refusals that need a calibrated model, where the model is not."""
    if model.classifier.calibration_ is not None:
        return
    needed = [option for name, option in ADDED_COLUMNS.items() if name in names]
    if refuse is not None and "--refuse" not in needed:
        needed.append("--refuse")
    if needed:
        raise ValueError(
            f"{needed[0]} needs a calibrated model, and {str(path)!r} is not: it was fitted with calibrate=False, on a "
            f"sparse graph, or by an older version; leave {needed[0]} out, or select again with protoset select --model"
        )


def _predict(
    model: DataModel,
    queries: Queries,
    names: list[str],
    rate: float | None,
    outlier_label: str | None,
    coverage: float | None,
) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Return the predicted labels, which queries are refused, and the columns by name."""
    import numpy as np

    objects, classes = queries.objects, model.classes_.tolist()
    table: dict[str, Any] = {"row": range(len(queries)), "id": None if queries.ids is None else queries.ids.tolist()}
    is_refused = np.zeros(len(queries), bool) if rate is None else model.is_novel(objects, rate)
    if "novelty" in names:
        table["novelty"] = [float(f"{score:.6g}") for score in model.novelty_scores(objects).tolist()]
    if "probabilities" in names:
        rounded = model.predict_proba(objects).round(PROBABILITY_DIGITS).tolist()
        table["probabilities"] = [dict(zip(classes, row, strict=True)) for row in rounded]
    if "possible" in names:
        possible = model.predict_set(objects, USUAL_COVERAGE if coverage is None else coverage)
        table["possible"] = [[classes[code] for code in np.flatnonzero(row)] for row in possible]
    if CHEAP_COLUMNS.issuperset(names):
        labels = _most_likely(model, objects)
    else:
        details = model.predict_details(objects)
        labels = details.labels
        table |= {
            "probability": _probabilities(details.probabilities, is_refused),
            "prototype": model.names_of(details.indices),
            # As many digits as a table shows; the last digits of a distance mean nothing.
            "distance": [float(f"{distance:.6g}") for distance in details.distances.tolist()],
        }
    answers = labels.tolist()
    if rate is not None:
        outlier = _outlier_label(model, outlier_label, rate)
        answers = [outlier if refused else label for label, refused in zip(answers, is_refused.tolist(), strict=True)]
    return labels, is_refused, table | {"prediction": answers}


def _most_likely(model: DataModel, objects: Any) -> np.ndarray:
    """Predict labels, also of objects that the model would refuse."""
    from copy import copy
    from dataclasses import replace

    classifier = copy(model.classifier)
    classifier.refuse = None
    return replace(model, classifier=classifier).predict(objects)


def _probabilities(values: np.ndarray, is_refused: np.ndarray) -> list[float | None]:
    """Probabilities of the predictions; None where objects are refused, or where the model is not calibrated."""
    return [
        None if refused or value != value else round(value, PROBABILITY_DIGITS)
        for value, refused in zip(values.tolist(), is_refused.tolist(), strict=True)
    ]


def _outlier_label(model: DataModel, given: str | None, rate: float) -> Any:
    """Return the label of refused objects, of the kind of the labels of the model."""
    from protoset.decisions.refusal import outlier_label_for

    label: Any = model.classifier.outlier_label if given is None else given
    if given is not None and model.classes_.dtype.kind in "if":
        try:
            label = int(given)
        except ValueError:
            raise ValueError(f"--outlier-label {given!r} must be a whole number, as the labels are numbers") from None
    elif label == "auto" and "unknown" in model.classes_.tolist():
        raise ValueError("--refuse calls refused objects unknown, which is a label of the model; pass --outlier-label")
    return outlier_label_for(label, model.classes_, rate)


def _as_rows(table: dict[str, Any], names: list[str], classes: list[Any]) -> tuple[list[Any], list[list[Any]]]:
    """Return the header and the rows of a CSV file."""
    header: list[Any] = []
    columns: list[Any] = []
    for name in names:
        if name == "probabilities":
            header += [f"probability of {label}" for label in classes]
            columns += [[row[label] for row in table[name]] for label in classes]
        elif name == "possible":
            header.append(name)
            columns.append([BETWEEN_LABELS.join(map(str, labels)) for labels in table[name]])
        else:
            header.append(name)
            columns.append(table[name])
    return header, [list(row) for row in zip(*columns, strict=True)]
