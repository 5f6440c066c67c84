"""The campaign of strange inputs: lines that once failed, a share of it with fixed seeds, and its own judgement."""

import pytest

pytest.importorskip("typer", reason="no typer: pip install 'protoset[cli]'")

from campaigns.doors import NAMESPACE
from campaigns.fuzz import Tally, batches, main
from campaigns.lines import PARTS, each_line
from campaigns.lines.objects import METRIC_PARAMETERS
from campaigns.outcomes import CRASH, DOCUMENTED, HANG, LEAKED, WORKS, WRONG, judge
from campaigns.processes import Batch, run_batches
from protoset.spaces import DISSIMILARITIES

# Lines that the campaign found to fail, and that were mended.
REPRODUCERS = [
    "weighted(REPS('auto'), vectors(8), labels(8), np.full(8, 1e308))",
    "weighted(REPS('auto', class_weight={0: 1e-12, 1: 1e12}), vectors(20), labels(20), np.ones(20))",
    "read_columns('a,a,class\\n1,2,u\\n3,4,v', ignore='class')",
    "read_columns('a,b,class\\n1,2,u\\n3,4,v', ignore='class')",
    "read_columns('a,b,class\\n1,2,u\\n3,4,v', text='a', numeric='b')",
    "read_names('.csv', 'a 1 b 2\\n0 1\\n1 0', labels=labels(2))",
    "fit(CCIS(n_jobs=2**70), vectors(3), labels(3))",
    "fit(HMNEI(epsilon=2**63), grid(30), labels(30))",
    "fit(CCIS(verbose=pd.Series([1])), vectors(9), labels(9))",
    r"read_file('.dat', b'\xef\xbb\xbf')",
    "fit(FCNN(), vectors(3), text_array(labels(3)))",
    "ask(model('chebyshev'), [10**400, 1])",
    "ask(model('precomputed'), [10**400, 1])",
    "ask(model('erp'), [[10**400], [1]])",
    "ask(model('string_hamming'), np.array(5))",
    "ask(model('l2'), pd.DataFrame({'a': [[1], [2]]}))",
    "ask(model('overlap'), [np.zeros((2, 1)), np.zeros((2, 2))])",
    "ask(model('dice'), pd.DataFrame([[1, 2], [3, 4]], columns=['a', 'a']))",
    "ask(model('nan_euclidean'), pd.DataFrame({'a': pd.Categorical(['x', None])}))",
    "fit(CNN(metric='gower'), table(2, 0)[['word', 'word']], labels(2))",
    "command('experiment', 'run', '')",
    "ask(data_model('vectors'), b'')",
    "ask(data_model('vectors'), vectors)",
    "compared(data_set('series'), np.array(3), folds=2)",
    "ask(data_model('vectors'), vectors(2, seed=7).astype(complex))",
    "refined(words(5), labels(5), [0, 1], metric='string_hamming', steepness=np.array(3))",
    "refined(sets(8), labels(8, 3), [0, 1, 2], metric=returning(nan), metric_params={'symmetric': False}, n_jobs=2)",
]


@pytest.mark.parametrize("line", REPRODUCERS)
def test_a_line_that_failed_once(line):
    outcome = judge(line, NAMESPACE)
    assert not outcome.failed, outcome


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("fit(FCNN(), vectors(12), labels(12))", WORKS),
        ("ask(model('gower'), table(3))", WORKS),
        ("fit(FCNN(n_neighbors=0), vectors(12), labels(12))", DOCUMENTED),
        ("fit(FCNN(), [['a']], labels(12))", DOCUMENTED),  # by scikit-learn
        ("{}['x']", LEAKED),
        ("fit(REPS(), vectors(12), labels(12), 3, 4)", LEAKED),  # a TypeError, but not raised by protoset
        ("np.zeros(1) / 0", LEAKED),  # a RuntimeWarning
        ("require(False, 'not so')", WRONG),
    ],
)
def test_judgement(line, kind):
    assert judge(line, NAMESPACE).kind == kind


@pytest.mark.slow
def test_a_process_that_hangs_or_dies_is_replaced():
    # The first line is not measured: it waits for the imports.
    lines = ("1", "exec('while True: pass')", "2", "__import__('os')._exit(3)", "require(False, 'x')", "3")
    reports = list(run_batches([Batch("lines", lines=lines)], 1, limit=1))
    assert [report.line for report in reports] == list(lines)
    assert [report.outcome.kind for report in reports] == [WORKS, HANG, WORKS, CRASH, WRONG, WORKS]


def test_failures_are_printed_with_their_shortest_line(capsys):
    lines = ["[][7777777]", "[][7]", "fit(FCNN(), vectors(9), labels(9))"]
    assert main(["--processes", "1", "--quiet", *(word for line in lines for word in ("--line", line))]) == 1
    printed = capsys.readouterr().out
    assert "1 distinct failures" in printed
    assert "    [][7]\n" in printed
    assert "(2 times)" in printed


def test_the_share_of_each_part():
    counts = dict.fromkeys(PARTS, 0)
    for batch in batches(list(PARTS), 0, 5000):
        counts[batch.part] += batch.count
    total = sum(part.weight for part in PARTS.values())
    for part, count in counts.items():
        assert count == -(-5000 * PARTS[part].weight // total)


def test_every_parameter_of_a_metric_has_values():
    wanted = {name for record in DISSIMILARITIES.values() for name in record.parameters}
    assert wanted == METRIC_PARAMETERS.keys()


@pytest.mark.slow
def test_an_error_of_the_campaign_itself_is_shown():
    with pytest.raises(RuntimeError, match="KeyError: 'no such part'"):
        list(run_batches([Batch("no such part", count=1)], 1))


@pytest.mark.slow
def test_a_share_of_the_campaign():
    tally = Tally()
    for report in run_batches(batches(list(PARTS), 0, 1000), 1):
        tally.add(report)
    assert not tally.failures, tally.failure_lines()
    counts = tally.counts["readers"]
    assert counts[WORKS] > 20
    assert counts[DOCUMENTED] > 20


def test_the_same_seed_draws_the_same_lines():
    for part in PARTS.values():
        first, again, other = [], [], []
        each_line(part.strategy, 3, 20, first.append)
        each_line(part.strategy, 3, 20, again.append)
        each_line(part.strategy, 4, 20, other.append)
        assert len(set(first)) == 20
        assert first == again != other
