"""
Any objects under your own function
===================================

The objects are shopping baskets, which are sets. The dissimilarity of two baskets is the
share of their articles that they do not have in common.
"""

import numpy as np

from protoset import REPS, PrototypeClassifier, Refined
from protoset.plots import plot_map

articles = {
    "breakfast": ["bread", "butter", "jam", "milk", "eggs", "coffee"],
    "pasta": ["noodles", "tomatoes", "cheese", "garlic", "basil", "milk"],
    "repair": ["nails", "glue", "screws", "tape", "coffee", "paint"],
}
rng = np.random.default_rng(0)
X, y = [], []
for kind, choice in articles.items():
    for _ in range(40):
        X.append(frozenset(rng.choice(choice, rng.integers(2, 5), replace=False).tolist()))
        y.append(kind)


def jaccard(a, b):
    """Share of the articles that only one of two baskets has."""
    return 1 - len(a & b) / len(a | b)


selector = Refined(REPS(n_prototypes=9, metric=jaccard, metric_params={"symmetric": True}))
classifier = PrototypeClassifier(selector).fit(X, y)
for basket, label in zip(classifier.prototypes_, classifier.prototype_labels_, strict=True):
    print(f"{label:10} {', '.join(sorted(basket))}")
print(classifier.predict([{"coffee", "tape"}, {"milk", "jam"}]))

# %%
# The map needs distances only.

plot_map(classifier, X, y)
