"""The vector study in the report: errors and rates, fixed rates, tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from protoset.paper.analysis import REFINED, Chosen, Measured, mean_of, rank_methods
from protoset.paper.comparison_sections import add_fixed_rates, add_friedman, add_signed_ranks
from protoset.paper.evidence import AT_PRINTED, Evidence, best_choices, fixed_choices
from protoset.paper.figures import tradeoff
from protoset.paper.inconsistencies import printed_choices
from protoset.paper.pages import MISSING, Page, signed
from protoset.paper.printed import (
    BASELINES,
    METHODS,
    errors_of_everything,
    fixed_rate_table,
    vector_table,
)


def add_vector_study(page: Page, evidence: Evidence, *, brief: bool = False) -> None:
    """Write the vector study; ``brief`` leaves out the fixed parameters and the tables by baseline."""
    measured = evidence.vectors
    page.heading("Vector data")
    if measured is None:
        page.text("Not run.")
        return
    best = best_choices(measured)
    page.text(
        f"{len(measured.data)} data sets, 5 stratified folds, Euclidean distances on attributes with the scaling "
        f"`{evidence.scaling}`, learned on the training part, the same for all methods. Each cell has ERR / SLR: "
        "measured, *printed*, and measured less printed. NoPS is printed as accuracies, and read as 1 - ERR. Bold is "
        f"Pareto rank 1 among the paper's six methods; {REFINED} is bold where it has rank 1 in the place of REPS."
    )
    page.heading("Best parameter", 3)
    page.text(
        "As in the paper, each method has the parameter with the lowest error *on the test folds*: FCNN with k = 1, 2, "
        f"3, RMHC at 5, 10 and 20 %, REPS and {REFINED} at ten rates from 1 to 50 %. This is optimistic, the more so "
        "the more values are tried. The paper does not say how it chose the rates of REPS; those it prints are smaller."
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
        page.text(
            "FCNN with k = 1, RMHC at 10 %, REPS with the size that cross-validation on the training part chooses. No "
            "test object has a say in a parameter."
        )
        add_error_table(page, "vectors-fixed", measured, fixed_choices(measured))
    add_printed_rates(page, measured)
    if not brief:
        add_fixed_rates(page, "fixed-rate", measured, measured, best)
    add_signed_ranks(page, "signed-ranks", measured)
    add_friedman(page, measured, brief=brief)


def add_error_table(page: Page, name: str, measured: Measured, chosen: Mapping[str, Chosen]) -> None:
    """Write measured, printed and difference of all methods on all data sets."""
    printed, ranks, refined_ranks = vector_table(), *_two_rankings(chosen)
    everything = dict(zip(printed.rows, errors_of_everything(), strict=True))
    header = ["data set", "NoPS", *chosen]
    rows, kept = [], []
    for row, data in enumerate(measured.data):
        own = float(measured.errors("NoPS")[row])
        cells = [_cell(own, None, everything.get(data), None, False)]
        record: list[Any] = [data, own, everything.get(data)]
        for method, one in chosen.items():
            rank = float(refined_ranks[row, -1] if method == REFINED else ranks[row, METHODS.index(method)])
            there = _printed_pair(data, method)
            cells.append(_cell(float(one.error[row]), float(one.rate[row]), *there, rank == 1))
            record += [one.labels[row], float(one.error[row]), there[0], float(one.rate[row]), there[1], rank]
        rows.append([f"{row + 1} {data}", *cells])
        kept.append(record)
    rows.append(_mean_row(measured, chosen))
    page.table(header, rows)
    fields = ("variant", "error", "error_printed", "rate", "rate_printed", "pareto_rank")
    titles = [f"{method.replace(' ', '_')}_{field}" for method in chosen for field in fields]
    page.keep(name, ["dataset", "NoPS_error", "NoPS_error_printed", *titles], kept)


def _two_rankings(chosen: Mapping[str, Chosen]) -> tuple[np.ndarray, np.ndarray]:
    """Pareto ranks of the paper's six methods, and with the refined REPS in the place of REPS."""
    six = {method: chosen[method] for method in METHODS}
    other = {method: chosen[method] for method in (*BASELINES, REFINED)}
    return rank_methods(six), rank_methods(other)


