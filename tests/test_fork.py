"""os.fork after a fit: the child predicts and fits as its parent does."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys
import numpy as np
from protoset import REPS, PrototypeClassifier

n_features, metric, n_jobs = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
X = np.random.default_rng(0).normal(size=(2100, n_features))
X = X[:200] if metric == "dtw" else X
y = X[:, 0] > 0
make = lambda: PrototypeClassifier(REPS(0.05, metric=metric, n_jobs=n_jobs), n_jobs=n_jobs)
classifier = make().fit(X, y)
expected = classifier.predict(X)
if os.fork():
    _, status = os.wait()
    sys.exit(os.waitstatus_to_exitcode(status))
signal.alarm(120)  # a child that waits for threads of its parent would wait for ever
same = (classifier.predict(X) == expected).all() and (make().fit(X, y).predict(X) == expected).all()
os._exit(0 if same else 3)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(("n_features", "metric"), [(3, "euclidean"), (12, "euclidean"), (40, "euclidean"), (5, "dtw")])
def test_a_forked_child_goes_on(n_features, metric, n_jobs):
    """By a tree, by scikit-learn's OpenMP, by faiss where it is installed, by threads."""
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(n_features), metric, str(n_jobs)]
    assert subprocess.run(command, check=False).returncode == 0
