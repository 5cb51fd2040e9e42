"""One-class machines from the kernel matrix alone.

The dual of support vector data description by general solvers and by plain steps; large margin support vector
clustering, its optimum and its steps as printed.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


def gram(X, gamma):
    """The Gaussian kernel matrix from the differences of all pairs."""
    return np.exp(-gamma * np.square(X[:, None] - X[None]).sum(axis=2))


def dual_value(K, beta):
    """Value of the dual."""
    return float(beta @ K @ beta - np.diag(K) @ beta)


def quadratic_program(K, bounds):
    """Minimum of the dual by a general solver (SLSQP), good to about 1e-7."""
    diag = np.diag(K)
    start = np.asarray(bounds) / np.sum(bounds)
    solution = minimize(
        lambda b: dual_value(K, b),
        start,
        jac=lambda b: 2 * K @ b - diag,
        bounds=[(0.0, bound) for bound in bounds],
        constraints={"type": "eq", "fun": lambda b: b.sum() - 1.0, "jac": lambda b: np.ones_like(b)},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return dual_value(K, solution.x)


def gap(K, beta, bounds):
    """Violation of the optimality conditions, from scratch."""
    g = np.diag(K) - 2 * K @ beta
    up, low = beta < bounds, beta > 0
    return float(max(0.0, g[up].max() - g[low].min())) if up.any() and low.any() else 0.0


def smo(K, bounds, beta, tol, max_iter=100_000):
    """The plain version in numpy of ``_move`` in ``clusterkit.families.support_vectors._steps_jit``.

    It moves the same pairs of weights, with one array operation a line.
    """
    beta, diag = beta.copy(), np.diag(K)
    G = 2 * K @ beta - diag
    for moved in range(max_iter):
        up, low = beta < bounds, beta > 0
        if not up.any():
            return beta, moved
        i = int(np.argmax(np.where(up, -G, -np.inf)))
        if -G[i] - (-G[low]).min() <= tol:
            return beta, moved
        a = np.maximum(2 * (diag[i] + diag - 2 * K[:, i]), 1e-12 * diag.max())
        b = G - G[i]
        j = int(np.argmax(np.where(low & (b > 0), b * b / a, -np.inf)))
        room, rest, step = bounds[i] - beta[i], beta[j], b[j] / a[j]
        step = min(step, room, rest)
        beta[i] = bounds[i] if step == room else beta[i] + step
        beta[j] = 0.0 if step == rest else beta[j] - step
        G += 2 * step * (K[:, i] - K[:, j])
    return beta, max_iter


def libsvm(X, gamma, C, K):
    """``β'Kβ`` of LIBSVM's one-class machine, whose nu is ``1 / (n C)``; needs 1 < n C and C < 1."""
    from sklearn.svm import OneClassSVM

    machine = OneClassSVM(gamma=gamma, nu=1.0 / (len(X) * C), tol=1e-9).fit(X)
    beta = np.zeros(len(X))
    beta[machine.support_] = machine.dual_coef_[0] / machine.dual_coef_.sum()
    return float(beta @ K @ beta)


def lmsvc_primal(K, alpha, C):
    """``|w|²/2 + (C/n) Σ max(0, 1 - w'φ(x_i))`` for ``w = Σ α_i φ(x_i)``."""
    scores = K @ alpha
    return float(alpha @ scores / 2 + C / len(K) * np.maximum(0, 1 - scores).sum())


def lmsvc_dual(K, alpha):
    """Value of the dual."""
    return float(alpha.sum() - alpha @ K @ alpha / 2)


def lmsvc_optimum(K, C, tol=1e-12, sweeps=100_000):
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


def lmsvc_steps(K, C, drawn, step_tol=0.0, t_min=1, n_short=1):
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