def _printed_pair(data: str, method: str) -> tuple[float | None, float | None]:
    printed = vector_table()
    if method not in METHODS or data not in printed.rows:
        return None, None
    return printed.value(data, f"{method}_error"), printed.value(data, f"{method}_rate")


def _cell(error: float, rate: float | None, there: float | None, there_rate: float | None, bold: bool) -> str:
    here = MISSING if np.isnan(error) else f"{error:.3f}" + ("" if rate is None else f" / {rate:.3f}")
    here = f"**{here}**" if bold else here
    if there is None:
        return here
    printed = f"{there:.2g}" + ("" if there_rate is None else f" / {there_rate:.2g}")
    gap = signed(error - there) + ("" if rate is None or there_rate is None else f" / {signed(rate - there_rate)}")
    return f"{here}<br>*{printed}*<br>{gap if here != MISSING else MISSING}"


def _mean_row(measured: Measured, chosen: Mapping[str, Chosen]) -> list[str]:
    """Means over the data sets that are there, measured and printed over the same ones."""
    printed = vector_table()
    places = [printed.rows.index(data) for data in measured.data]
    cells = [_mean_cell(measured.errors("NoPS"), None, errors_of_everything()[places], None)]
    for method, one in chosen.items():
        there = there_rate = None
        if method in METHODS:
            there = printed.column(f"{method}_error")[places]
            there_rate = printed.column(f"{method}_rate")[places]
        cells.append(_mean_cell(one.error, one.rate, there, there_rate))
    return ["mean", *cells]


def _mean_cell(
    error: np.ndarray, rate: np.ndarray | None, there: np.ndarray | None, there_rate: np.ndarray | None
) -> str:
    known = np.isfinite(error)
    there_mean = None if there is None or not known.any() else float(there[known].mean())
    rate_mean = None if rate is None else mean_of(rate)
    there_rate_mean = None if there_rate is None or not known.any() else float(there_rate[known].mean())
    note = "" if known.all() else f"<br>of {int(known.sum())}"
    return _cell(mean_of(error), rate_mean, there_mean, there_rate_mean, False) + note


def add_printed_rates(page: Page, measured: Measured) -> None:
    """Write REPS at the selection rates that the paper prints, beside its printed errors."""
    page.heading("REPS at the printed selection rates", 3)
    page.text(
        "The most direct comparison: REPS at the selection rate that the paper prints for itself (first column) and "
        "for each baseline (its FSR table), measured, *printed*, and the difference. The column CCIS is not to be "
        "compared; see the inconsistencies."
    )
    names = ["REPS", *BASELINES]
    printed = {"REPS": vector_table().column("REPS_error")}
    printed |= {baseline: fixed_rate_table().column(baseline) for baseline in BASELINES}
    rows, kept = [], []
    places = [vector_table().rows.index(data) for data in measured.data]
    for row, data in enumerate(measured.data):
        here = [float(measured.errors(AT_PRINTED.format(name))[row]) for name in names]
        there = [float(printed[name][places[row]]) for name in names]
        rows.append([data, *(_cell(a, None, b, None, False) for a, b in zip(here, there, strict=True))])
        kept.append([data, *(value for pair in zip(here, there, strict=True) for value in pair)])
    columns = [measured.errors(AT_PRINTED.format(name)) for name in names]
    means = [_mean_cell(column, None, printed[name][places], None) for name, column in zip(names, columns, strict=True)]
    page.table(["data set", *(f"at {name}'s rate" for name in names)], [*rows, ["mean", *means]])
    titles = [f"REPS_at_{name}_rate{part}" for name in names for part in ("", "_printed")]
    page.keep("reps-at-printed-rates", ["dataset", *titles], kept)
