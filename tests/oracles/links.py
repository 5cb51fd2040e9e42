"""Links of rows drawn from classes."""

import numpy as np


def links_of(y, count, seed=0):
    """Random pairs, with the sign of the truth."""
    pairs = np.random.default_rng(seed).integers(0, len(y), (count, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return np.column_stack([pairs, np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1, -1)])
