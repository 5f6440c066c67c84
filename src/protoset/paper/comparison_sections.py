"""Comparisons on the vector data: REPS at the size of each baseline, signed ranks, Friedman and Nemenyi."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from protoset.evaluation import CriticalDifference, PairwiseTests, critical_difference, friedman, pairwise_wilcoxon
from protoset.paper.analysis import (
    REFINED_REPS,
    Choice,
    Comparison,
    Measured,
    at_size_of,
    compare_ranks,
    compare_sizes,
    rank_methods,
)
from protoset.paper.evidence import best_choices, fixed_choices, printed_rate_choices
from protoset.paper.pages import Page, probability, shown, signed
from protoset.paper.printed import BASELINES, fixed_rate_table, signed_rank_table, vector_table
from protoset.plots import plot_critical_difference


def add_fixed_rates(page: Page, name: str, measured: Measured, choices: Mapping[str, Choice]) -> None:
    """Add the errors of REPS at the measured size of each baseline."""
    page.heading("Fixed selection rate: REPS at the size of each baseline", 3)
    page.paragraph(
        "The error of each baseline, and of REPS with as many prototypes as the baseline keeps on the same fold; "
        "*printed* errors beside them."
    )
    for baseline in BASELINES:
        choice = choices[baseline]
        plain, refined = (at_size_of(measured, method, choice) for method in ("REPS", REFINED_REPS))
        rows, csv_rows = [], []
        for row, data in enumerate(measured.data):
            rate, error, reps = float(choice.rate[row]), float(choice.error[row]), float(plain[row])
            printed = vector_table().value(data, f"{baseline}_error")
            printed_reps = fixed_rate_table().value(data, baseline)
            differences = error - printed, reps - printed_reps
            cells = [data, rate, error, f"{printed:.2g}", signed(differences[0])]
            rows.append([*cells, reps, f"{printed_reps:.2g}", signed(differences[1]), float(refined[row])])
            csv_row = [data, rate, error, printed, differences[0]]
            csv_rows.append([*csv_row, reps, printed_reps, differences[1], float(refined[row])])
        header = ["data set", f"{baseline} SLR", f"{baseline} ERR", "printed", "difference"]
        header += ["REPS FSR ERR", "printed", "difference", f"{REFINED_REPS} FSR ERR"]
        page.heading(f"At the size of {baseline}", 4)
        page.table(header, rows)
        fields = ["rate", "error", "error_printed", "error_difference"]
        fields += ["reps", "reps_printed", "reps_difference", "refined_reps"]
        page.csv(f"{name}-{baseline}", ["dataset", *fields], csv_rows)


@dataclass(frozen=True)
class TestRow:
    """A line of the table of signed-rank tests: a test per baseline, with or without its wins and losses."""

    title: str
    tests: dict[str, Comparison]
    with_counts: bool = False

    def cells(self) -> list[str]:
        """p-values as texts, with wins and losses."""
        texts = []
        for test in self.tests.values():
            counts = f" ({test.wins}:{test.losses})" if self.with_counts and test.test is not None else ""
            texts.append(probability(test.p_value) + counts)
        return texts


def add_signed_ranks(page: Page, name: str, measured: Measured) -> None:
    """Add the paper's table of signed-rank tests, for each way to choose parameters."""
    page.heading("Signed-rank tests", 3)
    page.paragraph(
        "One-sided p-values of Wilcoxon's test that REPS is better, by Pareto ranks among six methods and by the error "
        "at the baseline's size, as in the paper. A small p-value means that REPS is ahead."
    )
    printed = signed_rank_table()
    rows: list[list[Any]] = []
    for title, key in (("Pareto ranks", "pareto_ranks"), ("FSR errors", "fixed_rate_errors")):
        rows.append([f"{title}, *printed*", *(f"*{printed.value(key, name):.2g}*" for name in BASELINES)])
    best, fixed = best_choices(measured), fixed_choices(measured)
    lines = rank_tests(best, "best parameter") + rank_tests(fixed, "fixed parameters")
    lines += rank_tests(printed_rate_choices(measured), "RMHC at 10 % and REPS at its printed rates")
    lines += size_tests(best, measured, "best parameter") + size_tests(fixed, measured, "fixed parameters")
    page.table(["", *BASELINES], rows + [[line.title, *line.cells()] for line in lines])
    add_test_csv(page, name, lines)


def add_test_csv(page: Page, name: str, lines: list[TestRow]) -> None:
    """Add tests as CSV, with all digits and the printed p-values."""
    printed = signed_rank_table()
    rows = []
    for line in lines:
        key = "pareto_ranks" if line.title.startswith("Pareto") else "fixed_rate_errors"
        for baseline, test in line.tests.items():
            numbers = [test.p_value, printed.value(key, baseline), test.mean, test.other_mean]
            rows.append([line.title, baseline, *numbers, test.wins, test.losses, test.n])
    header = ["comparison", "baseline", "p", "p_printed", "mean", "baseline_mean", "wins", "losses", "n_datasets"]
    page.csv(name, header, rows)


