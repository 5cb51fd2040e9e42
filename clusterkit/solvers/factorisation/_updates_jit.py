"""Compiled inner loops of nonnegative factorisations: thin products and the updates of the rows of a factor.

BLAS packs the long matrix anew for each thin product, which costs as much as the product; here a tile of its rows is
read once for both products of an iteration.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit._jit import njit

__all__ = ["MULTIPLICATIVE", "advance", "gram", "products", "turn"]

MULTIPLICATIVE = 0
"""The rule of Lee and Seung; any other value means coordinate descent (HALS)."""

TILE = 32
LANES = 8  # rows updated in step: constant, so that they become vectors
SUMS = {"reassoc", "contract", "nsz"}  # sums may be reordered, infinities stay what they are
DEAD = 1e-32  # squared length of a column, relative to all, below which coordinate descent leaves it alone


@njit(fastmath=SUMS)
def products(H: Any, Wt: Any, N: Any) -> None:
    """``N = H W`` for Wt = W', (b, L) and (q, L) to (b, q): four rows and two columns at a time stay in registers."""
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
    """``Pt += A' H``, (q, L)."""
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
    """``G = A'A``, (q, q), in the type of G."""
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
def _multiply(row: Any, N: Any, G: Any, delta: Any, most: Any, D: Any) -> None:
    """Multiplicative updates of LANES rows, (q, LANES) each, in step."""
    q = len(G)
    old = row.copy()
    for _ in range(most):
        old[:] = row
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
    row: Any, work: Any, G: Any, most: Any, enough2: Any, least: Any, step: Any, change: Any, allowed: Any, going: Any
) -> None:
    """Passes of coordinate descent over LANES rows in step; `work` holds their N and becomes their slopes."""
    q = len(G)
    for b in range(q):
        for c in range(q):
            g = G[b, c]
            for r in range(LANES):
                work[c, r] -= g * row[b, r]
    for r in range(LANES):
        going[r] = 1.0
    for sweep in range(most):
        for r in range(LANES):
            change[r] = 0.0
        for b in range(q):
            if G[b, b] <= least:
                continue
            inverse = 1.0 / G[b, b]
            for r in range(LANES):
                # a row that has ended stays, so that it does not depend on those beside it
                step[r] = max(work[b, r] * inverse, -row[b, r]) * going[r]
                row[b, r] += step[r]
                change[r] += step[r] * step[r]
            for c in range(q):
                g = G[b, c]
                for r in range(LANES):
                    work[c, r] -= g * step[r]
        any_left = False
        for r in range(LANES):
            if sweep == 0:
                allowed[r] = enough2 * change[r]
            if change[r] <= allowed[r]:
                going[r] = 0.0
            else:
                any_left = True
        if not any_left:
            return


@njit(fastmath=SUMS)
def advance(rule: Any, A: Any, N: Any, G: Any, delta: Any, most: Any, enough: Any) -> Any:
    """Move the rows a of A towards the minimum of ``a G a' / 2 - a N'`` over a >= 0, in place.

    Parameters
    ----------
    rule : int
        MULTIPLICATIVE: one update ``a (N + δ) / (a G + δ)``, most times. Otherwise passes over the coordinates, each
        put to its minimum, until one pass moves the row by less than `enough` times the first, or `most` passes.
    A : ndarray of shape (b, q)
    N : ndarray of shape (b, q)
    G : ndarray of shape (q, q), float64
        Symmetric, positive semidefinite.
    delta, enough : float
    most : int

    Returns
    -------
    float
        Sum of the squared changes.

    Notes
    -----
    O(b q²) an update; float64 inside, whatever the type of A.
    """
    n, q = A.shape
    row, work, before = np.empty((q, LANES)), np.empty((q, LANES)), np.empty((q, LANES))
    step, change, allowed = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    going = np.empty(LANES)
    least = 0.0
    for c in range(q):
        least += DEAD * G[c, c]
    moved = 0.0
    for i in range(0, n, LANES):
        m = min(LANES, n - i)
        row[:] = 0.0
        work[:] = 0.0
        for r in range(m):
            for c in range(q):
                row[c, r] = A[i + r, c]
                work[c, r] = N[i + r, c]
        before[:] = row
        if rule == 0:
            _multiply(row, work, G, delta, most, step)
        else:
            _descend(row, work, G, most, enough * enough, least, step, change, allowed, going)
        for r in range(m):
            for c in range(q):
                A[i + r, c] = row[c, r]
                moved += (row[c, r] - before[c, r]) ** 2
    return moved


@njit
def turn(H: Any, Wt: Any, G: Any, A: Any, Pt: Any, AA: Any, rule: Any, delta: Any, most: Any, enough: Any) -> Any:
    """One iteration for some rows: update A by ``H W`` and G = W'W, then ``Pt = A'H`` and ``AA = A'A``.

    Parameters
    ----------
    H : ndarray of shape (b, L)
    Wt : ndarray of shape (q, L)
    G, AA : ndarray of shape (q, q), float64
    A : ndarray of shape (b, q)
    Pt : ndarray of shape (q, L)
        Zeros, in the type of H.

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
        products(H[start:stop], Wt, N[: stop - start])
        moved += advance(rule, A[start:stop], N[: stop - start], G, delta, most, enough)
        _add_adjoint(H[start:stop], A[start:stop], Pt)
    gram(A, AA)
    return moved
