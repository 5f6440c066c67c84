"""The tables that the paper prints.

Ando, S.: Discriminative Prototype Set Learning for Nearest Neighbor Classification. The numbers are typed from its
tables and not corrected. Data sets have the names of their archives.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

CITATION = "Ando, S.: Discriminative Prototype Set Learning for Nearest Neighbor Classification"
"""The paper, for the head of the report."""

BASELINES = ("CCIS", "FCNN", "SSMA", "DROP3", "RMHC")
"""Methods that the paper compares REPS with, in its order."""

METHODS = (*BASELINES, "REPS")
"""The baselines and REPS; NoPS is not among them."""


@dataclass(frozen=True, eq=False)
class Printed:
    """A printed table."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: np.ndarray

    def column(self, name: str) -> np.ndarray:
        """Return the values of a column."""
        return self.values[:, self.columns.index(name)]

    def value(self, row: str, column: str) -> float:
        """Return one value."""
        return float(self.values[self.rows.index(row), self.columns.index(column)])


def vector_table() -> Printed:
    """Error and selection rates on the 34 vector sets.

    Columns are NoPS, ``CCIS_error``, ``CCIS_rate`` and so on for each method. The paper heads the column NoPS with ERR,
    but it holds accuracies; see ``one_nn_errors``.
    """
    return _read("vectors")


def one_nn_errors() -> np.ndarray:
    """Errors of 1-NN on the whole training set, from the printed accuracies."""
    return 1 - vector_table().column("NoPS")


def fixed_rate_table() -> Printed:
    """Errors of REPS at the selection rates of the five baselines, on the 34 vector sets."""
    return _read("fixed_rate")


def signed_rank_table() -> Printed:
    """p-values of the signed-rank tests; rows are "pareto_ranks" and "fixed_rate_errors"."""
    return _read("signed_ranks")


def series_table() -> Printed:
    """Error of 1-NN on the whole training set, error and selection rate of REPS, on the 27 sets of time series."""
    return _read("series")


@cache
def _read(name: str) -> Printed:
    text = (files("protoset.paper") / "tables" / f"{name}.csv").read_text("utf-8")
    header, *rows = csv.reader(text.splitlines())
    values = np.array([[float(value) for value in row[1:]] for row in rows])
    values.flags.writeable = False
    return Printed(tuple(row[0] for row in rows), tuple(header[1:]), values)
