"""Pipelines of scikit-learn as JSON values and arrays, and back: scalers, encoders and imputers, never code.

``KINDS`` is a closed table with a record per class of step. A file holds the parameters of each step and the values
that it learned. ColumnTransformer and Pipeline hold other steps.

A file may come from a stranger. Classes are looked up in the table, scikit-learn checks the parameters, and the learned
values must fit together: each step takes as many columns as the step before it returns. When a pipeline is written,
each step is compared with the step that will be restored, so that a file predicts exactly as the pipeline does, or is
not written.
"""

from __future__ import annotations

from collections.abc import Iterator
from string import Formatter
from typing import Any

import numpy as np
import sklearn
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from protoset._step_kinds import SIMPLE_KINDS, StepKind, check_fits, is_array
from protoset._step_values import StepEncoder, count_numbers, decode_value
from protoset.classifier import PrototypeClassifier

OUTPUTS = ("default", "pandas", "polars")
"""Containers that ``set_output`` of scikit-learn knows."""

NAME_FIELDS = ("transformer_name", "feature_name")
"""Fields that a format of feature names may have."""

STEP_PARAMETERS = ("steps", "transformers", "remainder")
"""Parameters that hold steps."""

NOT_WRITTEN = ("memory", "force_int_remainder_cols")
"""Parameters that are not written: a folder of this machine, and a parameter that scikit-learn 1.9 removed."""

NOT_COMPARED = ("_metadata_request", "_sklearn_output_config", "_transformers_feature_names_out")
"""Attributes of any step that may differ after load: requests for metadata, the output, names of output columns."""

COLUMNS_NOT_COMPARED = ("_columns", "_remainder", "transformers_")
"""Attributes of ColumnTransformer that may differ after load: forms of columns, and steps that are compared apart."""

Arrays = dict[str, np.ndarray]


def describe_pipeline(pipeline: Pipeline) -> tuple[dict[str, Any], Arrays]:
    """Return the steps of a fitted pipeline, but not its classifier, as JSON values and arrays."""
    if type(pipeline) is not Pipeline:
        raise TypeError(f"save takes pipelines of the class sklearn.pipeline.Pipeline, got {_full_name(pipeline)}")
    *before, (last, classifier) = pipeline.steps
    if not isinstance(classifier, PrototypeClassifier):
        raise TypeError(
            "save takes a Pipeline whose last step is a PrototypeClassifier; the last step "
            f"{last!r} is {classifier if isinstance(classifier, str) else _full_name(classifier)}"
        )
    encoder = StepEncoder()
    values = {
        "scikit_learn": sklearn.__version__,
        "parameters": _describe_parameters(pipeline, "pipeline", encoder),
        "steps": [[name, _describe(step, name, encoder, fitted=True)] for name, step in before],
        "classifier": last,
    }
    return values, encoder.arrays()


def restore_pipeline(values: dict[str, Any], arrays: Arrays, classifier: PrototypeClassifier) -> Pipeline:
    """Make the pipeline that ``describe_pipeline`` described; raises an error where its parts do not fit together."""
    if count_numbers(values) > sum(array.size for array in arrays.values()):
        raise ValueError("its steps use the same numbers twice")
    written = values["scikit_learn"]
    try:
        steps = [(name, _restore(step, str(name), arrays, fitted=True)) for name, step in values["steps"]]
        pipeline = _make_pipeline([*steps, (values["classifier"], classifier)], values["parameters"], arrays)
        n_outputs = _n_outputs([step for _, step in steps], None)
    except Exception as error:
        if written == sklearn.__version__:
            raise
        raise ValueError(
            f"its steps were written with scikit-learn {written} and do not work with {sklearn.__version__}: {error}"
        ) from error
    n_features = getattr(classifier, "n_features_in_", n_outputs)
    if n_outputs not in (None, n_features):
        raise ValueError(f"its steps return {n_outputs} columns, but its classifier expects {n_features}")
    return pipeline


def check_agreement(pipeline: Pipeline, restored: Pipeline) -> None:
    """Raise an error if a step has a learned value that its restored step does not have."""
    for path, step, again in _pairs(pipeline.steps[:-1], restored.steps[:-1], ""):
        passed_over = {*step.get_params(deep=False), *NOT_COMPARED}
        if isinstance(step, ColumnTransformer):
            passed_over.update(COLUMNS_NOT_COMPARED)
        for name in sorted(vars(step).keys() - passed_over):
            if name not in vars(again):
                raise TypeError(
                    f"step {path!r}: {type(step).__name__} of scikit-learn {sklearn.__version__} has the attribute "
                    f"{name!r}, which protoset cannot write; {_ways_out()}"
                )
            if not _equal(vars(step)[name], vars(again)[name]):
                raise ValueError(
                    f"step {path!r}: {name} of the {type(step).__name__} does not match its parameters, which were "
                    "changed after its fit; fit the pipeline again"
                )


