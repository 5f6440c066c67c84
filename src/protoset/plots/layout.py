"""Coordinates in the plane from dissimilarities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.spatial import cKDTree

from protoset._blocks import row_slices
from protoset.plots._checks import CheckedDissimilarities

__all__ = ["CheckedDissimilarities", "Plane", "classical_scaling", "plane_coordinates", "untangle"]

MAX_EXACT_SCALING = 1000
"""Largest number of objects for which all dissimilarities are used."""

N_LANDMARKS = 250
"""Number of landmarks for more objects."""


@dataclass(frozen=True, eq=False)
class Plane:
    """Coordinates of objects, and the landmarks by which other objects are placed among them.

    Landmarks (de Silva and Tenenbaum, 2004): some objects are placed by classical scaling, all others by their
    dissimilarities to these landmarks. So n times 250 dissimilarities are computed instead of n times n.
    """

    points: np.ndarray
    landmarks: np.ndarray
    _squares: np.ndarray
    _inverse: np.ndarray

    @classmethod
    def of(cls, dissimilarities: CheckedDissimilarities) -> Plane:
        """Place objects by classical scaling; by landmarks where they are many. The same at every call."""
        n = dissimilarities.n_objects
        is_exact = n <= MAX_EXACT_SCALING
        landmarks = np.arange(n)
        if not is_exact:
            landmarks = np.sort(np.random.default_rng(0).choice(n, N_LANDMARKS, replace=False))
        squares = _symmetric_squares(dissimilarities.block(landmarks, landmarks))
        values, vectors = _leading(squares)
        inverse = np.where(values > 0, vectors / np.sqrt(np.where(values > 0, values, 1)), 0)
        if is_exact:
            return cls(vectors * np.sqrt(np.maximum(values, 0)), landmarks, squares.mean(axis=0), inverse)
        plane = cls(np.empty((n, 2)), landmarks, squares.mean(axis=0), inverse)
        for block in row_slices(n, N_LANDMARKS * 8):
            plane.points[block] = plane.place(dissimilarities.block(np.arange(n)[block], landmarks))
        return plane

    def place(self, distances: np.ndarray) -> np.ndarray:
        """Coordinates of further objects, from their dissimilarities to the landmarks, a row each."""
        return -0.5 * (distances**2 - self._squares) @ self._inverse


def plane_coordinates(dissimilarities: CheckedDissimilarities) -> np.ndarray:
    """Coordinates of objects in the plane, see :class:`Plane`."""
    return Plane.of(dissimilarities).points


def classical_scaling(matrix: np.ndarray) -> np.ndarray:
    """Coordinates whose Euclidean distances approximate the dissimilarities (Torgerson, 1952).

    An asymmetric matrix is averaged with its transpose. Axes without a positive eigenvalue are 0. The sign of an axis
    is chosen so that the entry farthest from 0 is positive.
    """
    values, vectors = _leading(_symmetric_squares(matrix))
    return vectors * np.sqrt(np.maximum(values, 0))


def _symmetric_squares(matrix: np.ndarray) -> np.ndarray:
    return ((matrix + matrix.T) / 2) ** 2


def _leading(squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two largest eigenvalues of the doubly centred products, and their eigenvectors."""
    n = len(squares)
    centred = squares - squares.mean(axis=0)
    products = -0.5 * (centred - centred.mean(axis=1, keepdims=True))
    values, vectors = eigh(products, subset_by_index=(max(n - 2, 0), n - 1))
    values, vectors = values[::-1], vectors[:, ::-1]
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))])
    values, vectors = np.where(values > 1e-9 * max(values.max(), 0), values, 0), vectors * np.where(signs < 0, -1, 1)
    if n == 1:
        return np.array([values[0], 0]), np.hstack([vectors, np.zeros((1, 1))])
    return values, vectors


def untangle(points: np.ndarray, edges: np.ndarray, box: tuple[float, float], *, n_steps: int = 150) -> np.ndarray:
    """Pull the ends of edges together and push boxes apart, so that a graph is readable.

    Points come in the unit square, as does the box, the width and height of the drawing at each point. The result is
    in units of the box.
    """
    n = len(points)
    # A small spiral separates equal points, in the same way at every call.
    angle, radius = 2.399963 * np.arange(n), 1e-3 * np.sqrt(np.arange(n) + 1)
    home = points / np.array(box)
    points = home + np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    for step in range(n_steps):
        pull = (home - points) * 0.02
        along = points[edges[:, 1]] - points[edges[:, 0]]
        length = np.linalg.norm(along, axis=1, keepdims=True)
        force = 0.1 * along * np.maximum(length - 1.6, 0) / np.maximum(length, 1e-9)
        np.add.at(pull, edges[:, 0], force)
        np.add.at(pull, edges[:, 1], -force)
        points = points + pull * (1 - step / n_steps)
        points = _push_apart(points)
    for _ in range(n_steps):
        moved = _push_apart(points)
        if np.array_equal(moved, points):
            break
        points = moved
    return points


def _push_apart(points: np.ndarray, gap: float = 1.15) -> np.ndarray:
    """Move overlapping unit boxes apart along the side where they overlap less."""
    pairs = cKDTree(points).query_pairs(gap - 1e-6, p=np.inf, output_type="ndarray")
    apart = points[pairs[:, 0]] - points[pairs[:, 1]]
    overlap = gap - np.abs(apart)
    sideways = overlap[:, :1] < overlap[:, 1:]
    push = 0.35 * overlap * np.where(apart < 0, -1, 1) * np.hstack([sideways, ~sideways])
    moved = points.copy()
    np.add.at(moved, pairs[:, 0], push)
    np.add.at(moved, pairs[:, 1], -push)
    return moved
