"""Doors for pipelines of scikit-learn as files: saved and loaded, or saved, changed and loaded."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, RobustScaler, StandardScaler

from campaigns.checks import require, same
from campaigns.values import TYPICAL_OBJECTS, labels, scratch, vectors
from protoset import REPS, PrototypeClassifier, load, save
from protoset.exceptions import FileFormatError


def rows(n: int = TYPICAL_OBJECTS, seed: int = 0) -> pd.DataFrame:
    """A table of numbers and texts, some of them missing."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(vectors(n, 2, seed), columns=["a", "b"])
    table["colour"] = rng.choice(np.array(["red", "red", "green", "blü"], dtype=object), n)
    table["level"] = rng.integers(0, 4, n)
    table.loc[rng.random(n) < 0.2, "a"] = np.nan
    return table


def pipeline(*steps: Any, **options: Any) -> Pipeline:
    """A pipeline of steps and a classifier."""
    named = [(f"step {number}", step) for number, step in enumerate(steps)]
    return Pipeline([*named, ("last", PrototypeClassifier(REPS(6)))], **options)


def typical_pipeline() -> Pipeline:
    """A pipeline with a step of each class."""
    numbers = Pipeline([("fill", SimpleImputer(add_indicator=True)), ("scale", RobustScaler())])
    columns = ColumnTransformer(
        [("numbers", numbers, ["a", "b"]), ("texts", OneHotEncoder(min_frequency=3, drop="first"), ["colour"])],
        remainder=MinMaxScaler(),
    )
    return pipeline(columns, StandardScaler(), "passthrough")


@cache
def saved_pipeline() -> bytes:
    """The file of the typical pipeline."""
    path = scratch() / "saved pipeline"
    save(typical_pipeline().fit(rows(), labels(TYPICAL_OBJECTS)), path)
    return path.read_bytes()


def load_pipeline(content: bytes) -> None:
    """Load a file; a pipeline that can be loaded answers, and is the same after it was saved and loaded again."""
    path = scratch() / "pipeline"
    path.write_bytes(content)
    try:
        loaded = load(path)
    except ValueError as error:
        require(isinstance(error, FileFormatError), f"load: {type(error).__name__} in place of FileFormatError")
        raise
    predicted = np.asarray(loaded.predict(rows(9, 1)))
    save(loaded, path)
    require(same(load(path).predict(rows(9, 1)), predicted), "a loaded pipeline predicts otherwise after save and load")


def keep_pipeline(made: Pipeline, X: Any) -> None:
    """Save and load a pipeline; it predicts as before, or is refused and leaves no file."""
    path = scratch() / "kept pipeline"
    path.unlink(missing_ok=True)
    try:
        # Steps with copy=False write into their input.
        made.fit(X.copy(), labels(len(X)))
        predicted, shares = made.predict(X.copy()), made.predict_proba(X.copy())
    except Exception:  # of scikit-learn, which is not on trial
        return
    try:
        save(made, path)
    except Exception:
        require(not path.exists(), "a save that failed left a file")
        raise
    loaded: Any = load(path)
    require(same(loaded.predict(X.copy()), predicted), "a loaded pipeline predicts otherwise")
    require(same(loaded.predict_proba(X.copy()), shares), "a loaded pipeline has other probabilities")
    before, after = (one[:-1].transform(X.copy()) for one in (made, loaded))
    require(type(before) is type(after), "another container after load")


PIPELINE_CLASSES = (ColumnTransformer, SimpleImputer, MinMaxScaler, OneHotEncoder, RobustScaler, StandardScaler)
PIPELINE_DOORS = (rows, pipeline, saved_pipeline, load_pipeline, keep_pipeline)
