"""Labellings of a domain without any short cut: every pair, every sample of every segment, every ascent to its end.

Graphs over the samples inside (complete, of neighbours, of support vectors) and basins of the ascent; components by
breadth-first search or by relabelling.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components


def line_values(value, a, b, n_segment_points):
    """Values at the sample points between two points."""
    fractions = np.arange(1, n_segment_points + 1)[:, None] / (n_segment_points + 1)
    return value(a + fractions * (b - a))


def canonical(labels):
    """Numbered by first appearance, -1 kept."""
    number = {}
    return np.array([-1 if label < 0 else number.setdefault(label, len(number)) for label in labels])


def complete_graph(value, level, points, n_segment_points=20, outliers="noise", min_cluster_size=1):
    """Labels, and how near any value came to the level: below 1e-10 rounding decides."""
    n = len(points)
    g = value(points)
    margin = np.abs(g - level).min()
    inside = g >= level
    if n == 1:
        inside[:] = True
    edge = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(i):
            if inside[i] and inside[j]:
                samples = line_values(value, points[i], points[j], n_segment_points)
                margin = min(margin, np.abs(samples - level).min())
                edge[i, j] = edge[j, i] = bool((samples >= level).all())
    labels = np.full(n, -1)
    for first in range(n):
        if not inside[first] or labels[first] >= 0:
            continue
        labels[first], queue = first, deque([first])
        while queue:
            i = queue.popleft()
            for j in np.flatnonzero(edge[i] & (labels < 0)):
                labels[j] = first
                queue.append(j)
    for label in np.unique(labels[labels >= 0]):
        if (labels == label).sum() < min_cluster_size and n > 1:
            labels[labels == label] = -1
    return canonical(_outliers(points, labels, outliers)), margin


def _outliers(points, labels, policy):
    out, labelled = np.flatnonzero(labels < 0), np.flatnonzero(labels >= 0)
    labels = labels.copy()
    if policy == "nearest":
        for i in out:
            if not len(labelled):
                labels[i] = 0
                continue
            labels[i] = labels[labelled[np.argmin(np.square(points[labelled] - points[i]).sum(axis=1))]]
    if policy == "singleton":
        for i in out:
            equal = np.flatnonzero((points == points[i]).all(axis=1))
            labels[i] = len(points) + equal[0]
    return labels


def predict(value, level, points, labels, new, n_segment_points=20, outliers="noise"):
    """Labels of new points, where no component was removed for its size."""
    inside = np.flatnonzero(value(points) >= level)
    predicted, margin = np.full(len(new), -1), np.inf
    for position, y in enumerate(new):
        g = value(y[None])[0]
        margin = min(margin, abs(g - level))
        if g >= level:
            for j in inside[np.argsort(np.square(points[inside] - y).sum(axis=1), kind="stable")]:
                samples = line_values(value, y, points[j], n_segment_points)
                margin = min(margin, np.abs(samples - level).min())
                if (samples >= level).all():
                    predicted[position] = labels[j]
                    break
        if predicted[position] < 0 and outliers == "nearest":
            nearest = np.argmin(np.square(points[inside] - y).sum(axis=1)) if len(inside) else None
            predicted[position] = 0 if nearest is None else labels[inside[nearest]]
    return predicted, margin


def kernel_sum(Y, centres, weights, gamma):
    """``Σ weights_s exp(-gamma |y - x_s|²)`` from explicit differences, (p,)."""
    values = np.empty(len(Y))
    for start in range(0, len(Y), 8192):
        block = Y[start : start + 8192]
        squares = np.zeros((len(block), len(centres)))
        for column in range(Y.shape[1]):
            squares += np.square(block[:, column, None] - centres[:, column])
        values[start : start + 8192] = np.exp(-gamma * squares) @ weights
    return values


def complete_graph_of_sum(points, centres, weights, gamma, level, n_segment_points):
    """Labels with noise -1, and how near any value came to the level, relative to it."""
    values = kernel_sum(points, centres, weights, gamma)
    margin = np.abs(values / level - 1.0).min()
    inside = np.flatnonzero(values >= level) if len(points) > 1 else np.arange(1)
    i, j = (inside[side] for side in np.triu_indices(len(inside), 1))
    edge = np.ones(len(i), dtype=bool)
    for k in range(1, n_segment_points + 1):
        fraction = k / (n_segment_points + 1)
        values = kernel_sum(points[i] + fraction * (points[j] - points[i]), centres, weights, gamma)
        # a line of length 0 has no samples
        between = (points[i] != points[j]).any(axis=1)
        margin = min(margin, np.abs(values[between] / level - 1.0).min(initial=np.inf))
        edge &= (values >= level) | ~between
    n = len(points)
    _, part = connected_components(coo_array((np.ones(edge.sum()), (i[edge], j[edge])), shape=(n, n)), directed=False)
    labels = np.full(n, -1)
    labels[inside] = part[inside]
    return canonical(labels), margin


def sums_on_segment(D, i, j, centres, weights, gamma, n_segment_points):
    """The kernel sum at the sample points between points i and j, from squared distances D (u, u); (m,)."""
    position = (np.arange(1, n_segment_points + 1) / (n_segment_points + 1))[:, None]
    squares = (1 - position) * D[i, centres] + position * D[j, centres] - position * (1 - position) * D[i, j]
    return np.exp(-gamma * squares) @ weights


def joined_components(edges, inside, is_connected):
    """Number of the component of each point, joined by the edges between points inside that are connected."""
    component = np.arange(len(inside))
    for i, j in edges:
        if inside[i] and inside[j] and component[i] != component[j] and is_connected(i, j):
            component[component == component[j]] = component[i]
    return component


def shares(x, centres, weights, gamma):
    """The share of each centre in the kernel sum at x, computed relative to the largest term, so never 0 / 0."""
    exponents = np.log(weights) - gamma * np.square(x - centres).sum(axis=1)
    p = np.exp(exponents - exponents.max())
    return p / p.sum()


def shift(x, centres, weights, gamma):
    """Points after one step of the ascent."""
    return shares(x, centres, weights, gamma) @ centres


def curvature(x, centres, weights, gamma):
    """Largest eigenvalue of the Hessian of log g, divided by 2 gamma: below 0 at a maximum."""
    centred = centres - shift(x, centres, weights, gamma)
    covariance = (centred * shares(x, centres, weights, gamma)[:, None]).T @ centred
    return 2.0 * gamma * np.linalg.eigvalsh(covariance)[-1] - 1.0


def ascend(x, centres, weights, gamma, tol=1e-7, max_iter=1500):
    """The fixed point that steps from x lead to."""
    for _ in range(max_iter):
        y = shift(x, centres, weights, gamma)
        if np.linalg.norm(y - x) <= tol / np.sqrt(2 * gamma):
            return y
        x = y
    return None


def single_link(points, radius):
    """Group of each point, and how near any distance came to the radius, relative to it."""
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    off = distances[~np.eye(len(points), dtype=bool)]
    margin = np.abs(off / radius - 1.0).min() if len(off) else np.inf
    return connected(distances <= radius), margin


def connected(edges):
    """Numbers of the components of a matrix of edges."""
    group = np.full(len(edges), -1)
    for first in range(len(edges)):
        if group[first] >= 0:
            continue
        group[first], queue = first, deque([first])
        while queue:
            for j in np.flatnonzero(edges[queue.popleft()] & (group < 0)):
                group[j] = first
                queue.append(j)
    return canonical(group)


def strip_starts(value, level, points, share):
    """The samples near the contour, all if there are none; for each sample the start it follows; and a margin."""
    off = [abs(value(x[None])[0] - level) / level for x in points]
    starts = [i for i in range(len(points)) if off[i] <= share]
    margin = min(abs(distance - share) for distance in off)
    if not starts:
        return list(range(len(points))), np.arange(len(points)), margin
    followed = []
    for i, x in enumerate(points):
        distances = [np.linalg.norm(x - points[j]) for j in starts]
        nearest = int(np.argmin(distances))
        followed.append(starts.index(i) if i in starts else nearest)
        if i not in starts:
            others = [
                distance
                for j, distance in zip(starts, distances, strict=True)
                if (points[j] != points[starts[nearest]]).any()
            ]
            margin = min([margin, *(distance - distances[nearest] for distance in others)])
    return starts, np.array(followed), margin


def equilibrium(
    value, level, points, centres, weights, gamma, n_segment_points=20, policy="basin", least=1, strip=None
):
    """Labels, and a margin: below 1e-9 rounding decides.

    With a `strip` only the samples near the contour ascend, as in Algorithm 2 of the paper on SGD-LMSVC; every other
    sample takes the basin of the nearest of them.
    """
    ends, margin = [], np.inf
    starts, followed = range(len(points)), np.arange(len(points))
    if strip is not None:
        starts, followed, margin = strip_starts(value, level, points, strip)
    rng = np.random.default_rng(0)
    for x in points[list(starts)]:
        end = ascend(x, centres, weights, gamma)
        if end is None:
            return None, 0.0
        # a start near the border of two basins ends elsewhere when moved a little
        for _ in range(3):
            other = ascend(x + 1e-7 / np.sqrt(gamma) * rng.normal(size=x.shape), centres, weights, gamma)
            if other is None or np.linalg.norm(other - end) > 1e-4 / np.sqrt(gamma):
                margin = 0.0
        margin = min(margin, max(0.0, -curvature(end, centres, weights, gamma) - 1e-3))
        ends.append(end)
    ends = np.array(ends)
    basin, apart = single_link(ends, 1e-3 / np.sqrt(2 * gamma))
    margin = min(margin, apart)
    tops = np.array([ends[basin == b][np.argmax(value(ends[basin == b]))] for b in range(basin.max() + 1)])
    high = value(tops)
    margin = min(margin, np.abs(high / level - 1.0).min() if level else np.inf)
    edges = np.eye(len(tops), dtype=bool)
    for i in range(len(tops)):
        for j in range(i):
            lowest = line_values(value, tops[i], tops[j], n_segment_points).min()
            if min(high[i], high[j]) >= level:
                margin = min(margin, abs(lowest - level))
                edges[i, j] = edges[j, i] = lowest >= level
    labels = connected(edges)[basin][followed]
    g = value(points)
    if len(points) > 1:
        if policy != "basin":
            margin = min(margin, np.abs(g - level).min())
            labels[g < level] = -1
        for label in np.unique(labels[labels >= 0]):
            if (labels == label).sum() < least:
                labels[labels == label] = -1
    return canonical(_outliers(points, labels, policy)), margin
