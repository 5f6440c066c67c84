"""A page of a report: Markdown text with tables, CSV files of the tables, figures as SVG and PNG."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protoset._files import write_atomically
from protoset.plots.figure_files import figure_content

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MISSING_TEXT = "missing"
"""Text in place of a missing number."""


@dataclass
class Page:
    """A page under construction: Markdown blocks, CSV tables and figures by name, and the folder of the images.

    The folder is relative to the page. A table is a header and rows.
    """

    images: str = "."
    blocks: list[str] = field(default_factory=list)
    tables: dict[str, tuple[list[str], list[list[Any]]]] = field(default_factory=dict)
    figures: dict[str, Figure] = field(default_factory=dict)

    def heading(self, text: str, level: int = 2) -> None:
        """Add a heading."""
        self.blocks.append(f"{'#' * level} {text}")

    def paragraph(self, text: str) -> None:
        """Add a paragraph."""
        self.blocks.append(text)

    def bullets(self, lines: Sequence[str]) -> None:
        """Add a bullet list."""
        self.blocks.append("\n".join(f"- {line}" for line in lines))

    def table(self, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Add a table; the first column is text, the others are numbers."""
        self.blocks.append(markdown_table(header, rows))

    def csv(self, name: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Add a CSV file; numbers have all digits."""
        self.tables[name] = list(header), [list(row) for row in rows]

    def figure(self, name: str, figure: Figure, caption: str) -> None:
        """Add a figure."""
        self.figures[name] = figure
        path = f"{self.images}/{name}.svg" if self.images != "." else f"{name}.svg"
        self.blocks.append(f"![{caption}]({path})\n\n*{caption}*")

    def markdown(self) -> str:
        """Return the text of the page."""
        return "\n\n".join(self.blocks) + "\n"

    def write(self, text_file: Path, folder: Path, *, csv_files: bool = True, png: bool = True) -> list[Path]:
        """Write the text to a file, CSV tables and figures to a folder; return all paths."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name, (header, rows) in self.tables.items() if csv_files else ():
            paths.append(folder / f"{name}.csv")
            write_atomically(paths[-1], csv_table(header, rows))
        for name, figure in self.figures.items():
            for ending in ("svg", "png") if png else ("svg",):
                paths.append(folder / f"{name}.{ending}")
                write_atomically(paths[-1], figure_content(figure, ending))
                figure.set_layout_engine("none")  # the second format reuses the layout
        paths.append(text_file)
        write_atomically(text_file, self.markdown().encode())
        return paths


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table in Markdown; all columns but the first are aligned right."""
    lines = [_line(header), "|---|" + "---:|" * (len(header) - 1)]
    return "\n".join(lines + [_line([shown(value) for value in row]) for row in rows])


def _line(values: Sequence[str]) -> str:
    return "| " + " | ".join(value.replace("|", r"\|") for value in values) + " |"


def csv_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    """Return a table as CSV; missing values are empty."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow(["" if _is_missing(value) else value for value in row])
    return text.getvalue().encode()


def shown(value: Any, digits: int = 3) -> str:
    """Format a value: text unchanged, numbers with fixed decimals, missing values as ``MISSING_TEXT``."""
    if _is_missing(value):
        return MISSING_TEXT
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


def signed(value: float, digits: int = 3) -> str:
    """Format a difference with its sign."""
    return MISSING_TEXT if _is_missing(value) else f"{value:+.{digits}f}"


def probability(value: float) -> str:
    """Format a p-value with two significant digits."""
    return MISSING_TEXT if _is_missing(value) else f"{value:.2g}"


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
