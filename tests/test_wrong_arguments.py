"""Wrong arguments of models, experiments and reports: one error that names the argument."""

import numpy as np
import pytest

import protoset
from protoset import REPS
from protoset.datasets import Attribute, Dataset
from protoset.experiments import compare, export_results, merge, resume, run, status, table, validate
from protoset.models import fit_model, prepare

from cli_cases import run_many
from conftest import overlapping

X, Y = overlapping(40)
BLOBS = Dataset("blobs", "vectors", X, Y)
WAVES = Dataset("waves", "series", list(X), Y)
TABLE = Dataset(
    "table",
    "mixed",
    np.array([[float(value), "ab"[int(value > 0)]] for value in X[:, 0]], object),
    Y,
    (Attribute("size", "real"), Attribute("letter", "nominal", ("a", "b"))),
)
PLAN = {"data": ["blobs"], "methods": ["NoPS"], "folds": 2}
FITTED = REPS(6).fit(X, Y)

QUERIES = [
    (BLOBS, {}, [["a", "b", "c"]], "X is not a table of numbers .*'a'"),
    (BLOBS, {}, [[1, 2, 3], [4]], "X is not a table of numbers"),
    (BLOBS, {}, [[10**400, 1, 1]], "X is not a table of numbers .*too large"),
    (BLOBS, {}, {"a": 1}, "X is not a table of numbers"),
    (WAVES, {}, 3, "X=3 must be a list of series"),
    (WAVES, {"metric": "euclidean"}, None, "X=None must be a list of series"),
    (WAVES, {"metric": "euclidean"}, [["a", "b", "c"]], "X is not a table of numbers"),
]


@pytest.mark.parametrize(("dataset", "options", "queries", "message"), QUERIES)
def test_queries_of_models(dataset, options, queries, message):
    model = fit_model(dataset, "FCNN", **options)
    with pytest.raises((ValueError, TypeError), match=message):
        model.predict(queries)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (3, r"X has the shape \(\); expected rows of the 2 attributes"),
        ([["a", "a"]], "the attribute 'size' is not a table of numbers"),
        ([[1.0, "a", 2]], r"X has the shape \(1, 3\); expected rows of the 2 attributes"),
    ],
)
def test_mixed_rows_as_numbers(rows, message):
    preparation = prepare(TABLE, metric="euclidean", nominal="index")
    with pytest.raises(ValueError, match=message):
        preparation(rows)


@pytest.fixture(scope="module")
def journal(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "journal.sqlite"
    run(PLAN, path, data={"blobs": BLOBS})
    return path


CALLS = {
    "validate(progress)": (lambda journal: validate(BLOBS, "FCNN", progress=3), "progress=3 must be a function"),
    "compare(callback)": (lambda journal: compare(BLOBS, ["FCNN"], callback=3), "callback=3 must be a function"),
    "run(callback)": (lambda journal: run(PLAN, journal, callback=3), "callback=3 must be a function"),
    "run(verbose)": (lambda journal: run(PLAN, journal, verbose="a"), "verbose='a' must be"),
    "run(journal)": (lambda journal: run(PLAN, None, data={}), "journal=None must be a path"),
    "resume(journal)": (lambda journal: resume(3), "journal=3 must be a path"),
    "status(journal)": (lambda journal: status("a\0b"), "journal='a.x00b' has a null character"),
    "table(where)": (lambda journal: table(journal, where=3), "where=3 must be a dict"),
    "export_results(path)": (lambda journal: export_results(journal, 3), "path=3 must be a path"),
    "merge(sources)": (lambda journal: merge(journal, 3), "sources=3 must be a list of journals"),
    "merge(source)": (lambda journal: merge(journal, [3]), "sources=3 must be a path"),
    "report(test)": (lambda journal: protoset.report(FITTED, BLOBS, X_test=3), "X_test has the type int"),
    "report(space)": (lambda journal: protoset.report(FITTED, BLOBS, space=3), "space=3 must be the space of the fit"),
    "report(ids)": (lambda journal: protoset.report(FITTED, BLOBS, ids=3), "ids=3 must be a list"),
    "report(title)": (lambda journal: protoset.report(FITTED, BLOBS, title=3), "title=3 must be a text"),
    "report(created)": (lambda journal: protoset.report(FITTED, BLOBS, created=3), "created=3 must be a date"),
    "report(transform)": (
        lambda journal: protoset.report(FITTED, BLOBS, transform=3),
        "transform=3 must be",
    ),
    "report(path)": (lambda journal: protoset.report(FITTED, BLOBS, path=3), "path=3 must be a path"),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(journal, name):
    call, message = CALLS[name]
    with pytest.raises((ValueError, TypeError), match=f"^{message}"):
        call(journal)


def test_a_plan_without_a_name(tmp_path):
    ((code, _, error),) = run_many([["experiment", "run", ""]], tmp_path)
    assert (code, error) == (2, "protoset: PLAN '.' is not a file; pass the path of a TOML file\n")
