"""The rest of the report: mixture, series, windows, sensitivity, case studies, what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from protoset.experiments.plan import Cell
from protoset.paper.analysis import (
    NOT_YET,
    REFINED,
    Chosen,
    Measured,
    at_size_of,
    best_of,
    log_odds,
    mean_of,
    rank_methods,
    variants,
)
from protoset.paper.comparison_sections import keep_tests, rank_tests, size_tests
from protoset.paper.evidence import AT_PRINTED, Evidence, best_choices
from protoset.paper.figures import CASE_CLASSES, case_graph, case_series, sensitivity
from protoset.paper.inconsistencies import repeated_rows
from protoset.paper.pages import MISSING, Page, shown, signed
from protoset.paper.printed import BASELINES, series_table

PARAMETERS = {"beta": "β", "C": "C"}
MOST_FAILURES = 20


def add_mixture(page: Page, evidence: Evidence) -> None:
    """Write the paper's mixture of distances."""
    page.heading("The paper's mixture of distances")
    if evidence.mixture is None:
        page.text("Not run.")
        return
    page.text(
        "**A variant, not a fair comparison.** As in the paper, the baselines are on unscaled Euclidean distances and "
        "REPS on z-scored ones; a baseline on data with attributes of many sizes then loses to the scaling, not to the "
        "method. REPS at the size of a baseline has that baseline's mean selection rate on the data set."
    )
    chosen = mixture_choices(evidence)
    rows, kept = [], []
    for method in BASELINES:
        one = chosen[method]
        fair = best_choices(evidence.vectors)[method] if evidence.vectors is not None else None
        plain = refined = None
        if evidence.mixture_reps is not None:
            plain, refined = (mean_of(at_size_of(evidence.mixture_reps, name, one)) for name in ("REPS", REFINED))
        row = [
            method,
            mean_of(one.error),
            mean_of(one.rate),
            None if fair is None else mean_of(fair.error),
            plain,
            refined,
        ]
        rows.append(row)
        kept.append(row)
    header = ["baseline", "ERR, unscaled", "SLR, unscaled", f"ERR, {evidence.scaling}"]
    header += ["REPS at its size, z", f"{REFINED} at its size, z"]
    page.table(header, rows)
    page.keep("mixture", header, kept)
    tests = rank_tests(chosen, "best parameter") if np.isfinite(chosen["REPS"].error).any() else []
    if evidence.mixture_reps is not None:
        tests += size_tests(chosen, evidence.mixture_reps, "best parameter")
    page.table(["one-sided p", *BASELINES], [[line.title, *line.cells()] for line in tests])
    keep_tests(page, "mixture-tests", tests)


def mixture_choices(evidence: Evidence) -> dict[str, Chosen]:
    """Take baselines on unscaled distances with their best parameter, and REPS on z-scored ones."""
    assert evidence.mixture is not None
    raw = evidence.mixture
    found = {method: best_of(raw, variants(raw, method)) for method in BASELINES}
    scaled = evidence.vectors if evidence.scaling == "z" and evidence.vectors is not None else None
    nothing = Measured(
        raw.data, (), np.empty((len(raw.data), 0)), np.empty((len(raw.data), 0)), raw.n_train, raw.n_test
    )
    source = scaled if scaled is not None and scaled.data == raw.data else nothing
    return found | {method: best_of(source, variants(source, method)) for method in ("REPS", REFINED)}


