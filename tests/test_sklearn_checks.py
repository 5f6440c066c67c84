"""scikit-learn's own checks, on every estimator and both kinds of input."""

import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from protoset import REPS, PrototypeClassifier
from protoset.selectors import all_selectors

# Searches that are as short as the checks are many.
SHORT = {"RMHC": {"max_iter": 50}, "SSMA": {"max_evaluations": 50}}
BASELINES = [
    selector(metric=metric, **SHORT.get(name, {}))
    for name, selector in all_selectors()
    if selector is not REPS
    for metric in ("euclidean", "precomputed")
]
ESTIMATORS = [
    REPS(),
    REPS(n_prototypes=0.3, loss="sum", C=1.0),
    REPS(n_prototypes=0.3, refine=True),
    REPS(refine=True, metric="precomputed"),
    REPS(metric="precomputed"),
    PrototypeClassifier(),
    PrototypeClassifier(REPS(), rule="adjusted"),
    PrototypeClassifier(REPS(n_prototypes=0.5)),
    PrototypeClassifier(REPS(metric="precomputed")),
    REPS(n_prototypes=0.3, metric="precomputed"),  # takes sparse graphs too, as the next ones
    PrototypeClassifier(REPS(n_prototypes=0.3, metric="precomputed")),
    PrototypeClassifier(REPS(n_prototypes=0.3, metric="precomputed"), rule="adjusted"),
    *BASELINES,
]

SCORE_IS_A_PARAMETER = (
    "the check calls estimator.score(X, y); in REPS `score` is the parameter that chooses the reading of "
    "the paper's formula, and a selector, which predicts nothing, has no score method"
)
EXPECTED_FAILURES = {
    REPS: {
        "check_array_api_input": SCORE_IS_A_PARAMETER,
        "check_fit_score_takes_y": SCORE_IS_A_PARAMETER,
        "check_n_features_in_after_fitting": SCORE_IS_A_PARAMETER,
        "check_pipeline_consistency": SCORE_IS_A_PARAMETER,
    },
}


@pytest.mark.filterwarnings("ignore:rule='adjusted' can never answer")
@parametrize_with_checks(
    ESTIMATORS, expected_failed_checks=lambda estimator: EXPECTED_FAILURES.get(type(estimator), {})
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_the_excused_checks_fail_for_their_reason_only():
    """What the excused checks test besides ``score`` holds."""
    X, y = load_iris(return_X_y=True)
    selector = REPS(0.2).fit(X, y)
    assert selector.n_features_in_ == 4
    piped = make_pipeline(StandardScaler(), REPS(0.2)).fit(X, y)
    direct = REPS(0.2).fit(StandardScaler().fit_transform(X), y)
    assert (piped[-1].sample_indices_ == direct.sample_indices_).all()
