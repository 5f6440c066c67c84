"""The paper's printed tables, plans and analysis."""

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, wilcoxon

from protoset.datasets import DATASETS
from protoset.evaluation import log_odds_ratio, pareto_ranks
from protoset.experiments import read_plan
from protoset.paper import STUDIES, plan_document
from protoset.paper.agreement import SIGNIFICANCE_LEVEL, conclusion
from protoset.paper.analysis import (
    Choice,
    Measured,
    at_size_of,
    best_of,
    compare,
    fixed,
    log_odds,
    rank_methods,
    variants,
)
from protoset.paper.comparison_sections import add_friedman
from protoset.paper.evidence import FIXED_VARIANTS, Evidence
from protoset.paper.findings import findings
from protoset.paper.inconsistencies import inconsistencies, recomputed_p_values, repeated_rows
from protoset.paper.pages import Page
from protoset.paper.printed import (
    BASELINES,
    METHODS,
    fixed_rate_table,
    one_nn_errors,
    series_table,
    signed_rank_table,
    vector_table,
)
from protoset.paper.studies import journal_of, mixture_document, plan_names, with_data
from protoset.paper.summary import add_summary

NAN = float("nan")
VECTORS = [name for name, record in DATASETS.items() if record.archive == "keel"]
SERIES = [name for name, record in DATASETS.items() if record.archive == "ucr"]


def measured(errors, rates=None, methods=None, n_train=100, n_test=50):
    errors = np.array(errors, float)
    rates = np.full(errors.shape, 0.1) if rates is None else np.array(rates, float)
    names = tuple(f"d{row}" for row in range(len(errors)))
    counts = np.full(len(errors), n_train), np.full(len(errors), n_test)
    return Measured(names, tuple(methods), errors, rates, *counts)


def test_printed_tables_have_the_papers_data_sets():
    assert list(vector_table().rows) == list(fixed_rate_table().rows) == VECTORS
    assert sorted(series_table().rows) == sorted(SERIES)
    assert signed_rank_table().columns == fixed_rate_table().columns == BASELINES


def test_printed_tables_are_the_facts(data_folder):
    folder = data_folder.parent / "paper"
    if not folder.is_dir():
        pytest.skip(f"no tables of the paper: {folder} is not there")

    def read(name):
        with (folder / name).open() as file:
            return list(csv.reader(file))[1:]

    there = np.array([[float(value) for value in row[1:]] for row in read("table_vector_err_slr.csv")])
    assert np.array_equal(vector_table().values, there)
    for row in read("table_fsr.csv"):
        assert fixed_rate_table().value(row[0], row[1]) == float(row[2])
    there = np.array([[float(value) for value in row[1:]] for row in read("table_ucr_err_slr.csv")])
    assert np.array_equal(series_table().values, there)
    there = np.array([[float(value) for value in row[1:]] for row in read("table_signed_rank.csv")])
    assert np.array_equal(signed_rank_table().values, there)


def test_means_of_the_printed_tables():
    means = {method: vector_table().column(f"{method}_error").mean() for method in METHODS}
    assert means["REPS"] == pytest.approx(0.309, abs=5e-4)
    assert one_nn_errors().mean() == pytest.approx(0.250, abs=5e-4)
    assert series_table().column("REPS_rate").mean() == pytest.approx(0.88, abs=5e-3)  # the paper's text has it, too
    assert series_table().column("REPS_rate").std(ddof=1) == pytest.approx(0.15, abs=5e-3)


def test_tests_recomputed_from_the_printed_tables():
    printed = signed_rank_table()
    for (row, baseline), value in recomputed_p_values().items():
        tolerance = 0.6 if (row, baseline) == ("pareto_ranks", "RMHC") else 0.15
        assert value == pytest.approx(printed.value(row, baseline), rel=tolerance)


def test_inconsistencies_name_what_they_are_about():
    text = "\n".join(inconsistencies())
    for word in ("accuracies", "spectfheart and wisconsin", "FiftyWords and FaceAll", "recomputed 0.00021", "unscaled"):
        assert word in text
    assert repeated_rows(series_table()) == [
        "FiftyWords",
        "ChlorineConcentration",
        "DiatomSizeReduction",
        "CinCECGTorso",
        "FaceAll",
    ]


