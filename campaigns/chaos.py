"""Kill processes at random moments and check that nothing is lost, doubled, truncated, orphaned or locked.

    python -m campaigns.chaos --kills 200 --seed 0
    python -m campaigns.chaos --scenario save --attack KILL --seed 17     the case of one line of the report

A case starts processes of a scenario in a folder of its own, strikes one to three times, checks the folder after each,
and lets the next writer finish. The time of a signal is drawn anew in each run, so a case that was wrong may need
several runs to be wrong again.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from campaigns.chaos_base import FULL, SCHEDULER, SIGNALS, TWO, WORKER, Scenario
from campaigns.chaos_processes import (
    Child,
    SmallDisk,
    WrongError,
    children,
    expect,
    names_in,
    wait_for_moment,
    why_no_small_disk,
)
from campaigns.chaos_scenarios import SCENARIOS

ATTACKS = (*SIGNALS, TWO, FULL, WORKER, SCHEDULER)
"""All attacks, in the order of the table."""

MOST_STRIKES = 3
"""Largest number of strikes in a case."""


@dataclass(frozen=True)
class Usual:
    """The work of a scenario without a strike: its seconds, its files and their bytes."""

    seconds: float
    names: set[str]
    n_bytes: int


@dataclass
class Campaign:
    """Cases and their outcomes.

    Attributes
    ----------
    strikes : Counter
        Processes that were killed, or found the disk full, by scenario and attack.
    early : Counter
        Processes that had done their work before, or found room enough on the disk, by scenario.
    wrong : list of str
        A line per case with something wrong: how to run it again, and what was wrong.
    """

    strikes: Counter[tuple[str, str]] = field(default_factory=Counter)
    early: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    _usual: dict[str, Usual] = field(default_factory=dict)

    @property
    def n_kills(self) -> int:
        """Processes that were killed."""
        return sum(count for (_, attack), count in self.strikes.items() if attack != FULL)

    def run(self, scenario: Scenario, attack: str, seed: int) -> None:
        """Run one case."""
        rng = random.Random(f"{scenario.name} {attack} {seed}")
        folder = Path(tempfile.mkdtemp(prefix="protoset-chaos-"))
        disk = SmallDisk(folder) if attack == FULL else None
        try:
            usual = self._usual_of(scenario)
            n_strikes = 1 if attack == SCHEDULER else rng.randint(1, MOST_STRIKES)  # a cluster has one scheduler
            with _prepared(scenario, folder), children(scenario.name, n_strikes) as started:
                for child in started:
                    if disk is None:
                        self._strike(child, scenario, attack, folder, rng, usual.seconds)
                    else:
                        disk.resize(rng.randrange(int(1.2 * usual.n_bytes)))
                        self._fill(child, scenario, folder, rng)
                        disk.resize()
                    scenario.check(folder)
                scenario.recover(folder)
            left = names_in(folder) - usual.names
            expect(not left, f"orphaned: files stay behind after the next writer: {sorted(left)}")
        except WrongError as error:
            line = f"python -m campaigns.chaos --scenario {scenario.name} --attack '{attack}' --seed {seed}"
            self.wrong.append(f"{line}\n    {error}")
            print(f"\n{self.wrong[-1]}", flush=True)
        finally:
            if disk is not None:
                disk.remove()
            shutil.rmtree(folder)

    def _usual_of(self, scenario: Scenario) -> Usual:
        if scenario.name not in self._usual:
            with tempfile.TemporaryDirectory(prefix="protoset-chaos-") as name:
                folder = Path(name)
                with _prepared(scenario, folder), children(scenario.name, 1) as (child,):
                    child.begin(folder, scenario.choices()[0])
                    seconds = child.seconds_of_work()
                    code, errors = child.end()
                    expect(code == 0, f"ended with {code} without a strike: {errors}")
                    scenario.recover(folder)
                names = names_in(folder)
                n_bytes = sum((folder / name).stat().st_size for name in names)
                self._usual[scenario.name] = Usual(seconds, names, n_bytes)
        return self._usual[scenario.name]

    def _strike(
        self, child: Child, scenario: Scenario, attack: str, folder: Path, rng: random.Random, seconds: float
    ) -> None:
        """Let a process work, alone or beside another one, and send a signal."""
        sent = rng.choice(list(SIGNALS)) if attack == TWO else attack
        with children(scenario.name, int(attack == TWO)) as others:
            for working in (child, *others):
                choices = scenario.choices()
                working.begin(folder, choices[-1] if attack == WORKER else rng.choice(choices))
            while attack == WORKER and child.is_running and scenario.victim(attack, child, rng) is None:
                time.sleep(0.02)
            wait_for_moment(child, folder, rng, seconds)
            victim = scenario.victim(attack, child, rng) if child.is_running else None
            if victim is not None:
                # Ctrl-C in a terminal and the end of a session go to all processes of the group.
                to_group = victim == child.pid and sent in ("TERM", "INT") and rng.random() < 0.5
                (os.killpg if to_group else os.kill)(victim, SIGNALS.get(sent, signal.SIGKILL))
            code, errors = child.end()
            child.check_alone()
            for other in others:
                other_code, complaint = other.end()
                other.check_alone()
                expected = other_code == 0 or scenario.is_refusal(other_code, complaint)
                expect(expected, f"the other process ended with {other_code}: {complaint}")
        if attack == TWO and scenario.is_refusal(code, errors):
            self._count(scenario, attack, False)
            return
        # A run may go on without a worker; the process that gets the signal itself cannot.
        self._count(scenario, attack, code != 0 if victim == child.pid else victim is not None)
        if code != 0:
            scenario.check_end(sent, code, errors)

    def _fill(self, child: Child, scenario: Scenario, folder: Path, rng: random.Random) -> None:
        """Let a process work on a disk that may be too small."""
        child.begin(folder, rng.choice(scenario.choices()))
        code, errors = child.end()
        child.check_alone()
        self._count(scenario, FULL, code != 0)
        if code != 0:
            scenario.check_end(FULL, code, errors)

    def _count(self, scenario: Scenario, attack: str, struck: bool) -> None:
        if struck:
            self.strikes[scenario.name, attack] += 1
        else:
            self.early[scenario.name] += 1

    def table(self) -> str:
        """Return the outcomes as a table in Markdown."""
        attacks = [attack for attack in ATTACKS if any(attack == other for _, other in self.strikes)]
        lines = [
            f"| scenario | {' | '.join(attacks)} | too late |",
            "|" + "---|" * (len(attacks) + 2),
        ]
        for name in [name for name in SCENARIOS if name in self._usual]:
            counts = [str(self.strikes[name, attack] or "") for attack in attacks]
            lines.append(f"| {name} | {' | '.join(counts)} | {self.early[name]} |")
        return "\n".join([*lines, "", f"{self.n_kills} kills, {len(self.wrong)} cases with something wrong"])


def possible_cases(scenarios: Sequence[Scenario]) -> list[tuple[Scenario, str]]:
    """Return the pairs of scenarios and attacks that this system allows."""
    why = why_no_small_disk()
    if why is not None:
        print(f"full disk: skipped, {why}")
    possible = [attack for attack in ATTACKS if attack != FULL or why is None]
    return [(scenario, attack) for attack in possible for scenario in scenarios if attack in scenario.attacks]


@contextmanager
def _prepared(scenario: Scenario, folder: Path) -> Iterator[None]:
    scenario.prepare(folder)
    try:
        yield
    finally:
        scenario.close()


def main(arguments: list[str] | None = None) -> int:
    """Run a campaign or one case; return 1 if anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m campaigns.chaos", description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=200, help="run cases until so many processes were killed")
    parser.add_argument("--seed", type=int, default=0, help="the first seed; with --attack the seed of the case")
    parser.add_argument("--scenario", choices=SCENARIOS, action="append", help="only this scenario; repeatable")
    parser.add_argument("--attack", choices=ATTACKS, help="one case of each scenario with this attack")
    options = parser.parse_args(arguments)
    # Processes in the background of a shell ignore Ctrl-C, and so would all processes that they start.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    campaign = Campaign()
    cases = possible_cases([SCENARIOS[name] for name in options.scenario or SCENARIOS])
    if options.attack:
        for scenario, attack in cases:
            if attack == options.attack:
                campaign.run(scenario, attack, options.seed)
    else:
        number = 0
        while campaign.n_kills < options.kills:
            campaign.run(*cases[number % len(cases)], options.seed * 1_000_000 + number)
            number += 1
            sys.stderr.write(f"\r{campaign.n_kills} of {options.kills} kills, {len(campaign.wrong)} wrong ")
        sys.stderr.write("\n")
    print(campaign.table())
    return 1 if campaign.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
