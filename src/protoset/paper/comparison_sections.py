"""Comparisons on the vector data: REPS at the size of each baseline, signed ranks, Friedman and Nemenyi."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from protoset.evaluation import NemenyiTest, PairwiseTests, friedman, nemenyi, pairwise_wilcoxon
from protoset.paper.analysis import REFINED, Chosen, Comparison, Measured, at_size_of, compare, rank_methods
from protoset.paper.evidence import best_choices, fixed_choices, printed_rate_choices
from protoset.paper.figures import rank_diagram
from protoset.paper.pages import Page, probability, shown, signed
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
        rows: list[list[Any]] = []
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
        page.table(header, [_with_signs(row) for row in rows])
        fields = ["rate", "error", "error_printed", "error_difference"]
        fields += ["reps", "reps_printed", "reps_difference", "refined_reps"]
        page.keep(f"{name}-{baseline}", ["dataset", *fields], rows)


def _with_signs(row: list[Any]) -> list[Any]:
    """Show printed numbers as they are printed, and differences with their signs."""
    found = list(row)
    found[3], found[6] = f"{row[3]:.2g}", f"{row[6]:.2g}"
    found[4], found[7] = signed(row[4]), signed(row[7])
    return found


@dataclass(frozen=True)
class Line:
    """A line of the table of signed-rank tests.

    Attributes
    ----------
    title : str
    tests : dict of str to Comparison
        By baseline.
    with_counts : bool
        Whether wins and losses say something.
    """

    title: str
    tests: dict[str, Comparison]
    with_counts: bool = False

    def cells(self) -> list[str]:
        """p-values to show, with wins and losses."""
        found = []
        for test in self.tests.values():
            counts = f" ({test.wins}:{test.losses})" if self.with_counts and test.test is not None else ""
            found.append(probability(test.p_value) + counts)
        return found


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
    best, given = best_choices(measured), fixed_choices(measured)
    lines = rank_tests(best, "best parameter") + rank_tests(given, "fixed parameters")
    lines += rank_tests(printed_rate_choices(measured), "RMHC at 10 % and REPS at its printed rates")
    lines += size_tests(best, measured, "best parameter") + size_tests(given, measured, "fixed parameters")
    page.table(["", *BASELINES], rows + [[line.title, *line.cells()] for line in lines])
    keep_tests(page, name, lines)


def keep_tests(page: Page, name: str, lines: list[Line]) -> None:
    """Keep tests as CSV, with all digits and the printed p-values."""
    printed = signed_rank_table()
    rows = []
    for line in lines:
        key = "pareto_ranks" if line.title.startswith("Pareto") else "fixed_rate_errors"
        for baseline, test in line.tests.items():
            numbers = [test.p_value, printed.value(key, baseline), test.mean, test.other_mean]
            rows.append([line.title, baseline, *numbers, test.wins, test.losses, test.n])
    header = ["comparison", "baseline", "p", "p_printed", "mean", "baseline_mean", "wins", "losses", "n_datasets"]
    page.keep(name, header, rows)


def rank_tests(chosen: Mapping[str, Chosen], parameters: str) -> list[Line]:
    """Test Pareto ranks: of REPS, and of the refined REPS in its place where there is one."""
    found = []
    for method in [one for one in ("REPS", REFINED) if one in chosen]:
        ranks = rank_methods({name: chosen[name] for name in (*BASELINES, method)})
        tests = {name: compare(ranks[:, -1], ranks[:, place]) for place, name in enumerate(BASELINES)}
        found.append(Line(f"Pareto ranks of {method}, {parameters}", tests))
    return found


def size_tests(chosen: Mapping[str, Chosen], reps: Measured, parameters: str) -> list[Line]:
    """Test errors at the baselines' sizes."""
    found = []
    for method in ("REPS", REFINED):
        tests = {one: compare(at_size_of(reps, method, chosen[one]), chosen[one].error) for one in BASELINES}
        found.append(Line(f"FSR errors of {method} (wins:losses), {parameters}", tests, with_counts=True))
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
    compared: dict[str, tuple[NemenyiTest, PairwiseTests]] = {}
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
        rank_test, pairs = nemenyi(table, names=methods), pairwise_wilcoxon(table, names=methods)
        compared[kind] = rank_test, pairs
        kept.append(
            [
                kind,
                test.statistic,
                test.p_value,
                test.f_statistic,
                test.f_p_value,
                rank_test.critical_difference,
                *test.average_ranks.tolist(),
            ]
        )
    page.points(lines)
    page.keep(
        "friedman",
        ["of", "chi_square", "p", "F", "F_p", "critical_difference", *(f"rank_{method}" for method in methods)],
        kept,
    )
    _add_pairs(page, compared)
    for kind, values in kinds.items() if not brief else [("errors", kinds["errors"])]:
        figure = rank_diagram(values)
        if figure is not None:
            name = kind.replace("-", " ").replace("pareto", "Pareto")
            page.figure(f"critical-difference-{kind}", figure, f"Average ranks by {name}, fixed parameters")


def _add_pairs(page: Page, compared: Mapping[str, tuple[NemenyiTest, PairwiseTests]]) -> None:
    """Write average ranks, and the p-values of all pairs of methods by Nemenyi's test and by signed ranks."""
    header = ["of", "method", "other", "rank", "rank_other", "critical_difference", "p_nemenyi", "p_wilcoxon", "p_holm"]
    rows: list[list[Any]] = []
    for kind, (test, pairs) in compared.items():
        page.text(
            f"Fixed parameters, {kind.replace('-', ' ')}: average ranks, and the p-values of all pairs. Above the "
            "diagonal are Nemenyi's, below it those of two-sided signed-rank tests after Holm's correction over all "
            f"pairs. By Nemenyi, methods differ at {test.alpha:g} where their average ranks are "
            f"{test.critical_difference:.2f} apart (the critical difference, {test.n_datasets} data sets)."
        )
        shown_rows = []
        for i, name in enumerate(test.names):
            found = [
                "" if i == j else probability(float((test.p_values if i < j else pairs.corrected)[i, j]))
                for j in range(len(test.names))
            ]
            shown_rows.append([name, f"{test.average_ranks[i]:.2f}", *found])
        page.table(["", "average rank", *test.names], shown_rows)
        for i, j in pairs.tests:
            numbers = [test.average_ranks[i], test.average_ranks[j], test.critical_difference]
            numbers += [test.p_values[i, j], pairs.p_values[i, j], pairs.corrected[i, j]]
            rows.append([kind, test.names[i], test.names[j], *map(float, numbers)])
    page.keep("pairs", header, rows)
