"""What agrees with the paper on vector data, and what does not."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from protoset.paper.agreement import CLOSE, UNDECIDED, Finding, gap, outcome, places_of, some
from protoset.paper.analysis import REFINED, Chosen, Comparison, Measured, at_size_of, compare, mean_of, rank_methods
from protoset.paper.evidence import AT_PRINTED, Evidence, best_choices, fixed_choices, printed_rate_choices
from protoset.paper.inconsistencies import printed_choices
from protoset.paper.other_sections import mixture_choices, rank_one_counts
from protoset.paper.pages import probability
from protoset.paper.printed import (
    BASELINES,
    METHODS,
    errors_of_everything,
    fixed_rate_table,
    signed_rank_table,
    vector_table,
)

SHIFTED = ("ionosphere", "iris", "lymphography", "mammographic", "monk-2", "movement_libras", "newthyroid", "pima")
"""Rows in which the printed errors of 1-NN look like those of the row above."""


def vector_findings(evidence: Evidence) -> list[Finding]:
    """Compare the vector study and the mixture with the paper."""
    found: list[Finding] = []
    if evidence.vectors is not None:
        found += _everything(evidence.vectors)
        found += _printed_rates(evidence.vectors)
        found += _baselines(evidence.vectors, best_choices(evidence.vectors), f"on {evidence.scaling} distances")
        found += _tests(evidence.vectors, evidence.vectors, evidence.scaling)
        found += _rank_one(evidence.vectors)
        found += _refined(evidence.vectors)
    if evidence.mixture is not None:
        chosen = mixture_choices(evidence)
        found += _baselines(evidence.mixture, chosen, "on unscaled distances (the paper's mixture)")
        if evidence.mixture_reps is not None:
            found += _mixture_tests(chosen, evidence.mixture_reps)
    return found


def _everything(measured: Measured) -> list[Finding]:
    there = errors_of_everything()[places_of(measured, vector_table().rows)]
    here = measured.errors("NoPS")
    found = some(gap("1-NN on everything, the printed column read as accuracies", here, there))
    rows = [row for row, data in enumerate(measured.data) if data in SHIFTED]
    own, above = (np.array([abs(there[row] - here[row - step]) for row in rows]) for step in (0, 1))
    if measured.data == vector_table().rows and np.isfinite(own + above).all() and np.median(above) < np.median(own):
        found.append(
            Finding(
                False,
                f"The printed column NoPS seems to have slipped by a row from {SHIFTED[0]} to {SHIFTED[-1]}: the "
                f"median distance to the measured error is {np.median(own):.3f}, and {np.median(above):.3f} to that of "
                f"the row above (pima is printed with {there[measured.data.index('pima')]:.2f}, and newthyroid above "
                f"it is measured with {here[measured.data.index('newthyroid')]:.2f})",
            )
        )
    return found


def _printed_rates(measured: Measured) -> list[Finding]:
    places = places_of(measured, vector_table().rows)
    own = gap(
        "REPS at the selection rates printed for it",
        measured.errors(AT_PRINTED.format("REPS")),
        vector_table().column("REPS_error")[places],
    )
    others = [one for one in BASELINES if one != "CCIS"]
    here = np.column_stack([measured.errors(AT_PRINTED.format(one)) for one in others])
    there = np.column_stack([fixed_rate_table().column(one)[places] for one in others])
    known = np.isfinite(here)
    fsr = None
    if known.any():
        a, b = float(here[known].mean()), float(there[known].mean())
        fsr = Finding(
            abs(a - b) <= CLOSE,
            f"REPS at the rates printed for FCNN, SSMA, DROP3 and RMHC (FSR errors): mean {a:.3f} measured, {b:.3f} "
            f"printed; lower here on {int((here < there)[known].sum())} and higher on "
            f"{int((here > there)[known].sum())} of {int(known.sum())}",
        )
    return some(own, fsr)


def _baselines(measured: Measured, chosen: Mapping[str, Chosen], where: str) -> list[Finding]:
    places = places_of(measured, vector_table().rows)
    found = []
    for method in BASELINES:
        there = vector_table().column(f"{method}_error")[places]
        one = gap(f"{method} {where}", chosen[method].error, there)
        if one is not None:
            rates = mean_of(chosen[method].rate), float(vector_table().column(f"{method}_rate")[places].mean())
            found.append(
                Finding(one.agrees, f"{one.statement}; mean selection rate {rates[0]:.3f}, printed {rates[1]:.3f}")
            )
    return found


def _verdict(title: str, here: Mapping[str, Comparison], row: str) -> list[Finding]:
    """Say against which baselines tests come to the printed conclusion, and against which they do not.

    Tests are one-sided, so there are three conclusions: REPS is ahead, it is behind, or they are not told apart.
    """
    agreeing: dict[bool, list[str]] = {True: [], False: []}
    for baseline, test in here.items():
        printed = signed_rank_table().value(row, baseline)
        # Where nothing differs the p-value is 1, and nobody is behind.
        ours, theirs = outcome(test.p_value) if test.wins + test.losses else UNDECIDED, outcome(printed)
        agreeing[ours == theirs].append(
            f"{baseline} p = {probability(test.p_value)} ({ours}), printed {probability(printed)} ({theirs})"
        )
    conclusions = {True: "the printed conclusion", False: "another conclusion than printed"}
    return [
        Finding(agrees, f"{title}: {conclusions[agrees]} about REPS against {'; '.join(words)}")
        for agrees, words in agreeing.items()
        if words
    ]


def _rank_tests(chosen: Mapping[str, Chosen]) -> dict[str, Comparison]:
    """Tests by Pareto ranks; none unless all methods are there, as ranks are among all."""
    if not all(_is_whole(chosen[method].error) for method in METHODS):
        return {}
    ranks = rank_methods({method: chosen[method] for method in METHODS})
    return {one: compare(ranks[:, -1], ranks[:, place]) for place, one in enumerate(BASELINES)}


def _size_tests(chosen: Mapping[str, Chosen], reps: Measured) -> dict[str, Comparison]:
    """Tests by the errors at the baselines' sizes; only where all data sets are there."""
    found = {}
    for one in BASELINES:
        errors = at_size_of(reps, "REPS", chosen[one])
        if _is_whole(errors) and _is_whole(chosen[one].error):
            found[one] = compare(errors, chosen[one].error)
    return found


