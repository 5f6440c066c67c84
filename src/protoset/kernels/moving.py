"""One pass of gradient steps over vectors, all in compiled code.

    batch of rows -> distances to the prototypes -> loss and slopes -> gradient -> step of Adam -> next batch

``protoset.adaptation.descent`` takes the same steps in Python, for objects of other kinds.
"""

from typing import NamedTuple

import numpy as np

from protoset.kernels._compile import compiled, part, plain
from protoset.kernels.adapting import adam_step, position_of, relative_slopes, smallest_two, softmax_row
from protoset.kernels.differences import (
    REORDERED_SUMS,
    pull,
    pull_all_absolute,
    pull_all_squared,
    pull_listed,
    squares_to_all,
    squares_to_listed,
)

FREE, ON_SPHERE, ON_CENTRED_SPHERE = 0, 1, 2
"""Where prototypes can be: anywhere; at length 1; at length 1 with mean 0."""


class Labelled(NamedTuple):
    """Classes and weights of the training objects, and the prototype that started from each object, or -1."""

    codes: np.ndarray
    weights: np.ndarray
    own: np.ndarray


class Moving(NamedTuple):
    """Prototypes on their way, with the running means of Adam; all but labels and attributes change in place.

    Attributes
    ----------
    points, labels : ndarray
        Coordinates and classes of the prototypes.
    scales, logarithms : ndarray
        Scale of each attribute, and its logarithm.
    attribute_of : ndarray of int
        The attribute of each coordinate.
    sharpness : ndarray of shape (1,)
        Logarithm of the sharpness of the softmax.
    n_steps : ndarray of shape (1,)
        Steps taken so far.
    point_means, scale_means, sharpness_means : ndarray of shape (2, n)
        Running means of the gradients and of their squares.
    """

    points: np.ndarray
    labels: np.ndarray
    scales: np.ndarray
    logarithms: np.ndarray
    attribute_of: np.ndarray
    sharpness: np.ndarray
    n_steps: np.ndarray
    point_means: np.ndarray
    scale_means: np.ndarray
    sharpness_means: np.ndarray


class Steps(NamedTuple):
    """How steps are taken.

    Attributes
    ----------
    is_softmax : bool
        Whether the loss is the softmax, else the relative loss.
    surface : int
        Where prototypes can be: ``FREE``, ``ON_SPHERE``, ``ON_CENTRED_SPHERE``.
    batch : int
        Objects per step.
    n_steps : float
        Steps over which the lengths fall to 0; infinite where they stay.
    length : float
        Length of the first step of a coordinate.
    faint : float
        Size of a gradient by a coordinate below which steps become shorter.
    first_steepness, last_steepness : float
        Steepness of the relative loss at the first and at the last step.
    scale_length : float
        Length of the first step of the logarithms of the scales; 0 where they are not learned.
    scale_penalty : float
        Weight of the squared logarithms of the scales in the loss.
    sharpness_length : float
        Length of the first step of the logarithm of the sharpness.
    faint_logarithm : float
        As ``faint``, for logarithms.
    """

    is_softmax: bool
    surface: int
    batch: int
    n_steps: float
    length: float
    faint: float
    first_steepness: float
    last_steepness: float
    scale_length: float
    scale_penalty: float
    sharpness_length: float
    faint_logarithm: float


@compiled
def put_back(points, surface):
    """Put prototypes back to where objects can be."""
    if surface == FREE:
        return
    for row in range(points.shape[0]):
        point = points[row]
        total = squares = 0.0
        for j in range(point.shape[0]):
            total += point[j]
        for j in range(point.shape[0]):
            point[j] -= total / point.shape[0] if surface == ON_CENTRED_SPHERE else 0.0
            squares += point[j] * point[j]
        length = np.sqrt(squares)
        for j in range(point.shape[0]):
            point[j] /= length if length > 0.0 else 1.0


@compiled(inline="always")
def steepness_now(number, n_steps, first, last):
    """Steepness of the relative loss in step ``number`` of ``n_steps``: it goes from ``first`` to ``last``."""
    passed = min(number / n_steps, 1.0)  # chunks of several sizes may take a few more steps
    return first * (1.0 - passed) + last * passed


@compiled(inline="always")
def falling_step(values, gradient, means, length, number, n_steps, faint):
    """Take step ``number`` of Adam against a gradient, which may be changed; its length falls to 0 in ``n_steps``."""
    adam_step(values, gradient, means[0], means[1], length * max(1.0 - number / n_steps, 0.0), number, faint)


@compiled
def change_scales(moving, by_logarithms, steps):
    """Take a step of the logarithms of the scales; the mean of the scales stays 1. The points step first."""
    number, logarithms, scales, means = moving.n_steps[0], moving.logarithms, moving.scales, moving.scale_means
    for attribute in range(scales.shape[0]):
        by_logarithms[attribute] += steps.scale_penalty * logarithms[attribute] / scales.shape[0]
    falling_step(logarithms, by_logarithms, means, steps.scale_length, number, steps.n_steps, steps.faint_logarithm)
    total = 0.0
    for attribute in range(scales.shape[0]):
        scales[attribute] = np.exp(logarithms[attribute])
        total += scales[attribute]
    for attribute in range(scales.shape[0]):
        scales[attribute] *= scales.shape[0] / total
        logarithms[attribute] = np.log(scales[attribute])


