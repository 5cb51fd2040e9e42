"""Compiled inner loops of nonnegative factorisations: thin products and the updates of the rows of a factor.

BLAS repacks the long matrix for each thin product, which costs as much as the product. Here a tile of its rows is read
once for both products of an iteration.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._jit import njit

MULTIPLICATIVE = 0
"""Code of the multiplicative updates of Lee and Seung; any other value means coordinate descent (HALS)."""

TILE = 32
"""Rows of H that both products of an iteration read together, so that they are still in the cache."""
LANES = 8
"""Rows updated simultaneously; constant, so that the compiler turns the inner loops into vector instructions."""
SUMS = {"reassoc", "contract", "nsz"}
"""Freedoms of the compiler: sums may be reordered and fused, but infinities and nans keep their meaning."""
NEGLIGIBLE_COLUMN = 1e-32
"""Squared length of a column, relative to the sum over all columns, below which coordinate descent skips it."""


@njit(fastmath=SUMS)
def _products(H: Any, Wt: Any, N: Any) -> None:
    """``N = H W`` for Wt = W', (b, L) and (q, L) to (b, q); four rows and two columns at a time, kept in registers."""
    n, L = H.shape
    q = Wt.shape[0]
    zero = H.dtype.type(0)
    i = 0
    while i + 4 <= n:
        h0, h1, h2, h3 = H[i], H[i + 1], H[i + 2], H[i + 3]
        c = 0
        while c + 2 <= q:
            v, w = Wt[c], Wt[c + 1]
            v0, v1, v2, v3 = zero, zero, zero, zero
            w0, w1, w2, w3 = zero, zero, zero, zero
            for j in range(L):
                v0 += h0[j] * v[j]
                v1 += h1[j] * v[j]
                v2 += h2[j] * v[j]
                v3 += h3[j] * v[j]
                w0 += h0[j] * w[j]
                w1 += h1[j] * w[j]
                w2 += h2[j] * w[j]
                w3 += h3[j] * w[j]
            N[i, c], N[i + 1, c], N[i + 2, c], N[i + 3, c] = v0, v1, v2, v3
            N[i, c + 1], N[i + 1, c + 1], N[i + 2, c + 1], N[i + 3, c + 1] = w0, w1, w2, w3
            c += 2
        if c < q:
            v = Wt[c]
            v0, v1, v2, v3 = zero, zero, zero, zero
            for j in range(L):
                v0 += h0[j] * v[j]
                v1 += h1[j] * v[j]
                v2 += h2[j] * v[j]
                v3 += h3[j] * v[j]
            N[i, c], N[i + 1, c], N[i + 2, c], N[i + 3, c] = v0, v1, v2, v3
        i += 4
    while i < n:
        h0 = H[i]
        for c in range(q):
            v = Wt[c]
            v0 = zero
            for j in range(L):
                v0 += h0[j] * v[j]
            N[i, c] = v0
        i += 1


@njit(fastmath=SUMS)
def _add_adjoint(H: Any, A: Any, Pt: Any) -> None:
    """``Pt += A' H``, (q, L), for H (b, L) and A (b, q)."""
    n, L = H.shape
    q = A.shape[1]
    i = 0
    while i + 4 <= n:
        h0, h1, h2, h3 = H[i], H[i + 1], H[i + 2], H[i + 3]
        c = 0
        while c + 2 <= q:
            p, r = Pt[c], Pt[c + 1]
            a0, a1, a2, a3 = A[i, c], A[i + 1, c], A[i + 2, c], A[i + 3, c]
            b0, b1, b2, b3 = A[i, c + 1], A[i + 1, c + 1], A[i + 2, c + 1], A[i + 3, c + 1]
            for j in range(L):
                p[j] += a0 * h0[j] + a1 * h1[j] + a2 * h2[j] + a3 * h3[j]
                r[j] += b0 * h0[j] + b1 * h1[j] + b2 * h2[j] + b3 * h3[j]
            c += 2
        if c < q:
            p = Pt[c]
            a0, a1, a2, a3 = A[i, c], A[i + 1, c], A[i + 2, c], A[i + 3, c]
            for j in range(L):
                p[j] += a0 * h0[j] + a1 * h1[j] + a2 * h2[j] + a3 * h3[j]
        i += 4
    while i < n:
        h0 = H[i]
        for c in range(q):
            p = Pt[c]
            a0 = A[i, c]
            for j in range(L):
                p[j] += a0 * h0[j]
        i += 1


@njit(fastmath=SUMS)
def gram(A: Any, G: Any) -> None:
    """``G = A'A``, (q, q), in the precision of G."""
    n, q = A.shape
    row = G[0].copy()
    G[:] = 0.0
    for i in range(n):
        for c in range(q):
            row[c] = A[i, c]
        for c in range(q):
            a = row[c]
            for b in range(q):
                G[c, b] += a * row[b]


