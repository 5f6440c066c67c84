"""
Comparing methods over data sets
================================

Several methods are measured on several data sets. A test of significance compares them, and a
critical-difference diagram shows the result. With eight small data sets only large
differences are significant; ``protoset.experiments`` runs studies of hundreds of fits.
"""

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_iris,
    load_wine,
    make_classification,
    make_moons,
)
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protoset import REPS, PrototypeClassifier, Refined
from protoset.evaluation import friedman
from protoset.plots import CriticalDifferenceDisplay
from protoset.selectors import DROP3, FCNN, KMedoids, RandomSelector

data = [
    load_iris(return_X_y=True),
    load_wine(return_X_y=True),
    load_breast_cancer(return_X_y=True),
]
data += [make_moons(300, noise=0.3, random_state=seed) for seed in range(2)]
data += [
    make_classification(300, 8, n_informative=4, n_classes=3, random_state=seed)
    for seed in range(3)
]
methods = {
    "refined REPS 10 %": Refined(REPS(0.1)),
    "REPS 10 %": REPS(0.1),
    "DROP3": DROP3(),
    "FCNN": FCNN(),
    "k-medoids 10 %": KMedoids(0.1, random_state=0),
    "random 10 %": RandomSelector(0.1, random_state=0),
}


def error(selector, X, y):
    """Cross-validated error of a method; real objects for all methods."""
    model = make_pipeline(
        StandardScaler(), PrototypeClassifier(selector, adapt=False, calibrate=False)
    )
    return 1 - cross_val_score(model, X, y, cv=5).mean()


errors = np.array([[error(selector, X, y) for selector in methods.values()] for X, y in data])
for name, mean in zip(methods, errors.mean(axis=0), strict=True):
    print(f"{name:18} {mean:.3f}")
print(f"Friedman's test: p = {friedman(errors).p_value:.4f}")

# %%
# A bar joins methods without a significant difference.

CriticalDifferenceDisplay.from_errors(errors, list(methods))
