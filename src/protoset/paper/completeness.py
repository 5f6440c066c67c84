"""Section of the report: how many cells have results, and why the others have none."""

from __future__ import annotations

from collections import Counter

from protoset.paper.analysis import NOT_COMPUTED
from protoset.paper.evidence import Evidence
from protoset.paper.pages import MISSING_TEXT, Page

MAX_FAILURES_LISTED = 20
"""Different failure messages that the page lists at most."""


def add_completeness(page: Page, evidence: Evidence) -> None:
    """Add the number of cells per plan, and the reasons of missing results."""
    page.heading("Completeness")
    counts = [[plan, state.total, state.done, state.failed, state.missing] for plan, state in evidence.states.items()]
    page.table(["plan", "cells", "done", "failed", "not computed"], counts)
    page.csv("cells", ["plan", "cells", "done", "failed", "not_computed"], counts)
    studies = (evidence.vectors, evidence.series, evidence.sensitivity, evidence.mixture, evidence.mixture_reps)
    missing = [
        entry for study in (*studies, *evidence.windows.values()) if study is not None for entry in study.missing
    ]
    rows = [
        [cell.data, cell.distance, cell.fold, cell.seed, cell.method, reason]
        for cell, reason in ((entry.cell, entry.reason) for entry in missing)
    ]
    page.csv("missing", ["dataset", "distance", "fold", "seed", "method", "reason"], rows)
    if not missing:
        page.paragraph("Every cell has a result.")
        return
    page.paragraph(
        f"{len(missing)} cells have no result. They are shown as *{MISSING_TEXT}*, and so is every mean or test of a "
        "data set that needs them. No value is filled in."
    )
    failures = Counter(entry.reason for entry in missing if entry.reason != NOT_COMPUTED)
    lines = [f"{count} failed with: {reason}" for reason, count in failures.most_common(MAX_FAILURES_LISTED)]
    if len(failures) > MAX_FAILURES_LISTED:
        lines.append(f"and {len(failures) - MAX_FAILURES_LISTED} more messages, in missing.csv")
    n_not_computed = len(missing) - failures.total()
    if n_not_computed:
        lines.append(f"{n_not_computed} are not computed yet")
    page.bullets(lines)
