"""Seconds to import protoset after scikit-learn's neighbors.

python -m benchmarks.import_time
"""

from __future__ import annotations

import subprocess
import sys

from benchmarks.measure import verdict

REPEATS = 7
PROGRAM = """
import time
import sklearn.neighbors
start = time.perf_counter()
import protoset
print(time.perf_counter() - start)
"""


def main() -> None:
    """Print the shortest time over several new interpreters."""
    times = [
        float(subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout)
        for _ in range(REPEATS)
    ]
    best = verdict(min(times), 0.3, at_most=True)
    print(f"seconds after sklearn.neighbors, best of {REPEATS}: {best}; worst {max(times):.2f}")


if __name__ == "__main__":
    main()
