"""A classifier in one file: nearest prototypes with NumPy alone.

Written by protoset.export. Use it from Python,

    import classifier_file
    labels = classifier_file.predict(X)
    probabilities = classifier_file.predict_proba(X)  # a column for each of classifier_file.CLASSES

or from a shell, with rows of numbers separated by commas; it writes one label per line:

    python classifier_file.py < queries.csv > labels.txt

Empty lines, and text after a #, are ignored. Input that cannot be read gives one line with the line number on standard
error and the exit code 2, before any label is written.

The labels and probabilities are those of the original classifier, ties included.
"""

import array
import base64
import io
import json
import os
import sys
import zlib

import numpy as np

# PROTOSET: the classifier
DESCRIPTION = "{}"
ARRAYS = ""
# PROTOSET: end of the classifier

EPSILON = 2.0**-52
"""Distance from 1 to the next float."""

BLOCK = 2**21
"""Distances that are computed at a time."""

EQUAL_VOTES = 1 + 1e-9
"""Ratio of votes up to which they count as equal: sums of weights have rounding errors."""

LARGEST_EVIDENCE = 1e6
"""Evidence against a class at most, in size."""

NEAR = 0.01
"""Part of the typical distance below which distances hardly differ."""

LARGEST = 1e150
"""Largest number in X; squares of larger numbers overflow."""


