"""Gradient steps: prototypes that move to lower a loss on mini-batches of the training objects.

    chunk of objects -> lists of nearby prototypes -> batches: distances, loss, gradients, step of Adam -> next chunk

The lengths of the steps come from the typical distance of an object to its nearest prototype and fall to 0.
A prototype does not count as a neighbour of the object that it started from: its distance to that object would be 0,
which says nothing about new objects. Vectors take their steps in compiled code, see ``kernels.moving``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from joblib import delayed
from scipy import sparse

from protoset import kernels
from protoset._blocks import in_threads, one_blas_thread, row_slices
from protoset.selectors._distinct import DistinctObjects
from protoset.selectors._weights import ClassWeight
from protoset.spaces.movable import MovableObjects, Moved

if TYPE_CHECKING:
    from protoset.kernels.differences import Coordinates
    from protoset.kernels.moving import Moving, Steps

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

MEAN_ROUNDS = 3
"""Rounds in which prototypes move to means."""

BATCHES_PER_PASS = 20
SMALLEST_BATCH = 16
LARGEST_BATCH = 256

TYPICAL_OBJECTS = 4096
"""Largest number of objects from which the typical distance is measured."""

MANY_PROTOTYPES = 512
"""Number of prototypes above which the relative loss of an object uses only the nearest ones."""

MANY_IN_SOFTMAX = 192
"""The same for the softmax, where each object pulls all prototypes of its list."""

LISTED_PROTOTYPES = 32
"""Length of the list of nearest prototypes of an object."""

LISTED_IN_SOFTMAX = 24
"""The same for the softmax."""

LISTING_FACTOR = 2
"""Lists are computed before pass 1 and then before each pass of a number that is larger by this factor."""

COSTLY_LISTING_FACTOR = 4
"""The same for costly objects, whose lists take much of the time of their moves."""

CHUNK_OBJECTS = 2**16
"""Largest number of objects of a chunk, which is in memory at once."""

CHUNK_COORDINATE_BYTES = 2**29
"""Largest memory of the coordinates of a chunk, in double precision."""

CHUNK_BLOCKS = 16
"""Number of blocks of consecutive objects in a chunk; the blocks are drawn at random."""


Watch = Callable[["MovingSet", float], bool]
"""Called after each chunk with the prototypes and the share of a pass; returns True to end the descent."""


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
    noise : float
        Length of the random vector that is added to an object in each pass, in units of the typical distance, so that
        prototypes do not learn single objects by heart. For vectors only; constant coordinates get none.
    relevances : bool
        Whether the scales are learned too.
    from_means : bool
        Whether the prototypes first move to the means of objects of their class, see ``move_to_means``. For vectors
        only.
    spread : float
        Distance of each starting point from the mean of its class, as a share of the distance of the prototype. Below 1
        the prototypes of a class start close together, see ``gather_at_means``. For vectors only.
    advantage : float
        Among few objects, another course is chosen only if its cost in the trials is lower by more than this number.
    trial_passes : int or None
        Number of passes of a trial on held-out objects; None for ``n_passes``.
    """

    loss: str = "relative"
    n_passes: int = 40
    step: float = 0.1
    steepness: tuple[float, float] = (10.0, 20.0)
    noise: float = 0.0
    relevances: bool = False
    from_means: bool = False
    spread: float = 1.0
    advantage: float = 0.0
    trial_passes: int | None = None

    @property
    def trial_course(self) -> Course:
        """The course of a trial."""
        return self if self.trial_passes is None else replace(self, n_passes=self.trial_passes)


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
        Cost of an error on each object; the mean is 1.
    """

    movable: MovableObjects
    codes: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, movable: MovableObjects, objects: DistinctObjects, class_weight: ClassWeight) -> WeightedObjects:
        """Distinct objects; the weight of each is its number of copies times the cost of its class."""
        weights = objects.counts * objects.costs(class_weight)
        return cls(movable, objects.codes, weights / weights.mean())

    def take(self, rows: np.ndarray) -> WeightedObjects | None:
        """Some of the objects, in memory, as rows from 0 on; None where the objects are used as they are."""
        taken = self.movable.take(rows)
        return None if taken is None else WeightedObjects(taken, self.codes[rows], self.weights[rows])

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


def row_bytes(movable: MovableObjects, n_prototypes: int) -> int:
    """Memory of an object and of its distances to the prototypes, for blocks of objects that are fetched."""
    return 8 * (n_prototypes + math.ceil(movable.n_coordinates))


def list_length(movable: MovableObjects, n_prototypes: int, loss: str) -> int:
    """Length of the lists of nearest prototypes; 0 if the loss uses all prototypes."""
    many, length = (MANY_IN_SOFTMAX, LISTED_IN_SOFTMAX) if loss == "softmax" else (MANY_PROTOTYPES, LISTED_PROTOTYPES)
    return (movable.n_listed or length) if n_prototypes > (movable.n_listed or many) else 0


def is_listing_pass(number: int, movable: MovableObjects) -> bool:
    """Whether lists are computed before a pass: they grow old as prototypes move, and prototypes move less and less."""
    factor, listing = COSTLY_LISTING_FACTOR if movable.is_costly else LISTING_FACTOR, 1
    while listing < number:
        listing *= factor
    return listing == number


def typical_distance(objects: WeightedObjects, prototypes: MovingSet, rows: np.ndarray) -> float:
    """Median distance of an object to its nearest prototype; many objects are sampled evenly."""
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
    n_jobs: int | None = None,
) -> MovingSet:
    """Move prototypes to lower the loss on some objects; ``n_jobs`` changes no result."""
    prototypes = start.copy()
    if course.from_means:
        move_to_means(objects, prototypes, rows)
    if course.spread < 1.0:
        gather_at_means(objects, prototypes, rows, course.spread)
    typical = typical_distance(objects, prototypes, rows)
    if typical > 0.0:
        _Descent(objects, prototypes, rows, course, typical, generator, n_jobs).run(watch)
    return prototypes


def move_to_means(objects: WeightedObjects, prototypes: MovingSet, rows: np.ndarray) -> None:
    """Move each prototype to the mean of the objects of its class that are nearest to it, several times.

    If an object lacks a coordinate, the prototype's own value is used.
    """
    movable, points = objects.movable, prototypes.moved.points
    if movable.coordinates is None:
        return
    images, weights = movable.coordinates.images[rows].astype(np.float64), objects.weights[rows]
    for _ in range(MEAN_ROUNDS):
        distances = movable.distances(rows, prototypes.moved)
        is_same = prototypes.labels == objects.codes[rows][:, None]
        nearest = np.where(is_same, distances, np.inf).argmin(axis=1)
        members = sparse.csr_array((weights, (nearest, np.arange(len(rows)))), (len(points), len(rows)))
        sizes = members.sum(axis=1)
        sums = members @ np.where(np.isnan(images), points[nearest], images)
        points[sizes > 0] = sums[sizes > 0] / sizes[sizes > 0, None]
        if movable.surface != kernels.moving.FREE:
            kernels.moving.put_back(points, movable.surface)


def gather_at_means(objects: WeightedObjects, prototypes: MovingSet, rows: np.ndarray, spread: float) -> None:
    """Move each prototype towards the mean of its class, to a share of its distance from the mean.

    If all objects of the class lack a coordinate, the prototype keeps its own value.
    """
    movable, points = objects.movable, prototypes.moved.points
    if movable.coordinates is None:
        return
    images, weights, codes = movable.coordinates.images[rows], objects.weights[rows], objects.codes[rows]
    for code in np.unique(prototypes.labels):
        values, known = images[codes == code].astype(np.float64), weights[codes == code, None]
        known = known * ~np.isnan(values)
        totals, of_class = known.sum(axis=0), prototypes.labels == code
        means = (known * np.nan_to_num(values)).sum(axis=0) / np.where(totals > 0, totals, 1.0)
        gathered = means + spread * (points[of_class] - means)
        points[of_class] = np.where(totals > 0, gathered, points[of_class])
    if movable.surface != kernels.moving.FREE:
        kernels.moving.put_back(points, movable.surface)


def batch_size(n_objects: int, n_prototypes: int) -> int:
    """Objects per step: a twentieth of the objects, from 16 to 256; with many prototypes, up to a quarter of them."""
    return int(np.clip(n_objects // BATCHES_PER_PASS, SMALLEST_BATCH, max(LARGEST_BATCH, n_prototypes // 4)))


def steps_of(course: Course, typical: float, movable: MovableObjects, batch: int, n_steps: float) -> Steps:
    """How steps are taken, for the kernels."""
    return kernels.moving.Steps(
        is_softmax=course.loss == "softmax",
        surface=movable.surface,
        batch=batch,
        n_steps=float(n_steps),
        length=course.step * typical / np.sqrt(movable.n_coordinates),
        faint=FAINT_GRADIENT / typical,
        first_steepness=float(course.steepness[0]),
        last_steepness=float(course.steepness[1]),
        scale_length=SCALE_STEP if course.relevances else 0.0,
        scale_penalty=SCALE_PENALTY,
        sharpness_length=SHARPNESS_STEP,
        faint_logarithm=FAINT_GRADIENT,
    )


def begin_moving(prototypes: MovingSet, typical: float, attribute_of: np.ndarray) -> Moving:
    """Return the state of the optimiser before the first step; it shares the arrays of the prototypes."""
    points, scales = prototypes.moved
    return kernels.moving.Moving(
        points=points,
        labels=prototypes.labels,
        scales=scales,
        logarithms=np.log(scales),
        attribute_of=attribute_of,
        sharpness=np.array([np.log(SHARPNESS / typical**2)]),
        n_steps=np.zeros(1),
        point_means=np.zeros((2, points.size)),
        scale_means=np.zeros((2, len(scales))),
        sharpness_means=np.zeros((2, 1)),
    )


class _Descent:
    """Passes over some objects, chunk by chunk."""

    def __init__(
        self,
        objects: WeightedObjects,
        prototypes: MovingSet,
        rows: np.ndarray,
        course: Course,
        typical: float,
        generator: np.random.RandomState,
        n_jobs: int | None,
    ):
        self._objects, self._prototypes, self._rows, self._course = objects, prototypes, rows, course
        self._generator, self._n_jobs = generator, n_jobs
        movable = objects.movable
        batch = batch_size(len(rows), len(prototypes.labels))
        self._most = min(CHUNK_OBJECTS, max(CHUNK_BLOCKS, CHUNK_COORDINATE_BYTES // row_bytes(movable, 0)))
        sizes = [len(chunk) for chunk in _chunks(len(rows), self._most, np.random.RandomState(0))]
        n_steps = course.n_passes * sum(-(-size // batch) for size in sizes)
        self._steps = steps_of(course, typical, movable, batch, n_steps)
        self._moving = begin_moving(prototypes, typical, movable.attribute_of)
        self._noise = course.noise * typical / np.sqrt(movable.n_coordinates)
        self._lengths: np.ndarray | None = None
        self._noises = np.random.Generator(np.random.SFC64(generator.randint(2**31)))
        self._lists = np.empty((len(rows), list_length(movable, len(prototypes.labels), course.loss)), np.int32)
        self._whole = self._take(np.arange(len(rows))) if len(sizes) == 1 else None

    def _take(self, positions: np.ndarray) -> tuple[WeightedObjects, np.ndarray, np.ndarray]:
        """Objects of a chunk in memory, their rows among these, and the prototypes that started from each."""
        rows = self._rows[positions]
        taken = self._objects.take(rows)
        if taken is None:
            return self._objects, rows, self._prototypes.own
        return taken, np.arange(len(rows)), self._prototypes.own[rows]

    def run(self, watch: Watch | None) -> None:
        """Make all passes, or those before the watch says stop."""
        for n_passes in range(1, self._course.n_passes + 1):
            is_listing = self._lists.shape[1] > 0 and is_listing_pass(n_passes, self._objects.movable)
            for positions in _chunks(len(self._rows), self._most, self._generator):
                objects, rows, own = self._take(positions) if self._whole is None else self._whole
                prototypes = MovingSet(self._prototypes.moved, self._prototypes.labels, own)
                if is_listing:
                    former = self._lists[positions] if n_passes > 1 else None
                    self._lists[positions] = nearby_prototypes(
                        objects, prototypes, rows, self._lists.shape[1], self._n_jobs, former
                    )
                order = self._generator.permutation(len(positions))
                lists = self._lists if self._whole is not None else self._lists[positions]
                self._pass_over(objects, prototypes, rows, order, lists)
                del objects  # before the next chunk comes into memory
                if watch is not None and watch(self._prototypes, len(positions) / len(self._rows)):
                    return

    def _pass_over(
        self, objects: WeightedObjects, prototypes: MovingSet, rows: np.ndarray, order: np.ndarray, lists: np.ndarray
    ) -> None:
        """Take a step for each batch of a chunk, with noise where the course has some."""
        coordinates = objects.movable.coordinates
        if coordinates is not None and self._noise > 0.0:
            is_taken_for_this_pass = self._whole is None and objects is not self._objects
            if self._lengths is None or self._whole is None:
                # No noise on constant coordinates.
                varies = np.fmax.reduce(coordinates.images) > np.fmin.reduce(coordinates.images)
                self._lengths = self._noise * varies
            images = coordinates.images
            is_overwritten = is_taken_for_this_pass and images.dtype == np.float64 and images.flags.writeable
            noisy = images if is_overwritten else np.empty(images.shape)
            for part in row_slices(len(images), images.shape[1] * 64):
                random = self._noises.standard_normal(images[part].shape, np.float32)
                np.add(images[part], self._lengths * random, out=noisy[part])
            coordinates = coordinates._replace(images=noisy)
        take_steps(objects, prototypes, rows, order, lists, self._moving, self._steps, coordinates)


def take_steps(
    objects: WeightedObjects,
    prototypes: MovingSet,
    rows: np.ndarray,
    order: np.ndarray,
    lists: np.ndarray,
    moving: Moving,
    steps: Steps,
    coordinates: Coordinates | None,
) -> None:
    """Take a step for each batch of the objects in ``order``, positions among ``rows``.

    ``lists`` has a row for each of the rows, see ``kernels.moving.pass_over``. With ``coordinates``, the rows are
    0, 1, 2 and so on.
    """
    if coordinates is not None:
        labelled = kernels.moving.Labelled(objects.codes, objects.weights, prototypes.own)
        kernels.moving.pass_over(coordinates, labelled, order, lists, moving, steps)
        return
    for first in range(0, len(order), steps.batch):
        positions = order[first : first + steps.batch]
        _step(objects, prototypes, rows[positions], lists[positions], moving, steps)


def _step(
    objects: WeightedObjects, prototypes: MovingSet, rows: np.ndarray, lists: np.ndarray, moving: Moving, steps: Steps
) -> None:
    """Take one step, as ``kernels.moving.pass_over`` does."""
    listed = lists if lists.shape[1] else None
    distances, labels = objects.distances(prototypes, rows, listed)
    columns = np.broadcast_to(np.arange(len(prototypes.labels)), distances.shape) if listed is None else listed
    batch = distances, labels, objects.codes[rows], objects.weights[rows] / len(rows)
    slopes, sharpness_slope, kernel = np.empty_like(distances), 0.0, kernels.moving
    moving.n_steps[0] += 1.0
    number, n_steps = float(moving.n_steps[0]), steps.n_steps
    if steps.is_softmax:
        _, sharpness_slope = kernels.adapting.softmax_loss(*batch, float(np.exp(moving.sharpness[0])), slopes)
    else:
        steepness = kernel.steepness_now.py_func(number, n_steps, steps.first_steepness, steps.last_steepness)
        kernels.adapting.relative_loss(*batch, steepness, slopes)
    gradient = Moved(np.zeros_like(moving.points), np.zeros_like(moving.scales))
    objects.movable.add_gradients(rows, prototypes.moved, columns, distances, slopes, gradient)
    # Plain Python: around the step of Adam there is too little work to be worth compiling.
    take_step, flat = kernel.falling_step.py_func, gradient.points.reshape(-1)
    take_step(moving.points.reshape(-1), flat, moving.point_means, steps.length, number, n_steps, steps.faint)
    if steps.scale_length > 0.0:
        kernel.change_scales(moving, gradient.scales, steps)
    if steps.is_softmax:
        slope, length = np.array([sharpness_slope]), steps.sharpness_length
        take_step(moving.sharpness, slope, moving.sharpness_means, length, number, n_steps, steps.faint_logarithm)


def _chunks(n_objects: int, most: int, generator: np.random.RandomState) -> Iterator[np.ndarray]:
    """Positions of the objects of each chunk of about ``most``; each of several has 16 random blocks of objects."""
    if n_objects <= most:
        yield np.arange(n_objects)
        return
    n_chunks = -(-n_objects // most)
    blocks = np.array_split(np.arange(n_objects), n_chunks * CHUNK_BLOCKS)
    for drawn in generator.permutation(len(blocks)).reshape(n_chunks, CHUNK_BLOCKS):
        yield np.concatenate([blocks[block] for block in np.sort(drawn)])


def nearby_prototypes(
    objects: WeightedObjects,
    prototypes: MovingSet,
    rows: np.ndarray,
    length: int,
    n_jobs: int | None = None,
    former: np.ndarray | None = None,
) -> np.ndarray:
    """List the nearest prototypes of each object, the nearest of its class and the nearest of another among them.

    ``former`` are lists of other positions of the same prototypes. They save time and change no result: a prototype
    farther than all prototypes of the former list need not be compared.
    """
    lists = np.empty((len(rows), length), np.int32)

    def fill(part: slice) -> None:
        screen, own = objects.movable.screen(rows[part], prototypes.moved), prototypes.own[rows[part]]
        left = np.flatnonzero(own >= 0)
        screen[left, own[left]] = np.finfo(screen.dtype).max
        bounds = np.full(len(screen), np.inf, screen.dtype)
        if former is not None:
            furthest = np.take_along_axis(screen, former[part], axis=1).max(axis=1)
            with np.errstate(over="ignore"):
                bounds = np.nextafter(furthest, bounds)
        kernels.adapting.list_nearest(screen, prototypes.labels, objects.codes[rows[part]], bounds, lists[part])

    # Products by several threads differ in the last digits.
    with one_blas_thread():
        in_threads(n_jobs)(delayed(fill)(part) for part in row_slices(len(rows), len(prototypes.labels) * 16))
    return lists
