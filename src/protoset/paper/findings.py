"""Findings: sentences, made from the numbers, about agreement and disagreement with the paper."""

from __future__ import annotations

from protoset.paper.agreement import CLOSE_ERRORS, SIGNIFICANCE_LEVEL, Finding
from protoset.paper.evidence import Evidence
from protoset.paper.mixture import mixture_findings
from protoset.paper.pages import Page
from protoset.paper.sensitivity import sensitivity_findings
from protoset.paper.series import case_findings, series_findings, window_findings
from protoset.paper.vector_findings import vector_findings


def add_findings(page: Page, evidence: Evidence) -> None:
    """Add the findings: agreements, disagreements, and results that the paper does not have."""
    comparisons = findings(evidence)
    page.heading("What agrees and what does not")
    page.paragraph(
        f"Mean errors agree if they differ by at most {CLOSE_ERRORS}. One-sided tests agree if both find REPS ahead "
        f"(p < {SIGNIFICANCE_LEVEL:g}), both find it behind (p > {1 - SIGNIFICANCE_LEVEL:g}), or both find no "
        "significant difference. All sentences are generated from the numbers below. Tests are compared only where all "
        "data sets have results."
    )
    for title, verdict in (("Agrees", True), ("Does not agree", False), ("Beyond the paper", None)):
        statements = [finding.statement for finding in comparisons if finding.agrees is verdict]
        page.heading(title, 3)
        if statements:
            page.bullets(statements)
        else:
            page.paragraph("Nothing.")


def findings(evidence: Evidence) -> list[Finding]:
    """Compare all measured results with the paper."""
    return [
        *vector_findings(evidence),
        *mixture_findings(evidence),
        *series_findings(evidence.series),
        *window_findings(evidence),
        *case_findings(evidence.cases),
        *sensitivity_findings(evidence.sensitivity),
    ]
