"""Gradient steps: prototypes that move to lower a loss on mini-batches of the training objects.

    batch of objects -> distances to the prototypes -> loss and slopes -> gradients -> step of Adam

The lengths of the steps come from the typical distance of an object to its nearest prototype and fall to 0.
A prototype does not count as a neighbour of the object that it started from: near that object it would say nothing
about others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from protoset import kernels
from protoset._blocks import row_slices
from protoset.spaces.movable import MovableObjects, Moved

LOSS_STEEPNESS = 20.0
"""Steepness of the relative loss where sets are compared."""

SHARPNESS = 4.0
"""Sharpness of the softmax at the start, in units of the typical distance."""

SHARPNESS_STEP = 0.01
"""Length of the first step of the logarithm of the sharpness."""

SCALE_STEP = 0.02
"""Length of the first step of the logarithms of the scales."""

SCALE_PENALTY = 0.01
"""Weight of the squared logarithms of the scales in the loss: scales differ only where that pays."""

FAINT_GRADIENT = 1e-6
"""Size of a gradient, in units of the typical distance, below which steps become shorter."""

BATCHES_PER_PASS = 20
SMALLEST_BATCH = 16
LARGEST_BATCH = 256

TYPICAL_OBJECTS = 4096
"""Objects by which the typical distance is measured at most."""

MANY_PROTOTYPES = 512
"""Prototypes beyond which an object looks at those near it only."""

LISTED_PROTOTYPES = 32
"""Prototypes that an object looks at then."""


Watch = Callable[["MovingSet", int], bool]
"""Told the prototypes and the number of passes after each pass; ends a descent by returning True."""


@dataclass(frozen=True)
class Course:
    """How prototypes are to move.

    Attributes
    ----------
    loss : str
        "relative": logistic function of (d+ - d-) / (d+ + d-), of the nearest prototype of the object's class and the
        nearest of another. "softmax": - log of the share of the object's class in a softmax over all prototypes.
    n_passes : int
        Passes over the objects.
    step : float
        Length of the first step in units of the typical distance.
    steepness : (float, float)
        Steepness of the relative loss at the first and at the last step.
    relevances : bool
        Whether the scales are learned too.
    """

    loss: str = "relative"
    n_passes: int = 40
    step: float = 0.1
    steepness: tuple[float, float] = (10.0, 20.0)
    relevances: bool = False


@dataclass(eq=False)
class MovingSet:
    """Prototypes on their way.

    Attributes
    ----------
    moved : Moved
        Where they are.
    labels : ndarray of int
        Their classes.
    own : ndarray of int
        For each training object the prototype that started from it, or -1.
    """

    moved: Moved
    labels: np.ndarray
    own: np.ndarray

    def copy(self) -> MovingSet:
        """Return a copy that can move on its own."""
        return MovingSet(Moved(self.moved.points.copy(), self.moved.scales.copy()), self.labels, self.own)


@dataclass(eq=False)
class WeightedObjects:
    """Training objects to move among.

    Attributes
    ----------
    movable : MovableObjects
    codes : ndarray of int
        Class of each object.
    weights : ndarray of float
        What an error on each costs; 1 on average.
    """

    movable: MovableObjects
    codes: np.ndarray
    weights: np.ndarray

    def distances(
        self, prototypes: MovingSet, rows: np.ndarray, columns: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Distances of some objects to all prototypes, or to those in their rows of ``columns``; labels of these.

        A prototype that started from an object is infinitely far from it.
        """
        distances, own = self.movable.distances(rows, prototypes.moved, columns), prototypes.own[rows]
        if columns is None:
            left = np.flatnonzero(own >= 0)
            distances[left, own[left]] = np.inf
            return distances, np.broadcast_to(prototypes.labels, distances.shape)
        distances[columns == own[:, None]] = np.inf
        return distances, prototypes.labels[columns]


