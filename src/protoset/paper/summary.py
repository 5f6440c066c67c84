"""The findings in prose, at the head of the report; a study with missing results has no paragraph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from protoset.paper.agreement import CLOSE_ERRORS, NO_DIFFERENCE, SIGNIFICANCE_LEVEL, conclusion, row_numbers
from protoset.paper.analysis import REFINED_REPS, Choice, Comparison, Measured, compare_sizes, mean_of
from protoset.paper.evidence import AT_PRINTED_RATE, Evidence, best_choices, fixed_choices
from protoset.paper.mixture import mixture_choices
from protoset.paper.pages import Page, probability
from protoset.paper.printed import BASELINES, fixed_rate_table, series_table, signed_rank_table, vector_table
from protoset.paper.sensitivity import PARAMETER_SYMBOLS, sensitivity_variants

RATES_COMPARED = tuple(name for name in BASELINES if name != "CCIS")
"""Baselines whose printed rates can be compared; the printed column of CCIS is not at the rates of CCIS."""

PHRASES = {
    "ahead": "significantly lower errors than",
    NO_DIFFERENCE: "no significant difference from",
    "behind": "significantly higher errors than",
}
"""What REPS has, by the conclusion of a test."""


def add_summary(page: Page, evidence: Evidence) -> None:
    """Add the findings as paragraphs."""
    page.heading("Findings")
    texts = [
        _reps(evidence.vectors),
        _baselines(evidence),
        _conclusions(evidence),
        _refined(evidence.vectors),
        _series(evidence.series),
        _parameters(evidence.sensitivity),
    ]
    paragraphs = [text for text in texts if text]
    for text in paragraphs or ["No study has all its results yet."]:
        page.paragraph(text)
    page.paragraph(
        "The next section lists every agreement and disagreement; the tables follow. Some printed figures contradict "
        "each other, or the text of the paper: see "
        "[where the figures are inconsistent](#where-the-papers-figures-are-inconsistent)."
    )


def _reps(measured: Measured | None) -> str:
    if measured is None or not _is_complete(measured):
        return ""
    table = vector_table()
    rows = row_numbers(measured, table)
    error = mean_of(measured.errors(AT_PRINTED_RATE.format("REPS")))
    printed_error = mean_of(table.column("REPS_error")[rows])
    others = mean_of(np.array([measured.errors(AT_PRINTED_RATE.format(name)) for name in RATES_COMPARED]))
    printed_others = mean_of(np.array([fixed_rate_table().column(name)[rows] for name in RATES_COMPARED]))
    if not np.isfinite([error, others]).all():
        return ""
    agree = max(abs(error - printed_error), abs(others - printed_others)) <= CLOSE_ERRORS
    return (
        f"**REPS.** On {len(rows)} vector data sets the mean errors of REPS {'agree' if agree else 'do not agree'} "
        f"with the paper. At the selection rates that the paper prints for REPS, the mean error is {error:.3f}; the "
        f"paper prints {printed_error:.3f}. At the rates that it prints for {_listed(RATES_COMPARED)}, the mean error "
        f"of REPS is {others:.3f}; the paper prints {printed_others:.3f}."
    )


def _baselines(evidence: Evidence) -> str:
    if evidence.vectors is None or not _is_complete(evidence.vectors):
        return ""
    printed = {name: mean_of(vector_table().column(f"{name}_error")) for name in BASELINES}
    errors = _mean_errors(best_choices(evidence.vectors))
    if not np.isfinite(list(errors.values())).all():
        return ""
    far = [name for name in BASELINES if abs(errors[name] - printed[name]) > CLOSE_ERRORS]
    verdict = f"do not agree with the paper for {_listed(far)}" if far else "agree with the paper"
    words = [f"{errors[name]:.3f} for {name} ({printed[name]:.3f})" for name in BASELINES]
    text = (
        f"**Other methods.** The mean errors of the other methods {verdict}. With the scaling `{evidence.scaling}` of "
        f"the attributes, and with the best parameter on the test folds, as in the paper, they are {_listed(words)}; "
        "the printed errors are in brackets."
    )
    return text + _unscaled(evidence, errors, printed)


def _unscaled(evidence: Evidence, errors: Mapping[str, float], printed: Mapping[str, float]) -> str:
    """Sentences about the same methods on unscaled attributes; empty without results."""
    if evidence.mixture is None or not _is_complete(evidence.mixture):
        return ""
    unscaled = _mean_errors(mixture_choices(evidence))
    if not np.isfinite(list(unscaled.values())).all():
        return ""
    nearer = [name for name in BASELINES if abs(unscaled[name] - printed[name]) < abs(errors[name] - printed[name])]
    words = [f"{unscaled[name]:.3f} for {name}" for name in BASELINES]
    return (
        " The paper ran these methods on unscaled attributes, and REPS on scaled ones. On unscaled attributes the mean "
        f"errors are {_listed(words)}, which is nearer to the printed errors for {len(nearer)} of {len(BASELINES)} "
        "methods."
    )


def _conclusions(evidence: Evidence) -> str:
    if evidence.vectors is None:
        return ""
    tests = compare_sizes(best_choices(evidence.vectors), evidence.vectors)
    if not _covers_all(tests):
        return ""
    groups = {
        phrase: [f"{name} (p = {probability(test.p_value)})" for name, test in tests.items() if _concludes(test) == key]
        for key, phrase in PHRASES.items()
    }
    words = [f"{phrase} {_listed(names)}" for phrase, names in groups.items() if names]
    text = (
        f"**Comparison at equal sizes.** With the scaling `{evidence.scaling}` for all methods, and with as many "
        f"prototypes as each other method keeps, REPS has {_listed(words)} (one-sided Wilcoxon tests at "
        f"{SIGNIFICANCE_LEVEL:g}). {_agreeing(tests)} of the {len(tests)} conclusions are those of the paper."
    )
    if evidence.mixture is None or evidence.mixture_reps is None:
        return text
    mixed = compare_sizes(mixture_choices(evidence), evidence.mixture_reps)
    if not _covers_all(mixed):
        return text
    text += (
        " If the other methods use unscaled attributes and REPS uses scaled ones, as in the paper, "
        f"{_agreeing(mixed)} of the {len(mixed)} conclusions are those of the paper."
    )
    if _agreeing(mixed) != _agreeing(tests):
        text += " So the conclusions depend on the scaling of the attributes, not on the methods alone."
    return text


def _refined(measured: Measured | None) -> str:
    if measured is None:
        return ""
    choices = fixed_choices(measured)
    tests = compare_sizes(choices, measured, REFINED_REPS)
    if not _covers_all(tests):
        return ""
    n_lower = sum(test.mean < test.other_mean for test in tests.values())
    words = [f"{test.mean:.3f} against {test.other_mean:.3f} for {name}" for name, test in tests.items()]
    significant = [name for name, test in tests.items() if _concludes(test) == "ahead"]
    others = [f"{name} (p = {probability(test.p_value)})" for name, test in tests.items() if name not in significant]
    text = (
        f"**Refined REPS** is not in the paper. At the size of each other method, its mean error is lower than that of "
        f"{n_lower} of the {len(tests)} methods: {_listed(words)} (fixed parameters)."
    )
    if significant:
        text += f" The difference is significant for {_listed(significant)}"
        text += f", and not for {_listed(others)}." if others else "."
    plain, refined = choices["REPS"], choices[REFINED_REPS]
    means = [
        mean_of(values) for values in (refined.error, refined.rate, plain.error, plain.rate, measured.errors("NoPS"))
    ]
    if np.isfinite(means).all():
        text += (
            " If cross-validation on the training part chooses the size, refined REPS has a mean error of {:.3f} at a "
            "selection rate of {:.3f}, and REPS has {:.3f} at {:.3f}; 1-NN on the whole training set has {:.3f}."
        ).format(*means)
    return text


def _series(measured: Measured | None) -> str:
    if measured is None:
        return ""
    printed, label = series_table(), AT_PRINTED_RATE.format("REPS")
    one_nn, error = measured.errors("NoPS"), measured.errors(label)
    if measured.data != printed.rows or not np.isfinite(one_nn + error).all():
        return ""
    n_kept = int((error <= one_nn + 1e-12).sum())
    text = (
        f"**Time series.** On {len(error)} data sets, 1-NN with DTW has a mean error of {one_nn.mean():.3f}; the paper "
        f"prints {printed.column('NoPS_error').mean():.3f}. REPS at the printed rates, which keep "
        f"{measured.rates(label).mean():.0%} of the series on average, has {error.mean():.3f}; the paper prints "
        f"{printed.column('REPS_error').mean():.3f}. The paper says that REPS maintains or improves the error of 1-NN "
        f"on all data sets; here it does so on {n_kept} of {len(error)}."
    )
    small = [mean_of(measured.errors(f"{name} at 0.2")) for name in ("REPS", REFINED_REPS)]
    if np.isfinite(small).all():
        text += " With 20% of the series, REPS has {:.3f} and refined REPS {:.3f}.".format(*small)
    return text


def _parameters(measured: Measured | None) -> str:
    words = []
    for parameter, symbol in PARAMETER_SYMBOLS.items() if measured is not None else ():
        assert measured is not None
        ranges = []
        for rate, labels in sensitivity_variants(measured, parameter).items():
            errors = [mean_of(measured.errors(label)) for label in labels.values()]
            if np.isfinite(errors).all():
                ranges.append((max(errors) - min(errors), min(errors), max(errors), rate, min(labels), max(labels)))
        if ranges:
            _, low, high, rate, first, last = max(ranges)
            words.append(
                f"between {low:.3f} and {high:.3f} for {symbol} from {first:g} to {last:g} (at a rate of {rate:.0%})"
            )
    if not words:
        return ""
    return f"**Parameters.** At the selection rate with the largest range, the mean error of REPS is {_listed(words)}."


def _is_complete(measured: Measured) -> bool:
    """Whether the study has all data sets of the paper."""
    return measured.data == vector_table().rows


def _covers_all(tests: Mapping[str, Comparison]) -> bool:
    """Whether every test is over all data sets of the paper."""
    return all(test.n == len(vector_table().rows) for test in tests.values())


def _mean_errors(choices: Mapping[str, Choice]) -> dict[str, float]:
    """Mean errors of the baselines; NaN where a data set has no result."""
    return {name: float(choices[name].error.mean()) for name in BASELINES}


def _concludes(test: Comparison) -> str:
    """Conclusion of a test; without any difference the p-value is 1, but REPS is not behind."""
    return conclusion(test.p_value) if test.wins + test.losses else NO_DIFFERENCE


def _agreeing(tests: Mapping[str, Comparison]) -> int:
    """Number of tests with the printed conclusion."""
    printed = signed_rank_table()
    return sum(_concludes(test) == conclusion(printed.value("fixed_rate_errors", name)) for name, test in tests.items())


def _listed(words: Sequence[str]) -> str:
    """Words with commas, and "and" before the last."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
