"""Small data sets and plans for the tests of experiments; workers import it by name."""

import os
import signal
import threading
import time

import numpy as np
from sklearn.datasets import load_iris, load_wine

from protoset.datasets import Attribute, Dataset
from protoset.selectors import all_selectors

from conftest import overlapping

LOADING = threading.Lock()


def load(name):
    if name in ("iris", "wine"):
        X, y = {"iris": load_iris, "wine": load_wine}[name](return_X_y=True)
        return Dataset(name, "vectors", X[::2], y[::2])
    if name == "mixed":
        return mixed()
    if name == "series":
        return series()
    if name == "strings":
        words = ["abba", "abab", "baab", "bbaa", "aabb", "abba", "xyzz", "zzyx", "xyxy", "zyzy", "yyzz", "xxzz"]
        return Dataset(name, "strings", words, np.array([0] * 6 + [1] * 6))
    if name == "matrix":
        X, y = overlapping(30)
        return Dataset(name, "matrix", np.abs(X[:, :1] - X[:, 0]) ** np.linspace(0.5, 1, 30), y)
    if name == "gone":
        raise FileNotFoundError("there is no file gone.dat")
    raise KeyError(name)


def slow_load(name):
    """Take a while, so that a kill finds the run at work."""
    time.sleep(0.01)
    return load(name)


def lingering_load(name):
    """Take longer, so that whoever waits for it is seen waiting."""
    time.sleep(0.3)
    return load(name)


def exclusive_load(name):
    """Fail where a thread of the same process loads at the same time."""
    if not LOADING.acquire(blocking=False):
        raise RuntimeError("two at once")
    try:
        return lingering_load(name)
    finally:
        LOADING.release()


def deadly_load(name):
    """End the process that loads it."""
    if name == "deadly":
        os.kill(os.getpid(), signal.SIGKILL)
    return load(name)


def mixed(n=40):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    objects = np.empty((n, 3), object)
    objects[:, 0] = (y + rng.normal(size=n)).tolist()
    objects[:, 1] = [("red", "blue", "green")[value] for value in (y + rng.integers(0, 2, n))]
    objects[:, 2] = rng.integers(0, 5, n).astype(float).tolist()
    attributes = (
        Attribute("a", "real"),
        Attribute("b", "nominal", ("green", "red", "blue")),
        Attribute("c", "integer"),
    )
    return Dataset("mixed", "mixed", objects, np.array(["no", "yes"])[y], attributes)


def series(n=24, n_train=14):
    rng = np.random.default_rng(1)
    y = np.arange(n) % 2
    objects = [np.sin(np.arange(20) / (3 + label) + rng.normal()) + 0.3 * rng.normal(size=20) for label in y]
    return Dataset("series", "series", objects, y, n_train=n_train)


def selectors():
    return all_selectors()
