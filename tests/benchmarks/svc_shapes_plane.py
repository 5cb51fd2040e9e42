"""Shapes in the plane: classes that k-means, density or single links find hard."""

from __future__ import annotations

import numpy as np
from svc_shapes_parts import class_sizes, covariance, join, spread_centres


def moons(rng, n):
    noise = rng.choice([0.04, 0.08, 0.12])
    share = rng.choice([0.5, 0.3])
    a = int(n * share)
    s, t = np.pi * rng.random(a), np.pi * rng.random(n - a)
    X, y = join([np.c_[np.cos(s), np.sin(s)], np.c_[1 - np.cos(t), 0.5 - np.sin(t)]])
    return X + noise * rng.standard_normal(X.shape), y


def rings(rng, n):
    k = rng.integers(2, 4)
    radii = 1.0 + np.arange(k) * rng.uniform(1.0, 1.6)
    if rng.random() < 0.4:
        radii = np.r_[0.05, radii]
    noise = rng.uniform(0.05, 0.16)
    parts = []
    for r, size in zip(radii, class_sizes(rng, n, len(radii), 0.3), strict=True):
        t = 2 * np.pi * rng.random(size)
        parts.append(np.c_[r * np.cos(t), r * np.sin(t)])
    X, y = join(parts)
    return X + noise * rng.standard_normal(X.shape), y


