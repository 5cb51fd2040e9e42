"""Cutting planes the plain way: the quadratic program in its primal variables, and every subset of the samples."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.optimize import minimize


def primal(Z, shares, means, C, half_width, centre=None):
    """``min |W|²/2 + C ξ`` over W (L, q), bias (q,) and ξ by SLSQP; Z is (p, L, q). Value, W, bias, ξ.

    With `centre`, the mean sample (L,), there is no bias and ``centre · W`` takes its place in the balance.
    """
    _, L, q = Z.shape

    def split(v):
        return v[: L * q].reshape(L, q), v[L * q : -1], v[-1]

    def slacks(v):
        W, b, xi = split(v)
        return np.tensordot(Z, W, axes=2) + (means @ b if centre is None else 0.0) - shares + xi

    def balance(v):
        W, b, _ = split(v)
        f = b if centre is None else centre @ W
        if q == 1:
            return np.array([half_width - f[0], half_width + f[0]])
        return np.array([2 * half_width - (f[i] - f[j]) for i in range(q) for j in range(q) if i != j])

    def value(v):
        W, _, xi = split(v)
        return 0.5 * (W**2).sum() + C * xi

    start = np.zeros(L * q + q + 1)
    start[-1] = max(0.0, shares.max())
    constraints = [{"type": "ineq", "fun": slacks}, {"type": "ineq", "fun": balance}]
    bounds = [(None, None)] * (L * q + q) + [(0.0, None)]
    # its line search may give up early: again from where it stopped, a little aside, and the best that is feasible
    rng = np.random.default_rng(0)
    best, lowest = start, np.inf
    for _ in range(8):
        step = minimize(
            value,
            start,
            method="SLSQP",
            bounds=bounds,
            constraints=constraints,
            options={"maxiter": 500, "ftol": 1e-13},
        )
        feasible = min(slacks(step.x).min(), balance(step.x).min(), step.x[-1]) >= -1e-8
        if feasible and step.fun < lowest:
            best, lowest = step.x, step.fun
        start = step.x + 1e-2 * rng.normal(size=len(start)) * (1 + np.abs(step.x))
    assert np.isfinite(lowest)
    W, b, xi = split(best)
    return lowest, W, b, xi


def worst_two(f):
    """The largest ``(1/n) Σ c_i (1 - |f_i|)`` over all c in {0, 1}^n."""
    return max(np.mean(np.array(c) * (1 - np.abs(f))) for c in product((0, 1), repeat=len(f)))


def worst_many(F):
    """The largest ``(1/n) Σ (1 - (f_z - f_c))`` over all cuts: each sample has no rival or any but its winner z."""
    n, k = F.shape
    z = F.argmax(axis=1)
    choices = [[0.0] + [1 - (F[i, z[i]] - F[i, c]) for c in range(k) if c != z[i]] for i in range(n)]
    return max(np.mean(choice) for choice in product(*choices))
