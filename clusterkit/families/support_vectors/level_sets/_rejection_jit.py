"""Proof that no segment joins two components, by a map of cells or by bounds over pairs of tree nodes.

**The map** of a domain in two or three dimensions has cells certainly outside, certainly inside, or undecided.
Undecided cells, on the border, are divided until they are small. Then a sample point of a segment costs a look-up
unless it is in an undecided cell, and the sample points of all segments between two boxes lie in a box of cells, whose
cells not outside are counted by a summed-area table: the bound does not get worse with the size of the boxes.

**The tree**: pairs of its nodes are rejected together. A segment from a point of ball A to a point of ball B has its
sample point at position λ in the ball around ``(1-λ) a + λ b`` with radius ``(1-λ) r_A + λ r_B``. If the kernel sum
stays below the level in that ball, no pair of A x B is joined. For small nodes one expansion to third order at that
centre decides pair by pair, at the cost of an inner product for each pair.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple, final

import attrs
import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Counts, Indices, Labels
from clusterkit.families.support_vectors.level_sets._ascent_jit import (
    ball_workspace,
    expansion,
    is_inside,
    is_outside,
    largest_eigenvalue,
    third_derivative,
    value_terms,
)
from clusterkit.families.support_vectors.level_sets._segments_jit import ContourArrays, first_outside, segment_workspace
from clusterkit.numerics.gaussian_jit import near_sum
from clusterkit.numerics.structures_jit import find, join
from clusterkit.numerics.threads import over_rows

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
"""Largest number of cells along an axis over the d-th root of the number of points: for few points a coarse map is
enough."""
SMALLEST_EXTENT = 1e-12
"""Extent of the map along an axis on which all points are equal."""
MARGIN = 1e-6
"""Part of a cell by which boxes are widened: coordinates are rounded, and floor() may give the next cell."""
CELL_STEPS = 500
"""Cost of a cell in nanoseconds, for the choice of the ranges of the threads."""
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
            classify = partial(
                _classify, undecided, origin, size, float(np.linalg.norm(size)) / 2.0, contour, new_states
            )
            over_rows(classify, len(undecided), CELL_STEPS)
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
def _classify(cells: Any, origin: Any, size: Any, radius: Any, contour: Any, states: Any, start: Any, stop: Any) -> Any:
    """Write the states (b,) of cells `start` to `stop`, with indices (b, d), from bounds on the balls around them."""
    level, blocks = contour.level, contour.blocks
    low, high = level * (1.0 - 1e-9), level * (1.0 + 1e-9)
    y, work = np.empty(len(size)), ball_workspace(len(size), blocks)
    radius *= 1.0 + 4.0 * MARGIN
    for i in range(start, stop):
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
    """OUTSIDE if a sample point is in an outside cell, INSIDE if all are in inside ones; or UNDECIDED."""
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
    """`reject_pairs` by look-ups in the map of cells, with kernel sums only for segments with undecided cells."""
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


EXPANSION_REACH = 0.6
"""Largest radius of a ball, in units of the kernel's width, for an expansion: in larger ones the third order dominates.

