"""A certified map of a domain in two or three dimensions: cells certainly outside, certainly inside, or undecided.

Undecided cells, on the border, are divided until they are small. Then a sample point of a segment costs a look-up
unless it is in an undecided cell, and the sample points of all segments between two boxes lie in a box of cells, whose
cells not outside are counted by a summed-area table: the bound does not get worse with the size of the boxes.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, final

import attrs
import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Counts, Labels
from clusterkit.level_sets._ball_bounds_jit import ball_workspace, is_inside, is_outside, value_terms
from clusterkit.level_sets._segments_jit import ContourArrays, first_outside, segment_workspace
from clusterkit.numerics.disjoint_jit import find, join

__all__ = ["DIMENSIONS", "CellArrays", "CellMap", "reject_pairs_mapped"]

DIMENSIONS = (2, 3)
"""Dimensions with a map: in more of them fine cells are too many."""
OUTSIDE, INSIDE, UNDECIDED = 0, 1, 2
"""States of a cell."""
COARSE = 8
"""Cells along an axis of the first map."""
FINE = 0.03
"""Size of the finest cells in units of the kernel's width: with finer ones few more sample points are decided."""
MOST = {2: 512, 3: 128}
"""Largest number of cells along an axis, by dimension: at most 2 MiB of states and 16 MiB of table."""
CELLS_PER_POINT = 8
"""Cells along an axis are at most so many times the d-th root of the number of points: few points need a coarse map."""
SMALLEST_EXTENT = 1e-12
"""Extent of the map along an axis on which all points are equal."""
MARGIN = 1e-6
"""Part of a cell by which boxes are widened: coordinates are rounded, and floor() may give the next cell."""
LOOK_UPS = 1000
"""Look-ups that cost about as much time as a kernel sum, for the budget."""


class CellArrays(NamedTuple):
    """A `CellMap` for compiled functions, with the shapes given there."""

    origin: Array
    rate: Array
    states: Labels
    table: Counts


@final
@attrs.frozen(eq=False)
class CellMap:
    """States of cells over the box around the points; a segment between points stays in that box.

    Parameters
    ----------
    origin : ndarray of shape (d,)
        Lowest corner of the box.
    rate : ndarray of shape (d,)
        Cells per unit of length, along each axis.
    states : ndarray of shape (c,) * 3
        `OUTSIDE`, `INSIDE` or `UNDECIDED`; with a third axis of one cell in two dimensions.
    table : ndarray of shape (c + 1,) * 3
        Number of cells not outside that are below each corner along all axes.
    """

    origin: Array
    rate: Array
    states: Labels
    table: Counts

    @classmethod
    def of(cls, points: Array, contour: ContourArrays) -> CellMap:
        """The map around scaled points (u, d), d in `DIMENSIONS`.

        O(b s) kernel values for b cells on the border, summed over all sizes of cells; memory O(cells).
        """
        d = points.shape[1]
        origin = points.min(axis=0)
        extent = np.maximum(points.max(axis=0) - origin, SMALLEST_EXTENT)
        cells = COARSE
        most = min(MOST[d], CELLS_PER_POINT * len(points) ** (1.0 / d))
        while cells < most and extent.max() / cells > FINE:
            cells *= 2
        count = COARSE
        states = np.full((count,) * d, UNDECIDED, dtype=np.uint8)
        while True:
            undecided = np.argwhere(states == UNDECIDED)
            size = extent / count
            new_states = np.empty(len(undecided), dtype=np.uint8)
            _classify(undecided, origin, size, float(np.linalg.norm(size)) / 2.0, contour, new_states)
            states[tuple(undecided.T)] = new_states
            if count == cells:
                break
            for axis in range(d):
                states = np.repeat(states, 2, axis=axis)
            count *= 2
        states = states.reshape(states.shape + (1,) * (3 - d))
        table = np.zeros([size + 1 for size in states.shape], dtype=np.int64)
        table[1:, 1:, 1:] = (states != OUTSIDE).cumsum(0).cumsum(1).cumsum(2)
        return cls(origin, count / extent, states, table)

    @property
    def arrays(self) -> CellArrays:
        """The argument `cells` of compiled functions."""
        return CellArrays(self.origin, self.rate, self.states, self.table)


@njit
def _classify(cells: Any, origin: Any, size: Any, radius: Any, contour: Any, states: Any) -> Any:
    """Write the states (b,) of cells with indices (b, d), from bounds on the balls around them."""
    level, blocks = contour.level, contour.blocks
    low, high = level * (1.0 - 1e-9), level * (1.0 + 1e-9)
    y, work = np.empty(len(size)), ball_workspace(len(size), blocks)
    radius *= 1.0 + 4.0 * MARGIN
    for i in range(len(cells)):
        for c in range(len(size)):
            y[c] = origin[c] + (cells[i, c] + 0.5) * size[c]
        value, near = value_terms(y, radius, blocks, work)
        states[i] = UNDECIDED
        if value < low:
            if is_outside(y, radius, value, near, low, blocks, work):
                states[i] = OUTSIDE
        elif value >= high and is_inside(y, radius, value, near, high, blocks, work):
            states[i] = INSIDE


