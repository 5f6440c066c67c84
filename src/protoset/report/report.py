"""The public side of the report: build it, show it in a notebook, write it to a file."""

from __future__ import annotations

import datetime
import html
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from protoset._files import is_part_of, write_atomically
from protoset._suspects import Suspects
from protoset._validation import check_flag, check_path
from protoset.datasets import Dataset
from protoset.models import CrossValidation, ReferenceErrors
from protoset.report.inputs import check_inputs
from protoset.report.model import page_model
from protoset.report.render import render
from protoset.spaces import TrainingSpace

Created = datetime.date | str | None


@dataclass(frozen=True, eq=False)
class Report:
    """A page about one set of prototypes. Notebooks display it.

    Attributes
    ----------
    model : dict
        All values that the page shows, as JSON types.
    source : Path or None
        File or folder of the data; never overwritten.
    """

    model: dict[str, Any]
    source: Path | None = None

    @cached_property
    def html(self) -> str:
        """The page as HTML."""
        return render(self.model)

    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the page to a file, completely or not at all.

        Parameters
        ----------
        path : path
        overwrite : bool
            Whether an existing file may be replaced. The data are never replaced.

        Returns
        -------
        Path
        """
        path = check_path("path", path)
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
    space: TrainingSpace | None = None,
    cross_validation: CrossValidation | None = None,
    references: ReferenceErrors | None = None,
    suspects: Suspects | Sequence[Mapping[str, Any]] | None = None,
) -> Report:
    """Build the page about a fitted selector or classifier.

    Parameters
    ----------
    dataset : Dataset
        The training objects, as the page shows them. Without ``test``, a data set with a split is divided by it.
    selector : selector or PrototypeClassifier
        Fitted on these training objects.
    test : Dataset, optional
        Test objects of the same kind; for a matrix, rows of dissimilarities to all training objects. Without test
        objects, the error of the set is cross-validated on the training objects.
    transform : callable, optional
        Transform of the objects before the fit, for example ``scaler.transform``. The page shows the objects before
        the transform; of prototypes that moved it shows the values if the scaler has an ``inverse_transform``.
    ids, test_ids : sequence, optional
        Names of the objects; by default ``ids`` of the data sets, or positions from 0 on.
    title : str, optional
    created : date, datetime or str, optional
        Date of the report, by default the current time. With the same date, the same report has the same bytes.
    most_objects : int, default=2000
        Objects that the page holds at most. Of more objects, the page shows the prototypes and a random sample, and
        says so.
    space : TrainingSpace, optional
        The space that the selector was fitted on. By default it is built again from ``dataset``; needed if the
        selector was fitted on a space of another metric than its ``metric`` parameter names.
    cross_validation : CrossValidation, optional
        Error of the set, from :func:`protoset.models.cross_validated_error`; measured by default.
    references : ReferenceErrors, optional
        Errors of guessing, 1-NN and k-NN on the training objects, from :func:`protoset.models.reference_errors`;
        measured by default.
    suspects : Suspects or list of dict, optional
        Training objects whose labels are to be checked, in the order in which the page lists them. Each has ``row``,
        ``given``, ``suggested``, and may have ``probability``, that of the suggested label, and ``evidence``, rows of
        training objects that speak for it.

    Returns
    -------
    Report

    Notes
    -----
    No error of the set is measured on objects that took part in its selection. With ``n_prototypes="auto"`` the slider
    has the sizes of ``size_curve_`` and their cross-validated errors. The set of another size comes from the same
    method: a cut of the ranking of REPS, or a set that is refined when the report is built (up to 2,000 objects and 500
    prototypes). Where the prototypes of a classifier have moved, everything about its set is computed from the moved
    prototypes, and each is shown by its nearest real case, the object in ``exemplars_``; sets of other sizes are shown
    before any moves. Without a curve the error of the set is measured by
    :func:`protoset.models.cross_validated_error`, unless there are test objects.

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
    if created is not None and not isinstance(created, (str, datetime.date)):
        raise TypeError(f"created={created!r} must be a date, a text, or None")
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title={title!r} must be a text, or None")
    inputs = check_inputs(
        dataset,
        selector,
        test=test,
        transform=transform,
        space=space,
        ids=ids,
        test_ids=test_ids,
        cross_validation=cross_validation,
        references=references,
        suspects=suspects,
    )
    when = datetime.datetime.now().astimezone().replace(microsecond=0) if created is None else created
    text = when if isinstance(when, str) else when.isoformat(*(" ",) if isinstance(when, datetime.datetime) else ())
    model = page_model(inputs, title=title, created=text, most_objects=most_objects)
    return Report(model, inputs.train.path)


def write_report(
    path: str | os.PathLike[str], dataset: Dataset, selector: Any, *, overwrite: bool = False, **options: Any
) -> Path:
    """Build a report and write it to a file.

    Parameters
    ----------
    path : path
        File to write. An existing file, or a file of the data, raises an error before any work is done.
    dataset, selector
        As in :func:`build_report`.
    overwrite : bool
        Whether an existing file may be replaced.
    **options
        As in :func:`build_report`.

    Returns
    -------
    Path
    """
    check_output(check_path("path", path), getattr(dataset, "path", None), overwrite=overwrite)
    return build_report(dataset, selector, **options).write(path, overwrite=overwrite)


def check_output(path: Path, source: Path | None, *, overwrite: bool) -> None:
    """Raise if a file of the data, or an existing file without ``overwrite``, would be replaced."""
    check_flag("overwrite", overwrite)
    if source is not None and is_part_of(path, source):
        raise ValueError(f"path={str(path)!r} is a file of the data; choose another name")
    if os.path.lexists(path) and not overwrite:
        raise FileExistsError(f"path={str(path)!r} exists; choose another name or pass overwrite=True")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"path={str(path)!r} is in a folder that does not exist; create it first")
