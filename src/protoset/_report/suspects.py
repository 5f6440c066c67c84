"""Labels to check: training objects whose label looks wrong, given or found by classifiers that do not know them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from protoset._report.certainty import calibration_of
from protoset._report.objects import shown_name, significant
from protoset._suspects import Suspects
from protoset._suspects import suspects as find_suspects
from protoset._validation import check_probability, is_count
from protoset.classifier import PrototypeClassifier
from protoset.spaces import DISSIMILARITIES, TrainingSpace

NEEDED_KEYS = ("row", "given", "suggested")
"""Required keys of every entry; "probability" and "evidence" are optional."""


MOST_JUDGED = {"vectors": 2000, "mixed attributes": 2000, "matrix": 2000, "strings": 500}
"""Objects up to which labels are checked by default, by the kind of dissimilarity; others take too long."""


@dataclass(frozen=True)
class Suspect:
    """A training object whose label is to be checked.

    ``probability`` is that of the suggested label, None where it is not known. ``evidence`` are training objects that
    speak for it.
    """

    row: int
    given: str
    suggested: str
    probability: float | None
    evidence: tuple[int, ...]


def judge_labels(
    classifier: PrototypeClassifier | None, objects: Any, labels: np.ndarray, space: TrainingSpace
) -> tuple[Suspects | None, str | None]:
    """Check the labels by five more fits; return the suspects, or None and why they were not looked for.

    ``objects`` are those of the fit, None where they are not known. Without a calibrated classifier both results are
    None.
    """
    if classifier is None or calibration_of(classifier) is None or objects is None or space.partial:
        return None, None
    kind = DISSIMILARITIES[space.metric].kind if space.metric in DISSIMILARITIES else ""
    most = MOST_JUDGED.get(kind, 0)
    if len(labels) > most:
        limit = f"beyond {most:,} objects of this kind" if most else f"with the metric {space.metric}"
        return None, f" by default {limit}; pass suspects=protoset.suspects(X, y, classifier) to the report"
    with warnings.catch_warnings():
        # The fit has warned already.
        warnings.simplefilter("ignore")
        try:
            # The user asked for lines about the fit, not about these.
            silent = {name: 0 for name in classifier.get_params() if name.endswith("__verbose")}
            return find_suspects(objects, labels, clone(classifier).set_params(**silent)), None
        except ValueError as error:
            # Fewer objects may not do for this method: too few for its size, or all classes of one object.
            return None, f": {error}"


def check_suspects(
    suspects: Suspects | Sequence[Mapping[str, Any]] | bool | None, n_objects: int
) -> list[Suspect] | None:
    """Check the argument ``suspects`` of :func:`protoset.report`; None where it gives no list."""
    if suspects is None or suspects is False:
        return None
    if isinstance(suspects, Suspects):
        suspects = suspects.as_dicts()
    if isinstance(suspects, (str, Mapping)) or not isinstance(suspects, Sequence):
        raise TypeError(
            f"suspects has the type {type(suspects).__name__}; pass the result of protoset.suspects, a list of dicts, "
            "or False"
        )
    return [_check(entry, position, n_objects) for position, entry in enumerate(suspects)]


def _check(entry: Any, position: int, n_objects: int) -> Suspect:
    missing = [key for key in NEEDED_KEYS if not isinstance(entry, Mapping) or key not in entry]
    if missing:
        raise ValueError(f"suspects[{position}] has no {missing[0]!r}; pass a dict with {list(NEEDED_KEYS)}")
    rows = [entry["row"], *entry.get("evidence", ())]
    for row in rows:
        if not is_count(row) or not 0 <= row < n_objects:
            raise ValueError(f"suspects[{position}] names the row {row!r}; pass rows from 0 to {n_objects - 1}")
    probability = entry.get("probability")
    if probability is not None:
        probability = check_probability(f"suspects[{position}]['probability']", probability)
    row, *evidence = map(int, rows)
    return Suspect(row, shown_name(entry["given"]), shown_name(entry["suggested"]), probability, tuple(evidence))


def rows_of(suspects: list[Suspect] | None) -> np.ndarray:
    """Rows of all objects that the list names."""
    return np.array([row for each in suspects or () for row in (each.row, *each.evidence)], int)


def describe_suspects(
    suspects: list[Suspect] | None, ids: list[str], classes: list[str], shown: np.ndarray
) -> list[dict[str, Any]] | None:
    """The list as the page shows it; objects are pairs of their index on the page, -1 for none, and their id."""
    if suspects is None:
        return None
    index_of = {row: index for index, row in enumerate(shown.tolist())}
    code_of = {label: code for code, label in enumerate(classes)}

    def named(row: int) -> list[Any]:
        return [index_of.get(row, -1), ids[row]]

    return [
        {
            "object": named(each.row),
            "given": [code_of.get(each.given, -1), each.given],
            "suggested": [code_of.get(each.suggested, -1), each.suggested],
            "probability": None if each.probability is None else significant(each.probability),
            "evidence": [named(row) for row in each.evidence],
        }
        for each in suspects
    ]
