"""An interior-point method for the relaxation of maximum margin clustering, by matrices of about the order n.

With K = RR', R of r columns, the relaxation of `clusterkit_sdp._margin` and its dual are the pair

    minimise tr V + C e'β  over  X = [[M, N], [N', V]] ⪰ 0  with  M_ii = 1,  a = l - Me,  b = l + Me,
        β - α = 2 (e + diag(NR')),  all of a, b, α, β >= 0;
    maximise 2 e'λ - e'y - l e'(p + q)  subject to  Z = [[Y, ΛR], [R'Λ, I]] ⪰ 0,  p, q >= 0,  0 <= λ <= C,
        where Y = Diag(y) + (te' + et') / 2  and  t = p - q,

since Z ⪰ 0 says that W = Y - K∘λλ' ⪰ 0. Both have interior points that are known, and steps keep to them, so the
difference of the objectives bounds the error at any time. A step is that of Helmberg, Rendl, Vanderbei and Wolkowicz
with the predictor and corrector of Mehrotra. All it needs of Z is the inverse of W, and its equations, in y, t and λ,
have a matrix of order 3n that is made of entrywise products of n x n matrices: O(n³) a step, some 25 steps. Where l is
0 there is no t, and M and W live on the complement of e; from n on the balance has no effect.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import final

import attrs
import numpy as np

from clusterkit.samples.limits import Report, notify
from clusterkit_sdp._cvx import ConicRun, Solution
from clusterkit_sdp._margin import certified_bound
from clusterkit_sdp._moments import complement, symmetric

__all__ = ["interior_point"]

MAX_ITER = 200
"""Most steps if `max_iter` is None; 15 to 40 are usual."""

BACK = 0.8
"""Factor by which a step is shortened until the matrices are positive definite."""

SHORT, CENTRE = 0.3, 0.8
"""Where a step of the predictor is shorter than the first, the second is the share of the gap that is aimed at."""

INSIDE = 0.95
"""Share of the longest step that is taken."""

RIDGE = 1e-13
"""What is added to the scaled equations for Cholesky's factor; solutions are refined for it."""


@final
@attrs.frozen(eq=False)
class _Point:
    """A point of both programs, in their interior; or a step from one.

    Parameters
    ----------
    X : ndarray of shape (n + r, n + r)
    slacks : ndarray of shape (2 n,) or (4 n,)
        α, β and, where there is a balance, a, b.
    y, lam : ndarray of shape (n,)
    p, q : ndarray of shape (n,) or (0,)
    """

    X: np.ndarray
    slacks: np.ndarray
    y: np.ndarray
    lam: np.ndarray
    p: np.ndarray
    q: np.ndarray

    @property
    def M(self) -> np.ndarray:
        """The moment matrix of the labels, (n, n)."""
        return self.X[: len(self.y), : len(self.y)]

    @property
    def tilt(self) -> np.ndarray | None:
        """The multipliers t of the balance, (n,); None where there are none."""
        return self.p - self.q if len(self.p) else None

    def moved(self, step: _Point, primal: float, dual: float) -> _Point:
        """The point after a step of these lengths."""
        return _Point(
            self.X + primal * step.X,
            self.slacks + primal * step.slacks,
            *(getattr(self, name) + dual * getattr(step, name) for name in ("y", "lam", "p", "q")),
        )


@final
@attrs.frozen(eq=False)
class _Pair:
    """The two programs: R (n, r) with K = RR', C, l, and the basis of the complement of e where l is 0."""

    R: np.ndarray
    K: np.ndarray
    C: float
    slack: float
    basis: np.ndarray | None

    @property
    def tilted(self) -> bool:
        """Whether the balance has multipliers."""
        return 0.0 < self.slack < len(self.K)

    def start(self) -> _Point:
        """A point in the interior of both."""
        n, r = self.R.shape
        X = np.eye(n + r)
        even = 0.0 if self.slack >= n else 1.0 - min(1.0, self.slack / 2.0)
        X[:n, :n] += even * (np.eye(n) - 1.0) / max(n - 1, 1)  # its row sums are 1 - even, below l
        lam = np.full(n, min(self.C / 2.0, 1.0 / np.sqrt(max(np.abs(self.K).sum(axis=1).max(), 1e-12))))
        rows = np.abs(self.K * np.outer(lam, lam)).sum(axis=1)
        y = rows + max(float(rows.mean()), 1.0)
        mu = float(y.mean())
        alpha = mu / lam
        slacks, p = [alpha, 2.0 + alpha], np.zeros(0)
        if self.tilted:
            sums = X[:n, :n].sum(axis=1)
            slacks, p = [*slacks, self.slack - sums, self.slack + sums], np.full(n, mu / self.slack)
        return _Point(X, np.concatenate(slacks), y, lam, p, p)

    def objectives(self, point: _Point) -> tuple[float, float]:
        """Those of the program and of its dual."""
        n = len(self.K)
        primal = float(np.trace(point.X[n:, n:])) + self.C * float(point.slacks[n : 2 * n].sum())
        dual = 2.0 * float(point.lam.sum()) - float(point.y.sum()) - self.slack * float((point.p + point.q).sum())
        return primal, dual

    def multipliers(self, point: _Point) -> np.ndarray:
        """λ, C - λ, p and q: what the slacks are complementary to."""
        return np.concatenate([point.lam, self.C - point.lam, point.p, point.q])

    def root(self, point: _Point) -> np.ndarray | None:
        """Cholesky's factor of W, on the complement of e where l is 0; None if W is not positive definite."""
        W = np.diag(point.y) - self.K * np.outer(point.lam, point.lam)
        if point.tilt is not None:
            W += 0.5 * (point.tilt[:, None] + point.tilt[None, :])
        return _root(W if self.basis is None else self.basis.T @ W @ self.basis)

    def inside(self, point: _Point) -> bool:
        """Whether X is positive definite, on the complement of e where l is 0."""
        if self.basis is None:
            return _root(point.X) is not None
        n, Q = len(self.K), self.basis
        beside = Q.T @ point.X[:n, n:]
        return _root(np.block([[Q.T @ point.M @ Q, beside], [beside.T, point.X[n:, n:]]])) is not None

    def lengths(self, point: _Point, step: _Point) -> tuple[float, float]:
        """How far a step may go in the program and in its dual, at most 1."""
        change = np.concatenate([step.lam, -step.lam, step.p, step.q])
        return (
            _longest(point.slacks, step.slacks, lambda s: self.inside(point.moved(step, s, 0.0))),
            _longest(self.multipliers(point), change, lambda s: self.root(point.moved(step, 0.0, s)) is not None),
        )


