"""Data sets: readers for the formats of the field, writers of selected rows, and the paper's own data."""

from protoset.datasets.base import Attribute, Dataset, LeftOut
from protoset.datasets.loading import load_dataset
from protoset.datasets.queries import Queries, read_queries
from protoset.datasets.reading import read
from protoset.datasets.registry import DATASETS, describe, find
from protoset.datasets.writing import check_rows, take, write_rows

__all__ = [
    "DATASETS",
    "Attribute",
    "Dataset",
    "LeftOut",
    "Queries",
    "check_rows",
    "describe",
    "find",
    "load_dataset",
    "read",
    "read_queries",
    "take",
    "write_rows",
]
