"""What agrees with the paper on time series and parameters, and what does not."""

from __future__ import annotations

import numpy as np

from protoset.paper.agreement import CLOSE, Finding, gap, places_of, some
from protoset.paper.analysis import REFINED, Measured, log_odds, mean_of
from protoset.paper.evidence import AT_PRINTED, Case, Evidence
from protoset.paper.figures import CASE_CLASSES
from protoset.paper.inconsistencies import repeated_rows
from protoset.paper.other_sections import sensitivities, window_means, windows_by_radius
from protoset.paper.printed import series_table

PRINTED_BETA = 2
"""With the largest median log odds ratio, the paper says."""


def other_findings(evidence: Evidence) -> list[Finding]:
    """Compare the time series, the windows, the case studies and the sensitivity with the paper."""
    found: list[Finding] = []
    if evidence.series is not None:
        found += _series(evidence.series)
    if evidence.windows:
        found += _windows(evidence)
    found += _cases(evidence.cases)
    if evidence.sensitivity is not None:
        found += _sensitivity(evidence.sensitivity)
    return found


def _series(measured: Measured) -> list[Finding]:
    printed = series_table()
    places = places_of(measured, printed.rows)
    there, there_reps = (printed.column(name)[places] for name in ("NoPS_error", "REPS_error"))
    everything, error = measured.errors("NoPS"), measured.errors(AT_PRINTED.format("REPS"))
    found = some(
        gap("1-NN on everything, time series", everything, there),
        gap("REPS at the selection rates printed for the time series", error, there_reps),
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
        losses = error[known] - everything[known]
        lower, higher = int((losses < -1e-12).sum()), int((losses > 1e-12).sum())
        found.append(
            Finding(
                higher == 0,
                "Whether REPS at the printed rates maintains or improves the error of 1-NN with DTW on all data sets, "
                f"as the paper says: {'no' if higher else 'yes'}, it is lower on {lower}, equal on "
                f"{len(losses) - lower - higher}, higher on {higher} of {len(losses)} data sets, "
                f"{losses.mean():+.3f} in the mean",
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
            f"Dependence on the window of DTW: from radius {radii[0]} to {radii[-1]} what REPS loses with half of "
            f"the training set is between {min(losses):+.3f} and {max(losses):+.3f}",
        )
    ]


def _cases(cases: tuple[Case, ...]) -> list[Finding]:
    found = []
    for case in cases:
        if case.name == "Plane":
            shown = np.isin(case.labels, CASE_CLASSES["Plane"])
            dropped = shown & ~np.isin(np.arange(len(case.labels)), case.kept)
            found.append(
                Finding(
                    bool(dropped.sum() > shown.sum() / 2),
                    "Case study of Plane: the paper says that more than half of classes 1 and 2 are dropped; at its "
                    f"printed selection rate {int(dropped.sum())} of {int(shown.sum())} are",
                )
            )
    return found


def _sensitivity(measured: Measured) -> list[Finding]:
    found = []
    for parameter in ("beta", "C"):
        best: dict[float, float] = {}
        for rate, labels in sensitivities(measured, parameter).items():
            errors = {value: mean_of(measured.errors(label)) for value, label in labels.items()}
            ratios = {value: log_odds(measured, label) for value, label in labels.items()}
            if not all(np.isfinite(error) for error in errors.values()):
                continue
            medians = {value: float(np.nanmedian(ratio)) for value, ratio in ratios.items()}
            best[rate] = max(medians, key=lambda value: medians[value])
            spread = max(errors.values()) - min(errors.values())
            found.append(
                Finding(
                    spread <= CLOSE,
                    f"Robustness of REPS to {parameter} at a rate of {rate:.0%}: from {min(errors):g} to "
                    f"{max(errors):g} its mean error is from {min(errors.values()):.3f} to {max(errors.values()):.3f}",
                )
            )
        if best and parameter == "beta":
            words = ", ".join(f"{value:g} at {rate:.0%}" for rate, value in best.items())
            found.append(
                Finding(
                    all(value == PRINTED_BETA for value in best.values()),
                    f"The beta with the largest median log odds ratio, {PRINTED_BETA:g} in the paper: {words}",
                )
            )
    return found
