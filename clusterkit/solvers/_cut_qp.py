"""The quadratic program over the cuts of a margin problem, solved by its dual: its size is the number of cuts."""

from __future__ import annotations

import warnings
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.errors import ClusterkitWarning

__all__ = ["Plane", "solve_cuts"]

TRIALS = ((1e-11, 1e-13), (1e-8, 1e-8))
"""Tolerance and regularisation of the interior point method, the next where the gap is not good.

Its usual regularisation of 1e-8 is too much where C is far above what the margins need.
"""

GOOD_GAP = 1e-7
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
        δ, how much of the mean sample is taken off each output.
    bias : ndarray of shape (q,)
        Mean outputs, within the half width of the balance; zeros without an intercept.
    slack : float
        ξ, the largest violation of a cut.
    value : float
        ``|W|²/2 + C ξ``.
    dual : float
        A lower bound on it.
    """

    weights: Array
    pull: Array
    bias: Array
    slack: float
    value: float
    dual: float


def solve_cuts(
    gram: Array, heights: Array, means: Array, C: float, half: float, centre: tuple[Array, float] | None = None
) -> Plane:
    """Minimise ``|W|²/2 + C ξ`` over W, ξ >= 0 and outputs balanced in the mean, subject to p cuts.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        Inner products of the cut vectors Z_c.
    heights : ndarray of shape (p,)
        m_c: the cuts read ``<Z_c, W> + means_c · bias >= m_c - ξ``.
    means : ndarray of shape (p, q)
        What a unit of bias adds to each cut.
    C : float
        Trade-off.
    half : float
        Half width of the box that holds the mean outputs, >= 0.
    centre : (ndarray of shape (p, q), float), optional
        Where there is no bias: inner products of the cut vectors with the mean sample in each output, and its squared
        length. The mean outputs are then ``W · mean``, in the box up to a common shift.

    Returns
    -------
    Plane

    Warns
    -----
    ClusterkitWarning
        If the interior point method stopped far from the optimum.

    Notes
    -----
    ``max  λ·m - λ'Gλ/2 - half Σ|δ|`` over λ >= 0, ``Σ λ <= C`` with ``δ = means' λ``. The k (k - 1) constraints
    ``|mean_p - mean_q| <= 2 half`` of k outputs cost ``half Σ|δ_p|`` in the dual, because the entries of δ sum to 0
    and moving a unit from one output to another costs the same for all pairs. O(p³) and independent of the data.
    """
    # in units of τ the matrix has entries of at most 1, and λ has entries of order 1
    scale = float(max(np.abs(np.diag(gram)).max(initial=0.0), 0.0 if centre is None else centre[1]))
    unit = C if scale * C <= 1.0 else 1.0 / scale
    program = _program(gram, heights, means, C / unit, half, centre, unit)
    best: Plane | None = None
    for trial in TRIALS:
        x, duals = _interior(program, *trial)
        plane = _plane(gram, heights, means, C, half, centre, x * unit, duals)
        if best is None or plane.value - plane.dual < best.value - best.dual:
            best = plane
        if best.value - best.dual <= GOOD_GAP * (best.value + GOOD_GAP * C):
            break
    assert best is not None
    gap = best.value - best.dual
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
    x: Array,
    duals: Array,
) -> Plane:
    """A feasible point from a solution as the interior point method gives it, and what it is worth."""
    p, q = means.shape
    weights = np.maximum(x[:p], 0.0)
    weights *= min(1.0, C / weights.sum()) if weights.sum() > 0.0 else 1.0
    if centre is None:
        pull = means.T @ weights
        inner, square, bias = gram @ weights, weights @ gram @ weights, np.zeros(q)
        if half > 0.0:
            above, below = duals[p + 1 : p + 1 + q], duals[p + 1 + q : p + 1 + 2 * q]
            bias = np.clip(above - below, -half, half)
    else:
        pull, bias = x[p : p + q], np.zeros(q)
        inner = gram @ weights - centre[0] @ pull
        square = weights @ gram @ weights - 2.0 * weights @ centre[0] @ pull + centre[1] * (pull @ pull)
    norm = max(0.0, float(square))
    slack = max(0.0, float((heights - inner - means @ bias).max()))
    dual = float(heights @ weights) - 0.5 * norm - half * float(np.abs(pull).sum())
    return Plane(weights, pull, bias, slack, 0.5 * norm + C * slack, dual)


def _program(
    gram: Array, heights: Array, means: Array, most: float, half: float, centre: tuple[Array, float] | None, unit: float
) -> tuple[Any, ...]:
    """P, q, A, b and cones of ``min x'Px/2 + q'x, b - Ax in cones``; x is λ, δ without an intercept, bounds on |δ|."""
    import clarabel
    from scipy import sparse

    p, q = means.shape
    free = 0 if centre is None else q
    bounds = q if half > 0.0 or centre is not None else 0
    size = p + free + bounds
    P = np.zeros((size, size))
    P[:p, :p] = gram * unit
    if centre is not None:
        P[:p, p : p + q] = -unit * centre[0]
        P[p : p + q, p : p + q] = unit * centre[1] * np.eye(q)
    linear = np.concatenate([-heights, np.zeros(free), np.full(bounds, half)])
    delta = np.zeros((q, size))
    if centre is None:
        delta[:, :p] = means.T
    else:
        delta[:, p : p + q] = np.eye(q)
    reach = np.zeros((bounds, size))
    reach[:, size - bounds :] = np.eye(bounds)
    rows = [-np.eye(size)[:p], np.r_[np.ones(p), np.zeros(size - p)][None]]
    limits = [np.zeros(p), np.array([most])]
    if bounds:
        rows += [delta - reach, -delta - reach]
        limits += [np.zeros(2 * q)]
    cones = [clarabel.NonnegativeConeT(sum(len(part) for part in rows))]
    if centre is not None:
        rows.append(np.r_[np.zeros(p), np.ones(q), np.zeros(bounds)][None])
        limits.append(np.zeros(1))
        cones.append(clarabel.ZeroConeT(1))
    return (
        sparse.csc_matrix(np.triu(P)),
        linear,
        sparse.csc_matrix(np.concatenate(rows)),
        np.concatenate(limits),
        cones,
    )


def _interior(program: tuple[Any, ...], tolerance: float, regularization: float) -> tuple[Array, Array]:
    """Solution and multipliers; zeros, which are feasible, where it gives no numbers."""
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    settings.static_regularization_constant = regularization
    solution = clarabel.DefaultSolver(*program, settings).solve()
    x, z = np.asarray(solution.x), np.asarray(solution.z)
    if not (np.isfinite(x).all() and np.isfinite(z).all()):
        return np.zeros(len(program[1])), np.zeros(len(program[3]))
    return x, z
