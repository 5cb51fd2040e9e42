"""The steps of stochastic gradient descent with integer counts, on the kernel values of one stretch of samples."""

from __future__ import annotations

from typing import Any

from clusterkit._jit import njit

__all__ = ["CALM", "HARMONIC", "LAST", "LENGTH2", "STATE", "STEPS", "descend"]

STEPS, LENGTH2, HARMONIC, CALM, LAST = range(5)
"""Places in the state: steps t, ``Σ c_i c_j K_ij``, ``Σ_{s<=t} 1/s``, steps in a row below theta, last squared step."""
STATE = 5


@njit
def descend(
    drawn: Any, K: Any, products: Any, counts: Any, delays: Any, state: Any, C: Any, theta: Any, t_min: Any, calm: Any
) -> Any:
    """Take the steps ``drawn`` in place until the stop criterion holds: whether it does.

    Parameters
    ----------
    drawn : ndarray of int64, shape (T,)
        Samples of the steps, as rows of K.
    K : ndarray of shape (u, u)
        Kernel values between the samples that occur.
    products : ndarray of shape (u,)
        ``h_j = Σ_i c_i K_ij`` over all samples counted so far, kept up to date.
    counts : ndarray of int64, shape (u,)
        ``c_i``: steps at which the sample was drawn inside its margin.
    delays : ndarray of shape (u,)
        Sum over those steps τ of ``Σ_{s<τ} 1/s``: what the average over all iterates lacks.
    state : ndarray of shape (STATE,)
    C, theta : float
    t_min, calm : int
        No stop before t_min steps, nor before so many steps in a row are no longer than theta; calm = 0: never.

    Notes
    -----
    The iterate before step t is ``w_t = C/(t-1) Σ c_i φ(x_i)``; counts are exact, so nothing drifts. O(1) a step,
    and O(u) where the sample violates its margin.
    """
    for k in range(len(drawn)):
        j = drawn[k]
        state[STEPS] += 1.0
        t = state[STEPS]
        scale = C / (t - 1.0) if t > 1.0 else 0.0
        score, own = scale * products[j], K[j, j]
        step2 = scale * scale * state[LENGTH2]
        if score < 1.0:
            step2 += C * (C * own - 2.0 * score)
            state[LENGTH2] += 2.0 * products[j] + own
            counts[j] += 1
            delays[j] += state[HARMONIC]
            row = K[j]
            for i in range(len(products)):
                products[i] += row[i]
        step2 = max(step2, 0.0) / (t * t)
        state[LAST] = step2
        state[HARMONIC] += 1.0 / t
        state[CALM] = state[CALM] + 1.0 if step2 <= theta * theta else 0.0
        if calm > 0 and t >= t_min and state[CALM] >= calm:
            return True
    return False
