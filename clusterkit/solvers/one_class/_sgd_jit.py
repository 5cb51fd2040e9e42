"""The steps of stochastic gradient descent for the hyperplane of `lmsvc`, on inner products of the samples drawn."""

from __future__ import annotations

from typing import Any

from clusterkit._jit import njit

__all__ = ["HARMONIC", "LENGTH2", "N_SHORT_STEPS", "STATE_SIZE", "STEPS", "STEP_LENGTH2", "sgd_steps"]

STEPS, LENGTH2, HARMONIC, N_SHORT_STEPS, STEP_LENGTH2 = range(5)
"""Entries of the state: number t of steps, ``Σ c_i c_j K_ij``, ``Σ_{s<=t} 1/s``, number of steps in a row that were no
longer than the tolerance, squared length of the last step."""

STATE_SIZE = 5
"""Number of entries of the state."""


@njit
def sgd_steps(
    drawn: Any, K: Any, products: Any, counts: Any, delays: Any, state: Any, C: Any, step_tol: Any, t_min: Any,
    n_short: Any,
) -> Any:  # fmt: skip
    """Take the steps ``drawn``, changing the arrays in place, until the stop criterion holds; returns whether it does.

    Parameters
    ----------
    drawn : ndarray of int64, shape (T,)
        Samples of the steps, as rows of K.
    K : ndarray of shape (u, u)
        Inner products between the samples that occur.
    products : ndarray of shape (u,)
        ``h_j = Σ_i c_i K_ij`` over all samples counted so far.
    counts : ndarray of int64, shape (u,)
        ``c_i``: number of steps at which sample i was drawn and violated its margin.
    delays : ndarray of shape (u,)
        Sum over those steps τ of ``Σ_{s<τ} 1/s``: the part that the mean over all iterates lacks.
    state : ndarray of shape (STATE_SIZE,)
    C, step_tol : float
    t_min, n_short : int
        The criterion: at least t_min steps, and the last `n_short` of them no longer than `step_tol`. It never holds if
        `n_short` is 0.

    Notes
    -----
    The iterate before step t is ``w_t = C/(t-1) Σ c_i φ(x_i)``; counts are exact, so no rounding errors add up. O(1) a
    step, and O(u) where the sample violates its margin.
    """
    for k in range(len(drawn)):
        j = drawn[k]
        state[STEPS] += 1.0
        t = state[STEPS]
        scale = C / (t - 1.0) if t > 1.0 else 0.0
        score, square = scale * products[j], K[j, j]
        step2 = scale * scale * state[LENGTH2]
        if score < 1.0:
            step2 += C * (C * square - 2.0 * score)
            state[LENGTH2] += 2.0 * products[j] + square
            counts[j] += 1
            delays[j] += state[HARMONIC]
            row = K[j]
            for i in range(len(products)):
                products[i] += row[i]
        step2 = max(step2, 0.0) / (t * t)
        state[STEP_LENGTH2] = step2
        state[HARMONIC] += 1.0 / t
        state[N_SHORT_STEPS] = state[N_SHORT_STEPS] + 1.0 if step2 <= step_tol * step_tol else 0.0
        if n_short > 0 and t >= t_min and state[N_SHORT_STEPS] >= n_short:
            return True
    return False