def _load():
    with np.load(io.BytesIO(zlib.decompress(base64.b64decode(ARRAYS))), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


_about, _arrays = json.loads(DESCRIPTION), _load() if ARRAYS else {}
METRIC, RULE = _about.get("metric"), _about.get("rule")
CLASSES = np.array(
    _about.get("classes", []), dtype={"object": object, "str": None}.get(_about.get("dtype"), _about.get("dtype"))
)
ANGULAR = METRIC in ("cosine", "correlation")


def _check(X):
    if isinstance(X, np.ma.MaskedArray):
        raise TypeError(
            "X is a masked array, whose mask would be ignored; remove the masked rows or fill in their values"
        )
    X = np.asarray(X)
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X must be numbers, got the dtype {X.dtype}")
    X = np.ascontiguousarray(X, np.float32 if X.dtype == np.float32 else np.float64)
    if X.ndim != 2 or X.shape[1] != _about["n_features"]:
        raise ValueError(f"X must have the shape (n_queries, {_about['n_features']}), got {X.shape}")
    if not np.isfinite(X).all() or float(np.abs(X).max(initial=0)) > LARGEST:
        raise ValueError(f"X must hold finite numbers of at most {LARGEST:g}")
    return X


def _images(X):
    """Vectors whose Euclidean distances give the distances of the metric (see ``_block``)."""
    if ANGULAR:
        X = X.astype(np.float64)
        if METRIC == "correlation":
            constant = X.max(axis=1) == X.min(axis=1)
            X -= X.mean(axis=1, keepdims=True)
            X[constant] = 0.0
        largest = np.abs(X).max(axis=1, keepdims=True)
        X /= np.where(largest > 0, largest, 1.0)
        lengths = np.sqrt(np.einsum("ij,ij->i", X, X))[:, None]
        return np.hstack([X / np.where(lengths > 0, lengths, 1.0), lengths == 0])
    if METRIC == "seuclidean":
        return X.astype(np.float64) / np.sqrt(_arrays["learned"])
    if METRIC == "mahalanobis":
        images = np.zeros((len(X), _arrays["learned"].shape[1]))
        for feature, row in enumerate(_arrays["learned"]):
            images += X[:, feature : feature + 1].astype(np.float64) * row
        return images
    return X


def _distances(a, b):
    """Distances of pairs. The sum over features has a fixed order, so that equal pairs have equal distances."""
    total = np.zeros(np.broadcast_shapes(a.shape[:-1], b.shape[:-1]))
    for feature in range(a.shape[-1]):
        difference = a[..., feature].astype(np.float64) - b[..., feature].astype(np.float64)
        total += difference * difference
    return np.sqrt(total)


def _nearest(a, b, centred, norms, centre):
    """Position of the nearest row of b: inner products give candidates, exact distances decide."""
    shifted = a - centre
    screen = shifted @ centred.T
    screen *= -2
    screen += norms
    lengths = np.sqrt(np.einsum("ij,ij->i", shifted, shifted))
    slack = 2 * (a.shape[1] + 16) * EPSILON * (lengths + np.sqrt(norms.max())) ** 2
    winners = screen.argmin(axis=1)
    close = screen <= (screen[np.arange(len(a)), winners] + slack)[:, None]
    for row in np.flatnonzero(np.count_nonzero(close, axis=1) > 1):
        among = np.flatnonzero(close[row])
        distances = _distances(a[row], b[among])
        winners[row] = _elect(among[distances == distances.min()])
    return winners


def _elect(tied):
    """One of equally near prototypes: of the class with most votes, then of the more frequent class."""
    codes, totals = _arrays["codes"][tied], _arrays["class_totals"]
    votes = np.bincount(codes, _arrays["counts"][tied])
    present = np.unique(codes)
    leading = present[votes[present] * EQUAL_VOTES >= votes.max()]
    frequent = leading[totals[leading] * EQUAL_VOTES >= totals[leading].max()]
    return tied[codes == frequent[0]][0]


def _nearest_in(block):
    """Position of the nearest prototype of each row of distances."""
    is_nearest = block == block.min(axis=1, keepdims=True)
    winners = is_nearest.argmax(axis=1)
    for row in np.flatnonzero(np.count_nonzero(is_nearest, axis=1) > 1):
        winners[row] = _elect(np.flatnonzero(is_nearest[row]))
    return winners


def _block(a, b):
    block = _distances(a[:, None, :], b[None, :, :])
    if ANGULAR:
        block = block**2 / 2
        block[(a[:, -1] > 0)[:, None] != (b[:, -1] > 0)[None, :]] = 1.0
    return block**2 if METRIC == "sqeuclidean" else block


def _adjusted_ranks(block):
    """Rank + degradation of each prototype."""
    order = np.argsort(block, axis=1, kind="stable")
    ordered = np.take_along_axis(block, order, axis=1)
    steps = np.hstack([np.ones((len(block), 1), bool), ordered[:, 1:] != ordered[:, :-1]])
    ranks = np.empty(block.shape)
    counted = np.maximum.accumulate(np.where(steps, np.arange(1, block.shape[1] + 1), 0), axis=1)
    np.put_along_axis(ranks, order, counted, axis=1)
    return ranks + _arrays["degradations"]


def _adjusted(block):
    """Position of the smallest rank + degradation; of ties the nearest prototype."""
    adjusted = _adjusted_ranks(block)
    return _nearest_in(np.where(adjusted == adjusted.min(axis=1, keepdims=True), block, np.inf))


def _scores(block):
    """Class scores: every prototype says something about every class."""
    return np.exp(-((block * _about["scale"]) ** _about["power"])) @ _arrays["scores"] + _arrays["intercepts"]


def _codes_in(block):
    """Classes of rows of distances."""
    if RULE == "scores":
        return _scores(block).argmax(axis=1)
    return _arrays["codes"][_nearest_in(block) if RULE == "nearest" else _adjusted(block)]


def _parts(X):
    """Slices of the rows of X, each with its images."""
    step = max(1, BLOCK // len(_arrays["images"]))
    for start in range(0, len(X), step):
        yield slice(start, start + step), _images(X[start : start + step]) * _arrays.get("factors", 1)


def predict(X):
    """Labels of the rows of X; of rows that are refused, the label for these."""
    X = _check(X)
    b = _arrays["images"]
    centre = b.mean(axis=0, dtype=np.float64)
    centred = b - centre
    norms = np.einsum("ij,ij->i", centred, centred)
    codes, refused = np.empty(len(X), np.int64), np.zeros(len(X), bool)
    for part, a in _parts(X):
        plain = RULE == "nearest" and not (ANGULAR and (a[:, -1].any() or b[:, -1].any()))
        if plain and "outlier" not in _about:
            codes[part] = _arrays["codes"][_nearest(a, b, centred, norms, centre)]
            continue
        block = _block(a, b)
        codes[part] = _codes_in(block)
        if "outlier" in _about:
            nearest = _nearest_in(block)
            refused[part] = block[np.arange(len(block)), nearest] / _arrays["radii"][nearest] > _about["limit"]
    labels = CLASSES[codes]
    if not refused.any():
        return labels
    outlier = np.array(_about["outlier"], dtype=object if labels.dtype == object else None)
    return np.where(refused, outlier, labels)


def _evidence(block):
    """Evidence for each class, of one or two kinds."""
    codes, n_classes = _arrays["codes"], len(CLASSES)
    if RULE == "scores":
        return [_scores(block)]
    values = block if RULE == "nearest" else _adjusted_ranks(block)
    best = np.full((len(block), n_classes), np.inf)
    for code in np.unique(codes):
        best[:, code] = values[:, codes == code].min(axis=1)
    if RULE == "adjusted":
        return [-np.minimum(best, LARGEST_EVIDENCE)]
    best = np.minimum(best / _about["typical"], LARGEST_EVIDENCE)
    return [-np.log(best + NEAR), -best]


def _divide_ties(shares, block):
    """Tied classes divide their equal shares by votes; those with most votes divide theirs by class sizes."""
    smallest, totals = np.finfo(float).tiny, _arrays["class_totals"]
    eligible = block
    if RULE == "adjusted":
        ranks = _adjusted_ranks(block)
        eligible = np.where(ranks == ranks.min(axis=1, keepdims=True), block, np.inf)
    tied = eligible == eligible.min(axis=1, keepdims=True)
    for row in np.flatnonzero(np.count_nonzero(tied, axis=1) > 1):
        codes = _arrays["codes"][tied[row]]
        present = np.unique(codes)
        votes = np.maximum(np.bincount(codes, _arrays["counts"][tied[row]])[present], smallest)
        leading = votes * EQUAL_VOTES >= votes.max()
        sizes = np.maximum(totals[present], smallest) * leading
        votes = np.where(leading, votes[leading].sum() * (sizes / sizes.sum()), votes)
        shares[row, present] *= votes / votes.sum() * len(present)


def predict_proba(X):
    """Probabilities of the classes of the rows of X; a column for each of ``CLASSES``."""
    X = _check(X)
    if "slopes" not in _about:
        raise ValueError(
            "the classifier was not calibrated, so this file has no probabilities; export a calibrated classifier"
        )
    probabilities, shared = np.empty((len(X), len(CLASSES))), _about["shared"]
    for part, a in _parts(X):
        block = _block(a, _arrays["images"])
        total = sum(slope * kind for slope, kind in zip(_about["slopes"], _evidence(block), strict=True))
        shares = np.exp(total - total.max(axis=1, keepdims=True))
        shares = (1.0 - shared) * (shares / shares.sum(axis=1, keepdims=True)) + shared / len(CLASSES)
        if RULE != "scores":
            _divide_ties(shares, block)
        # The class that is answered comes first, also where evidence differs by its rounding alone.
        codes = _codes_in(block)
        behind = np.flatnonzero(shares.argmax(axis=1) != codes)
        shares[behind, codes[behind]] = np.nextafter(shares[behind].max(axis=1), 2.0)
        probabilities[part] = shares
    return probabilities


def _is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    # Python alone reads 1_000 as a number.
    return "_" not in cell


def _read(lines):
    """Rows of numbers, one per line that is not empty; an error names the line."""
    width = _about["n_features"]
    expected = f"expected {width} number{'s' if width > 1 else ''} on every line, separated by commas, and no header"
    values, line_numbers = array.array("d"), []
    for line_number, line in enumerate(lines, 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        cells = line.split(",")
        try:
            row = array.array("d", map(float, cells))
        except ValueError:
            row = None
        if row is None or "_" in line:
            wrong = next(cell.strip() for cell in cells if not _is_number(cell))
            raise ValueError(f"line {line_number} holds {wrong[:40]!r}, which is not a number; {expected}")
        if len(row) != width:
            raise ValueError(f"line {line_number} holds {len(row)} number{'s' if len(row) > 1 else ''}; {expected}")
        values += row
        line_numbers.append(line_number)
    if not line_numbers:
        raise ValueError(f"standard input holds no queries; {expected}")
    X = np.frombuffer(values).reshape(-1, width)
    usable = np.abs(X) <= LARGEST
    if not usable.all():
        row, column = np.argwhere(~usable)[0]
        raise ValueError(
            f"line {line_numbers[row]} holds {X[row, column]:g}; expected finite numbers of at most {LARGEST:g}, "
            "remove the line or fill the value in"
        )
    return X


def _main():
    if sys.stdin is not None:
        # Bytes that are not text become cells that are not numbers; a byte order mark is skipped.
        sys.stdin.reconfigure(encoding="utf-8-sig", errors="replace")
    try:
        X = _read(sys.stdin or ())
    except ValueError as error:
        sys.stderr.write(f"{os.path.basename(__file__)}: {error}\n")
        return 2
    labels = predict(X)
    try:
        sys.stdout.writelines(f"{label}\n" for label in labels)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, such as head, has closed the pipe; the interpreter must not write to it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main())
