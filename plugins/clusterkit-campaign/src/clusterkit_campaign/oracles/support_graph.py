"""The support vector graph without any short cut: every pair with a support at one end, every sample."""

from __future__ import annotations

import numpy as np

from clusterkit_campaign.oracles.complete_graph import canonical
from clusterkit_campaign.oracles.proximity import components, inside_edges


def support_graph(value, level, points, supports, n_segment_points=20, attach=True):
    """Labels, which samples were attached, and how near any value came to the level."""
    g = value(points)
    margin, inside = np.abs(g - level).min(), g >= level
    rows = np.array(list(dict.fromkeys(map(tuple, points[inside].tolist())))).reshape(-1, points.shape[1])
    known = set(map(tuple, supports.tolist()))
    is_support = np.array([tuple(row) in known for row in rows.tolist()], dtype=bool)
    pairs = [(i, j) for j in range(len(rows)) for i in range(j) if is_support[i] or is_support[j]]
    edges, nearest = inside_edges(value, level, rows, pairs, n_segment_points)
    part = components(len(rows), edges)
    lone = ~is_support & ~np.isin(np.arange(len(rows)), np.array(edges, dtype=int).ravel())
    if attach and is_support.any():
        at = np.flatnonzero(is_support)
        for i in np.flatnonzero(lone):
            part[i] = part[at[np.argmin(np.square(rows[at] - rows[i]).sum(axis=1))]]
    else:
        lone[:] = False
    where = {tuple(row): i for i, row in enumerate(rows.tolist())}
    row_of = np.array([where.get(tuple(x), -1) for x in points.tolist()])
    labels = np.where(row_of >= 0, np.append(part, -1)[row_of], -1)
    return canonical(labels), np.append(lone, False)[row_of], min(margin, nearest)
