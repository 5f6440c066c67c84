"""Maps of the objects and their prototypes in the plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from protoset._validation import as_numbers
from protoset.plots._checks import CheckedDissimilarities, mark_objects, misclassified
from protoset.plots._display import Display
from protoset.plots._fitted import Fitted, labels_of
from protoset.plots._style import (
    FAINT_INK,
    INK,
    MAX_LEGEND_CLASSES,
    add_legend,
    check_axes,
    class_legend,
    colour_and_shape,
    legend_height,
)
from protoset.plots.layout import Plane
from protoset.spaces import TrainingSpace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW_OBJECTS = 400
"""Largest number of objects that are drawn larger."""

MANY_CLASSES = 12
"""Number of classes above which a new figure is larger."""

MANY_OBJECTS = 5000
"""Number of objects above which they are drawn as faint dots, and as pixels in an SVG."""

MANY_ERRORS = 200
"""Number of misclassified objects above which the crosses are small, so that they do not cover the map."""


@dataclass(eq=False, repr=False)
class PrototypeMapDisplay(Display):
    """A map of all objects: objects hollow and faint, prototypes filled, a cross on each misclassified object.

    Colour and shape show the class; up to 32 classes have different pairs of colour and shape. Only distances have a
    meaning, so the axes have no numbers.

    Parameters
    ----------
    points : array-like of shape (n_objects, 2)
        Coordinates of the objects.
    labels : array-like of shape (n_objects,)
    prototypes : array-like of shape (n_prototypes, 2)
        Coordinates of the prototypes.
    prototype_labels : array-like of shape (n_prototypes,)
    is_wrong : array-like of bool of shape (n_objects,), optional
        Objects that are misclassified.
    moved : bool, default=False
        Whether the prototypes moved away from the objects; the legend says so.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last call of ``plot``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset import REPS
    >>> from protoset.plots import PrototypeMapDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = PrototypeMapDisplay.from_estimator(REPS(n_prototypes=9).fit(X, y), X, y)  # doctest: +SKIP
    >>> display.figure_.savefig("map.png")  # doctest: +SKIP
    """

    points: Any
    labels: Any
    prototypes: Any
    prototype_labels: Any
    is_wrong: Any = None
    moved: bool = False

    def __post_init__(self) -> None:
        for name, labels in (("points", self.labels), ("prototypes", self.prototype_labels)):
            coordinates = as_numbers(name, getattr(self, name))
            if coordinates.shape != (len(labels), 2):
                raise ValueError(
                    f"{name} has the shape {coordinates.shape} for {len(labels)} labels; pass two numbers per label"
                )
            setattr(self, name, coordinates)
        if self.is_wrong is not None and np.shape(self.is_wrong) != (len(self.labels),):
            raise ValueError(
                f"is_wrong has the shape {np.shape(self.is_wrong)} for {len(self.labels)} labels; pass True or False "
                "per label"
            )
        n = len(self.labels)
        marked = mark_objects(np.concatenate([self.labels, self.prototype_labels]), [])
        self._classes, self._codes, self._prototype_codes = marked.classes, marked.codes[:n], marked.codes[n:]

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, errors: bool = True, ax: Axes | None = None) -> Self:
        """Draw the prototypes of an estimator among objects.

        Parameters
        ----------
        estimator : PrototypeClassifier, selector, Pipeline or DataModel
            Fitted; a Pipeline must end with a PrototypeClassifier or a selector.
        X : objects
            For a selector the training objects; for a classifier these or other objects, as for ``predict``. With
            ``metric="precomputed"`` the matrix of the fit.
        y : array-like of shape (n_objects,)
            Their labels.
        errors : bool, default=True
            Whether to mark misclassified objects. A classifier predicts the objects; only errors on new objects
            measure its quality, because training objects were used in its fit. With a selector, an object is
            misclassified if the nearest other prototype has another class.
        ax : matplotlib axes, optional

        Returns
        -------
        PrototypeMapDisplay

        Notes
        -----
        Coordinates come from classical multidimensional scaling under the metric of the estimator. For more than 1,000
        objects they come from the dissimilarities to 250 landmarks, so that no n x n matrix is built. Moved prototypes
        are drawn at their new positions.
        """
        check_axes(ax)
        fitted = Fitted.of(estimator)
        prepared = fitted.prepare(X)
        space = fitted.space(prepared, y)
        n = space.shape[0]
        labels = labels_of(y, n)
        checked = CheckedDissimilarities(space, n)
        plane = Plane.of(checked)
        if fitted.classifier is None:
            kept = fitted.training_rows(n)
            wrong = misclassified(checked, mark_objects(labels, kept)) if errors else None
            return cls(plane.points, labels, plane.points[kept], labels[kept], wrong).plot(ax)
        classifier = fitted.classifier
        points = plane.place(_to_landmarks(fitted, space, prepared, plane.landmarks))
        wrong = None
        if errors:
            answers = classifier.predict(prepared).tolist()
            wrong = np.array([answer != label for answer, label in zip(answers, labels.tolist(), strict=True)])
        return cls(plane.points, labels, points, classifier.prototype_labels_, wrong, fitted.has_moved).plot(ax)

    @classmethod
    def from_distances(
        cls, dissimilarities: Any, labels: Any, kept: Any, *, errors: bool = True, ax: Axes | None = None
    ) -> Self:
        """Draw objects whose dissimilarities are known.

        Parameters
        ----------
        dissimilarities : array-like of shape (n_objects, n_objects), or Space
            Dissimilarities among the training objects.
        labels : array-like of shape (n_objects,)
        kept : array-like of int or bool
            Positions of the prototypes, or a mask with True for each prototype.
        errors : bool, default=True
            Whether to mark objects whose nearest other prototype has another class.
        ax : matplotlib axes, optional

        Returns
        -------
        PrototypeMapDisplay
        """
        objects = mark_objects(labels, kept)
        checked = CheckedDissimilarities(dissimilarities, len(objects.codes))
        points, names = Plane.of(checked).points, np.asarray(labels)
        wrong = misclassified(checked, objects) if errors else None
        return cls(points, names, points[objects.kept], names[objects.kept], wrong).plot(ax)

    def _figure_size(self) -> tuple[float, float]:
        n_names = min(len(self._classes), MAX_LEGEND_CLASSES)
        width, height = (5, 3.8) if n_names <= MANY_CLASSES else (6.4, 4.8)
        return width, height + legend_height(n_names) + legend_height(1)

    def _draw(self, ax: Axes) -> None:
        from matplotlib.lines import Line2D

        n = len(self.points)
        size, alpha = (16, 0.6) if n <= FEW_OBJECTS else (6, 0.35) if n <= MANY_OBJECTS else (2.5, 0.25)
        for code in range(len(self._classes)):
            colour, shape = colour_and_shape(code)
            objects, prototypes = self.points[self._codes == code], self.prototypes[self._prototype_codes == code]
            ax.scatter(
                objects[:, 0],
                objects[:, 1],
                s=size,
                marker=shape,
                facecolors="none",
                edgecolors=colour,
                linewidths=0.6,
                alpha=alpha,
                zorder=2,
                rasterized=n > MANY_OBJECTS,
                gid="objects",
            )
            ax.scatter(
                prototypes[:, 0],
                prototypes[:, 1],
                s=38,
                marker=shape,
                facecolors=colour,
                edgecolors="white",
                linewidths=0.8,
                zorder=4,
                gid="prototypes",
            )
        add_legend(ax, *class_legend(self._classes, self._codes), columns=5)
        circle: dict[str, Any] = {"linestyle": "", "marker": "o", "color": FAINT_INK, "markersize": 5}
        handles: list[Any] = [Line2D([], [], **circle), Line2D([], [], **circle, markerfacecolor="none")]
        names = [f"{'moved ' if self.moved else ''}prototypes ({len(self.prototypes)})", f"objects ({n})"]
        if self.is_wrong is not None:
            wrong = self.points[np.asarray(self.is_wrong, bool)]
            cross: dict[str, Any] = {"s": 14, "linewidths": 0.8}
            if len(wrong) > MANY_ERRORS:
                cross = {"s": 3.5, "linewidths": 0.5, "alpha": 0.7}
            crosses = ax.scatter(
                wrong[:, 0], wrong[:, 1], marker="x", color=INK, zorder=3, gid="misclassified", **cross
            )
            handles.append(crosses)
            names.append(f"misclassified ({len(wrong)})")
        # Only distances have a meaning: both axes have the same scale and no numbers.
        ax.set_aspect("equal", adjustable="datalim")
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_visible(False)
        add_legend(ax, handles, names, columns=3, below=True)


def _to_landmarks(fitted: Fitted, space: TrainingSpace, prepared: Any, landmarks: np.ndarray) -> np.ndarray:
    """Dissimilarities of the prototypes of a classifier, a row each, to the landmarks."""
    classifier: Any = fitted.classifier
    if classifier.relevances_ is None or fitted.kind == "mixed attributes":
        return classifier._cross(prepared).block(landmarks, slice(None)).T
    # The map has plain distances, and those of the classifier are scaled by the relevances.
    return space.prototypes(landmarks).cross(classifier.prototypes_).block(slice(None), slice(None))


plot_map = PrototypeMapDisplay.from_estimator
