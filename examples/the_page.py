"""
A page about a fit
==================

``report`` makes one HTML file about a set of prototypes. It shows errors, sizes, a map of the
objects, and why each test object got its answer. The file needs no network.
"""

# sphinx_gallery_thumbnail_path = 'images/report-desktop.png'

import tempfile
from pathlib import Path

from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import protoset

wine = load_wine(as_frame=True)
X, X_test, y, y_test = train_test_split(
    wine.data, wine.target_names[wine.target], random_state=1
)
model = make_pipeline(StandardScaler(), protoset.PrototypeClassifier()).fit(X, y)

path = Path(tempfile.mkdtemp()) / "wine.html"
report = protoset.report(model, X, y, path, X_test=X_test, y_test=y_test, title="Wine")
print(f"{path.stat().st_size / 1000:.0f} kB")

# %%
# In a notebook the last line of a cell shows the page, as here.

report
