"""
The size by GridSearchCV
========================

The automatic size is usually good enough. To choose size, metric or rule together, use
scikit-learn's ``GridSearchCV``.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protoset import REPS, PrototypeClassifier

X, y = load_breast_cancer(return_X_y=True)
model = make_pipeline(StandardScaler(), PrototypeClassifier(REPS(), adapt=False))
grid = {
    "prototypeclassifier__selector__n_prototypes": [2, 4, 8, 16, 32, 64, 128],
    "prototypeclassifier__selector__metric": ["euclidean", "cityblock"],
}
search = GridSearchCV(model, grid, cv=5).fit(X, y)
print(search.best_params_, round(search.best_score_, 3))

# %%
# The mean accuracy of both metrics at every size.

figure, axes = plt.subplots(figsize=(6, 3.5))
results = search.cv_results_
for metric in ("euclidean", "cityblock"):
    chosen = results["param_prototypeclassifier__selector__metric"] == metric
    sizes = results["param_prototypeclassifier__selector__n_prototypes"][chosen]
    axes.plot(sizes.astype(int), results["mean_test_score"][chosen], marker="o", label=metric)
axes.set(xscale="log", xlabel="number of prototypes", ylabel="cross-validated accuracy")
axes.legend()
figure.tight_layout()
