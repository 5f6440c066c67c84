"""``write_paper_report``: measured values, printed values and their difference, section by section."""

from __future__ import annotations

import os
from pathlib import Path

from protoset._validation import check_choice, check_flag
from protoset._version import __version__
from protoset.models.preparation import SCALINGS, Scaling
from protoset.paper.completeness import add_completeness
from protoset.paper.evidence import Evidence, read_evidence
from protoset.paper.findings import add_findings
from protoset.paper.inconsistencies import inconsistencies
from protoset.paper.mixture import add_mixture
from protoset.paper.pages import Page
from protoset.paper.printed import CITATION
from protoset.paper.sensitivity import add_sensitivity
from protoset.paper.series import add_cases, add_series, add_windows
from protoset.paper.summary import add_summary
from protoset.paper.vector_sections import add_vector_study


def write_paper_report(
    output: str | os.PathLike[str],
    *,
    scaling: Scaling | None = None,
    summary: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> Path:
    """Write a report of all results so far.

    Parameters
    ----------
    output : path-like
        Folder of :func:`run_paper`. Its subfolder ``report`` gets ``report.md``, every table as CSV, and every figure
        as SVG and PNG.
    scaling : {"z", "minmax", "raw"}, optional
        The vector study to report, if the folder has several.
    summary : path-like, optional
        Also write a shorter page to this file; its figures go to ``images/paper`` beside it.
    overwrite : bool, default=False
        Whether the summary may replace an existing file. ``report`` is always replaced.

    Returns
    -------
    Path
        Path of ``report.md``.
    """
    if scaling is not None:
        check_choice("scaling", scaling, SCALINGS)
    check_flag("overwrite", overwrite)
    if summary is not None and os.path.lexists(summary) and not overwrite:
        raise FileExistsError(f"summary={os.fspath(summary)!r} exists; choose another name, or pass overwrite=True")
    evidence = read_evidence(output, scaling)
    folder = Path(output) / "report"
    folder.mkdir(exist_ok=True)
    full = Page()
    _fill(full, evidence, brief=False)
    full.write(folder / "report.md", folder)
    if summary is not None:
        summary_path = Path(summary)
        short = Page(images="images/paper")
        _fill(short, evidence, brief=True)
        short.write(summary_path, summary_path.parent / "images" / "paper", csv_files=False, png=False)
    return folder / "report.md"


def _fill(page: Page, evidence: Evidence, *, brief: bool) -> None:
    """Add all sections; the brief page leaves out details."""
    page.heading("The paper, measured again", 1)
    page.paragraph(
        f"{CITATION}. The studies of the paper were repeated with protoset {__version__}. This page compares the "
        "results with the printed tables. ERR is the error rate of the nearest prototype's class, SLR (the selection "
        "rate) the share of the training set that is kept, and NoPS (no prototype selection) 1-NN on the whole "
        "training set."
    )
    add_summary(page, evidence)
    add_findings(page, evidence)
    add_vector_study(page, evidence, brief=brief)
    add_mixture(page, evidence)
    add_series(page, evidence.series)
    add_windows(page, evidence)
    add_sensitivity(page, evidence.sensitivity, brief=brief)
    if not brief:
        add_cases(page, evidence.cases)
    page.heading("Where the paper's figures are inconsistent")
    page.bullets(inconsistencies())
    add_completeness(page, evidence)
    if brief:
        page.heading("Run the studies again")
        page.paragraph(
            "These commands repeat the studies and write this page. They also write the full report, with every table "
            "as CSV and every figure, to `paper-output/report`.\n\n"
            "```\n"
            "protoset paper run --data FOLDER --n-jobs 2\n"
            "protoset paper report --summary docs/paper.md --force\n"
            "```\n\n"
            "The plans are TOML files in `src/protoset/paper/plans`; copy and change them for runs of your own."
        )
