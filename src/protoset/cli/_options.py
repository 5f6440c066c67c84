"""Options that several commands share, and the functions that parse them."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from protoset.cli._streams import opened

if TYPE_CHECKING:
    from protoset.datasets import Dataset, Queries
    from protoset.models import DataModel, Preparation


def _methods(incomplete: str) -> list[str]:
    from protoset.selectors import all_selectors

    names = ["adapted", "refined", *(name.lower() for name, _ in all_selectors())]
    return [name for name in names if name.startswith(incomplete.lower())]


def _formats(incomplete: str) -> list[str]:
    from protoset.datasets.formats import FORMATS

    return [name for name in FORMATS if name.startswith(incomplete)]


def _metrics(incomplete: str) -> list[str]:
    from protoset.spaces import DISSIMILARITIES

    return [name for name in ["auto", *sorted(DISSIMILARITIES)] if name.startswith(incomplete) and name != "callable"]


def _rules(incomplete: str) -> list[str]:
    from protoset.decisions import RULES

    return [name for name in RULES if name.startswith(incomplete)]


def option(text: str, *names: str, metavar: str | None = None, **more: Any) -> Any:
    """Return an option whose default is not in the help. Without names, the option has the name of its parameter."""
    return typer.Option(*names, help=text, metavar=metavar, show_default=False, **more)


DataArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE|FOLDER|-",
        help="A table (CSV, Parquet, KEEL, ARFF), time series (UCR, .ts), a distance matrix, or strings; - is the "
        "standard input.",
    ),
]
ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that `protoset select --model` wrote.")]
QueryArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE|FOLDER|-",
        help="Objects as in the training file, with or without labels; - is the standard input.",
    ),
]
Target = Annotated[
    str | None, option("Column of the labels: its name, or its position, counted from 0.", metavar="COLUMN")
]
Labels = Annotated[
    str | None,
    option("For a distance matrix: a file with one label (or one name and label) per line.", metavar="FILE"),
]
KindOption = Annotated[
    str | None,
    option("Kind of the objects, if the content does not show it: vectors, mixed, series, strings, matrix."),
]
FormatOption = Annotated[
    str | None,
    option(
        "Format of the file, if its name and content do not show it: csv, parquet, keel, arff, ucr, ts, strings, "
        "matrix-csv, npy, npz, mat, phylip.",
        autocompletion=_formats,
    ),
]
Ignore = Annotated[list[str] | None, option("Leave out a column of a table; repeatable.", metavar="COLUMN")]
Use = Annotated[
    list[str] | None,
    option(
        "Use a column that would be left out as an id, a constant or a text; repeatable; * for all columns.",
        metavar="COLUMN",
    ),
]
IdColumn = Annotated[str | None, option("Column with the names of the objects.", "--id", metavar="COLUMN")]
Categorical = Annotated[
    list[str] | None, option("A column of categories that are written as numbers; repeatable.", metavar="COLUMN")
]
Numeric = Annotated[list[str] | None, option("A column of numbers; repeatable.", metavar="COLUMN")]
Text = Annotated[
    str | None, option("The objects are the texts of this column, under an edit distance.", metavar="COLUMN")
]
Header = Annotated[
    bool | None,
    option("Whether the first line of a CSV file has names; by default detected.", "--header/--no-header"),
]
Separator = Annotated[
    str | None,
    option("Character between the fields of a CSV file, or tab; by default detected.", metavar="CHARACTER"),
]
DecimalMark = Annotated[str | None, option("Decimal mark of a CSV file: . or ,", "--decimal", metavar=".|,")]
Method = Annotated[
    str,
    option(
        "refined (the default): REPS, improved by swaps; adapted: refined, then moved; reps: the paper's method; or "
        "another selector, such as fcnn or drop3.",
        autocompletion=_methods,
    ),
]
Metric = Annotated[
    str,
    option(
        "auto (the default) is euclidean for numbers, gower with categories or missing values, dtw for series, "
        "levenshtein for strings; or the name of a metric.",
        autocompletion=_metrics,
    ),
]
MetricParams = Annotated[
    list[str] | None, option("An argument of the metric, such as window=5; repeatable.", metavar="NAME=VALUE")
]
Params = Annotated[
    list[str] | None, option("A parameter of the method, such as n_neighbors=3; repeatable.", metavar="NAME=VALUE")
]
Prototypes = Annotated[
    str,
    option("Number of prototypes: auto (the default), a count (20), or a rate (0.1, 10%).", metavar="auto|COUNT|RATE"),
]
ScalingOption = Annotated[
    str | None, option("Scaling of numeric attributes: z (the default), minmax, raw.", metavar="z|minmax|raw")
]
AdaptOption = Annotated[
    bool | None,
    option(
        "Whether the prototypes move after the selection, to classify better. By default the prototypes of refined "
        "move if the objects can move.",
        "--adapt/--no-adapt",
    ),
]
RuleOption = Annotated[
    str,
    option(
        "How the prototypes predict a class: nearest (the default), adjusted (the paper's rule), scores (every "
        "prototype adds to the score of every class), auto (nearest or scores, chosen on held-out training objects).",
        metavar="nearest|adjusted|scores|auto",
        autocompletion=_rules,
    ),
]
Relevances = Annotated[bool, option("Move the prototypes, and learn a weight for each attribute.", "--relevances")]
Folds = Annotated[
    int | None,
    option("Number of folds of the cross-validation; by default the split of the data, or 5.", metavar="COUNT"),
]
Seed = Annotated[int | None, option("Seed of all random numbers.", metavar="NUMBER")]
Jobs = Annotated[int | None, option("Number of threads or processes; -1 uses all processors.", metavar="COUNT")]
Cluster = Annotated[str | None, option("Compute on the Dask cluster of this scheduler.", metavar="ADDRESS")]
Json = Annotated[bool, option("Print one JSON document and nothing else.", "--json")]
Quiet = Annotated[bool, option("Print no progress and no notes to the standard error.", "--quiet", "-q")]
SpreadsheetSafe = Annotated[
    bool,
    option(
        "Put an apostrophe before texts that a spreadsheet would run as a formula, such as =1+1. Without this option "
        "texts are written unchanged; do not open a file with texts from unknown sources in a spreadsheet.",
        "--spreadsheet-safe",
    ),
]
Force = Annotated[bool, option("Replace existing output files.", "--force")]
Debug = Annotated[bool, option("Show the traceback of an error.", "--debug")]
DataFolder = Annotated[
    Path | None, option("Folder with the paper's data sets; by default PROTOSET_DATA.", metavar="FOLDER")
]


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Connect to a Dask cluster, if an address is given; the cluster stays when this process ends."""
    if address is None:
        yield None
        return
    from protoset._cluster import connect

    client = connect(address)
    with _quiet_distributed(), client:
        yield client


