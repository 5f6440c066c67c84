"""Findings on vector data: agreement and disagreement with the paper."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from protoset.paper.agreement import CLOSE_ERRORS, NO_DIFFERENCE, Finding, compare_errors, conclusion, row_numbers
from protoset.paper.analysis import (
    REFINED_REPS,
    Choice,
    Comparison,
    Measured,
    compare_ranks,
    compare_sizes,
    mean_of,
    rank_methods,
)
from protoset.paper.evidence import AT_PRINTED_RATE, Evidence, best_choices, fixed_choices, printed_rate_choices
from protoset.paper.inconsistencies import printed_choices
from protoset.paper.pages import probability
from protoset.paper.printed import BASELINES, METHODS, fixed_rate_table, one_nn_errors, signed_rank_table, vector_table

SHIFTED_ROWS = (
    "ionosphere",
    "iris",
    "lymphography",
    "mammographic",
    "monk-2",
    "movement_libras",
    "newthyroid",
    "pima",
)
"""Rows whose printed errors of 1-NN look like those of the row above."""


def vector_findings(evidence: Evidence) -> list[Finding]:
    """Compare the vector study with the paper."""
    measured = evidence.vectors
    if measured is None:
        return []
    best, scaling = best_choices(measured), evidence.scaling
    at_printed_rates, n_printed = printed_rate_choices(measured), len(vector_table().rows)
    # Ranks are among all methods, so they are compared only if all methods have results of all data sets.
    complete = all(np.isfinite(choice.error).sum() == n_printed for choice in at_printed_rates.values())
    return [
        *_one_nn(measured),
        *_printed_rates(measured),
        *baseline_findings(measured, best, f"on {scaling} distances"),
        *(_rank_findings(at_printed_rates, scaling) if complete else []),
        *size_findings(f"Errors of REPS at the baselines' sizes, all methods on {scaling} distances", best, measured),
        *(_first_ranks(at_printed_rates) if complete else []),
        *_refined(measured),
    ]


def _one_nn(measured: Measured) -> list[Finding]:
    printed = one_nn_errors()[row_numbers(measured, vector_table())]
    errors = measured.errors("NoPS")
    title = "1-NN on the whole training set, the printed column read as accuracies"
    findings = compare_errors(title, errors, printed)
    rows = [row for row, data in enumerate(measured.data) if data in SHIFTED_ROWS]
    own, above = (np.array([abs(printed[row] - errors[row - step]) for row in rows]) for step in (0, 1))
    if measured.data == vector_table().rows and np.isfinite(own + above).all() and np.median(above) < np.median(own):
        statement = (
            f"The printed column NoPS seems to be shifted by one row from {SHIFTED_ROWS[0]} to {SHIFTED_ROWS[-1]}: the "
            f"median difference is {np.median(own):.3f} from the measured error of the same row, and "
            f"{np.median(above):.3f} from that of the row above (pima is printed with "
            f"{printed[measured.data.index('pima')]:.2f}; newthyroid, the row above, is measured with "
            f"{errors[measured.data.index('newthyroid')]:.2f})"
        )
        findings.append(Finding(False, statement))
    return findings


def _printed_rates(measured: Measured) -> list[Finding]:
    rows = row_numbers(measured, vector_table())
    findings = compare_errors(
        "REPS at the selection rates printed for it",
        measured.errors(AT_PRINTED_RATE.format("REPS")),
        vector_table().column("REPS_error")[rows],
    )
    baselines = [name for name in BASELINES if name != "CCIS"]
    errors = np.column_stack([measured.errors(AT_PRINTED_RATE.format(name)) for name in baselines])
    printed = np.column_stack([fixed_rate_table().column(name)[rows] for name in baselines])
    known = np.isfinite(errors)
    if known.any():
        mean, printed_mean = float(errors[known].mean()), float(printed[known].mean())
        statement = (
            f"REPS at the rates printed for FCNN, SSMA, DROP3 and RMHC (FSR errors): mean {mean:.3f} measured, "
            f"{printed_mean:.3f} printed; lower here in {int((errors < printed)[known].sum())} and higher in "
            f"{int((errors > printed)[known].sum())} of {int(known.sum())} cases"
        )
        findings.append(Finding(abs(mean - printed_mean) <= CLOSE_ERRORS, statement))
    return findings


def baseline_findings(measured: Measured, choices: Mapping[str, Choice], distances: str) -> list[Finding]:
    """Compare the errors and rates of the baselines with the paper; ``distances`` are named in the sentences."""
    rows = row_numbers(measured, vector_table())
    findings = []
    for method in BASELINES:
        printed = vector_table().column(f"{method}_error")[rows]
        for finding in compare_errors(f"{method} {distances}", choices[method].error, printed):
            rate, printed_rate = mean_of(choices[method].rate), vector_table().column(f"{method}_rate")[rows].mean()
            statement = f"{finding.statement}; mean selection rate {rate:.3f}, printed {printed_rate:.3f}"
            findings.append(Finding(finding.agrees, statement))
    return findings


def _compare_conclusions(title: str, tests: Mapping[str, Comparison], printed_row: str) -> list[Finding]:
    """State the baselines for which the test agrees with the printed conclusion, and those for which it does not."""
    words: dict[bool, list[str]] = {True: [], False: []}
    for baseline, test in tests.items():
        printed = signed_rank_table().value(printed_row, baseline)
        # Without any difference the p-value is 1, but REPS is not behind.
        measured_conclusion = conclusion(test.p_value) if test.wins + test.losses else NO_DIFFERENCE
        printed_conclusion = conclusion(printed)
        words[measured_conclusion == printed_conclusion].append(
            f"{baseline} p = {probability(test.p_value)} ({measured_conclusion}), "
            f"printed {probability(printed)} ({printed_conclusion})"
        )
    verdicts = {True: "the printed conclusion", False: "another conclusion than the paper"}
    return [
        Finding(agrees, f"{title}: the tests of REPS have {verdicts[agrees]} for {'; '.join(entries)}")
        for agrees, entries in words.items()
        if entries
    ]


def _rank_findings(choices: Mapping[str, Choice], scaling: str) -> list[Finding]:
    """Compare the tests by Pareto ranks."""
    title = f"Pareto ranks on {scaling} distances, with RMHC and REPS at their printed rates"
    return _compare_conclusions(title, compare_ranks(choices), "pareto_ranks")


def size_findings(title: str, choices: Mapping[str, Choice], reps: Measured) -> list[Finding]:
    """Compare the tests by errors at the baselines' sizes.

    A test of fewer data sets than the paper has cannot be compared with the paper's.
    """
    n_printed = len(vector_table().rows)
    tests = {name: test for name, test in compare_sizes(choices, reps).items() if test.n == n_printed}
    return _compare_conclusions(title, tests, "fixed_rate_errors")


def _first_ranks(choices: Mapping[str, Choice]) -> list[Finding]:
    counts, printed_counts = _count_first_ranks(choices), _count_first_ranks(printed_choices())
    leaders, printed_leaders = (sorted(sorted(n, key=lambda name: -n[name])[:2]) for n in (counts, printed_counts))
    words = ", ".join(f"{method} {counts[method]} ({printed_counts[method]})" for method in METHODS)
    statement = (
        "Number of data sets on which a method has Pareto rank 1, with RMHC and REPS at their printed rates (in "
        f"brackets: from the printed table): {words}; the two methods with the most are {' and '.join(leaders)} here, "
        f"{' and '.join(printed_leaders)} in the paper"
    )
    return [Finding(leaders == printed_leaders, statement)]


def _count_first_ranks(choices: Mapping[str, Choice]) -> dict[str, int]:
    """Count the data sets on which each method has Pareto rank 1."""
    ranks = rank_methods(choices)
    return {method: int((ranks[:, column] == 1).sum()) for column, method in enumerate(choices)}


def _refined(measured: Measured) -> list[Finding]:
    choices, words, statements = fixed_choices(measured), [], []
    for baseline, test in compare_sizes(choices, measured, REFINED_REPS).items():
        if test.test is not None:
            words.append(
                f"{baseline} {test.other_mean:.3f}, {REFINED_REPS} {test.mean:.3f} (wins {test.wins}, "
                f"losses {test.losses}, one-sided p = {probability(test.p_value)})"
            )
    if words:
        statements.append(
            f"Mean errors of each baseline, and of {REFINED_REPS} at its size, fixed parameters: {'; '.join(words)}"
        )
    plain, refined = choices["REPS"], choices[REFINED_REPS]
    if np.isfinite(refined.error).any():
        statements.append(
            "Mean errors with the size chosen by cross-validation on the training part: REPS "
            f"{mean_of(plain.error):.3f} at a rate of {mean_of(plain.rate):.3f}, {REFINED_REPS} "
            f"{mean_of(refined.error):.3f} at {mean_of(refined.rate):.3f}, 1-NN on the whole training set "
            f"{mean_of(measured.errors('NoPS')):.3f}"
        )
    return [Finding(None, statement) for statement in statements]