def typical_distance(objects: WeightedObjects, prototypes: MovingSet, rows: np.ndarray) -> float:
    """Median distance of an object to its nearest prototype; of many objects, of some from everywhere among them."""
    some = rows[:: max(1, -(-len(rows) // TYPICAL_OBJECTS))]
    nearest = objects.distances(prototypes, some)[0].min(axis=1)
    nearest = nearest[np.isfinite(nearest)]
    return float(np.median(nearest)) if len(nearest) else 0.0


def descend(
    objects: WeightedObjects,
    start: MovingSet,
    rows: np.ndarray,
    course: Course,
    generator: np.random.RandomState,
    watch: Watch | None = None,
) -> MovingSet:
    """Move prototypes to lower the loss on some objects."""
    prototypes = start.copy()
    points, scales = prototypes.moved
    movable = objects.movable
    typical = typical_distance(objects, prototypes, rows)
    if typical == 0.0:
        return prototypes
    batch = batch_size(len(rows), len(prototypes.labels))
    n_steps, number = course.n_passes * -(-len(rows) // batch), 0
    length = course.step * typical / np.sqrt(movable.n_coordinates)
    adam = _Adam(points.size), _Adam(len(scales)), _Adam(1)
    logarithms, sharpness = np.zeros(len(scales)), np.array([np.log(SHARPNESS / typical**2)])
    all_columns = np.arange(len(prototypes.labels))
    lists: np.ndarray | None = None
    for n_passes in range(1, course.n_passes + 1):
        # Lists grow old as prototypes move, and prototypes move less and less.
        if len(all_columns) > (movable.n_listed or MANY_PROTOTYPES) and n_passes & (n_passes - 1) == 0:
            lists = nearby_prototypes(objects, prototypes, rows)
        order = generator.permutation(len(rows))
        for first in range(0, len(order), batch):
            positions = order[first : first + batch]
            some = rows[positions]
            number += 1
            rest = 1.0 - number / n_steps
            listed = None if lists is None else lists[positions]
            distances, labels = objects.distances(prototypes, some, listed)
            columns = np.broadcast_to(all_columns, distances.shape) if listed is None else listed
            batch_of = distances, labels, objects.codes[some], objects.weights[some]
            slopes, turn = np.empty_like(distances), 0.0
            if course.loss == "relative":
                steepness = course.steepness[0] * rest + course.steepness[1] * (1.0 - rest)
                kernels.adapting.relative_loss(*batch_of, steepness, slopes)
            else:
                _, turn = kernels.adapting.softmax_loss(*batch_of, float(np.exp(sharpness[0])), slopes)
            slopes /= len(some)
            gradient = Moved(np.zeros_like(points), np.zeros_like(scales))
            movable.add_gradients(some, prototypes.moved, columns, distances, slopes, gradient)
            adam[0].step(points, gradient.points, length * rest, FAINT_GRADIENT / typical)
            movable.project(points)
            if course.relevances:
                push = gradient.scales + SCALE_PENALTY * logarithms / len(scales)
                adam[1].step(logarithms, push, SCALE_STEP * rest, FAINT_GRADIENT)
                scales[:] = np.exp(logarithms)
                scales *= len(scales) / scales.sum()
                logarithms[:] = np.log(scales)
            if course.loss == "softmax":
                adam[2].step(sharpness, np.array([turn / len(some)]), SHARPNESS_STEP * rest, FAINT_GRADIENT)
        if watch is not None and watch(prototypes, n_passes):
            break
    return prototypes


def batch_size(n_objects: int, n_prototypes: int) -> int:
    """Objects per step: a twentieth, but more with many prototypes, whose steps cost more."""
    return int(np.clip(n_objects // BATCHES_PER_PASS, SMALLEST_BATCH, max(LARGEST_BATCH, n_prototypes // 4)))


def nearby_prototypes(objects: WeightedObjects, prototypes: MovingSet, rows: np.ndarray) -> np.ndarray:
    """List the nearest prototypes of each object, the nearest of its class and the nearest of another among them."""
    lists = np.empty((len(rows), objects.movable.n_listed or LISTED_PROTOTYPES), np.int32)
    for part in row_slices(len(rows), len(prototypes.labels) * 8):
        screen, own = objects.movable.screen(rows[part], prototypes.moved), prototypes.own[rows[part]]
        left = np.flatnonzero(own >= 0)
        screen[left, own[left]] = np.finfo(screen.dtype).max
        kernels.adapting.list_nearest(screen, prototypes.labels, objects.codes[rows[part]], lists[part])
    return lists


class _Adam:
    """Running means of the gradients of ``size`` numbers."""

    def __init__(self, size: int):
        self._mean, self._square, self._number = np.zeros(size), np.zeros(size), 0

    def step(self, values: np.ndarray, gradient: np.ndarray, length: float, floor: float) -> None:
        """Change the values in place."""
        self._number += 1
        kernels.adapting.adam_step(
            values.reshape(-1), gradient.reshape(-1), self._mean, self._square, length, self._number, floor
        )
