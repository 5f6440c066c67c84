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
def steepness_now(moving, steps):
    """Steepness of the relative loss in the next step."""
    passed = (moving.n_steps[0] + 1.0) / steps.n_steps
    return steps.first_steepness * (1.0 - passed) + steps.last_steepness * passed


@compiled(inline="always")
def take_step(moving, points, by_points, steps):
    """Take a step of Adam against the gradient by the points; both are flat. The gradient may be changed."""
    moving.n_steps[0] += 1.0
    number, means = moving.n_steps[0], moving.point_means
    length = steps.length * (1.0 - number / steps.n_steps)
    adam_step(points, by_points, means[0], means[1], length, number, steps.faint)


@compiled(inline="always")
def change_sharpness(moving, slope, steps):
    """Take a step of the logarithm of the sharpness; ``take_step`` comes before it."""
    number, means = moving.n_steps[0], moving.sharpness_means
    length = steps.sharpness_length * (1.0 - number / steps.n_steps)
    adam_step(moving.sharpness, slope, means[0], means[1], length, number, steps.faint_logarithm)


@compiled
def change_scales(moving, by_logarithms, steps):
    """Take a step of the logarithms of the scales; the mean of the scales stays 1. ``take_step`` comes before it."""
    length = steps.scale_length * (1.0 - moving.n_steps[0] / steps.n_steps)
    logarithms, scales, means = moving.logarithms, moving.scales, moving.scale_means
    for attribute in range(scales.shape[0]):
        by_logarithms[attribute] += steps.scale_penalty * logarithms[attribute] / scales.shape[0]
    adam_step(logarithms, by_logarithms, means[0], means[1], length, moving.n_steps[0], steps.faint_logarithm)
    total = 0.0
    for attribute in range(scales.shape[0]):
        scales[attribute] = np.exp(logarithms[attribute])
        total += scales[attribute]
    for attribute in range(scales.shape[0]):
        scales[attribute] *= scales.shape[0] / total
        logarithms[attribute] = np.log(scales[attribute])


class Work(NamedTuple):
    """Memory that the kernels work in; Python makes it, because code for new arrays and views takes long to compile.

    Attributes
    ----------
    factors : ndarray of shape (n_coordinates,)
        Factor of each coordinate: the root of its scale.
    points : ndarray
        The points of the prototypes as one row.
    gradient, flat_gradient : ndarray
        Gradient of a batch by the points, with a row for each prototype, and the same memory as one row.
    transposed : ndarray of shape (n_coordinates, n_prototypes)
        The points by coordinates; without columns where objects look at listed prototypes.
    squares, labels : ndarray
        Squared distances and classes of the prototypes that an object looks at.
    known, forces : ndarray of shape (n_coordinates,)
        See ``differences.squares_to_listed``.
    """

    factors: np.ndarray
    points: np.ndarray
    gradient: np.ndarray
    flat_gradient: np.ndarray
    transposed: np.ndarray
    squares: np.ndarray
    labels: np.ndarray
    known: np.ndarray
    forces: np.ndarray


class SoftmaxWork(NamedTuple):
    """Further memory of the softmax.

    Attributes
    ----------
    bits, powers : ndarray
        See ``adapting.write_shares``.
    slopes, rows : ndarray
        Slopes of four objects, and their rows: they pull at once, so that gradients are read and written less often.
    gradient : ndarray of shape (n_coordinates, n_prototypes)
        Gradient of a batch by coordinates.
    sharpness_slope : ndarray of shape (1,)
        Gradient of a batch by the logarithm of the sharpness.
    """

    bits: np.ndarray
    powers: np.ndarray
    slopes: np.ndarray
    rows: np.ndarray
    gradient: np.ndarray
    sharpness_slope: np.ndarray


@plain
def pass_over(coordinates, labelled, order, lists, moving, steps):
    """Take a step for each batch of the objects in ``order``.

    ``lists`` has a row for each object: the prototypes that it looks at. Without columns it looks at all.
    The kernels get None for what a course does not use. Numba leaves out the branches for it, which would take long to
    compile.
    """
    n_prototypes, width = moving.points.shape
    is_listed = lists.shape[1] > 0
    n_entries = lists.shape[1] if is_listed else n_prototypes
    gradient, transposed = np.empty((n_prototypes, width)), np.empty((width, 0 if is_listed else n_prototypes))
    work = Work(
        factors=np.sqrt(moving.scales)[moving.attribute_of],
        points=moving.points.reshape(-1),
        gradient=gradient,
        flat_gradient=gradient.reshape(-1),
        transposed=transposed,
        squares=np.empty(n_entries),
        labels=np.empty_like(moving.labels, shape=n_entries) if is_listed else moving.labels,
        known=np.empty(width),
        forces=np.empty(width),
    )
    lists, surface = lists if is_listed else None, None if steps.surface == FREE else steps.surface
    scale_slopes = np.zeros(width) if steps.scale_length > 0.0 else None
    arguments = *coordinates, labelled, order, lists, surface, scale_slopes, moving, steps, work
    if not steps.is_softmax:
        relative_pass(*arguments)
        return
    bits = np.empty(n_entries, np.int64)
    slopes, rows, sharpness_slope = np.zeros((4, n_entries)), np.zeros(4, np.int64), np.zeros(1)
    powers, by_coordinates = bits.view(np.float64), np.empty_like(transposed)
    softmax_pass(*arguments, SoftmaxWork(bits, powers, slopes, rows, by_coordinates, sharpness_slope))


@part
def _begin_batch(moving, work):
    """Write the points by coordinates, and clear the gradient."""
    points, transposed, gradient = moving.points, work.transposed, work.flat_gradient
    for j in range(transposed.shape[0]):
        for column in range(transposed.shape[1]):
            transposed[j, column] = points[column, j]
    for entry in range(gradient.shape[0]):
        gradient[entry] = 0.0


