"""Weights and degradations of the prototypes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from protoset._validation import as_numbers
from protoset.plots._checks import as_mask, check_limit, mark_objects
from protoset.plots._display import Display
from protoset.plots._fitted import Fitted, labels_of
from protoset.plots._style import add_legend, class_marker, class_name, clean_text, colour_and_shape, label_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_WEIGHT_CLASSES = 12
"""Largest number of classes in the legend."""


@dataclass(eq=False, repr=False)
class WeightsDisplay(Display):
    """The weight of each prototype, and its degradation below; largest weight first.

    Parameters
    ----------
    weights, degradations : array-like of shape (n_prototypes,)
        A weight of 0 has an infinite degradation, which is drawn as ∞ at the top.
    labels : array-like of shape (n_prototypes,)
    names : sequence, optional
        Names of the prototypes; by default their positions.
    max_prototypes : int, default=60
        Largest number of prototypes to show. The axis says how many more there are.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last call of ``plot``.
    """

    weights: Any
    degradations: Any
    labels: Any
    names: Sequence[Any] | None = None
    max_prototypes: int = 60

    def __post_init__(self) -> None:
        check_limit("max_prototypes", self.max_prototypes)
        n = len(self.labels)
        for name in ("weights", "degradations"):
            values = as_numbers(name, getattr(self, name))
            if values.shape != (n,) or np.isnan(values).any():
                raise ValueError(
                    f"{name} has the shape {values.shape} or holds NaN, for {n} labels; pass one number per label"
                )
            setattr(self, name, values)
        self.names = range(n) if self.names is None else self.names
        if len(self.names) != n:
            raise ValueError(f"names has {len(self.names)} entries for {n} labels; pass one name per label")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        names: Sequence[Any] | None = None,
        max_prototypes: int = 60,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the weights that REPS gave to its prototypes.

        Parameters
        ----------
        estimator : REPS, Refined, PrototypeClassifier, Pipeline or DataModel
            Fitted, with REPS as its selector.
        X
            Not used; present for a common signature of all plots.
        y : array-like of shape (n_objects,)
            Labels of the training objects.
        names : sequence of length n_objects, optional
            Names of the training objects; by default their positions.
        max_prototypes : int, default=60
            Largest number of prototypes to show.
        ax : matplotlib axes, optional

        Returns
        -------
        WeightsDisplay
        """
        selector: Any = Fitted.of(estimator).selector
        ranked = getattr(selector, "selector_", selector)
        if not hasattr(ranked, "weights_"):
            raise ValueError(
                f"estimator={estimator!r:.60} has no weights: they come from REPS, and files do not hold them; fit "
                "REPS() or Refined(REPS())"
            )
        labels = labels_of(y, len(ranked.weights_))
        kept = selector.sample_indices_
        return cls.from_weights(
            ranked.weights_, ranked.degradations_, labels, kept, names=names, max_prototypes=max_prototypes, ax=ax
        )

    @classmethod
    def from_weights(
        cls,
        weights: Any,
        degradations: Any,
        labels: Any,
        kept: Any,
        *,
        names: Sequence[Any] | None = None,
        max_prototypes: int = 60,
        ax: Axes | None = None,
    ) -> Self:
        """Draw weights and degradations of the kept objects.

        Parameters
        ----------
        weights, degradations : array-like of shape (n_objects,)
            ``weights_`` and ``degradations_`` of a :class:`protoset.REPS`.
        labels : array-like of shape (n_objects,)
        kept : array-like of int or bool
            Positions of the prototypes, or a mask with True for each prototype.
        names, max_prototypes, ax
            As in ``from_estimator``.

        Returns
        -------
        WeightsDisplay
        """
        everything = cls(weights, degradations, labels, names, max_prototypes)
        rows = np.flatnonzero(as_mask(kept, len(labels)))
        shown: Any = everything.names
        return cls(
            everything.weights[rows],
            everything.degradations[rows],
            np.asarray(labels)[rows],
            [shown[row] for row in rows],
            max_prototypes,
        ).plot(ax)

    def _figure_size(self) -> tuple[float, float]:
        return max(3.6, 0.16 * min(len(self.labels), self.max_prototypes) + 1), 3.6

    def _draw(self, ax: Axes) -> None:
        weight, degradation = self.weights, self.degradations
        names: Any = self.names
        objects = mark_objects(self.labels, [])
        order = np.lexsort((np.arange(len(weight)), degradation, -weight))
        shown = order[: self.max_prototypes]
        ax.set_axis_off()
        upper, lower = ax.inset_axes((0, 0.54, 1, 0.46)), ax.inset_axes((0, 0, 1, 0.46))
        across, codes = np.arange(len(shown)), objects.codes[shown]
        finite = degradation[shown][np.isfinite(degradation[shown])]
        ceiling = 1.15 * float(finite.max()) + 1e-9 if len(finite) and finite.max() > 0 else 1.0
        largest = float(weight.max()) or 1.0
        upper.bar(across, weight[shown] / largest, color=[colour_and_shape(int(code))[0] for code in codes], width=0.75)
        for code in np.unique(codes):
            colour, shape = colour_and_shape(int(code))
            here = across[codes == code]
            values = degradation[shown[here]]
            is_finite = np.isfinite(values)
            lower.plot(here[is_finite], values[is_finite], shape, color=colour, markersize=4, clip_on=False)
            above = np.full(int((~is_finite).sum()), ceiling)
            lower.scatter(here[~is_finite], above, marker="$\\infty$", color=colour, s=50, gid="infinite")
        n_more = len(order) - len(shown)
        more = f"; {n_more} more prototypes not shown" if n_more else ""
        label_axes(upper, ylabel="weight / largest", grid="y")
        label_axes(lower, ylabel="degradation", xlabel=f"prototype{more}", grid="y")
        for panel in (upper, lower):
            panel.set_xlim(-0.7, max(len(shown), 1) - 0.3)
            panel.set_ylim(bottom=0)
        lower.set_ylim(top=ceiling * 1.08)
        upper.set_xticks(across, [""] * len(shown))
        lower.set_xticks(across, [clean_text(names[member], 10) for member in shown], rotation=90, fontsize=6)
        present = [int(code) for code in np.unique(codes)[:MAX_WEIGHT_CLASSES]]
        classes = [class_name(objects.classes[code]) for code in present]
        add_legend(ax, [class_marker(code) for code in present], classes, columns=4)


plot_weights = WeightsDisplay.from_estimator
