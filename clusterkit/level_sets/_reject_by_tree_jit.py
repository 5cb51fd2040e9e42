"""Proof that no segment joins two components: pairs of tree nodes are rejected together by bounds on the kernel sum.

A segment from a point of ball A to a point of ball B has its sample point at position λ in the ball around
``(1-λ) a + λ b`` with radius ``(1-λ) r_A + λ r_B``. If the kernel sum stays below the level in that ball, no pair of
A x B is joined. For small nodes one expansion to third order at that centre decides pair by pair, at the cost of an
inner product for each pair.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array
from clusterkit.level_sets._ball_bounds_jit import (
    BallWorkspace,
    ball_workspace,
    expansion,
    is_outside,
    largest_eigenvalue,
    third_derivative,
    value_terms,
)
from clusterkit.level_sets._segments_jit import SegmentWorkspace, first_outside, segment_workspace
from clusterkit.numerics.disjoint_jit import find, join
from clusterkit.numerics.near_jit import near_sum

__all__ = ["reject_pairs", "sample_order"]

EXPANSION_REACH = 0.6
"""Largest radius of a ball, in units of the kernel's width, for an expansion: in larger ones the third order dominates.

An expansion costs about 1 + d / 4 kernel sums.
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
        That bound.
    """

    offsets: Array
    images: Array
    terms: Array
    left: Array
    bounds: Array


class _RejectionWorkspace(NamedTuple):
    """Work space of `reject_pairs`.

    Parameters
    ----------
    segment : SegmentWorkspace
    ball : BallWorkspace
    pairs : _PairWorkspace
    y : ndarray of shape (d,)
        A sample point.
    sums : ndarray of shape (1,)
        Counter of kernel sums.
    """

    segment: SegmentWorkspace
    ball: BallWorkspace
    pairs: _PairWorkspace
    y: Array
    sums: Array


def sample_order(n_segment_points: int) -> Array:
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
        From `sample_order`.

    Returns
    -------
    top : int
        Number of pairs that remain on the stack.
    sums : int
        Kernel sums evaluated.
    """
    work = _workspace(samples.points.shape[1], contour)
    while top > 0 and work.sums[0] < budget:
        top -= 1
        a, b, hint = stack[top, 0], stack[top, 1], stack[top, 2]
        if a == b:
            if not tree.single[a]:
                one, other = tree.children[a, 0], tree.children[a, 1]
                _push(stack, top, one, one, hint)
                _push(stack, top + 1, other, other, hint)
                _push(stack, top + 2, one, other, hint)
                top += 3
            continue
        first_a, first_b = tree.order[tree.start[a]], tree.order[tree.start[b]]
        if tree.single[a] and tree.single[b] and find(parent, first_a) == find(parent, first_b):
            continue
        rejected, best, rest = _reject_together(a, b, hint, tree, samples, contour, order, work)
        if not rejected and not _tested_singly(a, b, best, rest, tree, parent, samples, contour, work):
            top = _push_children(a, b, best, tree, stack, top)
    return top, work.sums[0]


@njit
def _workspace(d: Any, contour: Any) -> Any:
    pairs = _PairWorkspace(
        np.empty((2 * BLOCK, d)),
        np.empty((2 * BLOCK, d)),
        np.empty((2 * BLOCK, 2)),
        np.empty((BLOCK * BLOCK, 3), dtype=np.int64),
        np.empty(BLOCK * BLOCK),
    )
    ball, segment = ball_workspace(d, contour.blocks), segment_workspace(d, contour)
    return _RejectionWorkspace(segment, ball, pairs, np.empty(d), np.zeros(1, dtype=np.int64))


@njit
def _push(stack: Any, top: Any, a: Any, b: Any, hint: Any) -> Any:
    stack[top, 0], stack[top, 1], stack[top, 2] = a, b, hint


@njit
def _push_children(a: Any, b: Any, hint: Any, tree: Any, stack: Any, top: Any) -> Any:
    """Replace a pair by two: the node with the larger radius is divided. Returns the new top of the stack."""
    leaf_a, leaf_b = tree.children[a, 0] < 0, tree.children[b, 0] < 0
    if leaf_b or (not leaf_a and tree.radius[a] >= tree.radius[b]):
        _push(stack, top, tree.children[a, 0], b, hint)
        _push(stack, top + 1, tree.children[a, 1], b, hint)
    else:
        _push(stack, top, a, tree.children[b, 0], hint)
        _push(stack, top + 1, a, tree.children[b, 1], hint)
    return top + 2


