"""
Refusing novel objects
======================

A nearest prototype always exists, even for a query unlike anything in training. With
``refuse=0.02`` the classifier answers ``outlier_label`` if the novelty of a query is higher
than that of 98 per cent of the held-out training objects.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from protoset import REPS, PrototypeClassifier

X, y = load_digits(return_X_y=True)
known = y < 8  # 8 and 9 are unknown digits
X_train, X_known, y_train, y_known = train_test_split(X[known], y[known], random_state=0)
X_unknown = X[~known]

classifier = PrototypeClassifier(REPS(n_prototypes=40), refuse=0.02).fit(X_train, y_train)
noise = np.random.default_rng(0).uniform(0, 16, (100, 64))
for name, queries in {
    "known digits": X_known,
    "digits 8 and 9": X_unknown,
    "noise": noise,
}.items():
    print(f"{name:15} refused: {np.mean(classifier.predict(queries) == -1):.2f}")

# %%
# The novelty of the queries, and the limit.

figure, axes = plt.subplots(figsize=(7, 3.2))
bins = np.linspace(0, 4, 60)
for name, queries in {
    "known digits": X_known,
    "digits 8 and 9": X_unknown,
    "noise": noise,
}.items():
    axes.hist(classifier.novelty_scores(queries), bins, density=True, alpha=0.6, label=name)
axes.set(xlabel="novelty", ylabel="density")
axes.legend()
figure.tight_layout()
