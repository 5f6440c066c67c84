"""
Saving and exporting
====================

``save`` writes a file that is no pickle: loading it executes nothing. ``export`` writes one
Python file that predicts with NumPy alone, for a server without scikit-learn.
"""

import importlib.util
import tempfile
from pathlib import Path

from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import protoset
from protoset.plots import plot_prototypes

X, y = load_digits(return_X_y=True)
model = make_pipeline(
    MinMaxScaler(), protoset.PrototypeClassifier(protoset.REPS(n_prototypes=40))
).fit(X, y)
folder = Path(tempfile.mkdtemp())

protoset.save(model, folder / "digits.protoset")
loaded = protoset.load(folder / "digits.protoset")
print(
    (loaded.predict(X) == model.predict(X)).all(),
    f"{(folder / 'digits.protoset').stat().st_size / 1000:.0f} kB",
)

# %%
# The file contains the prototypes. It does not contain the training set.

plot_prototypes(model, X, y, image_shape=(8, 8), max_classes=4)

# %%
# The exported file needs NumPy alone. Here it is imported as a module; as a program it reads
# rows from standard input.

scaled = MinMaxScaler().fit_transform(X)
protoset.export(
    protoset.PrototypeClassifier(protoset.REPS(n_prototypes=40)).fit(scaled, y),
    folder / "digits.py",
)
description = importlib.util.spec_from_file_location("digits", folder / "digits.py")
digits = importlib.util.module_from_spec(description)
description.loader.exec_module(digits)
print(digits.predict(scaled[:8]), y[:8])
