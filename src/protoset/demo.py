"""The demonstration, on data of scikit-learn: select prototypes, classify, save and load, write reports."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from protoset._files import write_atomically
from protoset.classifier import PrototypeClassifier
from protoset.datasets import Attribute, Dataset
from protoset.models import fit_model
from protoset.persistence import load, save
from protoset.report import write_report
from protoset.selectors import REPS

DEMO_RATE = 0.1
"""Selection rate of the sets that are saved."""

REPORTED_DATASET = "wine"
"""Data set with a report."""


def run_demo(output: Path) -> str:
    """Run the demonstration, write its results to a folder, and return the text for the user."""
    output.mkdir(parents=True, exist_ok=True)
    lines = [
        "Prototype selection with REPS: errors of 1-NN on held-out objects (30 %).",
        "",
        f"{'data':<32}{'training':>9}{'all kept':>11}{'kept (auto)':>13}{'error':>8}{'kept (10 %)':>13}{'error':>8}",
    ]
    for name, loader in (("wine", load_wine), ("breast_cancer", load_breast_cancer), ("digits", load_digits)):
        lines.append(_run_on_vectors(name, loader(), output))
    lines.append(_run_on_matrix("wine, L1 distance matrix only", load_wine(), output / "wine_l1.protoset"))
    _write_series_report(output / "bumps.html")
    lines += [
        "",
        f"Results are in {output.resolve()}:",
        "  NAME_prototypes.csv   the objects kept (10 %): row in the training set, label, degradation, values",
        "  NAME_scaling.csv      mean and standard deviation of the attributes, for scaling",
        "  NAME.protoset         the classifier of scaled attributes; load it with protoset.load(...)",
        "  wine_l1.protoset      the classifier of L1 distances to the training objects or to the prototypes",
        "",
        "Reports, for a browser:",
        f"  {output.resolve() / f'{REPORTED_DATASET}.html'}   vectors",
        f"  {output.resolve() / 'bumps.html'}  time series under dynamic time warping",
    ]
    return "\n".join(lines)


def _run_on_vectors(name: str, data: Any, output: Path) -> str:
    X, X_test, y, y_test = train_test_split(
        data.data, data.target_names[data.target], test_size=0.3, stratify=data.target, random_state=0
    )
    scaler = StandardScaler().fit(X)
    scaled, scaled_test = scaler.transform(X), scaler.transform(X_test)
    all_kept = 1 - KNeighborsClassifier(1).fit(scaled, y).score(scaled_test, y_test)
    automatic = PrototypeClassifier().fit(scaled, y)
    small = PrototypeClassifier(REPS(n_prototypes=DEMO_RATE)).fit(scaled, y)
    path = output / f"{name}.protoset"
    save(small, path)
    if not np.array_equal(load(path).predict(scaled_test), small.predict(scaled_test)):
        raise RuntimeError(f"{path} predicts other labels than the saved classifier")
    _write_prototypes(output / f"{name}_prototypes.csv", small, X, data.feature_names)
    scaling = zip(data.feature_names, scaler.mean_.tolist(), scaler.scale_.tolist(), strict=True)
    _write_table(output / f"{name}_scaling.csv", ["attribute", "mean", "deviation"], scaling)
    if name == REPORTED_DATASET:
        columns = tuple(Attribute(str(attribute), "real") for attribute in data.feature_names)
        test = Dataset(name, "vectors", X_test, y_test, columns)
        training = Dataset(name, "vectors", X, y, columns)
        write_report(
            output / f"{name}.html", training, automatic, test=test, transform=scaler.transform, overwrite=True
        )
    return _row(name, len(y), all_kept, automatic, small, scaled_test, y_test)


def _write_series_report(path: Path) -> None:
    """Report on narrow and wide bumps at random times, a case for dynamic time warping."""
    rng = np.random.default_rng(0)
    t, kind = np.linspace(0, 1, 60), np.arange(120) % 2
    width = np.where(kind == 0, 0.05, 0.1)[:, None]
    series = np.exp(-(((t - rng.uniform(0.3, 0.7, (120, 1))) / width) ** 2)) + 0.03 * rng.normal(size=(120, 60))
    bumps = Dataset("bumps", "series", list(series), np.where(kind == 0, "narrow", "wide"), n_train=80)
    model = fit_model(bumps, metric_params={"window": 0.4})
    write_report(path, bumps, model.classifier, transform=model.preparation, overwrite=True)


def _run_on_matrix(name: str, data: Any, path: Path) -> str:
    scaled, labels = StandardScaler().fit_transform(data.data), data.target
    X, X_test, y, y_test = train_test_split(scaled, labels, test_size=0.3, stratify=labels, random_state=0)
    between, queries = pairwise_distances(X, metric="l1"), pairwise_distances(X_test, X, metric="l1")
    all_kept = 1 - KNeighborsClassifier(1, metric="precomputed").fit(between, y).score(queries, y_test)
    automatic = PrototypeClassifier(REPS(metric="precomputed")).fit(between, y)
    small = PrototypeClassifier(REPS(DEMO_RATE, metric="precomputed")).fit(between, y)
    save(small, path)
    return _row(name, len(y), all_kept, automatic, small, queries, y_test)


def _row(
    name: str,
    n_training: int,
    all_kept: float,
    automatic: PrototypeClassifier,
    small: PrototypeClassifier,
    X_test: np.ndarray,
    y_test: np.ndarray,
) -> str:
    cells = f"{name:<32}{n_training:>9}{all_kept:>11.3f}"
    for classifier in (automatic, small):
        cells += f"{len(classifier.sample_indices_):>13}{1 - classifier.score(X_test, y_test):>8.3f}"
    return cells


def _write_prototypes(path: Path, classifier: PrototypeClassifier, X: np.ndarray, names: Sequence[str]) -> None:
    kept = classifier.sample_indices_
    degradations = classifier.selector_.degradations_[kept]
    columns = zip(kept, classifier.prototype_labels_, degradations, strict=True)
    rows = ([row, label, f"{degradation:.6g}", *X[row].tolist()] for row, label, degradation in columns)
    _write_table(path, ["row", "label", "degradation", *names], rows)


def _write_table(path: Path, header: list[str], rows: Iterable[Sequence[Any]]) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(header)
    writer.writerows(rows)
    write_atomically(path, text.getvalue().encode())
