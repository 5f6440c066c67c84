"""Suspected label errors: training objects whose label is doubted by prototypes that do not know them.

    objects, labels -> folds -> a classifier without each fold -> probabilities of the fold's objects, evidence
    probabilities   -> the odds of another class against the label -> objects with large odds

Folds are dealt in an order that depends on the content of the objects, so that the order of the rows changes nothing.
The only member of a class is never held out, so that every fold knows all classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from protoset._cluster import is_dask
from protoset._display import MOST_ROWS, Displayed, Table
from protoset._frames import is_polars, take_rows
from protoset._validation import check_count, check_jobs, check_labels, check_seed
from protoset.classifier import PrototypeClassifier
from protoset.decisions import Explanation
from protoset.selectors._weights import check_sample_weight
from protoset.selectors.base import check_selector
from protoset.spaces import Dissimilarities, TrainingSpace, as_space

LEAST_ODDS = 5.0
"""Smallest odds of a suspect: another class is at least this many times as probable as its label.

Chosen on ten data sets with 5 % of the labels flipped, where 4 to 6 did equally well.
"""

FOLD_SEED = 0
"""Seed of the folds with ``random_state=None``."""


@dataclass(frozen=True, eq=False, repr=False)
class Suspects(Displayed):
    """Training objects whose label is probably wrong, the most doubtful first.

    Attributes
    ----------
    indices : ndarray of int, shape (n_suspects,)
        Rows of the suspects in X.
    given : ndarray
        Labels of the suspects in y.
    suggested : ndarray
        Labels that the prototypes suggest.
    probabilities : ndarray of float
        Probability of each suggested label.
    self_confidence : ndarray of float
        Probability of each given label.
    odds : ndarray of float
        ``probabilities / self_confidence``, descending: how many times more probable the suggested label is than the
        given label.
    evidence : ndarray of int, shape (n_suspects, n_shown)
        Prototypes behind each suggestion, as rows of X, in the order of the classifier's rule. For a moved prototype:
        the nearest training object of its class. ``n_shown`` is less than ``n_evidence`` if the classifier of a fold
        has fewer prototypes.
    evidence_labels : ndarray, shape (n_suspects, n_shown)
        Labels of these prototypes in y.
    evidence_distances : ndarray of float, shape (n_suspects, n_shown)
        Dissimilarities of each suspect to these prototypes, after their moves.
    all_odds : ndarray of float, shape (n_objects,)
        Odds of every row of X: below 1 if its label is the most probable, NaN if it has no odds. Use them for another
        threshold: larger odds give fewer suspects, and more of these are errors.
    all_probabilities : ndarray of float, shape (n_objects, n_classes)
        Probability of each class for every row of X, from the classifier that was fitted without the row; NaN for rows
        without odds.
    classes : ndarray
        The labels, sorted, in the order of the columns of ``all_probabilities``.
    """

    indices: np.ndarray
    given: np.ndarray
    suggested: np.ndarray
    probabilities: np.ndarray
    self_confidence: np.ndarray
    odds: np.ndarray
    evidence: np.ndarray
    evidence_labels: np.ndarray
    evidence_distances: np.ndarray
    all_odds: np.ndarray
    all_probabilities: np.ndarray
    classes: np.ndarray

    def __len__(self) -> int:
        """Count the suspects."""
        return len(self.indices)

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return the suspects as dicts with row, given and suggested label, probability and rows of evidence."""
        columns = {
            "row": self.indices,
            "given": self.given,
            "suggested": self.suggested,
            "probability": self.probabilities,
            "evidence": self.evidence,
        }
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def _summary(self) -> str:
        return f"{len(self):,} of {len(self.all_odds):,} objects"

    def _table(self) -> Table:
        columns = (self.indices, self.given, self.suggested, self.probabilities, self.odds)
        first = zip(*(column[:MOST_ROWS].tolist() for column in columns), strict=True)
        evidence = (", ".join(map(str, rows)) for rows in self.evidence[:MOST_ROWS].tolist())
        headings = ["row", "label", "suggested", "probability", "odds", "evidence (rows)"]
        return Table(headings, ([*row, rows] for row, rows in zip(first, evidence, strict=True)), len(self))


