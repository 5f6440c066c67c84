"""
A distance matrix from SciPy
============================

Only the distances are known, not the objects. ``fit`` takes a square matrix or the condensed
vector of ``scipy.spatial.distance.pdist``. Predictions need only the distances to the
prototypes.
"""

from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import minmax_scale

from protoset import REPS, PrototypeClassifier, Refined
from protoset.plots import plot_neighbor_graph

X, y = load_wine(return_X_y=True)
X, X_test, y, y_test = train_test_split(minmax_scale(X), y, random_state=0)

condensed = pdist(X, metric="canberra")
classifier = PrototypeClassifier(Refined(REPS(9, metric="precomputed"))).fit(condensed, y)

to_prototypes = cdist(X_test, X[classifier.sample_indices_], metric="canberra")
print(f"9 of {len(X)} objects, accuracy {classifier.score(to_prototypes, y_test):.3f}")

# %%
# Every object is joined to its nearest neighbour; kept objects are filled.

square = cdist(X, X, metric="canberra")
plot_neighbor_graph(
    PrototypeClassifier(Refined(REPS(9, metric="precomputed"))).fit(square, y), square, y
)
