"""Mixtures of numbers and levels in their plainest form: row by row, cluster by cluster, level by level."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import Array

__all__ = [
    "naive_em", "predictive_evidence_of_counts", "predictive_evidence_of_levels",
    "predictive_evidence_of_numbers", "probit_levels",
]  # fmt: skip

COUNT, WEIGHT = 0.5, 0.01
"""Prior rows of each level and cluster, and of each mean."""


def naive_em(
    numbers: Array, codes: NDArray[np.int32], levels: list[int], P: Array, structure: str, steps: int,
    forms: tuple[str, ...] = (),
) -> tuple[Array, float]:  # fmt: skip
    """Posteriors (n, k) and log-likelihood after EM steps on all columns; numbers have NaN in gaps of "diag" only."""
    forms = forms or ("free",) * len(levels)
    n, k, scale = len(numbers), P.shape[1], 0.5
    total = 0.0
    for _ in range(steps):
        model = _maximised(numbers, codes, levels, P, structure, scale, forms)
        logs, total = np.empty((n, k)), 0.0
        for i in range(n):
            for c in range(k):
                logs[i, c] = _density(numbers[i], codes[i], c, model, structure)
            top = logs[i].max()
            mass = math.fsum(math.exp(value - top) for value in logs[i])
            total += top + math.log(mass)
            logs[i] = np.exp(logs[i] - top) / mass
        P = logs
    return P, total


def _maximised(
    numbers: Array,
    codes: NDArray[np.int32],
    levels: list[int],
    P: Array,
    structure: str,
    scale: float,
    forms: tuple[str, ...],
) -> Mapping[str, list[Array]]:
    n, p = numbers.shape
    k = P.shape[1]
    model: dict[str, list[Array]] = {"share": [], "tables": [], "mean": [], "spread": []}
    for c in range(k):
        w = P[:, c]
        model["share"].append(np.array((w.sum() + COUNT) / (n + COUNT * k)))
        for j, count in enumerate(levels):
            rows = codes[:, j] >= 0
            sums = np.array([w[rows & (codes[:, j] == level)].sum() for level in range(count)])
            every = np.array([float((codes[:, j] == level).sum()) for level in range(count)])
            if forms[j] == "ordered":
                model["tables"].append(_most_probable_levels(sums, every))
            elif forms[j] == "count":
                model["tables"].append(_poisson_levels(sums, every))
            else:
                model["tables"].append((sums + COUNT) / (sums.sum() + COUNT * count))
        means = np.zeros(p)
        for j in range(p):
            rows = np.isfinite(numbers[:, j])
            means[j] = (w[rows] * numbers[rows, j]).sum() / (w[rows].sum() + WEIGHT)
        model["mean"].append(means)
        spread = np.zeros((p, p))
        if structure == "diag":
            for j in range(p):
                rows = np.isfinite(numbers[:, j])
                squares = (w[rows] * (numbers[rows, j] - means[j]) ** 2).sum() + WEIGHT * means[j] ** 2 + scale
                spread[j, j] = squares / (w[rows].sum() + 3.0)
        else:
            for i in range(n):
                gap = numbers[i] - means
                spread += w[i] * np.outer(gap, gap)
            spread += WEIGHT * np.outer(means, means)
            if structure == "full":
                spread = (spread + scale * np.eye(p)) / (w.sum() + p + 3.0)
        model["spread"].append(spread)
    if structure == "tied":
        pooled = (np.sum(model["spread"], axis=0) + scale * np.eye(p)) / (n + p + 2.0 + k)
        model["spread"] = [pooled] * k
    return model


def _density(x: Array, levels: NDArray[np.int32], c: int, model: Mapping[str, list[Array]], structure: str) -> float:
    q = len(levels)
    value = math.log(float(model["share"][c]))
    for j in range(q):
        if levels[j] >= 0:
            value += math.log(float(model["tables"][c * q + j][levels[j]]))
    has = np.isfinite(x)
    if has.any():
        gap, S = (x - model["mean"][c])[has], model["spread"][c][np.ix_(has, has)]
        value -= 0.5 * float(gap @ np.linalg.solve(S, gap)) + 0.5 * float(np.linalg.slogdet(2 * math.pi * S)[1])
    return value


def probit_levels(every: Array, mean: float, deviation: float) -> Array:
    """Probabilities of ordered levels, with thresholds at the quantiles of the rows of each level, `every`."""
    hidden, shares = NormalDist(), (every + COUNT) / (every + COUNT).sum()
    borders = [-math.inf, *(hidden.inv_cdf(float(share)) for share in np.cumsum(shares)[:-1]), math.inf]
    below = [hidden.cdf((border - mean) / deviation) if math.isfinite(border) else (border > 0) for border in borders]
    return np.array([0.99 * (b - a) + 0.01 / len(every) for a, b in pairwise(below)])


def _most_probable_levels(sums: Array, every: Array) -> Array:
    best = -math.inf
    chosen: Array = np.empty(0)
    for deviation in 2.0 ** np.linspace(-2.0, 1.0, 7):
        for mean in np.linspace(-3.0, 3.0, 25):
            levels = probit_levels(every, float(mean), float(deviation))
            value = float(sums @ np.log(levels)) - 0.5 * mean**2
            if value > best:
                best, chosen = value, levels
    return chosen


def _poisson_levels(sums: Array, every: Array) -> Array:
    x = np.arange(len(sums))
    mean = (float(every @ x) + COUNT) / (float(every.sum()) + COUNT)
    rate = (float(sums @ x) + COUNT) / (float(sums.sum()) + COUNT / mean)
    return np.array([math.exp(-rate) * rate**i / math.factorial(i) for i in x])


def predictive_evidence_of_counts(counts: NDArray[np.int32], mean: float) -> float:
    """ln p of counts one after the other, each by the negative binomial that those before it predict."""
    a, b, total = COUNT, COUNT / mean, 0.0
    for x in counts.tolist():
        total += math.lgamma(a + x) - math.lgamma(a) - math.lgamma(x + 1.0)
        total += a * math.log(b / (b + 1.0)) - x * math.log(b + 1.0)
        a, b = a + x, b + 1.0
    return total


def predictive_evidence_of_levels(codes: NDArray[np.int32], levels: int) -> float:
    """ln p of levels one after the other, each predicted by those before it."""
    counts, total = np.zeros(levels), 0.0
    for code in codes:
        total += math.log((counts[code] + COUNT) / (counts.sum() + COUNT * levels))
        counts[code] += 1.0
    return total


def predictive_evidence_of_numbers(X: Array, scale: float) -> float:
    """ln p of rows (m, p) one after the other, each by the Student distribution that those before it predict."""
    p = X.shape[1]
    mean, weight, dof, S, total = np.zeros(p), WEIGHT, p + 2.0, scale * np.eye(p), 0.0
    for x in X:
        nu = dof - p + 1.0
        shape = S * (weight + 1.0) / (weight * nu)
        gap = x - mean
        distance = float(gap @ np.linalg.solve(shape, gap))
        total += math.lgamma((nu + p) / 2.0) - math.lgamma(nu / 2.0) - 0.5 * p * math.log(nu * math.pi)
        total -= 0.5 * float(np.linalg.slogdet(shape)[1]) + 0.5 * (nu + p) * math.log1p(distance / nu)
        S = S + weight / (weight + 1.0) * np.outer(gap, gap)
        mean = (weight * mean + x) / (weight + 1.0)
        weight, dof = weight + 1.0, dof + 1.0
    return total
