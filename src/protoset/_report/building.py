"""The public side of the report: make it, show it in a notebook, write it to a file."""

from __future__ import annotations

import datetime
import html
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from protoset._display import cut_text
from protoset._files import is_part_of, write_atomically
from protoset._image_shapes import ShownAs
from protoset._report.arguments import gather
from protoset._report.inputs import check_inputs
from protoset._report.model import page_model
from protoset._report.render import render
from protoset._suspects import Suspects
from protoset._validation import check_flag, check_path
from protoset.datasets import Dataset
from protoset.models import CrossValidation, ReferenceErrors
from protoset.models.unpacking import Transform
from protoset.spaces import TrainingSpace

Created = datetime.date | str | None

MOST_OBJECTS = 20_000
"""Objects that a page holds by default."""

FRAME_HEIGHT = "48rem"
"""Height of the page in a notebook."""


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """A page about one set of prototypes. Notebooks display the page.

    Attributes
    ----------
    model : dict
        All values that the page shows, as JSON types.
    source : Path or None
        File or folder of the data. ``write`` never overwrites it.
    path : Path or None
        File to which :func:`protoset.report` wrote the page.
    """

    model: dict[str, Any]
    source: Path | None = None
    path: Path | None = None

    @cached_property
    def html(self) -> str:
        """The page as HTML."""
        return render(self.model)

    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the page to a file, completely or not at all.

        Parameters
        ----------
        path : path-like
            File to write, such as "page.html".
        overwrite : bool
            Whether an existing file may be replaced. Files of the data are never replaced.

        Returns
        -------
        Path
            The file that was written.
        """
        path = check_path("path", path)
        check_output(path, self.source, overwrite=overwrite)
        write_atomically(path, self.html.encode())
        return path

    def __repr__(self) -> str:
        """Title, number of prototypes and of training objects."""
        summary = self.model["summary"]
        title = cut_text(self.model["title"])
        where = "see write(path)" if self.path is None else f"written to {self.path}"
        return f"<Report {title!r}: {summary['n_prototypes']:,} of {summary['n_train']:,} objects; {where}>"

    def _repr_html_(self) -> str:
        """The page in a frame of its own, whose scripts have access to the page only."""
        page, title = html.escape(self.html), html.escape(self.model["title"])
        style = f"width:100%;height:{FRAME_HEIGHT};border:0"
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts" style="{style}" title="{title}"></iframe>'


def report(
    estimator: Any,
    X: Any,
    y: Any = None,
    path: str | os.PathLike[str] | None = None,
    *,
    X_test: Any = None,
    y_test: Any = None,
    image_shape: ShownAs = None,
    transform: Transform | None = None,
    ids: Sequence[Any] | None = None,
    test_ids: Sequence[Any] | None = None,
    suspects: Suspects | Sequence[Mapping[str, Any]] | bool | None = None,
    title: str | None = None,
    created: Created = None,
    most_objects: int = MOST_OBJECTS,
    space: TrainingSpace | None = None,
    cross_validation: CrossValidation | None = None,
    references: ReferenceErrors | None = None,
    overwrite: bool = False,
) -> Report:
    """Make a page about the prototypes of a fitted estimator, and write it to a file if a path is given.

    Parameters
    ----------
    estimator : PrototypeClassifier, selector, Pipeline or DataModel
        Fitted on the training objects ``X``. The last step of a Pipeline must be a PrototypeClassifier or a selector.
        The other steps are applied to the objects; the page shows the objects before these steps.
    X : array-like, DataFrame, list of series or strings, or Dataset
        The training objects, as in ``fit``. For a DataFrame the page shows the column names and the index. A Dataset
        has its own labels, and test objects if it has a split.
    y : array-like of shape (n_objects,), optional
        Labels of the training objects. Leave it out if ``X`` is a Dataset.
    path : path-like, optional
        File to write, such as "page.html". An existing file, a file of the data, or a folder that cannot be written
        raises an error before any work is done.
    X_test, y_test : optional
        Test objects of the same kind with their labels, or a Dataset if ``X`` is a Dataset. For a matrix: rows of
        dissimilarities to all training objects. Without test objects, the error of the set is cross-validated on the
        training objects.
    image_shape : tuple of int or False, optional
        Shape of images whose pixels are the rows of ``X``: (height, width), or (height, width, 3) for red, green and
        blue. By default, rows that look like square grey images are shown as images; False shows them as rows.
    transform : callable, optional
        Transform that was applied to the objects before the fit, such as ``scaler.transform``, if ``estimator`` is not
        a Pipeline. The page shows the objects before the transform. It shows the values of moved prototypes if the
        scaler has an ``inverse_transform``.
    ids, test_ids : sequence, optional
        Names of the objects; by default ``ids`` of a Dataset, the index of a DataFrame, or positions from 0 on.
    suspects : Suspects, list of dict or False, optional
        Training objects whose labels should be checked, in the order of the list on the page. A dict has ``row``,
        ``given`` and ``suggested``; it may have ``probability`` of the suggested label, and ``evidence``, the rows of
        training objects that support the suggestion. By default :func:`protoset.suspects` finds them if that is quick;
        see Notes. False leaves the list out.
    title : str, optional
        Title of the page.
    created : date, datetime or str, optional
        Date of the report, by default the current time. Pass a fixed date to get the same bytes for the same report.
    most_objects : int, default=20000
        Largest number of objects on the page. If there are more, the page shows the prototypes and a random sample,
        and has a note about it.
    space : TrainingSpace, optional
        The space that the selector was fitted on. By default it is built from ``X``. Needed if the selector was
        fitted on a space whose metric differs from its ``metric`` parameter.
    cross_validation : CrossValidation, optional
        Error of the set, from :func:`protoset.models.cross_validated_error`; measured by default.
    references : ReferenceErrors, optional
        Errors of guessing, 1-NN and k-NN on the training objects, from :func:`protoset.models.reference_errors`;
        measured by default.
    overwrite : bool, default=False
        Whether an existing file may be replaced.

    Returns
    -------
    Report
        Notebooks display the page. ``write(path)`` writes it to a file.

    Notes
    -----
    The error of the set is always measured on objects that were not used in the selection. Without a size curve and
    without test objects, :func:`protoset.models.cross_validated_error` measures it.

    With ``n_prototypes="auto"`` the slider of the page has the sizes of ``size_curve_`` and their cross-validated
    errors. The set of another size comes from the same method: a cut of the ranking of REPS, or a set that is refined
    when the report is made (up to 2,000 objects and 500 prototypes).

    If the prototypes of a classifier have moved, the page describes the moved prototypes, and shows each with its
    nearest training object of the same class, from ``exemplars_``. Sets of other sizes are shown before any moves.

    By default the suspects are found by five more fits of a calibrated classifier, for up to 2,000 objects (500
    strings). There are none for series or for a function as metric.

    Examples
    --------
    >>> import protoset
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> protoset.report(protoset.REPS(n_prototypes=9).fit(X, y), X, y, title="Iris")
    <Report 'Iris': 9 of 150 objects; see write(path)>
    """
    check_flag("overwrite", overwrite)
    if path is not None:
        source = X.path if isinstance(X, Dataset) else None
        check_output(check_path("path", path), source, overwrite=overwrite)
    material = gather(estimator, X, y, X_test, y_test, transform, image_shape)
    made = build_report(
        material.dataset,
        material.selector,
        test=material.test,
        transform=material.transform,
        transform_name=material.transform_name,
        objects=material.objects,
        test_objects=material.test_objects,
        image_shape=material.image_shape,
        ids=ids,
        test_ids=test_ids,
        suspects=suspects,
        title=title,
        created=created,
        most_objects=most_objects,
        space=space,
        cross_validation=cross_validation,
        references=references,
    )
    return made if path is None else replace(made, path=made.write(path, overwrite=overwrite))


def build_report(
    dataset: Dataset,
    selector: Any,
    *,
    title: str | None = None,
    created: Created = None,
    most_objects: int = MOST_OBJECTS,
    **options: Any,
) -> Report:
    """Make the page about a selector or classifier and its data set; ``options`` as in ``check_inputs``."""
    if created is not None and not isinstance(created, (str, datetime.date)):
        raise TypeError(f"created={created!r} must be a date, a text, or None")
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title={title!r} must be a text, or None")
    inputs = check_inputs(dataset, selector, **options)
    when = datetime.datetime.now().astimezone().replace(microsecond=0) if created is None else created
    text = when if isinstance(when, str) else when.isoformat(*(" ",) if isinstance(when, datetime.datetime) else ())
    model = page_model(inputs, title=title, created=text, most_objects=most_objects)
    return Report(model, inputs.train.path)


def check_output(path: Path, source: Path | None, *, overwrite: bool) -> None:
    """Raise an error if a file of the data, or an existing file without ``overwrite``, would be replaced."""
    check_flag("overwrite", overwrite)
    if source is not None and is_part_of(path, source):
        raise ValueError(f"path={str(path)!r} is a file of the data; choose another name")
    if os.path.lexists(path) and not overwrite:
        raise FileExistsError(f"path={str(path)!r} exists; choose another name or pass overwrite=True")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"path={str(path)!r} is in a folder that does not exist; create it first")
    if not os.access(path.absolute().parent, os.W_OK):
        raise PermissionError(f"path={str(path)!r} is in a folder that cannot be written; choose another folder")
