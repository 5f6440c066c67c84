"""The vector study in the report: errors and selection rates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from protoset.paper.agreement import row_numbers
from protoset.paper.analysis import REFINED_REPS, Choice, Measured, mean_of, rank_methods
from protoset.paper.comparison_sections import add_fixed_rates, add_friedman, add_signed_ranks
from protoset.paper.evidence import AT_PRINTED_RATE, Evidence, best_choices, fixed_choices
from protoset.paper.figures import tradeoff
from protoset.paper.inconsistencies import printed_choices
from protoset.paper.pages import MISSING_TEXT, Page, signed
from protoset.paper.printed import BASELINES, METHODS, fixed_rate_table, one_nn_errors, vector_table


def add_vector_study(page: Page, evidence: Evidence, *, brief: bool = False) -> None:
    """Add the vector study; ``brief`` leaves out the fixed parameters and the tables by baseline."""
    measured = evidence.vectors
    page.heading("Vector data")
    if measured is None:
        page.paragraph("Not run.")
        return
    best = best_choices(measured)
    page.paragraph(
        f"{len(measured.data)} data sets, 5 stratified folds, Euclidean distances. Attributes have the scaling "
        f"`{evidence.scaling}`, learned on the training part, for all methods. Each cell shows ERR / SLR: measured, "
        "*printed*, and measured minus printed. NoPS is printed as accuracies and read as 1 - ERR. Bold is Pareto rank "
        f"1 among the paper's six methods; {REFINED_REPS} is bold if it has rank 1 in place of REPS."
    )
    page.heading("Best parameter", 3)
    page.paragraph(
        "As in the paper, each method has the parameter with the lowest error *on the test folds*: FCNN with k = 1, 2, "
        f"3, RMHC at 5, 10 and 20 %, REPS and {REFINED_REPS} at ten rates from 1 to 50 %. This is optimistic, and "
        "more so with more values. The paper does not say how it chose the rates of REPS; its printed rates are lower."
    )
    add_error_table(page, "vectors-best", measured, best)
    page.figure(
        "tradeoff-measured",
        tradeoff(best),
        "Error against selection rate, measured, best parameter; numbers are the rows of the table",
    )
    if not brief:
        page.figure("tradeoff-printed", tradeoff(printed_choices()), "The same from the paper's printed table")
        page.heading("Fixed parameters", 3)
        page.paragraph(
            "FCNN with k = 1, RMHC at 10 %, REPS with the size that cross-validation on the training part chooses. No "
            "parameter is chosen on test objects."
        )
        add_error_table(page, "vectors-fixed", measured, fixed_choices(measured))
    add_printed_rates(page, measured)
    if not brief:
        add_fixed_rates(page, "fixed-rate", measured, best)
    add_signed_ranks(page, "signed-ranks", measured)
    add_friedman(page, measured, brief=brief)


def add_error_table(page: Page, name: str, measured: Measured, choices: Mapping[str, Choice]) -> None:
    """Add the measured and printed values of all methods on all data sets, and their differences."""
    ranks, refined_ranks = _two_rankings(choices)
    printed_one_nn = dict(zip(vector_table().rows, one_nn_errors(), strict=True))
    rows, csv_rows = [], []
    for row, data in enumerate(measured.data):
        one_nn = float(measured.errors("NoPS")[row])
        cells = [_cell(one_nn, None, printed_one_nn.get(data), None, False)]
        csv_row: list[Any] = [data, one_nn, printed_one_nn.get(data)]
        for method, choice in choices.items():
            error, rate = float(choice.error[row]), float(choice.rate[row])
            pareto_rank = float(refined_ranks[row, -1] if method == REFINED_REPS else ranks[row, METHODS.index(method)])
            printed_error, printed_rate = _printed_pair(data, method)
            cells.append(_cell(error, rate, printed_error, printed_rate, pareto_rank == 1))
            csv_row += [choice.labels[row], error, printed_error, rate, printed_rate, pareto_rank]
        rows.append([f"{row + 1} {data}", *cells])
        csv_rows.append(csv_row)
    page.table(["data set", "NoPS", *choices], [*rows, _mean_row(measured, choices)])
    fields = ("variant", "error", "error_printed", "rate", "rate_printed", "pareto_rank")
    titles = [f"{method.replace(' ', '_')}_{field}" for method in choices for field in fields]
    page.csv(name, ["dataset", "NoPS_error", "NoPS_error_printed", *titles], csv_rows)


def _two_rankings(choices: Mapping[str, Choice]) -> tuple[np.ndarray, np.ndarray]:
    """Pareto ranks of the paper's six methods, and the same with refined REPS in place of REPS."""
    plain, refined = ({name: choices[name] for name in (*BASELINES, reps)} for reps in ("REPS", REFINED_REPS))
    return rank_methods(plain), rank_methods(refined)


