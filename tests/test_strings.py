"""Strings, bytes and token lists: edit distances against plain programmes, the search against all distances."""

import builtins
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score

from protoset import REPS, PrototypeClassifier, _blocks, kernels, load, save
from protoset.spaces import DISSIMILARITIES, levenshtein_search, make_space
from protoset.spaces.strings import STRING_METRICS, StringSpace

pytest.importorskip("rapidfuzz", reason="the extra 'strings' is not installed")

EVERYTHING = (slice(None), slice(None))
tiny = st.text("ab", max_size=6)
words = st.text("abcd ß😀", max_size=12)
long_texts = st.builds(lambda a, b, n: (a * n + b)[:150], st.text("ab", min_size=1), words, st.integers(1, 150))


def plain_levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above = row
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y)))
    return row[-1]


def plain_damerau(a, b):
    """Unrestricted: an exchanged pair may be edited in between (Lowrance and Wagner)."""
    far = len(a) + len(b)
    table = {(-1, -1): far}
    for i in range(len(a) + 1):
        table[i, -1], table[i, 0] = far, i
    for j in range(len(b) + 1):
        table[-1, j], table[0, j] = far, j
    last_row = {}
    for i in range(1, len(a) + 1):
        last_match = 0
        for j in range(1, len(b) + 1):
            k, m = last_row.get(b[j - 1], 0), last_match
            if a[i - 1] == b[j - 1]:
                last_match = j
            table[i, j] = min(
                table[i - 1, j - 1] + (a[i - 1] != b[j - 1]),
                table[i, j - 1] + 1,
                table[i - 1, j] + 1,
                table[k - 1, m - 1] + (i - k - 1) + 1 + (j - m - 1),
            )
        last_row[a[i - 1]] = i
    return table[len(a), len(b)]


