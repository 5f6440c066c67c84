"""
A table of numbers and categories
=================================

A DataFrame with numbers, categories and missing values. The Gower distance compares its
rows; ``compare`` says what each column contributes to a distance.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from protoset import REPS, PrototypeClassifier, Refined

rng = np.random.default_rng(0)
ill = np.arange(400) % 2
patients = pd.DataFrame(
    {
        "age": rng.integers(20, 80, 400) + 10 * ill,
        "pressure": rng.normal(120, 10, 400) + 12 * ill,
        "smoker": rng.random(400) < 0.2 + 0.4 * ill,
        "pain": np.where(rng.random(400) < 0.3, "none", np.where(ill, "strong", "weak")),
    }
)
patients.loc[::9, "pressure"] = np.nan

selector = Refined(REPS(n_prototypes=12))
classifier = PrototypeClassifier(selector, adapt=False).fit(patients[:300], ill[:300])
print(classifier.selector_.metric_, f"{classifier.score(patients[300:], ill[300:]):.3f}")
patients.iloc[classifier.sample_indices_].assign(ill=classifier.prototype_labels_)

# %%
# What makes up the distances of five patients to the prototypes that decided?

compared = classifier.compare(patients[300:305])
shares = np.array([pair.shares for pair in compared])
figure, axes = plt.subplots(figsize=(7, 3))
left = np.zeros(len(shares))
for column, name in enumerate(patients.columns):
    axes.barh(range(len(shares)), shares[:, column], left=left, label=name)
    left += shares[:, column]
axes.set(
    xlabel="share of the distance",
    ylabel="patient",
    yticks=range(5),
    yticklabels=range(300, 305),
)
axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
figure.tight_layout()
