"""Plain solutions of the dual of support vector data description, from the kernel matrix alone."""

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
    """The numpy twin of ``_move`` in ``clusterkit.solvers.one_class._smo_any_kernel_jit``.

    The same pairs, one array operation a line.
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
