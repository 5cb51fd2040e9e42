"""The equilibrium labeling without any short cut: every sample ascends to the end, every pair is compared."""

from __future__ import annotations

from collections import deque

import numpy as np

from clusterkit_campaign.oracles.complete_graph import canonical, line_values


def shares(x, centres, weights, gamma):
    """The share of each centre in the kernel sum at x, computed relative to the largest term, so never 0 / 0."""
    exponents = np.log(weights) - gamma * np.square(x - centres).sum(axis=1)
    p = np.exp(exponents - exponents.max())
    return p / p.sum()


def shift(x, centres, weights, gamma):
    """Where one step of the ascent leads."""
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


def _outliers(points, labels, policy):
    out, labelled, labels = np.flatnonzero(labels < 0), np.flatnonzero(labels >= 0), labels.copy()
    for i in out:
        if policy == "nearest":
            distances = np.square(points[labelled] - points[i]).sum(axis=1)
            labels[i] = labels[labelled[np.argmin(distances)]] if len(labelled) else 0
        if policy == "singleton":
            labels[i] = len(points) + np.flatnonzero((points == points[i]).all(axis=1))[0]
    return labels