@njit(fastmath=SUMS, error_model="numpy")
def _multiply(row: Any, N: Any, G: Any, delta: Any, max_passes: Any, D: Any) -> None:
    """Multiplicative updates ``a (N + δ) / (a G + δ)`` of LANES rows at once; row and N are (q, LANES)."""
    q = len(G)
    old = row.copy()
    for _ in range(max_passes):
        for c in range(q):
            for r in range(LANES):
                old[c, r] = row[c, r]
        for c in range(q):
            for r in range(LANES):
                D[r] = delta
            for b in range(q):
                g = G[b, c]
                for r in range(LANES):
                    D[r] += g * old[b, r]
            for r in range(LANES):
                row[c, r] = old[c, r] * ((N[c, r] + delta) / D[r]) if D[r] > 0.0 else 0.0


@njit(fastmath=SUMS, error_model="numpy")
def _descend(
    row: Any,
    slope: Any,
    G: Any,
    max_passes: Any,
    squared_ratio: Any,
    least: Any,
    step: Any,
    change: Any,
    allowed: Any,
    active: Any,
) -> None:
    """Passes of coordinate descent over LANES rows at once; `slope` holds N on entry and becomes ``N - a G``."""
    q = len(G)
    for b in range(q):
        for c in range(q):
            g = G[b, c]
            for r in range(LANES):
                slope[c, r] -= g * row[b, r]
    for r in range(LANES):
        active[r] = 1.0
    for sweep in range(max_passes):
        for r in range(LANES):
            change[r] = 0.0
        for b in range(q):
            if G[b, b] <= least:
                continue
            inverse = 1.0 / G[b, b]
            for r in range(LANES):
                # a row that has converged no longer moves, so that it does not depend on the other rows
                step[r] = max(slope[b, r] * inverse, -row[b, r]) * active[r]
                row[b, r] += step[r]
                change[r] += step[r] * step[r]
            for c in range(q):
                g = G[b, c]
                for r in range(LANES):
                    slope[c, r] -= g * step[r]
        any_active = False
        for r in range(LANES):
            if sweep == 0:
                allowed[r] = squared_ratio * change[r]
            if change[r] <= allowed[r]:
                active[r] = 0.0
            else:
                any_active = True
        if not any_active:
            return


@njit(fastmath=SUMS)
def advance(code: Any, A: Any, N: Any, G: Any, delta: Any, max_passes: Any, stop_ratio: Any) -> Any:
    """Move the rows a of A towards the minimum of ``a G a' / 2 - a N'`` over a >= 0, in place.

    Parameters
    ----------
    code : int
        MULTIPLICATIVE: `max_passes` updates ``a (N + δ) / (a G + δ)``. Otherwise passes over the coordinates, each of
        which is set to its minimum, until a pass moves the row by less than `stop_ratio` times the first pass, or
        until `max_passes`.
    A : ndarray of shape (b, q)
    N : ndarray of shape (b, q)
    G : ndarray of shape (q, q), float64
        Symmetric, positive semidefinite.
    delta, stop_ratio : float
    max_passes : int

    Returns
    -------
    float
        Sum of the squared changes.

    Notes
    -----
    O(b q²) per update; computed in float64 for every type of A.
    """
    n, q = A.shape
    row, slope, before = np.empty((q, LANES)), np.empty((q, LANES)), np.empty((q, LANES))
    step, change, allowed = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    active = np.empty(LANES)
    least = 0.0
    for c in range(q):
        least += NEGLIGIBLE_COLUMN * G[c, c]
    moved = 0.0
    for i in range(0, n, LANES):
        m = min(LANES, n - i)
        row[:] = 0.0
        slope[:] = 0.0
        for r in range(m):
            for c in range(q):
                row[c, r] = A[i + r, c]
                slope[c, r] = N[i + r, c]
        for c in range(q):
            for r in range(LANES):
                before[c, r] = row[c, r]
        if code == MULTIPLICATIVE:
            _multiply(row, slope, G, delta, max_passes, step)
        else:
            _descend(row, slope, G, max_passes, stop_ratio * stop_ratio, least, step, change, allowed, active)
        for r in range(m):
            for c in range(q):
                A[i + r, c] = row[c, r]
                moved += (row[c, r] - before[c, r]) ** 2
    return moved


@njit
def update_block(
    H: Any, Wt: Any, G: Any, A: Any, Pt: Any, AA: Any, code: Any, delta: Any, max_passes: Any, stop_ratio: Any
) -> Any:
    """One iteration for some rows: update A from ``H W`` and G = W'W, then ``Pt = A'H`` and ``AA = A'A``.

    Parameters
    ----------
    H : ndarray of shape (b, L)
    Wt : ndarray of shape (q, L)
    G, AA : ndarray of shape (q, q), float64
    A : ndarray of shape (b, q)
    Pt : ndarray of shape (q, L)
        Zeros on entry, in the type of H.
    code, delta, max_passes, stop_ratio
        As in `advance`.

    Returns
    -------
    float
        Sum of the squared changes of A.
    """
    n = H.shape[0]
    N = A[: min(n, TILE)].copy()
    moved = 0.0
    for start in range(0, n, TILE):
        stop = min(n, start + TILE)
        _products(H[start:stop], Wt, N[: stop - start])
        moved += advance(code, A[start:stop], N[: stop - start], G, delta, max_passes, stop_ratio)
        _add_adjoint(H[start:stop], A[start:stop], Pt)
    gram(A, AA)
    return moved
