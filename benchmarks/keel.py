"""KEEL's .dat files as numbers, and the results of KEEL's programs."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from protoset.datasets import read


def read_keel(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read numeric rows and labels; a nominal value is its position in the declaration."""
    X, y, _ = read_keel_typed(path)
    return X, y


def read_keel_typed(path: Path) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Read numeric rows, labels and the columns that are nominal."""
    dataset = read(path)
    columns = []
    for position, attribute in enumerate(dataset.attributes):
        values = dataset.objects[:, position].tolist()
        columns.append([attribute.values.index(value) for value in values] if attribute.type == "nominal" else values)
    return np.column_stack(columns).astype(float), dataset.labels.astype(str), dataset.categorical


def declared_ranges(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Smallest value and width of each numeric attribute, as the header declares them."""
    header = path.read_text(encoding="utf-8", errors="replace").split("@data", 1)[0]
    limits = np.array(
        [
            [float(limit) for limit in declared.split(",")]
            for declared in re.findall(r"@attribute[^\n{]*\[([^\]]*)\]", header, re.IGNORECASE)
        ]
    )
    widths = limits[:, 1] - limits[:, 0]
    return limits[:, 0], np.where(widths > 0, widths, 1.0)


def read_scaled_as_declared(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read rows whose numeric attributes are scaled to [0, 1] by the declared ranges, as KEEL does."""
    X, y = read_keel(path)
    least, width = declared_ranges(path)
    return (X - least) / width, y


@dataclass(frozen=True, eq=False)
class ReferenceFold:
    """A fold of a reference data set, with KEEL's results by method: (prototypes, test error)."""

    data: str
    fold: int
    train: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]
    keel: dict[str, tuple[int, float]]


def reference_folds(folder: Path) -> Iterator[ReferenceFold]:
    """Read the folds for which results of KEEL's programs are known."""
    with (folder / "keel_results.csv").open() as lines:
        results = list(csv.DictReader(lines))
    for data in sorted({row["dataset"] for row in results}):
        for fold in range(1, 6):
            stem = folder / "folds" / data / f"{data}-5-{fold}"
            of_fold = [row for row in results if (row["dataset"], row["fold"]) == (data, str(fold))]
            yield ReferenceFold(
                data,
                fold,
                read_scaled_as_declared(stem.with_name(stem.name + "tra.dat")),
                read_scaled_as_declared(stem.with_name(stem.name + "tst.dat")),
                {row["algo"]: (int(row["n_selected"]), float(row["err"])) for row in of_fold},
            )
