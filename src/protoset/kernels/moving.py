"""One pass of gradient steps over vectors, all in compiled code.

    batch of rows -> distances to the prototypes -> loss and slopes -> gradient -> step of Adam -> next batch

``protoset.adaptation.descent`` takes the same steps in Python, for objects of other kinds.
"""

from typing import NamedTuple

import numpy as np

from protoset.kernels._compile import compiled, part
from protoset.kernels.adapting import adam_step, position_of, relative_slopes, smallest_two, softmax_row
from protoset.kernels.differences import pull, pull_all, pull_listed, squares_to_all, squares_to_listed

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


@compiled(inline="always")
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
def take_step(moving, by_points, slopes_of_logarithms, sharpness_slope, steps):
    """Take a step of Adam against the gradients by the points, the logarithms of the scales and that of the sharpness.

    The gradients may be changed.
    """
    moving.n_steps[0] += 1.0
    number, means = moving.n_steps[0], moving.point_means
    rest = 1.0 - number / steps.n_steps
    points = moving.points.reshape(-1)
    adam_step(points, by_points.reshape(-1), means[0], means[1], steps.length * rest, number, steps.faint)
    if steps.scale_length > 0.0:
        change_scales(moving, slopes_of_logarithms, steps.scale_length * rest, steps)
    if steps.is_softmax:
        means, length = moving.sharpness_means, steps.sharpness_length * rest
        adam_step(moving.sharpness, sharpness_slope, means[0], means[1], length, number, steps.faint_logarithm)


@part
def change_scales(moving, slopes_of_logarithms, length, steps):
    """Take a step of the logarithms of the scales; the mean of the scales stays 1."""
    logarithms, scales, means = moving.logarithms, moving.scales, moving.scale_means
    for attribute in range(scales.shape[0]):
        slopes_of_logarithms[attribute] += steps.scale_penalty * logarithms[attribute] / scales.shape[0]
    adam_step(logarithms, slopes_of_logarithms, means[0], means[1], length, moving.n_steps[0], steps.faint_logarithm)
    total = 0.0
    for attribute in range(scales.shape[0]):
        scales[attribute] = np.exp(logarithms[attribute])
        total += scales[attribute]
    for attribute in range(scales.shape[0]):
        scales[attribute] *= scales.shape[0] / total
        logarithms[attribute] = np.log(scales[attribute])


@compiled
def pass_over(coordinates, labelled, order, lists, moving, steps):
    """Take a step for each batch of the objects in ``order``.

    ``lists`` has a row for each object: the prototypes that it looks at. Without columns it looks at all.
    """
    points, attribute_of = moving.points, moving.attribute_of
    n_prototypes, width = points.shape
    is_listed = lists.shape[1] > 0
    n_entries = lists.shape[1] if is_listed else n_prototypes
    columns, labels = np.arange(n_prototypes).astype(lists.dtype), moving.labels.copy()
    squares, bits = np.empty(n_entries), np.empty(n_entries, np.int64)
    # Four objects pull at once, so that gradients are read and written less often.
    slopes_of_four, four = np.zeros((4, n_entries)), np.zeros(4, np.int64)
    powers = bits.view(np.float64)
    transposed = np.empty((width, 0 if is_listed else n_prototypes))
    # The softmax pulls all prototypes, the relative loss two.
    pulls_all = steps.is_softmax and not is_listed
    gradients = np.empty((width, n_prototypes if pulls_all else 0))
    gradient, factors = np.empty((n_prototypes, width)), np.empty(width)
    slopes_of_logarithms, sharpness_slope = np.empty(moving.scales.shape[0]), np.empty(1)
    known, forces = np.empty(width), np.empty(width)
    scale_slopes, no_scales = np.zeros(width), np.empty(0)
    scale_slopes_or_none = scale_slopes if steps.scale_length > 0.0 else no_scales
    for first in range(0, order.shape[0], steps.batch):
        batch = order[first : first + steps.batch]
        steepness, sharpness = steepness_now(moving, steps), np.exp(moving.sharpness[0])
        for j in range(width):
            factors[j] = np.sqrt(moving.scales[attribute_of[j]])
            for column in range(transposed.shape[1]):
                transposed[j, column] = points[column, j]
        gradient[:], gradients[:] = 0.0, 0.0
        scale_slopes[:] = 0.0
        sharpness_slope[0] = 0.0
        for number in range(batch.shape[0]):
            row = batch[number]
            code, weight, own = labelled.codes[row], labelled.weights[row] / batch.shape[0], labelled.own[row]
            if is_listed:
                squares_to_listed(coordinates, row, points, lists, factors, known, forces, squares)
                columns = lists[row]
                for entry in range(n_entries):
                    column = columns[entry]
                    labels[entry] = moving.labels[column]
                    if column == own:
                        squares[entry] = np.inf
            else:
                squares_to_all(coordinates, row, transposed, factors, squares)
                if own >= 0:
                    squares[own] = np.inf
            if not steps.is_softmax:
                same_square, other_square = smallest_two(squares, labels[:n_entries], code)
                same, other = np.sqrt(same_square), np.sqrt(other_square)
                _, same_slope, other_slope = relative_slopes(same, other, weight, steepness)
                if same_slope != 0.0 or other_slope != 0.0:
                    column = columns[position_of(same_square, squares, labels, code, True)]
                    pull(coordinates, row, points[column], factors, same, same_slope, gradient[column], scale_slopes)
                    column = columns[position_of(other_square, squares, labels, code, False)]
                    pull(coordinates, row, points[column], factors, other, other_slope, gradient[column], scale_slopes)
                continue
            slopes = slopes_of_four[number % 4]
            loss_slope = softmax_row(squares, labels[:n_entries], code, weight, sharpness, bits, powers, slopes)[1]
            sharpness_slope[0] += loss_slope
            if pulls_all:
                four[number % 4] = row
                if coordinates.is_absolute:
                    for column in range(n_entries):
                        slopes[column] *= 2.0 * np.sqrt(squares[column]) if slopes[column] != 0.0 else 0.0
                if number % 4 == 3 or number == batch.shape[0] - 1:
                    slopes_of_four[number % 4 + 1 :] = 0.0
                    pull_all(coordinates, four, transposed, factors, slopes_of_four, gradients, scale_slopes_or_none)
                continue
            pull_listed(
                coordinates,
                row,
                points,
                lists,
                factors,
                known,
                forces,
                squares,
                slopes,
                gradient,
                scale_slopes,
                steps.scale_length > 0.0,
            )
        if pulls_all:
            for column in range(n_prototypes):
                for j in range(width):
                    gradient[column, j] = gradients[j, column]
        slopes_of_logarithms[:] = 0.0
        for j in range(width):
            slopes_of_logarithms[attribute_of[j]] += scale_slopes[j]
        take_step(moving, gradient, slopes_of_logarithms, sharpness_slope, steps)
        put_back(points, steps.surface)
