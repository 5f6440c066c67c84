"""Data sets: readers for the formats of the field, writers of selected rows, and the paper's own data."""

from protoset.datasets.base import Attribute, DataError, Dataset

__all__ = ["Attribute", "DataError", "Dataset"]
