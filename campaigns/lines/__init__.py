"""Strategies that draw the lines of cases, one file per part of the campaign."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis.strategies import SearchStrategy

from campaigns.lines import (
    columns,
    commands,
    data_files,
    data_sets,
    fits,
    invariants,
    model_files,
    pipelines,
    queries,
    weights,
)


@dataclass(frozen=True)
class Part:
    """A part of the campaign: how its lines are drawn, and its share of all cases."""

    strategy: SearchStrategy[str]
    weight: int


PARTS: dict[str, Part] = {
    "fits": Part(fits.LINES, 4),
    "weights": Part(weights.LINES, 3),
    "queries": Part(queries.LINES, 4),
    "data sets": Part(data_sets.LINES, 2),
    "models": Part(model_files.LINES, 4),
    "pipelines": Part(pipelines.LINES, 3),
    "readers": Part(data_files.LINES, 4),
    "columns": Part(columns.COLUMNS_LINES, 3),
    "matrices": Part(columns.MATRIX_LINES, 2),
    "plans": Part(commands.PLANS, 3),
    "command": Part(commands.COMMANDS, 1),
    "invariants": Part(invariants.LINES, 4),
}
"""All parts, in the order of the table."""


class _Enough(Exception):  # noqa: N818
    """As many lines were run as were asked for."""


def each_line(strategy: SearchStrategy[str], seed: int, count: int, run: Callable[[str], None]) -> None:
    """Draw lines that differ from each other, and run each; the same seed draws the same lines."""
    seen: set[str] = set()

    @hypothesis.seed(seed)
    @settings(
        max_examples=10 * count,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @given(strategy)
    def run_one(line: str) -> None:
        if line in seen:
            return
        if len(seen) == count:
            raise _Enough
        seen.add(line)
        run(line)

    with suppress(_Enough):
        run_one()
