"""
Streams with partial_fit
========================

Objects come in batches, and the classes drift. ``partial_fit`` moves the prototypes with each
batch and keeps no object. The prequential error is measured on each batch before the
prototypes move on it.
"""

import matplotlib.pyplot as plt
import numpy as np

from protoset import REPS, PrototypeClassifier

rng = np.random.default_rng(0)


def batch(time, n_objects=200):
    """Two classes that turn around the origin with time."""
    y = rng.integers(0, 2, n_objects)
    angle = time / 8 + np.pi * y
    centres = 1.5 * np.column_stack([np.cos(angle), np.sin(angle)])
    return centres + rng.normal(0, 0.8, centres.shape), y


stream = PrototypeClassifier(REPS(n_prototypes=6))
first = PrototypeClassifier(REPS(n_prototypes=6)).fit(*batch(0))
errors, errors_of_first, paths = [], [], []
for time in range(30):
    X, y = batch(time)
    if time:
        errors.append(np.mean(stream.predict(X) != y))
        errors_of_first.append(np.mean(first.predict(X) != y))
    stream.partial_fit(X, y, classes=[0, 1])
    paths.append(np.array(stream.prototypes_))
print(f"{stream.n_seen_} objects seen; prequential error {stream.prequential_error_:.3f}")

# %%
# The prototypes that move with each batch follow the drift; prototypes of the first batch alone
# do not.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
left.plot(errors_of_first, color="grey", label="prototypes of the first batch")
left.plot(errors, label="partial_fit")
left.set(xlabel="batch", ylabel="error before the update")
left.legend()
paths = np.array(paths)
for prototype, label in enumerate(stream.prototype_labels_):
    right.plot(
        paths[:, prototype, 0],
        paths[:, prototype, 1],
        color=f"C{label}",
        marker=".",
        linewidth=1,
    )
right.set(title="paths of the prototypes", aspect="equal")
figure.tight_layout()
