"""The report as users meet it: build one, look at it, write it to a file."""

from __future__ import annotations

import datetime
import html
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from protoset._files import is_part_of, write_atomically
from protoset._validation import check_flag
from protoset.datasets import Dataset
from protoset.report.model import page_model
from protoset.report.parts import gather_parts
from protoset.report.render import render

Created = datetime.date | str | None


@dataclass(frozen=True, eq=False)
class Report:
    """A page about one set of prototypes; a notebook shows it in place.

    Attributes
    ----------
    model : dict
        What the page shows, in types that JSON has.
    source : Path or None
        The file or folder that the data were read from; never written to.
    """

    model: dict[str, Any]
    source: Path | None = None

    @cached_property
    def html(self) -> str:
        """The whole page."""
        return render(self.model)

    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the page to a file, whole or not at all.

        Parameters
        ----------
        path : path
        overwrite : bool
            Whether a file that is there may be replaced; the data that the report is about never are.

        Returns
        -------
        Path
        """
        path = Path(path)
        check_output(path, self.source, overwrite=overwrite)
        write_atomically(path, self.html.encode())
        return path

    def _repr_html_(self) -> str:
        frame = 'style="width:100%;height:48rem;border:0" title="protoset report"'
        return f'<iframe srcdoc="{html.escape(self.html)}" {frame}></iframe>'


def build_report(
    dataset: Dataset,
    selector: Any,
    *,
    test: Dataset | None = None,
    transform: Callable[[Any], Any] | None = None,
    ids: Sequence[Any] | None = None,
    test_ids: Sequence[Any] | None = None,
    title: str | None = None,
    created: Created = None,
    most_objects: int = 2000,
) -> Report:
    """Gather what the page shows about a fitted selector or classifier.

    Parameters
    ----------
    dataset : Dataset
        The training objects, as they are to be shown. A data set that comes with a split is divided by it, if
        ``test`` is not given.
    selector : selector or PrototypeClassifier
        Fitted on these training objects.
    test : Dataset, optional
        Objects that were held out, of the same kind; of a matrix, the rows of their dissimilarities to all training
        objects. Without any, errors are leave-one-out errors on the training set.
    transform : callable, optional
        What was done to the objects before they were compared, for example ``scaler.transform``. The page shows them
        as they were before it.
    ids, test_ids : sequence, optional
        What to call the objects; by default their positions, from 0 on.
    title : str, optional
    created : date, datetime or str, optional
        When the report was made, today by default. With the same date the same report is the same to the byte.
    most_objects : int, default=2000
        Objects that the page holds at most. Of more, the prototypes and a random sample are shown; the page says so.

    Returns
    -------
    Report

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protoset import REPS
    >>> from protoset.datasets import Dataset
    >>> from protoset.report import build_report
    >>> X, y = load_iris(return_X_y=True)
    >>> report = build_report(Dataset("iris", "vectors", X, y), REPS(n_prototypes=9).fit(X, y))
    >>> report.model["summary"]["n_prototypes"]
    9
    """
    parts = gather_parts(dataset, selector, test=test, transform=transform, ids=ids, test_ids=test_ids)
    when = datetime.datetime.now().astimezone().replace(microsecond=0) if created is None else created
    text = when if isinstance(when, str) else when.isoformat(*(" ",) if isinstance(when, datetime.datetime) else ())
    model = page_model(parts, title=title, created=text, most_objects=most_objects)
    return Report(model, parts.source)


def write_report(
    path: str | os.PathLike[str], dataset: Dataset, selector: Any, *, overwrite: bool = False, **options: Any
) -> Path:
    """Build a report and write it to a file.

    Parameters
    ----------
    path : path
        Where to write it. It is refused before any work is done if it is there, or is the data.
    dataset, selector
        As in :func:`build_report`.
    overwrite : bool
        Whether a file that is there may be replaced.
    **options
        As in :func:`build_report`.

    Returns
    -------
    Path
    """
    check_output(Path(path), getattr(dataset, "path", None), overwrite=overwrite)
    return build_report(dataset, selector, **options).write(path, overwrite=overwrite)


def check_output(path: Path, source: Path | None, *, overwrite: bool) -> None:
    """Refuse to write over the data, or over what is there unless that is wished."""
    check_flag("overwrite", overwrite)
    if source is not None and is_part_of(path, source):
        raise ValueError(f"path={str(path)!r} is the data that the report is about, or in them; choose another name")
    if os.path.lexists(path) and not overwrite:
        raise FileExistsError(f"path={str(path)!r} is there; choose another name or pass overwrite=True")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"path={str(path)!r} is in a folder that is not there; make it first")
