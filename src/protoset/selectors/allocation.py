"""Division of the prototypes among the classes, and the cut of a ranking."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from protoset._validation import as_float, check_count, did_you_mean, is_count

Allocation = Literal["proportional", "equal", "global"]
ALLOCATIONS: tuple[Allocation, ...] = ("proportional", "equal", "global")
STRATIFIED: tuple[Allocation, ...] = ("proportional", "equal")
"""The allocations that keep every class."""


def check_size(n_prototypes: Any, *, automatic: bool = False) -> int | float:
    """Return a count as an int and a rate as a float; refuse other values. ``automatic``: the error offers "auto"."""
    auto = " or 'auto'" if automatic else ""
    remedy = f"pass a count (int) or a rate in (0, 1] (float){auto}"
    if is_count(n_prototypes):
        check_count("n_prototypes", n_prototypes, least=1, remedy=remedy)
        return int(n_prototypes)
    if 0 < (rate := as_float(n_prototypes)) <= 1:
        return rate
    hint = meant_size(n_prototypes) or (did_you_mean(n_prototypes, ("auto",)) if automatic else "")
    raise ValueError(f"n_prototypes={n_prototypes!r} is neither a count nor a rate{hint}; {remedy}")


def meant_size(n_prototypes: Any) -> str:
    """Return a hint with the number that a text such as "10%" or a float such as 20.0 stands for; else nothing."""
    try:
        percentage = float(str(n_prototypes).removesuffix("%")) * (1 if str(n_prototypes).endswith("%") else 100)
    except ValueError:
        return ""
    rate = percentage / 100
    if 0 < rate < 1:
        return f" (did you mean {rate:g}?)"
    return f" (did you mean {rate:.0f}?)" if rate.is_integer() and 1 <= rate < 1e9 else ""


def resolve_size(
    n_prototypes: Any,
    class_sizes: np.ndarray,
    allocation: Allocation,
    *,
    n_objects: int | None = None,
    some_weightless: bool = False,
    remedy: str = "",
) -> int:
    """Turn a count or a rate into a number of prototypes; ``class_sizes`` are numbers of distinct objects.

    A rate keeps at least one object of each class (one object with ``allocation="global"``). A count below the number
    of classes, or above the number ``n_objects`` of training objects, raises an error; ``remedy`` adds another way out
    to its message, and with ``some_weightless`` the message says that objects of weight 0 do not count. A count above
    the number of distinct objects keeps all distinct objects.
    """
    distinct = int(class_sizes.sum())
    n = distinct if n_objects is None else n_objects
    least = 1 if allocation == "global" else int((class_sizes > 0).sum())
    if not is_count(n_prototypes):
        return min(distinct, max(least, round(float(n_prototypes) * distinct)))
    if n_prototypes > n:
        counted = " with a sample_weight above 0" if some_weightless else ""
        raise ValueError(
            f"n_prototypes={n_prototypes} is more than the {n} training objects{counted}; pass at most {n}"
        )
    if n_prototypes < least:
        raise ValueError(
            f"n_prototypes={n_prototypes} is less than the {least} classes, and every class keeps a prototype; "
            f"pass at least {least}{remedy}"
        )
    return min(int(n_prototypes), distinct)


def allocate(
    n_prototypes: int, class_sizes: np.ndarray, allocation: Allocation, masses: np.ndarray | None = None
) -> np.ndarray:
    """Share the prototypes among the classes; each class with members gets at least one, and at most its members.

    ``"proportional"`` shares by the masses of the classes (by default their sizes) with largest remainders. ``"equal"``
    shares equally. No class gets more prototypes than it has members. A prototype left over goes to the heavier class,
    then to the earlier one.
    """
    masses = class_sizes if masses is None else masses
    quota = _level(n_prototypes, class_sizes, masses if allocation == "proportional" else np.ones(len(class_sizes)))
    counts = np.minimum(np.maximum(np.floor(quota).astype(int), 1), class_sizes)
    preference = np.lexsort((np.arange(len(class_sizes)), -masses))
    while (missing := n_prototypes - int(counts.sum())) != 0:
        claim = (quota - counts) * np.sign(missing)
        claim[counts >= class_sizes if missing > 0 else counts <= 1] = -np.inf
        winner = preference[np.argmax(np.round(claim[preference], 12))]
        counts[winner] += np.sign(missing)
    return counts


def _level(n_prototypes: int, class_sizes: np.ndarray, masses: np.ndarray) -> np.ndarray:
    """Share by the masses; a class with too few members gives all of them, and the others share the rest."""
    quota = np.zeros(len(class_sizes))
    open_classes = class_sizes > 0
    remaining = float(n_prototypes)
    while open_classes.any():
        share = remaining * masses / masses[open_classes].sum()
        full = open_classes & (class_sizes <= share)
        if not full.any():
            quota[open_classes] = share[open_classes]
            break
        quota[full] = class_sizes[full]
        remaining -= class_sizes[full].sum()
        open_classes &= ~full
    return quota


def cut(
    ranking: np.ndarray,
    codes: np.ndarray,
    n_prototypes: int,
    allocation: Allocation,
    masses: np.ndarray | None = None,
) -> np.ndarray:
    """Return the best objects of a ranking, within the allocation, in ascending order."""
    if allocation == "global":
        return np.sort(ranking[:n_prototypes])
    counts = allocate(n_prototypes, np.bincount(codes), allocation, masses)
    by_class = np.argsort(codes[ranking], kind="stable")
    ordered = codes[ranking][by_class]
    position = np.arange(len(ranking)) - np.searchsorted(ordered, ordered)
    return np.sort(ranking[by_class[position < counts[ordered]]])
