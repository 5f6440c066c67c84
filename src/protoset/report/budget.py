"""The stops of the slider: prototype sets of growing size from one fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protoset.selectors import REPS, BaseSelector

N_SIZES = 30
MOST_PROTOTYPES = 500
"""Size of the largest set that is tried, unless the fit kept more."""


@dataclass(frozen=True, eq=False)
class Stop:
    """A set of prototypes.

    Attributes
    ----------
    kept : ndarray of int
        Positions in the training set, ascending.
    chosen : bool
        Whether it is what the fit kept.
    """

    kept: np.ndarray
    chosen: bool = False

    @property
    def size(self) -> int:
        """Number of prototypes."""
        return len(self.kept)


def find_stops(selector: BaseSelector, n_objects: int) -> list[Stop]:
    """Sets of growing size; only what the fit kept for methods that have one size.

    Sizes of REPS go in equal ratios from one prototype per class to half of the objects, or to what the fit kept if
    that is more. A refined set stands beside the cut of the ranking that has its size.
    """
    chosen = Stop(selector.sample_indices_, chosen=True)
    if not isinstance(selector, REPS):
        return [chosen]
    least = min(max(len(selector.classes_), 1), chosen.size)
    most = max(chosen.size, min(n_objects // 2, MOST_PROTOTYPES))
    sizes = {round(size) for size in np.geomspace(least, most, N_SIZES).tolist()}
    if selector.refinement_ is not None:
        sizes.add(chosen.size)
    stops = [Stop(selector.select(size)) for size in sizes]
    if selector.refinement_ is None:
        stops = [stop for stop in stops if stop.size != chosen.size]
    return sorted([*stops, chosen], key=lambda stop: (stop.size, stop.chosen))
