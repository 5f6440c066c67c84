"""The report: one HTML file with the prototypes, what they cost, and why a query is answered as it is.

The file needs no network and nothing beside it. ``build_report`` gathers what the page shows by the library alone;
the page is drawn by the scripts in ``page/``, which are written into it.
"""

from protoset.report.report import Report, build_report, write_report

__all__ = ["Report", "build_report", "write_report"]
