"""
What a smaller set costs
========================

The automatic size is the smallest size whose cross-validated error is within one standard
error of the lowest error. The curve shows the errors of all sizes that were tried, and those
of 1-NN and k-NN on all objects.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protoset import PrototypeClassifier
from protoset.plots import plot_size_curve

X, y = load_breast_cancer(return_X_y=True)
model = make_pipeline(StandardScaler(), PrototypeClassifier()).fit(X, y)
print(len(model[-1].prototypes_), "prototypes for", len(X), "objects")

# %%
# The curve of the fit.

plot_size_curve(model, X, y)
