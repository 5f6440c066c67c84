"""The paper, reproduced: its studies as plans, its printed tables, and a report that compares both."""

from protoset.paper.report import write_paper_report
from protoset.paper.running import PlanRun, run_paper
from protoset.paper.studies import STUDIES, plan_document

__all__ = ["STUDIES", "PlanRun", "plan_document", "run_paper", "write_paper_report"]
