"""Strings, bytes and lists of tokens under edit distances, computed by rapidfuzz.

The neighbour search of "levenshtein" is in ``levenshtein_search``: it is exact, and discards nearly all pairs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from protoset._extras import how_to_install
from protoset._frames import columns_of
from protoset._progress import ProgressCallback
from protoset._validation import name_rows, refuse_ambiguous
from protoset.spaces._contents import number_texts, rank_values
from protoset.spaces._edits import edits_between
from protoset.spaces._lists import RawLists
from protoset.spaces.base import Dissimilarity, Rows, Space
from protoset.spaces.comparison import EditScript
from protoset.spaces.levenshtein_search import search_levenshtein

Text = str | bytes | tuple[int, ...]
"""An object as it is compared; tokens are replaced by numbers."""

TEXT_KINDS = ("str", "bytes", "tokens")
"""Kinds of objects; a space has objects of one kind."""

STRING_METRICS = ("levenshtein", "normalized_levenshtein", "damerau_levenshtein", "jaro_winkler", "string_hamming")
"""Names of the edit distances."""


class StringSpace(Space):
    """Edit distances between strings, between bytes, or between lists of tokens.

    docs/reference/metrics.md defines them, with empty strings and unseen tokens. ``numbers`` has the number that
    stands for each token; it is empty for the other kinds.
    """

    symmetric = True

    def __init__(
        self, metric: str, kind: str, rows: Sequence[Text], columns: Sequence[Text], numbers: dict[Hashable, int]
    ):
        super().__init__(metric, rows, columns)
        self._kind = kind
        self._numbers = numbers

    @classmethod
    def from_objects(cls, X: Any, metric: str, parameters: Mapping[str, Any], y: Any = None) -> Self:
        """Make the space of a list, an array or a Series of strings, of bytes or of token lists."""
        _rapidfuzz(metric)
        objects = _as_list(X, metric)
        kind = _check_kind(objects)
        numbers: dict[Hashable, int] = {}
        texts = _encode(objects, kind, numbers)
        return cls(metric, kind, texts, texts, numbers)

    def block(self, rows: Rows, columns: Rows) -> np.ndarray:
        """Distances from rapidfuzz."""
        cdist, scorer, arguments = _rapidfuzz(self.metric)
        a, b = _take(self._rows, rows), _take(self._columns, columns)
        if not a or not b:
            return np.empty((len(a), len(b)))
        return cdist(a, b, scorer=scorer, scorer_kwargs=arguments, dtype=np.float64, workers=1)

    def identical(self) -> np.ndarray:
        """Numbers by the texts, or by the tokens."""
        if self._kind != "tokens":
            return number_texts(list(self._columns))
        # The numbers of the tokens follow the order of the rows.
        ranks = rank_values(self._numbers).tolist()
        return number_texts([tuple(ranks[token] for token in text) for text in self._columns])

    def _subset(self, members: np.ndarray) -> StringSpace:
        """Space of some of the objects."""
        chosen = _take(self._columns, members)
        return type(self)(self.metric, self._kind, chosen, chosen, self._numbers)

    def cross(self, queries: Any) -> Self:
        """Space from new objects of the same kind to the columns of this space."""
        objects = _as_list(queries, self.metric)
        kind = _check_kind(objects)
        if kind != self._kind:
            raise TypeError(f"X holds {kind}, but the training objects are {self._kind}; convert X to {self._kind}")
        # Tokens unseen in training get numbers of their own, in a copy.
        numbers = dict(self._numbers)
        rows = _encode(objects, kind, numbers)
        return type(self)(self.metric, kind, rows, self._columns, numbers)

    def compare(self, row: int, column: int) -> EditScript:
        """Return the edits that turn the row object into the column object."""
        query, prototype = self._rows[row], self._columns[column]
        edits = edits_between(self.metric, query, prototype)
        if self._kind == "tokens":
            tokens = list(self._numbers)
            query, prototype = (tuple(tokens[number] for number in text) for text in (query, prototype))
        return EditScript(self._distance(row, column), query, prototype, edits)

    @property
    def objects(self) -> list[Any]:
        """The strings, or lists of tokens."""
        return list(self._columns)

    def prototypes(self, indices: np.ndarray) -> Self:
        """Space without rows, whose columns are the given objects."""
        return type(self)(self.metric, self._kind, [], _take(self._columns, indices), self._numbers)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the column objects as JSON: text, bytes as Latin-1 text, or lists of tokens."""
        objects: list[Any] = list(self._columns)
        if self._kind == "bytes":
            objects = [text.decode("latin-1") for text in objects]
        elif self._kind == "tokens":
            tokens = [_plain(token) for token in self._numbers]
            objects = [[tokens[number] for number in text] for text in objects]
        if json.loads(json.dumps(objects)) != objects:
            raise TypeError("X holds lone surrogates, which cannot be written without pickle; remove them")
        return {"kind": self._kind, "objects": objects}, {}

    @classmethod
    def from_state(cls, metric: str, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Space without rows, whose columns are the stored objects."""
        kind, objects = values["kind"], values["objects"]
        wanted: type = list if kind == "tokens" else str
        if kind not in TEXT_KINDS or not isinstance(objects, list) or not objects:
            raise ValueError(f"its prototypes are not a list of one of {list(TEXT_KINDS)}")
        if not all(type(item) is wanted for item in objects):
            raise ValueError(f"its prototypes are not all {kind}")
        if kind == "bytes":
            objects = [text.encode("latin-1") for text in objects]
        elif kind == "tokens":
            objects = [[_plain(token) for token in item] for item in objects]
        numbers: dict[Hashable, int] = {}
        return cls(metric, kind, [], _encode(objects, kind, numbers), numbers)

    def _kneighbors(
        self, n_neighbors: int, *, limit: int, n_jobs: int | None = None, progress: ProgressCallback | None = None
    ) -> RawLists:
        """Find neighbours: for "levenshtein" by lower bounds, for the other metrics with every pair computed once.

        ``n_jobs`` speeds up "levenshtein" alone: rapidfuzz computes one block at a time.
        """
        if self.metric != "levenshtein":
            return super()._kneighbors(n_neighbors, limit=limit, n_jobs=n_jobs, progress=progress)
        return search_levenshtein(self._rows, n_neighbors, limit=limit, n_jobs=n_jobs, progress=progress)


def _rapidfuzz(metric: str) -> tuple[Callable[..., np.ndarray], Any, dict[str, Any]]:
    """Return the all-pairs function of rapidfuzz, the scorer of the metric, and the arguments of the scorer."""
    try:
        from rapidfuzz import distance, process
    except ImportError as error:
        raise ImportError(
            f"metric={metric!r} needs rapidfuzz, which is not installed; {how_to_install('strings')}"
        ) from error
    scorers: dict[str, tuple[Any, dict[str, Any]]] = {
        "levenshtein": (distance.Levenshtein.distance, {}),
        "normalized_levenshtein": (distance.Levenshtein.normalized_distance, {}),
        "damerau_levenshtein": (distance.DamerauLevenshtein.distance, {}),
        "jaro_winkler": (distance.JaroWinkler.distance, {}),
        "string_hamming": (distance.Hamming.distance, {"pad": True}),
    }
    return process.cdist, *scorers[metric]


def _take(texts: Sequence[Text], which: Rows) -> list[Text]:
    return list(texts[which]) if isinstance(which, slice) else [texts[position] for position in which]


def _as_list(X: Any, metric: str) -> list[Any]:
    """Return the objects as a list."""
    refuse_ambiguous(X)
    is_sequence = hasattr(X, "__len__") and hasattr(X, "__getitem__") and getattr(X, "ndim", 1) > 0
    if isinstance(X, (str, bytes, Mapping)) or not is_sequence:
        raise TypeError(
            f"metric={metric!r} takes a list, an array or a Series of strings, of bytes or of token lists; "
            f"X is of the type {type(X).__name__}"
        )
    n_columns = X.shape[1] if len(getattr(X, "shape", ())) == 2 else None
    if hasattr(X, "columns"):
        if n_columns != 1:
            raise ValueError(
                f"metric={metric!r} compares strings, and X has {n_columns} columns; pass the column of strings"
            )
        X = columns_of(X)[0][1]
    elif n_columns == 1:
        raise ValueError(
            f"X has the shape {X.shape}, one string per row; pass X[:, 0], or X.tolist() for token lists of length 1"
        )
    objects = X.tolist() if hasattr(X, "tolist") else list(X)
    if not objects:
        raise ValueError("Found array with 0 sample(s) in X while a minimum of 1 is required.")
    return objects


def _kind(item: Any) -> str:
    if isinstance(item, str):
        return "str"
    if isinstance(item, (bytes, bytearray)):
        return "bytes"
    is_sequence = isinstance(item, (list, tuple)) or (isinstance(item, np.ndarray) and item.ndim == 1)
    return "tokens" if is_sequence else type(item).__name__


def _check_kind(objects: list[Any]) -> str:
    """Return the kind of the objects; raise an error if there are several."""
    kinds = np.array([_kind(item) for item in objects])
    unknown = np.flatnonzero(~np.isin(kinds, TEXT_KINDS))
    if len(unknown):
        names = ", ".join(sorted(set(kinds[unknown].tolist())))
        raise TypeError(
            f"X must hold strings, bytes or token lists, but {name_rows(unknown)} hold {names} (missing values?); "
            "remove those rows or fill them in"
        )
    present = [kind for kind in TEXT_KINDS if kind in kinds]
    if len(present) > 1:
        listing = "; ".join(f"{kind} in {name_rows(np.flatnonzero(kinds == kind))}" for kind in present)
        raise TypeError(f"X mixes objects that cannot be compared: {listing}; convert them to one kind")
    return present[0]


def _encode(objects: list[Any], kind: str, numbers: dict[Hashable, int]) -> list[Text]:
    """Return the objects as they are compared; new tokens are added to ``numbers``."""
    if kind == "str":
        return objects
    if kind == "bytes":
        return [bytes(item) for item in objects]
    for row, item in enumerate(objects):
        for token in item:
            if not isinstance(token, Hashable) or token != token:
                raise TypeError(
                    f"X: the token {token!r} in row {row} is not hashable, or is not equal to itself; "
                    "use str, int, float or bool tokens"
                )
    return [tuple(numbers.setdefault(token, len(numbers)) for token in item) for item in objects]


def _plain(token: Any) -> str | int | float | bool:
    token = token.item() if isinstance(token, np.generic) else token
    if not isinstance(token, (str, int, float)):
        raise TypeError(
            f"tokens of the type {type(token).__name__}, such as {token!r}, cannot be written without pickle; "
            "use str, int, float or bool tokens"
        )
    return token


METRICS = tuple(
    Dissimilarity(name, StringSpace, "strings", ragged=True, bounds=name == "levenshtein", requires="strings")
    for name in STRING_METRICS
)
