"""Maximum margins the plain way.

Cutting planes in their primal variables, and by every subset of the samples; generalised maximum margin clustering as
published, by explicit inverses and a general solver of cone programs; multi-class maximum margin clustering as
published, by every labelling and with its matrix inequality of order n² + 1; min-max modular machines one at a time, by
scikit-learn's own decision function.
"""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
from scipy.optimize import minimize
from sklearn.svm import SVC


def cutting_plane_program(Z, shares, means, C, half_width, centre=None):
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
    # its line search may give up early: start again near where it stopped, and take the best feasible point
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


def cone_program(A, rows, cap=None, solver="CLARABEL"):
    """Value of ``max Σ g`` over ``A - diag(g, 0) ⪰ 0``, ``0 <= g <= cap``, and the multiplier of the matrix, W.

    g has `rows` entries. Hypothesis drops examples on which the solver fails, as it does for a large bias_penalty.
    """
    import cvxpy as cp
    from hypothesis import assume, currently_in_test_context

    g = cp.Variable(rows, nonneg=True)
    padded = cp.hstack([g, np.zeros(len(A) - rows)]) if len(A) > rows else g
    matrix = A - cp.diag(padded) >> 0
    problem = cp.Problem(cp.Maximize(cp.sum(g)), [matrix] + ([g <= cap] if cap else []))
    options = {"eps": 1e-7, "max_iters": 100_000} if solver == "SCS" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about an inaccurate solution, which is not used
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


def sized_labellings(n, k, low, high):
    """All labellings into k clusters of low to high samples; labels are numbered in the order of the samples."""
    for labels in product(range(k), repeat=n):
        sizes = np.bincount(labels, minlength=k)
        first = [labels.index(label) for label in range(k) if label in labels]
        if first == sorted(first) and len(first) == k and sizes.min() >= low and sizes.max() <= high:
            yield np.array(labels)


def multi_class_machine(K, labels, C):
    """``|W|²/2 + C Σ ξ`` of the multi-class machine of Crammer and Singer without bias, for any kernel matrix.

    SLSQP over W = Σ A_i x_i and ξ, with a constraint for each sample and each label.
    """
    n, k = len(K), int(labels.max()) + 1
    indicators = np.eye(k)[labels]

    def split(v):
        return v[: n * k].reshape(n, k), v[n * k :]

    def slacks(v):
        A, xi = split(v)
        F = K @ A
        return (xi[:, None] + F[np.arange(n), labels][:, None] + indicators - 1.0 - F).ravel()

    def value(v):
        A, xi = split(v)
        return 0.5 * np.sum(A * (K @ A)) + C * xi.sum()

    def slope(v):
        A, _ = split(v)
        return np.append((K @ A).ravel(), np.full(n, C))

    start = np.append(np.zeros(n * k), np.ones(n))
    jacobian = np.stack([slacks(unit) - slacks(0 * unit) for unit in np.eye(len(start))], axis=1)
    constraint = {"type": "ineq", "fun": slacks, "jac": lambda v: jacobian}
    options = {"maxiter": 1000, "ftol": 1e-12}
    return minimize(value, start, jac=slope, method="SLSQP", constraints=[constraint], options=options).fun


def multi_class_margin(K, M, C):
    """``max C (n - <Ω, M>) - C² <K, (I - Ω) M (I - Ω)'> / 2`` over Ω >= 0 with rows that sum to 1, by SLSQP."""
    n = len(K)
    identity = np.eye(n)

    def value(v):
        U = identity - v.reshape(n, n)
        return 0.5 * C**2 * np.sum(K * (U @ M @ U.T)) - C * np.sum(U * M)

    def slope(v):
        U = identity - v.reshape(n, n)
        return (C * M - C**2 * K @ U @ M).ravel()

    rows = np.kron(identity, np.ones(n))
    constraint = {"type": "eq", "fun": lambda v: rows @ v - 1.0, "jac": lambda v: rows}
    start = np.full(n * n, 1.0 / n)
    options = {"maxiter": 1000, "ftol": 1e-12}
    bounds = [(0.0, 1.0)] * (n * n)
    return -minimize(
        value, start, jac=slope, method="SLSQP", bounds=bounds, constraints=[constraint], options=options
    ).fun


def multi_class_relaxation(K, C, low, high):
    """Value of the relaxation with the matrix inequality as published: M ⊗ K with a border, of order n² + 1."""
    import cvxpy as cp

    n = len(K)
    M, V = cp.Variable((n, n), PSD=True), cp.Variable((n, n), nonneg=True)
    alpha, height = cp.Variable((n, 1)), cp.Variable((1, 1))
    # the multipliers of U <= I and U e = 0, with U for I - Ω
    side = cp.reshape(C * M - V + alpha @ np.ones((1, n)), (n * n, 1), order="F")
    inequality = cp.bmat([[C**2 * cp.kron(M, K), side], [side.T, 2 * height]]) >> 0
    sizes = cp.sum(M, axis=1)
    constraints = [inequality, M >= 0, cp.diag(M) == 1, sizes >= low, sizes <= high]
    problem = cp.Problem(cp.Minimize(cp.trace(V) + cp.sum(height)), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver="CLARABEL")
    assert problem.status.startswith("optimal"), problem.status  # M ⊗ K is singular where M is: seven digits are rare
    return problem.value


def machines(X, negative, positive, **settings):
    """Machines ``[i][j]`` of positive part i and negative part j; both are lists of arrays of rows of X."""
    return [
        [SVC(**settings).fit(X[np.concatenate([b, a])], np.repeat([0, 1], [len(b), len(a)])) for b in negative]
        for a in positive
    ]


def table(machines, Y):
    """Values (n, positive parts, negative parts)."""
    return np.stack([np.stack([m.decision_function(Y) for m in row], axis=1) for row in machines], axis=1)


def min_max(S):
    """Minimum over negative parts, then maximum over positive ones."""
    return S.min(axis=2).max(axis=1)


def staircase(S):
    """From the first machine: right where positive, else down; whether the columns ran out, and the steps."""
    answers, steps = [], []
    for values in S:
        i = j = count = 0
        while i < S.shape[1] and j < S.shape[2]:
            count += 1
            if values[i, j] > 0:
                j += 1
            else:
                i += 1
        answers.append(j == S.shape[2])
        steps.append(count)
    return np.array(answers), np.array(steps)


def parts_of(model, y):
    """Rows of each part of each class of a fitted model."""
    return [
        [np.flatnonzero((y == name) & (model.parts_ == part)) for part in range(count)]
        for name, count in zip(model.classes_, model.n_parts_, strict=True)
    ]
