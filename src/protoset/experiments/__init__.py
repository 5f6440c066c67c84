"""Experiments: a plan in one file, a runner that survives interruption, a journal, tables."""

from protoset.experiments.cells import CellResult
from protoset.experiments.comparison import USUAL, Comparison, compare
from protoset.experiments.exchange import export, merge
from protoset.experiments.parsing import read_plan
from protoset.experiments.plan import Cell, Plan
from protoset.experiments.results import Missing, Status, Table, results, resume, status, table
from protoset.experiments.runner import Progress, run
from protoset.experiments.validation import Validation, validate, validate_model

__all__ = [
    "USUAL",
    "Cell",
    "CellResult",
    "Comparison",
    "Missing",
    "Plan",
    "Progress",
    "Status",
    "Table",
    "Validation",
    "compare",
    "export",
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
