"""Generalised maximum margin clustering as published, by explicit inverses and a general solver of cone programs."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
from hypothesis import assume, currently_in_test_context


def full_matrix(K, delta, bias_penalty):
    """``P' (K + delta I)⁻¹ P + bias_penalty e0 e0'`` of the margins and the offset, (n + 1, n + 1)."""
    n = len(K)
    P = np.hstack([np.eye(n), np.ones((n, 1))])
    e0 = np.append(np.ones(n), 0.0)
    A = P.T @ np.linalg.solve(K + delta * np.eye(n), P) + bias_penalty * np.outer(e0, e0)
    return (A + A.T) / 2


def reduced_matrix(K, delta, bias_penalty):
    """The Schur complement of the offset, (n, n)."""
    n = len(K)
    inverse = np.linalg.inv(K + delta * np.eye(n))
    k = inverse @ np.ones(n)
    S = inverse - np.outer(k, k) / k.sum() + bias_penalty
    return (S + S.T) / 2


def program(A, rows, cap=None, solver="CLARABEL"):
    """Value of ``max Σ g`` over ``A - diag(g, 0) ⪰ 0``, ``0 <= g <= cap``, and the multiplier of the matrix, W.

    g has `rows` entries. An example the solver fails on, as it does where bias_penalty is large, is no example.
    """
    import cvxpy as cp

    g = cp.Variable(rows, nonneg=True)
    padded = cp.hstack([g, np.zeros(len(A) - rows)]) if len(A) > rows else g
    matrix = A - cp.diag(padded) >> 0
    problem = cp.Problem(cp.Maximize(cp.sum(g)), [matrix] + ([g <= cap] if cap else []))
    options = {"eps": 1e-7, "max_iters": 100_000} if solver == "SCS" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an inaccurate solution, which is not used
        problem.solve(solver=solver, **options)
    solved = problem.status == "optimal"
    assert solved or (currently_in_test_context() and assume(solved)), problem.status
    return problem.value, matrix.dual_value


def leading(W, n):
    """Leading eigenvector of the moment matrix, its first n entries."""
    return np.linalg.eigh((W + W.T) / 2)[1][:n, -1]


def labellings(n):
    """All -1/+1 vectors whose first entry is +1."""
    for rest in product((-1.0, 1.0), repeat=n - 1):
        yield np.array((1.0, *rest))


def best_labelling(S):
    """Least ``y'Sy`` over all labellings."""
    return min(float(y @ S @ y) for y in labellings(len(S)))
