"""Strings: a file with a label, a tab and a string per line, or a folder with a file of strings per class."""

from __future__ import annotations

from collections.abc import Mapping

from protoset.datasets._columns import label_text
from protoset.datasets._errors import error_at, shown
from protoset.datasets._parsing import split_lines, to_labels
from protoset.datasets.base import Dataset, Format, Layout
from protoset.exceptions import DataError


def read_strings(text: str, *, file: str = "text") -> Dataset:
    """Read a label, a tab and a string per line.

    The string is everything after the first tab, including spaces; it may be empty. Empty lines are skipped.
    """
    labels, strings = [], []
    for number, line in enumerate(split_lines(text), 1):
        if not line.strip():
            continue
        label, tab, string = line.partition("\t")
        if not tab or not label.strip():
            raise error_at(file, f"expected a label, a tab and a string, found {shown(line)}", number)
        labels.append(label.strip())
        strings.append(string)
    if not strings:
        raise error_at(file, "expected lines with a label, a tab and a string, found an empty file")
    codes, spelling = to_labels(labels, file)
    return Dataset(file, "strings", strings, codes, layout=Layout("strings", spelling=spelling))


def read_string_folder(texts: Mapping[str, str], *, file: str = "folder") -> Dataset:
    """Read a string per line from the text of each class; empty lines are skipped."""
    pairs = [(label, line) for label, text in texts.items() for line in split_lines(text) if line.strip()]
    if not pairs:
        raise error_at(file, "expected files with a string in each line, found none")
    labels, spelling = to_labels([label for label, _ in pairs], file)
    layout = Layout("strings", spelling=spelling)
    return Dataset(file, "strings", [string for _, string in pairs], labels, layout=layout)


def write_strings(dataset: Dataset) -> str:
    """Return strings as lines with a label, a tab and a string."""
    layout = dataset.layout or Layout("strings")
    lines = []
    for label, string in zip(dataset.labels, dataset.objects, strict=True):
        text = label_text(label, layout)
        if not text.strip() or set(text) & set("\t\r\n") or set(string) & set("\r\n"):
            raise DataError(
                f"the label {shown(text)} with the string {shown(string)} does not fit into a line; "
                "remove line ends and tabs"
            )
        lines.append(f"{text}\t{string}")
    return "\n".join([*lines, ""])


FORMATS = (Format("strings", (".tsv", ".txt", ""), ("strings",), read_strings, write_strings),)