class Listing(NamedTuple):
    """Lists of the prototypes that each object is compared with; used if there are many prototypes.

    Attributes
    ----------
    lists : ndarray of int
        A row for each object: the prototypes that it looks at.
    all_labels : ndarray of int
        Class of each prototype.
    known, forces : ndarray of shape (n_coordinates,)
        Memory to work in, see ``differences.squares_to_listed``.
    """

    lists: np.ndarray
    all_labels: np.ndarray
    known: np.ndarray
    forces: np.ndarray


class Scaling(NamedTuple):
    """Learned scales: how they change, and memory for the gradient by their logarithms."""

    moving: Moving
    steps: Steps
    by_logarithms: np.ndarray


@plain
def pass_over(coordinates, labelled, order, lists, moving, steps):
    """Take a step for each batch of the objects in ``order``.

    ``lists`` has a row for each object: the prototypes that it looks at. Without columns it looks at all.
    The kernels get None for what a course does not use: Numba leaves out the branches for it, which would take long to
    compile. They get single arrays and numbers, because code for large named tuples takes long to compile too.
    """
    n_prototypes, width = moving.points.shape
    is_listed, learns_scales = lists.shape[1] > 0, steps.scale_length > 0.0
    n_entries = lists.shape[1] if is_listed else n_prototypes
    gradient, transposed = np.empty((n_prototypes, width)), np.empty((width, 0 if is_listed else n_prototypes))
    labels = np.empty_like(moving.labels, shape=n_entries) if is_listed else moving.labels
    listing = Listing(lists, moving.labels, np.empty(width), np.empty(width)) if is_listed else None
    scale_slopes = np.zeros(width) if learns_scales else None
    scaling = Scaling(moving, steps, np.empty(len(moving.scales))) if learns_scales else None
    surface = None if steps.surface == FREE else steps.surface
    factors = np.sqrt(moving.scales)[moving.attribute_of]
    arguments = (
        *coordinates, *labelled, order, listing, surface, scale_slopes, scaling,
        moving.points, factors, transposed, np.empty(n_entries), labels,
        gradient, moving.points.reshape(-1), gradient.reshape(-1), moving.point_means, moving.n_steps,
        steps.batch, steps.n_steps, steps.length, steps.faint,
    )  # fmt: skip
    if not steps.is_softmax:
        relative_pass(*arguments, steps.first_steepness, steps.last_steepness)
        return
    bits = np.empty(n_entries, np.int64)
    softmax_pass(
        *arguments, moving.sharpness, moving.sharpness_means, steps.sharpness_length, steps.faint_logarithm,
        bits, bits.view(np.float64), np.zeros((4, n_entries)), np.zeros(4, np.int64), np.empty_like(transposed),
        np.zeros(1),
    )  # fmt: skip


@part
def _begin_batch(points, transposed, gradient):
    """Write the points by coordinates, and clear the gradient."""
    for j in range(transposed.shape[0]):
        for column in range(transposed.shape[1]):
            transposed[j, column] = points[column, j]
    for entry in range(gradient.shape[0]):
        gradient[entry] = 0.0


@part
def _end_batch(surface, scale_slopes, scaling, points, factors):
    """Take a step of the scales, and put the points back to where objects can be."""
    if scaling is not None:
        attribute_of, scales, by_logarithms = scaling.moving.attribute_of, scaling.moving.scales, scaling.by_logarithms
        for attribute in range(by_logarithms.shape[0]):
            by_logarithms[attribute] = 0.0
        for j in range(attribute_of.shape[0]):
            by_logarithms[attribute_of[j]] += scale_slopes[j]
            scale_slopes[j] = 0.0
        change_scales(scaling.moving, by_logarithms, scaling.steps)
        for j in range(attribute_of.shape[0]):
            factors[j] = np.sqrt(scales[attribute_of[j]])
    if surface is not None:
        put_back(points, surface)


@part
def _measure(images, gaps, absolute, row, own, listing, points, factors, transposed, squares, labels):
    """Write the squared distances of an object to the prototypes that it looks at; its own is infinitely far.

    With lists also writes the classes of these prototypes.
    """
    if listing is None:
        squares_to_all(images, gaps, absolute, row, transposed, factors, squares)
        if own >= 0:
            squares[own] = np.inf
    if listing is not None:
        lists = listing.lists
        squares_to_listed(
            images, gaps, absolute, row, points, lists, factors, listing.known, listing.forces, squares
        )  # fmt: skip
        for entry in range(lists.shape[1]):
            column = lists[row, entry]
            labels[entry] = listing.all_labels[column]
            if column == own:
                squares[entry] = np.inf


