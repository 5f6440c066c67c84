"""``protoset explain``: which prototypes decided about an object."""

from __future__ import annotations

from typing import Annotated

import typer

from protoset.cli._options import Debug, Json, ModelArgument, QueryArgument, Quiet, open_model, option, read_for
from protoset.cli._output import plain, say, say_json, say_table
from protoset.cli._work import working


def explain(
    model: ModelArgument,
    path: QueryArgument,
    row: Annotated[int, option("Which object, counted from 0.")],
    n_neighbors: Annotated[int, typer.Option(help="Prototypes to show.")] = 3,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show the prototypes that decided about an object, the deciding one first.

    Prototypes are given as rows of the training data. The degradation says how many ranks worse than the best one a
    prototype did in training.
    """
    with working("explaining", quiet):
        loaded = open_model(model)
        queries = read_for(loaded, path)
        if not 0 <= row < len(queries):
            raise ValueError(f"--row {row} is not in the file, which has the rows 0 to {len(queries) - 1}")
        shown = loaded.explain(queries.objects[row : row + 1], n_neighbors)
    columns = (shown.indices, shown.labels, shown.distances, shown.ranks, shown.degradations)
    names = ["row", "label", "distance", "rank", "degradation"]
    table = [list(values) for values in zip(*(column[0].tolist() for column in columns), strict=True)]
    prediction = shown.labels[0, 0].item()
    known = None if queries.labels is None else str(queries.labels[row])
    if json:
        prototypes = [dict(zip(names, values, strict=True)) for values in table]
        say_json({"path": path, "row": row, "prediction": prediction, "label": known, "prototypes": prototypes})
        return
    own = "" if known is None else f" (its label: {plain(known)})"
    say(f"row {row} is taken for {plain(prediction)}{own}, by these prototypes:")
    say_table(names, table)
