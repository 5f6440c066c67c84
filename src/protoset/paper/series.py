"""The time series, the windows of DTW and the case studies: their sections of the report, and their findings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from protoset.paper.agreement import CLOSE_ERRORS, Finding, compare_errors, row_numbers
from protoset.paper.analysis import REFINED_REPS, Measured, mean_of
from protoset.paper.evidence import AT_PRINTED_RATE, Case, Evidence
from protoset.paper.figures import CASE_CLASSES, case_graph, case_series
from protoset.paper.inconsistencies import repeated_rows
from protoset.paper.pages import Page, shown, signed
from protoset.paper.printed import series_table
from protoset.paper.running import SERIES_WINDOW

FAR_ERROR = 0.05
"""A measured error of 1-NN that differs by more from the printed one is named."""


def add_series(page: Page, measured: Measured | None) -> None:
    """Add the study of the time series."""
    page.heading("Time series")
    if measured is None:
        page.paragraph("Not run.")
        return
    page.paragraph(
        f"{len(measured.data)} data sets with their default split, DTW with a radius of 5 points. The first columns "
        "show REPS at the selection rate that the paper prints, beside its printed errors. Rows with a dagger are "
        "printed with the same values for several data sets. The last columns show REPS and refined REPS at smaller "
        "sizes. Bold: no worse than NoPS."
    )
    printed = series_table()
    repeated = repeated_rows(printed)
    rates = ("0.1", "0.2", "0.5")
    reps = AT_PRINTED_RATE.format("REPS")
    header = ["data set", "SLR", "NoPS", "printed", "difference", "REPS", "printed", "difference"]
    header += [f"{name} {float(rate):.0%}" for rate in rates for name in ("REPS", "refined")]
    labels = [f"{name} at {rate}" for rate in rates for name in ("REPS", REFINED_REPS)]
    rows, csv_rows = [], []
    for row, data in enumerate(measured.data):
        rate, error = float(measured.rates(reps)[row]), float(measured.errors(reps)[row])
        one_nn = float(measured.errors("NoPS")[row])
        printed_one_nn, printed_error = printed.value(data, "NoPS_error"), printed.value(data, "REPS_error")
        smaller = [float(measured.errors(label)[row]) for label in labels]
        cells = [rate, one_nn, f"{printed_one_nn:.2g}", signed(one_nn - printed_one_nn)]
        cells += [_bold(error, one_nn), f"{printed_error:.2g}", signed(error - printed_error)]
        rows.append([data + (" †" if data in repeated else ""), *cells, *(_bold(value, one_nn) for value in smaller)])
        numbers = [rate, one_nn, printed_one_nn, one_nn - printed_one_nn]
        csv_rows.append([data, *numbers, error, printed_error, error - printed_error, *smaller])
    means: list[str | float] = [mean_of(measured.rates(reps))]
    for label, column in (("NoPS", "NoPS_error"), (reps, "REPS_error")):
        errors = measured.errors(label)
        printed_errors = np.where(np.isfinite(errors), printed.column(column)[row_numbers(measured, printed)], np.nan)
        means += [mean_of(errors), mean_of(printed_errors), signed(mean_of(errors - printed_errors))]
    means += [mean_of(measured.errors(label)) for label in labels]
    page.table(header, [*rows, ["mean", *means]])
    titles = ["dataset", "rate", "NoPS_error", "NoPS_error_printed", "NoPS_difference"]
    titles += ["REPS_error", "REPS_error_printed", "REPS_difference"]
    page.csv("series", [*titles, *(label.replace(" ", "_") for label in labels)], csv_rows)


def _bold(error: float, one_nn: float) -> str:
    text = shown(error)
    return f"**{text}**" if error <= one_nn + 1e-12 else text


def series_findings(measured: Measured | None) -> list[Finding]:
    """Compare 1-NN and REPS on the time series with the paper."""
    if measured is None:
        return []
    printed = series_table()
    rows = row_numbers(measured, printed)
    printed_one_nn, printed_error = (printed.column(name)[rows] for name in ("NoPS_error", "REPS_error"))
    one_nn, error = measured.errors("NoPS"), measured.errors(AT_PRINTED_RATE.format("REPS"))
    findings = compare_errors("1-NN on the whole training set, time series", one_nn, printed_one_nn)
    findings += compare_errors("REPS at the selection rates printed for the time series", error, printed_error)
    repeated = repeated_rows(printed)
    far = [
        f"{data} {here:.3f} ({there:.2g})"
        for data, here, there in zip(measured.data, one_nn, printed_one_nn, strict=True)
        if data not in repeated and abs(here - there) > FAR_ERROR
    ]
    if far:
        statement = (
            f"The error of 1-NN with DTW differs by more than {FAR_ERROR} from the printed one (in brackets) on "
            f"{', '.join(far)}; rows that are printed twice are left out"
        )
        findings.append(Finding(False, statement))
    known = np.isfinite(error) & np.isfinite(one_nn)
    if known.any():
        increases = error[known] - one_nn[known]
        lower, higher = int((increases < -1e-12).sum()), int((increases > 1e-12).sum())
        statement = (
            "The paper says that REPS maintains or improves the error of 1-NN with DTW on all data sets. At the "
            f"printed rates: {'no' if higher else 'yes'}, it is lower on {lower}, equal on "
            f"{len(increases) - lower - higher}, higher on {higher} of {len(increases)} data sets; the mean "
            f"difference is {increases.mean():+.3f}"
        )
        findings.append(Finding(higher == 0, statement))
    labels = [f"{name} at 0.2" for name in ("REPS", REFINED_REPS)]
    means = [mean_of(measured.errors(label)) for label in labels]
    if np.isfinite(means).all():
        words = ", ".join(f"{label}: {mean:.3f}" for label, mean in zip(labels, means, strict=True))
        statement = f"Mean errors on time series, {words}, 1-NN on the whole training set: {mean_of(one_nn):.3f}"
        findings.append(Finding(None, statement))
    return findings


def add_windows(page: Page, evidence: Evidence) -> None:
    """Add the study of the windows of DTW."""
    page.heading("Windows of DTW")
    if not evidence.windows:
        page.paragraph("Not run.")
        return
    page.paragraph("Mean errors at several radii of the band, over the data sets that have results at all radii.")
    labels = ["NoPS", "REPS at 0.2", f"{REFINED_REPS} at 0.2", "REPS at 0.5", f"{REFINED_REPS} at 0.5"]
    rows = [[str(radius), *means] for radius, means in window_means(evidence, labels).items()]
    page.table(["radius", *labels], rows)
    page.csv("windows", ["radius", *labels], rows)


def window_means(evidence: Evidence, labels: Sequence[str]) -> dict[int, list[float]]:
    """Mean errors by radius, over the data sets that have results of all labels at all radii."""
    by_radius = ({} if evidence.series is None else {SERIES_WINDOW: evidence.series}) | evidence.windows
    first = next(iter(by_radius.values())).data
    errors = np.array(
        [[[_error(measured, label, data) for label in labels] for data in first] for measured in by_radius.values()]
    )
    complete = np.isfinite(errors).all(axis=(0, 2))
    if not complete.any():
        return {radius: [float("nan")] * len(labels) for radius in by_radius}
    return dict(zip(by_radius, errors[:, complete].mean(axis=1).tolist(), strict=True))


def _error(measured: Measured, label: str, data: str) -> float:
    return float(measured.errors(label)[measured.data.index(data)]) if data in measured.data else float("nan")


def window_findings(evidence: Evidence) -> list[Finding]:
    """Compare the dependence on the window of DTW with the paper."""
    if not evidence.windows:
        return []
    means = window_means(evidence, ["NoPS", "REPS at 0.5"])
    radii = list(means)
    if len(radii) < 2 or not np.isfinite(list(means.values())).all():
        return []
    increases = [error - one_nn for one_nn, error in means.values()]
    statement = (
        f"Dependence on the window of DTW: at radii from {radii[0]} to {radii[-1]} the mean error of REPS at a rate of "
        f"50% differs from that of 1-NN by {min(increases):+.3f} to {max(increases):+.3f}"
    )
    return [Finding(max(increases) - min(increases) <= CLOSE_ERRORS, statement)]


def add_cases(page: Page, cases: Sequence[Case]) -> None:
    """Add the case studies."""
    page.heading("Case studies")
    if not cases:
        page.paragraph("Not available: the study of the time series has no results of Plane and ECG200.")
        return
    page.paragraph(
        "The training series of Plane (classes 1 and 2, as in the paper) and of ECG200, with the prototypes of REPS at "
        "the printed selection rates. Kept series have plain frames, dropped series dotted ones. In the graphs an edge "
        "leads to the nearest neighbour; edges between classes are dark. A cross marks a series that the prototypes "
        "misclassify; a prototype is not its own neighbour."
    )
    for case in cases:
        classes = CASE_CLASSES.get(case.name, tuple(np.unique(case.labels).tolist()))
        is_kept = case.is_kept()
        words = []
        for label in classes:
            members = case.labels == label
            words.append(f"{int(is_kept[members].sum())} of {int(members.sum())} of class {label}")
        page.heading(case.name, 3)
        page.paragraph(f"REPS keeps {len(case.kept)} of {len(case.labels)} series: {', '.join(words)}.")
        name = case.name.lower()
        page.figure(f"{name}-series", case_series(case), f"{case.name}: kept and dropped series")
        page.figure(f"{name}-graph", case_graph(case), f"{case.name}: graph of nearest neighbours")


def case_findings(cases: Sequence[Case]) -> list[Finding]:
    """Compare the case study of Plane with the paper."""
    findings = []
    for case in cases:
        if case.name == "Plane":
            shown_series = np.isin(case.labels, CASE_CLASSES["Plane"])
            n_dropped, n_shown = int((shown_series & ~case.is_kept()).sum()), int(shown_series.sum())
            statement = (
                "Case study of Plane: the paper says that more than half of classes 1 and 2 are dropped; at its "
                f"printed selection rate {n_dropped} of {n_shown} are dropped"
            )
            findings.append(Finding(n_dropped > n_shown / 2, statement))
    return findings
