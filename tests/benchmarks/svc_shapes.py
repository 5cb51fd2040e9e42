"""Generated data for judging rules without named data sets: shapes in the plane, classes in 3 to 30 dimensions.

Every function takes a generator and a number of rows and returns the rows and their class, -1 for background noise,
which no score counts.
"""

from __future__ import annotations

import numpy as np
from svc_shapes_close import (
    close_crescent,
    crescent,
    crowded,
    filled_ring,
    hierarchy,
    joined_discs,
    nested,
    overlapping,
    touching_sizes,
)
from svc_shapes_higher import blobs_nd, grid_values, linked, skewed, stretched_nd, two_classes
from svc_shapes_plane import (
    bars,
    bridged,
    densities,
    discs,
    enclosed,
    many,
    mixed,
    moons,
    noisy,
    rings,
    sizes,
    spirals,
    stretched,
    touching,
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
