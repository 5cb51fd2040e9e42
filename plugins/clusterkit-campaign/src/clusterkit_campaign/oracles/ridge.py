"""Ridge regression factored anew for every right-hand side, and extreme maximum margin clustering as loops over it.

Labels are read by the sign, by intervals, or by one output each (specification 2.6).
"""

from __future__ import annotations

import math

import numpy as np

from clusterkit_campaign.oracles import balance


def primal(H, T, C):
    """B of ``(I/C + H'H) B = H'T``."""
    return np.linalg.solve(np.eye(H.shape[1]) / C + H.T @ H, H.T @ T)


def dual(H, T, C):
    """B of ``H' (I/C + HH')^-1 T``."""
    return H.T @ np.linalg.solve(np.eye(len(H)) / C + H @ H.T, T)


def fitted(H, T, C):
    """HB by the thin singular value decomposition: good for every C and every rank."""
    U, s, _ = np.linalg.svd(H, full_matrices=False)
    U, s = U[:, s > 0], s[s > 0]
    return U @ ((1.0 / (1.0 + (1.0 / C) / s**2))[:, None] * (U.T @ T))


def objective(H, B, T, C):
    """``|B|²/2 + (C/2) |H B - T|²``."""
    return 0.5 * np.sum(B**2) + 0.5 * C * np.sum((H @ B - T) ** 2)


def degrees(H, C):
    """Effective degrees of freedom, the trace of the hat matrix."""
    s = np.linalg.svd(H.astype(np.float64), compute_uv=False)
    return np.sum(s**2 / (s**2 + 1.0 / C))


def emmc_path(H, labels, codebook, decode, repair, C, max_iter=100):
    """EMMC: targets, ridge regression from scratch, labels, repair, until labels no longer change.

    Returns the label vectors entering each iteration followed by the last labels, and the objective of each iteration.
    """
    visited, values = [np.array(labels)], []
    for _ in range(max_iter):
        T = codebook[visited[-1]]
        B = primal(H, T, C)
        values.append(objective(H, B, T, C))
        F = H @ B
        read = repair(F, decode(F))
        seen = any(np.array_equal(read, old) for old in visited)
        visited.append(read)
        if seen:
            break
    return visited, values


def unexplained(H, labels, k, C):
    """``|T|² - T' H (I/C + H'H)^-1 H' T``: twice the ridge objective over C, at the best coefficients."""
    T = np.where(labels == 1, 1.0, -1.0)[:, None] if k == 2 else np.eye(k)[labels]
    B = np.linalg.solve(np.eye(H.shape[1]) / C + H.T @ H, H.T @ T)
    return float(np.sum(T * (T - H @ B)))


BOUNDARIES = {"nearest": 0.5, "signed": 0.5, "midpoint": 0.0, "paper": 0.0}
"""Distance of the upper boundary of interval j, counted from 1, above j."""


def targets(labels, k, coding):
    """The targets T, (n, q): -1 and +1; the numbers 1..k (less a half for midpoints); unit vectors."""
    if coding == "sign" or (coding == "signed" and k == 2):
        return np.array([[-1.0] if label == 0 else [1.0] for label in labels])
    if coding.startswith("one output each"):
        return np.array([[1.0 if j == label else 0.0 for j in range(k)] for label in labels])
    return np.array([[label + (0.5 if coding == "midpoint" else 1.0)] for label in labels])


def decide(F, k, coding):
    """Labels of the outputs F, and the distance of the nearest tie."""
    if coding == "sign" or (coding == "signed" and k == 2):
        return np.array([1 if f > 0 else 0 for f in F[:, 0]]), np.abs(F[:, 0]).min()
    if coding.startswith("one output each"):
        ordered = np.sort(F, axis=1)
        return np.array([int(np.argmax(f)) for f in F]), (ordered[:, -1] - ordered[:, -2]).min()
    upper = [j + BOUNDARIES[coding] for j in range(1, k)]
    labels = np.array([sum(f > bound for bound in upper) for f in F[:, 0]])
    return labels, np.abs(F[:, :1] - np.array(upper)).min()


def repair(F, labels, k, coding, slack):
    """The published repair of the sizes; and the distance of the nearest tie among the samples that may move."""
    n = len(labels)
    several = coding.startswith("one output each")
    scores = F.ravel() if not several else (F[:, :, None] - F[:, None, :])[:, ~np.eye(k, dtype=bool)].ravel()
    tie = np.diff(np.sort(scores)).min() if len(scores) > 1 else math.inf
    if coding == "sign":
        return balance.two_class(F[:, 0], max(slack, n % 2)), tie
    if several and coding.endswith("printed repair"):
        best = F.max(axis=1)
        return balance.pairwise(labels, k, slack, balance.confidence(F))[0], min(tie, np.diff(np.sort(best)).min())
    key = balance.regret(F) if several else balance.single_output(F[:, 0])
    return balance.pairwise(labels, k, slack, key)[0], tie


def hidden(X, nodes, A, b):
    """H, (n, L), node by node: ``exp(-b_j |x - a_j|²)`` for "gaussian", ``exp(-(a_j · x + b_j)²)`` for "radbas"."""
    H = np.empty((len(X), len(A)))
    for i, x in enumerate(X):
        for j, a in enumerate(A):
            exponent = b[j] * sum((x - a) ** 2) if nodes == "gaussian" else (sum(a * x) + b[j]) ** 2
            H[i, j] = math.exp(-exponent)
    return H


def emmc_as_described(X, labels, k, nodes, A, b, outputs, C, slack):
    """Algorithm 1 of the paper on rows X in [-1, 1] with L random nodes, from start labels; see `emmc` for the answer.

    Two clusters are -1 and +1 and told apart by the sign. More have one output with the targets 1..k, read by the
    nearest target ("one"; the printed intervals end in one cluster), or an output each ("several"), where the repair
    moves the rows whose largest output is smallest.
    """
    several = "one output each, printed repair" if outputs == "several" else "nearest"
    return emmc(hidden(X, nodes, A, b), labels, k, "sign" if k == 2 and outputs == "one" else several, C, slack)


def emmc(H, labels, k, coding, C, slack=None, max_iter=100):
    """Labels, number of iterations, whether the labels repeat, and the nearest tie that decided anything.

    Every iteration solves the normal equations anew. Without labels that repeat the last labels are returned.
    """
    H, labels = np.asarray(H, dtype=float), np.array(labels)
    nearest = math.inf
    for iteration in range(1, max_iter + 1):
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
            return labels, iteration, True, nearest
        labels = following
    return labels, max_iter, False, nearest
