"""Large margin support vector clustering from the kernel matrix alone: its optimum, and plain steps."""

from __future__ import annotations

import numpy as np


def primal(K, alpha, C):
    """``|w|²/2 + (C/n) Σ max(0, 1 - w'φ(x_i))`` for ``w = Σ α_i φ(x_i)``."""
    scores = K @ alpha
    return float(alpha @ scores / 2 + C / len(K) * np.maximum(0, 1 - scores).sum())


def dual(K, alpha):
    """Value of the dual."""
    return float(alpha.sum() - alpha @ K @ alpha / 2)


def optimum(K, C, tol=1e-12, sweeps=100_000):
    """Coordinate ascent on the dual, ``0 <= α_i <= C/n``."""
    n = len(K)
    alpha, scores = np.zeros(n), np.zeros(n)
    for _ in range(sweeps):
        change = 0.0
        for i in range(n):
            new = min(C / n, max(0.0, alpha[i] + (1 - scores[i]) / K[i, i]))
            scores += (new - alpha[i]) * K[:, i]
            change, alpha[i] = max(change, abs(new - alpha[i])), new
        if change <= tol * C:
            return alpha
    raise AssertionError("no convergence")


def steps(K, C, drawn, step_tol=0.0, t_min=1, n_short=1):
    """The update as printed, on a vector of coefficients that is scaled in every step.

    Returns the last coefficients, the mean of the iterates w_1 … w_t, the steps done, and how far every comparison
    was from a tie.
    """
    n = len(K)
    alpha, total, n_in_a_row, margin = np.zeros(n), np.zeros(n), 0, np.inf
    for t, i in enumerate(drawn, start=1):
        total += alpha
        score = alpha @ K[:, i]
        violated = score < 1
        new = (1 - 1 / t) * alpha
        new[i] += C / t * violated
        move = new - alpha
        alpha = new
        length = np.sqrt(max(0.0, move @ K @ move))
        margin = min(margin, abs(score - 1), abs(length - step_tol))
        n_in_a_row = n_in_a_row + 1 if length <= step_tol else 0
        if t >= t_min and n_in_a_row >= n_short:
            break
    return alpha, total / t, t, margin
