"""
Heartbeats under dynamic time warping
=====================================

Synthetic heartbeats: a P wave, a sharp peak, a T wave. In the second class the T wave is
inverted. The waves come earlier or later, so points at the same time cannot be compared
directly. Dynamic time warping aligns two series first.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from protoset import REPS, PrototypeClassifier
from protoset.plots import plot_prototypes


def heartbeats(n_beats, random_state):
    """Return beats of 80 points, and whether the T wave is inverted."""
    rng = np.random.default_rng(random_state)
    inverted = np.arange(n_beats) % 2
    t = np.linspace(0, 1, 80)
    shift = rng.uniform(-0.1, 0.1, (n_beats, 1))

    def wave(centre, width, height):
        return height * np.exp(-(((t - centre - shift) / width) ** 2))

    height = np.where(inverted == 1, -0.25, 0.3)[:, None]
    beats = (
        wave(0.25, 0.05, 0.2)
        + wave(0.4, 0.015, 1.0)
        - wave(0.44, 0.015, 0.3)
        + wave(0.65, 0.06, height)
    )
    return beats + rng.normal(0, 0.04, beats.shape), inverted


X, y = heartbeats(160, random_state=0)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)

figure, axes = plt.subplots(figsize=(7, 3))
axes.plot(X[y == 0][:5].T, color="C0", linewidth=1)
axes.plot(X[y == 1][:5].T, color="C1", linewidth=1)
_ = axes.set(xlabel="point", title="ten beats: upright (blue) and inverted (orange) T waves")
figure.tight_layout()

# %%
# Four prototypes. ``window`` limits how far points are shifted, here by 16 points.

classifier = PrototypeClassifier(REPS(4, metric="dtw", metric_params={"window": 16})).fit(X, y)
print(f"4 prototypes, accuracy {classifier.score(X_test, y_test):.2f}")
plot_prototypes(classifier, X, y)

# %%
# Why did the first test beat get its answer? The figure shows its alignment with its nearest
# prototype.

classifier.compare(X_test[:1])[0]
