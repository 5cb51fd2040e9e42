"""Proof that no line joins two components: pairs of tree nodes are rejected together by bounds on the domain.

A line from a point of ball A to one of ball B has its sample λ in the ball around ``(1-λ) a + λ b`` with radius
``(1-λ) r_A + λ r_B``. If the domain's value stays below the level in that ball, no pair of A x B is joined. For
small nodes one expansion to third order at that centre decides pair by pair, at the price of an inner product each.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array
from clusterkit.level_sets._ball_bounds_jit import (
    ball_space,
    expansion,
    is_dead,
    largest_eigenvalue,
    third_derivative,
    value_terms,
)
from clusterkit.level_sets._segments_jit import first_outside, line_space
from clusterkit.numerics.disjoint_jit import find, join
from clusterkit.numerics.near_jit import near_sum

__all__ = ["reject_pairs", "sample_order"]

# An expansion costs about 1 + d / 4 kernel sums: worth it in small balls for more than a few pairs.
EXPANSION_REACH = 0.6
FEW = 8
BLOCK = 32
# Pairs that are tested one by one rather than split further.
TESTED = 64
SPREAD = 5


def sample_order(m: int) -> Array:
    """Sample numbers 1..m in the order they are tried at: `SPREAD` of them over the whole line, then the others."""
    spread = np.clip(np.rint((m + 1) * np.array([10, 6, 15, 3, 18]) / 21), 1, m).astype(np.int64)
    _, first = np.unique(spread, return_index=True)
    spread = spread[np.sort(first)]
    return np.concatenate([spread, np.setdiff1d(np.arange(1, m + 1), spread)])


@njit
def reject_pairs(
    stack: Any, top: Any, budget: Any, tree: Any, parent: Any, samples: Any, domain: Any, tried: Any
) -> Any:
    """Work off pairs of nodes until `budget` kernel sums: what is left of the stack, and kernel sums done.

    Parameters
    ----------
    stack : ndarray of shape (capacity, 3) of int
        Node, node, and the sample number that their parents came nearest to a rejection at.
    top : int
        Pairs on the stack.
    budget : int
    tree, parent, samples, domain
        Arrays of a `Tree`, disjoint sets, and as in `first_outside`.
    tried : ndarray
        From `sample_order`.
    """
    order, start, stop, children, single, centre, radius = tree
    points = samples[0]
    m, level, arrays = domain
    d = points.shape[1]
    lines, count = line_space(d, m, arrays), np.zeros(1, dtype=np.int64)
    ball, y = ball_space(d, arrays), np.empty(d)
    pairs = _pair_space(d)
    left = pairs[3]
    low = level * (1.0 - 1e-9)
    while top > 0 and count[0] < budget:
        top -= 1
        a, b, hint = stack[top, 0], stack[top, 1], stack[top, 2]
        if a == b:
            if not single[a]:
                one, other = children[a, 0], children[a, 1]
                _push(stack, top, one, one, hint)
                _push(stack, top + 1, other, other, hint)
                _push(stack, top + 2, one, other, hint)
                top += 3
            continue
        if single[a] and single[b] and find(parent, order[start[a]]) == find(parent, order[start[b]]):
            continue
        count_a, count_b = stop[a] - start[a], stop[b] - start[b]
        small = count_a <= BLOCK and count_b <= BLOCK
        rejected, best, least, rest = False, hint, np.inf, -1
        for step in range(-1, len(tried)):
            k = hint if step < 0 else tried[step]
            # beyond the spread only for small nodes of which many pairs are left
            if step >= 0 and (k == hint or (step >= SPREAD and rest <= TESTED)):
                continue
            position = k / (m + 1)
            for c in range(d):
                y[c] = centre[a, c] + position * (centre[b, c] - centre[a, c])
            reach = ((1.0 - position) * radius[a] + position * radius[b]) * (1.0 + 1e-9)
            value, blocks = value_terms(y, reach, arrays, ball)
            count[0] += 1
            if value < low and is_dead(y, reach, value, blocks, low, arrays, ball):
                rejected = True
                break
            if value < least:
                best, least = k, value
            if value >= low or reach > EXPANSION_REACH or count_a * count_b < FEW:
                continue
            steep = expansion(y, value, blocks, arrays, ball)
            third = third_derivative(reach, blocks, arrays, ball) / 6.0
            count[0] += 1 + d // 4
            if small:
                if rest < 0:
                    rest = _all_pairs(count_a, count_b, best, pairs)
                rest = _pairs_left(k, position, a, b, tree, points, value, third, low, ball, pairs, rest)
                if rest <= FEW:
                    break
            elif value + reach * (steep + reach * (0.5 * largest_eigenvalue(ball[4]) + third * reach)) < low:
                rejected = True
                break
            elif step < 0:
                break
        if rejected:
            continue
        leaf_a, leaf_b = children[a, 0] < 0, children[b, 0] < 0
        leaves = leaf_a and leaf_b
        if leaves and count_a * count_b > BLOCK * BLOCK:
            # equal points, of any number: nothing to divide
            _test_pairs(a, b, best, tree, parent, samples, domain, lines, count, y)
        elif leaves or 0 <= rest <= max(TESTED, count_a * count_b // 10):
            if rest < 0:
                rest = _all_pairs(count_a, count_b, best, pairs)
            for pair in range(rest):
                i, j = order[start[a] + left[pair, 0]], order[start[b] + left[pair, 1]]
                _test_pair(i, j, left[pair, 2], parent, samples, domain, lines, count, y)
        elif leaf_b or (not leaf_a and radius[a] >= radius[b]):
            _push(stack, top, children[a, 0], b, best)
            _push(stack, top + 1, children[a, 1], b, best)
            top += 2
        else:
            _push(stack, top, a, children[b, 0], best)
            _push(stack, top + 1, a, children[b, 1], best)
            top += 2
    return top, count[0]


@njit
def _push(stack: Any, top: Any, a: Any, b: Any, hint: Any) -> Any:
    stack[top, 0], stack[top, 1], stack[top, 2] = a, b, hint


@njit
def _pair_space(d: Any) -> Any:
    """Work space of small node pairs: offsets, their images, (sum, length), pairs left with a sample, their bounds."""
    return (
        np.empty((2 * BLOCK, d)),
        np.empty((2 * BLOCK, d)),
        np.empty((2 * BLOCK, 2)),
        np.empty((BLOCK * BLOCK, 3), dtype=np.int64),
        np.empty(BLOCK * BLOCK),
    )


@njit
def _all_pairs(count_a: Any, count_b: Any, k: Any, pairs: Any) -> Any:
    left, bounds = pairs[3], pairs[4]
    for p in range(count_a):
        for q in range(count_b):
            _push(left, p * count_b + q, p, q, k)
            bounds[p * count_b + q] = np.inf
    return count_a * count_b


@njit
def _pairs_left(
    k: Any, position: Any, a: Any, b: Any, tree: Any, points: Any, value: Any, third: Any, low: Any, ball: Any,
    pairs: Any, rest: Any,
) -> Any:  # fmt: skip
    """Keep those of the first `rest` pairs left whose sample k may be inside by the expansion to third order.

    The sample of (i, j) is off the centre by ``a_i + b_j``, so the quadratic form splits into terms of i, of j and
    one inner product.
    """
    order, start, stop, _, _, centre, _ = tree
    moved, bent, facts, left, bounds = pairs
    gradient, hessian = ball[3], ball[4]
    d = points.shape[1]
    count_a, count_b = stop[a] - start[a], stop[b] - start[b]
    for p in range(count_a + count_b):
        first = p < count_a
        node, share = (a, 1.0 - position) if first else (b, position)
        i = order[start[a] + p] if first else order[start[b] + p - count_a]
        linear, square, length = 0.0, 0.0, 0.0
        for c in range(d):
            moved[p, c] = share * (points[i, c] - centre[node, c])
            linear += gradient[c] * moved[p, c]
            length += moved[p, c] * moved[p, c]
        for c in range(d):
            total = 0.0
            for e in range(d):
                total += hessian[c, e] * moved[p, e]
            square += total * moved[p, c]
            bent[p, c] = total
        facts[p, 0] = linear + 0.5 * square
        facts[p, 1] = math.sqrt(length)
    count = 0
    for pair in range(rest):
        p, q = left[pair, 0], left[pair, 1]
        total = 0.0
        for c in range(d):
            total += bent[p, c] * moved[count_a + q, c]
        reach = facts[p, 1] + facts[count_a + q, 1]
        bound = value + facts[p, 0] + facts[count_a + q, 0] + total + third * reach * reach * reach
        if bound >= low:
            # where the sample is probably lowest is where a test of this pair alone begins
            best, least = (k, bound) if bound < bounds[pair] else (left[pair, 2], bounds[pair])
            _push(left, count, p, q, best)
            bounds[count] = least
            count += 1
    return count


@njit
def _test_pairs(
    a: Any, b: Any, hint: Any, tree: Any, parent: Any, samples: Any, domain: Any, lines: Any, count: Any, y: Any
) -> Any:
    order, start, stop = tree[0], tree[1], tree[2]
    for p in range(start[a], stop[a]):
        for q in range(start[b], stop[b]):
            _test_pair(order[p], order[q], hint, parent, samples, domain, lines, count, y)


@njit
def _test_pair(i: Any, j: Any, k: Any, parent: Any, samples: Any, domain: Any, lines: Any, count: Any, y: Any) -> Any:
    """Join i and j if the line between them is inside, sample k (counted from i) first."""
    points = samples[0]
    m, level, arrays = domain
    if find(parent, i) == find(parent, j):
        return
    # samples are numbered from the smaller index on
    if i > j:
        i, j, k = j, i, m + 1 - k
    position = k / (m + 1)
    for c in range(len(y)):
        y[c] = points[i, c] + position * (points[j, c] - points[i, c])
    count[0] += 1
    if near_sum(y, arrays, lines[3]) >= level and not first_outside(i, j, samples, domain, lines, count):
        join(parent, i, j)