def test_plans_have_the_papers_data_and_methods():
    plans = {name: read_plan(plan_document(name)) for name in plan_names()}
    for name, plan in plans.items():
        is_series = name in STUDIES["series"].plans + STUDIES["windows"].plans
        assert sorted(source.name for source in plan.data) == sorted(SERIES if is_series else VECTORS)
        assert plan.folds.count == (1 if is_series else 5)
    vectors = {method.label: method for name in STUDIES["vectors"].plans for method in plans[name].methods}
    for label in ("NoPS", "CCIS", "FCNN(n_neighbors=3)", "SSMA", "DROP3", "RMHC(n_prototypes=0.1)", "REPS auto"):
        assert label in vectors
        assert label in ("NoPS", "REPS auto") or vectors[f"refined REPS at {label}"].spec.refined
    assert len(plans["vectors"].cells) == 34 * 5 * len(plans["vectors"].methods)
    radii = [distance.parameters["window"] for distance in plans["series"].distances + plans["windows"].distances]
    assert radii == [5, 10, 20, 30, 50]
    betas = {
        method.spec.parameters["beta"] for method in plans["sensitivity"].methods if "beta" in method.spec.parameters
    }
    assert min(betas) > 1
    assert max(betas) == 4


def test_plans_have_the_printed_rates():
    methods = {method.label: method for method in read_plan(plan_document("vectors")).methods}
    for name in METHODS:
        rates = methods[f"REPS at paper's {name}"].rate
        assert rates == dict(zip(VECTORS, vector_table().column(f"{name}_rate").tolist(), strict=True))
    (series,) = [one for one in read_plan(plan_document("series")).methods if one.rate_name]
    assert series.rate == {name: series_table().value(name, "REPS_rate") for name in SERIES}


def test_scaling_is_that_of_the_plan(tmp_path):
    assert read_plan(plan_document("vectors", scaling="minmax")).distances[0].scaling == "minmax"
    assert read_plan(plan_document("mixture", scaling="minmax")).distances[0].scaling == "raw"
    assert journal_of(tmp_path, "vectors", "raw") != journal_of(tmp_path, "vectors", "z")
    assert journal_of(tmp_path, "series", "raw") == journal_of(tmp_path, "series", "z")
    with pytest.raises(ValueError, match="scaling='Z'"):
        plan_document("vectors", scaling="Z")


def test_some_data_sets_of_a_plan():
    document = plan_document("vectors")
    some = with_data(document, ["wine", "iris", "Plane"])
    assert some["data"] == ["iris", "wine"]
    plan = read_plan(some)
    whole = {cell.id for cell in read_plan(document).cells}
    assert {cell.id for cell in plan.cells} < whole
    assert len(document["data"]) == 34


def test_the_second_half_of_the_mixture_has_the_measured_rates():
    plan = read_plan(mixture_document({"FCNN(n_neighbors=1)": {"iris": 0.2, "wine": 0.3}}, ["iris", "wine"]))
    assert [method.label for method in plan.methods] == [
        "REPS at FCNN(n_neighbors=1)",
        "refined REPS at FCNN(n_neighbors=1)",
    ]
    assert plan.distances[0].scaling == "z"
    assert plan.methods[0].rate_on("wine") == 0.3


def test_variants_are_the_grid_and_nothing_else():
    names = ["REPS at 0.05", "REPS at 0.1", "REPS at SSMA", "REPS at paper's REPS", "REPS auto", "refined REPS at 0.1"]
    table = measured(np.zeros((1, 9)), methods=[*names, "FCNN(n_neighbors=1)", "SSMA", "REPS at FCNN(n_neighbors=1)"])
    assert variants(table, "REPS") == ["REPS at 0.05", "REPS at 0.1"]
    assert variants(table, "refined REPS") == ["refined REPS at 0.1"]
    assert variants(table, "FCNN") == ["FCNN(n_neighbors=1)"]
    assert variants(table, "SSMA") == ["SSMA"]


def test_the_best_parameter_by_hand():
    errors = [[0.2, 0.1, 0.3], [0.2, 0.2 + 1e-15, 0.3], [0.2, NAN, 0.1]]
    rates = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.1, 0.2, 0.3]]
    table = measured(errors, rates, ["A(k=1)", "A(k=2)", "A(k=3)"])
    best = best_of(table, variants(table, "A"))
    assert best.labels == ("A(k=2)", "A(k=2)", "")  # equal errors: the smaller set; a missing variant: no choice
    assert best.error[0] == 0.1
    assert np.isnan(best.error[2])
    assert np.isnan(best.rate[2])
    nothing = best_of(table, variants(table, "B"))
    assert nothing.labels == ("", "", "")
    assert np.isnan(nothing.error).all()


@given(st.integers(0, 2**32 - 1))
def test_the_best_parameter_is_no_worse_than_a_fixed_one(seed):
    rng = np.random.default_rng(seed)
    table = measured(rng.random((4, 3)), rng.random((4, 3)), ["A(k=1)", "A(k=2)", "A(k=3)"])
    best = best_of(table, variants(table, "A"))
    for label in table.methods:
        assert (best.error <= fixed(table, label).error).all()


