"""Pages of a report: text in Markdown, tables that are also CSV, figures that are SVG and PNG."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protoset._files import write_atomically
from protoset.plots.files import figure_content

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MISSING = "missing"
"""What stands in the place of a number that is not there."""


@dataclass
class Page:
    """A report that is being written.

    Attributes
    ----------
    images : str
        Folder of the images, as the text names it.
    parts : list of str
    tables : dict of str to (header, rows)
    figures : dict of str to Figure
    """

    images: str = "."
    parts: list[str] = field(default_factory=list)
    tables: dict[str, tuple[list[str], list[list[Any]]]] = field(default_factory=dict)
    figures: dict[str, Figure] = field(default_factory=dict)

    def heading(self, text: str, level: int = 2) -> None:
        """Add a heading."""
        self.parts.append(f"{'#' * level} {text}")

    def text(self, text: str) -> None:
        """Add a paragraph."""
        self.parts.append(text)

    def points(self, lines: Sequence[str]) -> None:
        """Add a list."""
        self.parts.append("\n".join(f"- {line}" for line in lines))

    def table(self, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Add a table; the first column is text, the others are numbers."""
        self.parts.append(markdown_table(header, rows))

    def keep(self, name: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Keep a table as CSV, with all its digits."""
        self.tables[name] = list(header), [list(row) for row in rows]

    def figure(self, name: str, figure: Figure, caption: str) -> None:
        """Add a figure."""
        self.figures[name] = figure
        place = f"{self.images}/{name}.svg" if self.images != "." else f"{name}.svg"
        self.parts.append(f"![{caption}]({place})\n\n*{caption}*")

    def markdown(self) -> str:
        """Return the text of the page."""
        return "\n\n".join(self.parts) + "\n"

    def write(self, text_file: Path, folder: Path, *, tables: bool = True, png: bool = True) -> list[Path]:
        """Write the text, and tables and figures into a folder; returns the files."""
        folder.mkdir(parents=True, exist_ok=True)
        files = []
        for name, (header, rows) in self.tables.items() if tables else ():
            files.append(folder / f"{name}.csv")
            write_atomically(files[-1], csv_table(header, rows))
        for name, figure in self.figures.items():
            for ending in ("svg", "png") if png else ("svg",):
                files.append(folder / f"{name}.{ending}")
                write_atomically(files[-1], figure_content(figure, ending))
                figure.set_layout_engine("none")  # the layout is found once
        files.append(text_file)
        write_atomically(text_file, self.markdown().encode())
        return files


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table in Markdown; the first column is text, the others are set to the right."""
    lines = [_line(header), "|---|" + "---:|" * (len(header) - 1)]
    return "\n".join(lines + [_line([shown(value) for value in row]) for row in rows])


def _line(values: Sequence[str]) -> str:
    return "| " + " | ".join(value.replace("|", r"\|") for value in values) + " |"


def csv_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    """Return a table as CSV; what is missing is empty."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow(["" if _is_missing(value) else value for value in row])
    return text.getvalue().encode()


def shown(value: Any, digits: int = 3) -> str:
    """Show a value: text as it is, numbers with three decimals, what is missing as such."""
    if _is_missing(value):
        return MISSING
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


def signed(value: float, digits: int = 3) -> str:
    """Show a difference with its sign."""
    return MISSING if _is_missing(value) else f"{value:+.{digits}f}"


def probability(value: float) -> str:
    """Show a p-value with two digits."""
    return MISSING if _is_missing(value) else f"{value:.2g}"


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
