"""The max-margin problem, its dual, and certified solutions.

Every solver works on one canonical form,

    minimise over w >= 0   1/2 |w|^2 + bound * sum_i max(0, rho_i - r_i . w),

whose dual is smooth and only bounds each variable,

    maximise over 0 <= l <= bound   rho . l - 1/2 |max(0, r'l)|^2,   with w = max(0, r'l).

The gap between the two values bounds the distance of a solution from the optimum. Because the
objective is strongly convex, it also bounds the distance of the weights: |w - w*|^2 <= 2 gap. The
second bound is the one that matters: with a small bound on the dual variables the weights decide only a tiny part of
the objective, and a relative gap of 1e-6 says nothing about them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

EPSILON = float(np.finfo(np.float64).eps)
"""Rounding error of a double."""

CANCELLED = 1e-13
"""A sum this small beside the sum of its terms' sizes is a rounding error."""


@dataclass(frozen=True)
class Solution:
    """Weights with the proof of their quality.

    Attributes
    ----------
    weights : ndarray
        The weights w >= 0.
    dual_variables : ndarray
        The l that prove the lower bound.
    primal, dual : float
        Objective of the weights, and the lower bound on every objective.
    gap : float
        (primal - dual) / primal: bound on the relative distance of the objective from the optimum.
    weight_error : float
        Bound on the relative distance of the weights from the optimal ones (in the 2-norm).
    n_iter : int
        Iterations, in the solver's own unit.
    solver : str
        Name of the solver.
    """

    weights: np.ndarray
    dual_variables: np.ndarray
    primal: float
    dual: float
    gap: float
    weight_error: float
    n_iter: int
    solver: str


def certify(
    features: sparse.csr_matrix,
    rho: np.ndarray,
    bound: float,
    dual_variables: np.ndarray,
    n_iter: int,
    solver: str,
) -> Solution:
    """Compute weights, both objectives and the gap from dual variables, from scratch."""
    weights = weights_from(features, dual_variables)
    proof = prove(features @ weights, rho, bound, dual_variables, 0.5 * dot(weights, weights))
    return Solution(
        weights=proof.stretch * weights,
        dual_variables=dual_variables,
        primal=proof.primal,
        dual=proof.dual,
        gap=proof.gap,
        weight_error=proof.weight_error,
        n_iter=n_iter,
        solver=solver,
    )


@dataclass(frozen=True)
class Proof:
    """Bounds that dual variables prove for the weights max(0, r'l), times ``stretch``; see ``Solution``."""

    stretch: float
    primal: float
    dual: float
    gap: float
    weight_error: float

    def reaches(self, tol: float, weight_tol: float) -> bool:
        """Whether objective and weights are proved as closely as asked, both relatively."""
        return self.gap <= tol and self.weight_error <= weight_tol


def prove(products: np.ndarray, rho: np.ndarray, bound: float, dual_variables: np.ndarray, norm: float) -> Proof:
    """Compare the objectives of dual variables and of the best of two multiples of their weights.

    With a large bound the optimal weights meet every constraint. Before the optimum, a constraint that is missed by a
    millionth may cost more than everything else. So besides the weights themselves, their smallest multiple that meets
    every constraint is tried.

    ``products`` are the features of each object times the weights; ``norm`` is half the squared norm of the weights.
    """
    proofs = [_prove_stretched(1.0, products, rho, bound, dual_variables, norm)]
    tight = rho > 0
    if norm > 0 and proofs[0].gap > 0 and (products[tight] > 0).all():
        # One rounding error more, so that the constraint that decides is met as well.
        stretch = float(np.max(rho[tight] / products[tight])) * (1 + 4 * EPSILON)
        proofs.append(_prove_stretched(stretch, products, rho, bound, dual_variables, norm))
    return min(proofs, key=lambda proof: proof.primal)


def _prove_stretched(
    stretch: float, products: np.ndarray, rho: np.ndarray, bound: float, dual_variables: np.ndarray, norm: float
) -> Proof:
    margins = rho - stretch * products
    # Primal - dual as a sum of terms that are not negative, so that a small gap keeps its digits.
    terms = np.where(margins > 0, (bound - dual_variables) * margins, -dual_variables * margins)
    gap = (stretch - 1) ** 2 * norm + max(float(terms.sum()), 0.0)
    stretched_norm = stretch**2 * norm
    primal = stretched_norm + bound * float(np.maximum(margins, 0.0).sum())
    return Proof(
        stretch=stretch,
        primal=primal,
        dual=dot(rho, dual_variables) - norm,
        gap=gap / primal if gap != 0 else 0.0,
        weight_error=float(np.sqrt(gap / stretched_norm)) if norm > 0 else np.inf if gap > 0 else 0.0,
    )


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """Inner product on one thread; for one vector, waking BLAS's threads costs more than it saves."""
    return float(np.einsum("i,i->", a, b))


def weights_from(features: sparse.csr_matrix, dual_variables: np.ndarray) -> np.ndarray:
    """Weights max(0, r'l); if friends and enemies cancel out, the remaining rounding error counts as 0."""
    pull = features.T @ dual_variables
    if hasattr(features, "magnitudes"):
        sizes = features.magnitudes()
    else:
        sizes = sparse.csr_matrix((np.abs(features.data), features.indices, features.indptr), shape=features.shape)
    return np.where(pull > CANCELLED * (sizes.T @ dual_variables), pull, 0.0)


def starting_point(features: sparse.csr_matrix, rho: np.ndarray, bound: float) -> np.ndarray:
    """Dual variables to start from: all equal, with the best common value."""
    direction = np.zeros(len(rho))
    direction[constrained(rho)] = 1.0
    weights = np.maximum(features.T @ direction, 0.0)
    squared = dot(weights, weights)
    best = float(rho.sum()) / squared if squared > 0 else np.inf
    return min(bound, best) * direction


def constrained(rho: np.ndarray) -> np.ndarray:
    """Objects whose constraint can be violated.

    An object with only friends among its neighbours has rho = 0 and no negative feature. Its constraint holds for every
    w >= 0, and its dual variable is 0.
    """
    return np.flatnonzero(rho > 0)
