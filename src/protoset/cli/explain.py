"""``protoset explain``: the prototypes that decided about an object, and the parts of its distance to the first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from protoset.cli._comparisons import comparison_json, say_comparison
from protoset.cli._options import (
    Debug,
    FormatOption,
    Json,
    ModelArgument,
    QueryArgument,
    Quiet,
    open_model,
    option,
    read_for,
)
from protoset.cli._output import plain, say, say_json, say_table
from protoset.cli._streams import check_dashes
from protoset.cli._work import working

if TYPE_CHECKING:
    from protoset.datasets import Queries


def explain(
    model: ModelArgument,
    path: QueryArgument,
    row: Annotated[int | None, option("The object to explain: its row, counted from 0.", metavar="NUMBER")] = None,
    id_: Annotated[str | None, option("The object to explain: its id.", "--id", metavar="ID")] = None,
    n_neighbors: Annotated[int, typer.Option(help="Number of prototypes to show.")] = 3,
    everything: Annotated[bool, option("Show all attributes, or the whole of a long string.", "--all")] = False,
    format: FormatOption = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show the prototypes behind the prediction of an object, and how the object differs from the deciding one.

    A prototype is shown by its id, or by its row in the training data; a moved prototype by its exemplar, the nearest
    training object of its class. For attributes, the values of both objects are side by side, with the share of each
    attribute in the distance. Series are aligned. For strings, the edits are shown.

    Under the rule "adjusted", the degradation is the number of ranks by which a prototype was worse than the best
    prototype in training. Under the rule "scores", the rank by score orders the prototypes by the amount that they add
    to the score of the prediction.
    """
    check_dashes({"MODEL": model, "the file": path})
    if (row is None) == (id_ is None):
        raise ValueError("explain needs exactly one object; pass either --row NUMBER or --id ID")
    with working("explaining", quiet):
        loaded = open_model(model)
        queries = read_for(loaded, path, format=format)
        row = _find(queries, row, id_)
        query = queries.objects[row : row + 1]
        shown = loaded.explain(query, n_neighbors)
        comparison = loaded.compare(query, shown.indices[:, 0])[0]
        exemplar = loaded.values_of_exemplars(shown.indices[0, :1])
    columns = {
        "row" if loaded.prototype_ids_ is None else "id": loaded.names_of(shown.indices[0]),
        "label": shown.labels[0].tolist(),
        "distance": shown.distances[0].tolist(),
        "rank": shown.ranks[0].tolist(),
    }
    rule = loaded.classifier.rule_
    if rule == "adjusted":
        columns |= {"degradation": shown.degradations[0].tolist(), "adjusted rank": shown.adjusted_ranks[0].tolist()}
    elif rule == "scores":
        columns["rank by score"] = shown.adjusted_ranks[0].tolist()
    names, table = list(columns), list(zip(*columns.values(), strict=True))
    # A class without prototypes may have the largest score.
    prediction = (loaded.predict_details(query).labels[0] if rule == "scores" else shown.labels[0, 0]).item()
    known = None if queries.labels is None else str(queries.labels[row])
    key, name = ("row", row) if queries.ids is None else ("id", queries.ids[row])
    if json:
        document = {"path": path, "row": row} | ({} if queries.ids is None else {"id": name})
        prototypes = [dict(zip(names, values, strict=True)) for values in table]
        document |= {"prediction": prediction, "label": known, "prototypes": prototypes, "moved": loaded.has_moved}
        say_json(document | {"comparison": comparison_json(comparison, loaded.preparation.attributes, exemplar)})
        return
    own = "" if known is None else f" (its label: {plain(known)})"
    which = "these prototypes"
    if loaded.has_moved:
        which = "these moved prototypes, named by the nearest training objects of their class"
    say(f"{key} {plain(name)} is taken for {plain(prediction)}{own}, by {which}:")
    say_table(names, table)
    say_comparison(comparison, loaded.preparation, everything, exemplar)


def _find(queries: Queries, row: int | None, id_: str | None) -> int:
    """Return the row of a query; raise an error where the file does not have it, or has its id twice."""
    if row is not None:
        if not 0 <= row < len(queries):
            raise ValueError(f"--row {row} is not in the file, which has the rows 0 to {len(queries) - 1}")
        return row
    if queries.ids is None:
        raise ValueError(
            f"--id {id_!r}: the file has no ids; use --row NUMBER, or name the ids in protoset select --id COLUMN"
        )
    rows = [position for position, name in enumerate(queries.ids.tolist()) if name == id_]
    if len(rows) == 1:
        return rows[0]
    if not rows:
        from protoset._validation import did_you_mean

        raise ValueError(f"--id {id_!r} is not among the ids of the file{did_you_mean(id_, queries.ids.tolist())}")
    listed = ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")
    raise ValueError(f"--id {id_!r} is the id of {len(rows)} rows ({listed}); choose one of them with --row")
