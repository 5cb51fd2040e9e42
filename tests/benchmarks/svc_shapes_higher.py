"""Classes in 2 to 30 dimensions."""

from __future__ import annotations

import numpy as np
from svc_shapes_parts import class_sizes, covariance, join, spread_centres


def blobs_nd(rng, n):
    d = int(rng.choice([3, 5, 10, 20, 30]))
    k = rng.integers(2, 9)
    centres = spread_centres(rng, k, d, rng.uniform(6.0, 9.0), 8.0 * k ** (1 / d))
    return join(
        [
            c + rng.uniform(0.7, 1.2) * rng.standard_normal((s, d))
            for c, s in zip(centres, class_sizes(rng, n, k, 0.3), strict=True)
        ]
    )


def stretched_nd(rng, n):
    d = int(rng.choice([3, 4, 6, 10]))
    k = rng.integers(2, 6)
    centres = spread_centres(rng, k, d, 7.5, 8.0)
    return join(
        [
            c + rng.standard_normal((s, d)) @ covariance(rng, d, 0.6).T
            for c, s in zip(centres, class_sizes(rng, n, k, 0.3), strict=True)
        ]
    )


def two_classes(rng, n):
    """A compact class beside a diffuse one, as medical data have."""
    d = int(rng.choice([4, 6, 9, 15]))
    share = rng.uniform(0.5, 0.7)
    scale = rng.uniform(2.0, 3.0)
    a = rng.standard_normal((int(share * n), d))
    direction = np.abs(rng.standard_normal(d)) + 0.5
    b = scale * rng.standard_normal((n - len(a), d)) + direction / np.linalg.norm(direction) * rng.uniform(6.0, 9.0)
    return join([a, b])


def skewed(rng, n):
    """Classes with long tails, log-normal in each attribute."""
    d = int(rng.choice([2, 3, 5]))
    k = rng.integers(2, 5)
    centres = spread_centres(rng, k, d, 7.0, 9.0)
    parts = []
    for c, s in zip(centres, class_sizes(rng, n, k, 0.2), strict=True):
        parts.append(c + np.exp(0.5 * rng.standard_normal((s, d))) * rng.choice([-1, 1], d))
    return join(parts)


def grid_values(rng, n):
    """Small integers with many repeated rows."""
    d = int(rng.choice([2, 4, 9]))
    k = rng.integers(2, 4)
    centres = spread_centres(rng, k, d, 6.0, 8.0)
    X, y = join([c + rng.uniform(0.6, 1.3) * rng.standard_normal((n // k, d)) for c in centres])
    return np.clip(np.round(X), -2, 12), y


def linked(rng, n):
    """Two rings through each other, or two waves, turned into 3 to 10 dimensions with little noise there."""
    d = int(rng.choice([3, 5, 10]))
    m = n // 2
    s, t = rng.random(m), rng.random(n - m)
    if rng.random() < 0.5:
        a = np.c_[np.cos(2 * np.pi * s), np.sin(2 * np.pi * s), 0 * s]
        b = np.c_[1 + np.cos(2 * np.pi * t), 0 * t, np.sin(2 * np.pi * t)]
    else:
        a = np.c_[4 * s, np.sin(4 * s), 0 * s]
        b = np.c_[4 * t, np.sin(4 * t) + 0.7, 0.4 + 0 * t]
    X, y = join([a, b])
    X = np.c_[X, np.zeros((len(X), d - 3))] + rng.uniform(0.02, 0.05) * rng.standard_normal((len(X), d))
    return X @ covariance(rng, d, 0.0).T, y
