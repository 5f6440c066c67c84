"""What agrees with the paper and what does not, in words made from the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from protoset.paper.analysis import (
    REFINED,
    Chosen,
    Measured,
    at_size_of,
    compare,
    log_odds,
    mean_of,
    rank_methods,
    within,
)
from protoset.paper.evidence import AT_PRINTED, Evidence, best_choices, fixed_choices, printed_rate_choices
from protoset.paper.inconsistencies import printed_choices, repeated_rows
from protoset.paper.other_sections import (
    mixture_choices,
    rank_one_counts,
    sensitivities,
    window_means,
    windows_by_radius,
)
from protoset.paper.pages import Page, probability
from protoset.paper.printed import (
    BASELINES,
    METHODS,
    errors_of_everything,
    fixed_rate_table,
    series_table,
    signed_rank_table,
    vector_table,
)

CLOSE = 0.02
"""Mean errors that differ by no more than this agree."""

LEVEL = 0.05
"""Of significance."""


@dataclass(frozen=True)
class Finding:
    """One comparison with the paper.

    Attributes
    ----------
    agrees : bool or None
        None where the paper has nothing to compare with.
    statement : str
    """

    agrees: bool | None
    statement: str


def add_findings(page: Page, evidence: Evidence) -> None:
    """Write what agrees, what does not, and what is beyond the paper."""
    found = findings(evidence)
    page.heading("What agrees and what does not")
    page.text(
        f"Mean errors agree where they differ by at most {CLOSE}; tests agree where both or neither are below {LEVEL}. "
        "All sentences are made from the numbers below."
    )
    for title, verdict in (("Agrees", True), ("Does not agree", False), ("Beyond the paper", None)):
        lines = [one.statement for one in found if one.agrees is verdict]
        page.heading(title, 3)
        if lines:
            page.points(lines)
        else:
            page.text("Nothing.")


def findings(evidence: Evidence) -> list[Finding]:
    """Compare everything that was measured with the paper."""
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
    if evidence.series is not None:
        found += _series(evidence.series)
    if evidence.windows:
        found += _windows(evidence)
    if evidence.sensitivity is not None:
        found += _sensitivity(evidence.sensitivity)
    return found


def _places(measured: Measured, rows: tuple[str, ...]) -> list[int]:
    return [rows.index(data) for data in measured.data]


def _gap(title: str, here: np.ndarray, there: np.ndarray) -> Finding | None:
    """Compare means over what is known."""
    known = np.isfinite(here)
    if not known.any():
        return None
    a, b = float(here[known].mean()), float(there[known].mean())
    close, n = within(here, there, CLOSE)
    farthest = np.argsort(np.where(known, np.abs(here - there), -1))[::-1]
    return Finding(
        abs(a - b) <= CLOSE,
        f"{title}: mean error {a:.3f} measured, {b:.3f} printed; within {CLOSE} on {close} of {n} data sets, the "
        f"largest difference {here[farthest[0]] - there[farthest[0]]:+.2f}",
    )


def _some(*found: Finding | None) -> list[Finding]:
    return [one for one in found if one is not None]


def _everything(measured: Measured) -> list[Finding]:
    there = errors_of_everything()[_places(measured, vector_table().rows)]
    return _some(_gap("1-NN on everything, the printed column read as accuracies", measured.errors("NoPS"), there))


def _printed_rates(measured: Measured) -> list[Finding]:
    places = _places(measured, vector_table().rows)
    own = _gap(
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
    return _some(own, fsr)


def _baselines(measured: Measured, chosen: Mapping[str, Chosen], where: str) -> list[Finding]:
    places = _places(measured, vector_table().rows)
    found = []
    for method in BASELINES:
        there = vector_table().column(f"{method}_error")[places]
        one = _gap(f"{method} {where}", chosen[method].error, there)
        if one is not None:
            rates = mean_of(chosen[method].rate), float(vector_table().column(f"{method}_rate")[places].mean())
            found.append(
                Finding(one.agrees, f"{one.statement}; mean selection rate {rates[0]:.3f}, printed {rates[1]:.3f}")
            )
    return found


def _verdict(title: str, here: Mapping[str, float], row: str) -> list[Finding]:
    """Say for which baselines a test comes to the printed conclusion, and for which it does not."""
    found = []
    for agrees in (True, False):
        names = [
            one
            for one in BASELINES
            if np.isfinite(here[one])
            and ((here[one] < LEVEL) == (signed_rank_table().value(row, one) < LEVEL)) is agrees
        ]
        if names:
            words = "; ".join(
                f"{one} p = {probability(here[one])}, printed {probability(signed_rank_table().value(row, one))}"
                for one in names
            )
            conclusion = "the printed conclusion against" if agrees else "another conclusion than printed against"
            found.append(Finding(agrees, f"{title}: {conclusion} {words}"))
    return found


def _rank_p_values(chosen: Mapping[str, Chosen]) -> dict[str, float]:
    ranks = rank_methods({method: chosen[method] for method in METHODS})
    return {one: compare(ranks[:, -1], ranks[:, place]).p_value for place, one in enumerate(BASELINES)}


def _size_p_values(chosen: Mapping[str, Chosen], reps: Measured) -> dict[str, float]:
    return {one: compare(at_size_of(reps, "REPS", chosen[one]), chosen[one].error).p_value for one in BASELINES}


def _tests(measured: Measured, reps: Measured, scaling: str) -> list[Finding]:
    best, given = best_choices(measured), printed_rate_choices(measured)
    found = _verdict(
        f"Pareto ranks of REPS at its printed rates, {scaling} distances", _rank_p_values(given), "pareto_ranks"
    )
    title = f"Errors of REPS at the baselines' sizes, all on {scaling} distances"
    return found + _verdict(title, _size_p_values(best, reps), "fixed_rate_errors")


def _mixture_tests(chosen: Mapping[str, Chosen], reps: Measured) -> list[Finding]:
    title = "Errors of REPS at the baselines' sizes, in the paper's mixture of distances"
    return _verdict(title, _size_p_values(chosen, reps), "fixed_rate_errors")


def _rank_one(measured: Measured) -> list[Finding]:
    there = rank_one_counts(printed_choices())
    here = rank_one_counts(printed_rate_choices(measured))
    if not any(here.values()):
        return []
    leaders = [set(sorted(counts, key=lambda one: -counts[one])[:2]) for counts in (here, there)]
    words = ", ".join(f"{method} {here[method]} ({there[method]})" for method in METHODS)
    return [
        Finding(
            leaders[0] == leaders[1],
            f"Data sets with Pareto rank 1, REPS at its printed rates, in brackets from the printed table: {words}; "
            f"most frequent are {' and '.join(sorted(leaders[0]))} here, {' and '.join(sorted(leaders[1]))} there",
        )
    ]


def _refined(measured: Measured) -> list[Finding]:
    best, found = fixed_choices(measured), []
    for baseline in BASELINES:
        test = compare(at_size_of(measured, REFINED, best[baseline]), best[baseline].error)
        if test.test is not None:
            found.append(
                f"{baseline} {test.other_mean:.3f}, {REFINED} {test.mean:.3f} ({test.wins} wins, {test.losses} losses, "
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


def _series(measured: Measured) -> list[Finding]:
    printed = series_table()
    places = _places(measured, printed.rows)
    there, there_reps = (printed.column(name)[places] for name in ("NoPS_error", "REPS_error"))
    everything, error = measured.errors("NoPS"), measured.errors(AT_PRINTED.format("REPS"))
    found = _some(
        _gap("1-NN on everything, time series", everything, there),
        _gap("REPS at the selection rates printed for the time series", error, there_reps),
    )
    alike = repeated_rows(printed)
    sound = np.array([data not in alike for data in measured.data])
    far = [
        f"{data} {here:.3f} ({other:.2g})"
        for data, here, other, good in zip(measured.data, everything, there, sound, strict=True)
        if good and abs(here - other) > 0.05
    ]
    if far:
        found.append(
            Finding(
                False,
                "1-NN with DTW is more than 0.05 from the printed error, rows that are printed twice left out, on "
                f"{', '.join(far)} (printed in brackets)",
            )
        )
    known = np.isfinite(error) & np.isfinite(everything)
    if known.any():
        gap = error[known] - everything[known]
        found.append(
            Finding(
                bool(gap.mean() <= CLOSE),
                f"REPS at the printed rates maintains the error of DTW: it is lower on {int((gap < -1e-12).sum())}, "
                f"equal on {int((np.abs(gap) <= 1e-12).sum())}, higher on {int((gap > 1e-12).sum())} of {len(gap)} "
                f"data sets, {gap.mean():+.3f} in the mean",
            )
        )
    small = [(f"{name} at 0.2", mean_of(measured.errors(f"{name} at 0.2"))) for name in ("REPS", REFINED)]
    if all(np.isfinite(mean) for _, mean in small):
        words = ", ".join(f"{label} {mean:.3f}" for label, mean in small)
        found.append(
            Finding(
                None, f"Time series with a fifth of the training set: {words}; everything {mean_of(everything):.3f}"
            )
        )
    return found


def _windows(evidence: Evidence) -> list[Finding]:
    means = window_means(windows_by_radius(evidence), ["NoPS", "REPS at 0.5"])
    radii = list(means)
    if len(radii) < 2 or not np.isfinite(list(means.values())).all():
        return []
    losses = [reps - everything for everything, reps in means.values()]
    spread = max(losses) - min(losses)
    return [
        Finding(
            spread <= CLOSE,
            f"Results do not depend on the window: from radius {radii[0]} to {radii[-1]} what REPS loses with half of "
            f"the training set is between {min(losses):+.3f} and {max(losses):+.3f}",
        )
    ]


def _sensitivity(measured: Measured) -> list[Finding]:
    found = []
    for parameter in ("beta", "C"):
        for rate, labels in sensitivities(measured, parameter).items():
            errors = {value: mean_of(measured.errors(label)) for value, label in labels.items()}
            ratios = {value: log_odds(measured, label) for value, label in labels.items()}
            if not all(np.isfinite(error) for error in errors.values()):
                continue
            medians = {value: float(np.nanmedian(ratio)) for value, ratio in ratios.items()}
            spread = max(errors.values()) - min(errors.values())
            best = max(medians, key=lambda value: medians[value])
            found.append(
                Finding(
                    spread <= CLOSE,
                    f"REPS is robust to {parameter}: from {min(errors):g} to {max(errors):g} at a rate of {rate:.0%} "
                    f"the mean error moves by {spread:.3f}; the largest median log odds ratio is at {best:g}",
                )
            )
    return found
