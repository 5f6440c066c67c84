"""Comparisons on the vector data: REPS at the size of each baseline, signed ranks, Friedman and Nemenyi."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from protoset.evaluation import friedman
from protoset.paper.analysis import REFINED, Chosen, Measured, at_size_of, compare, rank_methods
from protoset.paper.evidence import best_choices, fixed_choices, printed_rate_choices
from protoset.paper.figures import rank_diagram
from protoset.paper.pages import MISSING, Page, probability, shown
from protoset.paper.printed import BASELINES, fixed_rate_table, signed_rank_table, vector_table


def add_fixed_rates(page: Page, name: str, baselines: Measured, reps: Measured, chosen: Mapping[str, Chosen]) -> None:
    """Write the errors of REPS at the measured sizes of each baseline."""
    page.heading("Fixed selection rate: REPS at the size of each baseline", 3)
    page.text(
        "The error of each baseline, and of REPS with as many prototypes as the baseline keeps on the same fold; "
        "*printed* ones beside them."
    )
    printed, fixed_rates = vector_table(), fixed_rate_table()
    for baseline in BASELINES:
        one = chosen[baseline]
        plain, refined = (at_size_of(reps, method, one) for method in ("REPS", REFINED))
        rows = []
        for row, data in enumerate(baselines.data):
            there, there_reps = printed.value(data, f"{baseline}_error"), fixed_rates.value(data, baseline)
            rows.append(
                [
                    data,
                    float(one.rate[row]),
                    float(one.error[row]),
                    there,
                    float(one.error[row] - there),
                    float(plain[row]),
                    there_reps,
                    float(plain[row] - there_reps),
                    float(refined[row]),
                ]
            )
        header = [
            "data set",
            f"{baseline} SLR",
            f"{baseline} ERR",
            "printed",
            "difference",
            "REPS FSR ERR",
            "printed",
            "difference",
            f"{REFINED} FSR ERR",
        ]
        page.heading(f"At the size of {baseline}", 4)
        page.table(header, rows)
        fields = ["rate", "error", "error_printed", "error_difference"]
        fields += ["reps", "reps_printed", "reps_difference", "refined_reps"]
        page.keep(f"{name}-{baseline}", ["dataset", *fields], rows)


def add_signed_ranks(page: Page, name: str, measured: Measured) -> None:
    """Write the paper's table of signed-rank tests, for each way to choose parameters."""
    page.heading("Signed-rank tests", 3)
    page.text(
        "One-sided p-values of Wilcoxon's test that REPS is better, by Pareto ranks among six methods and by the error "
        "at the baseline's size, as in the paper. A small p-value says that REPS is ahead."
    )
    printed = signed_rank_table()
    rows: list[list[Any]] = []
    for title, key in (("Pareto ranks", "pareto_ranks"), ("FSR errors", "fixed_rate_errors")):
        rows.append([f"{title}, *printed*", *(f"*{printed.value(key, one):.2g}*" for one in BASELINES)])
    for title, chosen in (
        ("best parameter", best_choices(measured)),
        ("fixed parameters", fixed_choices(measured)),
        ("RMHC at 10 % and REPS at its printed rates", printed_rate_choices(measured)),
    ):
        rows += [[f"{line}, {title}", *cells] for line, cells in rank_tests(chosen)]
    for title, chosen in (("best parameter", best_choices(measured)), ("fixed parameters", fixed_choices(measured))):
        rows += [[f"{line}, {title}", *cells] for line, cells in size_tests(chosen, measured)]
    page.table(["", *BASELINES], rows)
    page.keep(name, ["comparison", *BASELINES], [[str(row[0]).replace("*", ""), *row[1:]] for row in rows])


def rank_tests(chosen: Mapping[str, Chosen]) -> list[tuple[str, list[str]]]:
    """p-values by Pareto ranks: of REPS, and of the refined REPS in its place where there is one."""
    found = []
    for method in [one for one in ("REPS", REFINED) if one in chosen]:
        ranks = rank_methods({name: chosen[name] for name in (*BASELINES, method)})
        tests = [compare(ranks[:, -1], ranks[:, place]) for place in range(len(BASELINES))]
        found.append((f"Pareto ranks of {method}", [probability(test.p_value) for test in tests]))
    return found


def size_tests(chosen: Mapping[str, Chosen], reps: Measured) -> list[tuple[str, list[str]]]:
    """p-values by the errors at the baselines' sizes, with wins and losses."""
    found = []
    for method in ("REPS", REFINED):
        tests = [compare(at_size_of(reps, method, chosen[one]), chosen[one].error) for one in BASELINES]
        cells = [
            MISSING if test.test is None else f"{probability(test.p_value)} ({test.wins}:{test.losses})"
            for test in tests
        ]
        found.append((f"FSR errors of {method} (wins:losses)", cells))
    return found


def add_friedman(page: Page, measured: Measured, *, brief: bool = False) -> None:
    """Write Friedman's and Nemenyi's tests with their diagrams."""
    page.heading("Friedman and Nemenyi", 3)
    page.text(
        "All methods at once, on the data sets that all of them have. These tests are conservative; the paper names "
        "them as a reference only. A bar joins methods that are not told apart."
    )
    chosen = fixed_choices(measured)
    methods = [method for method, one in chosen.items() if np.isfinite(one.error).any()]
    some = {method: chosen[method] for method in methods}
    if len(some) < 3:
        page.text(f"Not tested: {len(some)} methods have results.")
        return
    ranks = rank_methods(some)
    kinds = {
        "errors": {method: one.error for method, one in some.items()},
        "pareto-ranks": {method: ranks[:, place] for place, method in enumerate(some)},
    }
    lines, kept = [], []
    for kind, values in kinds.items():
        table = np.column_stack(list(values.values()))
        table = table[np.isfinite(table).all(axis=1)]
        if len(table) < 2:
            lines.append(f"{kind.replace('-', ' ')}: not tested, {len(table)} data sets are complete")
            continue
        test = friedman(table, names=methods)
        lines.append(
            f"fixed parameters, {kind.replace('-', ' ')}: Friedman's chi-square {test.statistic:.1f}, p = "
            f"{probability(test.p_value)}; Iman and Davenport's F {shown(test.f_statistic, 1)}, p = "
            f"{probability(test.f_p_value)}; {test.n_datasets} data sets"
        )
        kept.append(
            [kind, test.statistic, test.p_value, test.f_statistic, test.f_p_value, *test.average_ranks.tolist()]
        )
    page.points(lines)
    page.keep("friedman", ["of", "chi_square", "p", "F", "F_p", *(f"rank_{method}" for method in methods)], kept)
    for kind, values in kinds.items() if not brief else [("errors", kinds["errors"])]:
        figure = rank_diagram(values)
        if figure is not None:
            name = kind.replace("-", " ").replace("pareto", "Pareto")
            page.figure(f"critical-difference-{kind}", figure, f"Average ranks by {name}, fixed parameters")