@contextmanager
def _quiet_distributed() -> Iterator[None]:
    """Keep distributed from logging lost connections with tracebacks: the error of the command is one line."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def to_size(text: str) -> int | float | str:
    """Return "auto", a count or a rate."""
    text = text.strip()
    if text == "auto":
        return text
    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise ValueError(f"n_prototypes={text!r} must be auto, a count such as 20, or a rate such as 0.1") from None


def to_image_shape(text: str | None) -> tuple[int, ...] | Literal[False] | None:
    """Return the shape of images: numbers between x; False for "none"."""
    if text is None or text.strip() == "none":
        return None if text is None else False
    sizes = text.strip().lower().split("x")
    if len(sizes) not in (2, 3) or not all(size.isdecimal() for size in sizes):
        raise ValueError(f"--image-shape {text!r} must be HEIGHTxWIDTH, such as 28x28 or 32x32x3, or none")
    return tuple(map(int, sizes))


def to_adapt(adapt: bool | None, relevances: bool) -> Any:
    """Return the argument ``adapt`` that --adapt, --no-adapt and --relevances ask for."""
    if relevances and adapt is False:
        raise ValueError(
            "--relevances learns the weight of each attribute while the prototypes move, but --no-adapt forbids moves; "
            "leave one of them out"
        )
    if relevances:
        return {"relevances": True}
    return "auto" if adapt is None else adapt


def to_parameters(option: str, pairs: Sequence[str] | None) -> dict[str, Any]:
    """Return NAME=VALUE pairs as a dict; values are numbers, true, false, null, lists, or texts."""
    parameters: dict[str, Any] = {}
    for pair in pairs or ():
        name, equals, text = pair.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"{option} {pair!r} must be a name, an equals sign and a value, such as window=5")
        try:
            value = json.loads(text)
        except ValueError:
            value = {"True": True, "False": False, "None": None}.get(text, text)
        parameters[name.strip().replace("-", "_")] = value
    return parameters


COLUMN_OPTIONS = ("ignore", "use", "id", "categorical", "numeric", "text", "header", "separator", "decimal")
"""Options about the columns of tables; in Python, ``read`` has arguments of the same names."""


def read_data(context: typer.Context) -> Dataset:
    """Read the data set of a command that has the options for data."""
    from protoset.datasets import read

    given = {name: context.params[name] for name in ("target", "labels", "kind", "format", *COLUMN_OPTIONS)}
    if given["separator"] in ("tab", "\\t"):
        given["separator"] = "\t"
    given["labels"] = opened(given["labels"])
    return read(opened(context.params["path"]), **{name: value for name, value in given.items() if value is not None})


def roles_document(dataset: Dataset | Preparation) -> dict[str, Any] | None:
    """Return the roles of the columns of a table, or of the table of a model, for JSON; None for other objects."""
    if not dataset.roles:
        return None
    types = {"numeric": ("real", "integer"), "categorical": ("nominal",), "dates": ("date",)}
    if dataset.kind == "strings":
        types = {"text": ("nominal",)}
    return {
        "used": {
            role: [column.name for column in dataset.attributes if column.type in of_types]
            for role, of_types in types.items()
        },
        "left_out": {left.name: left.reason for left in dataset.left_out},
        "id": dataset.id_column,
    }


def open_model(path: Path) -> DataModel:
    """Read a model; a classifier becomes a model without preparation."""
    from sklearn.pipeline import Pipeline

    from protoset.models import DataModel, as_model
    from protoset.persistence import load

    if not os.path.isfile(path):
        raise ValueError(f"there is no model {str(path)!r}; protoset select --model writes one")
    loaded = load(path)
    if isinstance(loaded, Pipeline):
        raise ValueError(
            f"{str(path)!r} has a pipeline of scikit-learn, which this command cannot use; use it in Python with "
            "protoset.load(path).predict(X), or write a model with protoset select --model"
        )
    return loaded if isinstance(loaded, DataModel) else as_model(loaded)


def read_for(
    model: DataModel, path: Path, labels: str | None = None, format: str | None = None, target: str | None = None
) -> Queries:
    """Read objects for a model; ``target`` is the name of the column of labels, if it differs from training."""
    from protoset.datasets import read_queries

    preparation = model.preparation
    return read_queries(
        opened(path),
        kind=preparation.kind,
        attributes=preparation.attributes,
        target=preparation.target if target is None else target,
        target_position=preparation.target_position,
        id_column=preparation.id_column,
        columns=preparation.columns,
        separator=preparation.separator,
        labels=opened(labels),
        format=format,
        names=None if model.prototype_ids_ is None else model.prototype_ids_.tolist(),
    )