An expansion costs about 1 + d / 4 kernel sums; with it 3,000 blobs in ten attributes take a ninth of the time.
"""
FEW = 8
"""Number of pairs up to which testing them one by one is cheaper than an expansion."""
BLOCK = 32
"""Largest number of points of a node whose pairs are decided one by one by an expansion: bounds the work space."""
TESTED = 64
"""Number of remaining pairs of two nodes up to which they are tested one by one instead of dividing the nodes."""
SPREAD = 5
"""Number of positions along the segment that are tried first, see `sample_order`."""


class _PairWorkspace(NamedTuple):
    """The pairs of two small nodes that are left, and their expansions.

    Parameters
    ----------
    offsets : ndarray of shape (2 BLOCK, d)
        Displacement by each point of the sample point from the centre of the ball: first the points of the first
        node, then those of the second.
    images : ndarray of shape (2 BLOCK, d)
        The offsets multiplied by the Hessian.
    terms : ndarray of shape (2 BLOCK, 2)
        Terms of first and second order of each point alone, and the length of its offset.
    left : ndarray of shape (BLOCK², 3) of int
        Pairs that are left, and the sample number at which their bound is lowest.
    bounds : ndarray of shape (BLOCK²,)
        Lowest bound of each pair left.
    """

    offsets: Array
    images: Array
    terms: Array
    left: Indices
    bounds: Array


class _SamplePoint(NamedTuple):
    """The ball that holds a sample point of all segments between two nodes, and the kernel sum at its centre.

    Parameters
    ----------
    k : int
        Sample number.
    position : float
        Position on the segments.
    reach : float
        Radius of the ball.
    value : float
    near : int
        Number of blocks near the ball.
    """

    k: int
    position: float
    reach: float
    value: float
    near: int


def sample_order(n_segment_points: int) -> Indices:
    """Sample numbers 1..m in the sequence of the tests: `SPREAD` of them over the whole segment, then the others."""
    m = n_segment_points
    spread = np.clip(np.rint((m + 1) * np.array([10, 6, 15, 3, 18]) / 21), 1, m).astype(np.int64)
    _, first = np.unique(spread, return_index=True)
    spread = spread[np.sort(first)]
    return np.concatenate([spread, np.setdiff1d(np.arange(1, m + 1), spread)])


@njit
def reject_pairs(
    stack: Any, top: Any, budget: Any, tree: Any, parent: Any, samples: Any, contour: Any, order: Any
) -> Any:
    """Reject pairs of nodes, or join points of them, until the stack is empty or `budget` kernel sums are spent.

    Parameters
    ----------
    stack : ndarray of shape (capacity, 3) of int
        Node, node, and the sample number at which the bound of the pair that contained them was lowest.
    top : int
        Number of pairs on the stack.
    budget : int
    tree : TreeArrays
    parent : ndarray of shape (u,)
        Disjoint sets.
    samples : PointArrays
    contour : ContourArrays
    order : ndarray
        Result of `sample_order`.

    Returns
    -------
    top : int
        Number of pairs that remain on the stack.
    sums : int
        Kernel sums evaluated.
    """
    points = samples.points
    m, level, blocks = contour
    rows, start, stop, children, single, centre, radius = tree
    d = points.shape[1]
    segment, ball, pairs = segment_workspace(d, contour), ball_workspace(d, blocks), _pair_workspace(d)
    y, sums = np.empty(d), np.zeros(1, dtype=np.int64)
    left = pairs.left
    low = level * (1.0 - 1e-9)
    while top > 0 and sums[0] < budget:
        top -= 1
        a, b, hint = stack[top, 0], stack[top, 1], stack[top, 2]
        if a == b:
            if not single[a]:
                top = _push_parts(stack, top, children[a, 0], children[a, 1], hint)
            continue
        if single[a] and single[b] and find(parent, rows[start[a]]) == find(parent, rows[start[b]]):
            continue
        # compute the bound at one sample number after another, until it rejects all pairs or few of them are left
        count_a, count_b = stop[a] - start[a], stop[b] - start[b]
        rejected, best, least, rest = False, hint, np.inf, -1
        for step in range(-1, len(order)):
            k = hint if step < 0 else order[step]
            if step >= 0 and _is_skipped(step, k == hint, rest):
                continue
            position = k / (m + 1)
            for c in range(d):
                y[c] = centre[a, c] + position * (centre[b, c] - centre[a, c])
            reach = ((1.0 - position) * radius[a] + position * radius[b]) * (1.0 + 1e-9)
            value, near = value_terms(y, reach, blocks, ball)
            sums[0] += 1
            if value < low and is_outside(y, reach, value, near, low, blocks, ball):
                rejected = True
                break
            if value < least:
                best, least = k, value
            if value < low and reach <= EXPANSION_REACH and count_a * count_b >= FEW:
                at = _SamplePoint(k, position, reach, value, near)
                rejected, rest = _reject_by_expansion(a, b, at, best, rest, tree, points, contour, ball, pairs, y, sums)
                if rejected or (rest <= FEW if rest >= 0 else step < 0):
                    break
        if rejected:
            continue
        leaves = children[a, 0] < 0 and children[b, 0] < 0
        if leaves and count_a * count_b > BLOCK * BLOCK:
            # large leaves consist of equal points
            for p in range(start[a], stop[a]):
                for q in range(start[b], stop[b]):
                    _test_pair(rows[p], rows[q], best, parent, samples, contour, segment, y, sums)
        elif leaves or 0 <= rest <= max(TESTED, count_a * count_b // 10):
            if rest < 0:
                rest = _all_pairs(count_a, count_b, best, pairs)
            for pair in range(rest):
                i, j = rows[start[a] + left[pair, 0]], rows[start[b] + left[pair, 1]]
                _test_pair(i, j, left[pair, 2], parent, samples, contour, segment, y, sums)
        else:
            top = _push_children(stack, top, a, b, best, children, radius)
    return top, sums[0]


@njit
def _pair_workspace(d: Any) -> Any:
    return _PairWorkspace(
        np.empty((2 * BLOCK, d)),
        np.empty((2 * BLOCK, d)),
        np.empty((2 * BLOCK, 2)),
        np.empty((BLOCK * BLOCK, 3), dtype=np.int64),
        np.empty(BLOCK * BLOCK),
    )


@njit
def _push(stack: Any, top: Any, a: Any, b: Any, hint: Any) -> Any:
    stack[top, 0], stack[top, 1], stack[top, 2] = a, b, hint


@njit
def _push_parts(stack: Any, top: Any, one: Any, other: Any, hint: Any) -> Any:
    """Replace the pair of a node with itself by the pairs of its two children; returns the new top of the stack."""
    _push(stack, top, one, one, hint)
    _push(stack, top + 1, other, other, hint)
    _push(stack, top + 2, one, other, hint)
    return top + 3


@njit
def _push_children(stack: Any, top: Any, a: Any, b: Any, hint: Any, children: Any, radius: Any) -> Any:
    """Replace a pair by two: the node with the larger radius is divided. Returns the new top of the stack."""
    leaf_a, leaf_b = children[a, 0] < 0, children[b, 0] < 0
    if leaf_b or (not leaf_a and radius[a] >= radius[b]):
        _push(stack, top, children[a, 0], b, hint)
        _push(stack, top + 1, children[a, 1], b, hint)
    else:
        _push(stack, top, a, children[b, 0], hint)
        _push(stack, top + 1, a, children[b, 1], hint)
    return top + 2


@njit
def _is_skipped(step: Any, is_hint: Any, rest: Any) -> Any:
    """Whether to skip a position: one tried already, or a late one unless many pairs of small nodes are left."""
    return is_hint or (step >= SPREAD and rest <= TESTED)


@njit
def _reject_by_expansion(
    a: Any, b: Any, at: Any, best: Any, rest: Any, tree: Any, points: Any, contour: Any, ball: Any, pairs: Any, y: Any,
    sums: Any,
) -> Any:  # fmt: skip
    """Try an expansion to third order of the kernel sum about `y`, the centre of the ball of a `_SamplePoint`.

    Returns
    -------
    rejected : bool
        Whether it rejects all pairs at once.
    rest : int
        Number of pairs of small nodes that remain in ``pairs.left``, out of the first `rest` (out of all, if that
        parameter is -1); -1 for larger nodes.
    """
    k, position, reach, value, near = at
    low = contour.level * (1.0 - 1e-9)
    steep = expansion(y, value, near, contour.blocks, ball)
    third = third_derivative(reach, near, contour.blocks, ball) / 6.0
    sums[0] += 1 + len(y) // 4
    count_a, count_b = tree.stop[a] - tree.start[a], tree.stop[b] - tree.start[b]
    if count_a > BLOCK or count_b > BLOCK:
        bound = value + reach * (steep + reach * (0.5 * largest_eigenvalue(ball.hessian) + third * reach))
        return bound < low, -1
    if rest < 0:
        rest = _all_pairs(count_a, count_b, best, pairs)
    return False, _pairs_left(k, position, a, b, tree, points, value, third, low, ball, pairs, rest)


@njit
def _all_pairs(count_a: Any, count_b: Any, k: Any, pairs: Any) -> Any:
    """Write all pairs of two small nodes to ``pairs.left``; returns their number."""
    for p in range(count_a):
        for q in range(count_b):
            _push(pairs.left, p * count_b + q, p, q, k)
            pairs.bounds[p * count_b + q] = np.inf
    return count_a * count_b


@njit
def _pairs_left(
    k: Any, position: Any, a: Any, b: Any, tree: Any, points: Any, value: Any, third: Any, low: Any, ball: Any,
    pairs: Any, rest: Any,
) -> Any:  # fmt: skip
    """Keep, among the first `rest` pairs left, those whose sample point k may be inside by a third-order expansion.

    The sample point of (i, j) is at the centre plus ``a_i + b_j``, so the quadratic form splits into terms of i, of j
    and one inner product.
    """
    order, start, stop, centre = tree.order, tree.start, tree.stop, tree.centre
    offsets, images, terms, left, bounds = pairs
    gradient, hessian = ball.gradient, ball.hessian
    d = points.shape[1]
    count_a, count_b = stop[a] - start[a], stop[b] - start[b]
    for p in range(count_a + count_b):
        first = p < count_a
        node, share = (a, 1.0 - position) if first else (b, position)
        i = order[start[a] + p] if first else order[start[b] + p - count_a]
        linear, square, length = 0.0, 0.0, 0.0
        for c in range(d):
            offsets[p, c] = share * (points[i, c] - centre[node, c])
            linear += gradient[c] * offsets[p, c]
            length += offsets[p, c] * offsets[p, c]
        for c in range(d):
            total = 0.0
            for e in range(d):
                total += hessian[c, e] * offsets[p, e]
            square += total * offsets[p, c]
            images[p, c] = total
        terms[p, 0] = linear + 0.5 * square
        terms[p, 1] = math.sqrt(length)
    count = 0
    for pair in range(rest):
        p, q = left[pair, 0], left[pair, 1]
        total = 0.0
        for c in range(d):
            total += images[p, c] * offsets[count_a + q, c]
        reach = terms[p, 1] + terms[count_a + q, 1]
        bound = value + terms[p, 0] + terms[count_a + q, 0] + total + third * reach * reach * reach
        if bound >= low:
            # a test of this pair alone begins at the sample point where the sum is probably lowest
            best, least = (k, bound) if bound < bounds[pair] else (left[pair, 2], bounds[pair])
            _push(left, count, p, q, best)
            bounds[count] = least
            count += 1
    return count


@njit
def _test_pair(i: Any, j: Any, k: Any, parent: Any, samples: Any, contour: Any, segment: Any, y: Any, sums: Any) -> Any:
    """Join i and j if the segment between them is inside; sample number k, counted from i, is evaluated first."""
    points = samples.points
    m, level, blocks = contour
    if find(parent, i) == find(parent, j):
        return
    # sample points are numbered from the smaller index on
    if i > j:
        i, j, k = j, i, m + 1 - k
    position = k / (m + 1)
    for c in range(len(y)):
        y[c] = points[i, c] + position * (points[j, c] - points[i, c])
    sums[0] += 1
    if near_sum(y, blocks, segment.squares) >= level and not first_outside(i, j, samples, contour, segment, sums):
        join(parent, i, j)
