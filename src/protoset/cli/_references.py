"""The references of every error: guessing, 1-NN and k-NN on everything."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from protoset.cli._output import plain, say

if TYPE_CHECKING:
    import numpy as np

    from protoset.datasets import Dataset
    from protoset.experiments import ReferenceEstimates
    from protoset.models import CrossValidation, DataModel, ReferenceErrors
    from protoset.spaces import Space


def reference_estimates(references: ReferenceEstimates | None, how: str) -> dict[str, Any] | None:
    """Errors on held-out objects, for a document."""
    if references is None:
        return None
    nearest, knn = references.nearest, references.knn
    return {
        "how": how,
        "guess": references.guess.error,
        "answer": references.answer,
        "guessed_from": references.guessed_from,
        "nearest": None if nearest is None else nearest.error,
        "knn": None if knn is None else knn.error,
        "k": list(references.k),
        "sampled": _sampled(references),
    }


def _sampled(references: ReferenceEstimates) -> int | None:
    """Objects that 1-NN on everything was measured on, where they are a sample."""
    nearest = references.nearest
    return None if nearest is None or nearest.n_test == references.guess.n_test else nearest.n_test


def measured_errors(
    dataset: Dataset, model: DataModel, document: Mapping[str, Any], options: Mapping[str, Any], *, sized: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Measure the references, and the error of the set if neither a size curve nor test objects give it.

    ``options`` are arguments of ``validate`` for data with test objects. ``sized`` says whether the user set the size.
    Returns additions to the document, and arguments of ``report``, which then does not measure the errors again.
    """
    from protoset.evaluation import no_better_than
    from protoset.models import reference_errors
    from protoset.models.cross_validation import error_of

    added: dict[str, Any] = {}
    known: dict[str, Any] = {}
    # The fit has given its warnings already.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if document["test"] is not None:
            from protoset.experiments import validate

            references = reference_estimates(validate(dataset, "guess", **options).references, "the same test objects")
        else:
            space, classes, codes = _training_space(dataset, model)
            known["references"] = reference_errors(space, codes, n_jobs=options["n_jobs"])
            references = _left_out_references(known["references"], classes, len(codes))
            if document["cross_validation"] is None:
                try:
                    measured = error_of(model.classifier, space, codes)
                    known["cross_validation"] = measured
                    added["cross_validation"] = _cross_validation(measured, len(codes), sized)
                except (ValueError, RuntimeError) as error:
                    # The selection is a result also where a fold is too small for the method.
                    added["not_measured"] = f"{error}"
    own = document["test"] or document["cross_validation"] or added.get("cross_validation")
    if own is not None and references is not None:
        added["no_better_than_guessing"] = no_better_than(own["error"], own["standard_error"], references["guess"])
    return added | {"references": references}, known


def _training_space(dataset: Dataset, model: DataModel) -> tuple[Space, np.ndarray, np.ndarray]:
    """Space of all objects of a data set, its labels, and the class of each object."""
    import numpy as np

    from protoset.spaces import make_space

    preparation = model.preparation
    classes, codes = np.unique(dataset.labels, return_inverse=True)
    codes = codes.reshape(-1)
    space = make_space(preparation(dataset.objects), preparation.metric, preparation.metric_params, y=codes)
    return space, classes, codes


def _cross_validation(measured: CrossValidation, n_objects: int, sized: bool) -> dict[str, Any]:
    """Error of a set on held-out objects, for a document."""
    how = "5 folds" if measured.n_objects == n_objects else f"5 folds of {measured.n_objects} objects"
    if measured.how == "held-out objects":
        how = f"{measured.n_objects} held-out training objects"
    elif measured.how == "seen objects":
        how = f"{measured.n_objects} training objects that the selection has seen, so too small"
    return {"error": measured.error, "standard_error": measured.standard_error, "how": how, "at_this_size": sized}


def _left_out_references(errors: ReferenceErrors, classes: np.ndarray, n_objects: int) -> dict[str, Any]:
    """Errors by leave-one-out on a training set, for a document."""
    sampled = "" if errors.n_objects == n_objects else f" of {errors.n_objects} objects"
    return {
        "how": f"leave-one-out{sampled}",
        "guess": errors.guess,
        "answer": str(classes[errors.answer]),
        "guessed_from": "training",
        "nearest": errors.nearest,
        "knn": errors.knn,
        "k": [errors.k],
    }


def say_references(document: dict[str, Any] | None) -> None:
    """Print the errors of the references, a line each."""
    if document is None:
        return
    source = ", the most frequent label of this file" if document["guessed_from"] == "file" else ""
    say(f"for comparison ({document['how']}):")
    say(f"  {document['guess']:.3f} always answering '{plain(document['answer'])}'{source}")
    if document["nearest"] is None and document["knn"] is None:
        say("  1-NN and k-NN on everything: not measured, a model does not hold its training objects; see compare")
    sampled = f" ({document['sampled']} of them)" if document.get("sampled") else ""
    if document["nearest"] is not None:
        say(f"  {document['nearest']:.3f} 1-NN on everything{sampled}")
    if document["knn"] is not None:
        least, most = min(document["k"]), max(document["k"])
        k = f"{least}" if least == most else f"{least} to {most}"
        say(f"  {document['knn']:.3f} k-NN on everything, k = {k}{sampled}")


def say_guessing(document: dict[str, Any] | None, no_better: bool | None) -> None:
    """Say in words that an error is no better than guessing."""
    if document is not None and no_better:
        say(f"no better than always answering '{plain(document['answer'])}' ({document['guess']:.3f})")
