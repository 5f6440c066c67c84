"""Rows of pixels as images: their bytes on the page.

A pixel is one byte: level 0 for the lowest value of all images, 254 for the highest, 255 for a missing value. Images
that are too large for the page are scaled down: a square of pixels becomes one pixel, their mean.
"""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

from protoset._image_shapes import ImageShape, ShownAs, check_image_shape, guess_image_shape
from protoset._report.shown import FEWEST_HELD, choose_held, held_note
from protoset.datasets import Dataset

HIGHEST_LEVEL = 254
"""Level of the highest value."""

MISSING_LEVEL = 255
"""Level of a missing value."""

MAX_BYTES = 3_000_000
"""Bytes of images that a page stores at most."""

LEAST_SIDE = 16
"""Images are not scaled down below this height or width."""


def find_image_shape(dataset: Dataset, image_shape: ShownAs) -> ImageShape | None:
    """Return the shape of the objects as images, given or guessed; None where they are no images."""
    if image_shape is None and dataset.kind == "vectors":
        return guess_image_shape(np.asarray(dataset.objects), [attribute.name for attribute in dataset.attributes])
    if image_shape is None or image_shape is False:
        return None
    if dataset.kind != "vectors":
        raise ValueError(
            f"image_shape={image_shape!r} works for rows of numbers, but the objects are of the kind {dataset.kind!r}; "
            "leave image_shape out"
        )
    return check_image_shape(image_shape, np.shape(dataset.objects)[1])


def describe_images(
    objects: np.ndarray, shape: ImageShape, max_bytes: int, first: np.ndarray | None = None
) -> tuple[dict[str, Any], list[str]]:
    """Return images as JSON values, and notes where they are scaled down or left out.

    Where not all fit, the page holds those at the positions ``first``, then a random sample; the others are None.
    """
    first = np.empty(0, int) if first is None else first
    images = np.asarray(objects, float).reshape(-1, *shape)
    height, width, _ = shape
    factor = _scale_down(min(len(images), max(len(first), FEWEST_HELD)), shape, max_bytes)
    notes = []
    if factor > 1:
        images = _means_of_squares(images, factor)
        notes.append(f"Images are shown with {images.shape[1]} × {images.shape[2]} of their {height} × {width} pixels.")
    finite = images[np.isfinite(images)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    levels = np.round((images - low) / (high - low if high > low else 1.0) * HIGHEST_LEVEL)
    levels = np.where(np.isfinite(levels), levels, MISSING_LEVEL).astype(np.uint8)
    held = choose_held(len(images), first, max(1, max_bytes // math.prod(images.shape[1:])))
    values = [
        base64.b64encode(image.tobytes()).decode() if is_held else None
        for image, is_held in zip(levels, held.tolist(), strict=True)
    ]
    described = {"kind": "images", "shape": list(images.shape[1:]), "limits": [low, high], "values": values}
    return described, notes + held_note(held)


def _scale_down(n_images: int, shape: ImageShape, max_bytes: int) -> int:
    """Side of the squares of pixels that become one pixel, so that so many images fit."""
    height, width, channels = shape
    factor = 1
    while (
        n_images * math.ceil(height / factor) * math.ceil(width / factor) * channels > max_bytes
        and min(height, width) // (factor + 1) >= LEAST_SIDE
    ):
        factor += 1
    return factor


def _means_of_squares(images: np.ndarray, factor: int) -> np.ndarray:
    """Mean of each square of pixels; at the right and lower edge, of the pixels that are left."""
    rows, columns = (np.arange(0, images.shape[axis], factor) for axis in (1, 2))
    sums = np.add.reduceat(np.add.reduceat(images, rows, axis=1), columns, axis=2)
    heights = np.diff(np.append(rows, images.shape[1]))
    widths = np.diff(np.append(columns, images.shape[2]))
    return sums / (heights[:, None] * widths)[None, :, :, None]
