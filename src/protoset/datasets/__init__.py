"""Data sets: readers for the formats of the field, writers of selected rows, and the paper's own data."""

from protoset.datasets.base import Attribute, DataError, Dataset
from protoset.datasets.reading import read
from protoset.datasets.writing import write_rows

__all__ = ["Attribute", "DataError", "Dataset", "read", "write_rows"]
