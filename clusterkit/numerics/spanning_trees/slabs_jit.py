"""Bounds for the last rounds of Borůvka's algorithm: slabs between components that lie apart.

A search for the nearest row outside a component visits most of the component when all others are far away. But the rows
of two components end somewhere on the line through their means, and two rows are not nearer than their projections on
it. So the distance of a row's projection from the end of the other component bounds all its distances to that one, and
the two rows at the facing ends bound the least weight between the two from above.
"""

from __future__ import annotations

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices

__all__ = ["slabs"]

ROOM = 1e-9
"""Relative room for rounding in squared distances and bounds of them: far above it, and far below what they differ."""


@njit
def _project(rows: Array, s: int, origin: Array, axes: Array, c: int, e: int) -> float:
    total = 0.0
    for i in range(rows.shape[1]):
        total += (rows[s, i] - origin[i]) * axes[c, e, i]
    return total


@njit
def slabs(
    rows: Array,
    component: Indices,
    core: Array,
    other: Indices,
    bound: Array,
    nearest: Array,
    best: Array,
    least: Array,
    diagonal: float,
) -> None:
    """Lower `best` to what the facing ends of components weigh, and raise the bounds of rows that may have lesser ones.

    Arguments are those of `component_candidates`, after it; `diagonal` is that of the box of all rows. A lowered `best`
    is above a weight that a search finds, by `ROOM` at least, so that the search for lesser ones finds it.
    """
    places, d = rows.shape
    count = len(best)
    means, sizes = np.zeros((count, d)), np.zeros(count)
    for s in range(places):
        c = component[s]
        if c >= 0:
            sizes[c] += 1.0
            for i in range(d):
                means[c, i] += rows[s, i]
    origin = np.zeros(d)
    for c in range(count):
        for i in range(d):
            means[c, i] /= sizes[c]
            origin[i] += means[c, i] / count
    axes = np.zeros((count, count, d))
    for c in range(count):
        for e in range(c):
            length = 0.0
            for i in range(d):
                length += (means[c, i] - means[e, i]) ** 2
            length = np.sqrt(length)
            if length > 0.0:
                for i in range(d):
                    axes[e, c, i] = (means[c, i] - means[e, i]) / length
                    axes[c, e, i] = -axes[e, c, i]
    # how far each component reaches towards each other one, and the row that does
    ends, extreme = np.full((count, count), -np.inf), np.full((count, count), -1)
    for s in range(places):
        c = component[s]
        if c >= 0:
            for e in range(count):
                if e != c:
                    place = _project(rows, s, origin, axes, c, e)
                    if place > ends[c, e]:
                        ends[c, e], extreme[c, e] = place, s
    for c in range(count):
        for e in range(count):
            if e != c:
                a, b = extreme[c, e], extreme[e, c]
                square = 0.0
                for i in range(d):
                    square += (rows[a, i] - rows[b, i]) ** 2
                weight = np.nextafter(max(square, core[a], core[b]) * (1.0 + ROOM), np.inf)
                if weight < best[c]:
                    best[c], least[c] = weight, np.inf
    # rounding of a projection: some units of the last place for each of d products, of vectors no longer than these
    rounding = 4.0 * (d + 4) * 2.0**-52 * diagonal
    for s in range(places):
        c = component[s]
        if c < 0 or other[s] >= 0 or bound[s] > best[c]:
            continue
        apart = np.inf
        for e in range(count):
            if e != c:
                gap = -ends[e, c] - _project(rows, s, origin, axes, c, e) - rounding
                apart = min(apart, max(gap, 0.0))
        apart *= apart * (1.0 - ROOM)
        if apart > bound[s]:
            bound[s], nearest[s] = apart, apart