def plain_jaro_winkler(a, b):
    if not a and not b:
        return 0.0
    window = max(max(len(a), len(b)) // 2 - 1, 0)
    taken, matched = set(), []
    for i, x in enumerate(a):
        for j in range(max(0, i - window), min(len(b), i + window + 1)):
            if j not in taken and b[j] == x:
                taken.add(j)
                matched.append(x)
                break
    if not matched:
        return 1.0
    m = len(matched)
    exchanged = sum(x != b[j] for x, j in zip(matched, sorted(taken), strict=True)) // 2
    similarity = (m / len(a) + m / len(b) + (m - exchanged) / m) / 3
    prefix = next((k for k, (x, y) in enumerate(zip(a[:4], b[:4], strict=False)) if x != y), min(len(a), len(b), 4))
    return 1 - (similarity + (0.1 * prefix * (1 - similarity) if similarity > 0.7 else 0))


PLAIN = {
    "levenshtein": plain_levenshtein,
    "normalized_levenshtein": lambda a, b: plain_levenshtein(a, b) / max(len(a), len(b), 1),
    "damerau_levenshtein": plain_damerau,
    "jaro_winkler": plain_jaro_winkler,
    "string_hamming": lambda a, b: sum(x != y for x, y in zip(a, b, strict=False)) + abs(len(a) - len(b)),
}


def assert_same_lists(got, expected):
    for field in ("counts", "indices", "distances", "closed"):
        np.testing.assert_array_equal(getattr(got, field), getattr(expected, field), err_msg=field)


def by_block(space, k, limit):
    return space.kneighbors_by_block(np.arange(space.shape[0]), k, limit=limit)


def test_the_records():
    for name in STRING_METRICS:
        record = DISSIMILARITIES[name]
        assert (record.kind, record.requires, record.ragged, record.symmetric) == ("strings", "strings", True, True)
        assert record.bounds == (name == "levenshtein")


@pytest.mark.parametrize("metric", STRING_METRICS)
@given(texts=st.lists(words | tiny, min_size=1, max_size=8))
def test_distances_are_those_of_plain_programmes(metric, texts):
    block = make_space(texts, metric).block(*EVERYTHING)
    expected = [[PLAIN[metric](a, b) for b in texts] for a in texts]
    np.testing.assert_allclose(block, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(block, block.T)


@pytest.mark.parametrize(
    ("metric", "to_other"),
    [("levenshtein", 3), ("normalized_levenshtein", 1), ("damerau_levenshtein", 3), ("jaro_winkler", 1),
     ("string_hamming", 3)],
)  # fmt: skip
def test_empty_strings(metric, to_other):
    for empty, other in [("", "abc"), (b"", b"abc"), ([], ["a", "b", "c"])]:
        block = make_space([empty, other, empty], metric).block(*EVERYTHING)
        np.testing.assert_array_equal(block[0], [0, to_other, 0])


@pytest.mark.parametrize("metric", STRING_METRICS)
@given(texts=st.lists(st.text("abc", max_size=7), min_size=2, max_size=12))
def test_str_bytes_and_tokens_agree(metric, texts):
    expected = make_space(texts, metric).block(*EVERYTHING)
    k, n = 3, len(texts)
    lists = make_space(texts, metric).kneighbors(k, limit=n)
    tokens = [[("token", symbol) for symbol in text] for text in texts]
    for form in ([text.encode() for text in texts], tokens, [tuple(item) for item in tokens]):
        space = make_space(form, metric)
        np.testing.assert_array_equal(space.block(*EVERYTHING), expected)
        np.testing.assert_array_equal(space.cross(form).block(*EVERYTHING), expected)
        assert_same_lists(space.kneighbors(k, limit=n), lists)


@pytest.mark.parametrize("metric", STRING_METRICS)
@given(texts=st.lists(tiny | words, min_size=2, max_size=25), k=st.integers(1, 30), limit=st.integers(1, 30))
def test_every_search_finds_what_all_distances_give(metric, texts, k, limit):
    space = make_space(texts, metric)
    assert_same_lists(space.kneighbors(k, limit=limit), by_block(space, k, limit))


@given(st.lists(long_texts | words, min_size=2, max_size=12), st.integers(1, 12), st.integers(1, 12))
def test_the_search_with_strings_of_more_than_a_word(texts, k, limit):
    space = make_space(texts, "levenshtein")
    assert_same_lists(space.kneighbors(k, limit=limit), by_block(space, k, limit))


@pytest.mark.parametrize("metric", STRING_METRICS)
def test_n_jobs_and_block_size_change_nothing(metric, monkeypatch):
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("abcde"), rng.integers(0, 9))) for _ in range(150)]
    space = make_space(texts, metric)
    expected, nearest = space.kneighbors(7, limit=20), space.nearest(columns=np.arange(40))
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 3000)
    for n_jobs in (1, 2, -1):
        got = space.kneighbors(7, limit=20, n_jobs=n_jobs)
        assert_same_lists(got, expected)
        assert got.counters == expected.counters
        np.testing.assert_array_equal(space.nearest(columns=np.arange(40), n_jobs=n_jobs), nearest)


def test_the_search_of_surnames(data_folder):
    names = [
        name
        for path in sorted(data_folder.glob("strings/names/*.txt"))
        for name in path.read_text("utf-8").splitlines()[::8]
    ]
    space = make_space(names, "levenshtein")
    raw = space.kneighbors(53, limit=100)
    assert_same_lists(raw, by_block(space, 53, 100))
    counters = raw.counters
    assert counters.pairs == len(set(names)) * (len(set(names)) - 1)
    assert counters.bounded + counters.abandoned + counters.computed == counters.pairs
    assert counters.computed < 0.3 * counters.pairs


def test_progress_is_told_to_the_end():
    told = []
    texts = [format(number, "b") for number in range(600)]
    make_space(texts, "levenshtein").kneighbors(3, limit=5, progress=lambda *steps: told.append(steps))
    assert told == [(512, 600), (600, 600)]


def test_equal_strings_are_searched_once():
    raw = make_space(["a", "b", "a", "a", "b"], "levenshtein").kneighbors(2, limit=2)
    assert raw.counters.pairs == 2
    np.testing.assert_array_equal(raw.indices.reshape(5, 2), [[2, 3], [4, 0], [0, 3], [0, 2], [1, 0]])
    np.testing.assert_array_equal(raw.closed, [True, False, True, True, False])


# Kernels and their plain twins.


