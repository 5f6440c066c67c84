"""
Finding label errors
====================

Five per cent of the labels are flipped on purpose. ``suspects`` lists training objects whose
label is probably wrong, the most doubtful first. It changes no label.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from protoset import suspects

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
rng = np.random.default_rng(0)
flipped = rng.choice(len(y), len(y) // 20, replace=False)
given = y.copy()
given[flipped] = 1 - given[flipped]

found = suspects(X, given)
right = np.isin(found.indices, flipped)
print(f"{len(flipped)} flipped; {len(found.indices)} suspects, of them flipped: {right.sum()}")

# %%
# The list has the suggested labels and their probabilities.

found

# %%
# How many of the first suspects were flipped?

figure, axes = plt.subplots(figsize=(6, 3.2))
axes.plot(np.arange(1, len(right) + 1), np.cumsum(right), label="flipped labels among them")
axes.plot(
    [0, len(right)],
    [0, len(right)],
    linestyle=":",
    color="grey",
    label="if every suspect was flipped",
)
axes.set(xlabel="suspects looked at", ylabel="count")
axes.legend()
figure.tight_layout()