def interior_point(
    R: np.ndarray, C: float, balance_slack: float, tol: float, max_iter: int | None, stage: str
) -> tuple[ConicRun, Solution]:
    """Solve the relaxation.

    Parameters
    ----------
    R : ndarray of shape (n, r)
        Factor of the kernel matrix.
    C : float
    balance_slack : float
        l.
    tol : float
        The largest difference of the two objectives, as a share of the optimum or of 1.
    max_iter : int or None
        Most steps; None means 200.
    stage : str
        Name of the solver stage, for progress.

    Returns
    -------
    run : ConicRun
        Its status is "optimal", "user_limit", or "optimal_inaccurate" where rounding left no step.
    solution : Solution
        A feasible point, whose `value` bounds its objective from above.
    """
    begin = time.perf_counter()
    pair = _Pair(R, R @ R.T, C, balance_slack, complement(len(R)) if balance_slack <= 0 else None)
    point, step, most = pair.start(), 0, max_iter or MAX_ITER
    while True:
        notify(Report(stage, step, None))
        primal, dual = pair.objectives(point)
        status = "optimal" if primal - dual <= tol * max(1.0, abs(dual)) else "user_limit"
        if status == "optimal" or step == most:
            break
        after = _after(pair, point, primal - dual)
        if after is None:
            status = "optimal_inaccurate"
            break
        point, step = after, step + 1
    run = ConicRun("IPM", status, step, time.perf_counter() - begin)
    excess = max(0.0, float(np.abs(point.M.sum(axis=1)).max()) - balance_slack)
    residual = max(float(np.abs(np.diag(point.M) - 1.0).max()), excess)
    lower = certified_bound(pair.K, C, balance_slack, point.lam, point.y, point.tilt)
    smallest = float(np.linalg.eigvalsh(point.M)[0])
    return run, Solution(point.M, pair.objectives(point)[0], lower, smallest, {"residual": residual})


def _after(pair: _Pair, point: _Point, gap: float) -> _Point | None:
    """The point after a step; None where rounding leaves no step."""
    root = pair.root(point)
    if root is None:
        return None
    try:
        equations = _Equations.at(pair, point, root)
    except np.linalg.LinAlgError:
        return None
    count = len(root) + pair.R.shape[1] + len(point.slacks)
    predictor = equations.step(0.0, None)
    lengths = pair.lengths(point, predictor)
    primal, dual = pair.objectives(point.moved(predictor, *lengths))
    share = CENTRE if min(lengths) < SHORT else min(1.0, max(1e-3, ((primal - dual) / gap) ** 2))
    step = equations.step(share * gap / count, predictor)
    primal, dual = pair.lengths(point, step)
    return point.moved(step, INSIDE * primal, INSIDE * dual)


