"""The solution without iterations, where it exists.

With a small bound no weight grows large enough to meet a constraint, so that every dual variable
stays at its limit. That this is so is seen from the weights themselves.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from protoset.solvers.base import Solution, certify, constrained


def solve_closed_form(features: sparse.csr_matrix, rho: np.ndarray, bound: float) -> Solution | None:
    """Solve with every dual variable at its limit; None where that is not optimal."""
    dual_variables = np.zeros(len(rho))
    dual_variables[constrained(rho)] = bound
    solution = certify(features, rho, bound, dual_variables, n_iter=0, solver="closed_form")
    active = dual_variables > 0
    return None if ((features @ solution.weights)[active] > rho[active]).any() else solution
