"""The quadratic program over the cuts of a margin problem, solved by its dual: its size is the number of cuts."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.errors import ClusterkitWarning

__all__ = ["Plane", "solve_cuts"]

TRIALS = ((1e-11, 1e-13, 0.99), (1e-8, 1e-8, 0.99), (1e-11, 1e-13, 0.8))
"""Tolerance, regularisation and share of the longest step of the interior point method.

The next is tried where the gap is not good. Its usual regularisation of 1e-8 is too much where C is far above what the
margins need, and with its usual steps of 0.99 it may stall between two points.
"""

SPARE = 1e-9
"""By how much the biases may add to the slack."""

GOOD_GAP = 1e-10
"""Duality gap that is exact enough, relative to the value plus `GOOD_SHARE` of C."""

GOOD_SHARE = 1e-2

POOR_GAP = 1e-3
"""Duality gap above which the caller is warned, relative to the value."""


@final
@attrs.frozen(eq=False)
class Plane:
    """The minimiser for the present cuts.

    Parameters
    ----------
    weights : ndarray of shape (p,)
        λ >= 0 of the cuts, ``Σ λ <= C``.
    pull : ndarray of shape (q,)
        ε, how much of the mean sample is taken off the weights of each output; zeros with an intercept.
    bias : ndarray of shape (q,)
        Mean outputs, within the half width of the balance, up to a shift common to several.
    slack : float
        ξ, the largest violation of a cut.
    value : float
        ``|W|²/2 + C ξ``.
    dual : float
        A lower bound on it.
    excess : float
        By how much the balance is violated, which only happens without an intercept.
    """

    weights: Array
    pull: Array
    bias: Array
    slack: float
    value: float
    dual: float
    excess: float = 0.0


def solve_cuts(
    gram: Array, heights: Array, means: Array, C: float, half: float, centre: tuple[Array, float] | None = None
) -> Plane:
    """Minimise ``|W|²/2 + C ξ`` over W, ξ >= 0 and outputs balanced in the mean, subject to p cuts.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        Inner products of the cut vectors Z_c, made of samples minus their mean.
    heights : ndarray of shape (p,)
        m_c: the cuts read ``<Z_c, W> + means_c · bias >= m_c - ξ``.
    means : ndarray of shape (p, q)
        What a unit of bias adds to each cut.
    C : float
        Trade-off.
    half : float
        Half width of the box that holds the mean outputs, >= 0.
    centre : (ndarray of shape (p, q), float), optional
        Where the bias is not free but ``W · mean``: inner products of the cut vectors with the mean sample in each
        output, and its squared length.

    Returns
    -------
    Plane

    Warns
    -----
    ClusterkitWarning
        If the interior point method stopped far from the optimum.

    Notes
    -----
    ``max  λ·m - |W|²/2 - half Σ|δ|`` over λ >= 0, ``Σ λ <= C`` with ``W = Σ λ_c Z_c`` and ``δ = means' λ``. The
    k (k - 1) constraints ``|bias_p - bias_q| <= 2 half`` of k outputs cost ``half Σ|δ_p|`` in the dual, because the
    entries of δ sum to 0 and moving a unit from one output to another costs the same for all pairs. Without an
    intercept ``W = Σ λ_c Z_c - mean ε'`` and ``δ = means' λ + ε``. O(p³) and independent of the data.
    """
    # in units of τ the matrix has entries of at most 1, and λ has entries of order 1
    scale = float(np.abs(np.diag(gram)).max(initial=0.0))
    unit = C if scale * C <= 1.0 else 1.0 / scale
    program = _program(gram, heights, means, C, half, centre, unit)
    best, gap = None, np.inf
    for x, duals in _attempts(program):
        plane = _plane(gram, heights, means, C, half, centre, unit, x, duals)
        if best is None or plane.value - plane.dual + C * plane.excess < gap:
            best, gap = plane, plane.value - plane.dual + C * plane.excess
        if gap <= GOOD_GAP * (best.value + GOOD_SHARE * C):
            break
    assert best is not None
    if gap > POOR_GAP * (best.value + POOR_GAP * C):  # W = 0 costs up to C, which is the scale of values near 0
        warnings.warn(
            f"the program over {len(heights)} cuts was solved to a gap of {gap:.1e} at {best.value:.1e} only; "
            "scale the features, for example by featuremap 'zscore', or lower C",
            ClusterkitWarning,
            stacklevel=2,
        )
    return best


def _plane(
    gram: Array,
    heights: Array,
    means: Array,
    C: float,
    half: float,
    centre: tuple[Array, float] | None,
    unit: float,
    x: Array,
    duals: Array,
) -> Plane:
    """A feasible point from a solution as the interior point method gives it, and what it is worth."""
    p, q = means.shape
    weights = np.maximum(x[:p], 0.0) * unit
    weights *= min(1.0, C / weights.sum()) if weights.sum() > 0.0 else 1.0
    inner, square, delta = gram @ weights, float(weights @ gram @ weights), means.T @ weights
    pull, bias = np.zeros(q), np.zeros(q)
    if centre is not None:
        pull = x[p : p + q] * (unit / _length(gram, centre[1]))
        pull -= pull.mean()
        delta = delta + pull
        bias = centre[0].T @ weights - centre[1] * pull
        inner = inner - centre[0] @ pull
        square += float(centre[1] * (pull @ pull) - 2.0 * weights @ centre[0] @ pull)
    elif half > 0.0:
        above, below = duals[p + 1 : p + 1 + q], duals[p + 1 + q : p + 1 + 2 * q]
        bias = np.clip(above - below, -half, half)
        needs = heights - inner
        bias = _least_bias(needs - max(0.0, float((needs - means @ bias).max())), means, half, bias)
    square = max(0.0, square)
    slack = max(0.0, float((heights - inner - means @ bias).max()))
    dual = float(heights @ weights) - 0.5 * square - half * float(np.abs(delta).sum())
    excess = 0.0 if centre is None else max(0.0, float(np.ptp(bias)) - 2.0 * half)
    return Plane(weights, pull, bias, slack, 0.5 * square + C * slack, dual, excess)


def _least_bias(needs: Array, means: Array, half: float, rough: Array) -> Array:
    """The shortest bias within the balance with ``means · bias >= needs``; the rough one where none is found.

    Where margins leave room many biases are optimal; the interior point method gives one that depends on rounding.
    """
    import clarabel
    from scipy import sparse

    q = means.shape[1]
    needs = needs - SPARE
    if q == 1:
        slope = means[:, 0]
        bounds = needs / np.where(slope == 0.0, 1.0, slope)
        low = max(-half, float(bounds[slope > 0.0].max(initial=-np.inf)))
        high = min(half, float(bounds[slope < 0.0].min(initial=np.inf)))
        return np.array([min(max(0.0, low), high)]) if low <= high else rough
    # the box may be shifted: biases and the shift are the variables
    shifted = np.hstack([np.eye(q), -np.ones((q, 1))])
    A = np.concatenate([np.hstack([-means, np.zeros((len(needs), 1))]), shifted, -shifted])
    b = np.concatenate([-needs, np.full(2 * q, half)])
    P = np.diag([*np.ones(q), 0.0])
    cones = [clarabel.NonnegativeConeT(len(b))]
    program = sparse.csc_matrix(P), np.zeros(q + 1), sparse.csc_matrix(A), b, cones
    x, _ = _interior(program, *TRIALS[0])
    return np.asarray(x[:q]) if (A @ x - b).max() <= SPARE else rough


def _length(gram: Array, square: float) -> float:
    """The unit of the mean sample: its length, or that of the cut vectors if it is shorter, so that 0 is no trouble."""
    return float(np.sqrt(max(square, float(np.abs(np.diag(gram)).max())))) or 1.0


def _program(
    gram: Array, heights: Array, means: Array, C: float, half: float, centre: tuple[Array, float] | None, unit: float
) -> tuple[Any, ...]:
    """P, q, A, b and cones of ``min x'Px/2 + q'x, b - Ax in cones``; x is λ/τ, ε if any, bounds on |δ|."""
    import clarabel
    from scipy import sparse

    p, q = means.shape
    free = 0 if centre is None else q
    bounds = q if half > 0.0 or centre is not None else 0
    size = p + free + bounds
    P = np.zeros((size, size))
    P[:p, :p] = gram * unit
    delta = np.zeros((q, size))
    delta[:, :p] = means.T
    if centre is not None:
        length = _length(gram, centre[1])
        P[:p, p : p + q] = -centre[0] * (unit / length)
        P[p : p + q, p : p + q] = np.eye(q) * (unit * centre[1] / length**2)
        delta[:, p : p + q] = np.eye(q) / length
    linear = np.concatenate([-heights, np.zeros(free), np.full(bounds, half)])
    reach = np.zeros((bounds, size))
    reach[:, size - bounds :] = np.eye(bounds)
    rows = [-np.eye(size)[:p], np.r_[np.ones(p), np.zeros(size - p)][None]]
    limits = [np.zeros(p), np.array([C / unit])]
    if bounds:
        rows += [delta - reach, -delta - reach]
        limits += [np.zeros(2 * q)]
    cones = [clarabel.NonnegativeConeT(sum(len(part) for part in rows))]
    if centre is not None:
        rows.append(np.r_[np.zeros(p), np.ones(q), np.zeros(bounds)][None])
        limits.append(np.zeros(1))
        cones.append(clarabel.ZeroConeT(1))
    A, b = np.concatenate(rows), np.concatenate(limits)
    return sparse.csc_matrix(np.triu(P)), linear, sparse.csc_matrix(A), b, cones


def _attempts(program: tuple[Any, ...]) -> Iterator[tuple[Array, Array]]:
    """Solutions and multipliers, each asked for where those before are not exact enough."""
    for trial in TRIALS:
        rough = _interior(program, *trial)
        yield rough
        yield _polished(program, *rough)


def _interior(program: tuple[Any, ...], tolerance: float, regularization: float, step: float) -> tuple[Array, Array]:
    """Solution and multipliers; zeros, which are feasible, where it gives no numbers."""
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    settings.static_regularization_constant = regularization
    settings.max_step_fraction = step
    solution = clarabel.DefaultSolver(*program, settings).solve()
    x, z = np.asarray(solution.x), np.asarray(solution.z)
    if not (np.isfinite(x).all() and np.isfinite(z).all()):
        return np.zeros(len(program[1])), np.zeros(len(program[3]))
    return x, z


def _polished(program: tuple[Any, ...], x: Array, z: Array) -> tuple[Array, Array]:
    """The solution where exactly the constraints hold with equality whose multipliers exceed their slacks."""
    upper, q, A, b = program[0].toarray(), program[1], program[2].toarray(), program[3]
    P = upper + np.triu(upper, 1).T
    tight = z > np.maximum(b - A @ x, 0.0)
    tight[program[4][0].dim :] = True  # equations
    system = np.zeros((len(q) + np.count_nonzero(tight),) * 2)
    system[: len(q), : len(q)] = P
    system[len(q) :, : len(q)] = A[tight]
    system[: len(q), len(q) :] = A[tight].T
    try:
        solution = np.linalg.lstsq(system, np.concatenate([-q, b[tight]]), rcond=None)[0]
    except np.linalg.LinAlgError:
        return x, z
    multipliers = np.zeros(len(b))
    multipliers[tight] = solution[len(q) :]
    return solution[: len(q)], multipliers
