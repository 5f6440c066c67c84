"""The prototypes themselves: images, curves, rows of a table or strings, by class, largest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from protoset._frames import is_frame
from protoset._image_shapes import ImageShape, ShownAs, check_image_shape, guess_image_shape
from protoset._validation import as_numbers, check_choice
from protoset.models.preparation import Preparation
from protoset.plots._checks import check_limit, mark_objects
from protoset.plots._display import Display
from protoset.plots._fitted import Fitted, count_of, labels_of, some_of
from protoset.plots._pictures import (
    MAX_COLUMNS,
    PICTURE_KINDS,
    PICTURE_WIDTH,
    Card,
    CardGroup,
    PictureKind,
    draw_pictures,
    picture_height,
)
from protoset.plots._style import check_axes, class_name, clean_text, colour_and_shape

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAIRS_NOTE = "Each prototype moved; beside or below it is the nearest real object of its class."
"""Line above prototypes that are drawn with their exemplars."""

EXEMPLARS_NOTE = "The prototypes moved and cannot be drawn in this form; the nearest real objects are shown."
"""Line above exemplars that are drawn in place of prototypes."""


@dataclass(eq=False, repr=False)
class PrototypesDisplay(Display):
    """The prototypes as pictures, grouped by class; in a class, prototypes that represent more objects come first.

    Parameters
    ----------
    objects : sequence
        The prototypes: images of shape (h, w) or (h, w, 3), curves of shape (n_points,) or (n_points, n_channels), rows
        of attributes, or strings.
    labels : array-like of shape (n_prototypes,)
    kind : {"images", "series", "rows", "strings"}
        How to draw them.
    sizes : array-like of int of shape (n_prototypes,), optional
        Number of objects that each prototype represents.
    exemplars : sequence, optional
        For moved prototypes: a real object of the same form for each, drawn beside it.
    ids : sequence, optional
        Names of the prototypes, or of the exemplars where there are any.
    names : sequence, optional
        Names of the attributes of rows; by default positions.
    max_per_class : int, default=8
        Largest number of prototypes of a class. The heading says how many more there are.
    max_classes : int, default=12
        Largest number of classes. A line at the top says how many more there are.
    note : str, default=""
        Line above the pictures.

    Attributes
    ----------
    ax_, figure_
        Axes and figure of the last call of ``plot``; images and curves have axes of their own in ``ax_.child_axes``.
    """

    objects: Sequence[Any]
    labels: Any
    kind: PictureKind
    sizes: Any = None
    exemplars: Sequence[Any] | None = None
    ids: Sequence[Any] | None = None
    names: Sequence[Any] | None = None
    max_per_class: int = 8
    max_classes: int = 12
    note: str = ""

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, PICTURE_KINDS)
        check_limit("max_per_class", self.max_per_class)
        check_limit("max_classes", self.max_classes)
        n = len(self.objects)
        for name in ("labels", "sizes", "exemplars", "ids"):
            values = getattr(self, name)
            if values is not None and len(values) != n:
                raise ValueError(f"{name} has {len(values)} entries for {n} objects; pass one per object")
        if self.kind == "rows" and self.names is None:
            self.names = [f"attribute {position}" for position in range(len(self.objects[0]))]
        if self.kind == "rows" and len(self.names or ()) != len(self.objects[0]):
            raise ValueError(
                f"names has {len(self.names or ())} entries for rows of {len(self.objects[0])} attributes; pass one "
                "per attribute"
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        image_shape: ShownAs = None,
        objects: Any = None,
        names: Sequence[Any] | None = None,
        ids: Sequence[Any] | None = None,
        max_per_class: int = 8,
        max_classes: int = 12,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the prototypes of an estimator.

        Parameters
        ----------
        estimator : PrototypeClassifier, selector, Pipeline or DataModel
            Fitted; a Pipeline must end with a PrototypeClassifier or a selector.
        X, y : training objects and their labels
            Each object counts for the prototype that is nearest to it.
        image_shape : (h, w), (h, w, 3) or False, optional
            Shape of images whose pixels are the rows of X. By default, rows that look like square grey images are drawn
            as images; False draws them as rows.
        objects : sequence, optional
            Objects to draw in place of the rows of X, one per row, if X has features or distances: images of shape
            (h, w) or (h, w, 3), rows or strings.
        names : sequence, optional
            Names of the attributes; by default the names of the columns.
        ids : sequence, optional
            Names of the training objects; by default "row 0", "row 1", ...
        max_per_class, max_classes : int
            Largest number of prototypes of a class, and of classes.
        ax : matplotlib axes, optional

        Returns
        -------
        PrototypesDisplay

        Notes
        -----
        Moved prototypes are drawn with their new values, in the units of X, each with the nearest real object of its
        class. If that is not possible (the steps of a Pipeline have no inverse, the metric compares only directions,
        or ``objects`` are given), the real objects are drawn instead, with a note.
        """
        check_axes(ax)
        fitted = Fitted.of(estimator)
        n = count_of(X)
        rows, labels = fitted.training_rows(n), labels_of(y, n)
        sizes = np.bincount(fitted.winners(fitted.prepare(X), y), minlength=len(rows))
        shown = X if objects is None else objects
        if count_of(shown) != n:
            raise ValueError(f"objects has {count_of(shown)} entries for {n} objects in X; pass one for each")
        if objects is None and fitted.kind == "matrix":
            raise ValueError("metric='precomputed' has no objects to draw; pass them as objects=, in the order of y")
        kind = _kind_of(shown, image_shape, "" if objects is not None else fitted.kind)
        if kind == "rows" and image_shape is None:
            image_shape = _guessed_shape(shown)
            kind = kind if image_shape is None else "images"
        is_series = kind == "series"
        real = _as_pictures(
            fitted.curves(some_of(shown, rows)) if is_series else some_of(shown, rows), kind, image_shape
        )
        pictures, note = real, ""
        if fitted.has_moved:
            moved = fitted.restore(fitted.classifier.prototypes_) if objects is None else None  # type: ignore[union-attr]
            note = EXEMPLARS_NOTE if moved is None else PAIRS_NOTE
            if moved is not None:
                pictures = _as_pictures(fitted.curves(moved) if is_series else moved, kind, image_shape)
        return cls(
            pictures,
            labels[rows],
            kind,
            sizes,
            real if note == PAIRS_NOTE else None,
            [f"row {row}" for row in rows] if ids is None else [ids[row] for row in rows],
            _attribute_names(fitted, shown) if names is None and kind == "rows" else names,
            max_per_class,
            max_classes,
            note,
        ).plot(ax)

    @classmethod
    def from_objects(
        cls,
        objects: Any,
        labels: Any,
        *,
        image_shape: ShownAs = None,
        kind: PictureKind | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw prototypes that are given.

        Parameters
        ----------
        objects : sequence
            Images, curves, rows of attributes or strings; with ``image_shape`` rows of pixels.
        labels : array-like of shape (n_prototypes,)
        image_shape : (h, w) or (h, w, 3), optional
        kind : {"images", "series", "rows", "strings"}, optional
            How to draw them. By default strings are drawn as strings, arrays of three and four dimensions as images,
            and all other objects as rows.
        ax : matplotlib axes, optional
        **options
            ``sizes``, ``exemplars``, ``ids``, ``names``, ``max_per_class``, ``max_classes`` and ``note`` of the class.

        Returns
        -------
        PrototypesDisplay
        """
        chosen = _kind_of(objects, image_shape, "") if kind is None else check_choice("kind", kind, PICTURE_KINDS)
        pictures = _as_pictures(objects, chosen, image_shape)
        if options.get("exemplars") is not None:
            options["exemplars"] = _as_pictures(options["exemplars"], chosen, image_shape)
        return cls(pictures, labels, chosen, **options).plot(ax)

    def _groups(self) -> tuple[list[CardGroup], list[str]]:
        """Prototypes by class, and the lines above them."""
        marked = mark_objects(self.labels, [])
        sizes = None if self.sizes is None else as_numbers("sizes", self.sizes)
        groups = []
        for code, label in enumerate(marked.classes[: self.max_classes]):
            members = np.flatnonzero(marked.codes == code)
            heading = f"{class_name(label)}: {len(members)} prototype{'s' if len(members) > 1 else ''}"
            if sizes is not None:
                members = members[np.argsort(-sizes[members], kind="stable")]
                heading += f" for {sizes[members].sum():,.0f} objects"
            shown = members[: self.max_per_class]
            if len(shown) < len(members):
                heading += f", {len(members) - len(shown)} more not shown"
            cards = [self._card(int(member)) for member in shown]
            groups.append(CardGroup(heading, colour_and_shape(code)[0], cards))
        n_more = len(marked.classes) - len(groups)
        notes = [self.note] if self.note else []
        if n_more:
            notes.append(f"{n_more} more classes are not shown.")
        if self.kind == "rows" and len(self.names or ()) > MAX_COLUMNS:
            notes.append(f"Of {len(self.names or ())} attributes, the {MAX_COLUMNS} are shown that differ most.")
        return groups, notes

    def _card(self, member: int) -> Card:
        name = "" if self.ids is None else clean_text(self.ids[member], 18)
        caption = name if self.sizes is None else f"stands for {self.sizes[member]:,}"
        if self.exemplars is None:
            return Card(self.objects[member], caption)
        return Card(self.objects[member], caption, self.exemplars[member], name)

    def _figure_size(self) -> tuple[float, float]:
        groups, notes = self._groups()
        return PICTURE_WIDTH + 0.2, picture_height(self.kind, groups, n_notes=len(notes)) + 0.15

    def _draw(self, ax: Axes) -> None:
        groups, notes = self._groups()
        draw_pictures(ax, self.kind, groups, names=self.names or (), notes=notes)


def _kind_of(objects: Any, image_shape: Any, metric_kind: str) -> PictureKind:
    """How to draw objects: by the kind of their metric, or without a metric by their type."""
    if image_shape is not None and image_shape is not False:
        return "images"
    if metric_kind in ("series", "strings"):
        return "series" if metric_kind == "series" else "strings"
    if metric_kind in ("vectors", "mixed attributes") or is_frame(objects) or sparse.issparse(objects):
        return "rows"
    first = objects[0]
    if isinstance(first, (str, bytes)) or (isinstance(first, (list, tuple)) and isinstance(first[0], str)):
        return "strings"
    if isinstance(first, (np.ndarray, list, tuple)) and np.ndim(first) in (2, 3):
        return "images"
    is_vector = isinstance(first, (np.ndarray, list, tuple)) and len({len(row) for row in objects}) == 1
    return "rows" if is_vector else "strings"


def _guessed_shape(objects: Any) -> ImageShape | None:
    """Shape of the images that rows look like; None where they look like other things."""
    rows = objects.toarray() if sparse.issparse(objects) else np.asarray(objects)
    names = objects.columns if is_frame(objects) else ()
    return guess_image_shape(rows, names) if rows.ndim == 2 else None


def _as_pictures(objects: Any, kind: PictureKind, image_shape: Any) -> list[Any]:
    """Objects in the form in which they are drawn."""
    if kind == "strings":
        return [text if isinstance(text, str) else _joined(text) for text in objects]
    if kind == "series":
        return [np.asarray(curve, float) for curve in objects]
    if kind == "images":
        values = objects.toarray() if sparse.issparse(objects) else np.asarray(objects)
        given = values.shape[1:] if image_shape is None or image_shape is False else image_shape
        height, width, n_channels = check_image_shape(given, values[0].size)
        return list(values.astype(float).reshape(-1, height, width, *([3] if n_channels == 3 else [])))
    if sparse.issparse(objects):
        objects = objects.toarray()
    return [list(row) for row in (objects.to_numpy() if is_frame(objects) else np.asarray(objects, object))]


def _joined(value: Any) -> str:
    """Text of bytes, of a list of tokens, or of any other object."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _attribute_names(fitted: Fitted, X: Any) -> list[str] | None:
    """Names of the columns of X, where they are known."""
    if is_frame(X):
        return [str(name) for name in X.columns]
    if isinstance(fitted.steps, Preparation):
        return list(fitted.steps.attribute_names(np.shape(X)[1]))
    return None


plot_prototypes = PrototypesDisplay.from_estimator
