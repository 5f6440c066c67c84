"""Experiments: a plan in one file, a runner that survives interruption, a journal, tables."""

from protoset.experiments.cells import CellResult
from protoset.experiments.comparison import Comparison, compare
from protoset.experiments.engine import RunProgress
from protoset.experiments.exchange import export_results, merge
from protoset.experiments.parsing import read_plan
from protoset.experiments.plan import Cell, Plan
from protoset.experiments.results import Missing, Status, Table, results, status, table
from protoset.experiments.runner import resume, run
from protoset.experiments.validation import ReferenceEstimates, Validation, validate, validate_model

__all__ = [
    "Cell",
    "CellResult",
    "Comparison",
    "Missing",
    "Plan",
    "ReferenceEstimates",
    "RunProgress",
    "Status",
    "Table",
    "Validation",
    "compare",
    "export_results",
    "merge",
    "read_plan",
    "results",
    "resume",
    "run",
    "status",
    "table",
    "validate",
    "validate_model",
]
