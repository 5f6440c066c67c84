"""Solvers of the max-margin problem: pure functions on sparse arrays."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy import sparse

from protoset._validation import check_choice
from protoset.exceptions import SolverConvergenceWarning
from protoset.solvers.base import Solution
from protoset.solvers.closed_form import solve_closed_form
from protoset.solvers.coordinate import solve_coordinate
from protoset.solvers.cutting_plane import solve_cutting_plane
from protoset.solvers.quasi_newton import solve_quasi_newton

__all__ = [
    "LOSSES",
    "SOLVERS",
    "Solution",
    "dual_bound",
    "solve",
    "solve_closed_form",
    "solve_coordinate",
    "solve_cutting_plane",
    "solve_quasi_newton",
]

Loss = Literal["mean", "sum"]
LOSSES: tuple[Loss, ...] = ("mean", "sum")

ITERATIVE = {
    "coordinate": solve_coordinate,
    "lbfgs": solve_quasi_newton,
    "cutting_plane": solve_cutting_plane,
}
SOLVERS = ("auto", "closed_form", *ITERATIVE, "distributed")

PATIENCE = 500
"""Passes that ``solver="auto"`` gives the coordinate method."""


def dual_bound(C: float, loss: Loss, n_objects: float) -> float:
    """Limit of each dual variable in the canonical form.

    ``loss="mean"`` is 1/2 |w|^2 + C/n * sum of hinges; ``loss="sum"`` is |w|^2 + C * sum of hinges,
    which is twice the canonical form with half the limit.
    """
    return C / n_objects if loss == "mean" else C / 2


def solve(
    features: sparse.csr_matrix,
    rho: np.ndarray,
    C: float = 1e-3,
    *,
    loss: Loss = "mean",
    solver: str = "auto",
    tol: float = 1e-6,
    weight_tol: float = np.inf,
    max_iter: int = 10_000,
    n_objects: float | None = None,
) -> Solution:
    """Find the weights of the prototypes from features (n, m) and thresholds rho (n); in the units of ``loss``.

    Parameters
    ----------
    n_objects : float, optional
        Number of objects that the rows stand for; by default the number of rows.
    solver : {"auto", "closed_form", "coordinate", "lbfgs", "cutting_plane", "distributed"}
        ``"auto"`` uses the closed form if it is exact, else the coordinate method; if that is slow, L-BFGS-B finishes.
        ``"distributed"`` needs only products: the closed form, else L-BFGS-B.
    tol : float
        Relative duality gap to reach; if it is not reached, a ``ConvergenceWarning`` names the gap.
    weight_tol : float
        Relative error of the weights to reach as well, as far as the arithmetic allows.
    """
    check_choice("solver", solver, SOLVERS)
    check_choice("loss", loss, LOSSES)
    # In units of the largest threshold: where the classes lie far apart, all thresholds are tiny.
    unit = float(rho.max()) or 1.0
    bound, thresholds = dual_bound(C, loss, len(rho) if n_objects is None else n_objects) / unit, rho / unit
    if solver in ITERATIVE:
        solution = ITERATIVE[solver](features, thresholds, bound, tol=tol, weight_tol=weight_tol, max_iter=max_iter)
    elif (exact := solve_closed_form(features, thresholds, bound)) is not None:
        solution = exact
    elif solver == "distributed":
        solution = solve_quasi_newton(features, thresholds, bound, tol=tol, weight_tol=weight_tol, max_iter=max_iter)
    elif solver == "auto":
        solution = _solve_auto(features, thresholds, bound, tol, weight_tol, max_iter)
    else:
        raise ValueError(
            f"solver='closed_form' is exact only if C is so small that every constraint stays violated, and "
            f"C={C!r} is too large; use solver='auto'"
        )
    if not solution.gap <= tol:
        warnings.warn(
            f"the solver {solution.solver!r} stopped at a relative duality gap of {solution.gap:.2e}, above "
            f"tol={tol:g}, after {solution.n_iter} iterations; raise tol, lower C or try another solver",
            SolverConvergenceWarning,
            stacklevel=2,
        )
    return _in_units(solution, unit, 1.0 if loss == "mean" else 2.0)


def _solve_auto(
    features: sparse.csr_matrix, rho: np.ndarray, bound: float, tol: float, weight_tol: float, max_iter: int
) -> Solution:
    """Coordinate ascent; if its progress is slow, it takes turns with L-BFGS-B, each from the last point."""
    n_iter = 0

    def run(method: Callable[..., Solution], start: np.ndarray | None) -> Solution:
        nonlocal n_iter
        passes = max(1, min(PATIENCE, max_iter - n_iter))
        solution = method(features, rho, bound, tol=tol, weight_tol=weight_tol, max_iter=passes, start=start)
        n_iter += solution.n_iter
        return solution

    def solved(solution: Solution) -> bool:
        return solution.gap <= tol and solution.weight_error <= weight_tol

    best = run(solve_coordinate, None)
    while not solved(best) and n_iter < max_iter:
        before = best
        for method in (solve_quasi_newton, solve_coordinate):
            if not solved(best):
                best = min(best, run(method, best.dual_variables), key=lambda solution: solution.gap)
        if best.gap > 0.5 * before.gap:
            break  # neither gets any further: this is what the arithmetic allows
    return dataclasses.replace(best, n_iter=n_iter)


def _in_units(solution: Solution, unit: float, scale: float) -> Solution:
    """Undo the unit of the thresholds, and multiply the objective by ``scale``."""
    return dataclasses.replace(
        solution,
        weights=unit * solution.weights,
        dual_variables=scale * unit * solution.dual_variables,
        primal=scale * unit**2 * solution.primal,
        dual=scale * unit**2 * solution.dual,
    )