def add_series(page: Page, measured: Measured | None) -> None:
    """Write the study of the time series."""
    page.heading("Time series")
    if measured is None:
        page.text("Not run.")
        return
    page.text(
        f"{len(measured.data)} data sets with their default split, DTW with a radius of 5 points. The first columns "
        "are REPS at the selection rate that the paper prints, beside its printed errors; rows with a dagger are "
        "printed alike for several data sets. Then both methods at smaller sizes. Bold: no worse than NoPS."
    )
    printed = series_table()
    alike = repeated_rows(printed)
    rates = ("0.1", "0.2", "0.5")
    own = AT_PRINTED.format("REPS")
    header = ["data set", "SLR", "NoPS", "printed", "difference", "REPS", "printed", "difference"]
    header += [f"{name} {float(rate):.0%}" for rate in rates for name in ("REPS", "refined")]
    labels = [f"{name} at {rate}" for rate in rates for name in ("REPS", REFINED)]
    rows, kept = [], []
    for row, data in enumerate(measured.data):
        everything, error = float(measured.errors("NoPS")[row]), float(measured.errors(own)[row])
        there, there_reps = printed.value(data, "NoPS_error"), printed.value(data, "REPS_error")
        smaller = [float(measured.errors(label)[row]) for label in labels]
        cells = [float(measured.rates(own)[row]), everything, f"{there:.2g}", signed(everything - there)]
        cells += [_bold(error, everything), f"{there_reps:.2g}", signed(error - there_reps)]
        rows.append([data + (" †" if data in alike else ""), *cells, *(_bold(one, everything) for one in smaller)])
        numbers = [float(measured.rates(own)[row]), everything, there, everything - there]
        kept.append([data, *numbers, error, there_reps, error - there_reps, *smaller])
    places = [printed.rows.index(data) for data in measured.data]
    printed_errors = [printed.column(name)[places] for name in ("NoPS_error", "REPS_error")]
    means: list[str | float] = [mean_of(measured.rates(own))]
    for label, others in zip(("NoPS", own), printed_errors, strict=True):
        values = measured.errors(label)
        others = np.where(np.isfinite(values), others, np.nan)
        means += [mean_of(values), mean_of(others), signed(mean_of(values - others))]
    means += [mean_of(measured.errors(label)) for label in labels]
    page.table(header, [*rows, ["mean", *means]])
    titles = ["dataset", "rate", "NoPS_error", "NoPS_error_printed", "NoPS_difference"]
    titles += ["REPS_error", "REPS_error_printed", "REPS_difference"]
    page.keep("series", [*titles, *(label.replace(" ", "_") for label in labels)], kept)


def _bold(error: float, everything: float) -> str:
    text = shown(error)
    return f"**{text}**" if error <= everything + 1e-12 else text


def add_windows(page: Page, evidence: Evidence) -> None:
    """Write the study of the windows of DTW."""
    page.heading("Windows of DTW")
    if not evidence.windows:
        page.text("Not run.")
        return
    page.text("Mean errors over the data sets that have all radii, at several radii of the band.")
    by_radius = windows_by_radius(evidence)
    labels = ["NoPS", "REPS at 0.2", f"{REFINED} at 0.2", "REPS at 0.5", f"{REFINED} at 0.5"]
    rows = [[str(radius), *means] for radius, means in window_means(by_radius, labels).items()]
    page.table(["radius", *labels], rows)
    page.keep("windows", ["radius", *labels], rows)


def windows_by_radius(evidence: Evidence) -> dict[int, Measured]:
    """Return all radii, that of the study of the series among them."""
    return ({5: evidence.series} if evidence.series is not None else {}) | evidence.windows


def window_means(by_radius: Mapping[int, Measured], labels: list[str]) -> dict[int, list[float]]:
    """Mean errors by radius over the data sets on which everything is known."""
    first = next(iter(by_radius.values())).data
    stacked = np.array(
        [[[_value(measured, label, data) for label in labels] for data in first] for measured in by_radius.values()]
    )
    complete = np.isfinite(stacked).all(axis=(0, 2))
    if not complete.any():
        return {radius: [float("nan")] * len(labels) for radius in by_radius}
    means = stacked[:, complete].mean(axis=1)
    return {radius: row.tolist() for radius, row in zip(by_radius, means, strict=True)}


def _value(measured: Measured, label: str, data: str) -> float:
    return float(measured.errors(label)[measured.data.index(data)]) if data in measured.data else float("nan")


def sensitivities(measured: Measured, parameter: str) -> dict[float, dict[float, str]]:
    """Return the variants of a parameter, by rate and value."""
    found: dict[float, dict[float, str]] = {}
    for label in measured.methods:
        start, _, rest = label.partition(f"({parameter}=")
        if start == "REPS" and rest:
            value, _, rate = rest.partition(") at ")
            found.setdefault(float(rate), {})[float(value)] = label
    return found


