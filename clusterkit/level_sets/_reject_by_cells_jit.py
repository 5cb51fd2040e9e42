"""A certified map of a domain in two or three dimensions: cells that are surely outside, surely inside, or neither.

Cells on the border are split until they are small. Then a sample of a line costs a look-up unless it falls on the
border, and the samples of all lines between two boxes lie in a box of cells, whose cells not outside are counted by
a summed table: no bound loosens with the size of the boxes.
"""

from __future__ import annotations

import math
from typing import Any, final

import attrs
import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array
from clusterkit.level_sets._ball_bounds_jit import ball_space, is_alive, is_dead, value_terms
from clusterkit.level_sets._segments_jit import first_outside, line_space
from clusterkit.numerics.disjoint_jit import find, join

__all__ = ["DIMENSIONS", "CellMap", "reject_pairs_mapped"]

DIMENSIONS = (2, 3)
DEAD, ALIVE, MIXED = 0, 1, 2
COARSE = 8
# Cells finer than this part of the kernel's width decide few more samples; most cells an axis.
FINE = 0.03
MOST = {2: 512, 3: 128}
# Samples are looked up after rounding, and floor() may choose the cell beside.
MARGIN = 1e-6


@final
@attrs.frozen(eq=False)
class CellMap:
    """States of cells over the box around the samples; a line between samples stays in that box.

    Parameters
    ----------
    origin : ndarray of shape (d,)
    rate : ndarray of shape (d,)
        Cells a unit of length.
    states : ndarray of shape (c,) * 3
        A third axis of one cell in two dimensions.
    table : ndarray of shape (c + 1,) * 3
        Cells not dead below and left of each corner.
    """

    origin: Array
    rate: Array
    states: Array
    table: Array

    @classmethod
    def of(cls, points: Array, domain: tuple[Any, ...]) -> CellMap:
        """The map around scaled points (u, d), d in `DIMENSIONS`.

        O(b s) kernel values for b cells on the border, each level counted; memory O(cells).
        """
        d = points.shape[1]
        origin = points.min(axis=0)
        extent = np.maximum(points.max(axis=0) - origin, 1e-12)
        cells = COARSE
        # few samples ask for few cells
        most = min(MOST[d], 8 * len(points) ** (1.0 / d))
        while cells < most and extent.max() / cells > FINE:
            cells *= 2
        count = COARSE
        states = np.full((count,) * d, MIXED, dtype=np.uint8)
        while True:
            mixed = np.argwhere(states == MIXED)
            size = extent / count
            found = np.empty(len(mixed), dtype=np.uint8)
            _classify(mixed, origin, size, float(np.linalg.norm(size)) / 2.0, domain, found)
            states[tuple(mixed.T)] = found
            if count == cells:
                break
            for axis in range(d):
                states = np.repeat(states, 2, axis=axis)
            count *= 2
        states = states.reshape(states.shape + (1,) * (3 - d))
        table = np.zeros([size + 1 for size in states.shape], dtype=np.int64)
        table[1:, 1:, 1:] = (states != DEAD).cumsum(0).cumsum(1).cumsum(2)
        return cls(origin, count / extent, states, table)

    @property
    def arrays(self) -> tuple[Array, ...]:
        """What compiled functions take."""
        return self.origin, self.rate, self.states, self.table


@njit
def _classify(cells: Any, origin: Any, size: Any, radius: Any, domain: Any, states: Any) -> Any:
    _, level, arrays = domain
    low, high = level * (1.0 - 1e-9), level * (1.0 + 1e-9)
    y, space = np.empty(len(size)), ball_space(len(size), arrays)
    radius *= 1.0 + 4.0 * MARGIN
    for i in range(len(cells)):
        for c in range(len(size)):
            y[c] = origin[c] + (cells[i, c] + 0.5) * size[c]
        value, blocks = value_terms(y, radius, arrays, space)
        states[i] = MIXED
        if value < low:
            if is_dead(y, radius, value, blocks, low, arrays, space):
                states[i] = DEAD
        elif value >= high and is_alive(y, radius, value, blocks, high, arrays, space):
            states[i] = ALIVE


@njit
def _cell(value: Any, c: Any, cells: Any) -> Any:
    origin, rate, states, _ = cells
    return min(max(math.floor((value - origin[c]) * rate[c]), 0), states.shape[c] - 1)


