"""The report: one HTML file about a set of prototypes, its errors, and the predictions for test objects.

The file needs no network and no other files. ``protoset.report(...)`` computes all values that the page shows; the
scripts of ``page/``, which are copied into the file, draw them.
"""

from protoset._report.building import Report, report

__all__ = ["Report", "report"]
