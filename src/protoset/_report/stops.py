"""The stops of the slider: the sizes whose errors were cross-validated, and the set of prototypes at each size."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from protoset.models.cross_validation import at_size
from protoset.selectors import REPS, BaseSelector, Refined
from protoset.selectors.size import SAMPLE_OBJECTS
from protoset.selectors.ties import counts_of
from protoset.spaces import TrainingSpace, make_space

if TYPE_CHECKING:
    from protoset._report.inputs import ReportInputs

MAX_SET_SIZE = 500
"""Prototypes of the largest set that the page shows, unless the fit kept more."""

CURVE_MEASURES = {"accuracy": "error", "balanced_accuracy": "balanced error"}
"""Names of the errors along the slider, by the scoring of the automatic size. Other scorings have no slider."""


@dataclass(frozen=True, eq=False)
class Stop:
    """A stop of the slider.

    ``size`` is the budget. ``kept`` are the prototypes as ascending positions in the training set, or, where they have
    moved, after it (see ``protoset._report.moved``); a refined set may have fewer than the budget allows. ``counts``
    says how many objects stand behind each. Both are None for a large set that the fit did not keep. ``error`` and
    ``standard_error`` are cross-validated, None where they were not measured.
    """

    size: int
    kept: np.ndarray | None
    counts: np.ndarray | None
    chosen: bool = False
    error: float | None = None
    standard_error: float | None = None


def inner_selector(selector: BaseSelector) -> BaseSelector:
    """The selector whose set was refined, or the selector itself."""
    return selector.selector_ if isinstance(selector, Refined) else selector


def curve_measure(selector: BaseSelector, rule: str) -> str | None:
    """What the errors along the slider are; None without a slider.

    The automatic size measures errors of the rule "nearest", or the measure that the user chose.
    """
    curve = getattr(selector, "size_curve_", None)
    if curve is None or rule != "nearest":
        return None
    return CURVE_MEASURES.get(getattr(curve, "scoring", "accuracy"))


def find_stops(inputs: ReportInputs) -> list[Stop]:
    """The sizes of the cross-validated curve; without a curve, the set that the fit kept.

    Moves belong to the set that the fit kept: sets of other sizes are those before any moves. The error of a set
    without a curve is measured here, unless there are test objects.
    """
    selector = inputs.selector
    kept = selector.sample_indices_
    counts = counts_of(selector, kept)
    if inputs.moved is not None:
        kept = inputs.train.n_objects + np.arange(len(kept))
    if curve_measure(selector, inputs.rule) is None:
        if inputs.queries is not None:
            return [Stop(len(kept), kept, counts, chosen=True)]
        measured = inputs.held_out_error
        return [Stop(len(kept), kept, counts, True, measured.error, measured.standard_error)]
    curve = selector.size_curve_
    sizes = curve.sizes.tolist()
    others = [size for size in sizes if size != sizes[curve.chosen]]
    sets = sets_at(selector, others, inputs.space, inputs.train.labels)
    sets[sizes[curve.chosen]] = kept, counts
    stops = []
    for position, size in enumerate(sizes):
        members, behind = sets.get(size, (None, None))
        error, standard_error = float(curve.errors[position]), float(curve.standard_errors[position])
        stops.append(Stop(size, members, behind, position == curve.chosen, error, standard_error))
    return stops


def sets_at(
    selector: BaseSelector, sizes: list[int], space: TrainingSpace, labels: np.ndarray
) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Sets of the method at other sizes, as far as the page shows them: cuts of the ranking, or refined sets."""
    sizes = [size for size in sizes if size <= MAX_SET_SIZE]
    if isinstance(selector, REPS):
        return {size: (kept := selector.select(size), counts_of(selector, kept)) for size in sizes}
    if space.shape[0] > SAMPLE_OBJECTS or not sizes:
        return {}
    # Every refinement needs all dissimilarities.
    known = make_space(space.block(slice(None), slice(None)), "precomputed")
    sets = {}
    with warnings.catch_warnings():
        # The fit of the chosen set has warned already.
        warnings.simplefilter("ignore")
        for size in sizes:
            refined = at_size(selector, size).fit(known, labels)
            sets[size] = refined.sample_indices_, counts_of(refined, refined.sample_indices_)
    return sets
