"""
Rare classes
============

Five per cent of the objects belong to the rare class. By default a small set of prototypes
mostly serves the frequent class, because this minimises the number of errors.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, recall_score
from sklearn.model_selection import train_test_split

from protoset import REPS, PrototypeClassifier, Refined

X, y = make_classification(
    2_000, 6, n_informative=4, weights=[0.95], class_sep=0.8, flip_y=0, random_state=1
)
X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)

settings = {
    "default": {},
    "equal allocation": {"allocation": "equal"},
    "class_weight": {"class_weight": "balanced"},
    "class_weight and scoring": {"class_weight": "balanced", "scoring": "balanced_accuracy"},
}
rows = {}
for name, parameters in settings.items():
    size = {} if "scoring" in name else {"n_prototypes": 20}
    answers = (
        PrototypeClassifier(Refined(REPS(**size, **parameters)), adapt=False)
        .fit(X, y)
        .predict(X_test)
    )
    rows[name] = balanced_accuracy_score(y_test, answers), recall_score(y_test, answers)
    print(f"{name:26} balanced accuracy {rows[name][0]:.3f}, recall {rows[name][1]:.3f}")

# %%
# Errors on both classes cost the same with ``class_weight="balanced"``.

figure, axes = plt.subplots(figsize=(7, 3))
positions = np.arange(len(rows))
axes.barh(positions + 0.2, [pair[0] for pair in rows.values()], 0.4, label="balanced accuracy")
axes.barh(
    positions - 0.2, [pair[1] for pair in rows.values()], 0.4, label="recall of the rare class"
)
axes.set_yticks(positions, list(rows))
axes.legend(loc="lower left")
figure.tight_layout()