@final
@attrs.frozen(eq=False)
class _Equations:
    """The equations of a step at a point: S, the inverse of Z, and Cholesky's factor of their scaled matrix."""

    pair: _Pair
    point: _Point
    S: np.ndarray
    matrix: np.ndarray
    factor: tuple[np.ndarray, bool]
    scale: np.ndarray
    weights: np.ndarray

    @classmethod
    def at(cls, pair: _Pair, point: _Point, root: np.ndarray) -> _Equations:
        """The equations, with tr(A_i X A_j S) of the matrices A_i that y, t and λ have in Z."""
        from scipy.linalg import cho_factor, solve_triangular

        n, r = pair.R.shape
        X, lam, K, R = point.X, point.lam, pair.K, pair.R
        inverse = solve_triangular(root, np.eye(len(root)), lower=True)
        inverse = inverse if pair.basis is None else inverse @ pair.basis.T
        G = inverse.T @ inverse
        beside = -(G * lam) @ R
        S = np.block([[G, beside], [beside.T, np.eye(r) - (R.T * lam) @ beside]])
        M, X1, S1 = X[:n, :n], X[:n, n:] @ R.T, beside @ R.T
        X2, S2 = R @ X[n:, n:] @ R.T, K - (K * lam) @ S1
        ratios = point.slacks / pair.multipliers(point)  # α / λ, β / (C - λ), a / p, b / q
        yy, yl = M * G, M * S1 + X1 * G
        ll = X1.T * S1 + X1 * S1.T + X2 * G + M * S2 + np.diag(ratios[:n] + ratios[n : 2 * n])
        weights = np.zeros(0)
        if pair.tilted:
            g, m = G.sum(axis=1), M.sum(axis=1)
            weights = 1.0 / ratios[2 * n : 3 * n] + 1.0 / ratios[3 * n :]
            yt = 0.5 * (g[:, None] * M + m[:, None] * G)
            tt = 0.25 * (np.outer(g, m) + np.outer(m, g) + m.sum() * G + g.sum() * M) + np.diag(1.0 / weights)
            tl = 0.5 * (G * X1.sum(axis=0) + S1 * m + M * S1.sum(axis=0) + X1 * g)
            matrix = np.block([[yy, yt, yl], [yt.T, tt, tl], [yl.T, tl.T, ll]])
        else:
            matrix = np.block([[yy, yl], [yl.T, ll]])
        scale = 1.0 / np.sqrt(np.diag(matrix))
        matrix *= scale[:, None] * scale
        above = matrix + RIDGE * np.eye(len(matrix))
        return cls(pair, point, S, matrix, cho_factor(above, lower=True, overwrite_a=True), scale, weights)

    def step(self, mu: float, predictor: _Point | None) -> _Point:
        """The step to where all products with their complements are `mu`; a predictor makes it of second order."""
        pair, point, S = self.pair, self.point, self.S
        n, multipliers = len(pair.K), pair.multipliers(point)
        aim, products = mu * S, np.zeros(len(point.slacks))
        if predictor is not None:
            aim = aim - symmetric(predictor.X @ self.of_dual(predictor) @ S)
            change = np.concatenate([predictor.lam, -predictor.lam, predictor.p, predictor.q])
            products = predictor.slacks * change
        slacks = (mu - products) / multipliers
        right = [np.diag(aim)[:n] - 1.0]
        if pair.tilted:
            sums, over, under = aim[:n, :n].sum(axis=1), slice(2 * n, 3 * n), slice(3 * n, 4 * n)
            upper = (slacks[over] - pair.slack + sums) * multipliers[over] / point.slacks[over]
            lower = (slacks[under] - pair.slack - sums) * multipliers[under] / point.slacks[under]
            right.append((upper - lower) / self.weights)
        right.append(2.0 * np.einsum("ij,ij->i", aim[:n, n:], pair.R) + 2.0 + slacks[:n] - slacks[n : 2 * n])
        solution = self.solve(np.concatenate(right))
        p = q = np.zeros(0)
        if pair.tilted:
            tilt, ratio = solution[n : 2 * n], multipliers / point.slacks
            moment = right[1] - tilt / self.weights
            p, q = upper - moment * ratio[over], lower + moment * ratio[under]
            active = ratio[over] > ratio[under]  # their difference has to be the tilt without cancellation
            p, q = np.where(active, q + tilt, p), np.where(active, q, p - tilt)
        step = _Point(aim, slacks, solution[:n], solution[-n:], p, q)
        change = np.concatenate([step.lam, -step.lam, p, q])
        X = aim - point.X - symmetric(point.X @ self.of_dual(step) @ S)
        return attrs.evolve(step, X=X, slacks=slacks - point.slacks - point.slacks / multipliers * change)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """The solution, refined once."""
        from scipy.linalg import cho_solve

        right = self.scale * right
        solution = cho_solve(self.factor, right)
        return self.scale * (solution + cho_solve(self.factor, right - self.matrix @ solution))

    def of_dual(self, step: _Point) -> np.ndarray:
        """The change of Z in a step."""
        n, R = len(self.pair.K), self.pair.R
        change = np.zeros_like(self.S)
        if step.tilt is not None:
            change[:n, :n] = 0.5 * (step.tilt[:, None] + step.tilt[None, :])
        change[np.arange(n), np.arange(n)] += step.y
        change[:n, n:] = step.lam[:, None] * R
        change[n:, :n] = change[:n, n:].T
        return change


def _root(A: np.ndarray) -> np.ndarray | None:
    """Cholesky's lower factor; None if A is not positive definite."""
    try:
        return np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        return None


def _longest(values: np.ndarray, change: np.ndarray, inside: Callable[[float], bool]) -> float:
    """The longest step, at most 1, after which the values are not negative and `inside` holds."""
    falling = change < 0
    length = min(1.0, float((values[falling] / -change[falling]).min(initial=1.0)))
    while not inside(length) and length > 1e-12:
        length *= BACK
    return length
