"""Draw the pictures of the README and of docs/plots.md.

python docs/make_figures.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from sklearn.datasets import load_breast_cancer, load_digits, make_moons
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protoset import REPS, PrototypeClassifier, Refined
from protoset.plots import plot_map, plot_prototypes, plot_size_curve, write_figure
from protoset.selectors import SizeCurve

COLOURS = ("#2a6fbb", "#d1662b")
PALE = ListedColormap(["#d9e6f4", "#f8e3d6"])


def draw(path: Path) -> None:
    """All objects and the prototypes side by side, and below them the error at every size; readable on a phone."""
    X, y = make_moons(500, noise=0.28, random_state=4)
    X_test, y_test = make_moons(2000, noise=0.28, random_state=5)
    everything = KNeighborsClassifier(1).fit(X, y)
    few = PrototypeClassifier().fit(X, y)
    prototypes, labels = few.prototypes_, few.prototype_labels_
    plt.rcParams["font.size"] = 15
    figure, axes = plt.subplot_mosaic(
        [["all", "few"], ["curve", "curve"]], figsize=(8, 6.8), height_ratios=(1, 0.9), layout="constrained"
    )
    low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    grid = np.stack(np.meshgrid(*np.linspace(low, high, 300).T), axis=-1)
    for axis, model, title in (
        (axes["all"], everything, f"all {len(X)} objects"),
        (axes["few"], few, f"{len(labels)} prototypes"),
    ):
        regions = model.predict(grid.reshape(-1, 2)).reshape(grid.shape[:2])
        axis.contourf(grid[..., 0], grid[..., 1], regions, levels=1, cmap=PALE)
        axis.set_title(f"{title}: error {1 - model.score(X_test, y_test):.3f}", fontsize=17)
        axis.set(xticks=[], yticks=[], xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    for code, colour in enumerate(COLOURS):
        axes["all"].scatter(*X[y == code].T, s=14, color=colour, linewidths=0)
        axes["few"].scatter(*X[y == code].T, s=9, color=colour, alpha=0.25, linewidths=0)
        axes["few"].scatter(*prototypes[labels == code].T, s=110, color=colour, edgecolors="black", linewidths=1.2)
    figure.get_layout_engine().set(hspace=0.06)
    _draw_curve(axes["curve"], few.selector_.size_curve_, cross_val_score(everything, X, y, cv=5).mean())
    figure.savefig(path, dpi=110)
    plt.rcdefaults()


def _draw_curve(axis: Axes, curve: SizeCurve, accuracy_of_all: float) -> None:
    """Draw the error at every size with a label beside each line; a legend would need small letters."""
    errors, deviations = curve.errors, curve.standard_errors
    axis.fill_between(curve.sizes, errors - deviations, errors + deviations, color=COLOURS[0], alpha=0.2, linewidth=0)
    axis.plot(curve.sizes, errors, color=COLOURS[0], marker="o", markersize=7, linewidth=2)
    chosen = curve.sizes[curve.chosen], errors[curve.chosen]
    axis.plot(*chosen, color=COLOURS[1], marker="o", markersize=14, linestyle="none")
    axis.annotate(f"chosen: {chosen[0]}", chosen, (0, -30), textcoords="offset points", ha="center", color=COLOURS[1])
    axis.axhline(1 - accuracy_of_all, color="0.35", linestyle="--")
    axis.text(curve.sizes[-1], 1 - accuracy_of_all + 0.004, "1-NN on all objects", ha="right", color="0.25")
    axis.set(xscale="log", xticks=curve.sizes, xticklabels=curve.sizes, xlabel="number of prototypes")
    axis.set(ylim=(0, None), ylabel="error (cross-\nvalidated)")
    axis.minorticks_off()
    axis.spines[["top", "right"]].set_visible(False)


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
