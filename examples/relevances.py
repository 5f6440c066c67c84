"""
Which attributes matter
=======================

With ``adapt={"relevances": True}`` the moves also learn a scale for each attribute. Here only
two of ten attributes depend on the class.
"""

import numpy as np

from protoset import REPS, PrototypeClassifier
from protoset.plots import plot_relevances

rng = np.random.default_rng(0)
y = np.arange(600) % 2
X = rng.normal(size=(600, 10))
X[:, 2] += 1.5 * y
X[:, 7] -= 1.5 * y

classifier = PrototypeClassifier(REPS(n_prototypes=6), adapt={"relevances": True}).fit(X, y)
print(classifier.relevances_.round(2))

# %%
# The mean scale is 1. The two attributes that depend on the class have the largest scales.

plot_relevances(classifier)
