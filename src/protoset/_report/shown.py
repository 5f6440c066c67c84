"""Choice of the objects on the page, and of those with their values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from protoset._report.stops import Stop

FEWEST_HELD = 250
"""Objects whose values a page holds at least, where objects have so many values that not all objects fit."""


def important_objects(
    stops: Sequence[Stop], n_objects: int, first: Sequence[np.ndarray] = (), then: Sequence[np.ndarray] = ()
) -> np.ndarray:
    """Rows of the training set that a page needs most, the most important first.

    These are ``first`` (objects with which moved prototypes are shown, labels to check), the chosen prototypes, the
    prototypes of other stops, and ``then`` (objects unlike anything).
    """
    by_importance = sorted(stops, key=lambda stop: (not stop.chosen, stop.size))
    prototypes = [stop.kept[stop.kept < n_objects] for stop in by_importance if stop.kept is not None]
    return unique_in_order(np.concatenate([np.empty(0, int), *first, *prototypes, *then]))


def choose_shown(important: np.ndarray, n_objects: int, max_objects: int) -> np.ndarray:
    """Rows of the training set on the page, ascending: the important objects and a random sample."""
    if n_objects <= max_objects:
        return np.arange(n_objects)
    order = np.concatenate([important, np.random.default_rng(0).permutation(n_objects)])
    return np.sort(unique_in_order(order)[:max_objects])


def choose_held(n_objects: int, first: np.ndarray, n_held: int) -> np.ndarray:
    """Mask of the objects whose values the page holds: those of ``first`` in their order, then a random sample."""
    order = np.concatenate([first, np.random.default_rng(0).permutation(n_objects)])
    mask = np.zeros(n_objects, bool)
    mask[unique_in_order(order)[:n_held]] = True
    return mask


def unique_in_order(values: np.ndarray) -> np.ndarray:
    """Each value once, where it comes first."""
    _, positions = np.unique(values, return_index=True)
    return values[np.sort(positions)].astype(int)


def held_note(held: np.ndarray) -> list[str]:
    """Say of how many objects the page holds the values, unless it holds all."""
    if held.all():
        return []
    return [
        f"The page holds the values of {int(held.sum()):,} of {len(held):,} objects: the prototypes first, then a "
        "random sample."
    ]
