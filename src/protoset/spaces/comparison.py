"""Contributions to the dissimilarity of two objects, a query and a prototype.

PairComparison    the dissimilarity alone           matrices, functions
Contributions     a term for each attribute         vectors, mixed attributes
Alignment         a cost for each pair of points    series
EditScript        the edits                         strings, bytes, lists of tokens
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from protoset._display import Brief

SEGMENT_GAP = 0.05
"""Two stretches of large costs are one segment if fewer pairs are between them; as a share of all pairs."""


@dataclass(frozen=True, eq=False, repr=False)
class PairComparison(Brief):
    """The dissimilarity of a query and a prototype.

    Attributes
    ----------
    distance : float
    """

    distance: float


@dataclass(frozen=True, eq=False, repr=False)
class Contributions(PairComparison):
    """The attributes of two objects, and the contribution of each attribute to their dissimilarity.

    Attributes
    ----------
    distance : float
    terms : ndarray or None
        Contribution of each attribute; the sum is ``distance ** power``. None if the metric is not a sum over the
        attributes, such as "mahalanobis" or "chebyshev".
    power : float
        2 for Euclidean distances, 1 for sums of differences.
    names : tuple of str
        Names of the attributes; empty where they are not known.
    query, prototype : ndarray or None
        The values of both objects as they were given, before any scaling; None where they are not known.
    """

    terms: np.ndarray | None
    power: float = 1.0
    names: tuple[str, ...] = ()
    query: np.ndarray | None = None
    prototype: np.ndarray | None = None

    @property
    def shares(self) -> np.ndarray | None:
        """Share of each attribute in the sum; all 0 if the dissimilarity is 0, None if there are no terms."""
        return None if self.terms is None else _shares(self.terms)

    @property
    def order(self) -> np.ndarray:
        """Positions of the attributes, the largest share first; in the order of the objects if there are no terms."""
        if self.terms is not None:
            return np.argsort(-self.terms, kind="stable")
        return np.arange(len(self.names) if self.query is None else len(self.query))


class Segment(NamedTuple):
    """A segment of an alignment: first and last point in both series, and its share of the dissimilarity."""

    query: tuple[int, int]
    prototype: tuple[int, int]
    share: float


@dataclass(frozen=True, eq=False, repr=False)
class Alignment(PairComparison):
    """The best alignment of two series.

    Attributes
    ----------
    distance : float
    pairs : ndarray of int, shape (n_pairs, 2)
        Matched points of the query and of the prototype, from the first to the last. -1 means no point: under "erp",
        "msm" and "twe" a point may have no match. Under "ddtw" the derivatives at the points are matched.
    costs : ndarray of shape (n_pairs,)
        Cost of each pair; their sum is ``distance ** power``.
    power : float
        2 where the distance is the square root of the summed costs, else 1.
    """

    pairs: np.ndarray
    costs: np.ndarray
    power: float = 1.0

    @property
    def shares(self) -> np.ndarray:
        """Share of each pair in the sum; all 0 where the dissimilarity is 0."""
        return _shares(self.costs)

    @property
    def lags(self) -> np.ndarray:
        """Number of points by which the query is behind the prototype, for each pair of two points."""
        matched = self.pairs[(self.pairs >= 0).all(axis=1)]
        return matched[:, 0] - matched[:, 1]

    def segments(self) -> list[Segment]:
        """Segments whose pairs cost more than the mean, the largest share first."""
        costly = np.flatnonzero(self.costs > self.costs.mean())
        if not len(costly):
            costly = np.flatnonzero(self.costs > 0)  # all costs are equal
        if not len(costly):
            return []
        breaks = np.flatnonzero(np.diff(costly) > 1 + SEGMENT_GAP * len(self.costs)) + 1
        stretches = [slice(run[0], run[-1] + 1) for run in np.split(costly, breaks)]
        segments = [
            Segment(self._range(0, stretch), self._range(1, stretch), float(self.shares[stretch].sum()))
            for stretch in stretches
        ]
        return sorted(segments, key=lambda segment: -segment.share)

    def _range(self, side: int, stretch: slice) -> tuple[int, int]:
        """First and last point of one series in a stretch; the last point before it where no point is in it."""
        points = self.pairs[stretch, side]
        points = points[points >= 0]
        if not len(points):
            before = max(int(self.pairs[: stretch.start, side].max(initial=-1)), 0)
            return before, before
        return int(points[0]), int(points[-1])


class Edit(NamedTuple):
    """One edit of the query towards the prototype.

    ``query`` and ``prototype`` are positions in the two strings. A symbol of the query is deleted, or replaced by a
    symbol of the prototype; or a symbol of the prototype is inserted before a symbol of the query. "transpose"
    exchanges the symbol at ``query`` with the next symbol that is not deleted.
    """

    kind: Literal["insert", "delete", "replace", "transpose"]
    query: int
    prototype: int


class Column(NamedTuple):
    """A column of two aligned strings: a symbol of each string (None for a gap), and the edit between them, if any."""

    query: Any
    prototype: Any
    edit: str | None


@dataclass(frozen=True, eq=False, repr=False)
class EditScript(PairComparison):
    """The fewest edits that turn the query into the prototype.

    Attributes
    ----------
    distance : float
    query, prototype : str, bytes or tuple
        The objects that are compared; a tuple of tokens for a list of tokens.
    edits : tuple of Edit or None
        The edits, in the order of the symbols. Their number is the distance; under "normalized_levenshtein" it is the
        distance times the length of the longer object. None if the metric counts no edits, as "jaro_winkler".
    """

    query: Any
    prototype: Any
    edits: tuple[Edit, ...] | None

    def columns(self) -> Iterator[Column]:
        """Symbols of both objects side by side, with the edit between them; empty if the metric counts no edits."""
        if self.edits is None:
            return
        i = j = 0
        for edit in self.edits:
            yield from self._unedited(i, edit.query, j)
            i, j = edit.query, edit.prototype
            has_query, has_prototype = edit.kind != "insert", edit.kind != "delete"
            yield Column(self.query[i] if has_query else None, self.prototype[j] if has_prototype else None, edit.kind)
            i, j = i + has_query, j + has_prototype
        yield from self._unedited(i, len(self.query), j)

    def _unedited(self, first: int, last: int, other: int) -> Iterator[Column]:
        """Columns between two edits; where their symbols differ, the second half of an exchange."""
        for i, j in zip(range(first, last), range(other, other + last - first), strict=True):
            is_equal = self.query[i] == self.prototype[j]
            yield Column(self.query[i], self.prototype[j], None if is_equal else "transpose")


def contributions(distance: float, terms: np.ndarray | None, power: float = 1.0) -> Contributions:
    """Make the contributions of attributes; without terms where these overflow or vanish."""
    if terms is not None:
        total = terms.sum()
        terms = terms if np.isfinite(total) and (total > 0) == (distance > 0) else None
    return Contributions(distance, terms, power)


def _shares(terms: np.ndarray) -> np.ndarray:
    total = terms.sum()
    return terms / total if total > 0 else np.zeros(len(terms))
