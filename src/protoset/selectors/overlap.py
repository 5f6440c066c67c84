"""How far prototypes from approximate neighbours are those from exact ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state

from protoset._validation import check_count, check_labels
from protoset.selectors.allocation import cut
from protoset.selectors.reps import REPS


def prototype_overlap(
    selector: REPS, X: Any, y: Any, *, n_objects: int = 20_000, random_state: int | np.random.RandomState = 0
) -> float:
    """Part of the prototypes that approximate and exact neighbours agree on, on a sample of the objects.

    Both searches serve fits with the selector's own parameters on the same stratified sample.

    Parameters
    ----------
    selector : REPS
        Need not be fitted.
    X, y
        The training objects and labels.
    n_objects : int
        Size of the sample; everyone where there are fewer.
    random_state : int or RandomState
        Draws the sample.

    Returns
    -------
    float
        1 where the prototypes are the same.
    """
    check_count("n_objects", n_objects, least=2, remedy="pass how many objects to compare on")
    classes, codes = check_labels(y, len(y))
    order = check_random_state(random_state).permutation(len(codes))
    rows = cut(order, codes, min(len(codes), max(n_objects, len(classes))), "proportional")
    part, labels = _safe_indexing(X, rows), classes[codes[rows]]
    exact, approximate = (
        clone(selector).set_params(neighbors=search, lists_folder=None).fit(part, labels).sample_indices_
        for search in ("exact", "approximate" if selector.neighbors != "exact" else "exact")
    )
    return float(np.isin(exact, approximate).mean())
