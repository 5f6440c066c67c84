"""
A Dask cluster
==============

``fit(X, y, client=client)`` searches the neighbours on the workers of a Dask cluster. Here
the cluster runs in this process; the same lines work for a cluster of many machines.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from dask.distributed import Client, LocalCluster

from protoset import REPS, PrototypeClassifier

rng = np.random.default_rng(0)
y = rng.integers(0, 3, 4_000)
X = (3 * y[:, None] + rng.normal(size=(4_000, 5))).astype(np.float32)

cluster = LocalCluster(
    n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
)
client = Client(cluster)
distributed = da.from_array(X, chunks=(1_000, 5))
classifier = PrototypeClassifier(REPS(n_prototypes=30), adapt=False).fit(
    distributed, y, client=client
)
labels = classifier.predict(distributed)
print(type(labels).__name__, f"accuracy {(labels.compute() == y).mean():.3f}")

# %%
# The prototypes in the plane of the first two attributes.

figure, axes = plt.subplots(figsize=(5.5, 3.5))
axes.scatter(X[:, 0], X[:, 1], c=y, s=3, alpha=0.3, cmap="viridis")
kept = classifier.sample_indices_
axes.scatter(X[kept, 0], X[kept, 1], c=y[kept], s=60, edgecolors="black", cmap="viridis")
axes.set_title(f"{len(kept)} of {len(X)} objects")
figure.tight_layout()

# %%
# The result is the same as in one process.

alone = REPS(n_prototypes=30).fit(X, y)
print((alone.sample_indices_ == classifier.sample_indices_).all())
client.close()
cluster.close()
