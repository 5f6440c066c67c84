"""Draw the pictures of the README and of docs/plots.md.

python docs/make_figures.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.datasets import load_breast_cancer, load_digits, make_moons
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protoset import REPS, PrototypeClassifier, Refined
from protoset.plots import plot_map, plot_prototypes, plot_size_curve, write_figure

COLOURS = ("#2a6fbb", "#d1662b")
PALE = ListedColormap(["#d9e6f4", "#f8e3d6"])


def draw(path: Path) -> None:
    """All objects, the prototypes, and the error at every size, side by side."""
    X, y = make_moons(500, noise=0.28, random_state=4)
    X_test, y_test = make_moons(2000, noise=0.28, random_state=5)
    everything = KNeighborsClassifier(1).fit(X, y)
    few = PrototypeClassifier().fit(X, y)
    prototypes, labels = few.prototypes_, few.prototype_labels_
    figure, axes = plt.subplots(1, 3, figsize=(12, 4.3), width_ratios=(1, 1, 1.05), layout="constrained")
    low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    grid = np.stack(np.meshgrid(*np.linspace(low, high, 300).T), axis=-1)
    for axis, model, title in (
        (axes[0], everything, f"1-NN on all {len(X)} objects"),
        (axes[1], few, f"1-NN on {len(labels)} prototypes"),
    ):
        regions = model.predict(grid.reshape(-1, 2)).reshape(grid.shape[:2])
        axis.contourf(grid[..., 0], grid[..., 1], regions, levels=1, cmap=PALE)
        axis.set_title(f"{title}\nerror on new objects {1 - model.score(X_test, y_test):.3f}", fontsize=11)
        axis.set(xticks=[], yticks=[], xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    for code, colour in enumerate(COLOURS):
        axes[0].scatter(*X[y == code].T, s=12, color=colour, linewidths=0)
        axes[1].scatter(*X[y == code].T, s=8, color=colour, alpha=0.25, linewidths=0)
        axes[1].scatter(*prototypes[labels == code].T, s=42, color=colour, edgecolors="black", linewidths=0.8)
    plot_size_curve(few, X, y, ax=axes[2])
    figure.savefig(path, dpi=110)


def draw_plots(folder: Path) -> None:
    """Draw the plots of docs/plots.md."""
    digits = load_digits()
    X, X_test, y, y_test = train_test_split(digits.data, digits.target, random_state=0)
    classifier = PrototypeClassifier(Refined(REPS(30))).fit(X, y)
    shown = plot_prototypes(classifier, X, y, image_shape=(8, 8), max_classes=4)
    write_figure(shown, folder / "plot-prototypes.png", dpi=110)
    write_figure(plot_map(classifier, X_test, y_test), folder / "plot-map.png", dpi=130)
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), PrototypeClassifier()).fit(X, y)
    write_figure(plot_size_curve(pipeline, X, y), folder / "plot-size-curve.png", dpi=110)


if __name__ == "__main__":
    target = Path(__file__).parent / "images"
    target.mkdir(exist_ok=True)
    draw(target / "prototypes.png")
    draw_plots(target)
    print(f"wrote prototypes.png and plot-*.png in {target.name}")
