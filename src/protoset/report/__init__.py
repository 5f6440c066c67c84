"""The report: one HTML file about a set of prototypes, its errors, and the predictions for test objects.

The file needs no network and no other files. ``protoset.report(...)`` computes all values that the page shows; the
scripts of ``page/``, which are copied into the file, draw them.
"""

import inspect
import sys
from types import ModuleType
from typing import Any

from protoset.report.report import Report
from protoset.report.report import report as _report

__all__ = ["Report"]


class _CallableModule(ModuleType):
    """A module that can be called, so that ``protoset.report(...)`` works after ``import protoset.report`` too."""

    def __call__(self, *arguments: Any, **named: Any) -> Report:
        return _report(*arguments, **named)


sys.modules[__name__].__class__ = _CallableModule
# For inspect.signature, help and the completion of editors.
__signature__ = inspect.signature(_report)
__doc__ = f"{__doc__}\n{inspect.getdoc(_report)}\n"