@njit
def _reject_together(
    a: Any, b: Any, hint: Any, tree: Any, samples: Any, contour: Any, order: Any, work: Any
) -> Any:  # fmt: skip
    """Try to reject all pairs of two nodes by the bound at one sample number, that of `hint` first.

    Returns
    -------
    rejected : bool
        Whether no segment between the nodes is inside.
    best : int
        The sample number with the lowest kernel sum at the centre of its ball.
    rest : int
        Number of pairs of small nodes that expansions did not reject, in ``work.pairs.left``; -1 if none was made.
    """
    m, level, blocks = contour
    ball, y, sums = work.ball, work.y, work.sums
    low = level * (1.0 - 1e-9)
    count_a, count_b = tree.stop[a] - tree.start[a], tree.stop[b] - tree.start[b]
    small = count_a <= BLOCK and count_b <= BLOCK
    best, least, rest = hint, np.inf, -1
    for step in range(-1, len(order)):
        k = hint if step < 0 else order[step]
        # positions after the first `SPREAD` only for small nodes of which many pairs are left
        if step >= 0 and (k == hint or (step >= SPREAD and rest <= TESTED)):
            continue
        position = k / (m + 1)
        for c in range(len(y)):
            y[c] = tree.centre[a, c] + position * (tree.centre[b, c] - tree.centre[a, c])
        reach = ((1.0 - position) * tree.radius[a] + position * tree.radius[b]) * (1.0 + 1e-9)
        value, near = value_terms(y, reach, blocks, ball)
        sums[0] += 1
        if value < low and is_outside(y, reach, value, near, low, blocks, ball):
            return True, best, rest
        if value < least:
            best, least = k, value
        if value >= low or reach > EXPANSION_REACH or count_a * count_b < FEW:
            continue
        steep = expansion(y, value, near, blocks, ball)
        third = third_derivative(reach, near, blocks, ball) / 6.0
        sums[0] += 1 + len(y) // 4
        if small:
            if rest < 0:
                rest = _all_pairs(count_a, count_b, best, work.pairs)
            rest = _pairs_left(k, position, a, b, tree, samples.points, value, third, low, work, rest)
            if rest <= FEW:
                break
        elif value + reach * (steep + reach * (0.5 * largest_eigenvalue(ball.hessian) + third * reach)) < low:
            return True, best, rest
        elif step < 0:
            break
    return False, best, rest


@njit
def _tested_singly(
    a: Any, b: Any, best: Any, rest: Any, tree: Any, parent: Any, samples: Any, contour: Any, work: Any
) -> Any:
    """Test the remaining pairs one by one if they are few or the nodes cannot be divided; whether that was done."""
    count_a, count_b = tree.stop[a] - tree.start[a], tree.stop[b] - tree.start[b]
    leaves = tree.children[a, 0] < 0 and tree.children[b, 0] < 0
    if leaves and count_a * count_b > BLOCK * BLOCK:
        # a large leaf consists of equal points
        for p in range(tree.start[a], tree.stop[a]):
            for q in range(tree.start[b], tree.stop[b]):
                _test_pair(tree.order[p], tree.order[q], best, parent, samples, contour, work)
        return True
    if leaves or 0 <= rest <= max(TESTED, count_a * count_b // 10):
        if rest < 0:
            rest = _all_pairs(count_a, count_b, best, work.pairs)
        left = work.pairs.left
        for pair in range(rest):
            i, j = tree.order[tree.start[a] + left[pair, 0]], tree.order[tree.start[b] + left[pair, 1]]
            _test_pair(i, j, left[pair, 2], parent, samples, contour, work)
        return True
    return False


@njit
def _all_pairs(count_a: Any, count_b: Any, k: Any, pairs: Any) -> Any:
    """Write all pairs of two small nodes to ``pairs.left``; their number."""
    for p in range(count_a):
        for q in range(count_b):
            _push(pairs.left, p * count_b + q, p, q, k)
            pairs.bounds[p * count_b + q] = np.inf
    return count_a * count_b


@njit
def _pairs_left(
    k: Any, position: Any, a: Any, b: Any, tree: Any, points: Any, value: Any, third: Any, low: Any, work: Any,
    rest: Any,
) -> Any:  # fmt: skip
    """Of the first `rest` pairs left keep those whose sample point k may be inside by the expansion to third order.

    The sample point of (i, j) is off the centre by ``a_i + b_j``, so the quadratic form splits into terms of i, of j
    and one inner product.
    """
    order, start, stop, centre = tree.order, tree.start, tree.stop, tree.centre
    offsets, images, terms, left, bounds = work.pairs
    gradient, hessian = work.ball.gradient, work.ball.hessian
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
def _test_pair(i: Any, j: Any, k: Any, parent: Any, samples: Any, contour: Any, work: Any) -> Any:
    """Join i and j if the segment between them is inside; sample number k, counted from i, is evaluated first."""
    points, y = samples.points, work.y
    m, level, blocks = contour
    if find(parent, i) == find(parent, j):
        return
    # sample points are numbered from the smaller index on
    if i > j:
        i, j, k = j, i, m + 1 - k
    position = k / (m + 1)
    for c in range(len(y)):
        y[c] = points[i, c] + position * (points[j, c] - points[i, c])
    work.sums[0] += 1
    if near_sum(y, blocks, work.segment.squares) >= level and not first_outside(
        i, j, samples, contour, work.segment, work.sums
    ):
        join(parent, i, j)
