"""After a warm-up, the usual work compiles nothing."""

import os
import subprocess
import sys

import pytest

WARM_UP = "from protoset._warmup import warmup; print(warmup().n_kernels)"

USUAL_WORK = """
import numpy as np
from protoset import PrototypeClassifier, REPS, Refined
from protoset.cli import main
from protoset.kernels import _compile

rng = np.random.default_rng(1)
for decimals, n in ((3, 200), (0, 200), (3, 600)):
    labels = np.arange(n) % 2
    with open("table.csv", "w") as file:
        print("age,income,colour,label", file=file)
        for label in labels:
            numbers = np.round(rng.normal(label, 1, 2), decimals)
            print(*numbers, rng.choice(["red", "blue"]), "yes" if label else "no", sep=",", file=file)
    assert main(["select", "table.csv", "--quiet"]) == 0
    X = np.round(rng.normal(size=(n, 4)) + labels[:, None], decimals)
    PrototypeClassifier().fit(X, labels).predict(X)
    PrototypeClassifier(REPS()).fit(X, labels).predict(X)
labels = np.arange(80) % 2
X = np.sin(np.linspace(0, 6, 30) * (1 + labels[:, None])) + 0.3 * rng.normal(size=(80, 30))
PrototypeClassifier(Refined(REPS(metric="dtw"))).fit(X, labels).predict(X)
compiled = _compile.watch.names
assert not compiled, compiled
"""


@pytest.mark.slow
def test_after_a_warm_up_the_usual_work_compiles_nothing(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(program):
        command = [sys.executable, "-c", program]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)

    first = run(WARM_UP)
    assert first.returncode == 0, first.stderr
    assert int(first.stdout) > 20
    second = run(USUAL_WORK)
    assert second.returncode == 0, second.stderr
