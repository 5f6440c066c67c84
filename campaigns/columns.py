"""Doors for roles of columns, and for matrices with names."""

from __future__ import annotations

from typing import Any

import numpy as np

from campaigns.checks import require, same
from campaigns.values import scratch
from protoset.datasets import Dataset, read, write_rows
from protoset.exceptions import DataError


def read_columns(content: str, **options: Any) -> None:
    """Read a table with options; each of them has its effect, and every column has one role."""
    path = scratch() / "columns.csv"
    path.write_text(content, encoding="utf-8")
    dataset = _read(path, options)
    used, left = [attribute.name for attribute in dataset.attributes], {at.name: at.reason for at in dataset.left_out}
    layout = dataset.layout
    assert layout is not None
    everything = sorted([*used, *left, *([layout.target_name] if layout.target_name else [])])
    require(len(set(everything)) == len(everything), f"a column has two roles: {everything}")
    names = [name or f"column {at}" for at, name in enumerate(layout.header, 1)] or everything
    require(everything == sorted(names), f"columns without a role: {everything} of {names}")

    def given(option: str) -> list[str]:
        value = options.get(option)
        listed = value if isinstance(value, list) else [] if value is None else [value]
        return [names[name] if isinstance(name, int) and layout.header else name for name in listed]

    for name in given("ignore"):
        require(left.get(name) == "ignored" or name not in names, f"ignore: {name} is not left out")
    for name in given("use") + given("categorical") + given("numeric"):
        require(name in used or name not in names or name == layout.target_name, f"use: {name} is not used")
    for name in given("id"):
        require(dataset.id_column == name or name not in names, f"id: {name} does not have the ids")
    require(dataset.ids is None or len(dataset.ids) == dataset.n_objects, "number of ids")
    types = {attribute.name: attribute.type for attribute in dataset.attributes}
    require(all(types.get(name, "nominal") == "nominal" for name in given("categorical")), "categorical: numbers")
    require(all(types.get(name) != "nominal" for name in given("numeric")), "numeric: categories")
    order = np.random.default_rng(len(content)).permutation(dataset.n_objects)
    lines = content.split("\n")
    if layout.header and len(lines) == dataset.n_objects + 1 and '"' not in content:
        path.write_text("\n".join([lines[0], *(lines[1 + row] for row in order)]), encoding="utf-8")
        shuffled = _read(path, {"header": True} | options)
        require(shuffled.roles == dataset.roles, f"shuffled rows: {shuffled.roles} and {dataset.roles}")
        require(same(shuffled.labels, dataset.labels[order]), "shuffled rows have other labels")


def read_names(ending: str, text: str, **options: Any) -> None:
    """Read a matrix, perhaps with names; what is written of it is read again as the same matrix."""
    path, written = scratch() / f"names{ending}", scratch() / f"written names{ending}"
    path.write_text(text, encoding="utf-8")
    dataset = _read(path, {"kind": "matrix"} | options)
    n = dataset.n_objects
    require(np.shape(dataset.objects) == (n, n) and len(dataset.labels) == n, "shape of a matrix")
    require(dataset.ids is None or len(set(dataset.ids.tolist())) == n, "names that are there twice")
    if n == 1:  # "1 0" may be a name, or a name and a distance
        return
    write_rows(dataset, np.arange(n), written, overwrite=True)
    again = read(written, kind="matrix", labels=dataset.labels)
    require(same(again.objects, dataset.objects), "distances differ after writing and reading")
    known = [None if ids is None else ids.tolist() for ids in (again.ids, dataset.ids)]
    require(known[0] == known[1], f"names differ after writing and reading: {known}")


def _read(path: Any, options: dict[str, Any]) -> Dataset:
    try:
        return read(path, **options)
    except DataError as error:
        require("\n" not in str(error), "an error of a reader has several lines")
        raise


COLUMN_DOORS = (read_columns, read_names)
