"""The report: measured, printed and difference side by side."""

from __future__ import annotations

import os
from pathlib import Path

from protoset._validation import check_choice, check_flag
from protoset._version import __version__
from protoset.experiments.plan import SCALINGS, Scaling
from protoset.paper.evidence import Evidence, read_evidence
from protoset.paper.findings import add_findings
from protoset.paper.inconsistencies import inconsistencies
from protoset.paper.other_sections import (
    add_cases,
    add_mixture,
    add_sensitivity,
    add_series,
    add_state,
    add_windows,
)
from protoset.paper.pages import Page
from protoset.paper.printed import CITATION
from protoset.paper.vector_sections import add_vector_study


def write_report(
    output: str | os.PathLike[str],
    *,
    scaling: Scaling | None = None,
    summary: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> Path:
    """Write the report of what a run has computed so far.

    Parameters
    ----------
    output : path-like
        Folder of :func:`run_paper`; the report is in its folder ``report``: ``report.md``, every table as CSV, every
        figure as SVG and PNG.
    scaling : {"z", "minmax", "raw"}, optional
        Which of the vector studies, where there are several.
    summary : path-like, optional
        Also write a shorter page to this file, with its figures in ``images/paper`` beside it.
    overwrite : bool, default=False
        Whether the summary may replace a file that is there. The report itself is always written anew.

    Returns
    -------
    Path
        Of ``report.md``.
    """
    if scaling is not None:
        check_choice("scaling", scaling, SCALINGS)
    check_flag("overwrite", overwrite)
    if summary is not None and os.path.lexists(summary) and not overwrite:
        raise FileExistsError(
            f"summary={os.fspath(summary)!r} is there already; choose another name, or pass overwrite=True"
        )
    evidence = read_evidence(output, scaling)
    folder = Path(output) / "report"
    folder.mkdir(exist_ok=True)
    page = Page()
    _fill(page, evidence, brief=False)
    page.write(folder / "report.md", folder)
    if summary is not None:
        place = Path(summary)
        short = Page(images="images/paper")
        _fill(short, evidence, brief=True)
        short.write(place, place.parent / "images" / "paper", tables=False, png=False)
    return folder / "report.md"


def _fill(page: Page, evidence: Evidence, *, brief: bool) -> None:
    """Write all sections; a brief page leaves out what only the full report needs."""
    page.heading("The paper, measured again", 1)
    page.text(
        f"{CITATION}. Measured with protoset {__version__}, beside the paper's printed tables: measured, printed and "
        "the difference. ERR is the error rate of the nearest prototype's class, SLR the share of the training set "
        "that is kept."
    )
    if brief:
        page.text(
            "This page is written by the commands below; the full report, with every table as CSV and every figure, is "
            "then in `paper-output/report`.\n\n"
            "```\n"
            "protoset paper run --data FOLDER --n-jobs 2\n"
            "protoset paper report --summary docs/paper.md --force\n"
            "```\n\n"
            "What is run is in the plans of `src/protoset/paper/plans`, one TOML file each, to be copied and changed."
        )
    add_findings(page, evidence)
    add_vector_study(page, evidence, brief=brief)
    add_mixture(page, evidence)
    add_series(page, evidence.series)
    add_windows(page, evidence)
    add_sensitivity(page, evidence.sensitivity, brief=brief)
    if not brief:
        add_cases(page, evidence)
    page.heading("Where the paper's figures are inconsistent")
    page.points(inconsistencies())
    add_state(page, evidence)
