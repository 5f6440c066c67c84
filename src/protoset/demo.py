"""The demonstration, on embedded data: what protoset does by default, beside what a user would take instead.

data set --> prototypes, moved where objects can move --> errors on held-out objects, time per query --> a table
                                                      --> the model, the prototypes and a page, as files
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from protoset._files import write_atomically
from protoset._report.building import report
from protoset.datasets import Attribute, Dataset
from protoset.experiments import validate, validate_model
from protoset.models import DataModel, fit_model
from protoset.persistence import load, save

HELD_OUT = 0.3
"""Share of the objects that errors are measured on."""

TIMED_QUERIES = 2000
"""Queries of a timed call; held-out objects are repeated."""

TIMED_CALLS = 5
"""Calls of which the fastest counts."""

TITLES = {
    "wine": "wine (13 attributes)",
    "breast_cancer": "breast cancer (30)",
    "digits": "digits (64)",
    "bumps": "bumps (series, DTW)",
    "wine_l1": "wine (an L1 matrix)",
}
"""Names of the data sets in the table."""

COLUMNS = f"{'data':<21}{'objects':>8}{'kept':>12}{'error':>8}{'guessing':>11}{'1-NN':>7}{'k-NN':>16}{'faster':>9}"
"""Heads of the table."""


def run_demo(output: Path) -> str:
    """Run the demonstration, write its results to a folder, and return the text for the user."""
    output.mkdir(parents=True, exist_ok=True)
    rows = [_run(name, make(), output) for name, make in DATASETS.items()]
    folder = output.resolve()
    lines = [
        "A few prototypes in place of all objects: REPS chooses them, swaps refine them, and where objects",
        "can move they move. Errors on held-out objects (30 %), beside those of guessing and of 1-NN and",
        "k-NN (k by leave-one-out) on all objects; how many times faster a query is than by 1-NN on all.",
        "",
        COLUMNS,
        *rows,
        "",
        f"Results are in {folder}:",
        "  NAME.protoset         the model, for protoset predict NAME.protoset FILE and protoset.load(...)",
        "  NAME_prototypes.csv   its prototypes, each with the row of the real object nearest to it",
        "",
        "Pages for a browser:",
        *(f"  {folder / f'{name}.html'}" for name in DATASETS),
    ]
    return "\n".join(lines)


def _run(name: str, dataset: Dataset, output: Path) -> str:
    """Fit, measure and write one data set; return its row of the table."""
    model = fit_model(dataset)
    path = output / f"{name}.protoset"
    save(model, path)
    queries, truth = _held_out(dataset)
    if not np.array_equal(load(path).predict(queries), model.predict(queries)):
        raise RuntimeError(f"{path} predicts other labels than the saved model")
    _write_prototypes(output / f"{name}_prototypes.csv", model)
    report(model, dataset, path=output / f"{name}.html", overwrite=True)
    error = validate_model(model, queries, truth).estimate.error
    beside = validate(dataset, "guess").references
    assert beside is not None
    assert beside.nearest is not None
    assert beside.knn is not None
    n_train, n_kept = dataset.n_train or 0, len(model.sample_indices_)
    kept, faster = f"{n_kept} ({100 * n_kept / n_train:.1f} %)", _times_faster(dataset, model)
    knn = f"{beside.knn.error:.3f} (k = {beside.k[0]})"
    return (
        f"{TITLES[name]:<21}{n_train:>8}{kept:>12}{error:>8.3f}{beside.guess.error:>11.3f}"
        f"{beside.nearest.error:>7.3f}{knn:>16}{'-' if faster is None else f'{faster:.0f} x':>9}"
    )


def _held_out(dataset: Dataset) -> tuple[Any, np.ndarray]:
    n_train = dataset.n_train or 0
    queries = dataset.objects[n_train:]
    return queries[:, :n_train] if dataset.kind == "matrix" else queries, dataset.labels[n_train:]


def _times_faster(dataset: Dataset, model: DataModel) -> float | None:
    """How many times faster the prototypes answer than all training objects, on one core.

    None for a matrix, whose distances are computed elsewhere.
    """
    if dataset.kind == "matrix":
        return None
    n_train = dataset.n_train or 0
    prepared = model.preparation(dataset.objects)
    everything = model.preparation.space(dataset.objects[:n_train]).prototypes(np.arange(n_train))
    held_out = list(prepared[n_train:])
    queries = np.array(held_out * (TIMED_QUERIES // len(held_out) if dataset.kind == "vectors" else 1))
    prototypes = model.classifier._prototypes
    with threadpool_limits(1):
        slow = _fastest(lambda: everything.cross(queries).nearest())
        return slow / _fastest(lambda: prototypes.cross(queries).nearest())


def _fastest(work: Callable[[], Any]) -> float:
    """Seconds of the fastest of several calls."""
    seconds = []
    for _ in range(TIMED_CALLS):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def _split(name: str, data: Any) -> Dataset:
    """Data of scikit-learn with some objects held out, which come last."""
    labels = data.target_names[data.target].astype(str)
    train, test = train_test_split(np.arange(len(labels)), test_size=HELD_OUT, stratify=labels, random_state=0)
    rows = np.concatenate([np.sort(train), np.sort(test)])
    columns = tuple(Attribute(str(attribute), "real") for attribute in data.feature_names)
    return Dataset(name, "vectors", data.data[rows], labels[rows], columns, n_train=len(train))


def _matrix() -> Dataset:
    """L1 distances between wines: all that a method may know."""
    wine = _split("wine_l1", load_wine())
    scaled = StandardScaler().fit(wine.objects[: wine.n_train]).transform(wine.objects)
    return Dataset("wine_l1", "matrix", pairwise_distances(scaled, metric="l1"), wine.labels, n_train=wine.n_train)


def _bumps() -> Dataset:
    """Narrow and wide bumps at random times, a case for dynamic time warping."""
    rng = np.random.default_rng(0)
    t, kind = np.linspace(0, 1, 60), np.arange(240) % 2
    width = np.where(kind == 0, 0.05, 0.08)[:, None]
    series = np.exp(-(((t - rng.uniform(0.3, 0.7, (240, 1))) / width) ** 2)) + 0.25 * rng.normal(size=(240, 60))
    return Dataset("bumps", "series", list(series), np.where(kind == 0, "narrow", "wide"), n_train=160)


DATASETS: dict[str, Callable[[], Dataset]] = {
    "wine": lambda: _split("wine", load_wine()),
    "breast_cancer": lambda: _split("breast_cancer", load_breast_cancer()),
    "digits": lambda: _split("digits", load_digits()),
    "bumps": _bumps,
    "wine_l1": _matrix,
}
"""The data sets, each made when it is needed."""


def _write_prototypes(path: Path, model: DataModel) -> None:
    """Write each prototype with its exemplar, its label and, where there are attributes, its values."""
    values = model.prototype_values_
    names = [] if values is None else model.preparation.attribute_names(values.shape[1])
    numbers: Iterable[Sequence[Any]] = [[]] * len(model.exemplars_) if values is None else values.tolist()
    columns = zip(model.exemplars_.tolist(), model.prototype_labels_.tolist(), numbers, strict=True)
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["nearest_row", "label", *names])
    writer.writerows([row, label, *(f"{number:.6g}" for number in own)] for row, label, own in columns)
    write_atomically(path, text.getvalue().encode())
