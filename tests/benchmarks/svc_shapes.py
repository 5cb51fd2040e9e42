"""Generated data for judging rules without named data sets: shapes in the plane, classes in 3 to 30 dimensions.

Every function takes a generator and a number of rows and returns the rows and their class, -1 for background noise,
which no score counts.
"""

from __future__ import annotations

import numpy as np


def _sizes(rng, n, k, spread=0.0):
    """Sizes of k classes that sum to n: equal, or log-normal with a spread, none below 15 % of n / k."""
    w = np.exp(spread * rng.standard_normal(k))
    sizes = np.maximum(np.round(n * w / w.sum()).astype(int), max(8, int(0.15 * n / k)))
    return sizes


def _join(parts):
    X = np.concatenate([np.atleast_2d(part) for part in parts])
    return X, np.repeat(np.arange(len(parts)), [len(part) for part in parts])


def _spread_centres(rng, k, d, least, box):
    """Centres at least `least` apart in a cube, the cube grown until they fit."""
    centres = []
    tries = 0
    while len(centres) < k:
        c = rng.uniform(0, box, d)
        if all(np.linalg.norm(c - e) >= least for e in centres):
            centres.append(c)
        tries += 1
        if tries % 200 == 0:
            box *= 1.1
    return np.array(centres)


def _covariance(rng, d, stretch):
    Q, _ = np.linalg.qr(rng.standard_normal((d, d)))
    return Q * np.exp(stretch * rng.uniform(-1, 1, d))


def moons(rng, n):
    noise = rng.choice([0.04, 0.08, 0.12])
    share = rng.choice([0.5, 0.3])
    a = int(n * share)
    s, t = np.pi * rng.random(a), np.pi * rng.random(n - a)
    X, y = _join([np.c_[np.cos(s), np.sin(s)], np.c_[1 - np.cos(t), 0.5 - np.sin(t)]])
    return X + noise * rng.standard_normal(X.shape), y


def rings(rng, n):
    k = rng.integers(2, 4)
    radii = 1.0 + np.arange(k) * rng.uniform(1.0, 1.6)
    if rng.random() < 0.4:
        radii = np.r_[0.05, radii]
    noise = rng.uniform(0.05, 0.16)
    parts = []
    for r, size in zip(radii, _sizes(rng, n, len(radii), 0.3), strict=True):
        t = 2 * np.pi * rng.random(size)
        parts.append(np.c_[r * np.cos(t), r * np.sin(t)])
    X, y = _join(parts)
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
    X, y = _join(parts)
    return X + noise * rng.standard_normal(X.shape), y


def stretched(rng, n):
    k = rng.integers(2, 7)
    centres = _spread_centres(rng, k, 2, 6.0, 12.0)
    parts = [
        c + rng.standard_normal((s, 2)) @ _covariance(rng, 2, 0.8).T
        for c, s in zip(centres, _sizes(rng, n, k, 0.2), strict=True)
    ]
    return _join(parts)


def densities(rng, n):
    k = rng.integers(3, 7)
    scale = np.exp(rng.uniform(np.log(0.35), np.log(2.0), k))
    while True:
        centres = rng.uniform(0, 16, (k, 2))
        gap = np.linalg.norm(centres[:, None] - centres, axis=2) - 3.0 * (scale[:, None] + scale)
        if gap[~np.eye(k, dtype=bool)].min() > 0:
            break
    parts = [
        c + w * rng.standard_normal((s, 2)) for c, w, s in zip(centres, scale, _sizes(rng, n, k, 0.2), strict=True)
    ]
    return _join(parts)


def sizes(rng, n):
    k = rng.integers(2, 6)
    share = np.exp(1.0 * rng.standard_normal(k))
    counts = np.maximum(np.round(n * share / share.sum()).astype(int), 15)
    centres = _spread_centres(rng, k, 2, 6.5, 12.0)
    return _join([c + rng.standard_normal((s, 2)) for c, s in zip(centres, counts, strict=True)])


