"""The shape of images whose pixels are the rows of a table: given by users, or guessed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from protoset._validation import is_count

ImageShape = tuple[int, int, int]
"""Height, width, and channels: 1 for grey, 3 for red, green and blue."""

ShownAs = tuple[int, ...] | bool | None
"""Argument for the shape of images: a shape, False for no images, None to detect images."""

HIGHEST_GREY = 255
"""Largest level of grey of a byte."""

LEAST_GUESSED_SIDE = 8
"""Rows with fewer pixels than a square of this side are not taken for images."""

N_GUESSING = 200
"""Rows from which a shape is guessed."""

SMOOTHNESS = 0.85
"""Pixels beside each other differ less than this share of the mean difference within an image."""

N_SHUFFLES = 10
"""Orders of the pixels from which the mean difference within an image is computed."""

GENERIC_NAME = re.compile(r"(pixel|px|attribute|column|feature|var|[a-z])?[ _-]*\d+([ _x-]+\d+)*", re.IGNORECASE)
"""Names of attributes that say no more than a position."""


def check_image_shape(image_shape: Any, n_values: int) -> ImageShape:
    """Return a shape that a user gave, with its channels; ``n_values`` is the number of values of an object."""
    shape = tuple(image_shape) if isinstance(image_shape, (tuple, list)) else ()
    are_counts = all(is_count(side) and side > 0 for side in shape)
    if len(shape) < 2 or not are_counts or shape[2:] not in ((), (1,), (3,)):
        raise ValueError(
            f"image_shape={image_shape!r} must be (height, width) or (height, width, 3); pass None to detect images, "
            "False to show rows"
        )
    if math.prod(shape) != n_values:
        raise ValueError(
            f"image_shape={image_shape!r} has {math.prod(shape)} values, but the objects have {n_values}; pass the "
            "height and width of the images, and 3 for colours"
        )
    height, width, *channels = map(int, shape)
    return height, width, channels[0] if channels else 1


def guess_image_shape(rows: np.ndarray, names: Iterable[Any] = ()) -> ImageShape | None:
    """Return the shape of rows of a square number of pixels that look like grey images; None for other rows.

    Names of attributes that say more than a position are not those of pixels.
    """
    side = math.isqrt(rows.shape[1])
    if side**2 != rows.shape[1] or side < LEAST_GUESSED_SIDE:
        return None
    if not all(GENERIC_NAME.fullmatch(str(name)) for name in names):
        return None
    some = rows[np.linspace(0, len(rows) - 1, min(N_GUESSING, len(rows))).astype(int)]
    return (side, side, 1) if _look_like_images(some.reshape(-1, side, side)) else None


def _look_like_images(images: np.ndarray) -> bool:
    """Whether all values are levels of grey, and neighbouring pixels are alike along both axes."""
    if images.dtype.kind not in "iufb" or not np.isfinite(images).all() or images.min() < 0:
        return False
    images = images.astype(float)
    highest = images.max()
    if highest > HIGHEST_GREY or (highest > 1 and (images % 1).any()):
        return False
    pixels = images.reshape(len(images), -1)
    rng = np.random.default_rng(0)
    shuffles = [rng.permutation(pixels.shape[1]) for _ in range(N_SHUFFLES)]
    mean = np.mean([np.abs(pixels - pixels[:, order]).mean() for order in shuffles])
    return all(np.abs(np.diff(images, axis=axis)).mean() < SMOOTHNESS * mean for axis in (1, 2))
