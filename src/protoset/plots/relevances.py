"""Relevances: which attributes matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from protoset._validation import as_numbers
from protoset.adaptation import Adaptation
from protoset.models.preparation import Preparation
from protoset.plots._checks import check_limit
from protoset.plots._display import Display
from protoset.plots._fitted import Fitted
from protoset.plots._style import CLASS_COLOURS, INK, SMALL_TYPE, clean_text, label_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class RelevancesDisplay(Display):
    """The scale that was learned for each attribute, largest first, with a line at 1.

    Parameters
    ----------
    relevances : array-like of shape (n_attributes,)
    names : sequence, optional
        Names of the attributes (of series, of the channels); by default positions.
    n_shown : int, default=20
        Largest number of attributes to show. The axis says how many more there are.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last call of ``plot``.

    Notes
    -----
    The mean of all relevances is 1. An attribute with a relevance above 1 counts more than in the plain distance, and
    an attribute below 1 counts less.
    """

    relevances: Any
    names: Sequence[Any] | None = None
    n_shown: int = 20

    def __post_init__(self) -> None:
        check_limit("n_shown", self.n_shown)
        if self.relevances is None:
            raise ValueError(
                "relevances are None: no scales were learned; fit PrototypeClassifier(adapt={'relevances': True})"
            )
        scales = self.relevances = as_numbers("relevances", self.relevances)
        if scales.ndim != 1 or len(scales) == 0 or not (np.isfinite(scales) & (scales >= 0)).all():
            raise ValueError(
                f"relevances has the shape {scales.shape}, or numbers that are negative, infinite or missing; pass one "
                "scale per attribute"
            )
        if self.names is None:
            self.names = [f"attribute {position}" for position in range(len(scales))]
        if len(self.names) != len(scales):
            raise ValueError(
                f"names has {len(self.names)} entries for {len(scales)} relevances; pass one name per attribute"
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        names: Sequence[Any] | None = None,
        n_shown: int = 20,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the relevances of a fitted classifier.

        Parameters
        ----------
        estimator : PrototypeClassifier, Pipeline or DataModel
            Fitted with ``adapt={"relevances": True}``.
        X, y
            Not used; present for a common signature of all plots.
        names : sequence, optional
            Names of the attributes (of series, of the channels); by default the names of the columns that the
            classifier was fitted on, or positions.
        n_shown : int, default=20
            Largest number of attributes to show.
        ax : matplotlib axes, optional

        Returns
        -------
        RelevancesDisplay
        """
        fitted = Fitted.of(estimator)
        relevances = None if fitted.classifier is None else fitted.classifier.relevances_
        if names is None and relevances is not None:
            names = _names_of(fitted, len(relevances))
        return cls(relevances, names, n_shown).plot(ax)

    @classmethod
    def from_relevances(
        cls,
        relevances: Adaptation | Any,
        *,
        names: Sequence[Any] | None = None,
        n_shown: int = 20,
        ax: Axes | None = None,
    ) -> Self:
        """Draw relevances.

        Parameters
        ----------
        relevances : Adaptation or array-like of shape (n_attributes,)
            The result of :func:`protoset.adapt` with ``relevances=True``, or its relevances.
        names, n_shown, ax
            As in ``from_estimator``.

        Returns
        -------
        RelevancesDisplay
        """
        scales = relevances.relevances if isinstance(relevances, Adaptation) else relevances
        return cls(scales, names, n_shown).plot(ax)

    def _figure_size(self) -> tuple[float, float]:
        return 4.2, max(1.4, 0.19 * min(len(self.relevances), self.n_shown) + 0.8)

    def _draw(self, ax: Axes) -> None:
        names: Any = self.names
        order = np.argsort(-self.relevances, kind="stable")
        shown = order[: self.n_shown]
        up = -np.arange(len(shown))
        ax.barh(up, self.relevances[shown], height=0.7, color=CLASS_COLOURS[0])
        ax.axvline(1, color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
        n_more = len(order) - len(shown)
        more = f"\n{n_more} more {'attributes' if n_more > 1 else 'attribute'} not shown" if n_more else ""
        label_axes(ax, xlabel=f"relevance, 1 on average{more}", grid="x")
        ax.set_yticks(up, [clean_text(names[position]) for position in shown], fontsize=SMALL_TYPE)
        ax.set_ylim(up[-1] - 0.6, 0.6)
        ax.set_xlim(0, 1.05 * max(1.0, float(self.relevances.max())))


def _names_of(fitted: Fitted, n_attributes: int) -> list[str] | None:
    """Names of the columns that reach the classifier, where they are known."""
    if isinstance(fitted.steps, Preparation):
        return list(fitted.steps.attribute_names(n_attributes)) if fitted.kind != "series" else None
    names = getattr(fitted.classifier, "feature_names_in_", None)
    if names is None and fitted.steps is not None:
        try:
            names = fitted.steps.pipeline.get_feature_names_out()
        except (AttributeError, ValueError):
            return None
    return None if names is None else list(names)


plot_relevances = RelevancesDisplay.from_estimator