def add_sensitivity(page: Page, measured: Measured | None, *, brief: bool = False) -> None:
    """Write the sensitivity to beta and C; ``brief`` leaves out the figure of C."""
    page.heading("Sensitivity to β and C")
    if measured is None:
        page.text("Not run.")
        return
    page.text(
        "The paper's log odds ratio of REPS against 1-NN on everything, at fixed selection rates; larger is better. "
        "Boxes are quartiles over the data sets."
    )
    for parameter, symbol in PARAMETERS.items():
        by_rate = sensitivities(measured, parameter)
        if not by_rate:
            continue
        values = {
            rate: {value: log_odds(measured, label) for value, label in labels.items()}
            for rate, labels in by_rate.items()
        }
        if parameter == "beta" or not brief:
            name, caption = f"sensitivity-{parameter.lower()}", f"Log odds ratio of REPS by {symbol}"
            page.figure(name, sensitivity(values, symbol), caption)
        rows = []
        for value in next(iter(by_rate.values())):
            cells: list[str | float] = [f"{value:g}"]
            for rate, labels in by_rate.items():
                ratios = values[rate][value]
                known = ratios[np.isfinite(ratios)]
                cells += [mean_of(measured.errors(labels[value])), float(np.median(known)) if len(known) else np.nan]
            rows.append(cells)
        titles = [f"{title}, {rate:.0%}" for rate in by_rate for title in ("mean ERR", "median LOR")]
        page.table([symbol, *titles], rows)
        page.keep(f"sensitivity-{parameter.lower()}", [parameter, *titles], rows)


def add_cases(page: Page, evidence: Evidence) -> None:
    """Write the case studies."""
    page.heading("Case studies")
    if not evidence.cases:
        page.text("Not there: the study of the time series has not been run on Plane and ECG200.")
        return
    page.text(
        "The training series of Plane (classes 1 and 2, as in the paper) and of ECG200, with the prototypes of REPS at "
        "the printed selection rates. Kept series are drawn plain, dropped ones in dotted frames. In the graphs an "
        "edge leads to the nearest neighbour, and is dark between classes; a cross marks series that the prototypes "
        "misclassify, themselves left out."
    )
    for case in evidence.cases:
        classes = CASE_CLASSES.get(case.name, tuple(np.unique(case.labels).tolist()))
        kept = np.isin(np.arange(len(case.labels)), case.kept)
        words = [
            f"{int(kept[case.labels == one].sum())} of {int((case.labels == one).sum())} of class {one}"
            for one in classes
        ]
        page.heading(case.name, 3)
        page.text(f"Kept are {len(case.kept)} of {len(case.labels)} series: {', '.join(words)}.")
        name = case.name.lower()
        page.figure(f"{name}-series", case_series(case), f"{case.name}: kept and dropped series")
        page.figure(f"{name}-graph", case_graph(case), f"{case.name}: graph of nearest neighbours")


def add_state(page: Page, evidence: Evidence) -> None:
    """Write how complete the results are, and which cells failed."""
    page.heading("How complete this is")
    rows = [[plan, state.total, state.done, state.failed, state.missing] for plan, state in evidence.states.items()]
    page.table(["plan", "cells", "done", "failed", "not computed"], rows)
    page.keep("cells", ["plan", "cells", "done", "failed", "not_computed"], rows)
    found: list[tuple[Cell, str]] = []
    parts = (evidence.vectors, evidence.series, evidence.sensitivity, evidence.mixture, evidence.mixture_reps)
    for measured in (*parts, *evidence.windows.values()):
        found += [(one.cell, one.reason) for one in (measured.missing if measured is not None else ())]
    kept = [[cell.data, cell.distance, cell.fold, cell.seed, cell.method, reason] for cell, reason in found]
    page.keep("missing", ["dataset", "distance", "fold", "seed", "method", "reason"], kept)
    if not found:
        page.text("Every cell has a result.")
        return
    page.text(
        f"{len(found)} cells have no result. They are shown as *{MISSING}*, and so is every mean or test of a data set "
        "that needs them; nothing stands in for them."
    )
    failed = Counter(reason for _, reason in found if reason != NOT_YET)
    lines = [f"{count} failed with: {reason}" for reason, count in failed.most_common(MOST_FAILURES)]
    if len(failed) > MOST_FAILURES:
        lines.append(f"and {len(failed) - MOST_FAILURES} more messages, in missing.csv")
    waiting = sum(reason == NOT_YET for _, reason in found)
    if waiting:
        lines.append(f"{waiting} are not computed yet")
    page.points(lines)


def rank_one_counts(chosen: Mapping[str, Chosen]) -> dict[str, int]:
    """Count the data sets on which each method has Pareto rank 1."""
    ranks = rank_methods(chosen)
    return {method: int((ranks[:, place] == 1).sum()) for place, method in enumerate(chosen)}
