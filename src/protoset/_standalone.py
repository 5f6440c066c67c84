"""A classifier in one file: nearest prototypes with NumPy alone.

Written by protoset.export. Use it from Python,

    import classifier_file
    labels = classifier_file.predict(X)

or from a shell, with rows of numbers separated by commas, one label per line in return:

    python classifier_file.py < queries.csv > labels.txt

Empty lines and what follows a # are passed over. Input that it cannot read ends it with one line that says where, and
with the exit code 2, before any label is written.

It predicts what the classifier that it was written from predicts, ties included.
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
BLOCK = 2**21
LARGEST = 1e150


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
        raise TypeError("X is a masked array, and its mask would be ignored; remove the masked rows or fill them in")
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
    """Vectors whose Euclidean distances are those of the metric, up to ``_measure``."""
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
    """Distances of pairs, summed feature by feature in one order, so that equal pairs are equally far apart."""
    total = np.zeros(np.broadcast_shapes(a.shape[:-1], b.shape[:-1]))
    for feature in range(a.shape[-1]):
        difference = a[..., feature].astype(np.float64) - b[..., feature].astype(np.float64)
        total += difference * difference
    return np.sqrt(total)


def _nearest(a, b, centred, norms, centre):
    """Position of the nearest of b; inner products tell who it may be, distances decide."""
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
        winners[row] = among[_distances(a[row], b[among]).argmin()]
    return winners


def _block(a, b):
    block = _distances(a[:, None, :], b[None, :, :])
    if ANGULAR:
        block = block**2 / 2
        block[(a[:, -1] > 0)[:, None] != (b[:, -1] > 0)[None, :]] = 1.0
    return block**2 if METRIC == "sqeuclidean" else block


def _adjusted(block):
    """Position of the smallest rank + degradation; the nearest among ties, then the first."""
    order = np.argsort(block, axis=1, kind="stable")
    ordered = np.take_along_axis(block, order, axis=1)
    steps = np.hstack([np.ones((len(block), 1), bool), ordered[:, 1:] != ordered[:, :-1]])
    ranks = np.maximum.accumulate(np.where(steps, np.arange(1, block.shape[1] + 1), 0), axis=1)
    # A selector that learns no degradations leaves the plain ranks.
    adjusted = ranks + _arrays["degradations"][order] if "degradations" in _arrays else ranks
    places = adjusted.argmin(axis=1)
    return order[np.arange(len(order)), places]


def predict(X):
    """Labels of the rows of X."""
    X = _check(X)
    b = _arrays["images"]
    centre = b.mean(axis=0, dtype=np.float64)
    centred = b - centre
    norms = np.einsum("ij,ij->i", centred, centred)
    codes = np.empty(len(X), np.int64)
    step = max(1, BLOCK // len(b))
    for start in range(0, len(X), step):
        a = _images(X[start : start + step])
        plain = RULE == "nearest" and not (ANGULAR and (a[:, -1].any() or b[:, -1].any()))
        if plain:
            winners = _nearest(a, b, centred, norms, centre)
        else:
            block = _block(a, b)
            winners = block.argmin(axis=1) if RULE == "nearest" else _adjusted(block)
        codes[start : start + step] = _arrays["codes"][winners]
    return CLASSES[codes]


def _is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    # Python reads 1_000 as a number; tables do not mean one.
    return "_" not in cell


def _read(lines):
    """Rows of numbers, one of each line that is not empty; an error names the line."""
    width = _about["n_features"]
    expected = f"expected {width} number{'s' if width > 1 else ''} on every line, separated by commas, and no header"
    values, places = array.array("d"), []
    for place, line in enumerate(lines, 1):
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
            raise ValueError(f"line {place} holds {wrong[:40]!r}, which is not a number; {expected}")
        if len(row) != width:
            raise ValueError(f"line {place} holds {len(row)} number{'s' if len(row) > 1 else ''}; {expected}")
        values += row
        places.append(place)
    if not places:
        raise ValueError(f"standard input holds no queries; {expected}")
    X = np.frombuffer(values).reshape(-1, width)
    usable = np.abs(X) <= LARGEST
    if not usable.all():
        row, column = np.argwhere(~usable)[0]
        raise ValueError(
            f"line {places[row]} holds {X[row, column]:g}; expected finite numbers of at most {LARGEST:g}, "
            "remove the line or fill the value in"
        )
    return X


def _main():
    if sys.stdin is not None:
        # Bytes that are no text end as cells that are no numbers; a mark of the byte order is no cell.
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
        # Who reads has enough, as head has; the interpreter must not write at its end either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main())
