"""Draw the picture of the README.

python docs/make_figures.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.datasets import make_moons
from sklearn.neighbors import KNeighborsClassifier

from protoset import REPS, PrototypeClassifier

COLOURS = ("#2a6fbb", "#d1662b")
PALE = ListedColormap(["#d9e6f4", "#f8e3d6"])


def draw(path: Path) -> None:
    """All objects, the prototypes, and the error at every size, side by side."""
    X, y = make_moons(500, noise=0.28, random_state=4)
    X_test, y_test = make_moons(2000, noise=0.28, random_state=5)
    everything = KNeighborsClassifier(1).fit(X, y)
    few = PrototypeClassifier(REPS()).fit(X, y)
    kept = few.sample_indices_
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.7), width_ratios=(1, 1, 1.05), layout="constrained")
    low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    grid = np.stack(np.meshgrid(*np.linspace(low, high, 300).T), axis=-1)
    for axis, model, title in (
        (axes[0], everything, f"1-NN on all {len(X)} objects"),
        (axes[1], few, f"1-NN on {len(kept)} prototypes"),
    ):
        regions = model.predict(grid.reshape(-1, 2)).reshape(grid.shape[:2])
        axis.contourf(grid[..., 0], grid[..., 1], regions, levels=1, cmap=PALE)
        axis.set_title(f"{title}\nerror on new objects {1 - model.score(X_test, y_test):.3f}", fontsize=11)
        axis.set(xticks=[], yticks=[], xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    for code, colour in enumerate(COLOURS):
        axes[0].scatter(*X[y == code].T, s=12, color=colour, linewidths=0)
        axes[1].scatter(*X[y == code].T, s=8, color=colour, alpha=0.25, linewidths=0)
        mine = kept[y[kept] == code]
        axes[1].scatter(*X[mine].T, s=42, color=colour, edgecolors="black", linewidths=0.8)
    curve = few.selector_.size_curve_
    axes[2].errorbar(
        curve.sizes, curve.errors, curve.standard_errors, color="#444", marker="o", ms=4, lw=1.3, capsize=2
    )
    chosen = curve.chosen
    axes[2].plot(curve.sizes[chosen], curve.errors[chosen], "o", ms=11, mfc="none", mec="#c00", mew=2)
    axes[2].annotate(
        f"chosen: {curve.sizes[chosen]}",
        (curve.sizes[chosen], curve.errors[chosen]),
        (0.32, 0.8),
        textcoords="axes fraction",
        color="#c00",
        arrowprops={"arrowstyle": "-", "color": "#c00"},
    )
    axes[2].set_xscale("log")
    axes[2].set_xticks([5, 10, 50, 100, 500], ["5", "10", "50", "100", "500"], minor=False)
    axes[2].minorticks_off()
    axes[2].set(xlabel="prototypes", ylabel="cross-validated error", title="Error at every size (size_curve_)")
    axes[2].title.set_fontsize(11)
    axes[2].spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    target = Path(__file__).parent / "images" / "prototypes.png"
    target.parent.mkdir(exist_ok=True)
    draw(target)
    print(f"wrote {target.name}")
