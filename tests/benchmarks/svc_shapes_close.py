"""Shapes in the plane that nearly touch, overlap or contain each other."""

from __future__ import annotations

import numpy as np
from svc_shapes_parts import join, spread_centres
from svc_shapes_plane import discs


def joined_discs(rng, n):
    """Uniform discs of different size, some joined by narrow necks."""
    X, y = discs(rng, int(0.96 * n))
    k = y.max() + 1
    means = np.array([X[y == c].mean(axis=0) for c in range(k)])
    gaps = np.linalg.norm(means[:, None] - means, axis=2) + np.where(np.eye(k) > 0, np.inf, 0.0)
    necks = []
    for c in range(k):
        if rng.random() < 0.5:
            e = int(gaps[c].argmin())
            t = rng.random((max(3, int(0.04 * n / k)), 1))
            necks.append(
                (
                    means[c] + t * (means[e] - means[c]) + 0.08 * rng.standard_normal((len(t), 2)),
                    np.where(t[:, 0] < 0.5, c, e),
                )
            )
    if necks:
        X, y = np.concatenate([X, *[a for a, _ in necks]]), np.concatenate([y, *[b for _, b in necks]])
    return X, y


def nested(rng, n):
    """A dense blob inside a sparse cloud, beside two blobs close to each other."""
    q = n // 4
    gap = rng.uniform(4.3, 5.5)
    core = [10, 0] + 0.45 * rng.standard_normal((q, 2))
    t, u = 2 * np.pi * rng.random(q), np.sqrt(rng.uniform(0.16, 1.0, q))
    cloud = np.r_[10, 0] + 4.5 * np.c_[u * np.cos(t), u * np.sin(t)]
    pair = [rng.standard_normal((q, 2)) * 0.8, [0, 0.8 * gap] + rng.standard_normal((q, 2)) * 0.8]
    return join([core, cloud, *pair])


def crescent(rng, n):
    """A blob above a crescent that nearly touches it, with two strays."""
    a = int(rng.uniform(0.3, 0.5) * n)
    t = rng.uniform(np.pi * 1.05, np.pi * 1.95, n - a)
    width = rng.uniform(0.5, 0.8)
    r = 5.0 + width * rng.standard_normal(n - a)
    u, v = 2 * np.pi * rng.random(a), np.sqrt(rng.random(a))
    top = rng.uniform(2.0, 2.4)
    X, y = join([np.c_[top * v * np.cos(u), 0.8 + top * v * np.sin(u) - 0.3], np.c_[r * np.cos(t), r * np.sin(t)]])
    return np.r_[X, [[-9.0, 6.0], [-8.7, 6.2]]], np.r_[y, -1, -1]


def hierarchy(rng, n):
    """Groups of two to four blobs, the groups far apart; the classes are the blobs."""
    parts = []
    groups = rng.integers(2, 4)
    for centre in spread_centres(rng, groups, 2, 22.0, 30.0):
        inner = rng.integers(2, 5)
        parts += list(centre + spread_centres(rng, inner, 2, 5.5, 6.0 * np.sqrt(inner)) - 4.0)
    return join([c + rng.uniform(0.7, 1.1) * rng.standard_normal((max(15, n // len(parts)), 2)) for c in parts])


def crowded(rng, n):
    """15 to 35 Gaussian classes that overlap a little."""
    k = int(rng.integers(15, 36))
    centres = spread_centres(rng, k, 2, rng.uniform(4.6, 5.4), 4.4 * np.sqrt(k))
    return join([c + rng.uniform(0.85, 1.1) * rng.standard_normal((max(30, n // k), 2)) for c in centres])


def overlapping(rng, n):
    """10 to 35 Gaussian classes, 3.6 to 4.5 standard deviations apart."""
    k = int(rng.integers(10, 36))
    centres = spread_centres(rng, k, 2, rng.uniform(3.6, 4.5), 3.4 * np.sqrt(k))
    return join([c + rng.standard_normal((max(40, n // k), 2)) for c in centres])


def close_crescent(rng, n):
    """A blob in the arms of a crescent, the gap as wide as the spacing of the rows."""
    a = int(rng.uniform(0.3, 0.45) * n)
    t = rng.uniform(np.pi * 1.05, np.pi * 1.95, n - a)
    r = 4.6 + rng.uniform(-1.0, 1.0, n - a) + 0.15 * rng.standard_normal(n - a)
    u, v = 2 * np.pi * rng.random(a), np.sqrt(rng.random(a))
    return join([np.c_[3.0 * v * np.cos(u), 0.2 + 2.6 * v * np.sin(u)], np.c_[r * np.cos(t), 0.9 * r * np.sin(t)]])


def filled_ring(rng, n):
    """An open sparse ring that two or three blobs inside nearly touch."""
    inside = int(rng.integers(2, 4))
    ring = int(0.37 * n)
    t = rng.uniform(0.25, 2 * np.pi - 0.25, ring)
    r = 10 + 0.35 * rng.standard_normal(ring)
    parts = [np.c_[r * np.cos(t), r * np.sin(t)]]
    for j in range(inside):
        c = 5.0 * np.r_[np.cos(2 * np.pi * j / inside + 0.5), np.sin(2 * np.pi * j / inside + 0.5)]
        parts.append(c + rng.uniform(1.3, 1.7) * rng.standard_normal(((n - ring) // inside, 2)))
    return join(parts)


def touching_sizes(rng, n):
    """Gaussian classes of different size and spread that touch."""
    k = int(rng.integers(3, 8))
    scale = rng.uniform(0.6, 1.6, k)
    centres = []
    box = 4.0 * np.sqrt(k)
    while len(centres) < k:
        c = rng.uniform(0, box, 2)
        if all(np.linalg.norm(c - e) >= 2.1 * (scale[len(centres)] + scale[i]) for i, e in enumerate(centres)):
            centres.append(c)
        box *= 1.002
    share = scale**2 / np.sum(scale**2)
    return join(
        [c + w * rng.standard_normal((max(25, int(n * q)), 2)) for c, w, q in zip(centres, scale, share, strict=True)]
    )
