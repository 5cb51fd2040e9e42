"""The search of edsvc, written down plainly: one fit after the other."""

import math

import numpy as np

from clusterkit import Pipeline
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.support_vectors.svdd import Svdd


def plain_nmi(a, b):
    """Normalised mutual information by counting pairs of names; geometric mean of the entropies."""
    n = len(a)
    shared, one, other = {}, {}, {}
    for x, y in zip(a, b, strict=True):
        shared[x, y] = shared.get((x, y), 0) + 1
        one[x], other[y] = one.get(x, 0) + 1, other.get(y, 0) + 1
    if len(one) == 1 or len(other) == 1:
        return float(len(one) == len(other))
    information = sum(c / n * math.log(n * c / (one[x] * other[y])) for (x, y), c in shared.items())
    entropies = [-sum(c / n * math.log(c / n) for c in counts.values()) for counts in (one, other)]
    return information / math.sqrt(entropies[0] * entropies[1])


def plain_anmi(labels, members):
    """Mean over the members."""
    return sum(plain_nmi(labels.tolist(), member.tolist()) for member in members) / len(members)


def widths(X, number):
    """From 1 / (largest squared distance) to 4 ln 2 / (lower decile of those to the nearest neighbour)."""
    distinct = np.unique(X, axis=0)
    D = np.square(distinct[:, None] - distinct[None]).sum(axis=2)
    nearest = np.sort(D, axis=1)[:, 1]
    return np.geomspace(1.0 / D.max(), 4.0 * math.log(2.0) / np.quantile(nearest, 0.1), number)


def plain_labels(X, gamma, C, labeler):
    """Labels of a fit of its own."""
    return Pipeline(Rbf(gamma=float(gamma)), Svdd(C=float(C)), labeler).fit(X).labels_


def plain_best(gammas, bounds, scores):
    """The first of the largest: ties to the smallest width, then the largest bound."""
    order = sorted(range(len(scores)), key=lambda i: (gammas[i], -bounds[i]))
    best = max(scores)
    return next(i for i in order if scores[i] >= best - 1e-12)
