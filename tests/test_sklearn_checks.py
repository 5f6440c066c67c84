"""scikit-learn's own checks, on every estimator and both kinds of input."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from protoset import REPS, PrototypeClassifier, Refined
from protoset.selectors import FCNN, all_selectors

# Searches that are as short as the checks are many.
SHORT = {"RMHC": {"max_iter": 50}, "SSMA": {"max_evaluations": 50}}
BASELINES = {name: selector for name, selector in all_selectors() if selector is not REPS}
# Matrices are taken by the base class: one baseline, REPS and Refined are checked with them each time.
BASELINES_OF_MATRICES = [
    selector(metric="precomputed", **SHORT.get(name, {})) for name, selector in BASELINES.items() if name != "FCNN"
]
ESTIMATORS = [
    REPS(),
    REPS(n_prototypes=0.3, loss="sum", C=1.0),
    Refined(REPS(n_prototypes=0.3)),
    Refined(REPS(metric="precomputed")),
    Refined(),
    Refined(FCNN()),
    REPS(metric="euclidean"),
    REPS(metric="precomputed"),
    PrototypeClassifier(),
    PrototypeClassifier(REPS(), rule="adjusted"),
    PrototypeClassifier(REPS(n_prototypes=0.5)),
    PrototypeClassifier(REPS(metric="precomputed")),
    REPS(n_prototypes=0.3, metric="precomputed"),  # takes sparse graphs too, as the next ones
    PrototypeClassifier(REPS(n_prototypes=0.3, metric="precomputed")),
    PrototypeClassifier(REPS(n_prototypes=0.3, metric="precomputed"), rule="adjusted"),
    FCNN(metric="precomputed"),
    *(selector(**SHORT.get(name, {})) for name, selector in BASELINES.items()),
]


@pytest.mark.filterwarnings("ignore:rule='adjusted' can never predict")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(BASELINES_OF_MATRICES)
def test_scikit_learn_check_of_matrices(estimator, check):
    check(estimator)