def spirals(rng, n):
    arms = rng.integers(2, 4)
    turns = rng.uniform(0.7, 1.3)
    noise = rng.uniform(0.01, 0.035)
    parts = []
    for arm in range(arms):
        u = np.sqrt(rng.random(n // arms)) if rng.random() < 0.5 else rng.random(n // arms)
        r = 0.15 + 0.85 * u
        t = 2 * np.pi * (turns * u + arm / arms)
        parts.append(np.c_[r * np.cos(t), r * np.sin(t)])
    X, y = join(parts)
    return X + noise * rng.standard_normal(X.shape), y


def stretched(rng, n):
    k = rng.integers(2, 7)
    centres = spread_centres(rng, k, 2, 6.0, 12.0)
    parts = [
        c + rng.standard_normal((s, 2)) @ covariance(rng, 2, 0.8).T
        for c, s in zip(centres, class_sizes(rng, n, k, 0.2), strict=True)
    ]
    return join(parts)


def densities(rng, n):
    k = rng.integers(3, 7)
    scale = np.exp(rng.uniform(np.log(0.35), np.log(2.0), k))
    while True:
        centres = rng.uniform(0, 16, (k, 2))
        gap = np.linalg.norm(centres[:, None] - centres, axis=2) - 3.0 * (scale[:, None] + scale)
        if gap[~np.eye(k, dtype=bool)].min() > 0:
            break
    parts = [
        c + w * rng.standard_normal((s, 2)) for c, w, s in zip(centres, scale, class_sizes(rng, n, k, 0.2), strict=True)
    ]
    return join(parts)


def sizes(rng, n):
    k = rng.integers(2, 6)
    share = np.exp(1.0 * rng.standard_normal(k))
    counts = np.maximum(np.round(n * share / share.sum()).astype(int), 15)
    centres = spread_centres(rng, k, 2, 6.5, 12.0)
    return join([c + rng.standard_normal((s, 2)) for c, s in zip(centres, counts, strict=True)])


def many(rng, n):
    k = int(rng.choice([8, 15, 25, 40]))
    n = max(n, 30 * k)
    centres = spread_centres(rng, k, 2, rng.uniform(5.0, 7.0), 5.5 * np.sqrt(k))
    return join([c + rng.uniform(0.7, 1.1) * rng.standard_normal((n // k, 2)) for c in centres])


def touching(rng, n):
    k = rng.integers(2, 6)
    gap = rng.uniform(3.6, 4.6)
    if rng.random() < 0.5:
        centres = np.c_[gap * np.arange(k), rng.uniform(-0.5, 0.5, k)]
    else:
        centres = spread_centres(rng, k, 2, gap, gap * np.sqrt(k))
    return join([c + rng.standard_normal((s, 2)) for c, s in zip(centres, class_sizes(rng, n, k, 0.25), strict=True)])


def discs(rng, n):
    """Uniform discs of different radius, close to each other."""
    k = rng.integers(2, 7)
    radii = rng.uniform(1.0, 2.5, k)
    gap = rng.uniform(0.35, 0.8)
    while True:
        centres = rng.uniform(0, 4.2 * np.sqrt(k) * 1.3, (k, 2))
        away = np.linalg.norm(centres[:, None] - centres, axis=2) - radii[:, None] - radii - gap
        if away[~np.eye(k, dtype=bool)].min() > 0:
            break
    area = radii**2 / np.sum(radii**2)
    parts = []
    for c, r, share in zip(centres, radii, area, strict=True):
        s = max(12, int(n * share))
        t, u = 2 * np.pi * rng.random(s), np.sqrt(rng.random(s))
        parts.append(c + r * np.c_[u * np.cos(t), u * np.sin(t)])
    return join(parts)


def bridged(rng, n):
    gap = rng.uniform(7.0, 9.0)
    a = rng.standard_normal((int(0.48 * n), 2))
    b = rng.standard_normal((int(0.48 * n), 2)) * rng.uniform(0.7, 1.2) + [gap, 0]
    m = int(0.04 * n)
    t = rng.uniform(0.3, 0.7, m)
    line = np.c_[gap * t, 0.15 * rng.standard_normal(m)]
    X = np.concatenate([a, b, line])
    return X, np.r_[np.zeros(len(a), int), np.ones(len(b), int), np.where(t < 0.5, 0, 1)]


def noisy(rng, n):
    base = [moons, stretched, sizes, rings][rng.integers(4)]
    share = rng.choice([0.05, 0.1, 0.2])
    X, y = base(rng, int((1 - share) * n))
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.1 * (high - low)
    B = rng.uniform(low - margin, high + margin, (int(share * n), 2))
    return np.r_[X, B], np.r_[y, -np.ones(len(B), int)]


def bars(rng, n):
    """Straight bars: a T with a gap, parallel bars, an L, crossing nothing."""
    width = rng.uniform(0.2, 0.5)
    gap = rng.uniform(0.45, 0.8)
    layout = rng.integers(3)
    boxes = [
        [(0, 6, 0, width), (3 - width / 2, 3 + width / 2, -4, -gap)],
        [(0, 6, i * (width + gap), i * (width + gap) + width) for i in range(rng.integers(2, 5))],
        [(0, 5, 0, width), (5 + gap, 5 + gap + width, 0, 5), (0, 4, 2, 2 + 2 * width)],
    ][layout]
    area = np.array([(b - a) * (d - c) for a, b, c, d in boxes])
    parts = [
        np.c_[rng.uniform(a, b, s), rng.uniform(c, d, s)]
        for (a, b, c, d), s in zip(boxes, np.maximum(12, n * area / area.sum()).astype(int), strict=True)
    ]
    return join(parts)


def enclosed(rng, n):
    """An open ring with one to three blobs inside."""
    inside = rng.integers(1, 4)
    radius = 4.0 + 1.2 * inside
    opening = rng.uniform(0.0, 1.6)
    ring = int(n * rng.uniform(0.3, 0.5))
    t = rng.uniform(opening / 2, 2 * np.pi - opening / 2, ring)
    r = radius + 0.35 * rng.standard_normal(ring)
    parts = [np.c_[r * np.cos(t), r * np.sin(t)]]
    angle = rng.uniform(0, 2 * np.pi)
    for j in range(inside):
        c = (0.0 if inside == 1 else 0.45 * radius) * np.r_[
            np.cos(angle + 2 * np.pi * j / inside), np.sin(angle + 2 * np.pi * j / inside)
        ]
        parts.append(c + rng.uniform(0.5, 0.8) * rng.standard_normal(((n - ring) // inside, 2)))
    return join(parts)


def mixed(rng, n):
    """A ring, a blob, a bar and two close blobs at once."""
    q = n // 5
    t = 2 * np.pi * rng.random(q)
    ring = np.c_[3 * np.cos(t), 3 * np.sin(t)] + 0.2 * rng.standard_normal((q, 2))
    blob = 0.6 * rng.standard_normal((q, 2))
    bar = np.c_[rng.uniform(6, 12, q), rng.uniform(-3, -2.4, q)]
    gap = rng.uniform(4.5, 6)
    close = [np.r_[7, 4] + rng.standard_normal((q, 2)), np.r_[7 + gap, 4] + 0.9 * rng.standard_normal((q, 2))]
    X, y = join([ring, blob, bar, *close])
    return X @ covariance(rng, 2, 0.1).T, y
