"""``protoset select``: prototypes of a file, as rows, as a model, as a report."""

from __future__ import annotations

import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from protoset.cli import _options as options
from protoset.cli._moves import adaptation_document, kept_text, say_relevances
from protoset.cli._output import check_outputs, note, percent, plain, say, say_json, say_table
from protoset.cli._output import spreadsheet_safe as safe_text
from protoset.cli._references import measured_errors, say_guessing, say_references
from protoset.cli._rules import rule_document, say_rule
from protoset.cli._streams import check_dashes, is_dash, standard_output
from protoset.cli._work import working

if TYPE_CHECKING:
    from protoset._suspects import Suspects
    from protoset.datasets import Dataset
    from protoset.models import DataModel
    from protoset.selectors.size import SizeCurve

MOST_SUSPECTS = 20
"""Labels to check that are printed at most."""


def select(
    context: typer.Context,
    path: options.DataArgument,
    *,
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
    rule: options.RuleOption = "nearest",
    adapt: options.AdaptOption = None,
    relevances: options.Relevances = False,
    output: Annotated[
        Path | None,
        options.option(
            "Write the prototypes to this file, in the format of the input; for moved prototypes, the nearest objects "
            "of their classes. - is the standard output."
        ),
    ] = None,
    model: Annotated[Path | None, options.option("Write the classifier to this file, for predict and explain.")] = None,
    report: Annotated[Path | None, options.option("Write a page with pictures and errors to this .html file.")] = None,
    image_shape: Annotated[
        str | None,
        options.option(
            "Draw rows of numbers as images on the page: HEIGHTxWIDTH, such as 28x28, or 32x32x3 with colours; none "
            "for no images."
        ),
    ] = None,
    suspects: Annotated[
        bool,
        options.option("List objects whose label looks wrong, on the page of --report too; takes five more fits."),
    ] = False,
    spreadsheet_safe: options.SpreadsheetSafe = False,
    no_error: Annotated[
        bool, options.option("Do not measure the errors of the set and of the references; saves time.", "--no-error")
    ] = False,
    seed: options.Seed = None,
    n_jobs: options.Jobs = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    force: options.Force = False,
    debug: options.Debug = False,
) -> None:
    """Select prototypes: a few objects that represent all objects.

    If the objects can move, the prototypes then move, as long as this does not raise the error on held-out training
    objects. The rows in the output are always real objects: for a moved prototype, the nearest object of its class. If
    the data have a split (a folder of the UCR archive), prototypes are selected among the training objects, and the
    error is measured on the test objects. Rows are counted from 0, without the header.
    """
    outputs = {"--output": output, "--model": model, "--report": report}
    check_dashes({"the file": path, "--labels": labels}, outputs, json=json)
    check_outputs(outputs, [path, labels], force)
    size, parameters = options.to_size(n_prototypes), options.to_parameters("--param", param)
    metric_params = options.to_parameters("--metric-param", metric_param)
    moves = options.to_adapt(adapt, relevances)
    shape = options.to_image_shape(image_shape)
    if image_shape is not None and report is None:
        raise ValueError("--image-shape needs --report; add --report, or leave --image-shape out")
    with working("reading", quiet):
        dataset = options.read_data(context)
    import numpy as np

    from protoset.datasets import check_rows, write_rows
    from protoset.models import fit_model

    if shape:
        from protoset._report.images import find_image_shape

        find_image_shape(dataset, shape)
    if output is not None:
        rows_file = standard_output() if is_dash(output) else output
        form = check_rows(dataset, rows_file, overwrite=force).name
        if spreadsheet_safe and form not in ("csv", "strings"):
            raise ValueError(
                f"--spreadsheet-safe works with CSV files and strings, but --output {str(output)!r} has the format "
                f"{form}; leave --spreadsheet-safe out"
            )
    elif spreadsheet_safe:
        raise ValueError("--spreadsheet-safe needs --output; add --output, or leave --spreadsheet-safe out")
    started = time.perf_counter()
    with working("selecting", quiet) as tell:
        fitted = fit_model(
            dataset,
            method,
            metric=metric,
            metric_params=metric_params,
            scaling=scaling,  # type: ignore[arg-type]
            n_prototypes=size,
            parameters=parameters,
            rule=rule,  # type: ignore[arg-type]
            adapt=moves,
            n_jobs=n_jobs,
            random_state=seed,
            callback=lambda progress: tell(int(progress.n_evaluations), int(progress.max_evaluations)),
        )
    seconds = time.perf_counter() - started
    document = _document(dataset, fitted, seconds)
    is_default = isinstance(moves, str) and rule != "adjusted" and document["refined"]
    document["adaptation"] = adaptation_document(fitted, dataset, wanted=is_default and document["method"] == "REPS")
    written_rows = np.unique(fitted.exemplars_)
    known: dict[str, Any] = {}
    if no_error:
        # An error says little without references.
        document |= {"cross_validation": None, "size_choice": None, "test": None}
        # By default, a page checks labels by further fits.
        known["suspects"] = False
    else:
        with working("measuring the error", quiet) as tell:
            validating: dict[str, Any] = {"metric": metric, "metric_params": metric_params, "scaling": scaling}
            validating |= {"n_jobs": n_jobs, "random_state": 0 if seed is None else seed, "progress": tell}
            is_sized = size != "auto" or getattr(fitted.classifier.selector_, "size_curve_", None) is not None
            added, known = measured_errors(dataset, fitted, document, validating, sized=is_sized)
            document |= added
    document["suspects"] = None
    if suspects:
        with working("checking the labels", quiet):
            known["suspects"] = _suspects(dataset, fitted)
        document["suspects"] = [_named(entry, dataset) for entry in known["suspects"].as_dicts()]
    written = _with_safe_texts(dataset) if spreadsheet_safe else dataset
    if output is not None and not is_dash(output):
        write_rows(written, written_rows, output, overwrite=force)
    if model is not None:
        from protoset.persistence import save

        save(fitted, model)
    if report is not None:
        with working("writing the report", quiet):
            fitted.report(dataset, path=report, image_shape=shape, overwrite=force, **known)
    document["outputs"] = {option[2:]: file for option, file in outputs.items() if file is not None}
    if json:
        say_json(document)
    elif is_dash(output):
        if not quiet:
            with redirect_stdout(sys.stderr):
                _show(document, dataset.roles)
        # Last, so that a pipe has all rows or none.
        write_rows(written, written_rows, standard_output())
    else:
        _show(document, dataset.roles)
        if not document["outputs"]:
            note("nothing was written; use --output, --model or --report", quiet)


