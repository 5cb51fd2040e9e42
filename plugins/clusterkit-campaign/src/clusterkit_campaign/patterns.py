"""Awkward patterns of ordinary numbers: ties, duplicates, constants, degenerate shapes, unusual geometry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from clusterkit._typing import Array, Rng

__all__ = ["PATTERNS", "Pattern", "blobs"]

Pattern: TypeAlias = Callable[[Rng], Array]
"""From a random generator to values, shape (n, d)."""


def blobs(rng: Rng, n: int = 36, d: int = 2, k: int = 3, spread: float = 0.3) -> Array:
    """Groups of nearly equal sizes around the points (8j, 0, ...) and (0, 8j, ...) of a cross, rows in random order."""
    centres = np.zeros((k, d))
    for j in range(k):
        centres[j, j % d] = 8.0 * (1 + j // d) * (-1) ** j
    return centres[rng.permutation(n) % k] + spread * rng.standard_normal((n, d))


def _grid(rng: Rng) -> Array:
    rows = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
    return rows[rng.permutation(36)]


def _sparse(rng: Rng, n: int = 30, d: int = 20, share: float = 0.1) -> Array:
    X = rng.random((n, d)) * (rng.random((n, d)) < share)
    X[np.arange(n), rng.integers(d, size=n)] += 0.5
    return X


def _circle(rng: Rng) -> Array:
    angles = np.linspace(0.0, 2.0 * np.pi, 32, endpoint=False)
    return np.column_stack([np.cos(angles), np.sin(angles)])[rng.permutation(32)]


def _rings(rng: Rng) -> Array:
    angles = rng.uniform(0.0, 2.0 * np.pi, 40)
    radius = np.repeat([1.0, 4.0], 20) + 0.05 * rng.standard_normal(40)
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles)])


def _moons(rng: Rng) -> Array:
    t = np.linspace(0.0, np.pi, 20)
    upper, lower = np.column_stack([np.cos(t), np.sin(t)]), np.column_stack([1.0 - np.cos(t), 0.5 - np.sin(t)])
    return np.vstack([upper, lower]) + 0.03 * rng.standard_normal((40, 2))


def _hubs(rng: Rng) -> Array:
    spokes = np.vstack([np.eye(10), -np.eye(10)])
    return np.vstack([np.zeros((4, 10)), spokes])[rng.permutation(24)]


def _repeated(rng: Rng, distinct: int, n: int, d: int = 2) -> Array:
    rows = rng.standard_normal((distinct, d))
    numbers = np.concatenate([np.arange(distinct), rng.integers(distinct, size=n - distinct)])
    return rows[rng.permutation(numbers)]


def _with_column(rng: Rng, column: Array | float) -> Array:
    X = blobs(rng)
    return np.column_stack([X, np.broadcast_to(column, len(X))])


def _outlier(rng: Rng, distance: float) -> Array:
    X = blobs(rng)
    X[rng.integers(len(X))] = distance
    return X


def _sizes(rng: Rng, *sizes: int) -> Array:
    X = np.zeros((sum(sizes), 2))
    X[:, 0] = np.repeat(10.0 * np.arange(len(sizes)), sizes)
    return (X + 0.3 * rng.standard_normal(X.shape))[rng.permutation(len(X))]


PATTERNS: Mapping[str, Pattern] = {
    "blobs": blobs,
    "blobs in one column": lambda rng: blobs(rng, d=1, k=2),
    "blobs in five columns": lambda rng: blobs(rng, d=5, k=4),
    "two blobs": lambda rng: blobs(rng, n=30, k=2),
    "six small blobs": lambda rng: blobs(rng, n=42, k=6, spread=0.1),
    "overlapping blobs": lambda rng: blobs(rng, spread=4.0),
    "one blob": lambda rng: rng.standard_normal((30, 2)),
    "uniform": lambda rng: rng.uniform(size=(40, 3)),
    "two rings": _rings,
    "two moons": _moons,
    "points on a circle": _circle,
    "points on a line": lambda rng: np.linspace(0.0, 1.0, 25)[:, None] * np.array([1.0, 2.0]),
    "equidistant numbers": lambda rng: np.arange(24.0)[:, None],
    "simplex": lambda rng: np.eye(12),
    "cross polytope with a hub": _hubs,
    "integer grid": _grid,
    "rounded blobs": lambda rng: np.round(blobs(rng)),
    "two values": lambda rng: rng.integers(2, size=(30, 3)).astype(float),
    "one hot rows": lambda rng: np.eye(4)[rng.integers(4, size=28)],
    "alternating signs": lambda rng: np.array([[1.0, -1.0], [-1.0, 1.0]] * 12),
    "exponential spacing": lambda rng: np.exp2(np.arange(20.0))[:, None],
    "heavy tails": lambda rng: rng.standard_cauchy((36, 2)),
    "lognormal": lambda rng: np.exp(2.0 * rng.standard_normal((36, 3))),
    "counts": lambda rng: rng.poisson(2.0, size=(30, 6)).astype(float),
    "mostly zeros": _sparse,
    "rows of zeros among counts": lambda rng: np.vstack([np.zeros((3, 5)), rng.poisson(3.0, size=(24, 5))]).astype(
        float
    ),
    "probabilities": lambda rng: rng.dirichlet(np.ones(4), size=30),
    "unit length": lambda rng: (lambda X: X / np.linalg.norm(X, axis=1, keepdims=True))(rng.standard_normal((30, 3))),
    "sorted rows": lambda rng: np.sort(blobs(rng), axis=0),
    "reversed order": lambda rng: np.sort(blobs(rng), axis=0)[::-1],
    "alternating groups": lambda rng: np.tile([[0.0], [9.0]], (15, 2)) + 0.1 * rng.standard_normal((30, 2)),
    "random walk": lambda rng: np.cumsum(rng.standard_normal((40, 2)), axis=0),
    "sine": lambda rng: np.column_stack([np.arange(40.0), np.sin(np.arange(40.0))]),
    "unequal sizes": lambda rng: _sizes(rng, 2, 30),
    "a group of one": lambda rng: _sizes(rng, 1, 15, 15),
    "many groups of two": lambda rng: _sizes(rng, *[2] * 14),
    "equal pairs": lambda rng: np.repeat(rng.standard_normal((14, 2)), 2, axis=0),
    "each row ten times": lambda rng: np.repeat(rng.standard_normal((3, 2)), 10, axis=0),
    "many duplicates": lambda rng: _repeated(rng, 6, 30),
    "two distinct rows": lambda rng: _repeated(rng, 2, 20),
    "three distinct rows": lambda rng: _repeated(rng, 3, 21),
    "all rows but one equal": lambda rng: np.vstack([np.full((19, 2), 2.5), [[3.0, -1.0]]]),
    "all rows equal": lambda rng: np.full((16, 3), 4.25),
    "all zero": lambda rng: np.zeros((16, 2)),
    "all one": lambda rng: np.ones((16, 2)),
    "negative zeros": lambda rng: (
        np.where(rng.random((20, 2)) < 0.5, -0.0, 0.0) + np.repeat([[0.0], [1.0]], 10, axis=0)
    ),
    "a constant column": lambda rng: _with_column(rng, 7.3),
    "a column of zeros": lambda rng: _with_column(rng, 0.0),
    "a column twice": lambda rng: (lambda X: np.column_stack([X, X[:, 0]]))(blobs(rng)),
    "a column and its negative": lambda rng: (lambda X: np.column_stack([X, -X[:, 0]]))(blobs(rng)),
    "a binary column": lambda rng: _with_column(rng, np.arange(36.0) % 2),
    "a column of row numbers": lambda rng: _with_column(rng, np.arange(36.0)),
    "collinear columns": lambda rng: blobs(rng, d=1) * np.array([1.0, 2.0, -3.0]),
    "rank one": lambda rng: np.outer(rng.random(24), rng.random(6)),
    "orthogonal rows": lambda rng: np.linalg.qr(rng.standard_normal((20, 20)))[0],
    "one row": lambda rng: rng.standard_normal((1, 3)),
    "one number": lambda rng: rng.standard_normal((1, 1)),
    "two rows": lambda rng: rng.standard_normal((2, 2)),
    "two equal rows": lambda rng: np.full((2, 2), 1.5),
    "two numbers": lambda rng: np.array([[0.0], [1.0]]),
    "three rows": lambda rng: rng.standard_normal((3, 2)),
    "three rows, two equal": lambda rng: np.array([[0.0, 1.0], [0.0, 1.0], [5.0, 1.0]]),
    "four rows": lambda rng: rng.standard_normal((4, 1)),
    "five rows": lambda rng: rng.standard_normal((5, 2)),
    "one column": lambda rng: rng.standard_normal((25, 1)),
    "more columns than rows": lambda rng: rng.standard_normal((6, 40)),
    "two rows, many columns": lambda rng: rng.standard_normal((2, 60)),
    "hundreds of columns": lambda rng: blobs(rng, n=24, d=300),
    "a prime number of rows": lambda rng: blobs(rng, n=37),
    "just above a block": lambda rng: blobs(rng, n=65),
    "a hundred rows": lambda rng: blobs(rng, n=100, k=4),
    "an outlier at 30": lambda rng: _outlier(rng, 30.0),
    "an outlier at 1e6": lambda rng: _outlier(rng, 1e6),
}
"""The patterns by name. None is larger than a hundred rows, so that slow methods see many of them."""
