"""The paper's mixture of distances: its section of the report, and its findings.

The paper compares baselines on unscaled distances with REPS on z-scored ones.
"""

from __future__ import annotations

import numpy as np

from protoset.paper.agreement import Finding
from protoset.paper.analysis import REFINED_REPS, Choice, Measured, at_size_of, best_of, mean_of, variants
from protoset.paper.comparison_sections import add_test_csv, rank_tests, size_tests
from protoset.paper.evidence import Evidence, best_choices
from protoset.paper.pages import Page
from protoset.paper.printed import BASELINES
from protoset.paper.vector_findings import baseline_findings, size_findings


def add_mixture(page: Page, evidence: Evidence) -> None:
    """Add the errors of the mixture, and its tests."""
    page.heading("The paper's mixture of distances")
    if evidence.mixture is None:
        page.paragraph("Not run.")
        return
    page.paragraph(
        "**A variant, not a fair comparison.** As in the paper, the baselines use unscaled Euclidean distances and "
        "REPS z-scored ones. On attributes of very different ranges a baseline then loses to the scaling, not to the "
        "method. REPS at the size of a baseline has that baseline's mean selection rate on the data set."
    )
    choices = mixture_choices(evidence)
    scaled = None if evidence.vectors is None else best_choices(evidence.vectors)
    rows = []
    for method in BASELINES:
        choice = choices[method]
        row: list[str | float | None] = [method, mean_of(choice.error), mean_of(choice.rate)]
        row.append(None if scaled is None else mean_of(scaled[method].error))
        for name in ("REPS", REFINED_REPS):
            reps = evidence.mixture_reps
            row.append(None if reps is None else mean_of(at_size_of(reps, name, choice)))
        rows.append(row)
    header = ["baseline", "ERR, unscaled", "SLR, unscaled", f"ERR, {evidence.scaling}"]
    header += ["REPS at its size, z", f"{REFINED_REPS} at its size, z"]
    page.table(header, rows)
    page.csv("mixture", header, rows)
    tests = rank_tests(choices, "best parameter") if np.isfinite(choices["REPS"].error).any() else []
    if evidence.mixture_reps is not None:
        tests += size_tests(choices, evidence.mixture_reps, "best parameter")
    page.table(["one-sided p", *BASELINES], [[line.title, *line.cells()] for line in tests])
    add_test_csv(page, "mixture-tests", tests)


def mixture_choices(evidence: Evidence) -> dict[str, Choice]:
    """Take the baselines on unscaled distances with their best parameter, and REPS on z-scored ones."""
    assert evidence.mixture is not None
    unscaled = evidence.mixture
    choices = {method: best_of(unscaled, variants(unscaled, method)) for method in BASELINES}
    scaled = evidence.vectors
    if scaled is None or evidence.scaling != "z" or scaled.data != unscaled.data:
        empty = np.empty((len(unscaled.data), 0))
        scaled = Measured(unscaled.data, (), empty, empty, unscaled.n_train, unscaled.n_test)
    return choices | {method: best_of(scaled, variants(scaled, method)) for method in ("REPS", REFINED_REPS)}


def mixture_findings(evidence: Evidence) -> list[Finding]:
    """Compare the errors and tests of the mixture with the paper."""
    if evidence.mixture is None:
        return []
    choices = mixture_choices(evidence)
    findings = baseline_findings(evidence.mixture, choices, "on unscaled distances (the paper's mixture)")
    if evidence.mixture_reps is not None:
        title = "Errors of REPS at the baselines' sizes, in the paper's mixture of distances"
        findings += size_findings(title, choices, evidence.mixture_reps)
    return findings