def _suspects(dataset: Dataset, fitted: DataModel) -> Suspects:
    """Training objects with doubtful labels, judged by prototypes that do not know them."""
    from protoset._suspects import suspects
    from protoset.datasets import take
    from protoset.models import training_rows

    rows = training_rows(dataset)
    training = dataset if len(rows) == dataset.n_objects else take(dataset, rows)
    return suspects(fitted.preparation(training.objects), training.labels, fitted.classifier)


def _named(entry: dict[str, Any], dataset: Dataset) -> dict[str, Any]:
    """Return a suspect with its id, where the data have ids."""
    return {"id": None if dataset.ids is None else str(dataset.ids[entry["row"]])} | entry


def _say_suspects(suspects: list[dict[str, Any]] | None) -> None:
    """Print the objects whose labels are to be checked, the most doubtful first."""
    if suspects is None:
        return
    say("")
    if not suspects:
        say("labels to check: none")
        return
    say(f"labels to check: {len(suspects)}" + (f", the first {MOST_SUSPECTS}" if len(suspects) > MOST_SUSPECTS else ""))
    name = "row" if suspects[0]["id"] is None else "id"
    rows = [
        [plain(each[name]), plain(each["given"]), plain(each["suggested"]), f"{each['probability']:.3f}"]
        for each in suspects[:MOST_SUSPECTS]
    ]
    say_table([name, "label", "suggested", "probability"], rows)