def _is_whole(values: np.ndarray) -> bool:
    """Whether a method has all data sets of the paper: a test of fewer is not to be compared with the printed one."""
    return len(values) == len(vector_table().rows) and bool(np.isfinite(values).all())


def _tests(measured: Measured, reps: Measured, scaling: str) -> list[Finding]:
    best, given = best_choices(measured), printed_rate_choices(measured)
    found = _verdict(
        f"Pareto ranks, RMHC and REPS at their printed rates, {scaling} distances",
        _rank_tests(given),
        "pareto_ranks",
    )
    title = f"Errors of REPS at the baselines' sizes, all on {scaling} distances"
    return found + _verdict(title, _size_tests(best, reps), "fixed_rate_errors")


def _mixture_tests(chosen: Mapping[str, Chosen], reps: Measured) -> list[Finding]:
    title = "Errors of REPS at the baselines' sizes, in the paper's mixture of distances"
    return _verdict(title, _size_tests(chosen, reps), "fixed_rate_errors")


def _rank_one(measured: Measured) -> list[Finding]:
    there = rank_one_counts(printed_choices())
    here = rank_one_counts(printed_rate_choices(measured))
    if not all(_is_whole(one.error) for one in printed_rate_choices(measured).values()):
        return []
    leaders = [set(sorted(counts, key=lambda one: -counts[one])[:2]) for counts in (here, there)]
    words = ", ".join(f"{method} {here[method]} ({there[method]})" for method in METHODS)
    return [
        Finding(
            leaders[0] == leaders[1],
            "Data sets with Pareto rank 1, RMHC and REPS at their printed rates, in brackets from the printed table: "
            f"{words}; first are {' and '.join(sorted(leaders[0]))} here, {' and '.join(sorted(leaders[1]))} there",
        )
    ]


def _refined(measured: Measured) -> list[Finding]:
    best, found = fixed_choices(measured), []
    for baseline in BASELINES:
        test = compare(at_size_of(measured, REFINED, best[baseline]), best[baseline].error)
        if test.test is not None:
            found.append(
                f"{baseline} {test.other_mean:.3f}, {REFINED} {test.mean:.3f} (wins {test.wins}, losses {test.losses}, "
                f"one-sided p = {probability(test.p_value)})"
            )
    plain, refined = best["REPS"], best[REFINED]
    lines = []
    if found:
        lines.append(f"{REFINED} at the size of each baseline, fixed parameters, mean errors: {'; '.join(found)}")
    if np.isfinite(refined.error).any():
        lines.append(
            f"With the size chosen by cross-validation on the training part: REPS {mean_of(plain.error):.3f} at a rate "
            f"of {mean_of(plain.rate):.3f}, {REFINED} {mean_of(refined.error):.3f} at {mean_of(refined.rate):.3f}, "
            f"1-NN on everything {mean_of(measured.errors('NoPS')):.3f}"
        )
    return [Finding(None, line) for line in lines]
