"""Ctrl-C during a long search: the best set so far is kept, with a warning, and the fit is valid."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from protoset import REPS, PrototypeClassifier, Refined
from protoset.exceptions import SearchInterruptedWarning
from protoset.selectors._limits import SearchLimits
from protoset.selectors._refinable_set import RefinableSet

from conftest import overlapping

PROGRAM = """
import sys, warnings
import numpy as np
from protoset.selectors import RMHC, SSMA

def tell(progress):
    if progress.n_evaluations >= 50 and not told:
        told.append(True)
        print("searching", flush=True)

told = []
rng = np.random.default_rng(0)
y = rng.integers(0, 2, 400)
X = y[:, None] + rng.normal(size=(400, 3))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    selector = {selector}.fit(X, y)
assert set(y[selector.sample_indices_]) == {0, 1}
assert 50 <= selector.n_evaluations_ < 10**9
print(*[w.category.__name__ for w in caught], "by an interruption" in str(caught[0].message))
"""


@pytest.mark.parametrize(
    "selector",
    [
        "RMHC(max_iter=10**9, random_state=0, callback=tell)",
        "SSMA(max_evaluations=10**9, random_state=0, callback=tell)",
    ],
)
def test_ctrl_c_keeps_the_best_set(selector):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.replace("{selector}", selector)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        assert process.stdout.readline() == "searching\n"
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 0, errors
    assert out == "SearchInterruptedWarning True\n"


def test_an_interruption_inside_compiled_code():
    """Numba may report it as a SystemError; others stay what they are."""
    limits = SearchLimits()
    with limits.interruptible():
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as interruption:
            raise SystemError("returned a result with an exception set") from interruption
    assert limits.reason == "by an interruption"
    with pytest.raises(SystemError, match="another"), SearchLimits().interruptible():
        raise SystemError("another") from ValueError("else")
    with pytest.raises(KeyboardInterrupt), SearchLimits(keeps_best=False).interruptible():
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interruption_of_the_automatic_size_ends_the_fit(n_jobs, monkeypatch):
    """A refinement alone can keep its best set; an error at one size that was not measured could choose any size."""
    X, y = overlapping(200)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(RefinableSet, "next_move", interrupt)
    with pytest.raises(KeyboardInterrupt):
        Refined(REPS(), n_jobs=n_jobs).fit(X, y)
    with pytest.warns(SearchInterruptedWarning, match="by an interruption after 0 of"):
        refined = Refined(REPS(0.1), n_jobs=n_jobs).fit(X, y)
    np.testing.assert_array_equal(refined.sample_indices_, REPS(0.1).fit(X, y).sample_indices_)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("error", [StopIteration, ZeroDivisionError])
def test_errors_of_callbacks_do_not_depend_on_threads(error, n_jobs):
    X, y = overlapping(200)

    def callback(progress):
        raise error

    expected, message = (RuntimeError, "callback raised StopIteration") if error is StopIteration else (error, None)
    with pytest.raises(expected, match=message):
        Refined(REPS(0.1), callback=callback, n_jobs=n_jobs).fit(X, y)
    with pytest.raises(expected, match=message):
        PrototypeClassifier(REPS(0.1), adapt={"callback": callback}, n_jobs=n_jobs).fit(X, y)