def _with_safe_texts(dataset: Dataset) -> Dataset:
    """Return a data set whose texts, labels and names are safe for spreadsheets."""
    from dataclasses import replace

    import numpy as np

    objects, labels, layout = dataset.objects, dataset.labels, dataset.layout
    if dataset.kind == "strings":
        objects = [safe_text(text) for text in objects]
    elif dataset.kind == "mixed":
        cells = [safe_text(value) for value in objects.ravel()]
        objects = np.array([*cells, None], object)[:-1].reshape(objects.shape)
    attributes = tuple(replace(column, name=safe_text(column.name)) for column in dataset.attributes)
    if layout is not None:
        layout = replace(
            layout,
            header=tuple(safe_text(name) for name in layout.header),
            target_name=safe_text(layout.target_name),
            spelling={safe_text(label): safe_text(text) for label, text in layout.spelling.items()},
        )
    left_out = tuple(
        replace(left, values=np.array([*map(safe_text, left.values), None], object)[:-1]) for left in dataset.left_out
    )
    safe_labels = np.array([safe_text(label) for label in labels.tolist()])
    return replace(
        dataset, objects=objects, labels=safe_labels, attributes=attributes, layout=layout, left_out=left_out
    )


def _document(dataset: Dataset, fitted: DataModel, seconds: float) -> dict[str, Any]:
    import numpy as np

    from protoset.models import training_rows
    from protoset.models.cross_validation import is_measured_among_many

    rows = training_rows(dataset)
    classes, counts = np.unique(dataset.labels[rows], return_counts=True)
    kept, shown = fitted.sample_indices_, fitted.exemplars_
    selector, adaptation = fitted.classifier.selector_, fitted.classifier.adaptation_
    curve = getattr(selector, "size_curve_", None)
    at_size = None if curve is None else _at_chosen_size(curve)
    # The curve has the errors of the nearest prototypes, of moved sets where sets were to move; other sets are
    # measured on their own.
    is_of_curve = (adaptation is None or adaptation.has_moved) and fitted.classifier.rule_ == "nearest"
    is_of_curve &= not is_measured_among_many(fitted.classifier, len(rows))
    name = type(getattr(selector, "selector_", selector)).__name__
    return {
        "data": {
            "path": dataset.path,
            "name": dataset.name,
            "kind": dataset.kind,
            "n_objects": dataset.n_objects,
            "n_train": len(rows),
            "n_attributes": len(dataset.attributes) or None,
            "labels": _source_of_labels(dataset),
            "roles": options.roles_document(dataset),
        },
        "method": name,
        "refined": getattr(selector, "refinement_", None) is not None,
        "metric": fitted.preparation.metric,
        "scaling": fitted.preparation.scaling,
        **rule_document(fitted.classifier),
        "n_prototypes": len(kept),
        "selection_rate": len(kept) / len(rows),
        "rows": shown,
        "started_from": kept,
        "ids": None if dataset.ids is None else dataset.ids[shown],
        "labels": fitted.prototype_labels_,
        "classes": [
            {"label": label, "objects": int(count), "prototypes": int((fitted.prototype_labels_ == label).sum())}
            for label, count in zip(classes.tolist(), counts, strict=True)
        ],
        # With another scoring the curve has no errors; then the error is measured at the chosen size.
        "cross_validation": None
        if curve is None or at_size is None or curve.scoring != "accuracy" or not is_of_curve
        else at_size | {"how": "5 folds", "at_this_size": True},
        "size_choice": None
        if curve is None or at_size is None or curve.scoring == "accuracy"
        else {"scoring": curve.scoring} | at_size,
        "test": _test(dataset, fitted, len(rows)),
        "references": None,
        "no_better_than_guessing": None,
        "seconds": seconds,
    }


def _at_chosen_size(curve: SizeCurve) -> dict[str, float]:
    return {
        "error": float(curve.errors[curve.chosen]),
        "standard_error": float(curve.standard_errors[curve.chosen]),
    }


