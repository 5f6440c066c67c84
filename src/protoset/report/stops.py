"""The stops of the slider: prototype sets of growing size from one fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protoset.selectors import REPS, BaseSelector, Refined

N_STOPS = 30
"""Stops of the slider at most, without the chosen set."""

MAX_SLIDER_SIZE = 500
"""Size of the largest set on the slider, unless the fit kept more."""


@dataclass(frozen=True, eq=False)
class Stop:
    """A stop of the slider: prototypes as ascending positions in the training set, and whether the fit kept them."""

    kept: np.ndarray
    chosen: bool = False

    @property
    def size(self) -> int:
        """Number of prototypes."""
        return len(self.kept)


def inner_selector(selector: BaseSelector) -> BaseSelector:
    """The selector whose set was refined, or the selector itself."""
    return selector.selector_ if isinstance(selector, Refined) else selector


def find_stops(selector: BaseSelector, n_objects: int) -> list[Stop]:
    """Sets of growing size from the ranking of REPS; only the set that the fit kept for other methods.

    The sizes grow in equal ratios, from one prototype per class to half of the objects or to the size that the fit
    kept. A refined set comes after the cut of the ranking with the same size.
    """
    chosen = Stop(selector.sample_indices_, chosen=True)
    ranking = inner_selector(selector)
    if not isinstance(ranking, REPS):
        return [chosen]
    refined = isinstance(selector, Refined)
    least = min(max(len(selector.classes_), 1), chosen.size)
    most = max(chosen.size, min(n_objects // 2, MAX_SLIDER_SIZE))
    sizes = {round(size) for size in np.geomspace(least, most, N_STOPS).tolist()}
    if refined:
        sizes.add(chosen.size)
    stops = [Stop(ranking.select(size)) for size in sizes]
    if not refined:
        stops = [stop for stop in stops if stop.size != chosen.size]
    return sorted([*stops, chosen], key=lambda stop: (stop.size, stop.chosen))
