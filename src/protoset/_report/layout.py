"""Where the objects are on the map: a layout by distances, and one by neighbours; and how much each of them shows.

by distances    classical scaling: distances on the map are near the dissimilarities, as far as a plane allows
by neighbours   as UMAP: neighbours attract each other, all others repel; distances between groups mean little
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from protoset.kernels.embedding import pull_and_push
from protoset.plots.layout import MAX_EXACT_SCALING, N_LANDMARKS, CheckedDissimilarities, plane_coordinates
from protoset.spaces import TrainingSpace

MAP_UNITS = 30_000
"""Largest coordinate on the map: fine enough for a map that is enlarged 20 times, and a number of two bytes."""

N_COMPARED = 400
"""Number of objects whose distances and neighbours on the map are compared with the real distances."""

N_LINKED = 15
"""Neighbours that attract an object in the layout by neighbours."""

N_ROUNDS = 120
"""Rounds of moves of the layout by neighbours."""

N_PUSHES = 4
"""Random objects that push an object away, for each neighbour that attracts it."""

PUSH_STRENGTH = 3.0
"""Strength of these pushes. Larger numbers loosen the groups."""

TRUSTED_CORRELATION = 0.9
"""The page starts with the layout by distances where these correlate so well with the dissimilarities."""


def lay_out(
    space: TrainingSpace, shown: np.ndarray, *, n_jobs: int | None = None
) -> tuple[dict[str, list[int] | None], dict[str, Any]]:
    """Coordinates on the map, integers from 0 to ``MAP_UNITS`` on one scale, and what the page says about the layouts.

    Few objects, and rows of numbers, have a layout by neighbours too. For many objects of other kinds, the search for
    neighbours would take long. The page starts with the layout by neighbours where distances on the other layout say
    little, and it keeps more neighbours.
    """
    n = len(shown)
    objects = space.subset(shown)
    dissimilarities = CheckedDissimilarities(objects, n)
    if n <= MAX_EXACT_SCALING:
        dissimilarities = CheckedDissimilarities(dissimilarities.square(), n)
    neighbors = find_neighbors(objects, dissimilarities, n_jobs)
    points = plane_coordinates(dissimilarities)
    by_distances: dict[str, Any] = {
        "n_landmarks": None if n <= MAX_EXACT_SCALING else N_LANDMARKS,
        "correlation": distance_correlation(dissimilarities, points),
        "kept_neighbors": kept_neighbors(neighbors, points),
    }
    x, y = _on_map(points)
    coordinates: dict[str, list[int] | None] = {"x": x, "y": y, "neighbor_x": None, "neighbor_y": None}
    layouts: dict[str, Any] = {
        "n_neighbors": N_LINKED,
        "distances": by_distances,
        "neighbors": None,
        "start": "distances",
    }
    if neighbors is not None:
        points = neighbor_layout(neighbors, points)
        coordinates["neighbor_x"], coordinates["neighbor_y"] = _on_map(points)
        layouts["neighbors"] = {
            "correlation": distance_correlation(dissimilarities, points),
            "kept_neighbors": kept_neighbors(neighbors, points),
        }
        is_trusted = (by_distances["correlation"] or 0) >= TRUSTED_CORRELATION
        if not is_trusted and layouts["neighbors"]["kept_neighbors"] > by_distances["kept_neighbors"]:
            layouts["start"] = "neighbors"
    return coordinates, layouts


def _on_map(points: np.ndarray) -> tuple[list[int], list[int]]:
    # A wide map uses the page better than a high one.
    if np.ptp(points[:, 0]) < np.ptp(points[:, 1]):
        points = points[:, ::-1]
    spread = float(np.ptp(points, axis=0).max())
    scaled = (points - points.min(axis=0)) / (spread if spread > 0 else 1.0) * MAP_UNITS
    x, y = scaled.round().astype(int).T.tolist()
    return x, y


def find_neighbors(
    objects: TrainingSpace, dissimilarities: CheckedDissimilarities, n_jobs: int | None
) -> np.ndarray | None:
    """The ``N_LINKED`` nearest neighbours of each object; None where there are too few objects, or a search is slow."""
    n = dissimilarities.n_objects
    if n <= 3 * N_LINKED:
        return None
    if n <= MAX_EXACT_SCALING:
        matrix = dissimilarities.square()
        np.fill_diagonal(matrix, np.inf)
        return np.argsort(matrix, axis=1, kind="stable")[:, :N_LINKED]
    if objects.approximate_search is None or objects.n_features is None:
        return None
    return objects.kneighbors(N_LINKED, limit=N_LINKED, n_jobs=n_jobs).indices.reshape(n, N_LINKED)


def neighbor_layout(neighbors: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Coordinates by neighbours (n, k), from other coordinates as a start. The same at every call."""
    n, k = neighbors.shape
    # A small spiral separates equal points.
    angle, radius = 2.399963 * np.arange(n), 1e-3 * np.sqrt(np.arange(n) / n)
    points = start * (5 / max(float(start.std()), 1e-300))
    points = points + np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    heads, tails = np.repeat(np.arange(n), k), neighbors.ravel().astype(np.int64)
    pull_and_push(points, heads, tails, N_ROUNDS, N_PUSHES, PUSH_STRENGTH, 1)
    return points


def distance_correlation(dissimilarities: CheckedDissimilarities, points: np.ndarray) -> float | None:
    """Pearson correlation of distances between points with the dissimilarities, over the pairs of a random sample.

    None where it is not defined: fewer than three objects, or all dissimilarities or distances are equal.
    """
    rows = _sample(len(points))
    pairs = np.triu_indices(len(rows), 1)
    real = dissimilarities.block(rows, rows)
    real = ((real + real.T) / 2)[pairs]
    drawn = np.linalg.norm(points[rows][pairs[0]] - points[rows][pairs[1]], axis=1)
    if len(real) < 2 or np.ptp(real) == 0 or np.ptp(drawn) == 0:
        return None
    return round(float(np.corrcoef(real, drawn)[0, 1]), 3)


def kept_neighbors(neighbors: np.ndarray | None, points: np.ndarray) -> float | None:
    """Share of the neighbours of an object that are among its nearest on the map, for a random sample of objects."""
    if neighbors is None:
        return None
    rows = _sample(len(points))
    _, drawn = cKDTree(points).query(points[rows], k=neighbors.shape[1] + 1)
    shares = [
        np.isin(near[near != row][: neighbors.shape[1]], neighbors[row]).mean()
        for row, near in zip(rows, drawn, strict=True)
    ]
    return round(float(np.mean(shares)), 3)


def _sample(n_objects: int) -> np.ndarray:
    if n_objects <= N_COMPARED:
        return np.arange(n_objects)
    return np.sort(np.random.default_rng(1).choice(n_objects, N_COMPARED, replace=False))
