"""Run every benchmark in its own process, so that peaks of memory do not mix."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

WITHOUT_DATA = (
    "import_time",
    "compile_time",
    "fit",
    "solver",
    "high_dimensional",
    "scale_million",
    "scale_dask",
    "scale_serving",
    "series_approximate",
    "series_jobs",
    "adaptation_stream",
)
WITH_DATA = (
    "series",
    "series_bounds",
    "strings",
    "paper_fsr",
    "baselines_speed",
    "baselines_reference",
    "refinement_speed",
    "refinement_vectors",
    "refinement_series",
    "adaptation_vectors",
    "adaptation_large",
    "adaptation_series",
    "adaptation_peers",
    "suspects",
    "scale_covertype",
    "decisions_vectors",
    "decisions_kinds",
)


def main() -> int:
    """Run the benchmarks in order; return 1 if a benchmark failed."""
    folder = sys.argv[1] if len(sys.argv) > 1 else str(Path(__file__).parents[2] / "shared" / "data")
    failed = 0
    for name in (*WITHOUT_DATA, *WITH_DATA):
        print(f"\n== {name}", flush=True)
        arguments = [folder] if name in WITH_DATA else []
        failed |= subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *arguments], check=False).returncode
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main())