def _pairs(steps: list[Any], restored: list[Any], prefix: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield each step, and each step in it, with its path and its restored step."""
    for (name, step, *_), (_, again, *_) in zip(steps, restored, strict=True):
        path = f"{prefix}{name}"
        if isinstance(step, BaseEstimator):
            yield path, step, again
        if isinstance(step, Pipeline):
            yield from _pairs(step.steps, again.steps, f"{path} > ")
        elif isinstance(step, ColumnTransformer):
            yield from _pairs(getattr(step, "transformers_", []), getattr(again, "transformers_", []), f"{path} > ")


def _equal(a: Any, b: Any) -> bool:
    """Whether two learned values are the same; NaN is equal to NaN."""
    if isinstance(a, BaseEstimator):
        return type(a) is type(b) and _equal(vars(a), vars(b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype.kind == b.dtype.kind and _equal(a.tolist(), b.tolist())
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_equal, a, b))
    return a is b or bool(a == b) or bool(a != a and b != b)


def _full_name(step: Any) -> str:
    return f"{type(step).__module__.partition('.')[0]}.{type(step).__name__}"


def _ways_out() -> str:
    # FunctionTransformer is in the table for "passthrough" alone.
    names = ", ".join(name for name in KINDS if name != FunctionTransformer.__name__)
    return (
        f"use the steps {names}, or save the classifier alone, protoset.save(pipeline[-1], path), and apply "
        "the steps before it yourself"
    )


# from steps to values


def _describe(step: Any, path: str, encoder: StepEncoder, *, fitted: bool) -> Any:
    """Return a step as JSON values; without ``fitted`` its parameters alone."""
    if step is None or (isinstance(step, str) and step in ("passthrough", "drop")):
        return step
    kind = KINDS.get(type(step).__name__)
    if kind is None or type(step) is not kind.make:
        raise TypeError(f"step {path!r} is {_full_name(step)}, which cannot be written without pickle; {_ways_out()}")
    values: dict[str, Any] = {
        "class": type(step).__name__,
        "parameters": _describe_parameters(step, path, encoder),
        "output": getattr(step, "_sklearn_output_config", {}).get("transform"),
    }
    if isinstance(step, Pipeline):
        values["steps"] = [
            [name, _describe(inner, f"{path} > {name}", encoder, fitted=fitted)] for name, inner in step.steps
        ]
        return values
    if fitted and not hasattr(step, "n_features_in_"):
        raise NotFittedError(f"step {path!r}, {type(step).__name__}, is not fitted; fit the pipeline before save")
    if isinstance(step, ColumnTransformer):
        values |= _describe_columns(step, path, encoder, fitted=fitted)
    if fitted:
        learned = {"n_features_in_": int(step.n_features_in_), **kind.learned(step)}
        learned["feature_names_in_"] = getattr(step, "feature_names_in_", None)
        values["learned"] = {name: _encode(value, name, step, path, encoder) for name, value in learned.items()}
    return values


def _describe_parameters(step: Any, path: str, encoder: StepEncoder) -> dict[str, Any]:
    parameters = {key: getattr(step, key) for key in step.get_params(deep=False)}
    return {
        key: _encode(value, key, step, path, encoder)
        for key, value in parameters.items()
        if key not in STEP_PARAMETERS and key not in NOT_WRITTEN
    }


def _encode(value: Any, name: str, step: Any, path: str, encoder: StepEncoder) -> Any:
    try:
        _check_no_function(name, value)
        return encoder.encode(value)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"step {path!r}: {name}={value!r} of {type(step).__name__} cannot be written without pickle; give plain "
            f"numbers and texts, or {_ways_out()}"
        ) from error


def _check_no_function(name: str, value: Any) -> None:
    # A type such as float can be written as a dtype; elsewhere it would be called.
    if callable(value) and name != "dtype":
        raise ValueError(f"{name} is a function")


def _describe_columns(step: ColumnTransformer, path: str, encoder: StepEncoder, *, fitted: bool) -> dict[str, Any]:
    """Return the steps of a ColumnTransformer as they were given and, with ``fitted``, as they were fitted."""
    given = []
    for index, (name, inner, columns) in enumerate(step.transformers):
        inner_path = f"{path} > {name}"
        # A function is not written, but the columns that it selected.
        selected = step.transformers_[index][2] if callable(columns) and fitted else columns
        described = _describe(inner, inner_path, encoder, fitted=False)
        given.append([name, described, _encode(selected, "columns", step, inner_path, encoder)])
    remainder = _describe(step.remainder, f"{path} > remainder", encoder, fitted=False)
    values: dict[str, Any] = {"transformers": given, "remainder": remainder}
    if fitted:
        values["fitted"] = []
        for name, inner, columns in step.transformers_:
            positions = [int(position) for position in step._transformer_to_input_indices[name]]
            described = _describe(inner, f"{path} > {name}", encoder, fitted=bool(positions))
            values["fitted"].append([name, described, positions, _are_names(columns)])
    return values


def _are_names(columns: Any) -> bool:
    if isinstance(columns, slice):
        return isinstance(columns.start, str) or isinstance(columns.stop, str)
    return any(isinstance(column, str) for column in np.ravel(np.asarray(columns, dtype=object)))


def _columns_values(step: ColumnTransformer) -> dict[str, Any]:
    # Without any output column there is no such attribute.
    return {"sparse_output_": bool(getattr(step, "sparse_output_", False))}


# from values to steps


def _restore(values: Any, path: str, arrays: Arrays, *, fitted: bool) -> Any:
    """Make the step that ``_describe`` described."""
    if values is None or values in ("passthrough", "drop"):
        return values
    kind = KINDS[values["class"]]
    if kind.make is Pipeline:
        steps = [(name, _restore(inner, f"{path} > {name}", arrays, fitted=fitted)) for name, inner in values["steps"]]
        return _make_pipeline(steps, values["parameters"], arrays)
    parameters = _restore_parameters(values["parameters"], arrays)
    learned: dict[str, Any] = {}
    if fitted:
        learned = {name: decode_value(value, arrays) for name, value in values["learned"].items()}
    if kind.make is ColumnTransformer:
        parameters["transformers"] = [
            (name, _restore(inner, f"{path} > {name}", arrays, fitted=False), decode_value(columns, arrays))
            for name, inner, columns in values["transformers"]
        ]
        parameters["remainder"] = _restore(values["remainder"], f"{path} > remainder", arrays, fitted=False)
        learned["fitted"] = [
            (name, _restore(inner, f"{path} > {name}", arrays, fitted=bool(positions)), positions, are_names)
            for name, inner, positions, are_names in (values["fitted"] if fitted else [])
        ]
    try:
        step: Any = kind.make(**parameters)
        step._validate_params()
        if fitted:
            _give_learned(step, kind, learned)
        if values["output"] is not None:
            check_fits(values["output"] in OUTPUTS, f"output {values['output']!r}")
            # set_output of a ColumnTransformer would change the steps in it too.
            TransformerMixin.set_output(step, transform=values["output"])
    except Exception as error:
        raise ValueError(f"step {path!r}: {error}") from error
    return step


def _give_learned(step: Any, kind: StepKind, learned: dict[str, Any]) -> None:
    n_features, names = learned["n_features_in_"], learned["feature_names_in_"]
    check_fits(type(n_features) is int and n_features > 0, f"number of features {n_features!r}")
    check_fits(names is None or is_array(names, n_features, "O"), "feature names")
    check_fits(names is None or all(isinstance(name, str) for name in names), "feature names")
    kind.restore(step, learned, n_features)
    step.n_features_in_ = n_features
    if names is not None:
        step.feature_names_in_ = names


def _restore_parameters(values: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    parameters = {name: decode_value(value, arrays) for name, value in values.items()}
    for name, value in parameters.items():
        _check_no_function(name, value)
    return parameters


def _make_pipeline(steps: list[tuple[str, Any]], parameters: dict[str, Any], arrays: Arrays) -> Pipeline:
    check_fits(all(isinstance(name, str) for name, _ in steps), "name, which is no text")
    check_fits(not any(isinstance(step, str) and step != "passthrough" for _, step in steps), "step 'drop'")
    # fit checks the names.
    Pipeline([(name, "passthrough") for name, _ in steps]).fit(np.zeros((1, 1)))
    pipeline = Pipeline(steps, **_restore_parameters(parameters, arrays))
    pipeline._validate_params()
    return pipeline


def _n_outputs(steps: list[Any], n_columns: int | None) -> int | None:
    """Return how many columns a list of steps makes of ``n_columns``; None stands for any number."""
    for step in steps:
        if isinstance(step, Pipeline):
            n_columns = _n_outputs([inner for _, inner in step.steps], n_columns)
        elif isinstance(step, BaseEstimator):
            expected = step.n_features_in_
            check_fits(n_columns in (None, expected), f"{expected} columns, because it gets {n_columns}")
            n_columns = expected
            if isinstance(step, ColumnTransformer):
                n_columns = max((block.stop for block in getattr(step, "output_indices_", {}).values()), default=0)
            elif isinstance(step, (OneHotEncoder, SimpleImputer)):
                n_columns = len(step.get_feature_names_out())
    return n_columns


class StandIn(TransformerMixin, BaseEstimator):
    """Stands for a step that makes ``n_outputs`` columns while its ColumnTransformer is restored."""

    def __init__(self, n_outputs: int = 0):
        self.n_outputs = n_outputs

    def fit(self, X: Any, y: Any = None) -> StandIn:
        """Learn nothing."""
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return zeros."""
        return np.zeros((len(X), self.n_outputs))


def _restore_columns(step: ColumnTransformer, learned: dict[str, Any], n_features: int) -> None:
    """Fit a ColumnTransformer of stand-ins to one row, then give it its fitted steps."""
    fitted, names, parameters = learned["fitted"], learned["feature_names_in_"], step.get_params(deep=False)
    _check_name_format(step.verbose_feature_names_out)
    for name, _, columns in step.transformers:
        _check_no_function(name, columns)
    stand_ins: list[Any] = []
    for name, inner, positions, are_names in fitted:
        check_fits(are_names is False or (are_names is True and names is not None), "columns by name")
        check_fits(all(type(position) is int and 0 <= position < n_features for position in positions), "columns")
        check_fits(not positions or isinstance(inner, BaseEstimator) or inner == "drop", f"step {inner!r}")
        n_outputs = _n_outputs([inner], len(positions)) if positions and inner != "drop" else 0
        stand_ins.append((name, "drop" if inner == "drop" else StandIn(n_outputs or 0), positions))
    check_fits(len({column for *_, positions in stand_ins for column in positions}) == n_features, "columns left over")
    n_given = len(step.transformers)
    check_fits([name for name, *_ in step.transformers] == [name for name, *_ in stand_ins[:n_given]], "names of steps")
    step.set_params(transformers=stand_ins[:n_given], n_jobs=None, verbose=False)
    check_fits(len(stand_ins) <= n_given + 1, "number of steps")
    step.set_params(remainder=stand_ins[n_given][1] if len(stand_ins) > n_given else "drop")
    step.fit(np.zeros((1, n_features)))
    # After masks, scikit-learn keeps a remainder without columns.
    expected = [*stand_ins[:n_given], *(stand_in for stand_in in stand_ins[n_given:] if stand_in[2])]
    columns_of_steps = [(name, list(columns)) for name, _, columns in step.transformers_]
    check_fits(columns_of_steps == [(name, positions) for name, _, positions in expected], "columns")
    for name, value in parameters.items():
        setattr(step, name, value)
    step.transformers_ = [
        (name, inner, list(names[positions]) if are_names else positions)
        for name, inner, positions, are_names in fitted
    ]
    if hasattr(step, "sparse_output_"):
        check_fits(type(learned["sparse_output_"]) is bool, "sparse_output_")
        step.sparse_output_ = learned["sparse_output_"]


def _check_name_format(text: Any) -> None:
    """Refuse a format of feature names that does more than insert names: a width could fill gigabytes with blanks."""
    for _, field, layout, conversion in Formatter().parse(text if isinstance(text, str) else ""):
        check_fits(field in (None, *NAME_FIELDS) and not layout and not conversion, f"format {text!r}")


def _no_values(step: Any) -> dict[str, Any]:
    return {}


def _restore_nothing(step: Any, learned: dict[str, Any], n_features: int) -> None:
    """A Pipeline learns nothing itself."""


KINDS: dict[str, StepKind] = {
    kind.make.__name__: kind
    for kind in (
        *SIMPLE_KINDS,
        StepKind(ColumnTransformer, _columns_values, _restore_columns),
        StepKind(Pipeline, _no_values, _restore_nothing),
    )
}
"""Classes of steps that can be written."""
