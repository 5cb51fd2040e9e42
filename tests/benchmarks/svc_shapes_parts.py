"""What the generators of shapes share: sizes, centres, stretching, joining."""

from __future__ import annotations

import numpy as np


def class_sizes(rng, n, k, spread=0.0):
    """Sizes of k classes that sum to n: equal, or log-normal with a spread, none below 15 % of n / k."""
    w = np.exp(spread * rng.standard_normal(k))
    sizes = np.maximum(np.round(n * w / w.sum()).astype(int), max(8, int(0.15 * n / k)))
    return sizes


def join(parts):
    X = np.concatenate([np.atleast_2d(part) for part in parts])
    return X, np.repeat(np.arange(len(parts)), [len(part) for part in parts])


def spread_centres(rng, k, d, least, box):
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


def covariance(rng, d, stretch):
    Q, _ = np.linalg.qr(rng.standard_normal((d, d)))
    return Q * np.exp(stretch * rng.uniform(-1, 1, d))