@njit
def _range(a: Any, b: Any, c: Any, position: Any, boxes: Any, cells: Any) -> Any:
    """Cells from and up to, along attribute c, that samples of lines between two boxes may be in."""
    origin, rate, states, _ = cells
    low, high = boxes
    lowest = low[a, c] + position * (low[b, c] - low[a, c])
    highest = high[a, c] + position * (high[b, c] - high[a, c])
    first = math.floor((lowest - origin[c]) * rate[c] - MARGIN)
    last = math.floor((highest - origin[c]) * rate[c] + MARGIN)
    return min(max(first, 0), states.shape[c] - 1), min(max(last, 0), states.shape[c] - 1) + 1


@njit
def _any_alive(a: Any, b: Any, position: Any, boxes: Any, cells: Any) -> Any:
    """Whether a sample of a line between two boxes may be in a cell that is not dead."""
    _, _, states, table = cells
    i, p = _range(a, b, 0, position, boxes, cells)
    j, q = _range(a, b, 1, position, boxes, cells)
    k, r = (0, 1) if states.shape[2] == 1 else _range(a, b, 2, position, boxes, cells)
    total = table[p, q, r] - table[i, q, r] - table[p, j, r] - table[p, q, k]
    total += table[i, j, r] + table[i, q, k] + table[p, j, k] - table[i, j, k]
    return total > 0


@njit
def _looked_up(i: Any, j: Any, points: Any, m: Any, tried: Any, cells: Any) -> Any:
    """DEAD if a sample of the line is in a dead cell, ALIVE if all are in living ones, else MIXED."""
    states = cells[2]
    d = points.shape[1]
    unclear = False
    for t in range(len(tried)):
        position = tried[t] / (m + 1)
        x = _cell(points[i, 0] + position * (points[j, 0] - points[i, 0]), 0, cells)
        y = _cell(points[i, 1] + position * (points[j, 1] - points[i, 1]), 1, cells)
        z = _cell(points[i, 2] + position * (points[j, 2] - points[i, 2]), 2, cells) if d > 2 else 0
        state = states[x, y, z]
        if state == DEAD:
            return DEAD
        unclear = unclear or state == MIXED
    return MIXED if unclear else ALIVE


@njit
def reject_pairs_mapped(
    stack: Any, top: Any, budget: Any, tree: Any, boxes: Any, parent: Any, samples: Any, domain: Any, tried: Any,
    cells: Any,
) -> Any:  # fmt: skip
    """As `reject_pairs` of the dual tree, by look-ups; kernel sums only for lines that touch the border's cells."""
    order, start, stop, children, single, _, radius = tree
    points = samples[0]
    m, _, arrays = domain
    lines, count = line_space(points.shape[1], m, arrays), np.zeros(1, dtype=np.int64)
    looks = 0
    while top > 0 and count[0] + looks // 1000 < budget:
        top -= 1
        a, b, hint = stack[top, 0], stack[top, 1], stack[top, 2]
        if a == b:
            if not single[a]:
                one, other = children[a, 0], children[a, 1]
                stack[top, 0], stack[top, 1] = one, one
                stack[top + 1, 0], stack[top + 1, 1] = other, other
                stack[top + 2, 0], stack[top + 2, 1], stack[top + 2, 2] = one, other, tried[0]
                top += 3
            continue
        if single[a] and single[b] and find(parent, order[start[a]]) == find(parent, order[start[b]]):
            continue
        rejected = not _any_alive(a, b, hint / (m + 1), boxes, cells)
        if not rejected:
            for t in range(len(tried)):
                if not _any_alive(a, b, tried[t] / (m + 1), boxes, cells):
                    rejected, hint = True, tried[t]
                    break
            looks += len(tried)
        if rejected:
            continue
        leaf_a, leaf_b = children[a, 0] < 0, children[b, 0] < 0
        if leaf_a and leaf_b:
            for p in range(start[a], stop[a]):
                for q in range(start[b], stop[b]):
                    i, j = min(order[p], order[q]), max(order[p], order[q])
                    if find(parent, i) == find(parent, j):
                        continue
                    looks += m
                    state = _looked_up(i, j, points, m, tried, cells)
                    if state == ALIVE or (state == MIXED and not first_outside(i, j, samples, domain, lines, count)):
                        join(parent, i, j)
            continue
        if leaf_b or (not leaf_a and radius[a] >= radius[b]):
            for side in range(2):
                stack[top, 0], stack[top, 1], stack[top, 2] = children[a, side], b, hint
                top += 1
        else:
            for side in range(2):
                stack[top, 0], stack[top, 1], stack[top, 2] = a, children[b, side], hint
                top += 1
    return top, count[0]