def suspects(
    X: Any,
    y: Any,
    classifier: PrototypeClassifier | Pipeline | None = None,
    *,
    n_folds: int = 5,
    sample_weight: Any = None,
    n_evidence: int = 3,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Suspects:
    """Find training objects whose label is probably wrong.

    For each of several stratified folds, a classifier is fitted on all other objects and predicts the probabilities of
    the fold's objects. An object is a suspect if another class is at least 5 times as probable as its own.

    Parameters
    ----------
    X : array-like, DataFrame, sparse matrix or list
        The training objects, of the kind that the classifier accepts in ``fit``. With ``metric="precomputed"``: a
        square matrix or a condensed vector. A sparse graph does not work, because it does not have all distances to
        the prototypes.
    y : array-like of shape (n_objects,)
        Labels of the training objects, of at least two classes.
    classifier : PrototypeClassifier or Pipeline, optional
        Classifier that is cloned and fitted once per fold; by default ``PrototypeClassifier()``. A Pipeline of
        scikit-learn must end with a PrototypeClassifier; all its steps are fitted without the fold.
    n_folds : int, default=5
        Number of folds. More folds take more time, and each fit has more objects to learn from.
    sample_weight : array-like of shape (n_objects,), optional
        Weight of each object; see :meth:`PrototypeClassifier.fit`. Objects of weight 0 are left out.
    n_evidence : int, default=3
        Number of prototypes to show for each suspect.
    random_state : int or RandomState, optional
        Seed of the folds. With None the folds are shuffled with a fixed seed.
    n_jobs : int, optional
        Number of folds that joblib computes at the same time. It does not change any result.

    Returns
    -------
    Suspects
        The suspects with their evidence, and the probabilities of all objects.

    Notes
    -----
    A suspect is not always an error: objects where classes overlap are suspects too. Look at the first suspects, and
    compare each with its evidence. If a selector of fixed size keeps an object with a wrong label as a prototype, its
    neighbours may become suspects; their evidence then shows this object.

    The only object of a class, and objects of weight 0, get no odds and are never suspects.

    The folds depend on the content of the objects, so that the row order does not change the result. With a function as
    metric the content is not known, and the row order matters.

    Examples
    --------
    >>> import protoset
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> y[7] = 2
    >>> doubtful = protoset.suspects(X, y)
    >>> int(doubtful.indices[0]), int(doubtful.given[0]), int(doubtful.suggested[0])
    (7, 2, 0)
    """
    estimator = _check_classifier(classifier)
    n_folds = check_count("n_folds", n_folds, least=2, remedy="5 is usual")
    n_evidence = check_count("n_evidence", n_evidence, least=1, remedy="pass how many prototypes to show")
    random_state, n_jobs = check_seed(random_state), check_jobs(n_jobs)
    objects = _LabelledObjects.of(X, y, sample_weight, estimator)
    folds = _deal(objects.codes, n_folds, random_state)
    splits = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(folds.max() + 1)]
    answers = Parallel(n_jobs=n_jobs)(delayed(_judge)(estimator, objects, *split, n_evidence) for split in splits)
    return _summary(objects, _Answer.joined(answers))