def _printed_pair(data: str, method: str) -> tuple[float | None, float | None]:
    printed = vector_table()
    if method not in METHODS or data not in printed.rows:
        return None, None
    return printed.value(data, f"{method}_error"), printed.value(data, f"{method}_rate")


def _cell(error: float, rate: float | None, printed_error: float | None, printed_rate: float | None, bold: bool) -> str:
    measured = MISSING_TEXT if np.isnan(error) else f"{error:.3f}" + ("" if rate is None else f" / {rate:.3f}")
    measured = f"**{measured}**" if bold else measured
    if printed_error is None:
        return measured
    printed, difference = f"{printed_error:.2g}", signed(error - printed_error)
    if printed_rate is not None:
        printed += f" / {printed_rate:.2g}"
        difference += "" if rate is None else f" / {signed(rate - printed_rate)}"
    return f"{measured}<br>*{printed}*<br>{difference if measured != MISSING_TEXT else MISSING_TEXT}"


def _mean_row(measured: Measured, choices: Mapping[str, Choice]) -> list[str]:
    """Measured and printed means, both over the data sets with measured results."""
    printed = vector_table()
    rows = row_numbers(measured, printed)
    cells = [_mean_cell(measured.errors("NoPS"), None, one_nn_errors()[rows], None)]
    for method, choice in choices.items():
        printed_error = printed_rate = None
        if method in METHODS:
            printed_error, printed_rate = (printed.column(f"{method}_{kind}")[rows] for kind in ("error", "rate"))
        cells.append(_mean_cell(choice.error, choice.rate, printed_error, printed_rate))
    return ["mean", *cells]


def _mean_cell(
    error: np.ndarray, rate: np.ndarray | None, printed_error: np.ndarray | None, printed_rate: np.ndarray | None
) -> str:
    known = np.isfinite(error)
    mean, mean_rate = (
        None if values is None or not known.any() else float(values[known].mean())
        for values in (printed_error, printed_rate)
    )
    note = "" if known.all() else f"<br>of {int(known.sum())}"
    return _cell(mean_of(error), None if rate is None else mean_of(rate), mean, mean_rate, False) + note


def add_printed_rates(page: Page, measured: Measured) -> None:
    """Add REPS at the selection rates that the paper prints, beside its printed errors."""
    page.heading("REPS at the printed selection rates", 3)
    page.paragraph(
        "The most direct comparison: REPS at the selection rate that the paper prints for REPS (first column) and for "
        "each baseline (its FSR table): measured, *printed*, and the difference. The column CCIS cannot be compared; "
        "see the inconsistencies."
    )
    names = ["REPS", *BASELINES]
    printed = {"REPS": vector_table().column("REPS_error")}
    printed |= {baseline: fixed_rate_table().column(baseline) for baseline in BASELINES}
    printed_rows = row_numbers(measured, vector_table())
    columns = [(measured.errors(AT_PRINTED_RATE.format(name)), printed[name][printed_rows]) for name in names]
    rows, csv_rows = [], []
    for row, data in enumerate(measured.data):
        pairs = [(float(errors[row]), float(printed_errors[row])) for errors, printed_errors in columns]
        rows.append([data, *(_cell(error, None, printed_error, None, False) for error, printed_error in pairs)])
        csv_rows.append([data, *(value for pair in pairs for value in pair)])
    means = [_mean_cell(errors, None, printed_errors, None) for errors, printed_errors in columns]
    page.table(["data set", *(f"at {name}'s rate" for name in names)], [*rows, ["mean", *means]])
    titles = [f"REPS_at_{name}_rate{suffix}" for name in names for suffix in ("", "_printed")]
    page.csv("reps-at-printed-rates", ["dataset", *titles], csv_rows)
