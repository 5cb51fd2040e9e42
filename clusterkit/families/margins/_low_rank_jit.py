"""One sweep of low-rank coordinate descent for ``min <S, VV'>`` over rows ``|v_i| >= 1``."""

from __future__ import annotations

from typing import Any

from clusterkit._jit import njit

__all__ = ["sweep"]


@njit(fastmath=True)
def sweep(S: Any, V: Any, c: Any, price: Any, relaxation: Any) -> Any:
    """Move every row of V once, in place; no move increases ``Σ_ij S_ij v_i'v_j + price Σ_i max(0, 1 - |v_i|²)``.

    Parameters
    ----------
    S : ndarray of shape (n, n)
        Symmetric, positive diagonal.
    V : ndarray of shape (n, r)
    c : ndarray of shape (r,)
        Work space.
    price : float
        Cost of a missing unit of squared length; inf forbids rows shorter than 1.
    relaxation : float
        From 1 (the exact minimum over a row) to below 2 (beyond it, as in successive over-relaxation).

    Notes
    -----
    With ``c = Σ_{j≠i} S_ij v_j`` row i minimises ``S_ii t² - 2 |c| t + price max(0, 1 - t²)`` at ``v_i = -t c/|c|``.
    Going beyond the minimum and back to the unit sphere rotates v_i towards -c by a larger angle, less than twice the
    angle of the minimum, so the value still falls; outside the sphere it is a quadratic in v_i.

    O(n² r). Fast arithmetic only changes the order of sums: no number here may be infinite or NaN except `price`, which
    is compared and never summed.
    """
    n, r = V.shape
    for i in range(n):
        for m in range(r):
            c[m] = 0.0
        for j in range(n):
            s = S[i, j]
            for m in range(r):
                c[m] += s * V[j, m]
        diagonal = S[i, i]
        square = 0.0
        for m in range(r):
            c[m] -= diagonal * V[i, m]
            square += c[m] * c[m]
        length = square**0.5
        if length == 0.0:
            continue
        t = length / diagonal
        if t < 1.0:
            t = 1.0
            # with a finite price it may be cheaper to fall short of the margin
            if diagonal > price and length < diagonal - price:
                t = length / (diagonal - price)
        square = 0.0
        for m in range(r):
            c[m] *= -t / length
        if t >= 1.0:
            for m in range(r):
                step = V[i, m] + relaxation * (c[m] - V[i, m])
                square += step * step
            beyond = square**0.5
            # only from rows on or outside the sphere, and never to the inside of it
            before = 0.0
            for m in range(r):
                before += V[i, m] * V[i, m]
            if before >= 1.0 - 1e-9 and beyond > 0.0 and (t == 1.0 or beyond >= 1.0):
                factor = 1.0 / beyond if t == 1.0 else 1.0
                for m in range(r):
                    c[m] = (V[i, m] + relaxation * (c[m] - V[i, m])) * factor
        for m in range(r):
            V[i, m] = c[m]
    return n
