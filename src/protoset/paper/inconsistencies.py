"""Contradictions between the paper's printed figures, its text and its data, computed from its tables."""

from __future__ import annotations

import numpy as np

from protoset.datasets import DATASETS
from protoset.paper.analysis import Choice, compare, compare_ranks
from protoset.paper.printed import (
    METHODS,
    Printed,
    fixed_rate_table,
    one_nn_errors,
    series_table,
    signed_rank_table,
    vector_table,
)

TEST_NAMES = {"pareto_ranks": "Pareto ranks", "fixed_rate_errors": "FSR errors"}
"""Rows of the table of p-values, and how the page names them."""


def printed_choices() -> dict[str, Choice]:
    """Return errors and rates of the paper's methods, as printed."""
    printed = vector_table()
    return {
        method: Choice(printed.rows, printed.column(f"{method}_error"), printed.column(f"{method}_rate"))
        for method in METHODS
    }


def recomputed_p_values() -> dict[tuple[str, str], float]:
    """Recompute the paper's signed-rank tests from its own printed tables; keys are (row, baseline)."""
    choices, fixed = printed_choices(), fixed_rate_table()
    p_values = {}
    for baseline, test in compare_ranks(choices).items():
        p_values["pareto_ranks", baseline] = test.p_value
        p_values["fixed_rate_errors", baseline] = compare(fixed.column(baseline), choices[baseline].error).p_value
    return p_values


def inconsistencies() -> list[str]:
    """Return the contradictions, a few sentences each."""
    return [
        _one_nn(),
        _fixed_rates(),
        _failed_runs(),
        _p_values(),
        _repeated_series(),
        _series_claims(),
        _counts(),
        'Dominance is printed with an "or" between the two comparisons and with its sides exchanged; the paper\'s text '
        'says "better in at least one objective and equal or better in all others". Ranks here follow the text.',
        "The printed weights are w = exp(alpha), while the constraint needs w = exp(-alpha), and the paper keeps the "
        '*largest* log w + smallest rank. protoset uses consistent signs; `reading="literal"` follows the print.',
        "All baselines ran in KEEL on unscaled Euclidean distances, REPS on other distances. So the paper compares "
        "more than the methods. Here all methods use the same distances, and the mixture is a study of its own.",
    ]


def _one_nn() -> str:
    accuracies, reps = vector_table().column("NoPS"), vector_table().column("REPS_error")
    return (
        f"The column NoPS of the vector table is headed ERR and holds accuracies: its mean is {accuracies.mean():.2f}, "
        f"while REPS has the mean error {reps.mean():.2f}. Here it is read as 1 - ERR, a mean error of "
        f"{one_nn_errors().mean():.2f}."
    )


def _fixed_rates() -> str:
    fixed, vectors = fixed_rate_table(), vector_table()
    fewer = vectors.column("CCIS_rate") < vectors.column("SSMA_rate")
    lower = fewer & (fixed.column("CCIS") < fixed.column("SSMA"))
    row = vectors.rows.index("wdbc")
    return (
        "The column of REPS at CCIS's rates cannot be at CCIS's rates: where CCIS keeps fewer prototypes than SSMA "
        f"({int(fewer.sum())} data sets), REPS is printed with the lower error at CCIS's rate on {int(lower.sum())}; "
        f"on wdbc, {fixed.column('CCIS')[row]:.3f} at {vectors.column('CCIS_rate')[row]:.2%} and "
        f"{fixed.column('SSMA')[row]:.2f} at {vectors.column('SSMA_rate')[row]:.1%}."
    )


def _failed_runs() -> str:
    printed = vector_table()
    failed = (printed.column("CCIS_error") == 1) & (printed.column("CCIS_rate") == 1)
    names = " and ".join(name for name, has_failed in zip(printed.rows, failed, strict=True) if has_failed)
    return (
        f"CCIS is printed with the error 1 at the rate 1 on {names}. A set of all objects has the error of 1-NN, so "
        "these runs must have failed. The printed tests count them as losses of CCIS."
    )


def _p_values() -> str:
    printed, exceptions = signed_rank_table(), []
    for (row, baseline), value in recomputed_p_values().items():
        printed_value = printed.value(row, baseline)
        if abs(value - printed_value) > 0.15 * printed_value:
            exceptions.append(
                f"{TEST_NAMES[row]} against {baseline} (printed {printed_value:.2g}, recomputed {value:.2g})"
            )
    return (
        "Recomputed from the paper's own printed tables, the p-values of the signed-rank tests are within 15 % of the "
        f"printed ones, except {' and '.join(exceptions)}."
    )


def _repeated_series() -> str:
    printed = series_table()
    groups: dict[tuple[float, ...], list[str]] = {}
    for name, row in zip(printed.rows, printed.values, strict=True):
        groups.setdefault(tuple(row), []).append(name)
    repeated = [names for names in groups.values() if len(names) > 1]
    words = "; ".join(f"{', '.join(names[:-1])} and {names[-1]}" for names in repeated)
    return f"Different data sets have identical rows in the table of time series: {words}."


def _series_claims() -> str:
    printed = series_table()
    one_nn, error = printed.column("NoPS_error"), printed.column("REPS_error")
    largest = np.argsort(error - one_nn)[::-1][:3]
    words = ", ".join(f"{printed.rows[row]} {one_nn[row]:.2f} to {error[row]:.2f}" for row in largest)
    return (
        "The text says that REPS improves the error on three sets of time series and maintains it on all others. In "
        f"the table the error is lower on {int((error < one_nn).sum())}, equal on {int((error == one_nn).sum())} and "
        f"higher on {int((error > one_nn).sum())} of {len(error)} sets. The largest increases are {words}. Plane is "
        f"set in bold as improved, and printed with {printed.value('Plane', 'NoPS_error'):.4f} and "
        f"{printed.value('Plane', 'REPS_error'):.3f}."
    )


def _counts() -> str:
    differing = [record.name for record in DATASETS.values() if record.note]
    return (
        f"The sizes that the paper gives for {', '.join(differing[:-1])} and {differing[-1]} differ from the files of "
        "KEEL, which leave out objects with missing values (also, glass has no object of its seventh class, and "
        "dermatology has one more attribute)."
    )


def repeated_rows(printed: Printed) -> list[str]:
    """Data sets whose printed row is the same as that of another data set."""
    rows = [tuple(row) for row in printed.values]
    return [name for name, row in zip(printed.rows, rows, strict=True) if rows.count(row) > 1]