def encoded(texts):
    symbols, n_symbols = levenshtein_search.number_symbols(texts)
    starts = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
    return symbols, starts, n_symbols


@given(long_texts | words, st.lists(long_texts | words, min_size=1, max_size=5), st.integers(0, 150))
def test_distances_by_bits(pattern, texts, cutoff):
    symbols, starts, n_symbols = encoded([pattern, *texts])
    slots, masks = np.zeros(n_symbols, np.uint32), np.zeros((len(pattern) + 1, len(pattern) // 64 + 1), np.uint64)
    kernels.strings.write_masks(symbols[: len(pattern)], slots, masks)
    distances = np.empty(len(texts), np.int64)
    others = np.arange(1, len(texts) + 1, dtype=np.int32)
    up, down = np.empty((2, masks.shape[1]), np.uint64)
    kernels.strings.distances_to(len(pattern), symbols, starts, others, slots, masks, cutoff, distances, up, down)
    expected = np.array([plain_levenshtein(pattern, text) for text in texts])
    broken_off = distances < 0
    assert (expected[broken_off] > cutoff).all()
    assert len(pattern) > 64 or not broken_off.any()
    np.testing.assert_array_equal(distances[~broken_off], expected[~broken_off])


@given(st.lists(words | long_texts, min_size=1, max_size=10))
def test_lower_bounds(texts):
    symbols, starts, _ = encoded(texts)
    signatures, lengths = levenshtein_search.make_signatures(symbols, starts), np.diff(starts)
    bounds = np.empty(len(texts), np.uint8)
    for text, signature, length in zip(texts, signatures, lengths, strict=True):
        kernels.strings.lower_bounds(signature, length, signatures, lengths, bounds)
        for other, other_signature, bound in zip(texts, signatures.tolist(), bounds, strict=True):
            lacking = (int(signature) & ~other_signature).bit_count()
            added = (other_signature & ~int(signature)).bit_count()
            longer = len(text) - len(other)
            assert bound == max(lacking, added, added + longer, lacking - longer)
            assert bound <= plain_levenshtein(text, other)


def test_signatures_hold_the_symbols_that_split_the_strings():
    symbols, starts, _ = encoded(["ab", "aab", "b", "", "xyyb"])
    signatures = levenshtein_search.make_signatures(symbols, starts)
    assert [int(word).bit_count() for word in signatures] == [2, 3, 1, 0, 4]


@given(st.lists(st.integers(0, 255), min_size=1, max_size=30), st.integers(0, 255), st.integers(0, 300))
def test_collecting_by_bound(bounds, lowest, width):
    bounds, highest = np.array(bounds, np.uint8), lowest + width
    work, near, ends = np.empty(len(bounds) + 1, np.int32), np.empty(len(bounds), np.int32), np.empty(257, np.int64)
    kernels.strings.collect(bounds, lowest, highest, work, near, ends)
    wanted = np.flatnonzero((bounds >= lowest) & (bounds <= highest))
    np.testing.assert_array_equal(near[: len(wanted)], wanted[np.argsort(bounds[wanted], kind="stable")])
    for bound in range(lowest, min(highest, 255) + 1):
        assert ends[bound] == (bounds[wanted] <= bound).sum()


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.integers(1, 9))
def test_spreading_the_lists_of_strings(string_of, limit):
    """The list of a string is all objects here, its own members first, cut at the limit."""
    string_of = np.unique(string_of, return_inverse=True)[1]
    n = len(string_of)
    size = min(n, limit + 1)
    lists = [np.lexsort((np.arange(n), string_of != string))[:size] for string in range(string_of.max() + 1)]
    list_starts, starts = np.arange(len(lists) + 1) * size, np.arange(n + 1) * (size - 1)
    indices, distances = np.empty(starts[-1], np.int32), np.empty(starts[-1])
    flat = np.concatenate(lists)
    kernels.strings.spread(string_of, list_starts, flat, flat + 0.5, starts, indices, distances)
    for row in range(n):
        expected = [other for other in lists[string_of[row]] if other != row][: size - 1]
        np.testing.assert_array_equal(indices[starts[row] : starts[row + 1]], expected)
    np.testing.assert_array_equal(distances, indices + 0.5)


# Estimators, forms of input, files.

ENGLISH = ["smith", "smythe", "smithson", "jones", "johnson", "johnston", "jonson", "brown", "browne", "thomson"]
RUSSIAN = ["ivanov", "ivanova", "petrov", "petrova", "sidorov", "smirnov", "smirnova", "popov", "orlov", "orlova"]
X, Y = ENGLISH + RUSSIAN, ["en"] * 10 + ["ru"] * 10


def object_array(items):
    array = np.empty(len(items), object)
    array[:] = items
    return array


FORMS = {
    "list": X,
    "array": np.array(X),
    "object array": np.array(X, object),
    "tuple": tuple(X),
    "series": pd.Series(X, index=range(100, 120)),
    "string series": pd.Series(X, dtype="string"),
    "frame": pd.DataFrame({"name": X}),
    "bytes": [text.encode() for text in X],
    "bytes array": np.array([text.encode() for text in X]),
    "tokens": [list(text) for text in X],
    "token arrays": object_array([np.array([ord(symbol) for symbol in text]) for text in X]),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_and_files(form, tmp_path):
    objects = FORMS[form]
    classifier = PrototypeClassifier(REPS(6, metric="levenshtein"), rule="adjusted").fit(objects, Y)
    expected = PrototypeClassifier(REPS(6, metric="levenshtein"), rule="adjusted").fit(X, Y)
    np.testing.assert_array_equal(classifier.sample_indices_, expected.sample_indices_)
    np.testing.assert_array_equal(classifier.predict(objects), expected.predict(X))
    assert not hasattr(classifier, "n_features_in_")
    save(classifier, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(objects), classifier.predict_proba(objects))
    np.testing.assert_array_equal(again.explain(objects).distances, classifier.explain(objects).distances)


@pytest.mark.parametrize("metric", STRING_METRICS)
@pytest.mark.parametrize("form", ["list", "object array", "frame", "tokens"])
def test_cross_validation(metric, form):
    classifier = PrototypeClassifier(REPS(0.5, metric=metric))
    scores = cross_val_score(classifier, FORMS[form], Y, cv=4)
    np.testing.assert_array_equal(scores, cross_val_score(classifier, X, Y, cv=4))
    assert scores.mean() >= 0.4


def test_automatic_size_and_resampling():
    selector = REPS(metric="jaro_winkler").fit(X, Y)
    assert selector.size_curve_ is not None
    kept, labels = REPS(4, metric="levenshtein").fit_resample(X, Y)
    assert set(kept) <= set(X)
    assert len(labels) == 4


def test_prototypes_and_new_tokens():
    space = make_space([["a", 1], ["b"], ["a", "b", 2]], "levenshtein")
    queries = [["a", "new"], ["newer", "new"], []]
    expected = [[plain_levenshtein(query, text) for text in (["b"], ["a", "b", 2])] for query in queries]
    crossed = space.prototypes(np.array([1, 2])).cross(queries)
    np.testing.assert_array_equal(crossed.block(*EVERYTHING), expected)
    np.testing.assert_array_equal(crossed.block(np.array([2, 0]), np.array([1])), [[3], [2]])
    assert space.prototypes(np.array([0])).block(*EVERYTHING).shape == (0, 1)
    assert space.n_features is None


@pytest.mark.parametrize(
    "objects",
    [
        ["", "ß😀\x00", "\udc80"],
        [b"", b"\x00\xff"],
        [["a", 1, 2.5, True, "😀"], []],
        [[np.int64(3), np.str_("x")], [4]],
    ],
)
def test_state_round_trip(objects):
    space = make_space(objects, "levenshtein").prototypes(np.array([1, 0]))
    values, arrays = space.state()
    assert arrays == {}
    again = StringSpace.from_state("levenshtein", json.loads(json.dumps(values)), {})
    assert again.shape == (0, 2)
    np.testing.assert_array_equal(again.cross(objects).block(*EVERYTHING), space.cross(objects).block(*EVERYTHING))
    assert again.state() == space.state()


@pytest.mark.parametrize(
    "values",
    [
        {"kind": "str", "objects": []},
        {"kind": "str", "objects": "abc"},
        {"kind": "str", "objects": ["a", 3]},
        {"kind": "str", "objects": ["a", ["a"]]},
        {"kind": "words", "objects": ["a"]},
        {"kind": ["str"], "objects": ["a"]},
        {"kind": "bytes", "objects": ["a", "€"]},
        {"kind": "tokens", "objects": ["ab"]},
        {"kind": "tokens", "objects": [["a", None]]},
        {"kind": "tokens", "objects": [["a", ["b"]]]},
        {"kind": "tokens", "objects": [[float("nan")]]},
        {"objects": ["a"]},
        {"kind": "str"},
    ],
)
def test_damaged_states_are_refused(values):
    with pytest.raises((ValueError, KeyError, TypeError)):
        StringSpace.from_state("levenshtein", values, {})


def test_a_damaged_state_is_not_saved(tmp_path, monkeypatch):
    classifier = PrototypeClassifier(REPS(4, metric="levenshtein")).fit(X, Y)
    monkeypatch.setattr(StringSpace, "state", lambda self: ({"kind": "str", "objects": [1, 2, 3, 4]}, {}))
    with pytest.raises(ValueError, match="would not work after load .its prototypes are not all str"):
        save(classifier, tmp_path / "model")


def test_tokens_that_no_file_can_hold(tmp_path):
    tokens = [[("pair", symbol) for symbol in text] for text in X]
    classifier = PrototypeClassifier(REPS(4, metric="levenshtein")).fit(tokens, Y)
    with pytest.raises(
        TypeError, match="tokens of the type tuple, such as .*cannot be written without pickle; use str"
    ):
        save(classifier, tmp_path / "model")
    assert not list(tmp_path.iterdir())
    with pytest.raises(TypeError, match="lone surrogates"):
        make_space(["\ud83d\ude00"], "levenshtein").state()


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        (["a", None, "b", float("nan")], "rows 1, 3 hold NoneType, float.*remove those rows or fill them in"),
        (pd.Series(["a", pd.NA, "b"], dtype="string"), "row 1 hold NAType"),
        (["a", b"a", "b"], "X mixes objects.*str in rows 0, 2; bytes in row 1; convert them to one kind"),
        (["a", ["a"]], "str in row 0; tokens in row 1"),
        ("abc", "metric='levenshtein' takes a list, an array or a Series of strings.*X is of the type str"),
        ({"a": 1}, "X is of the type dict"),
        (3, "X is of the type int"),
        ([], "0 sample"),
        (np.array([["a"], ["b"]]), r"X has the shape \(2, 1\), one string per row; pass X\[:, 0\]"),
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), "X has 2 columns; pass the column of strings"),
        ([["a"], ["b", ["c"]]], r"the token \['c'\] in row 1 is not hashable"),
        (np.array([[1.0, np.nan], [2.0, 3.0]]), "the token nan in row 0"),
        (np.ma.masked_equal(np.array(["a", "b"]), "a"), "masked array"),
        (np.array([1.0, 2.0]), "rows 0, 1 hold float"),
    ],
)
def test_errors(objects, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make_space(objects, "levenshtein")
    space = make_space([["a"], ["b"]] if "token " in message else ["a", "b"], "levenshtein")
    with pytest.raises((TypeError, ValueError), match=message):
        space.cross(objects)


def test_queries_of_another_kind_and_unknown_parameters():
    with pytest.raises(TypeError, match="X holds bytes, but the training objects are str; convert X to str"):
        make_space(X, "levenshtein").cross([b"a"])
    with pytest.raises(ValueError, match="metric='levenshtein' does not know"):
        make_space(X, "levenshtein", {"weights": (1, 1, 2)})


def test_without_rapidfuzz_the_error_says_what_to_install(monkeypatch):
    plain_import = builtins.__import__

    def refuse(name, *arguments, **options):
        if name.startswith("rapidfuzz"):
            raise ImportError(name)
        return plain_import(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"metric='jaro_winkler' needs rapidfuzz.*pip install 'protoset\[strings\]'"):
        REPS(metric="jaro_winkler").fit(X, Y)