def _test(dataset: Dataset, fitted: DataModel, n_train: int) -> dict[str, Any] | None:
    if n_train == dataset.n_objects:
        return None
    from protoset.experiments import validate_model

    estimate = validate_model(fitted, dataset.objects[n_train:], dataset.labels[n_train:]).estimate
    return {
        "error": estimate.error,
        "standard_error": estimate.standard_error,
        "lower": estimate.lower,
        "upper": estimate.upper,
        "n_objects": estimate.n_test,
    }


def _source_of_labels(dataset: Dataset) -> str | None:
    """Where the labels were found, for the user to check."""
    if dataset.layout is None:
        return None
    if dataset.attributes:
        name = dataset.layout.target_name
        return f"column {name}" if dataset.layout.header or dataset.layout.format != "csv" else name
    return next((path.name for path in dataset.layout.files if path != dataset.path), None)


def _show(document: dict[str, Any], roles: str) -> None:
    data = document["data"]
    scaling = f", scaled: {document['scaling']}" if document["scaling"] else ""
    refined = "refined " if document["refined"] else ""
    say(f"{plain(data['name'])}: {data['n_objects']} objects ({data['kind']}), {len(document['classes'])} classes")
    if data["labels"] is not None:
        say(f"labels: {plain(data['labels'])}")
    if roles:
        say(plain(roles))
    say(f"{refined}{document['method']}; metric: {document['metric']}{scaling}")
    say_rule(document)
    moves = document["adaptation"]
    kept = f"kept {document['n_prototypes']} of {data['n_train']} ({percent(document['selection_rate'])})"
    say(kept + kept_text(moves, document["references"] is not None))
    say_relevances(moves)
    say("")
    say_table(["class", "objects", "prototypes"], [list(row.values()) for row in document["classes"]])
    say("")
    if document["cross_validation"] is not None:
        measured = document["cross_validation"]
        is_folds = measured["how"].endswith("folds")
        how = "in cross-validation" if is_folds else f"on {measured['how']}"
        how += " at this size" if measured["at_this_size"] else ""
        say(f"error {how}: {measured['error']:.3f} ± {measured['standard_error']:.3f}")
    elif document.get("not_measured"):
        say(f"error in cross-validation: not measured, {plain(document['not_measured'])}")
    if document["test"] is not None:
        test = document["test"]
        say(
            f"error on the {test['n_objects']} test objects: {test['error']:.3f} "
            f"(95 % interval {test['lower']:.3f} to {test['upper']:.3f})"
        )
    say_references(document["references"])
    say_guessing(document["references"], document["no_better_than_guessing"])
    _say_size_choice(document["size_choice"], len(document["classes"]))
    _say_suspects(document["suspects"])
    if not document["outputs"]:
        say(_named_prototypes(document))
    for name, written in document["outputs"].items():
        is_real = name == "output" and moves is not None and moves["moved"]
        n_rows = len(set(document["rows"].tolist()))
        real = f", {n_rows} real objects near the moved prototypes, to look at; errors are those of the model"
        say(f"{name}: {plain(written)}" + (real if is_real else ""))


def _named_prototypes(document: dict[str, Any]) -> str:
    """The prototypes by their ids, or as rows where the data have no ids; real objects near those that moved."""
    has_moved = document["adaptation"] is not None and document["adaptation"]["moved"]
    near = "real objects near the moved prototypes, as " if has_moved else ""
    if document["ids"] is None:
        return f"{near}rows: " + " ".join(str(row) for row in sorted(set(document["rows"].tolist())))
    return f"{near}ids: " + ", ".join(plain(name) for name in dict.fromkeys(document["ids"].tolist()))


def _say_size_choice(choice: dict[str, Any] | None, n_classes: int) -> None:
    """Print the score that chose the size, where it is no error."""
    if choice is None:
        return
    standard_error = f"± {choice['standard_error']:.3f}"
    if choice["scoring"] == "balanced_accuracy":
        say(
            f"size chosen by balanced accuracy: {1 - choice['error']:.3f} {standard_error} in cross-validation; "
            f"always answering one class has {1 / n_classes:.3f}"
        )
    else:
        say(f"size chosen by {plain(choice['scoring'])}: {-choice['error']:.3f} {standard_error} in cross-validation")