@part
def _end_batch(surface, scale_slopes, moving, steps, work):
    """Take a step against the gradients, and put the points back to where objects can be."""
    take_step(moving, work.points, work.flat_gradient, steps)
    if scale_slopes is not None:
        attribute_of, factors = moving.attribute_of, work.factors
        by_logarithms = np.zeros(moving.scales.shape[0])
        for j in range(attribute_of.shape[0]):
            by_logarithms[attribute_of[j]] += scale_slopes[j]
            scale_slopes[j] = 0.0
        change_scales(moving, by_logarithms, steps)
        for j in range(attribute_of.shape[0]):
            factors[j] = np.sqrt(moving.scales[attribute_of[j]])
    if surface is not None:
        put_back(moving.points, surface)


@part
def _measure(images, gaps, absolute, row, own, lists, moving, work):
    """Write the squared distances of an object to the prototypes that it looks at; its own is infinitely far.

    With lists also writes the classes of these prototypes.
    """
    squares, factors = work.squares, work.factors
    if lists is None:
        squares_to_all(images, gaps, absolute, row, work.transposed, factors, squares)
        if own >= 0:
            squares[own] = np.inf
    if lists is not None:
        known, forces = work.known, work.forces
        squares_to_listed(images, gaps, absolute, row, moving.points, lists, factors, known, forces, squares)
        for entry in range(lists.shape[1]):
            column = lists[row, entry]
            work.labels[entry] = moving.labels[column]
            if column == own:
                squares[entry] = np.inf


@compiled
def relative_pass(images, gaps, absolute, labelled, order, lists, surface, scale_slopes, moving, steps, work):
    """Take steps against the relative loss, see ``pass_over``."""
    codes, weights, own = labelled.codes, labelled.weights, labelled.own
    points, squares, labels, factors, gradient = moving.points, work.squares, work.labels, work.factors, work.gradient
    for first in range(0, order.shape[0], steps.batch):
        n_rows, steepness = min(steps.batch, order.shape[0] - first), steepness_now(moving, steps)
        _begin_batch(moving, work)
        for position in range(first, first + n_rows):
            row = order[position]
            code = codes[row]
            _measure(images, gaps, absolute, row, own[row], lists, moving, work)
            same_square, other_square = smallest_two(squares, labels, code)
            same, other = np.sqrt(same_square), np.sqrt(other_square)
            _, same_slope, other_slope = relative_slopes(same, other, weights[row] / n_rows, steepness)
            if same_slope == 0.0 and other_slope == 0.0:
                continue
            # A loop, because what is written twice takes twice as long to compile.
            for is_other in range(2):
                square, distance, slope = same_square, same, same_slope
                if is_other:
                    square, distance, slope = other_square, other, other_slope
                column = position_of(square, squares, labels, code, not is_other)
                if lists is not None:
                    column = lists[row, column]
                pull(images, gaps, absolute, row, points, column, factors, distance, slope, gradient, scale_slopes)
        _end_batch(surface, scale_slopes, moving, steps, work)


@compiled(fastmath=REORDERED_SUMS)
def softmax_pass(images, gaps, absolute, labelled, order, lists, surface, scale_slopes, moving, steps, work, softmax):
    """Take steps against the softmax loss, see ``pass_over``."""
    codes, weights, own = labelled.codes, labelled.weights, labelled.own
    points, squares, labels, factors, gradient = moving.points, work.squares, work.labels, work.factors, work.gradient
    bits, powers, sharpness_slope, by_coordinates = (
        softmax.bits,
        softmax.powers,
        softmax.sharpness_slope,
        softmax.gradient,
    )
    of_four, rows, transposed, n_entries = softmax.slopes, softmax.rows, work.transposed, squares.shape[0]
    for first in range(0, order.shape[0], steps.batch):
        n_rows, sharpness = min(steps.batch, order.shape[0] - first), np.exp(moving.sharpness[0])
        _begin_batch(moving, work)
        sharpness_slope[0] = 0.0
        by_coordinates[:] = 0.0
        for number in range(n_rows):
            row, slot = order[first + number], number % 4
            slopes = of_four[slot]
            _measure(images, gaps, absolute, row, own[row], lists, moving, work)
            weight = weights[row] / n_rows
            loss_slopes = softmax_row(squares, labels, codes[row], weight, sharpness, bits, powers, slopes)
            sharpness_slope[0] += loss_slopes[1]
            if lists is None:
                rows[slot] = row
                if absolute is not None:
                    for column in range(n_entries):
                        slopes[column] *= 2.0 * np.sqrt(squares[column]) if slopes[column] != 0.0 else 0.0
                    pull_all_absolute(images, absolute, row, transposed, factors, slopes, by_coordinates, scale_slopes)
                # Alone in its condition, else Numba would not leave the branch out.
                if gaps is not None:  # noqa: SIM102
                    if slot == 3 or number == n_rows - 1:
                        of_four[slot + 1 :] = 0.0
                        pull_all_squared(images, gaps, rows, transposed, factors, of_four, by_coordinates, scale_slopes)
            if lists is not None:
                known, forces = work.known, work.forces
                pull_listed(
                    images, gaps, absolute, row, points, lists, factors, known, forces, squares, slopes, gradient,
                    scale_slopes,
                )  # fmt: skip
        if lists is None:
            for column in range(n_entries):
                for j in range(by_coordinates.shape[0]):
                    gradient[column, j] = by_coordinates[j, column]
        _end_batch(surface, scale_slopes, moving, steps, work)
        change_sharpness(moving, sharpness_slope, steps)
