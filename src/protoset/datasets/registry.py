"""The data sets of the paper: names, and sizes in the paper and in the files."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Literal

from protoset.datasets.base import Kind
from protoset.exceptions import DataError


@dataclass(frozen=True)
class Record:
    """A data set of the paper.

    For series, ``n_attributes`` is their length. ``nominal`` has the positions of the nominal attributes. ``printed``
    has the numbers of objects, attributes and classes in the paper; if the file has other numbers, ``note`` gives the
    reason. ``n_with_missing`` is the number of objects in the file that keeps rows with missing values. ``sha256`` is
    the digest of the zip file in the archive, if it is known.
    """

    name: str
    paper_name: str
    archive: Literal["keel", "ucr"]
    n_objects: int
    n_attributes: int
    n_classes: int
    n_train: int | None = None
    nominal: tuple[int, ...] = ()
    n_with_missing: int | None = None
    printed: tuple[int, int, int] = (0, 0, 0)
    note: str = ""
    sha256: str | None = None

    @property
    def kind(self) -> Kind:
        """Kind of the objects."""
        return "series" if self.archive == "ucr" else "mixed" if self.nominal else "vectors"

    @property
    def n_test(self) -> int | None:
        """Objects of the test part; None for vectors."""
        return None if self.n_train is None else self.n_objects - self.n_train


NOTE_MISSING_REMOVED = "KEEL's file leaves out the objects with missing values; the paper counts them"
"""Note of data sets without their missing values."""

# Name, objects, attributes, classes as in KEEL's files.
_VECTORS = """
appendicitis 106 7 2     australian 690 14 2    balance 625 4 3        bands 365 19 2      breast 277 9 2
bupa 345 6 2             cleveland 297 13 5     contraceptive 1473 9 3 crx 653 15 2        dermatology 358 34 6
ecoli 336 7 8            german 1000 20 2       glass 214 9 6          haberman 306 3 2    hayes-roth 160 4 3
heart 270 13 2           housevotes 232 16 2    ionosphere 351 33 2    iris 150 4 3        lymphography 148 18 4
mammographic 830 5 2     monk-2 432 6 2         movement_libras 360 90 15                  newthyroid 215 5 3
pima 768 8 2             saheart 462 9 2        sonar 208 60 2         spectfheart 267 44 2
tae 151 5 3              vehicle 846 18 4       wdbc 569 30 2          wine 178 13 3
wisconsin 683 9 2        yeast 1484 8 10
"""

_NOMINAL = {
    "australian": (0, 3, 7, 8, 10, 11),
    "breast": tuple(range(9)),
    "crx": (0, 3, 4, 5, 6, 8, 9, 11, 12),
    "german": (0, 2, 3, 5, 6, 8, 9, 11, 13, 14, 16, 18, 19),
    "housevotes": tuple(range(16)),
    "lymphography": (*range(8), *range(10, 17)),
    "saheart": (4,),
}

_WITH_MISSING = {
    "bands": 539,
    "breast": 286,
    "cleveland": 303,
    "crx": 690,
    "dermatology": 366,
    "housevotes": 435,
    "mammographic": 961,
    "wisconsin": 699,
}

# Numbers in the paper that differ from those in the file.
_PRINTED: dict[str, tuple[tuple[int, int, int], str]] = {
    "bands": ((539, 19, 2), NOTE_MISSING_REMOVED),
    "breast": ((286, 9, 2), NOTE_MISSING_REMOVED),
    "crx": ((690, 15, 2), NOTE_MISSING_REMOVED),
    "dermatology": ((366, 33, 6), f"{NOTE_MISSING_REMOVED}; the file has 34 attributes, the age among them"),
    "glass": ((214, 9, 7), "the file declares 7 classes and has objects of 6"),
    "housevotes": ((435, 16, 2), NOTE_MISSING_REMOVED),
    "mammographic": ((961, 5, 2), NOTE_MISSING_REMOVED),
    "wisconsin": ((699, 9, 2), NOTE_MISSING_REMOVED),
}

# Name in the paper and in the archive, classes, training, test, length.
_SERIES = """
50Words FiftyWords 50 450 455 270               Adiac Adiac 37 390 391 176
Beef Beef 5 30 30 470                           CBF CBF 3 30 900 128
Chlorine ChlorineConcentration 3 467 3840 166   Coffee Coffee 2 28 28 286
Diatom DiatomSizeReduction 4 16 306 345         ECG200 ECG200 2 100 100 96
ECG-5Days ECGFiveDays 2 23 861 136              ECG-CinC CinCECGTorso 4 40 1380 1639
FaceAll FaceAll 14 560 1690 131                 FaceFour FaceFour 4 24 88 350
FacesUCR FacesUCR 14 200 2050 131               Fish Fish 7 175 175 463
GunPoint GunPoint 2 50 150 150                  Lightning-2 Lightning2 2 60 61 637
Lightning-7 Lightning7 7 70 73 319              MedicalImages MedicalImages 10 381 760 99
MoteStrain MoteStrain 2 20 1252 84              OliveOil OliveOil 4 30 30 570
Plane Plane 7 105 105 144                       PowerDemand ItalyPowerDemand 2 67 1029 24
RobotSurface SonyAIBORobotSurface1 2 20 601 70  RobotSurface2 SonyAIBORobotSurface2 2 27 953 65
Synthetic SyntheticControl 6 300 300 60         Trace Trace 4 100 100 275
Two_Patterns TwoPatterns 4 1000 4000 128
"""


def _vectors() -> dict[str, Record]:
    words = _VECTORS.split()
    records = {}
    for name, *counts in zip(*[iter(words)] * 4, strict=True):
        n_objects, n_attributes, n_classes = map(int, counts)
        printed, note = _PRINTED.get(name, ((n_objects, n_attributes, n_classes), ""))
        records[name] = Record(
            name,
            name,
            "keel",
            n_objects,
            n_attributes,
            n_classes,
            nominal=_NOMINAL.get(name, ()),
            n_with_missing=_WITH_MISSING.get(name),
            printed=printed,
            note=note,
        )
    return records


def _series() -> dict[str, Record]:
    words = _SERIES.split()
    records = {}
    for paper_name, name, *counts in zip(*[iter(words)] * 6, strict=True):
        n_classes, n_train, n_test, length = map(int, counts)
        printed = (n_train + n_test, length, n_classes)
        records[name] = Record(name, paper_name.replace("_", " "), "ucr", *printed, n_train=n_train, printed=printed)
    return records


DATASETS: dict[str, Record] = {**_vectors(), **_series()}
"""The 34 vector sets and the 27 sets of time series of the paper, by their names in the archives."""


def _key(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


_BY_KEY = {_key(name): record for record in DATASETS.values() for name in (record.paper_name, record.name)}


def find(name: str) -> Record:
    """Find a data set of the paper by its name in the paper or in the archive.

    Parameters
    ----------
    name : str
        Name of the data set. Upper and lower case, spaces and dashes are ignored.

    Returns
    -------
    Record
        Names, kind and size of the data set.

    Raises
    ------
    DataError
        If the name is unknown. The message has the most similar names.
    """
    record = _BY_KEY.get(_key(str(name)))
    if record is None:
        close = difflib.get_close_matches(_key(str(name)), _BY_KEY, n=3, cutoff=0.5)
        names = list(dict.fromkeys(_BY_KEY[key].name for key in close))
        hint = f" (did you mean {' or '.join(map(repr, names))}?)" if names else ""
        raise DataError(f"there is no data set {name!r}{hint}; protoset.datasets.DATASETS lists all of them")
    return record


def describe() -> list[dict[str, str | int]]:
    """Return a table of the data sets of the paper.

    Returns
    -------
    list of dict
        One per data set, with its names, kind and sizes.
    """
    return [
        {
            "name": record.name,
            "paper": record.paper_name,
            "archive": record.archive,
            "kind": record.kind,
            "objects": record.n_objects,
            "train": record.n_train or "",
            "attributes": record.n_attributes,
            "nominal": len(record.nominal),
            "classes": record.n_classes,
            "note": record.note,
        }
        for record in DATASETS.values()
    ]
