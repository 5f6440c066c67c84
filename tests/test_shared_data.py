"""On the benchmark data, where they are at hand."""

import numpy as np
import pytest

from benchmarks.keel import read_keel
from benchmarks.kinds import surnames
from benchmarks.paper_fsr import METHODS, TARGET, fixed_rate_errors, paper_table
from protoset import REPS, PrototypeClassifier


def test_protein_dissimilarities(data_folder):
    """A real matrix of dissimilarities: 213 proteins, 4 classes, nothing but distances."""
    matrix = np.loadtxt(data_folder / "dissimilarity" / "protein_D.csv", delimiter=",")
    labels = np.loadtxt(data_folder / "dissimilarity" / "protein_labels.txt", dtype=str)
    train, test = np.arange(213) % 3 != 0, np.arange(213) % 3 == 0
    classifier = PrototypeClassifier(REPS(0.2, metric="precomputed"))
    classifier.fit(matrix[np.ix_(train, train)], labels[train])
    assert classifier.score(matrix[np.ix_(test, train)], labels[test]) > 0.9


def test_surnames(data_folder):
    """Strings of 18 classes: the prototypes know far more than the largest class."""
    names, nations = surnames(data_folder)
    classifier = PrototypeClassifier(REPS(0.2, metric="levenshtein")).fit(names[:1000], nations[:1000])
    largest = np.mean(nations[1000:] == "Russian")
    assert classifier.score(names[1000:], nations[1000:]) > largest + 0.05


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_errors_at_the_rates_of_the_paper(data_folder):
    paper = paper_table(data_folder.parent / "paper" / "table_fsr.csv")
    errors = []
    for name, methods in paper.items():
        X, y = read_keel(data_folder / "keel" / f"{name}.dat")
        errors.append(fixed_rate_errors(X, y, [methods[method][0] for method in METHODS]))
    assert len(errors) == 34
    assert np.mean(errors) <= TARGET
