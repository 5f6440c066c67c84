"""All scenarios by name."""

from __future__ import annotations

import runpy

import protoset
from campaigns.chaos_base import Scenario
from campaigns.chaos_files import Download, Lists, PairMemory, Select, WrittenFile
from campaigns.chaos_studies import Experiment, OnCluster, Paper

SCENARIOS: dict[str, Scenario] = {
    scenario.name: scenario
    for scenario in (
        WrittenFile("save", "model.protoset", protoset.save, lambda path: protoset.load(path).predict),
        WrittenFile("export", "model.py", protoset.export, lambda path: runpy.run_path(str(path))["predict"]),
        Select(),
        Experiment(),
        Paper(),
        Lists(),
        PairMemory(),
        Download(),
        OnCluster(),
    )
}
"""Scenarios by name."""
