"""The coordinate method against L-BFGS-B on the same dual: 53 neighbours, C = 1, loss "sum".

python -m benchmarks.solver [n]
"""

from __future__ import annotations

import sys

from benchmarks.measure import cpu_seconds, overlapping_classes, verdict
from protoset.features import rank_exponential
from protoset.neighbors import build_lists
from protoset.solvers import solve
from protoset.spaces import make_space

REPEATS = 3


def main(n: int = 100_000) -> None:
    """Print the ratio of CPU times to a relative gap of 1e-6."""
    X, y = overlapping_classes(n, 20, 5)
    constraints = rank_exponential(build_lists(make_space(X), 53), y)
    solve(constraints.features[:200], constraints.rho[:200], 1.0, solver="coordinate")  # compiles
    print(f"n = {n:,}, 53 neighbours, C = 1, loss 'sum', relative gap <= 1e-6; {REPEATS} runs in turns, CPU seconds")
    times: dict[str, list[float]] = {"coordinate": [], "lbfgs": []}
    solutions = {}
    for _ in range(REPEATS):
        for name, measured in times.items():
            seconds, solutions[name] = cpu_seconds(
                lambda name=name: solve(constraints.features, constraints.rho, 1.0, loss="sum", solver=name)
            )
            measured.append(seconds)
    for name, solution in solutions.items():
        print(
            f"{name:<12}{min(times[name]):8.2f} to {max(times[name]):.2f} s   objective {solution.primal:.6f}   "
            f"gap {solution.gap:.1e}   {solution.n_iter} iterations"
        )
    ratio = min(times["lbfgs"]) / min(times["coordinate"])
    print(f"L-BFGS-B / coordinate: {verdict(ratio, 5, at_most=False)}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
