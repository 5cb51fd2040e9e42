"""The complete graph labeling without any short cut: every pair, every sample, components by breadth first search."""

from __future__ import annotations

from collections import deque

import numpy as np


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