def most_probable_others(probabilities: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the most probable class of each object but its own, and its odds against the own class.

    Parameters
    ----------
    probabilities : ndarray of shape (n_objects, n_classes)
        Probabilities that do not know the classes of the objects.
    codes : ndarray of int
        Class of each object, as a column of ``probabilities``.

    Returns
    -------
    others : ndarray of int
    odds : ndarray of float
        Infinite where the own class has no probability.
    """
    rows, without_own = np.arange(len(codes)), probabilities.copy()
    without_own[rows, codes] = -1.0
    others = without_own.argmax(axis=1)
    own = probabilities[rows, codes]
    odds = np.divide(without_own[rows, others], own, out=np.full(len(codes), np.inf), where=own > 0)
    return others, odds


@dataclass(frozen=True, eq=False)
class _LabelledObjects:
    """Objects with labels, in an order that depends on their content; objects of weight 0 are left out.

    ``rows`` are rows of X. All other arrays are in their order, and so are the positions that methods take.
    """

    X: Any
    matrix: TrainingSpace | None
    n_rows: int
    rows: np.ndarray
    classes: np.ndarray
    codes: np.ndarray
    weights: np.ndarray | None

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any, estimator: PrototypeClassifier | Pipeline) -> _LabelledObjects:
        """Check and order the objects."""
        space = _space_of(X, y, estimator)
        n_rows = space.shape[0]
        weights = check_sample_weight(sample_weight, n_rows)
        classes, codes = check_labels(y, n_rows)
        numbers = space.identical()
        keys = [codes, np.arange(n_rows) if numbers is None else numbers]
        rows = np.lexsort(keys if weights is None else [weights, *keys])
        if weights is not None:
            rows = rows[weights[rows] > 0]
            weights = weights[rows]
        classes, codes = check_labels(classes[codes[rows]], len(rows))
        is_matrix = isinstance(estimator, PrototypeClassifier) and space.metric == "precomputed"
        return cls(X, space if is_matrix else None, n_rows, rows, classes, codes, weights)

    @property
    def labels(self) -> np.ndarray:
        """Labels of the objects."""
        return self.classes[self.codes]

    def training(self, positions: np.ndarray) -> Any:
        """Some objects for ``fit``."""
        return self.queries(positions, positions)

    def queries(self, positions: np.ndarray, training: np.ndarray) -> Any:
        """Some objects for ``predict`` after a fit on others."""
        rows = self.rows[positions]
        if self.matrix is not None:
            return self.matrix.block(rows, self.rows[training])
        if sparse.issparse(self.X):
            return self.X.tocsr()[rows]
        return take_rows(self.X, rows) if is_polars(self.X) else _safe_indexing(self.X, rows)


@dataclass(frozen=True, eq=False)
class _Answer:
    """What a classifier says about held-out objects, which are positions among all objects, and so is its evidence."""

    held_out: np.ndarray
    probabilities: np.ndarray
    evidence: np.ndarray
    distances: np.ndarray

    @classmethod
    def joined(cls, answers: list[_Answer]) -> _Answer:
        """Join the answers of the folds, in the order of the objects; with as much evidence as all folds have."""
        order = np.argsort(np.concatenate([answer.held_out for answer in answers]))
        n_shown = min(answer.evidence.shape[1] for answer in answers)
        return cls(
            np.concatenate([answer.held_out for answer in answers])[order],
            np.concatenate([answer.probabilities for answer in answers])[order],
            np.concatenate([answer.evidence[:, :n_shown] for answer in answers])[order],
            np.concatenate([answer.distances[:, :n_shown] for answer in answers])[order],
        )


def _summary(objects: _LabelledObjects, answer: _Answer) -> Suspects:
    """Return the suspects among the objects that were judged, the worst first."""
    codes, labels = objects.codes[answer.held_out], objects.labels
    others, odds = most_probable_others(answer.probabilities, codes)
    judged, n_classes = objects.rows[answer.held_out], len(objects.classes)
    all_odds, all_probabilities = np.full(objects.n_rows, np.nan), np.full((objects.n_rows, n_classes), np.nan)
    all_odds[judged], all_probabilities[judged] = odds, answer.probabilities
    doubted = np.flatnonzero(odds >= LEAST_ODDS)
    # Objects are in the order of their content, and a stable sort keeps it where odds are equal.
    worst = doubted[np.argsort(-odds[doubted], kind="stable")]
    evidence = answer.evidence[worst]
    return Suspects(
        indices=judged[worst],
        given=labels[answer.held_out[worst]],
        suggested=objects.classes[others[worst]],
        probabilities=answer.probabilities[worst, others[worst]],
        self_confidence=answer.probabilities[worst, codes[worst]],
        odds=odds[worst],
        evidence=objects.rows[evidence],
        evidence_labels=labels[evidence],
        evidence_distances=answer.distances[worst],
        all_odds=all_odds,
        all_probabilities=all_probabilities,
        classes=objects.classes,
    )


def _judge(
    estimator: PrototypeClassifier | Pipeline,
    objects: _LabelledObjects,
    training: np.ndarray,
    held_out: np.ndarray,
    n_evidence: int,
) -> _Answer:
    """Fit a classifier without the objects of a fold, and ask it about them."""
    fitted, queries = clone(estimator), objects.queries(held_out, training)
    options = {}
    if objects.weights is not None:
        name = f"{estimator.steps[-1][0]}__sample_weight" if isinstance(estimator, Pipeline) else "sample_weight"
        options[name] = objects.weights[training]
    fitted.fit(objects.training(training), objects.labels[training], **options)
    if isinstance(fitted, Pipeline):
        queries, fitted = fitted[:-1].transform(queries), fitted[-1]
    shown: Explanation = fitted.explain(queries, n_evidence)
    return _Answer(held_out, fitted.predict_proba(queries), training[shown.exemplars], shown.distances)


def _deal(codes: np.ndarray, n_folds: int, random_state: Any) -> np.ndarray:
    """Assign the objects of each class to the folds in turn; the only object of a class gets -1."""
    if (np.bincount(codes) < 2).all():
        raise ValueError(
            f"y has {len(codes)} classes of one object each, but a label can be checked only if its class has other "
            "objects; pass classes of several objects"
        )
    seed = FOLD_SEED if random_state is None else random_state
    drawn = np.random.RandomState(seed) if isinstance(seed, int) else seed
    shuffled = drawn.permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    by_class = by_class[np.bincount(codes)[codes[by_class]] > 1]
    folds = np.full(len(codes), -1)
    folds[by_class] = np.arange(len(by_class)) % n_folds
    return folds


def _check_classifier(classifier: Any) -> PrototypeClassifier | Pipeline:
    """Return a PrototypeClassifier, or a Pipeline of several steps that ends with one, which can be calibrated."""
    if classifier is None:
        return PrototypeClassifier()
    last = classifier.steps[-1][1] if isinstance(classifier, Pipeline) else classifier
    if not isinstance(last, PrototypeClassifier):
        raise TypeError(
            f"classifier={classifier!r} is neither a PrototypeClassifier nor a Pipeline that ends with one; pass for "
            "example PrototypeClassifier(REPS())"
        )
    if last.calibrate is False:
        raise ValueError(
            "classifier has calibrate=False, but suspects needs probabilities; pass a classifier with calibrate='auto'"
        )
    return classifier if isinstance(classifier, Pipeline) and len(classifier.steps) > 1 else last


def _space_of(X: Any, y: Any, estimator: PrototypeClassifier | Pipeline) -> TrainingSpace:
    """Space of all objects after the other steps of a Pipeline; it gives the order of the objects by content."""
    if isinstance(X, Dissimilarities) or is_dask(X):
        raise TypeError(
            f"X has the type {type(X).__name__}, but suspects needs the objects in memory; pass the objects "
            "themselves, or X.compute() for a Dask collection"
        )
    if isinstance(estimator, Pipeline):
        X, estimator = clone(estimator[:-1]).fit_transform(X, y), estimator[-1]
    selector = check_selector(estimator._selector_or_default())
    space = as_space(X, selector.metric, selector.metric_params, y=y)
    if space.partial:
        raise ValueError(
            f"X is a sparse graph of {space.shape[0]} objects, which does not have the distances of objects to "
            "prototypes; pass a dense matrix"
        )
    return space
