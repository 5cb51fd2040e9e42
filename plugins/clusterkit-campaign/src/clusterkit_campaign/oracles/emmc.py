"""Extreme maximum margin clustering as plain loops: labels by the sign, by intervals, or by one output each."""

from __future__ import annotations

import math

import numpy as np

from clusterkit_campaign.oracles import balance

BOUNDARIES = {"nearest": 0.5, "midpoint": 0.0, "paper": 0.0}
"""By how much the upper boundary of interval j, counted from 1, lies above j."""


def targets(labels, k, coding):
    """The targets T, (n, q): -1 and +1; the numbers 1..k (less a half for midpoints); unit vectors."""
    if coding == "sign":
        return np.array([[-1.0] if label == 0 else [1.0] for label in labels])
    if coding == "one output each":
        return np.array([[1.0 if j == label else 0.0 for j in range(k)] for label in labels])
    return np.array([[label + (0.5 if coding == "midpoint" else 1.0)] for label in labels])


def decide(F, k, coding):
    """Labels of the outputs F, and the distance of the nearest tie."""
    if coding == "sign":
        return np.array([1 if f > 0 else 0 for f in F[:, 0]]), np.abs(F[:, 0]).min()
    if coding == "one output each":
        ordered = np.sort(F, axis=1)
        return np.array([int(np.argmax(f)) for f in F]), (ordered[:, -1] - ordered[:, -2]).min()
    upper = [j + BOUNDARIES[coding] for j in range(1, k)]
    labels = np.array([sum(f > bound for bound in upper) for f in F[:, 0]])
    return labels, np.abs(F[:, :1] - np.array(upper)).min()


def repair(F, labels, k, coding, slack):
    """The published repair of the sizes; and the distance of the nearest tie among the samples that may move."""
    n = len(labels)
    scores = (
        F.ravel() if coding != "one output each" else (F[:, :, None] - F[:, None, :])[:, ~np.eye(k, dtype=bool)].ravel()
    )
    tie = np.diff(np.sort(scores)).min() if len(scores) > 1 else math.inf
    if coding == "sign":
        return balance.two_class(F[:, 0], max(slack, n % 2)), tie
    key = balance.regret(F) if coding == "one output each" else balance.single_output(F[:, 0])
    return balance.pairwise(labels, k, slack, key)[0], tie


def emmc(H, labels, k, coding, C, slack=None, max_iter=100):
    """Labels, number of iterations, whether the labels repeat, and the nearest tie that decided anything.

    Every iteration solves the normal equations anew. Without labels that repeat the last labels are returned.
    """
    H, labels = np.asarray(H, dtype=float), np.array(labels)
    nearest = math.inf
    for turn in range(1, max_iter + 1):
        B = np.linalg.solve(np.eye(H.shape[1]) / C + H.T @ H, H.T @ targets(labels, k, coding))
        F = H @ B
        following, tie = decide(F, k, coding)
        nearest = min(nearest, tie)
        if slack is not None:
            sizes = np.bincount(following, minlength=k)
            if sizes.max() - sizes.min() > max(slack, 1 if len(labels) % k else 0):
                following, tie = repair(F, following, k, coding, slack)
                nearest = min(nearest, tie)
        if np.array_equal(following, labels):
            return labels, turn, True, nearest
        labels = following
    return labels, max_iter, False, nearest