def many(rng, n):
    k = int(rng.choice([8, 15, 25, 40]))
    n = max(n, 30 * k)
    centres = _spread_centres(rng, k, 2, rng.uniform(5.0, 7.0), 5.5 * np.sqrt(k))
    return _join([c + rng.uniform(0.7, 1.1) * rng.standard_normal((n // k, 2)) for c in centres])


def touching(rng, n):
    k = rng.integers(2, 6)
    gap = rng.uniform(3.6, 4.6)
    if rng.random() < 0.5:
        centres = np.c_[gap * np.arange(k), rng.uniform(-0.5, 0.5, k)]
    else:
        centres = _spread_centres(rng, k, 2, gap, gap * np.sqrt(k))
    return _join([c + rng.standard_normal((s, 2)) for c, s in zip(centres, _sizes(rng, n, k, 0.25), strict=True)])


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
    return _join(parts)


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
    return _join(parts)


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
    return _join(parts)


def mixed(rng, n):
    """A ring, a blob, a bar and two close blobs at once."""
    q = n // 5
    t = 2 * np.pi * rng.random(q)
    ring = np.c_[3 * np.cos(t), 3 * np.sin(t)] + 0.2 * rng.standard_normal((q, 2))
    blob = 0.6 * rng.standard_normal((q, 2))
    bar = np.c_[rng.uniform(6, 12, q), rng.uniform(-3, -2.4, q)]
    gap = rng.uniform(4.5, 6)
    close = [np.r_[7, 4] + rng.standard_normal((q, 2)), np.r_[7 + gap, 4] + 0.9 * rng.standard_normal((q, 2))]
    X, y = _join([ring, blob, bar, *close])
    return X @ _covariance(rng, 2, 0.1).T, y


def blobs_nd(rng, n):
    d = int(rng.choice([3, 5, 10, 20, 30]))
    k = rng.integers(2, 9)
    centres = _spread_centres(rng, k, d, rng.uniform(6.0, 9.0), 8.0 * k ** (1 / d))
    return _join(
        [
            c + rng.uniform(0.7, 1.2) * rng.standard_normal((s, d))
            for c, s in zip(centres, _sizes(rng, n, k, 0.3), strict=True)
        ]
    )


def stretched_nd(rng, n):
    d = int(rng.choice([3, 4, 6, 10]))
    k = rng.integers(2, 6)
    centres = _spread_centres(rng, k, d, 7.5, 8.0)
    return _join(
        [
            c + rng.standard_normal((s, d)) @ _covariance(rng, d, 0.6).T
            for c, s in zip(centres, _sizes(rng, n, k, 0.3), strict=True)
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
    return _join([a, b])


def skewed(rng, n):
    """Classes with long tails, log-normal in each attribute."""
    d = int(rng.choice([2, 3, 5]))
    k = rng.integers(2, 5)
    centres = _spread_centres(rng, k, d, 7.0, 9.0)
    parts = []
    for c, s in zip(centres, _sizes(rng, n, k, 0.2), strict=True):
        parts.append(c + np.exp(0.5 * rng.standard_normal((s, d))) * rng.choice([-1, 1], d))
    return _join(parts)


def grid_values(rng, n):
    """Small integers with many repeated rows."""
    d = int(rng.choice([2, 4, 9]))
    k = rng.integers(2, 4)
    centres = _spread_centres(rng, k, d, 6.0, 8.0)
    X, y = _join([c + rng.uniform(0.6, 1.3) * rng.standard_normal((n // k, d)) for c in centres])
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
    X, y = _join([a, b])
    X = np.c_[X, np.zeros((len(X), d - 3))] + rng.uniform(0.02, 0.05) * rng.standard_normal((len(X), d))
    return X @ _covariance(rng, d, 0.0).T, y


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
    return _join([core, cloud, *pair])


def crescent(rng, n):
    """A blob above a crescent that nearly touches it, with two strays."""
    a = int(rng.uniform(0.3, 0.5) * n)
    t = rng.uniform(np.pi * 1.05, np.pi * 1.95, n - a)
    width = rng.uniform(0.5, 0.8)
    r = 5.0 + width * rng.standard_normal(n - a)
    u, v = 2 * np.pi * rng.random(a), np.sqrt(rng.random(a))
    top = rng.uniform(2.0, 2.4)
    X, y = _join([np.c_[top * v * np.cos(u), 0.8 + top * v * np.sin(u) - 0.3], np.c_[r * np.cos(t), r * np.sin(t)]])
    return np.r_[X, [[-9.0, 6.0], [-8.7, 6.2]]], np.r_[y, -1, -1]


def hierarchy(rng, n):
    """Groups of two to four blobs, the groups far apart; the classes are the blobs."""
    parts = []
    groups = rng.integers(2, 4)
    for centre in _spread_centres(rng, groups, 2, 22.0, 30.0):
        inner = rng.integers(2, 5)
        parts += list(centre + _spread_centres(rng, inner, 2, 5.5, 6.0 * np.sqrt(inner)) - 4.0)
    return _join([c + rng.uniform(0.7, 1.1) * rng.standard_normal((max(15, n // len(parts)), 2)) for c in parts])


def crowded(rng, n):
    """15 to 35 Gaussian classes that overlap a little."""
    k = int(rng.integers(15, 36))
    centres = _spread_centres(rng, k, 2, rng.uniform(4.6, 5.4), 4.4 * np.sqrt(k))
    return _join([c + rng.uniform(0.85, 1.1) * rng.standard_normal((max(30, n // k), 2)) for c in centres])


def overlapping(rng, n):
    """10 to 35 Gaussian classes, 3.6 to 4.5 standard deviations apart."""
    k = int(rng.integers(10, 36))
    centres = _spread_centres(rng, k, 2, rng.uniform(3.6, 4.5), 3.4 * np.sqrt(k))
    return _join([c + rng.standard_normal((max(40, n // k), 2)) for c in centres])


def close_crescent(rng, n):
    """A blob in the arms of a crescent, the gap as wide as the spacing of the rows."""
    a = int(rng.uniform(0.3, 0.45) * n)
    t = rng.uniform(np.pi * 1.05, np.pi * 1.95, n - a)
    r = 4.6 + rng.uniform(-1.0, 1.0, n - a) + 0.15 * rng.standard_normal(n - a)
    u, v = 2 * np.pi * rng.random(a), np.sqrt(rng.random(a))
    return _join([np.c_[3.0 * v * np.cos(u), 0.2 + 2.6 * v * np.sin(u)], np.c_[r * np.cos(t), 0.9 * r * np.sin(t)]])


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
    return _join(parts)


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
    return _join(
        [c + w * rng.standard_normal((max(25, int(n * q)), 2)) for c, w, q in zip(centres, scale, share, strict=True)]
    )


CLOSE = [overlapping, close_crescent, filled_ring, touching_sizes]
NEW = [joined_discs, nested, crescent, hierarchy, crowded]
PLANE = [
    moons,
    rings,
    spirals,
    stretched,
    densities,
    sizes,
    many,
    touching,
    discs,
    bridged,
    noisy,
    bars,
    enclosed,
    mixed,
    *NEW,
    *CLOSE,
]
HIGHER = [blobs_nd, stretched_nd, two_classes, skewed, grid_values, linked]
ROWS = (150, 300, 600, 1200)


def suite(seeds, rows=ROWS, families=None):
    """Name, rows and classes of every family at every seed; the number of rows goes round with the seed."""
    for family in families or [*PLANE, *HIGHER]:
        for seed in seeds:
            n = rows[seed % len(rows)]
            rng = np.random.default_rng([seed, n, sum(map(ord, family.__name__))])
            X, y = family(rng, n)
            order = rng.permutation(len(X))
            yield f"{family.__name__}-{seed}", X[order], y[order]
