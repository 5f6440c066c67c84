"""``protoset evaluate``: how good a method, or a model, is on a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from protoset.cli import _options as options
from protoset.cli._output import percent, plain, say, say_json, say_table
from protoset.cli._references import reference_estimates, say_guessing, say_references
from protoset.cli._streams import check_dashes
from protoset.cli._work import working

if TYPE_CHECKING:
    from protoset.experiments import Validation
    from protoset.models import DataModel

MOST_CLASSES = 12
"""Largest number of classes for which the confusion matrix is printed."""

METHOD_OPTIONS = [
    "kind",
    *options.COLUMN_OPTIONS,
    "method",
    "metric",
    "metric_param",
    "param",
    "n_prototypes",
    "scaling",
    "adapt",
    "relevances",
    "folds",
    "holdout",
    "cluster",
]
"""Options of methods; a model excludes them, because it is evaluated as it was fitted."""


def evaluate(
    context: typer.Context,
    path: options.DataArgument,
    *,
    model: Annotated[Path | None, options.option("A saved model to evaluate, in place of a method.")] = None,
    target: options.Target = None,
    labels: options.Labels = None,
    kind: options.KindOption = None,
    format: options.FormatOption = None,
    ignore: options.Ignore = None,
    use: options.Use = None,
    id: options.IdColumn = None,
    categorical: options.Categorical = None,
    numeric: options.Numeric = None,
    text: options.Text = None,
    header: options.Header = None,
    separator: options.Separator = None,
    decimal: options.DecimalMark = None,
    method: options.Method = "refined",
    metric: options.Metric = "auto",
    metric_param: options.MetricParams = None,
    param: options.Params = None,
    n_prototypes: options.Prototypes = "auto",
    scaling: options.ScalingOption = None,
    adapt: options.AdaptOption = None,
    relevances: options.Relevances = False,
    folds: options.Folds = None,
    holdout: Annotated[
        float | None, options.option("Hold out this share of the objects once, in place of folds.")
    ] = None,
    seed: options.Seed = None,
    n_jobs: options.Jobs = None,
    cluster: options.Cluster = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Measure the error of a method by cross-validation or on a held-out part, or of a model on a labelled file."""
    check_dashes({"--model": model, "the file": path, "--labels": labels})
    if model is not None:
        _refuse_options_of_methods(context)
    moves = options.to_adapt(adapt, relevances)
    with working("evaluating", quiet) as tell, options.connected(cluster) as client:
        if model is not None:
            loaded = options.open_model(model)
            roles, columns = loaded.preparation.roles, options.roles_document(loaded.preparation)
            validation = _of_model(loaded, path, labels, format, target)
        else:
            from protoset.experiments import validate

            dataset = options.read_data(context)
            roles, columns = dataset.roles, options.roles_document(dataset)
            validation = validate(
                dataset,
                method,
                folds=folds,
                holdout=holdout,
                random_state=0 if seed is None else seed,
                progress=tell,
                client=client,
                metric=metric,
                metric_params=options.to_parameters("--metric-param", metric_param),
                scaling=scaling,  # type: ignore[arg-type]
                n_prototypes=options.to_size(n_prototypes),
                parameters=options.to_parameters("--param", param),
                adapt=moves,
                n_jobs=n_jobs,
            )
    if json:
        named = {"path": path, "model": model, "method": method if model is None else None}
        say_json(named | {"roles": columns} | _document(validation))
        return
    n_test, n_folds = validation.estimate.n_test, len(validation.fold_errors)
    if model is not None:
        say(f"model {plain(model)} on {n_test} objects")
    else:
        say(f"method {plain(method)} on {n_test} held-out objects" + (f" in {n_folds} folds" if n_folds > 1 else ""))
    if roles:
        say(plain(roles))
    _show(validation)


def _refuse_options_of_methods(context: typer.Context) -> None:
    sources = {name: context.get_parameter_source(name) for name in METHOD_OPTIONS}
    given = ["--" + name.replace("_", "-") for name, source in sources.items() if source and source.name != "DEFAULT"]
    if given:
        raise ValueError(
            f"--model and {', '.join(given)} exclude each other: a model is evaluated as it was fitted; leave out "
            "one of them"
        )


def _of_model(model: DataModel, path: Path, labels: str | None, format: str | None, target: str | None) -> Validation:
    from protoset.experiments import validate_model

    queries = options.read_for(model, path, labels, format, target)
    if queries.labels is None:
        expected = target or model.preparation.target
        lacking = f": there is no complete column {expected!r}" if expected else ""
        way_out = "pass --labels" if model.preparation.kind == "matrix" else "name their column by --target"
        raise ValueError(
            f"{os.fspath(path)!r} has no labels to compare predictions with{lacking}; {way_out}, or use predict"
        )
    return validate_model(model, queries.objects, queries.labels)


def _document(validation: Validation) -> dict[str, Any]:
    estimate = validation.estimate
    return {
        "error": estimate.error,
        "standard_error": estimate.standard_error,
        "lower": estimate.lower,
        "upper": estimate.upper,
        "confidence": estimate.confidence,
        "n_errors": estimate.n_errors,
        "n_test": estimate.n_test,
        "macro_f1": validation.macro_f1,
        "balanced_accuracy": validation.balanced_accuracy,
        "fold_errors": validation.fold_errors,
        "n_prototypes": validation.n_prototypes,
        "n_train": validation.n_train if validation.n_train.all() else None,
        "selection_rate": _selection_rate(validation),
        "moved": validation.moved,
        "classes": validation.classes,
        "confusion": validation.confusion,
        "references": reference_estimates(validation.references, "the same objects"),
        "no_better_than_guessing": validation.no_better_than_guessing,
    }


def _selection_rate(validation: Validation) -> float | None:
    return float((validation.n_prototypes / validation.n_train).mean()) if validation.n_train.all() else None


def _moved_text(validation: Validation) -> str:
    """In how many folds the prototypes moved, to end the sentence about them."""
    if validation.moved is None:
        return ""
    n_moved, n_folds = int(validation.moved.sum()), len(validation.moved)
    if n_folds == 1:
        return ", then moved" if n_moved else "; not moved, as that did not help on held-out training objects"
    if n_moved == n_folds:
        return ", then moved"
    why = "not moved, as that did not help on held-out training objects"
    return f", then moved in {n_moved} folds; else {why}" if n_moved else f"; {why}"


def _show(validation: Validation) -> None:
    estimate = validation.estimate
    say(f"error {estimate.error:.3f}, 95 % interval {estimate.lower:.3f} to {estimate.upper:.3f}")
    references = reference_estimates(validation.references, "the same objects")
    say_references(references)
    say_guessing(references, validation.no_better_than_guessing)
    say(f"macro F1 {validation.macro_f1:.3f}, balanced accuracy {validation.balanced_accuracy:.3f}")
    sizes = ", ".join(str(size) for size in validation.n_prototypes)
    rate = _selection_rate(validation)
    say(f"prototypes: {sizes}" + ("" if rate is None else f" ({percent(rate)})") + _moved_text(validation))
    if len(validation.classes) <= MOST_CLASSES:
        say("")
        rows = [
            [label, *counts] for label, counts in zip(validation.classes, validation.confusion.tolist(), strict=True)
        ]
        say_table(["true \\ predicted", *(plain(label) for label in validation.classes)], rows)
