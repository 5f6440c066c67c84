"""scikit-learn's own checks, on every estimator and both kinds of input."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from protoset import REPS, PrototypeClassifier, Refined
from protoset.selectors import FCNN, all_selectors

# Searches that are as short as the checks are many.
SHORT = {"RMHC": {"max_iter": 50}, "SSMA": {"max_evaluations": 50}}
BASELINES = {name: selector for name, selector in all_selectors() if selector is not REPS}
# Matrices are taken by the base class: one baseline, REPS and a classifier are checked with them each time.
BASELINES_OF_MATRICES = [
    selector(metric="precomputed", **SHORT.get(name, {})) for name, selector in BASELINES.items() if name != "FCNN"
]
ESTIMATORS = [
    REPS(),
    Refined(),
    PrototypeClassifier(),
    REPS(metric="precomputed"),
    PrototypeClassifier(REPS(n_prototypes=0.3, metric="precomputed")),  # takes sparse graphs too
    FCNN(metric="precomputed"),
    *(selector(**SHORT.get(name, {})) for name, selector in BASELINES.items()),
]
VARIANTS = [
    REPS(n_prototypes=0.3, loss="sum", C=1.0),
    REPS(metric="euclidean"),
    REPS(n_prototypes=0.3, metric="precomputed"),
    Refined(REPS(n_prototypes=0.3)),
    Refined(REPS(metric="precomputed")),
    Refined(FCNN()),
    PrototypeClassifier(REPS(), rule="adjusted"),
    PrototypeClassifier(REPS(n_prototypes=0.5)),
    PrototypeClassifier(REPS(metric="precomputed")),
    PrototypeClassifier(REPS(n_prototypes=0.3, metric="precomputed"), rule="adjusted"),
    *BASELINES_OF_MATRICES,
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:rule='adjusted' can never predict")
@parametrize_with_checks(VARIANTS)
def test_scikit_learn_check_of_variants(estimator, check):
    check(estimator)
