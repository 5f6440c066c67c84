"""
A custom metric with parameters
===============================

The metric is a function of two rows, with a parameter. It compares angles around the circle,
so angles of 1 and 359 degrees are near each other. In the Euclidean distance they are far
apart.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score

from protoset import REPS, PrototypeClassifier

rng = np.random.default_rng(0)
y = np.arange(120) % 2
direction = np.where(y == 0, 0.0, 90.0) + rng.normal(0, 40, 120)
X = np.column_stack(
    [direction % 360, rng.normal(0, 1, 120) + 0.8 * y]
)  # wind direction, temperature


def weather(a, b, weight=1.0):
    """Difference of directions in half turns, plus the weighted difference of temperatures."""
    turn = abs(a[0] - b[0]) % 360
    return min(turn, 360 - turn) / 180 + weight * abs(a[1] - b[1])


scores = {}
for weight in (0.0, 0.1, 0.3, 1.0, 3.0):
    selector = REPS(10, metric=weather, metric_params={"symmetric": True, "weight": weight})
    scores[weight] = cross_val_score(
        PrototypeClassifier(selector, calibrate=False), X, y, cv=5
    ).mean()
plain = cross_val_score(
    PrototypeClassifier(REPS(10), adapt=False, calibrate=False), X, y, cv=5
).mean()
print(
    {weight: round(float(score), 3) for weight, score in scores.items()},
    f"Euclidean: {plain:.3f}",
)

# %%
# The accuracy depends on the weight of the temperature.

figure, axes = plt.subplots(figsize=(5.5, 3.2))
axes.bar([str(weight) for weight in scores], list(scores.values()))
axes.axhline(plain, color="black", linestyle=":", label="Euclidean distance")
axes.set(xlabel="weight", ylabel="cross-validated accuracy", ylim=(0.5, 1))
axes.legend()
figure.tight_layout()