def rank_tests(choices: Mapping[str, Choice], parameters: str) -> list[TestRow]:
    """Test the Pareto ranks of REPS, and of refined REPS in its place if there is one."""
    methods = [name for name in ("REPS", REFINED_REPS) if name in choices]
    return [TestRow(f"Pareto ranks of {method}, {parameters}", compare_ranks(choices, method)) for method in methods]


def size_tests(choices: Mapping[str, Choice], reps: Measured, parameters: str) -> list[TestRow]:
    """Test the errors at the baselines' sizes."""
    tests = {method: compare_sizes(choices, reps, method) for method in ("REPS", REFINED_REPS)}
    return [TestRow(f"FSR errors of {method} (wins:losses), {parameters}", tests[method], True) for method in tests]


def add_friedman(page: Page, measured: Measured, *, brief: bool = False) -> None:
    """Add Friedman's and Nemenyi's tests with their diagrams."""
    page.heading("Friedman and Nemenyi", 3)
    page.paragraph(
        "All methods at once, on the data sets with results of all methods. These tests are conservative; the paper "
        "names them as a reference only. A bar joins methods without a significant difference."
    )
    choices = {method: choice for method, choice in fixed_choices(measured).items() if np.isfinite(choice.error).any()}
    methods = list(choices)
    if len(methods) < 3:
        page.paragraph(f"Not tested: {len(methods)} methods have results.")
        return
    errors = np.column_stack([choice.error for choice in choices.values()])
    lines, csv_rows = [], []
    compared: dict[str, tuple[CriticalDifference, PairwiseTests]] = {}
    for kind, values in (("errors", errors), ("pareto-ranks", rank_methods(choices))):
        table = values[np.isfinite(values).all(axis=1)]
        if len(table) < 2:
            lines.append(f"{kind.replace('-', ' ')}: not tested, {len(table)} data sets are complete")
            continue
        test = friedman(table, names=methods)
        lines.append(
            f"fixed parameters, {kind.replace('-', ' ')}: Friedman's chi-square {test.statistic:.1f}, p = "
            f"{probability(test.p_value)}; Iman and Davenport's F {shown(test.f_statistic, 1)}, p = "
            f"{probability(test.f_p_value)}; {test.n_datasets} data sets"
        )
        rank_test = critical_difference(table, names=methods)
        compared[kind] = rank_test, pairwise_wilcoxon(table, names=methods)
        statistics = [test.statistic, test.p_value, test.f_statistic, test.f_p_value, rank_test.critical_difference]
        csv_rows.append([kind, *statistics, *test.average_ranks.tolist()])
    page.bullets(lines)
    header = ["of", "chi_square", "p", "F", "F_p", "critical_difference", *(f"rank_{method}" for method in methods)]
    page.csv("friedman", header, csv_rows)
    _add_pairs(page, compared)
    for kind, (rank_test, _) in compared.items():
        if kind == "errors" or not brief:
            name = kind.replace("-", " ").replace("pareto", "Pareto")
            figure = plot_critical_difference(rank_test).figure_
            page.figure(f"critical-difference-{kind}", figure, f"Average ranks by {name}, fixed parameters")


def _add_pairs(page: Page, compared: Mapping[str, tuple[CriticalDifference, PairwiseTests]]) -> None:
    """Add average ranks, and the p-values of all pairs of methods by Nemenyi's test and by signed ranks."""
    header = ["of", "method", "other", "rank", "rank_other", "critical_difference", "p_nemenyi", "p_wilcoxon", "p_holm"]
    rows: list[list[Any]] = []
    for kind, (test, pairs) in compared.items():
        page.paragraph(
            f"Fixed parameters, {kind.replace('-', ' ')}: average ranks, and p-values of all pairs. Above the "
            "diagonal: Nemenyi's test. Below it: two-sided signed-rank tests with Holm's correction over all pairs. "
            f"By Nemenyi's test, methods differ at {test.alpha:g} if their average ranks are "
            f"{test.critical_difference:.2f} apart (the critical difference, {test.n_datasets} data sets)."
        )
        table_rows = []
        for i, name in enumerate(test.names):
            p_values = [
                "" if i == j else probability(float((test.p_values if i < j else pairs.corrected)[i, j]))
                for j in range(len(test.names))
            ]
            table_rows.append([name, f"{test.average_ranks[i]:.2f}", *p_values])
        page.table(["", "average rank", *test.names], table_rows)
        for i, j in pairs.tests:
            numbers = [test.average_ranks[i], test.average_ranks[j], test.critical_difference]
            numbers += [test.p_values[i, j], pairs.p_values[i, j], pairs.corrected[i, j]]
            rows.append([kind, test.names[i], test.names[j], *map(float, numbers)])
    page.csv("pairs", header, rows)
