"""What agrees with the paper and what does not, in words made from the numbers."""

from __future__ import annotations

from protoset.paper.agreement import CLOSE, LEVEL, Finding
from protoset.paper.evidence import Evidence
from protoset.paper.other_findings import other_findings
from protoset.paper.pages import Page
from protoset.paper.vector_findings import vector_findings


def add_findings(page: Page, evidence: Evidence) -> None:
    """Write what agrees, what does not, and what is beyond the paper."""
    found = findings(evidence)
    page.heading("What agrees and what does not")
    page.text(
        f"Mean errors agree where they differ by at most {CLOSE}. One-sided tests agree where both say that REPS is "
        f"ahead (p < {LEVEL:g}), both that it is behind (p > {1 - LEVEL:g}), or both neither. All sentences are made "
        "from the numbers below; tests are compared where all data sets are there."
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
    return vector_findings(evidence) + other_findings(evidence)
