"""Writing figures to files."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protoset._files import write_atomically
from protoset._validation import did_you_mean
from protoset.plots._style import check_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURE_FORMATS = ("png", "svg", "pdf")
"""Formats of figures, by the end of the file name."""


def write_figure(figure: Any, path: str | os.PathLike[str], *, dpi: float = 150) -> None:
    """Write a figure to a file, completely or not at all. The same figure always gives the same bytes.

    Parameters
    ----------
    figure : Display or matplotlib Figure
        The result of ``plot_...`` or ``...Display.from_...``, or any figure of matplotlib.
    path : path-like
        File to write. Its extension is ``.png``, ``.svg`` or ``.pdf`` and decides the format.
    dpi : float
        Resolution of a PNG.
    """
    form = check_figure_path(path)
    figure = getattr(figure, "figure_", figure)
    if not hasattr(figure, "savefig"):
        raise TypeError(f"figure={figure!r} is not a figure; pass a Display after its plot(), or a matplotlib Figure")
    write_atomically(path, figure_content(figure, form, dpi))


def check_figure_path(path: str | os.PathLike[str]) -> str:
    """Return the format of a figure from the end of its path."""
    ending = Path(path).suffix.lower().lstrip(".")
    if ending not in FIGURE_FORMATS:
        hint = did_you_mean(ending, FIGURE_FORMATS)
        raise ValueError(f"path={os.fspath(path)!r} must end with .png, .svg or .pdf, the format to write{hint}")
    return ending


def check_figure(path: str | os.PathLike[str]) -> None:
    """Check before any work that the path names a format and that matplotlib is installed."""
    check_figure_path(path)
    check_matplotlib()


def figure_content(figure: Figure, form: str, dpi: float = 150) -> bytes:
    """Return a figure as the bytes of a file; the same figure gives the same bytes."""
    from matplotlib import rc_context

    target = io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with rc_context({"svg.hashsalt": "protoset", "svg.fonttype": "none"}):
        figure.savefig(target, format=form, dpi=dpi, metadata=undated.get(form), facecolor="white")
    return target.getvalue()
