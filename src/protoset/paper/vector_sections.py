"""The vector study in the report: errors and selection rates."""

from __future__ import annotations

from collections.abc import Mapping

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
    printed, rows = vector_table(), row_numbers(measured, vector_table())
    ranks = dict(zip(METHODS, rank_methods({method: choices[method] for method in METHODS}).T, strict=True))
    # Refined REPS is ranked in place of REPS.
    ranks[REFINED_REPS] = rank_methods({method: choices[method] for method in (*BASELINES, REFINED_REPS)})[:, -1]
    one_nn, printed_one_nn = measured.errors("NoPS"), one_nn_errors()[rows]
    cells, numbers = [_cells(one_nn, printed_one_nn)], [measured.data, one_nn.tolist(), printed_one_nn.tolist()]
    for method, choice in choices.items():
        printed_error = printed_rate = np.full(len(rows), np.nan)
        if method in METHODS:
            printed_error, printed_rate = (printed.column(f"{method}_{kind}")[rows] for kind in ("error", "rate"))
        cells.append(_cells(choice.error, printed_error, choice.rate, printed_rate, bold=ranks[method] == 1))
        columns = (choice.error, printed_error, choice.rate, printed_rate, ranks[method])
        numbers += [choice.labels, *(column.tolist() for column in columns)]
    names = [*(f"{number} {data}" for number, data in enumerate(measured.data, 1)), "mean"]
    page.table(["data set", "NoPS", *choices], list(zip(names, *cells, strict=True)))
    fields = ("variant", "error", "error_printed", "rate", "rate_printed", "pareto_rank")
    titles = [f"{method.replace(' ', '_')}_{field}" for method in choices for field in fields]
    page.csv(name, ["dataset", "NoPS_error", "NoPS_error_printed", *titles], list(zip(*numbers, strict=True)))


def _cells(*columns: np.ndarray, bold: np.ndarray | None = None) -> list[str]:
    """Cells of all data sets, then of the means over the data sets with measured results.

    The columns are the arguments of ``_cell``.
    """
    known = np.isfinite(columns[0])
    marks = np.zeros(len(known), bool) if bold is None else bold
    texts = [_cell(*map(float, values), bold=mark) for *values, mark in zip(*columns, marks, strict=True)]
    mean = _cell(*(mean_of(column[known]) for column in columns))
    return [*texts, mean if known.all() else f"{mean}<br>of {int(known.sum())}"]


def _cell(
    error: float, printed_error: float, rate: float = np.nan, printed_rate: float = np.nan, *, bold: bool = False
) -> str:
    """Measured, printed and difference; NaN where there is no rate, or nothing printed."""
    measured = MISSING_TEXT if np.isnan(error) else f"{error:.3f}" + ("" if np.isnan(rate) else f" / {rate:.3f}")
    measured = f"**{measured}**" if bold else measured
    if np.isnan(printed_error):
        return measured
    printed, difference = f"{printed_error:.2g}", signed(error - printed_error)
    if not np.isnan(printed_rate):
        printed += f" / {printed_rate:.2g}"
        difference += f" / {signed(rate - printed_rate)}"
    return f"{measured}<br>*{printed}*<br>{difference if measured != MISSING_TEXT else MISSING_TEXT}"


def add_printed_rates(page: Page, measured: Measured) -> None:
    """Add REPS at the selection rates that the paper prints, beside its printed errors."""
    page.heading("REPS at the printed selection rates", 3)
    page.paragraph(
        "The most direct comparison: REPS at the selection rate that the paper prints for REPS (first column) and for "
        "each baseline (its FSR table): measured, *printed*, and the difference. The column CCIS cannot be compared; "
        "see the inconsistencies."
    )
    rows = row_numbers(measured, vector_table())
    cells, numbers, titles = [[*measured.data, "mean"]], [measured.data], ["dataset"]
    names = ["REPS", *BASELINES]
    for name in names:
        printed = vector_table().column("REPS_error") if name == "REPS" else fixed_rate_table().column(name)
        errors, printed_errors = measured.errors(AT_PRINTED_RATE.format(name)), printed[rows]
        cells.append(_cells(errors, printed_errors))
        numbers += [errors.tolist(), printed_errors.tolist()]
        titles += [f"REPS_at_{name}_rate", f"REPS_at_{name}_rate_printed"]
    page.table(["data set", *(f"at {name}'s rate" for name in names)], list(zip(*cells, strict=True)))
    page.csv("reps-at-printed-rates", titles, list(zip(*numbers, strict=True)))
