"""The draws of k-means++ by compiled loops, for many rows of few features."""

from __future__ import annotations

import numpy as np

from clusterkit._typing import Indices, Labels, Rng
from clusterkit.core.spaces import FeatureSpace

__all__ = ["drawn_by_distance"]

MARGIN = 1e-4
"""Share of a distance by which the triangle inequality must hold, so that no rounding error decides: far above those of
float32, far below what it would cost to look at more rows."""


def drawn_by_distance(
    space: FeatureSpace, k: int, rng: Rng, trials: int, first: int, relative_noise: float
) -> tuple[Labels, Indices]:
    """Labels by the nearest seed, and k seeds drawn in proportion to the squared distance to the nearest seed so far.

    The draws are those of the partitioner `seeds` on small data. A row that is nearer to its seed than half the way
    from there to a drawn row is not compared with it: by the triangle inequality its label stays.

    Parameters
    ----------
    first : int
        The first seed.
    relative_noise : float
        Distances up to this share of the numbers they are computed from count as 0.
    """
    from clusterkit.numerics.nearest_jit import adopt, compare, cumulate, gains, reachable

    seeds, labels = [first], np.zeros(space.n, dtype=np.intp)
    cumulated, spare = np.empty(space.n), np.empty(space.n, dtype=np.intp)
    compared = np.empty((trials, space.n))
    at_seeds = space.rows(np.array(seeds)).astype(np.float64)
    best = np.empty(space.n)
    for rows, H in space.pieces():
        compare(H, rows.start, np.arange(rows.start, rows.stop), at_seeds, best[None, rows])
    radius = float(np.sqrt(best.max()))
    noise = relative_noise * radius * (radius + float(np.linalg.norm(at_seeds[0])))
    while len(seeds) < k:
        cumulate(best, noise, cumulated)
        if cumulated[-1] == 0.0:
            break
        # side="right" never lands on a sample of weight 0
        drawn = np.searchsorted(cumulated, rng.random(trials) * cumulated[-1], side="right")
        at_drawn = space.rows(drawn).astype(np.float64, copy=False)
        between = ((at_seeds[:, None] - at_drawn) ** 2).sum(axis=2).min(axis=1)
        index = spare[: reachable(best, labels, 0.25 * (1.0 - MARGIN) * between, spare)]
        begin = 0
        for rows, H in space.pieces():
            end = begin + int(np.searchsorted(index[begin:], rows.stop))
            compare(H, rows.start, index[begin:end], at_drawn, compared[:, begin:end])
            begin = end
        chosen = int(np.argmax(gains(compared[:, :begin], index, best))) if trials > 1 else 0
        adopt(compared[chosen], index, len(seeds), best, labels)
        seeds.append(int(drawn[chosen]))
        at_seeds = np.concatenate([at_seeds, at_drawn[chosen : chosen + 1]])
        best[seeds] = 0.0
    return labels, np.array(seeds)
