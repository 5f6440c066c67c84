"""Strategies of source text, and values that are strange everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

Text = SearchStrategy[str]


def pick(*choices: str) -> Text:
    """One of some texts."""
    return st.sampled_from(choices)


def fill(template: str, **parts: Text) -> Text:
    """A text with drawn parts: ``fill("fit({X})", X=...)``."""
    return st.fixed_dictionaries(parts).map(lambda drawn: template.format(**drawn))


def mostly(usual: Text, rare: Text, odds: int = 6) -> Text:
    """The usual text, and once in ``odds`` times the rare one."""
    # Not one_of, which drops repeated strategies and flattens nested ones.
    return st.sampled_from([False] * (odds - 1) + [True]).flatmap(lambda is_rare: rare if is_rare else usual)


def some(parameters: dict[str, Text], most: int = 2) -> SearchStrategy[dict[str, str]]:
    """Up to ``most`` parameters with their values."""
    if not parameters:
        return st.just({})
    chosen = st.lists(st.sampled_from(sorted(parameters)), max_size=most, unique=True)
    return chosen.flatmap(lambda names: st.fixed_dictionaries({name: parameters[name] for name in names}))


def arguments(values: dict[str, str]) -> str:
    """Keyword arguments as text."""
    return ", ".join(f"{name}={value}" for name, value in values.items())


def literal(values: Sequence[Any]) -> Text:
    """One of some values, as text."""
    return st.sampled_from([repr(value) for value in values])


SMALL_ODD_VALUES = (
    *("None", "True", "False", "-1", "0", "1", "2", "0.5", "1.0", "-0.0", "nan", "inf", "-inf", "1e-320", "3j"),
    *("''", "'x'", "'auto'", "b'x'", "[]", "[1, 2]", "()", "{}", "{'a': 1}", "set()", "object()", "len", "range(3)"),
    *("np.int64(2)", "np.int8(1)", "np.uint8(3)", "np.float32(0.5)", "np.float16(0.5)", "np.bool_(True)"),
    *("np.str_('auto')", "np.array(3)", "np.array([1, 2])", "np.datetime64('NaT')", "np.float64('nan')"),
    *("Fraction(1, 2)", "Fraction(2)", "Decimal('0.5')", "Decimal('NaN')", "pd.NA", "pd.NaT", "pd.Series([1])"),
)
"""Values of many types for parameters."""

HUGE_VALUES = ("1e308", "1e30", "2**31", "2**63", "2**70", "-2**70", "10**400", "np.uint64(2**63)", "1000")
"""Numbers that are too large for most parameters."""

SMALL_ODD = pick(*SMALL_ODD_VALUES)
ODD = pick(*SMALL_ODD_VALUES, *HUGE_VALUES)
