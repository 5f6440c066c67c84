"""Experiments: a plan in one file, a runner that survives interruption, a journal, tables."""

from protoset.experiments._journal_files import JournalError
from protoset.experiments.cells import CellResult
from protoset.experiments.exchange import export, merge
from protoset.experiments.parsing import read_plan
from protoset.experiments.plan import Cell, Plan, PlanError
from protoset.experiments.results import Missing, Status, Table, results, resume, status, table
from protoset.experiments.runner import Progress, run

__all__ = [
    "Cell",
    "CellResult",
    "JournalError",
    "Missing",
    "Plan",
    "PlanError",
    "Progress",
    "Status",
    "Table",
    "export",
    "merge",
    "read_plan",
    "results",
    "resume",
    "run",
    "status",
    "table",
]
