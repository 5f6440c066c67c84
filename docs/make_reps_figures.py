"""Draw the pictures of docs/guide/how_reps_works.md.

python docs/make_reps_figures.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from sklearn.datasets import make_moons

from protoset import REPS, PrototypeClassifier, Refined

COLOURS = np.array(["#2a6fbb", "#d1662b"])
IMAGES = Path(__file__).parent / "images"
CENTRE = 23
"""The object whose neighbours the first pictures show."""


def draw_objects(ax: Axes, X: np.ndarray, y: np.ndarray, alpha: float = 1.0) -> None:
    """Draw all objects in the colours of their classes."""
    ax.scatter(*X.T, s=18, c=COLOURS[y], alpha=alpha, linewidths=0)
    ax.set(xticks=[], yticks=[], aspect="equal")


def draw_ranks(X: np.ndarray, y: np.ndarray) -> None:
    """An object, the ranks of its neighbours, and the features that they become."""
    distances = np.linalg.norm(X - X[CENTRE], axis=1)
    distances[CENTRE] = np.inf
    nearest = np.argsort(distances)[:8]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6), width_ratios=(1.25, 1))
    draw_objects(left, X, y, alpha=0.35)
    left.scatter(*X[CENTRE], s=150, c=COLOURS[y[CENTRE]], marker="*", edgecolors="black", zorder=3)
    for rank, neighbour in enumerate(nearest, 1):
        left.plot(*X[[CENTRE, neighbour]].T, color="grey", linewidth=0.7, zorder=1)
        left.scatter(*X[neighbour], s=110, c=COLOURS[y[neighbour]], edgecolors="black", linewidths=0.5, zorder=3)
        left.text(*X[neighbour], str(rank), color="white", ha="center", va="center", fontsize=8, zorder=4)
    reach = 1.25 * distances[nearest[-1]]
    left.set_xlim(X[CENTRE, 0] - 1.6 * reach, X[CENTRE, 0] + 1.6 * reach)
    left.set_ylim(X[CENTRE, 1] - reach, X[CENTRE, 1] + reach)
    left.set_title("ranks of the neighbours of the star", fontsize=10)
    signs = np.where(y[nearest] == y[CENTRE], 1, -1)
    right.bar(range(1, 9), signs * 2.0 ** -np.arange(1, 9), color=COLOURS[y[nearest]])
    right.axhline(0, color="black", linewidth=0.8)
    right.set(xlabel="rank", xticks=range(1, 9))
    right.set_title("features: + same class, - other class", fontsize=10)
    figure.tight_layout()
    figure.savefig(IMAGES / "reps-ranks.png", dpi=110)


def draw_weights(X: np.ndarray, y: np.ndarray, selector: REPS) -> None:
    """The weight of each object as the size of its circle."""
    figure, axes = plt.subplots(figsize=(6.5, 3.6))
    weights = selector.weights_ / selector.weights_.max()
    draw_objects(axes, X, y, alpha=0.25)
    axes.scatter(*X.T, s=160 * weights, c=COLOURS[y], alpha=0.75, edgecolors="black", linewidths=0.4)
    axes.scatter(*X[weights == 0].T, marker="x", c="black", s=22, linewidths=1)
    axes.set_title("weights as areas; a cross has the weight 0", fontsize=10)
    figure.tight_layout()
    figure.savefig(IMAGES / "reps-weights.png", dpi=110)


def draw_cuts(X: np.ndarray, y: np.ndarray, selector: REPS) -> None:
    """Three budgets as cuts of one order; then the same budget refined, and moved."""
    moved = PrototypeClassifier(Refined(REPS(6))).fit(X, y)
    refined = Refined(REPS(6)).fit(X, y).sample_indices_
    sets = {f"REPS, {size} prototypes": X[selector.select(size)] for size in (24, 12, 6)}
    labels = [y[selector.select(size)] for size in (24, 12, 6)] + [y[refined], moved.prototype_labels_]
    sets |= {"6, refined by swaps": X[refined], "6, moved": np.asarray(moved.prototypes_)}
    figure, axes = plt.subplots(1, 5, figsize=(13, 2.5))
    for ax, (title, prototypes), classes in zip(axes, sets.items(), labels, strict=True):
        draw_objects(ax, X, y, alpha=0.25)
        ax.scatter(*prototypes.T, s=55, c=COLOURS[classes], edgecolors="black", linewidths=0.8)
        ax.set_title(title, fontsize=10)
    figure.tight_layout()
    figure.savefig(IMAGES / "reps-cuts.png", dpi=110)


if __name__ == "__main__":
    X, y = make_moons(160, noise=0.28, random_state=3)
    fitted = REPS(6).fit(X, y)
    draw_ranks(X, y)
    draw_weights(X, y, fitted)
    draw_cuts(X, y, fitted)
