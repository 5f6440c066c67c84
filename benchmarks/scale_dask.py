"""Neighbour lists of 200,000 objects on a Dask cluster of two processes, exact and approximate, against one process.

    python -m benchmarks.scale_dask [n]

20 attributes in single precision, 10 overlapping classes, 1 % kept. The workers' peaks of memory are their own resident
sizes; CPU seconds are those of the workers together.
"""

from __future__ import annotations

import sys
import time
from functools import partial

import numpy as np
from distributed import Client, LocalCluster

from benchmarks.measure import cpu_seconds, overlapping_classes, peak_gigabytes, verdict
from protoset import REPS

COMPARED = 20_000


def main(n: int = 200_000) -> None:
    """Print times, memory and whether the prototypes are the same."""
    X, y = overlapping_classes(n, 20, 10)
    X = X.astype(np.float32)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit="2GB") as cluster,
        Client(cluster) as client,
    ):
        few = slice(0, min(n, COMPARED))
        here = REPS(0.01, search="exact").fit(X[few], y[few])
        there = REPS(0.01, search="exact").fit(X[few], y[few], client=client)
        same = all((getattr(here, name) == getattr(there, name)).all() for name in ("ranking_", "weights_"))
        print(f"the same prototypes on {few.stop:,} objects: {'reached' if same else 'MISSED'}", flush=True)
        for search in ("approximate", "exact"):
            before, started = sum(client.run(time.process_time).values()), time.perf_counter()
            selector = REPS(0.01, search=search)
            own, _ = cpu_seconds(partial(selector.fit, X, y, client=client))
            wall, busy = time.perf_counter() - started, sum(client.run(time.process_time).values()) - before
            print(
                f"{n:,} objects, {search}, recall {selector.neighbor_recall_:.3f}: {busy:.0f} CPU s on the workers, "
                f"{own:.0f} here, {wall:.0f} s wall",
                flush=True,
            )
        peak = max(client.run(peak_gigabytes).values())
    print(f"largest peak of a worker: {verdict(peak, 2, at_most=True)} GB")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
