"""Strange inputs by the thousand: ``make fuzz CASES=100000`` or ``make fuzz SECONDS=60``.

A case is one line of Python that calls a door of ``campaigns.doors``, drawn by the strategies in ``campaigns.lines``.
Every outcome is counted; a failure is printed with its line, which can be pasted into ``REPRODUCERS`` of
``tests/test_fuzz.py``.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator

from campaigns.lines import PARTS
from campaigns.outcomes import OUTCOMES, Outcome
from campaigns.processes import BATCH_CASES, Batch, Report, batch_of, run_batches


class Tally:
    """Counts of outcomes by part, and the shortest line of every distinct failure."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self.cpu_seconds: dict[str, float] = defaultdict(float)
        self.failures: dict[tuple[str, str], tuple[str, Outcome, int]] = {}
        self.peak_bytes = 0
        self.slowest: tuple[float, str] = (0.0, "")

    def add(self, report: Report) -> None:
        """Count a case."""
        self.counts[report.part][report.outcome.kind] += 1
        self.cpu_seconds[report.part] += report.cpu_seconds
        self.peak_bytes = max(self.peak_bytes, report.peak_bytes)
        self.slowest = max(self.slowest, (report.cpu_seconds, report.line))
        if report.outcome.failed:
            key = (report.outcome.kind, report.outcome.where)
            line, outcome, times = self.failures.get(key, (report.line, report.outcome, 0))
            if len(report.line) < len(line):
                line, outcome = report.line, report.outcome
            self.failures[key] = (line, outcome, times + 1)

    def table(self) -> str:
        """Return the outcomes as a Markdown table, a row per part."""
        rows = [["part", "cases", *OUTCOMES, "ms per case"]]
        for part in sorted(self.counts, key=[*PARTS, "lines"].index):
            rows.append(self._row(part, self.counts[part], self.cpu_seconds[part]))
        rows.append(self._row("all", sum(self.counts.values(), Counter()), sum(self.cpu_seconds.values())))
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = [
            "| " + " | ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
        ]
        lines.insert(1, "|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|")
        return "\n".join(lines)

    def _row(self, part: str, counts: Counter[str], cpu_seconds: float) -> list[str]:
        cases = counts.total()
        milliseconds = f"{1000 * cpu_seconds / max(cases, 1):.1f}"
        return [part, f"{cases:,}", *(f"{counts[kind]:,}" for kind in OUTCOMES), milliseconds]

    def failure_lines(self) -> str:
        """Return every distinct failure with its shortest line, shortest first."""
        shortest_first = sorted(self.failures.items(), key=lambda item: len(item[1][0]))
        return "\n".join(
            f"{kind}: {where} ({times} times): {outcome.message}\n    {line}"
            for (kind, where), (line, outcome, times) in shortest_first
        )


def batches(parts: list[str], seed: int, n_cases: int | None) -> Iterator[Batch]:
    """Yield batches of all parts in turn, by the weight of the part; without end if ``n_cases`` is None."""
    total = sum(PARTS[part].weight for part in parts)
    remaining = {part: None if n_cases is None else -(-n_cases * PARTS[part].weight // total) for part in parts}
    for number in itertools.count():
        if not remaining:
            return
        for part in [*remaining]:
            # A light part has small batches, so that every part has its share at any moment.
            size = max(1, BATCH_CASES * PARTS[part].weight // total)
            rest = remaining[part]
            if rest is not None:
                size = min(size, rest)
                remaining[part] = rest - size
                if rest == size:
                    del remaining[part]
            if size:
                yield batch_of(part, seed, number, size)


def main(arguments: list[str] | None = None) -> int:
    """Run the campaign, print its table and failures; return 1 if there are failures."""
    parser = argparse.ArgumentParser(prog="python -m campaigns.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, help="how many cases to run")
    parser.add_argument("--seconds", type=float, help="how long to run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--parts", default=",".join(PARTS), help=f"some of {','.join(PARTS)}")
    parser.add_argument("--line", action="append", help="run only this line; repeatable")
    parser.add_argument("--quiet", action="store_true", help="no progress on the standard error")
    options = parser.parse_args(arguments)
    parts = options.parts.split(",")
    if unknown := set(parts) - PARTS.keys():
        parser.error(f"--parts {sorted(unknown)}: known are {[*PARTS]}")
    n_cases = 10_000 if options.cases is None and options.seconds is None else options.cases
    tally, started, last_printed = Tally(), time.monotonic(), 0.0
    given = [Batch("lines", lines=(line,)) for line in options.line or ()]
    for report in run_batches(
        given or batches(parts, options.seed, n_cases), options.processes, seconds=options.seconds
    ):
        tally.add(report)
        if not options.quiet and time.monotonic() - last_printed > 5:
            last_printed = time.monotonic()
            done = sum(counts.total() for counts in tally.counts.values())
            print(f"\r{done:,} cases, {len(tally.failures)} failures ", end="", file=sys.stderr, flush=True)
    minutes = (time.monotonic() - started) / 60
    print(f"\n{tally.table()}\n")
    print(f"seed {options.seed}; {minutes:.1f} minutes in {options.processes} processes; ", end="")
    print(f"peak memory {tally.peak_bytes / 2**20:.0f} MB")
    print(f"slowest case: {tally.slowest[0]:.2f} s CPU: {tally.slowest[1]}")
    if tally.failures:
        print(f"\n{len(tally.failures)} distinct failures:\n{tally.failure_lines()}")
    return int(bool(tally.failures))


if __name__ == "__main__":
    sys.exit(main())
