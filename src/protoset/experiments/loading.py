"""Loading the data of experiments: from a source of a plan to a data set."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from protoset.datasets import Dataset, load_dataset, read
from protoset.exceptions import DataError
from protoset.experiments.plan import Source

Data = Callable[[str], Dataset] | Mapping[str, Dataset] | str | os.PathLike[str] | None
"""Source of data: a function from names to data sets, a dict of data sets, a folder of ``load_dataset``, or None."""


class Loader:
    """Loads the data of a plan. Sources with a path are always read from it; relative paths begin at ``folder``."""

    def __init__(self, data: Data, folder: Path):
        if not (data is None or callable(data) or isinstance(data, (Mapping, str, os.PathLike))):
            raise TypeError(
                f"data={data!r} must be a function from names to data sets, a dict of data sets, a folder, or None"
            )
        self._data, self._folder = data, folder

    def __call__(self, source: Source) -> Dataset:
        """Load one data set."""
        dataset = self._load(source)
        if not isinstance(dataset, Dataset):
            raise DataError(
                f"data gave {type(dataset).__name__} for {source.name!r}; expected a protoset.datasets.Dataset"
            )
        return dataset

    def alone(self, source: Source) -> Loader:
        """Return a loader of this data set for other machines: absolute paths, and no other data sets."""
        data = self._data
        if type(data) is dict:
            # The other names stay, for the error message about a missing name.
            data = {name: dataset if name == source.name else None for name, dataset in data.items()}  # type: ignore[misc]
        elif isinstance(data, (str, os.PathLike)):
            data = Path(data).absolute()
        return Loader(data, self._folder.absolute())

    def _load(self, source: Source) -> Any:
        if source.path is not None:
            return read(self._folder / source.path, target=source.target)
        if isinstance(self._data, Mapping):
            if source.name not in self._data:
                raise DataError(f"data has no {source.name!r}, only {sorted(self._data)}; add it")
            return self._data[source.name]
        if callable(self._data):
            return self._data(source.name)
        return load_dataset(source.name, folder=self._data)
