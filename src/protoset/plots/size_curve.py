"""Error against the number of prototypes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from protoset._validation import check_labels
from protoset.models import ReferenceErrors, reference_errors
from protoset.plots._display import Display
from protoset.plots._fitted import Fitted
from protoset.plots._style import (
    CLASS_COLOURS,
    FAINT_INK,
    add_legend,
    check_axes,
    clean_text,
    label_axes,
    legend_height,
)
from protoset.selectors import Refined, SizeCurve
from protoset.selectors._scoring import SCORINGS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REFERENCE_LINES = ((0, (6, 3)), (0, (1.2, 1.6)), (0, (8, 2, 1.5, 2)))
"""Line styles of 1-NN, k-NN and guessing."""

GUESSING_NEARBY = 1.6
"""The axis reaches up to the error of guessing if it is at most this many times the others."""


@dataclass(eq=False, repr=False)
class SizeCurveDisplay(Display):
    """Cross-validated error at each size of a size curve, and the chosen size.

    Every error is measured on objects that were not used in the selection.

    Parameters
    ----------
    curve : SizeCurve
        ``size_curve_`` of a :class:`protoset.REPS` or :class:`protoset.Refined` with ``n_prototypes="auto"``.
    references : ReferenceErrors, optional
        Errors of guessing, and of 1-NN and k-NN on all training objects, from
        :func:`protoset.models.reference_errors` with the same ``scoring``; drawn as lines.
    name : str, default=""
        Name of the method.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last call of ``plot``.
    """

    curve: SizeCurve
    references: ReferenceErrors | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.curve, SizeCurve):
            raise TypeError(
                f"curve={self.curve!r:.60} must be the size_curve_ of a selector that was fitted with "
                "n_prototypes='auto'"
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        references: ReferenceErrors | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the size curve of a fitted estimator; with objects, also the errors of guessing, 1-NN and k-NN.

        Parameters
        ----------
        estimator : PrototypeClassifier, selector, Pipeline or DataModel
            Fitted with ``n_prototypes="auto"``; a Pipeline must end with a PrototypeClassifier or a selector.
        X, y : training objects and labels, optional
            If given, the errors of guessing, 1-NN and k-NN (with the best k) are measured on these objects by
            leave-one-out, and drawn as lines. They are measured as the curve is, by accuracy or balanced accuracy; no
            lines are drawn beside a curve that was measured by a function.
        references : ReferenceErrors, optional
            These errors, if they are already known.
        ax : matplotlib axes, optional

        Returns
        -------
        SizeCurveDisplay
        """
        check_axes(ax)
        fitted = Fitted.of(estimator)
        selector = fitted.selector
        if selector is None:
            raise ValueError(
                "estimator comes from a file, and files do not hold size_curve_; pass the fitted estimator"
            )
        curve = getattr(selector, "size_curve_", None)
        if curve is None:
            raise ValueError(
                f"{type(selector).__name__} has no size curve: it takes no size, or has a fixed one; fit REPS or "
                "Refined with n_prototypes='auto'"
            )
        if X is not None and references is None and curve.scoring in SCORINGS:
            space = fitted.space(fitted.prepare(X), y)
            codes = check_labels(y, space.shape[0])[1]
            references = reference_errors(space, codes, scoring=curve.scoring, n_jobs=selector.n_jobs)
        name = type(selector).__name__
        if isinstance(selector, Refined):
            # The sizes of refined sets that will move are judged after the moves.
            is_adapted = getattr(fitted.classifier, "adaptation_", None) is not None
            name = f"{'adapted' if is_adapted else 'refined'} {type(selector.selector_).__name__}"
        return cls(curve, references, name).plot(ax)

    @classmethod
    def from_curve(
        cls, curve: SizeCurve, *, references: ReferenceErrors | None = None, name: str = "", ax: Axes | None = None
    ) -> Self:
        """Draw a size curve; the arguments are those of the class.

        Returns
        -------
        SizeCurveDisplay
        """
        return cls(curve, references, name).plot(ax)

    def _figure_size(self) -> tuple[float, float]:
        return 4.6, 2.6 + legend_height(4 if self.references is None else 7, columns=1)

    def _draw(self, ax: Axes) -> None:
        curve = self.curve
        low, high = curve.errors - curve.standard_errors, curve.errors + curve.standard_errors
        if curve.scoring in SCORINGS:
            low = low.clip(min=0)
        band = ax.fill_between(curve.sizes, low, high, color=CLASS_COLOURS[0], alpha=0.18, linewidth=0)
        (line,) = ax.plot(curve.sizes, curve.errors, "o-", color=CLASS_COLOURS[0], markersize=3.5, linewidth=1.3)
        best_size, chosen_size = int(curve.sizes[curve.best]), int(curve.sizes[curve.chosen])
        best_error, chosen_error = curve.errors[curve.best], curve.errors[curve.chosen]
        (best,) = ax.plot([best_size], [best_error], "s", color=CLASS_COLOURS[2], markersize=7, markerfacecolor="none")
        (chosen,) = ax.plot([chosen_size], [chosen_error], "o", color=CLASS_COLOURS[1], markersize=7, zorder=4)
        ax.axvline(chosen_size, color=CLASS_COLOURS[1], linewidth=0.8, linestyle=":")
        limit = ax.axhline(high[curve.best], color=CLASS_COLOURS[2], linewidth=0.8, linestyle="--")
        ax.set_xscale("log")
        sizes = _thin(curve.sizes.tolist(), keep=chosen_size)
        ax.set_xticks(sizes, [str(size) for size in sizes])
        ax.minorticks_off()
        measure = clean_text(curve.measure)
        if curve.scoring in SCORINGS:
            ax.set_ylim(bottom=0)
        legend = {
            f"{measure}{' of ' if self.name else ''}{clean_text(self.name)} ± standard error": (band, line),
            f"chosen: {chosen_size} prototypes, {chosen_error:.3f}": chosen,
            f"lowest: {best_size}, {best_error:.3f}": best,
            f"lowest + standard error: {high[curve.best]:.3f}": limit,
        }
        if self.references is not None:
            legend |= self._draw_references(ax, self.references, float(high.max()))
        label_axes(ax, xlabel="number of prototypes", ylabel=f"{measure} (cross-validated)", grid="y")
        add_legend(ax, list(legend.values()), list(legend), columns=2)

    def _draw_references(self, ax: Axes, references: ReferenceErrors, highest: float) -> dict[str, Any]:
        """Draw a line for each reference; returns them by the names in the legend."""
        top = 1.08 * max(highest, references.nearest, references.knn)
        is_near = references.guess <= GUESSING_NEARBY * top
        ax.set_ylim(top=max(top, 1.08 * references.guess) if is_near else top)
        errors = {
            f"1-NN on everything: {references.nearest:.3f}": references.nearest,
            f"k-NN on everything, k = {references.k}: {references.knn:.3f}": references.knn,
            f"always guessing: {references.guess:.3f}{'' if is_near else ' (above)'}": references.guess,
        }
        return {
            name: ax.axhline(error, color=FAINT_INK, linewidth=1.1, linestyle=style)
            for style, (name, error) in zip(REFERENCE_LINES, errors.items(), strict=True)
        }


def _thin(sizes: list[int], *, keep: int) -> list[int]:
    """Sizes whose tick labels do not overlap on a logarithmic axis."""
    far = (max(sizes) / min(sizes)) ** 0.07
    shown = [keep]
    for size in sizes:
        if all(size / other > far or other / size > far for other in shown):
            shown.append(size)
    return sorted(shown)


plot_size_curve = SizeCurveDisplay.from_estimator
