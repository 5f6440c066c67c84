"""Sensitivity of REPS to beta and C: its section of the report, and its findings."""

from __future__ import annotations

import numpy as np

from protoset.paper.agreement import CLOSE_ERRORS, Finding
from protoset.paper.analysis import Measured, log_odds, mean_of
from protoset.paper.figures import sensitivity
from protoset.paper.pages import Page

PARAMETER_SYMBOLS = {"beta": "β", "C": "C"}
"""Parameters of the study, and how the page writes them."""

PRINTED_BETA = 2
"""The value with the largest median log odds ratio, by the paper."""


def sensitivity_variants(measured: Measured, parameter: str) -> dict[float, dict[float, str]]:
    """Labels of the variants of a parameter: by selection rate, then by value."""
    variants: dict[float, dict[float, str]] = {}
    for label in measured.methods:
        method, _, rest = label.partition(f"({parameter}=")
        if method == "REPS" and rest:
            value, _, rate = rest.partition(") at ")
            variants.setdefault(float(rate), {})[float(value)] = label
    return variants


def add_sensitivity(page: Page, measured: Measured | None, *, brief: bool = False) -> None:
    """Add the sensitivity to beta and C; ``brief`` leaves out the figure of C."""
    page.heading("Sensitivity to β and C")
    if measured is None:
        page.paragraph("Not run.")
        return
    page.paragraph(
        "The paper's log odds ratio of REPS against 1-NN on the whole training set, at fixed selection rates; larger "
        "is better. Boxes are quartiles over the data sets."
    )
    for parameter, symbol in PARAMETER_SYMBOLS.items():
        by_rate = sensitivity_variants(measured, parameter)
        if not by_rate:
            continue
        ratios = {
            rate: {value: log_odds(measured, label) for value, label in labels.items()}
            for rate, labels in by_rate.items()
        }
        name = f"sensitivity-{parameter.lower()}"
        if parameter == "beta" or not brief:
            page.figure(name, sensitivity(ratios, symbol), f"Log odds ratio of REPS by {symbol}")
        rows = []
        for value in next(iter(by_rate.values())):
            cells: list[str | float] = [f"{value:g}"]
            for rate, labels in by_rate.items():
                known = ratios[rate][value][np.isfinite(ratios[rate][value])]
                cells += [mean_of(measured.errors(labels[value])), float(np.median(known)) if len(known) else np.nan]
            rows.append(cells)
        titles = [f"{title}, {rate:.0%}" for rate in by_rate for title in ("mean ERR", "median LOR")]
        page.table([symbol, *titles], rows)
        page.csv(name, [parameter, *titles], rows)


def sensitivity_findings(measured: Measured | None) -> list[Finding]:
    """Compare the robustness to beta and C, and the best beta, with the paper."""
    if measured is None:
        return []
    findings = []
    for parameter in PARAMETER_SYMBOLS:
        best: dict[float, float] = {}
        for rate, labels in sensitivity_variants(measured, parameter).items():
            errors = {value: mean_of(measured.errors(label)) for value, label in labels.items()}
            if not all(np.isfinite(error) for error in errors.values()):
                continue
            medians = {value: float(np.nanmedian(log_odds(measured, label))) for value, label in labels.items()}
            best[rate] = max(medians, key=lambda value: medians[value])
            low, high = min(errors.values()), max(errors.values())
            statement = (
                f"Robustness of REPS to {parameter} at a rate of {rate:.0%}: for values from {min(errors):g} to "
                f"{max(errors):g} its mean error is between {low:.3f} and {high:.3f}"
            )
            findings.append(Finding(high - low <= CLOSE_ERRORS, statement))
        if best and parameter == "beta":
            words = ", ".join(f"{value:g} at {rate:.0%}" for rate, value in best.items())
            statement = (
                f"The beta with the largest median log odds ratio is {PRINTED_BETA:g} in the paper; here it is {words}"
            )
            findings.append(Finding(all(value == PRINTED_BETA for value in best.values()), statement))
    return findings
