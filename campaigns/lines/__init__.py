"""Strategies that draw the lines of cases, one file per part of the campaign."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

from campaigns.lines import fits, questions


@dataclass(frozen=True)
class Part:
    """A part of the campaign: how its lines are drawn, and its share of all cases."""

    strategy: SearchStrategy[str]
    weight: int


PARTS: dict[str, Part] = {
    "fits": Part(fits.LINES, 4),
    "queries": Part(questions.LINES, 4),
}
"""All parts, in the order of the table."""


def each_line(strategy: SearchStrategy[str], seed: int, count: int, run: Callable[[str], None]) -> None:
    """Draw lines and run each; the same seed draws the same lines."""

    @hypothesis.seed(seed)
    @settings(
        max_examples=count,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def run_one(line: str) -> None:
        run(line)

    run_one()