def test_fixed_rate_errors_follow_the_chosen_variant():
    names = ["B(k=1)", "B(k=2)", "REPS at B(k=1)", "REPS at B(k=2)"]
    table = measured([[0.3, 0.2, 0.11, 0.12], [0.1, 0.2, 0.21, 0.22], [NAN, 0.2, 0.31, 0.32]], methods=names)
    found = at_size_of(table, "REPS", best_of(table, variants(table, "B")))
    assert found[:2].tolist() == [0.12, 0.21]
    assert np.isnan(found[2])
    assert np.isnan(at_size_of(table, "other", best_of(table, ["B(k=1)"]))).all()


def test_ranks_leave_out_what_is_missing():
    methods = {
        "A": Choice(("A", "A"), np.array([0.1, 0.1]), np.array([0.5, 0.5])),
        "B": Choice(("B", "B"), np.array([0.2, 0.2]), np.array([0.6, 0.1])),
        "C": Choice(("C", ""), np.array([0.3, NAN]), np.array([0.1, NAN])),
    }
    ranks = rank_methods(methods)
    assert ranks[0].tolist() == pareto_ranks([[0.1, 0.5], [0.2, 0.6], [0.3, 0.1]]).tolist() == [1, 2, 1]
    assert ranks[1, :2].tolist() == [1, 1]
    assert np.isnan(ranks[1, 2])


def test_comparisons_leave_out_pairs_that_are_missing():
    found = compare(np.array([0.1, 0.2, NAN, 0.4]), np.array([0.2, 0.1, 0.3, 0.5]))
    assert (found.wins, found.losses, found.n) == (2, 1, 3)
    assert found.mean == pytest.approx(0.7 / 3)
    nothing = compare(np.array([NAN]), np.array([0.1]))
    assert nothing.test is None
    assert np.isnan(nothing.p_value)


def test_log_odds_need_everything():
    table = measured([[0.2, 0.25], [NAN, 0.3]], [[1, 0.1], [1, 0.1]], ["NoPS", "A"])
    found = log_odds(table, "A")
    assert found[0] == log_odds_ratio(0.1, 0.25, 0.2, n_train=100, n_test=50)
    assert np.isnan(found[1])


def as_printed(shift=0.0):
    """The study of the time series as if it had given the printed numbers, or others."""
    printed = series_table()
    columns = [printed.column("NoPS_error"), printed.column("REPS_error") + shift]
    errors = np.column_stack(columns)
    counts = np.full(len(errors), 100)
    methods = ("NoPS", "REPS at paper's REPS")
    return Evidence("z", series=Measured(printed.rows, methods, errors, errors, counts, counts))


def test_findings_agree_with_the_printed_numbers_and_not_with_others():
    same = findings(as_printed())
    assert [one.agrees for one in same] == [True, True, False]  # its own numbers are not what the text says
    assert "within 0.02 on 27 of 27 data sets" in same[0].statement
    assert "no, it is lower on 3, equal on 10, higher on 14 of 27" in same[2].statement
    other = findings(as_printed(0.1))
    assert [one.agrees for one in other] == [True, False, False]
    assert "0.292 measured, 0.192 printed" in other[1].statement
    kept = findings(as_printed(-1.0))[2]
    assert kept.agrees
    assert "yes, it is lower on 27, equal on 0, higher on 0 of 27" in kept.statement


def compared(shift):
    """What is said of the errors at the sizes of baselines that REPS misses by so much, and of which baselines."""
    names = [*BASELINES, *(f"REPS at {one}" for one in BASELINES)]
    rng = np.random.default_rng(0)
    baselines = rng.uniform(0.2, 0.4, (34, len(BASELINES)))
    errors = np.column_stack([baselines, baselines + shift * rng.uniform(0.5, 1, baselines.shape)])
    counts = np.full(34, 100)
    table = Measured(vector_table().rows, tuple(names), errors, errors, counts, counts)
    found = [one for one in findings(Evidence("z", vectors=table)) if "baselines' sizes" in one.statement]
    return {one.agrees: one.statement for one in found}


@pytest.mark.parametrize(
    ("shift", "ours", "agreeing"),
    [
        (-0.1, "ahead", {"CCIS", "FCNN", "DROP3"}),
        (0.1, "behind", set()),
        (0.0, "no significant difference", {"SSMA", "RMHC"}),
    ],
)
def test_a_test_has_three_conclusions(shift, ours, agreeing):
    """The paper finds REPS ahead of CCIS, FCNN and DROP3, and no difference to SSMA (p = 0.39) and RMHC (0.11)."""
    found = compared(shift)
    for agrees in (True, False):
        names = agreeing if agrees else set(BASELINES) - agreeing
        assert (agrees in found) == bool(names)
        assert {one for one in BASELINES if f"{one} p = " in found.get(agrees, "")} == names
        assert found.get(agrees, "").count(f"({ours}), printed") == len(names)


def summary_of(evidence):
    page = Page()
    add_summary(page, evidence)
    return page.markdown()


