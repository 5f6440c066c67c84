"""The solvers against each other, against an independent QP solver, and against their own certificate."""

import clarabel
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from protoset import REPS, NeighborSearch
from protoset.features import rank_exponential
from protoset.neighbors import build_lists
from protoset.solvers import (
    ITERATIVE,
    dual_bound,
    solve,
    solve_closed_form,
    solve_coordinate,
    solve_quasi_newton,
)
from protoset.spaces import make_space

from conftest import overlapping

COSTS = [("mean", 1e-3), ("mean", 10.0), ("sum", 1e-3), ("sum", 1.0), ("sum", 30.0)]


def problem(n=60, seed=0, n_classes=3):
    X, codes = overlapping(n, seed=seed, n_classes=n_classes)
    constraints = rank_exponential(build_lists(make_space(X), 53), codes)
    return constraints.features, constraints.rho


def objective(weights, features, rho, C, loss):
    hinges = np.maximum(rho - features @ weights, 0).sum()
    return weights @ weights / 2 + C / len(rho) * hinges if loss == "mean" else weights @ weights + C * hinges


def reference_optimum(features, rho, C, loss):
    """Interior-point solution of the QP over (w, xi) as it stands in the paper."""
    n, m = features.shape
    quadratic, linear = (1.0, C / n) if loss == "mean" else (2.0, C)
    P = sparse.block_diag([quadratic * sparse.identity(m), sparse.csc_matrix((n, n))], format="csc")
    q = np.concatenate([np.zeros(m), np.full(n, linear)])
    A = sparse.vstack([sparse.hstack([-features, -sparse.identity(n)]), -sparse.identity(m + n)], format="csc")
    b = np.concatenate([-rho, np.zeros(m + n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    solution = clarabel.DefaultSolver(P, q, A, b, [clarabel.NonnegativeConeT(m + 2 * n)], settings).solve()
    return np.maximum(np.array(solution.x[:m]), 0), solution.obj_val


@pytest.mark.parametrize("solver", ["auto", "coordinate", "lbfgs"])
@pytest.mark.parametrize(("loss", "C"), COSTS)
@given(seed=st.integers(0, 10_000), n=st.integers(5, 60), n_classes=st.integers(2, 4))
@example(seed=26, n=37, n_classes=2)  # where L-BFGS-B has to start afresh
def test_against_an_independent_qp_solver(solver, loss, C, seed, n, n_classes):
    features, rho = problem(n, seed, n_classes)
    # Coordinate ascent alone needs more passes where C is large: 24,000 for (sum, 30, seed 211, 44 objects).
    solution = solve(features, rho, C, loss=loss, solver=solver, max_iter=200_000)
    _, optimum = reference_optimum(features, rho, C, loss)
    assert solution.gap <= 1e-6
    assert solution.primal == pytest.approx(optimum, rel=1e-6, abs=1e-11)  # the reference is no sharper
    assert objective(solution.weights, features, rho, C, loss) == pytest.approx(solution.primal, rel=1e-12)


@pytest.mark.parametrize("solver", ["auto", "distributed", *ITERATIVE])
@pytest.mark.parametrize(("loss", "C"), COSTS)
def test_all_solvers_agree(solver, loss, C):
    """The cutting planes too, whose master problem has fewer digits."""
    for n, seed, n_classes in ((60, 0, 3), (35, 1, 2), (80, 2, 4)):
        features, rho = problem(n, seed, n_classes)
        solution = solve(features, rho, C, loss=loss, solver=solver)
        best = solve(features, rho, C, loss=loss, tol=1e-9, weight_tol=1e-6)
        assert solution.primal == pytest.approx(best.primal, rel=1e-6)
        weights, _ = reference_optimum(features, rho, C, loss)
        np.testing.assert_allclose(best.weights, weights, atol=0.02 * weights.max())  # the reference is no sharper


@pytest.mark.parametrize("solver", ITERATIVE)
@pytest.mark.parametrize("loss", ["mean", "sum"])
def test_the_certificate_can_be_checked_by_hand(solver, loss):
    """Dual variables within their limits, the dual value by its formula, weights from the dual variables."""
    features, rho = problem(80)
    C = 5.0
    solution = solve(features, rho, C, loss=loss, solver=solver)
    limit, q = (C / 80, 1 / 2) if loss == "mean" else (C, 1 / 4)
    dual = solution.dual_variables
    assert dual.min() >= 0
    assert dual.max() <= limit * (1 + 1e-12)
    pull = np.maximum(features.T @ dual, 0)
    np.testing.assert_allclose(solution.weights / solution.weights.max(), pull / pull.max(), rtol=1e-12, atol=1e-15)
    assert solution.dual == pytest.approx(rho @ dual - q * pull @ pull, rel=1e-12)
    assert solution.primal == pytest.approx(objective(solution.weights, features, rho, C, loss), rel=1e-12)
    assert 0 <= solution.gap <= 1e-6
    assert solution.gap == pytest.approx((solution.primal - solution.dual) / solution.primal, abs=1e-14)


@pytest.mark.parametrize("solver", ITERATIVE)
def test_a_solution_names_its_solver_and_counts_its_iterations(solver):
    features, rho = problem(80)
    whole = ITERATIVE[solver](features, rho, 0.05)
    assert whole.solver == solver
    assert whole.gap <= 1e-6  # the default
    with pytest.warns(ConvergenceWarning):
        stopped = solve(features, rho, 4.0, solver=solver, max_iter=2)
    assert 1 <= stopped.n_iter <= 2 < whole.n_iter < 1000


@pytest.mark.parametrize("method", [solve_coordinate, solve_quasi_newton])
def test_a_solver_continues_from_where_it_starts(method):
    features, rho = problem(80)
    cold = method(features, rho, 0.05, tol=1e-9)
    warm = method(features, rho, 0.05, tol=1e-9, start=cold.dual_variables)
    assert warm.n_iter < cold.n_iter / 2
    assert warm.gap <= 1e-9


def test_the_automatic_choice_counts_the_iterations_of_all_its_methods():
    features, rho = problem(9, seed=42, n_classes=4)
    coordinate = solve_coordinate(features, rho, 15.0, max_iter=500)
    assert coordinate.n_iter == 500
    assert solve(features, rho, 30.0, loss="sum", solver="auto").n_iter > 500
    with pytest.warns(ConvergenceWarning, match="after 30 iterations"):
        assert solve(features, rho, 30.0, loss="sum", solver="auto", max_iter=30).n_iter == 30


def test_the_closed_form_is_exact_where_it_is_given():
    features, rho = problem()
    for bound in (1e-9, 1e-6, 1e-3, 1e-1, 1.0):
        closed = solve_closed_form(features, rho, bound)
        iterated = solve_coordinate(features, rho, bound, tol=1e-12)
        at_limit = ((iterated.dual_variables == bound) | (rho == 0)).all()
        assert (closed is not None) == at_limit
        if closed is not None:
            assert closed.gap <= 1e-14
            np.testing.assert_allclose(closed.weights, iterated.weights, rtol=1e-12)


def test_the_closed_form_alone_is_refused_where_it_is_not_exact():
    features, rho = problem()
    assert solve(features, rho, 1e-6, solver="closed_form").solver == "closed_form"
    with pytest.raises(ValueError, match="exact only if C is so small.*C=100.0 is too large; use solver='auto'"):
        solve(features, rho, 100.0, solver="closed_form")


def test_separated_classes_need_no_weights():
    X = np.concatenate([np.arange(60.0), 1000 + np.arange(60.0)])[:, None]
    codes = np.repeat([0, 1], 60)
    constraints = rank_exponential(build_lists(make_space(X), 20), codes)
    for name in ("auto", *ITERATIVE):
        solution = solve(constraints.features, constraints.rho, 1.0, solver=name)
        assert (solution.primal, solution.gap, solution.weights.max()) == (0, 0, 0)
    selector = REPS(n_prototypes=4, search=NeighborSearch(n_neighbors=20)).fit(X, codes)
    assert (selector.degradations_ == 0).all()
    np.testing.assert_array_equal(codes[selector.sample_indices_], [0, 0, 1, 1])


@pytest.mark.parametrize("solver", ITERATIVE)
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_the_bound_on_the_weights_holds(solver, C):
    features, rho = problem(120)
    rough = solve(features, rho, C, solver=solver, tol=1e-3)
    exact = solve(features, rho, C, solver="coordinate", tol=1e-9, weight_tol=1e-7)
    assert exact.weight_error <= 1e-7
    distance = np.linalg.norm(rough.weights - exact.weights)
    assert distance <= (rough.weight_error + 1e-6) * np.linalg.norm(rough.weights)


def test_a_small_gap_alone_does_not_prove_the_weights():
    """Why REPS asks for ``weight_tol``: at its default C the weights are a millionth of the objective."""
    features, rho = problem(300)
    by_gap = solve(features, rho, 1e-3, tol=1e-6)
    by_weights = solve(features, rho, 1e-3, tol=1e-6, weight_tol=1e-4)
    assert by_gap.gap <= 1e-6
    assert by_gap.weight_error > 1e-3
    assert by_weights.weight_error <= 1e-4


def test_what_cancels_out_has_no_weight():
    """One friend and one enemy at the same rank: 0.1 - 0.1 of the dual variables must not leave 1e-17."""
    features = sparse.csr_matrix(np.array([[0.1, 0.3], [0.2, -0.4], [-0.3, -0.2]]))
    solution = solve(features, np.ones(3), 1e-3)
    assert 0 < (features.T @ solution.dual_variables)[0] < 1e-18
    assert solution.weights.tolist() == [0, 0]


def test_where_coordinates_creep_the_automatic_choice_finishes():
    """Two almost parallel constraints: a flat valley across the coordinate directions."""
    features, rho = problem(9, seed=42, n_classes=4)
    with pytest.warns(ConvergenceWarning, match="'coordinate' stopped at a relative duality gap"):
        solve(features, rho, 30.0, loss="sum", solver="coordinate", max_iter=2000)
    solution = solve(features, rho, 30.0, loss="sum", solver="auto")
    assert solution.solver == "lbfgs"
    assert solution.gap <= 1e-6


def test_shrinking_does_not_change_the_optimum():
    features, rho = problem(1500)
    bound = dual_bound(1.0, "sum", 1500)
    fine = solve_coordinate(features, rho, bound, tol=1e-10)
    coarse = solve_coordinate(features, rho, bound, tol=1e-6)
    assert coarse.primal >= fine.dual
    assert coarse.primal == pytest.approx(fine.primal, rel=1e-6)


@pytest.mark.parametrize("solver", ITERATIVE)
def test_a_gap_that_is_not_reached_is_named(solver):
    features, rho = problem(200)
    with pytest.warns(ConvergenceWarning, match=r"relative duality gap of \d\.\d+e-\d+, above tol=1e-13") as caught:
        solution = solve(features, rho, 100.0, loss="sum", solver=solver, tol=1e-13, max_iter=3)
    assert f"{solution.gap:.2e}" in str(caught[0].message)


def test_an_unreached_gap_reaches_the_user_of_the_estimator():
    X, codes = overlapping(100)
    with pytest.warns(ConvergenceWarning, match="relative duality gap"):
        REPS(0.1, loss="sum", C=1e4, tol=1e-300).fit(X, codes)


def test_unknown_names():
    features, rho = problem(20)
    with pytest.raises(ValueError, match="solver='newton' is not known"):
        solve(features, rho, solver="newton")
    with pytest.raises(ValueError, match="loss='max' is not known"):
        solve(features, rho, loss="max")
