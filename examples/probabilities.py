"""
Calibrated probabilities
========================

Are predictions with a probability of 0.8 right in 80 per cent of the cases? The probabilities
of protoset are calibrated on held-out training objects. The probabilities of k-NN are shares
of the votes of five neighbours, and are not calibrated.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from protoset import PrototypeClassifier
from protoset.plots import plot_reliability

X, y = make_classification(
    3_000, 8, n_informative=5, flip_y=0.15, class_sep=0.8, random_state=0
)
X, X_test, y, y_test = train_test_split(X, y, train_size=1_000, random_state=0)
prototypes = PrototypeClassifier().fit(X, y)
neighbors = KNeighborsClassifier().fit(X, y)
print(f"log loss: prototypes {log_loss(y_test, prototypes.predict_proba(X_test)):.3f}")
print(f"log loss: k-NN on everything {log_loss(y_test, neighbors.predict_proba(X_test)):.3f}")

# %%
# How often predictions are right, by their probability.

plot_reliability(prototypes, X_test, y_test)

# %%
# Sets of labels: with ``coverage=0.9`` about 90 per cent of the sets hold the true label.

sets = prototypes.predict_set(X_test, coverage=0.9)
covered = sets[range(len(y_test)), y_test].mean()
figure, axes = plt.subplots(figsize=(5, 2.6))
axes.bar(["one label", "two labels"], [(sets.sum(axis=1) == count).mean() for count in (1, 2)])
axes.set(ylabel="share of the queries", title=f"coverage {covered:.3f}")
figure.tight_layout()
