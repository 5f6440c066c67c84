"""Evaluation: measures of errors and sizes, Pareto ranks, tests of significance over many data sets."""

from protoset.evaluation.measures import (
    ErrorEstimate,
    balanced_accuracy,
    distances_per_query,
    error_rate,
    estimate_error,
    log_odds_ratio,
    macro_f1,
    no_better_than,
    selection_rate,
)
from protoset.evaluation.pareto import pareto_ranks
from protoset.evaluation.rank_tests import (
    CriticalDifference,
    FriedmanTest,
    NemenyiTest,
    average_ranks,
    critical_difference,
    friedman,
    nemenyi,
)
from protoset.evaluation.significance import PairwiseTests, SignedRankTest, holm, pairwise_wilcoxon, wilcoxon

__all__ = [
    "CriticalDifference",
    "ErrorEstimate",
    "FriedmanTest",
    "NemenyiTest",
    "PairwiseTests",
    "SignedRankTest",
    "average_ranks",
    "balanced_accuracy",
    "critical_difference",
    "distances_per_query",
    "error_rate",
    "estimate_error",
    "friedman",
    "holm",
    "log_odds_ratio",
    "macro_f1",
    "nemenyi",
    "no_better_than",
    "pairwise_wilcoxon",
    "pareto_ranks",
    "selection_rate",
    "wilcoxon",
]
