"""Generated sets of known structure, of ten families, two to twenty clusters, a fifth with background noise.

The confidence of the recipe `auto` is fitted to the first two hundred (`confidence.py`). Sizes are to 1:10 and spreads
to 1:4; gaps range from none to wide, so that some sets have no right answer.
"""

from __future__ import annotations

import numpy as np

FAMILIES = ("blobs", "overlap", "moons", "rings", "bars", "spirals", "grid", "dense", "mixed", "uniform")


def generated(seed, rows=(150, 1500)):
    """Family, rows (n, d) and classes (n,) of a set; -1 is background. Its family is that of ``seed % 10``."""
    rng = np.random.default_rng([seed, 77])
    kind = FAMILIES[seed % len(FAMILIES)]
    total = int(np.exp(rng.uniform(np.log(rows[0]), np.log(rows[1]))))
    k, d, side = _numbers(kind, rng)
    shares = np.exp(rng.uniform(np.log(0.1 if kind != "grid" else 0.5), 0, k))
    sizes = np.maximum(20, np.round(total * shares / shares.sum())).astype(int)
    if kind in ("blobs", "overlap"):
        parts = _clouds(kind, sizes, d, rng)
    elif kind == "uniform":
        parts = _boxes(sizes, rng)
    elif kind == "grid":
        gap = rng.uniform(4, 8)
        parts = [rng.standard_normal((size, 2)) + gap * np.array([c % side, c // side]) for c, size in enumerate(sizes)]
    else:
        parts = _curves(kind, sizes, rng)
    X, y = np.concatenate(parts), np.repeat(np.arange(k), sizes)
    if rng.random() < 0.2:
        low, high = X.min(0), X.max(0)
        noise = rng.uniform(low, high, (int(len(X) * rng.uniform(0.03, 0.15)), X.shape[1]))
        X, y = np.concatenate([X, noise]), np.concatenate([y, np.full(len(noise), -1)])
    order = rng.permutation(len(X))
    return kind, X[order], y[order]


def _numbers(kind, rng):
    """Number of clusters, of attributes, and of clusters in a row of a grid."""
    k, d, side = int(rng.integers(2, 11)), 2, 0
    if kind in ("blobs", "overlap"):
        d = int(rng.choice([2, 3, 5, 10, 20]))
        k = min(k, 7) if kind == "overlap" else k
    elif kind == "moons":
        k = 2 * int(rng.integers(1, 4))
    elif kind in ("rings", "spirals"):
        k = int(rng.integers(2, 5))
    elif kind == "grid":
        side = int(rng.integers(3, 6))
        k = side * int(rng.integers(2, 5))
    elif kind in ("dense", "mixed", "bars"):
        k = int(rng.integers(2, 7))
    return k, d, side


def _clouds(kind, sizes, d, rng):
    """Gaussian clouds of uneven spread, half of them of any covariance, at least a gap apart."""
    gap = rng.uniform(5, 9) if kind == "blobs" else rng.uniform(2.5, 5.0)
    parts, centres, radii = [], [], []
    for size in sizes:
        spread = np.exp(rng.uniform(0, np.log(4 if kind == "blobs" else 2)))
        A = np.eye(d)
        if rng.random() < 0.5:
            A = np.linalg.qr(rng.standard_normal((d, d)))[0] * np.exp(rng.uniform(-0.7, 0.3, d))
        parts.append(spread * rng.standard_normal((size, d)) @ A.T)
        radii.append(spread)
    k, tries = len(sizes), 0
    scale = gap * np.mean(radii) * k ** (1 / min(d, 3)) / 2
    while len(centres) < k:
        centre, i = rng.uniform(-1, 1, d) * scale, len(centres)
        if all(np.linalg.norm(centre - o) > gap * (radii[i] + radii[j]) / 2 for j, o in enumerate(centres)):
            centres.append(centre)
        tries += 1
        if tries % 200 == 0:
            scale *= 1.1
    return [part + centre for part, centre in zip(parts, centres, strict=True)]


def _boxes(sizes, rng):
    """Uniform rectangles that nearly touch."""
    parts, boxes, tries, scale = [], [], 0, 2.0 * np.sqrt(len(sizes))
    touch = rng.uniform(0.05, 0.6)
    while len(boxes) < len(sizes):
        centre, width = rng.uniform(0, scale, 2), rng.uniform(0.5, 1.5, 2)
        if all(np.any(np.abs(centre - other) > width + wide + touch) for other, wide in boxes):
            boxes.append((centre, width))
        tries += 1
        if tries % 200 == 0:
            scale *= 1.1
    for (centre, width), size in zip(boxes, sizes, strict=True):
        parts.append(centre + width * rng.uniform(-1, 1, (size, 2)))
    return parts


def _curves(kind, sizes, rng):
    """Moons, rings, bars, spirals, clusters of uneven density, or all kinds of shapes side by side."""
    k, parts = len(sizes), []
    widths = {"moons": (0.04, 0.16), "rings": (0.04, 0.15), "bars": (0.08, 0.3), "spirals": (0.02, 0.12)}
    s = rng.uniform(*widths[kind]) if kind in widths else 0.0
    for c, size in enumerate(sizes):
        if kind == "moons":
            t = rng.uniform(0, np.pi, size)
            arc = np.stack([np.cos(t), np.sin(t)], 1)
            arc = arc if c % 2 == 0 else np.array([1.0, 0.5]) - arc
            parts.append(arc + [4.0 * (c // 2), 0.0] + s * rng.standard_normal((size, 2)))
        elif kind == "rings":
            t = rng.uniform(0, 2 * np.pi, size)
            parts.append((0.4 + 1.0 * c) * np.stack([np.cos(t), np.sin(t)], 1) + s * rng.standard_normal((size, 2)))
        elif kind == "bars":
            parts.append(np.stack([rng.uniform(0, 6, size), 1.5 * c + s * rng.standard_normal(size)], 1))
        elif kind == "spirals":
            t = np.sqrt(rng.uniform(0.05, 1, size)) * 1.5 * 2 * np.pi
            a = t + 2 * np.pi * c / k
            parts.append(t[:, None] / 3 * np.stack([np.cos(a), np.sin(a)], 1) + s * rng.standard_normal((size, 2)))
        elif kind == "dense":
            spread = 4.0 if c % 2 else 0.5
            parts.append(spread * rng.standard_normal((size, 2)) + rng.uniform(-1, 1, 2) * 4 * k)
        else:
            parts.append(_shape(size, rng) + np.array([7.0 * (c % 3), 7.0 * (c // 3)]))
    return parts


def _shape(size, rng):
    """A cloud, a ring, a bar or a square."""
    shape = int(rng.integers(4))
    t = rng.uniform(0, 2 * np.pi, size)
    if shape == 0:
        return rng.standard_normal((size, 2)) * np.exp(rng.uniform(-1, 0.2))
    if shape == 1:
        return 2 * np.stack([np.cos(t), np.sin(t)], 1) + 0.15 * rng.standard_normal((size, 2))
    if shape == 2:
        return np.stack([rng.uniform(-2.5, 2.5, size), 0.3 * rng.standard_normal(size)], 1)
    return rng.uniform(-2, 2, (size, 2))
