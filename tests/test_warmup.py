"""After a warm-up, the usual work compiles nothing."""

import os
import re
import subprocess
import sys

import pytest

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
# Many classes try the softmax, and many points of series are searched by bounds.
labels = np.arange(240) % 12
PrototypeClassifier().fit(X[:240] + 3 * labels[:, None], labels)
labels = np.arange(80) % 2
X = np.sin(np.linspace(0, 6, 30) * (1 + labels[:, None])) + 0.3 * rng.normal(size=(80, 30))
PrototypeClassifier(Refined(REPS(metric="dtw"))).fit(X, labels).predict(np.tile(X, (100, 1)))
compiled = _compile.watch.names
assert not compiled, compiled
"""


VARIANTS = """
import numpy as np
from protoset import PrototypeClassifier, REPS, Refined
from protoset.kernels import _compile
from protoset.spaces._approximate import approximate_library

rng = np.random.default_rng(1)
labels = np.arange(1500) % 2
X = rng.normal(size=(1500, 4)) + labels[:, None]
PrototypeClassifier(Refined(REPS()), adapt={"relevances": True}).fit(X[:300], labels[:300]).predict(X)
PrototypeClassifier(Refined(REPS(metric="cosine"))).fit(X[:300], labels[:300]).predict(X)
PrototypeClassifier(REPS(700)).fit(X, labels).predict(X)
labels = labels[:130]
X = np.sin(np.linspace(0, 6, 30) * (1 + labels[:, None])) + 0.3 * rng.normal(size=(130, 30))
PrototypeClassifier(Refined(REPS(0.1, metric="dtw")), adapt={"relevances": True}).fit(X, labels).predict(X)
if approximate_library() is not None:
    for series in (X, [row[: 20 + i % 5] for i, row in enumerate(X)]):
        PrototypeClassifier(REPS(0.1, metric="dtw", search="approximate")).fit(series, labels).predict(series)
compiled = _compile.watch.names
assert not compiled, compiled
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("warm_up", "work"),
    [
        ("from protoset._warmup import warmup; print(warmup().n_kernels)", USUAL_WORK),
        (
            "from protoset.cli import main; import sys; sys.exit(main(['warmup', '--all', '--quiet']))",
            USUAL_WORK + VARIANTS,
        ),
    ],
)
def test_after_a_warm_up_work_compiles_nothing(tmp_path, warm_up, work):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(program):
        command = [sys.executable, "-c", program]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)

    first = run(warm_up)
    assert first.returncode == 0, first.stderr
    assert int(re.search("[0-9]+", first.stdout)[0]) > 20
    second = run(work)
    assert second.returncode == 0, second.stderr