def vectors_as_printed():
    """The vector study as if it had given the printed numbers."""
    printed, rates = vector_table(), fixed_rate_table()
    labels = {name: FIXED_VARIANTS[name] for name in BASELINES}
    columns = {label: printed.column(f"{name}_error") for name, label in labels.items()}
    columns |= {f"REPS at {label}": rates.column(name) for name, label in labels.items()}
    columns |= {f"REPS at paper's {name}": rates.column(name) for name in BASELINES}
    columns["REPS at paper's REPS"] = printed.column("REPS_error")
    errors, counts = np.column_stack(list(columns.values())), np.full(len(printed.rows), 100)
    return Measured(printed.rows, tuple(columns), errors, errors, counts, counts)


def test_the_summary_of_the_printed_numbers_agrees_with_the_paper():
    text = summary_of(Evidence("z", vectors=vectors_as_printed(), series=as_printed().series))
    assert "the mean errors of REPS agree with the paper" in text
    assert "the mean errors of the other methods agree with the paper" in text.lower()
    assert "5 of the 5 conclusions are those of the paper" in text
    assert "significantly lower errors than CCIS (p = " in text
    assert "here it does so on 13 of 27" in text
    assert "nan" not in text


def test_the_summary_leaves_out_what_is_not_complete():
    table = vectors_as_printed()
    table.error_table[0, 0] = NAN
    text = summary_of(Evidence("z", vectors=table))
    assert "**REPS.**" in text
    assert "**Other methods.**" not in text
    assert "**Comparison at equal sizes.**" not in text
    assert "No study has all its results yet." in summary_of(Evidence("z"))


@given(st.floats(0, 1))
def test_the_conclusion_about_the_other_side_is_the_opposite(p_value):
    mirrored = {"ahead": "behind", "behind": "ahead", "no significant difference": "no significant difference"}
    if min(abs(p_value - SIGNIFICANCE_LEVEL), abs(1 - p_value - SIGNIFICANCE_LEVEL)) > 1e-9:
        assert conclusion(1 - p_value) == mirrored[conclusion(p_value)]


def test_tests_of_some_data_sets_are_not_compared_with_the_papers():
    names = ["NoPS", *BASELINES, *(f"REPS at {one}" for one in BASELINES), "REPS at paper's REPS"]
    rng = np.random.default_rng(0)
    for n, is_compared in ((34, True), (33, False)):
        errors = rng.random((n, len(names)))
        counts = np.full(n, 100)
        table = Measured(vector_table().rows[:n], tuple(names), errors, errors, counts, counts)
        text = "\n".join(one.statement for one in findings(Evidence("z", vectors=table)))
        assert ("conclusion" in text) == is_compared
        assert "1-NN on the whole training set" in text


def test_pairs_of_methods_are_in_the_report_as_numbers():
    """Against scikit-posthocs, SciPy and the printed quantile of Nemenyi's test for three methods (Demsar 2006)."""
    posthocs = pytest.importorskip("scikit_posthocs")
    names = ["NoPS", *BASELINES]
    errors = np.random.default_rng(3).random((34, 6)) + 0.3 * np.arange(6)
    counts = np.full(34, 100)
    page = Page()
    add_friedman(page, Measured(vector_table().rows, tuple(names), errors, errors, counts, counts), brief=True)
    header, rows = page.tables["pairs"]
    found = [dict(zip(header, row, strict=True)) for row in rows if row[0] == "errors"]
    place = {name: position for position, name in enumerate(names)}
    methods = [name for name in names if any(name in (row["method"], row["other"]) for row in found)]
    used = [place[name] for name in methods]
    k = len(methods)
    assert k == 3
    assert len(found) == k * (k - 1) // 2
    ranks = rankdata(errors[:, used], axis=1).mean(axis=0)
    reference = posthocs.posthoc_nemenyi_friedman(errors[:, used]).to_numpy()
    raw = [wilcoxon(errors[:, place[row["method"]]], errors[:, place[row["other"]]]).pvalue for row in found]
    steps = np.sort(raw) * np.arange(len(raw), 0, -1)
    corrected = np.minimum(np.maximum.accumulate(steps), 1)[np.argsort(np.argsort(raw))]
    for row, p_value, after in zip(found, raw, corrected, strict=True):
        i, j = methods.index(row["method"]), methods.index(row["other"])
        assert (row["rank"], row["rank_other"]) == pytest.approx((ranks[i], ranks[j]))
        assert row["p_nemenyi"] == pytest.approx(reference[i, j], abs=1e-6)
        assert (row["p_wilcoxon"], row["p_holm"]) == pytest.approx((p_value, after))
        assert row["critical_difference"] == pytest.approx(2.343 * (k * (k + 1) / (6 * 34)) ** 0.5, 1e-3)
    assert f"are {found[0]['critical_difference']:.2f} apart (the critical difference, 34 data sets)" in page.markdown()