@compiled
def relative_pass(
    images, gaps, absolute, codes, weights, own, order, listing, surface, scale_slopes, scaling,
    points, factors, transposed, squares, labels,
    gradient, flat_points, flat_gradient, means, number,
    batch, n_steps, length, faint, first_steepness, last_steepness,
):  # fmt: skip
    """Take steps against the relative loss, see ``pass_over``."""
    for first in range(0, order.shape[0], batch):
        last = first + batch if first + batch < order.shape[0] else order.shape[0]
        number[0] += 1.0
        steepness = steepness_now(number[0], n_steps, first_steepness, last_steepness)
        _begin_batch(points, transposed, flat_gradient)
        for position in range(first, last):
            row = order[position]
            code = codes[row]
            _measure(images, gaps, absolute, row, own[row], listing, points, factors, transposed, squares, labels)
            same_square, other_square = smallest_two(squares, labels, code)
            same, other = np.sqrt(same_square), np.sqrt(other_square)
            _, same_slope, other_slope = relative_slopes(same, other, weights[row] / (last - first), steepness)
            if same_slope == 0.0 and other_slope == 0.0:
                continue
            # A loop, because what is written twice takes twice as long to compile.
            for is_other in range(2):
                square, distance, slope = same_square, same, same_slope
                if is_other:
                    square, distance, slope = other_square, other, other_slope
                column = position_of(square, squares, labels, code, not is_other)
                if listing is not None:
                    column = listing.lists[row, column]
                pull(images, gaps, absolute, row, points, column, factors, distance, slope, gradient, scale_slopes)
        falling_step(flat_points, flat_gradient, means, length, number[0], n_steps, faint)
        _end_batch(surface, scale_slopes, scaling, points, factors)


@compiled(fastmath=REORDERED_SUMS)
def softmax_pass(
    images, gaps, absolute, codes, weights, own, order, listing, surface, scale_slopes, scaling,
    points, factors, transposed, squares, labels,
    gradient, flat_points, flat_gradient, means, number,
    batch, n_steps, length, faint,
    logarithm, logarithm_means, logarithm_length, faint_logarithm,
    bits, powers, of_four, rows, by_coordinates, logarithm_slope,
):  # fmt: skip
    """Take steps against the softmax loss, see ``pass_over``.

    ``logarithm`` is that of the sharpness. Slopes of four objects, ``of_four``, and their ``rows`` are kept: they pull
    at once, so that gradients are read and written less often. ``by_coordinates`` is the gradient by coordinates, where
    objects look at all prototypes. For ``bits`` and ``powers`` see ``adapting.write_shares``.
    """
    n_entries = squares.shape[0]
    for first in range(0, order.shape[0], batch):
        n_rows = batch if first + batch < order.shape[0] else order.shape[0] - first
        sharpness = np.exp(logarithm[0])
        number[0] += 1.0
        logarithm_slope[0] = 0.0
        _begin_batch(points, transposed, flat_gradient)
        if listing is None:
            for j in range(by_coordinates.shape[0]):
                for column in range(n_entries):
                    by_coordinates[j, column] = 0.0
        for position in range(n_rows):
            row, slot = order[first + position], position % 4
            slopes = of_four[slot]
            _measure(images, gaps, absolute, row, own[row], listing, points, factors, transposed, squares, labels)
            weight = weights[row] / n_rows
            loss_slopes = softmax_row(squares, labels, codes[row], weight, sharpness, bits, powers, slopes)
            logarithm_slope[0] += loss_slopes[1]
            if listing is None:
                rows[slot] = row
                if absolute is not None:
                    for column in range(n_entries):
                        slopes[column] *= 2.0 * np.sqrt(squares[column]) if slopes[column] != 0.0 else 0.0
                    pull_all_absolute(images, absolute, row, transposed, factors, slopes, by_coordinates, scale_slopes)
                # Alone in its condition, else Numba would not leave the branch out.
                if gaps is not None:  # noqa: SIM102
                    if slot == 3 or position == n_rows - 1:
                        for other in range(slot + 1, 4):
                            for column in range(n_entries):
                                of_four[other, column] = 0.0
                        pull_all_squared(images, gaps, rows, transposed, factors, of_four, by_coordinates, scale_slopes)
            if listing is not None:
                known, forces = listing.known, listing.forces
                pull_listed(
                    images, gaps, absolute, row, points, listing.lists, factors, known, forces, squares, slopes,
                    gradient, scale_slopes,
                )  # fmt: skip
        if listing is None:
            for column in range(n_entries):
                for j in range(by_coordinates.shape[0]):
                    gradient[column, j] = by_coordinates[j, column]
        falling_step(flat_points, flat_gradient, means, length, number[0], n_steps, faint)
        _end_batch(surface, scale_slopes, scaling, points, factors)
        falling_step(logarithm, logarithm_slope, logarithm_means, logarithm_length, number[0], n_steps, faint_logarithm)
