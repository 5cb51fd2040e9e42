"""A tree over points in components: the components are halved first, then the points of each component.

Every node is a set of whole components or a part of one, so two different nodes below a common parent share a
component only if their parent is within one, at the time the tree is built.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, final

import attrs
import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices, Mask
from clusterkit.numerics.structures_jit import number_sets
from clusterkit.numerics.threads import over_rows


class TreeArrays(NamedTuple):
    """The nodes of a `ComponentTree` for compiled functions, with the shapes given there."""

    order: Indices
    start: Indices
    stop: Indices
    children: Indices
    single: Mask
    centre: Array
    radius: Array


class BoxArrays(NamedTuple):
    """The boxes of a `ComponentTree` for compiled functions, with the shapes given there."""

    low: Array
    high: Array


@final
@attrs.frozen(eq=False)
class ComponentTree:
    """A binary tree over points, with its nodes in arrays; the root is node 0.

    Parameters
    ----------
    order : ndarray of shape (u,)
        Indices of the points in such an order that the points of every node are consecutive.
    start, stop : ndarray of shape (nodes,)
        The points of a node are ``order[start:stop]``.
    children : ndarray of shape (nodes, 2)
        Numbers of the two child nodes, -1 for leaves.
    single : ndarray of shape (nodes,), bool
        Whether all points of the node are in one component.
    low, high : ndarray of shape (nodes, d)
        Corners of the smallest box around the points of the node.
    centre : ndarray of shape (nodes, d)
        The middle of that box.
    radius : ndarray of shape (nodes,)
        Radius of the smallest ball around the centre that contains the points, increased to allow for rounding.
    """

    order: Indices
    start: Indices
    stop: Indices
    children: Indices
    single: Mask
    low: Array
    high: Array
    centre: Array
    radius: Array

    @property
    def arrays(self) -> TreeArrays:
        """The argument `tree` of compiled functions."""
        return TreeArrays(self.order, self.start, self.stop, self.children, self.single, self.centre, self.radius)

    @property
    def boxes(self) -> BoxArrays:
        """The argument `boxes` of compiled functions."""
        return BoxArrays(self.low, self.high)

    @classmethod
    def of(cls, points: Array, parent: Indices, leaf: int) -> ComponentTree:
        """The tree over points in components.

        Parameters
        ----------
        points : ndarray of shape (u, d)
        parent : ndarray of shape (u,)
            Component of each point: the root of its disjoint set.
        leaf : int
            Largest number of points in a leaf.

        Notes
        -----
        O(u d log u) time, O(u d) memory. A node of equal points is not divided, whatever its size.
        """
        component, sizes, _ = number_sets(parent, points[:, 0])
        by_component = np.argsort(component, kind="stable")
        first = np.concatenate([[0], np.cumsum(sizes)])
        means = np.add.reduceat(points[by_component], first[:-1], axis=0) / sizes[:, None]
        most = 4 * len(points) + 2
        start, stop = np.empty(most, np.int64), np.empty(most, np.int64)
        children, single = np.full((most, 2), -1, dtype=np.int64), np.zeros(most, dtype=np.bool_)
        order = np.empty(len(points), dtype=np.int64)
        nodes = _build(points, by_component, first, means, leaf, _Nodes(order, start, stop, children, single))
        low, high, centre = (np.empty((nodes, points.shape[1])) for _ in range(3))
        radius = np.empty(nodes)
        # a point is in one node of every level
        work = 4 * points.shape[1] * len(points) * nodes.bit_length() // nodes
        measure = partial(_measure, points, order, start, stop, low, high, centre, radius)
        over_rows(measure, nodes, work)
        return cls(order, start[:nodes], stop[:nodes], children[:nodes], single[:nodes], low, high, centre, radius)


class _Nodes(NamedTuple):
    """The arrays that `_build` writes, with room for all nodes; as in `ComponentTree`."""

    order: Indices
    start: Indices
    stop: Indices
    children: Indices
    single: Mask


@njit
def _select(keys: Any, order: Any, first: Any, last: Any, k: Any) -> Any:
    """Permute order[first:last] so that the k-th smallest key is at position k and smaller keys are before it."""
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
    """The attribute with the largest range among the points order[first:last], and that range."""
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
def _build(points: Any, by_component: Any, first: Any, means: Any, leaf: Any, tree: Any) -> Any:
    """Write the nodes to `tree` and return their number.

    `by_component` (u,) lists the points component by component, those of component c from ``first[c]`` on; `means`
    are the means of the components, by which they are halved.
    """
    order, start, stop, children, single = tree
    count = len(first) - 1
    components = np.arange(count)
    # (node, low, high, at): a range of components if at < 0, else a range of points, which starts at position `at`
    stack = [(0, 0, count, -1)]
    nodes, filled = 1, 0
    while len(stack):
        node, low, high, at = stack.pop()
        if at < 0 and high - low == 1:
            number = components[low]
            size = first[number + 1] - first[number]
            for i in range(size):
                order[filled + i] = by_component[first[number] + i]
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
        # the left child is on top of the stack, so `order` is filled from left to right
        stack.append((nodes + 1, middle, high, at))
        stack.append((nodes, low, middle, at))
        nodes += 2
    for node in range(nodes - 1, -1, -1):
        if start[node] < 0:
            start[node] = start[children[node, 0]]
            stop[node] = stop[children[node, 1]]
    return nodes


@njit
def _measure(
    points: Any, order: Any, start: Any, stop: Any, low: Any, high: Any, centre: Any, radius: Any, first: Any, last: Any
) -> Any:
    """Write the boxes, centres and radii of the nodes `first` to `last`."""
    d = points.shape[1]
    for node in range(first, last):
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
