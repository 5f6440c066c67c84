"""A reader for KEEL's .dat files, enough for the benchmarks."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np


def read_keel(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read numeric rows and labels; a nominal value is its position in the declaration."""
    nominal: dict[int, list[str]] = {}
    names: list[str] = []
    output = ""
    rows: list[list[str]] = []
    in_data = False
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        if in_data:
            rows.append([value.strip() for value in line.split(",")])
        elif line.lower().startswith("@attribute"):
            name, kind = re.match(r"@attribute\s+'?([^\s{\[']+)'?\s*(.*)", line, re.IGNORECASE).groups()
            if "{" in kind:
                nominal[len(names)] = [v.strip() for v in kind.strip()[1:].rsplit("}", 1)[0].split(",")]
            names.append(name)
        elif line.lower().startswith("@output"):
            output = line.split(None, 1)[1].strip()
        elif line.lower().startswith("@data"):
            in_data = True
    target = names.index(output) if output in names else len(names) - 1
    inputs = [column for column in range(len(names)) if column != target]
    X = np.empty((len(rows), len(inputs)))
    for position, column in enumerate(inputs):
        values = [row[column] for row in rows]
        X[:, position] = [nominal[column].index(v) for v in values] if column in nominal else [float(v) for v in values]
    return X, np.array([row[target] for row in rows])