@njit
def _cell(value: Any, c: Any, cells: Any) -> Any:
    """Index of the cell along axis c for a coordinate."""
    return min(max(math.floor((value - cells.origin[c]) * cells.rate[c]), 0), cells.states.shape[c] - 1)


@njit
def _range(a: Any, b: Any, c: Any, position: Any, boxes: Any, cells: Any) -> Any:
    """First cell and last cell + 1, along axis c, that points at a position of segments between two boxes may be in."""
    origin, rate, count = cells.origin[c], cells.rate[c], cells.states.shape[c]
    lowest = boxes.low[a, c] + position * (boxes.low[b, c] - boxes.low[a, c])
    highest = boxes.high[a, c] + position * (boxes.high[b, c] - boxes.high[a, c])
    first = math.floor((lowest - origin) * rate - MARGIN)
    last = math.floor((highest - origin) * rate + MARGIN)
    return min(max(first, 0), count - 1), min(max(last, 0), count - 1) + 1


@njit
def _all_outside(a: Any, b: Any, position: Any, boxes: Any, cells: Any) -> Any:
    """Whether all points at a position of segments between the boxes of two nodes are in cells outside."""
    states, table = cells.states, cells.table
    i, p = _range(a, b, 0, position, boxes, cells)
    j, q = _range(a, b, 1, position, boxes, cells)
    k, r = (0, 1) if states.shape[2] == 1 else _range(a, b, 2, position, boxes, cells)
    total = table[p, q, r] - table[i, q, r] - table[p, j, r] - table[p, q, k]
    total += table[i, j, r] + table[i, q, k] + table[p, j, k] - table[i, j, k]
    return total <= 0


@njit
def _segment_state(i: Any, j: Any, points: Any, order: Any, cells: Any) -> Any:
    """OUTSIDE if a sample point of the segment is in such a cell, INSIDE if all are in such cells, else UNDECIDED."""
    states = cells.states
    d = points.shape[1]
    undecided = False
    for t in range(len(order)):
        position = order[t] / (len(order) + 1)
        x = _cell(points[i, 0] + position * (points[j, 0] - points[i, 0]), 0, cells)
        y = _cell(points[i, 1] + position * (points[j, 1] - points[i, 1]), 1, cells)
        z = _cell(points[i, 2] + position * (points[j, 2] - points[i, 2]), 2, cells) if d > 2 else 0
        state = states[x, y, z]
        if state == OUTSIDE:
            return OUTSIDE
        undecided = undecided or state == UNDECIDED
    return UNDECIDED if undecided else INSIDE


@njit
def reject_pairs_mapped(
    stack: Any, top: Any, budget: Any, tree: Any, parent: Any, samples: Any, contour: Any, order: Any, boxes: Any,
    cells: Any,
) -> Any:  # fmt: skip
    """As `reject_pairs` of `_reject_by_tree_jit`, by look-ups; kernel sums only for segments with undecided cells."""
    rows, start, stop, children, single, _, radius = tree
    points, m = samples.points, contour.n_segment_points
    work, sums = segment_workspace(points.shape[1], contour), np.zeros(1, dtype=np.int64)
    look_ups = 0
    while top > 0 and sums[0] + look_ups // LOOK_UPS < budget:
        top -= 1
        a, b, hint = stack[top, 0], stack[top, 1], stack[top, 2]
        if a == b:
            if not single[a]:
                one, other = children[a, 0], children[a, 1]
                stack[top, 0], stack[top, 1] = one, one
                stack[top + 1, 0], stack[top + 1, 1] = other, other
                stack[top + 2, 0], stack[top + 2, 1], stack[top + 2, 2] = one, other, order[0]
                top += 3
            continue
        if single[a] and single[b] and find(parent, rows[start[a]]) == find(parent, rows[start[b]]):
            continue
        rejected = _all_outside(a, b, hint / (m + 1), boxes, cells)
        if not rejected:
            for t in range(len(order)):
                if _all_outside(a, b, order[t] / (m + 1), boxes, cells):
                    rejected, hint = True, order[t]
                    break
            look_ups += len(order)
        if rejected:
            continue
        leaf_a, leaf_b = children[a, 0] < 0, children[b, 0] < 0
        if leaf_a and leaf_b:
            for p in range(start[a], stop[a]):
                for q in range(start[b], stop[b]):
                    i, j = min(rows[p], rows[q]), max(rows[p], rows[q])
                    if find(parent, i) == find(parent, j):
                        continue
                    look_ups += m
                    state = _segment_state(i, j, points, order, cells)
                    if state == UNDECIDED and not first_outside(i, j, samples, contour, work, sums):
                        state = INSIDE
                    if state == INSIDE:
                        join(parent, i, j)
        elif leaf_b or (not leaf_a and radius[a] >= radius[b]):
            for side in range(2):
                stack[top, 0], stack[top, 1], stack[top, 2] = children[a, side], b, hint
                top += 1
        else:
            for side in range(2):
                stack[top, 0], stack[top, 1], stack[top, 2] = a, children[b, side], hint
                top += 1
    return top, sums[0] + look_ups // LOOK_UPS
