"""Figures as files."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

from protoset._files import write_atomically
from protoset._validation import did_you_mean
from protoset.plots._style import check_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDINGS = ("png", "svg", "pdf")


def write_figure(figure: Figure, path: str | os.PathLike[str], *, dpi: float = 150) -> None:
    """Write a figure to a file, whole or not at all.

    Parameters
    ----------
    figure : matplotlib Figure
    path : path-like
        Ends with ``.png``, ``.svg`` or ``.pdf``, which says what to write.
    dpi : float
        Of a PNG.
    """
    write_atomically(path, figure_content(figure, check_figure_path(path), dpi))


def check_figure_path(path: str | os.PathLike[str]) -> str:
    """Return the format that a path says, or refuse it."""
    ending = Path(path).suffix.lower().lstrip(".")
    if ending not in ENDINGS:
        hint = did_you_mean(ending, ENDINGS)
        raise ValueError(f"path={os.fspath(path)!r} must end with .png, .svg or .pdf, which says what to draw{hint}")
    return ending


def check_figure(path: str | os.PathLike[str]) -> None:
    """Refuse, before any work is done, a path that says no format, and an environment that draws nothing."""
    check_figure_path(path)
    check_matplotlib()


def figure_content(figure: Figure, form: str, dpi: float = 150) -> bytes:
    """Return a figure as the bytes of a file; the same figure is the same file."""
    from matplotlib import rc_context

    target = io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with rc_context({"svg.hashsalt": "protoset", "svg.fonttype": "none"}):
        figure.savefig(target, format=form, dpi=dpi, metadata=undated.get(form), facecolor="white")
    return target.getvalue()
