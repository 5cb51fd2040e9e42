"""Components over the lines of any graph, and the graphs themselves from all distances."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from clusterkit_campaign.oracles.complete_graph import line_values


def components(u, edges):
    """Smallest point of the component of each of u points."""
    part = list(range(u))
    for i, j in edges:
        a, b = part[i], part[j]
        part = [min(a, b) if p in (a, b) else p for p in part]
    return np.array(part)


def inside_edges(value, level, points, edges, n_segment_points):
    """The edges whose points are all inside, and how near any value came to the level."""
    inside, margin = [], np.inf
    for i, j in edges:
        samples = line_values(value, points[i], points[j], n_segment_points)
        margin = min(margin, np.abs(samples - level).min())
        if (samples >= level).all():
            inside.append((i, j))
    return inside, margin


def sorted_pairs(points):
    """All pairs (squared distance, smaller index, larger index) in order."""
    u = len(points)
    return sorted((sum(float(t) ** 2 for t in points[i] - points[j]), i, j) for j in range(u) for i in range(j))


def knn(points, k):
    """Edges to the k nearest neighbours, ties by index."""
    pairs = sorted_pairs(points)
    edges = set()
    for i in range(len(points)):
        others = sorted((d, a + b - i, a, b) for d, a, b in pairs if i in (a, b))
        edges |= {(a, b) for _, _, a, b in others[:k]}
    return edges


def mst(points):
    """Edges of the minimum spanning tree, ties by index."""
    part, edges = np.arange(len(points)), set()
    for _, i, j in sorted_pairs(points):
        if part[i] != part[j]:
            part[part == part[j]] = part[i]
            edges.add((i, j))
    return edges


def is_delaunay_edge(points, i, j):
    """Whether some ball has both on its surface and no point inside: a linear program for its centre c.

    ``|c - p|² >= |c - i|²`` for all p is ``2 (p - i)·c <= |p|² - |i|²``, with equality for j; the slack, common to
    all p, is minimised.
    """
    A = 2.0 * (points - points[i])
    b = np.square(points).sum(axis=1) - np.square(points[i]).sum()
    others, d = [p for p in range(len(points)) if p not in (i, j)], points.shape[1]
    if not others:
        return True
    program = linprog(
        np.r_[np.zeros(d), 1.0],
        A_ub=np.c_[A[others], -np.ones(len(others))],
        b_ub=b[others],
        A_eq=np.r_[A[j], 0.0][None],
        b_eq=b[j : j + 1],
        bounds=[(None, None)] * d + [(0, None)],
    )
    # a third point nearly between the two leaves a ball as large as the rounding allows
    return program.status == 0 and program.x[-1] < 1e-5
