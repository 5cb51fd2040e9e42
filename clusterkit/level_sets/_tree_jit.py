"""A tree over points in components: first the components are halved, then the points of each.

Every node is a set of whole components or a part of one, so two different nodes below a common parent never
share a component at the time the tree is built.
"""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array

__all__ = ["Tree"]


@final
@attrs.frozen(eq=False)
class Tree:
    """Nodes in arrays; the root is node 0.

    Parameters
    ----------
    order : ndarray of shape (u,)
        Points, so that every node holds a range of them.
    start, stop : ndarray of shape (nodes,)
        The ranges.
    children : ndarray of shape (nodes, 2)
        -1 for leaves.
    single : ndarray of shape (nodes,), bool
        Whether the node is within one component.
    low, high : ndarray of shape (nodes, d)
        The box around the points.
    centre : ndarray of shape (nodes, d)
        Its middle.
    radius : ndarray of shape (nodes,)
        Of the smallest ball around the centre that holds the points, widened by rounding.
    """

    order: Array
    start: Array
    stop: Array
    children: Array
    single: Array
    low: Array
    high: Array
    centre: Array
    radius: Array

    @property
    def arrays(self) -> tuple[Array, ...]:
        """What compiled functions take."""
        return self.order, self.start, self.stop, self.children, self.single, self.centre, self.radius

    @classmethod
    def of(cls, points: Array, parent: Array, leaf: int) -> Tree:
        """The tree over points whose components are `parent` (roots), with at most `leaf` points in a leaf.

        Parameters
        ----------
        points : ndarray of shape (u, d)
        parent : ndarray of shape (u,)
        leaf : int

        Notes
        -----
        O(u d log u) time, O(u d) memory. A node of equal points stays a leaf whatever its size.
        """
        _, component, sizes = np.unique(parent, return_inverse=True, return_counts=True)
        component = component.reshape(-1)
        by_component = np.argsort(component, kind="stable")
        first = np.concatenate([[0], np.cumsum(sizes)])
        means = np.add.reduceat(points[by_component], first[:-1], axis=0) / sizes[:, None]
        most = 4 * len(points) + 2
        start, stop = np.empty(most, np.int64), np.empty(most, np.int64)
        children, single = np.full((most, 2), -1, dtype=np.int64), np.zeros(most, dtype=np.bool_)
        order = np.empty(len(points), dtype=np.int64)
        nodes = _build(points, by_component, first, means, leaf, order, start, stop, children, single)
        low, high, centre = (np.empty((nodes, points.shape[1])) for _ in range(3))
        radius = np.empty(nodes)
        _measure(points, order, start, stop, low, high, centre, radius)
        return cls(order, start[:nodes], stop[:nodes], children[:nodes], single[:nodes], low, high, centre, radius)


@njit
def _select(keys: Any, order: Any, first: Any, last: Any, k: Any) -> Any:
    """Reorder order[first:last] so that the k-th smallest key is at k, smaller ones before it."""
    last -= 1
    while first < last:
        pivot = keys[order[(first + last) // 2]]
        i, j = first, last
        while i <= j:
            while keys[order[i]] < pivot:
                i += 1
            while keys[order[j]] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if k <= j:
            last = j
        elif k >= i:
            first = i
        else:
            return


@njit
def _widest(points: Any, order: Any, first: Any, last: Any) -> Any:
    """The attribute with the largest range among some points, and that range."""
    best, most = 0, -1.0
    for c in range(points.shape[1]):
        low = high = points[order[first], c]
        for i in range(first + 1, last):
            value = points[order[i], c]
            low, high = min(low, value), max(high, value)
        if high - low > most:
            best, most = c, high - low
    return best, most


@njit
def _build(
    points: Any, by_component: Any, first: Any, means: Any, leaf: Any, order: Any, start: Any, stop: Any,
    children: Any, single: Any,
) -> Any:  # fmt: skip
    count = len(first) - 1
    components = np.arange(count)
    # ranges of components while there are several, of points afterwards; a component's points start where it is put
    stack = [(0, 0, count, -1)]
    nodes, filled = 1, 0
    while len(stack):
        node, low, high, at = stack.pop()
        if at < 0 and high - low == 1:
            which = components[low]
            size = first[which + 1] - first[which]
            order[filled : filled + size] = by_component[first[which] : first[which + 1]]
            low, high, at = filled, filled + size, filled
            filled += size
        if at < 0:
            column, _ = _widest(means, components, low, high)
            middle = (low + high) // 2
            _select(means[:, column], components, low, high, middle)
            start[node], stop[node] = -1, -1
        else:
            single[node] = True
            start[node], stop[node] = low, high
            if high - low <= leaf:
                continue
            column, width = _widest(points, order, low, high)
            if not width > 0.0:
                continue
            middle = (low + high) // 2
            _select(points[:, column], order, low, high, middle)
        children[node, 0], children[node, 1] = nodes, nodes + 1
        # the left child is taken from the stack first, so ranges fill from left to right
        stack.append((nodes + 1, middle, high, at))
        stack.append((nodes, low, middle, at))
        nodes += 2
    for node in range(nodes - 1, -1, -1):
        if start[node] < 0:
            start[node] = start[children[node, 0]]
            stop[node] = stop[children[node, 1]]
    return nodes


@njit
def _measure(points: Any, order: Any, start: Any, stop: Any, low: Any, high: Any, centre: Any, radius: Any) -> Any:
    d = points.shape[1]
    for node in range(len(radius)):
        low[node] = points[order[start[node]]]
        high[node] = low[node]
        for i in range(start[node], stop[node]):
            for c in range(d):
                value = points[order[i], c]
                low[node, c] = min(low[node, c], value)
                high[node, c] = max(high[node, c], value)
        centre[node] = 0.5 * (low[node] + high[node])
        most = 0.0
        for i in range(start[node], stop[node]):
            total = 0.0
            for c in range(d):
                difference = points[order[i], c] - centre[node, c]
                total += difference * difference
            most = max(most, total)
        radius[node] = np.sqrt(most) * (1.0 + 1e-9)
