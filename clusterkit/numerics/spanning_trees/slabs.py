"""Bounds for the last rounds of Borůvka's algorithm: slabs between components that lie apart.

A search for the nearest row outside a component visits most of the component when all others are far away. But the rows
of two components end somewhere on the line through their means, and two rows are not nearer than their projections on
it. So the distance of a row's projection from the end of the other component bounds all its distances to that one, and
the two rows at the facing ends bound the least weight between the two from above.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from clusterkit._typing import Array, Indices

__all__ = ["slabs"]

ROOM = 1e-9
"""Relative room for rounding in squared distances and bounds of them: far above it, and far below what they differ."""

BLOCK = 8192
"""Rows that are projected at once: their projections on the axes of all components take about a megabyte."""


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
    count, d = len(best), rows.shape[1]
    members = [np.flatnonzero(component == c) for c in range(count)]
    means = np.stack([sum(rows[block].sum(axis=0) for block in _blocks(places)) / len(places) for places in members])
    origin = means.mean(axis=0)
    axes = means - means[:, None]  # of component c towards e
    lengths = np.sqrt((axes**2).sum(axis=2))[:, :, None]
    axes = np.divide(axes, lengths, out=np.zeros_like(axes), where=lengths > 0)
    # how far each component reaches towards each other one, and the row that does
    ends, extreme = np.full((count, count), -np.inf), np.zeros((count, count), np.int64)
    for c, places in enumerate(members):
        for block in _blocks(places):
            projected = (rows[block] - origin) @ axes[c].T
            farthest = projected.argmax(axis=0)
            reached = projected[farthest, range(count)]
            farther = reached > ends[c]
            ends[c, farther], extreme[c, farther] = reached[farther], block[farthest[farther]]
    apart = ((rows[extreme] - rows[extreme.T]) ** 2).sum(axis=2)
    weights = np.nextafter(np.maximum(apart, np.maximum(core[extreme], core[extreme.T])) * (1.0 + ROOM), np.inf)
    np.fill_diagonal(weights, np.inf)
    lowest = weights.min(axis=1)
    lower = lowest < best
    best[lower], least[lower] = lowest[lower], np.inf
    # rounding of a projection: some units of the last place for each of d products, of vectors no longer than these
    rounding = 4.0 * (d + 4) * 2.0**-52 * diagonal
    for c, places in enumerate(members):
        others = np.arange(count) != c
        for block in _blocks(places[(other[places] < 0) & (bound[places] <= best[c])]):
            gaps = -ends[others, c] - (rows[block] - origin) @ axes[c, others].T - rounding
            squares = np.maximum(gaps.min(axis=1), 0.0) ** 2 * (1.0 - ROOM)
            higher = squares > bound[block]
            bound[block[higher]] = nearest[block[higher]] = squares[higher]


def _blocks(places: Indices) -> Iterator[Indices]:
    for start in range(0, len(places), BLOCK):
        yield places[start : start + BLOCK]
