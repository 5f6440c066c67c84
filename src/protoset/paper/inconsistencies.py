"""Where the paper's printed figures do not agree with each other or with its data; found from its tables."""

from __future__ import annotations

import numpy as np

from protoset.datasets import DATASETS
from protoset.paper.analysis import Chosen, compare, rank_methods
from protoset.paper.printed import (
    BASELINES,
    METHODS,
    Printed,
    errors_of_everything,
    fixed_rate_table,
    series_table,
    signed_rank_table,
    vector_table,
)

NAMES = {"pareto_ranks": "that of the Pareto ranks", "fixed_rate_errors": "that of the FSR errors"}


def printed_choices() -> dict[str, Chosen]:
    """Return the paper's methods as it prints them."""
    printed = vector_table()
    return {
        method: Chosen(printed.rows, printed.column(f"{method}_error"), printed.column(f"{method}_rate"))
        for method in METHODS
    }


def recomputed_p_values() -> dict[tuple[str, str], float]:
    """Return the signed-rank tests of the paper, recomputed from its own printed tables; keys are (row, baseline)."""
    chosen, fixed = printed_choices(), fixed_rate_table()
    ranks = rank_methods(chosen)
    found = {}
    for position, baseline in enumerate(BASELINES):
        found["pareto_ranks", baseline] = compare(ranks[:, -1], ranks[:, position]).p_value
        found["fixed_rate_errors", baseline] = compare(fixed.column(baseline), chosen[baseline].error).p_value
    return found


def inconsistencies() -> list[str]:
    """Return what is inconsistent, a sentence or two each."""
    return [
        *_everything(),
        *_fixed_rates(),
        *_failed_runs(),
        *_p_values(),
        *_repeated_series(),
        *_series_claims(),
        *_counts(),
        'Dominance is printed with an "or" between the two comparisons and with its sides exchanged; the paper\'s text '
        'says "better in at least one objective and equal or better in all others". Ranks here follow the text.',
        "Its weights are w = exp(alpha), while its constraint needs w = exp(-alpha), and it keeps the *largest* log w "
        '+ smallest rank. protoset has the consistent signs; `score="literal"` is the printed reading.',
        "All baselines ran in KEEL on unscaled Euclidean distances, REPS on other ones; so its comparison is not of "
        "methods alone. Here all methods have the same distances, and the mixture is a study of its own.",
    ]


def _everything() -> list[str]:
    accuracies, errors = vector_table().column("NoPS"), errors_of_everything()
    reps = vector_table().column("REPS_error")
    return [
        f"The column NoPS of the vector table is headed ERR and holds accuracies: its mean is {accuracies.mean():.2f}, "
        f"while REPS has the mean error {reps.mean():.2f}. Here it is read as 1 - ERR, a mean error of "
        f"{errors.mean():.2f}.",
    ]


def _fixed_rates() -> list[str]:
    fixed, vectors = fixed_rate_table(), vector_table()
    fewer = vectors.column("CCIS_rate") < vectors.column("SSMA_rate")
    lower = fewer & (fixed.column("CCIS") < fixed.column("SSMA"))
    row = vectors.rows.index("wdbc")
    return [
        "The column of REPS at CCIS's rates cannot be at CCIS's rates: where CCIS keeps fewer prototypes than SSMA "
        f"({int(fewer.sum())} data sets), REPS is printed with the lower error at CCIS's rate on {int(lower.sum())}; "
        f"on wdbc, {fixed.column('CCIS')[row]:.3f} at {vectors.column('CCIS_rate')[row]:.2%} and "
        f"{fixed.column('SSMA')[row]:.2f} at {vectors.column('SSMA_rate')[row]:.1%}.",
    ]


def _failed_runs() -> list[str]:
    printed = vector_table()
    failed = [
        name
        for name, error, rate in zip(
            printed.rows, printed.column("CCIS_error"), printed.column("CCIS_rate"), strict=True
        )
        if error == rate == 1
    ]
    return [
        f"CCIS is printed with the error 1 at the rate 1 on {' and '.join(failed)}. With everything kept the error is "
        "that of 1-NN: these are runs that returned nothing, and they count as losses of CCIS in the printed tests.",
    ]


def _p_values() -> list[str]:
    printed, found = signed_rank_table(), []
    for (row, baseline), value in recomputed_p_values().items():
        there = printed.value(row, baseline)
        if abs(value - there) > 0.15 * there:
            found.append(f"{NAMES[row]} of {baseline} (printed {there:.2g}, recomputed {value:.2g})")
    return [
        "Recomputed from its own printed tables, the p-values of the signed-rank tests are within 15 % of the printed "
        f"ones, except {' and '.join(found)}.",
    ]


def _repeated_series() -> list[str]:
    printed = series_table()
    groups: dict[tuple[float, ...], list[str]] = {}
    for name, row in zip(printed.rows, printed.values, strict=True):
        groups.setdefault(tuple(row), []).append(name)
    same = [names for names in groups.values() if len(names) > 1]
    words = "; ".join(f"{', '.join(names[:-1])} and {names[-1]}" for names in same)
    return [f"Rows of the table of time series are the same number for number though the data sets differ: {words}."]


def _series_claims() -> list[str]:
    printed = series_table()
    everything, error = printed.column("NoPS_error"), printed.column("REPS_error")
    improved = int((error < everything).sum())
    worse = np.argsort(error - everything)[::-1][:3]
    words = ", ".join(f"{printed.rows[row]} {everything[row]:.2f} to {error[row]:.2f}" for row in worse)
    return [
        "The text says that REPS improves the error on three sets of time series and maintains it on all others. The "
        f"table has it lower on {improved}, equal on {int((error == everything).sum())} and higher on "
        f"{int((error > everything).sum())} of {len(error)}, the most on {words}. Plane is set in bold as improved and "
        f"is printed with {printed.value('Plane', 'NoPS_error'):.4f} and {printed.value('Plane', 'REPS_error'):.3f}.",
    ]


def _counts() -> list[str]:
    differing = [record.name for record in DATASETS.values() if record.note]
    return [
        f"The sizes that the paper gives for {', '.join(differing[:-1])} and {differing[-1]} are not those of the "
        "files that KEEL ships: those leave out objects with missing values (and glass has no object of its seventh "
        "class, dermatology one more attribute).",
    ]


def repeated_rows(printed: Printed) -> list[str]:
    """Return the data sets whose printed row is also that of another one."""
    rows = [tuple(row) for row in printed.values]
    return [name for name, row in zip(printed.rows, rows, strict=True) if rows.count(row) > 1]
