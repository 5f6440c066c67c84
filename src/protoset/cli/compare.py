"""``protoset compare``: several methods on one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from protoset.cli import _options as options
from protoset.cli._output import check_outputs, plain, say, say_json, say_table
from protoset.cli._streams import check_dashes
from protoset.cli._work import working

if TYPE_CHECKING:
    from protoset.experiments import Comparison


def compare(
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
    methods: Annotated[
        str | None,
        options.option(
            "Methods, separated by commas: adapted, refined (its prototypes do not move here), reps, fcnn, ... as for "
            "--method of select; nops (1-NN on all objects), knn (k-NN on all objects). guess, which always predicts "
            "the most frequent class, is always added."
        ),
    ] = None,
    metric: options.Metric = "auto",
    metric_param: options.MetricParams = None,
    n_prototypes: options.Prototypes = "auto",
    scaling: options.ScalingOption = None,
    folds: options.Folds = None,
    plot: Annotated[Path | None, options.option("Draw error against selection rate to this file (.png, .svg).")] = None,
    seed: options.Seed = None,
    n_jobs: options.Jobs = None,
    cluster: options.Cluster = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    force: options.Force = False,
    debug: options.Debug = False,
) -> None:
    """Compare methods on the same folds: error, selection rate, Pareto ranks.

    Errors are means over the folds, with their standard errors. Differences between methods are tested only if there
    are enough folds for a significant result.
    """
    check_dashes({"the file": path, "--labels": labels}, {"--plot": plot})
    check_outputs({"--plot": plot}, [path, labels], force)
    if plot is not None:
        from protoset.plots import plot_front, write_figure
        from protoset.plots.figure_files import check_figure

        check_figure(plot)
    with working("reading", quiet):
        dataset = options.read_data(context)
    from protoset import experiments

    named = {} if methods is None else {"methods": _beside_guessing(methods.split(","))}
    with working("comparing", quiet) as tell, options.connected(cluster) as client:
        comparison = experiments.compare(
            dataset,
            **named,
            metric=metric,
            metric_params=options.to_parameters("--metric-param", metric_param),
            scaling=scaling,  # type: ignore[arg-type]
            n_prototypes=options.to_size(n_prototypes),
            folds=folds,
            random_state=0 if seed is None else seed,
            n_jobs=n_jobs,
            callback=lambda progress: tell(progress.done + progress.failed, progress.total),
            client=client,
        )
    if len(comparison.failures) == len(comparison.methods) - 1 > 0:  # guessing never fails
        name, message = next(iter(comparison.failures.items()))
        raise RuntimeError(f"every method failed; {name}: {message}")
    # Print the result first, so that it is not lost if the plot fails.
    if json:
        say_json(_document(path, comparison, plot) | {"roles": options.roles_document(dataset)})
    else:
        _show(dataset.name, dataset.roles, comparison)
    if plot is not None:
        write_figure(plot_front(comparison), plot)
        if not json:
            say(f"plot: {plain(plot)}")


def _beside_guessing(names: list[str]) -> list[str]:
    """Names of methods, always with guessing, which every error is compared with."""
    given = [name for name in names if name.strip()]
    return given if not given or "guess" in (name.strip().lower() for name in given) else ["guess", *given]


def _rows(comparison: Comparison) -> list[dict[str, Any]]:
    no_better = comparison.no_better_than_guessing
    return [
        {
            "method": method,
            "error": float(comparison.errors[:, column].mean()),
            "standard_error": float(comparison.standard_errors[column]),
            "selection_rate": float(comparison.selection_rates[:, column].mean()),
            "pareto_rank": float(comparison.pareto_ranks[column]),
            "seconds": float(comparison.seconds[:, column].sum()),
            "no_better_than_guessing": method in no_better if "guess" in comparison.methods else None,
        }
        for column, method in enumerate(comparison.methods)
    ]


def _document(path: Path, comparison: Comparison, plot: Path | None) -> dict[str, Any]:
    tests = None
    if comparison.tests is not None:
        tests = [
            {
                "methods": [comparison.tests.names[position] for position in pair],
                "p_value": test.p_value,
                "holm": float(comparison.tests.corrected[pair]),
            }
            for pair, test in comparison.tests.tests.items()
        ]
    return {
        "path": path,
        "metric": comparison.metric,
        "methods": _rows(comparison),
        "errors": comparison.errors,
        "tests": tests,
        "note": comparison.note,
        "failures": comparison.failures,
        "plot": plot,
    }


def _show(name: str, roles: str, comparison: Comparison) -> None:
    n_folds = len(comparison.errors)
    say(f"{plain(name)}: {n_folds} fold{'s' if n_folds > 1 else ''}, metric {comparison.metric}")
    if roles:
        say(plain(roles))
    say("")
    rows = [
        [
            row["method"],
            f"{row['error']:.3f}" + (f" ± {row['standard_error']:.3f}" if n_folds > 1 else ""),
            f"{100 * row['selection_rate']:.1f}",
            None if row["pareto_rank"] != row["pareto_rank"] else int(row["pareto_rank"]),
            f"{row['seconds']:.2f}",
        ]
        if row["error"] == row["error"]
        else [row["method"], None, None, None, None]
        for row in _rows(comparison)
    ]
    say_table(["method", "error", "kept, %", "Pareto rank", "CPU s"], rows)
    say("")
    for method, message in comparison.failures.items():
        say(f"{method} failed: {plain(message)}")
    if comparison.no_better_than_guessing:
        say(f"no better than guessing: {', '.join(comparison.no_better_than_guessing)}")
    if comparison.tests is not None:
        names, corrected = comparison.tests.names, comparison.tests.corrected
        different = [
            f"{names[a]} and {names[b]} (p = {corrected[a, b]:.3g})"
            for a, b in comparison.tests.tests
            if corrected[a, b] <= 0.05
        ]
        say("different at 0.05: " + ("; ".join(different) or "none"))
    say(comparison.note)
