"""How likely it is that a chosen clustering describes the structure of the data, on the scale of a probability.

The confidence follows from the agreement of clusterings of one data set: equal partitions, and other families' results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise
from typing import final

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import Array, Counts, Indices, Labels
from clusterkit.contracts.labelings import by_appearance
from clusterkit.metrics.classes import PairCounts, adjusted_from_pairs, table_pairs
from clusterkit.numerics.threads import over_rows
from clusterkit.samples.limits import side_by_side

AGREES = 0.9
"""Adjusted Rand index from which a clustering of another method is the same answer: above it they differ in rows on
borders."""

FEWEST_METHODS = 4
"""With fewer methods than this their agreement says little."""

KNOWN, UNKNOWN = (-4.15, 2.02, 4.13, 4.67, 0.0, 0.99), (-4.64, 2.03, 0.90, 1.10, 0.49, 0.88)
"""Constant and weights of stability, margin, separation, logarithm of the number of clusters, and witnesses, where the
number of clusters was given and where it was chosen. Two clusters are the least certain number that is chosen: they
are often the upper level of a nested structure."""

KNOWN_ALONE, UNKNOWN_ALONE = (-3.00, 3.12, 5.87, 4.15, 0.0), (-3.52, 0.89, 2.19, 3.61, 0.97)
"""Constant and weights for clusterings without witnesses, as above but for the last weight."""

MOST_KNOWN, MOST_UNKNOWN = 7, 2
"""Largest number of witnesses that count: all methods of the default pool but one of two Genies, and those of them that
find the number themselves."""

# The weights are those of logistic regressions (ridge, C = 10) of "adjusted Rand index of at least .8 with the
# generated structure" on 200 generated sets of ten families, each with a weight of 1 / its number of clusters;
# `UNKNOWN_ALONE` on 77 more. The form was chosen by cross-validation on these sets, but some figures on the shapes and
# named sets were known by then, so those are not strictly blind. `UNKNOWN` is fitted to the answers of the pool on 173
# sets that a mixture does not answer: 135 of 216 generated ones, 31 of 36 curves in four to eight columns, and 7 of 11
# tables.


@final
@attrs.frozen
class Evidence:
    """The quantities from which the confidence in a chosen clustering is computed.

    Parameters
    ----------
    stability : float
        Result of `subsample_stability`.
    margin : float
        `Ranking.margin`.
    separation : float
        `Separation.validity`.
    n_clusters : int
    witnesses : int or None
        Number of other ways to the same answer (`witnesses`); None where too few methods were compared.
    """

    stability: float
    margin: float
    separation: float
    n_clusters: int
    witnesses: int | None = None


def witnesses(similarity: Array, methods: Sequence[str], finders: Sequence[bool], *, known: bool) -> int | None:
    """Number of methods, that of the answer included, with a candidate of similarity at least .9 to the answer.

    Parameters
    ----------
    similarity : ndarray of shape (m,)
        Adjusted Rand index of each candidate with the answer.
    methods : sequence of str
        The method of each candidate. None is returned for fewer than 4.
    finders : sequence of bool
        Whether the method finds the number of clusters itself.
    known : bool
        Whether the number of clusters was given. Where it was not, only methods that find it are witnesses: at the
        number of the answer the others have no choice of their own.

    Examples
    --------
    >>> close = np.array([1.0, 0.95, 0.99, 0.2, 0.3])
    >>> witnesses(close, ["a", "a", "b", "c", "d"], [False] * 5, known=True)
    2
    """
    if len(set(methods)) < FEWEST_METHODS:
        return None
    agreeing = {methods[int(i)] for i in np.flatnonzero(similarity >= AGREES) if known or finders[int(i)]}
    return min(len(agreeing), MOST_KNOWN if known else MOST_UNKNOWN)


def structure_confidence(evidence: Evidence, *, known: bool) -> float:
    """Estimated probability that a clustering has an adjusted Rand index of at least .8 with the structure of the data.

    The model was fitted to data with at least two clusters whose structure is known: it is about the structure that the
    positions of the rows show. It says nothing of agreement with classes of the user: classes need not be clusters,
    and where they are not, an answer can be certain and unlike them.

    Parameters
    ----------
    evidence : Evidence
    known : bool
        Whether the number of clusters was given.

    Examples
    --------
    >>> sure, unsure = Evidence(1.0, 1.5, 0.6, 4, 2), Evidence(0.2, 0.0, -0.2, 2, 0)
    >>> round(structure_confidence(sure, known=False), 3), round(structure_confidence(unsure, known=False), 3)
    (0.863, 0.016)
    """
    e = evidence
    constant, *weights = (
        (KNOWN_ALONE if known else UNKNOWN_ALONE) if e.witnesses is None else KNOWN if known else UNKNOWN
    )
    terms = (e.stability, e.margin, e.separation, math.log(e.n_clusters), e.witnesses or 0)
    logit = constant + math.fsum(weight * term for weight, term in zip(weights, terms, strict=False))
    return 1.0 / (1.0 + math.exp(-logit))


FAMILIES = 3
"""Families whose best match is averaged: half of the six of the default pool, so that half of them may be wrong."""

CONFIRMING = 2
"""Families that confirm a single cluster: a third of the six of the default pool. The trees among them find the same
borders, so that more would require a method of another kind."""

SUBSAMPLE = 500
"""Largest number of rows of a subsample of the stability. Two refits of 500 rows cost less than the fit of the 2,000
rows that the pool is made for."""


def canonical(labels: Labels) -> Labels:
    """Labels renumbered 0, 1, ... by first appearance; noise (-1) is numbered like a cluster.

    Examples
    --------
    >>> canonical(np.array([4, 4, -1, 0, 4]))
    array([0, 0, 1, 2, 0])
    """
    return by_appearance(labels - labels.min(initial=0))


def distinct(labelings: Sequence[Labels]) -> Indices:
    """Index of the first labelling that is equal to each labelling up to renaming, (m,).

    Examples
    --------
    >>> distinct([np.array([0, 0, 1]), np.array([1, 1, 0]), np.array([0, 1, 1])])
    array([0, 0, 2])
    """
    seen: dict[bytes, int] = {}
    return np.array([seen.setdefault(canonical(labels).tobytes(), i) for i, labels in enumerate(labelings)], np.intp)


def rand_matrix(labelings: Sequence[Labels]) -> Array:
    """Adjusted Rand index of every pair of labellings 0..k-1 of the same rows, (m, m); O(m² n) time."""
    m = len(labelings)
    values = np.ones((m, m))
    if m > 1:
        n, (squares, _) = len(labelings[0]), _compared(labelings)
        within = [(int(np.square(np.bincount(labels)).sum()) - n) // 2 for labels in labelings]
        for i in range(m):
            for j in range(i):
                both = (int(squares[i, j]) - n) // 2
                pairs = PairCounts(both=both, classes=within[i], clusters=within[j], total=n * (n - 1) // 2)
                values[i, j] = values[j, i] = adjusted_from_pairs(pairs)
    return values


def _compared(labelings: Sequence[Labels]) -> tuple[Counts, list[Array]]:
    """Sums of squares of the common rows of two partitions, (m, m), and the best Jaccard indices of clusters."""
    from clusterkit.criteria._criteria_jit import compare_partitions

    wide = np.array(labelings, dtype=np.int64)
    sizes = [np.bincount(labels) for labels in wide]
    m, starts = len(wide), np.concatenate([[0], np.cumsum([len(size) for size in sizes])])
    squares, jaccard = np.zeros((m, m), dtype=np.int64), np.zeros((int(starts[-1]), m))
    rest = wide, starts, np.concatenate(sizes), squares, jaccard
    over_rows(lambda first, last: compare_partitions(first, last, *rest), m, m * wide.shape[1])
    best: list[Array] = [jaccard[start:stop] for start, stop in pairwise(starts)]
    for i, each in enumerate(best):
        each[:, i] = 1.0
    return squares, best


def family_agreement(values: Array, families: Sequence[Hashable]) -> Array:
    """Mean of the 3 best agreements of each candidate with other families, each by its best candidate, (m,).

    Parameters
    ----------
    values : ndarray of shape (m, m)
        Agreement of all pairs of candidates, from `rand_matrix`.
    families : sequence of m
        Family of the method that found each candidate. With fewer than 3 other families the mean is over those; without
        any it is 0.
    """
    names = list(dict.fromkeys(families))
    members = {name: np.array([family == name for family in families]) for name in names}
    means = np.zeros(len(families))
    for i, own_family in enumerate(families):
        best = sorted((values[i, members[name]].max() for name in names if name != own_family), reverse=True)
        if best:
            means[i] = float(np.mean(best[:FAMILIES]))
    return means


def cluster_agreement(labelings: Sequence[Labels], place: Indices, families: Sequence[Hashable]) -> list[Array]:
    """Mean of the 2 best agreements of each cluster of each candidate with other families, m times (k,).

    The agreement of a cluster with a family is the largest Jaccard index (common rows divided by rows of either) with a
    cluster of one of its candidates, at any number of clusters.

    Parameters
    ----------
    labelings : sequence of ndarray of shape (n,)
        The distinct partitions, 0..k-1.
    place : ndarray of int, shape (m,)
        The partition of each candidate.
    families : sequence of m
        Family of the method that found each candidate. With one other family only this one counts; without any all
        are 0.

    Notes
    -----
    O(u² n) time for u partitions.
    """
    _, best = _compared(labelings)
    members: dict[Hashable, list[int]] = {}
    for index, family in zip(place, families, strict=True):
        members.setdefault(family, []).append(int(index))
    means = []
    for index, own_family in zip(place, families, strict=True):
        others = [best[index][:, places].max(axis=1) for name, places in members.items() if name != own_family]
        confirmed = -np.sort(-np.array(others), axis=0)[:CONFIRMING] if others else np.zeros((1, len(best[index])))
        means.append(confirmed.mean(axis=0))
    return means


def column_agreement(labels: Labels, codes: Labels, *, unions: bool) -> float:
    """How far clusters restate a column: the largest adjusted Rand index of two or three pairs of partitions.

    They are the clusters and the values; if each value is that of most rows of at least two clusters, unions of these
    and the values; and with `unions` the clusters and unions of values, each value in the cluster that has most of its
    rows. So it is 1 where the clusters are the values, where they divide each of them further, and where they are a
    function of the column. Values with few rows agree by chance: see that each has ten or more on average.

    Parameters
    ----------
    labels, codes : ndarray of shape (n,)
        Clusters and values of the column, each numbered from 0.
    unions : bool
        Whether unions of values restate the column. Of levels they do; of numbers, any border across it is one.

    Examples
    --------
    >>> place, clusters = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 1, 1, 1, 1])
    >>> column_agreement(clusters, place, unions=True), column_agreement(clusters, place, unions=False) < 0.7
    (1.0, True)
    """
    k, values = int(labels.max(initial=0)) + 1, int(codes.max(initial=0)) + 1
    cells: NDArray[np.int64] = np.zeros((values, k), dtype=np.int64)
    np.add.at(cells, (codes, labels), 1)
    tables = [cells, _united(cells)] if unions else [cells]
    if np.bincount(cells.argmax(axis=0), minlength=values).min() >= 2:
        tables.append(_united(cells.T))
    return max(float(adjusted_from_pairs(table_pairs(table))) for table in tables)


def _united(cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """The table of counts (a, b) with those rows added up that have their largest count in the same column, (b, b)."""
    out: NDArray[np.int64] = np.zeros((cells.shape[1], cells.shape[1]), dtype=np.int64)
    np.add.at(out, cells.argmax(axis=1), cells)
    return out


def subsamples(n: int, rng: np.random.Generator) -> tuple[Indices, Indices]:
    """Two disjoint random samples of min(n // 2, 500) rows, sorted; the same two serve all candidates."""
    size = min(n // 2, SUBSAMPLE)
    order = rng.permutation(n)
    return np.sort(order[:size]), np.sort(order[size : 2 * size])


def subsample_stability(
    labels: Labels, parts: Sequence[Indices], refit: Callable[[int], Labels | None], most: int | None = None
) -> float:
    """Mean adjusted Rand index between labels and those of refits to parts of the rows.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    parts : sequence of ndarray
        Rows of each part.
    refit : callable
        ``refit(i)`` returns the labels of part i by the same method with the same number of clusters; None if the
        method cannot be fitted to so few rows, which counts as 0. Several threads call it.
    most : int, optional
        Most refits at once, as in `side_by_side`: 1 where threads must not call `refit`.
    """
    found_again = []
    for rows, again in zip(parts, side_by_side(refit, range(len(parts)), most), strict=True):
        pair = None if again is None else [canonical(labels[rows]), canonical(again)]
        found_again.append(0.0 if pair is None else float(rand_matrix(pair)[0, 1]))
    return float(np.mean(found_again)) if found_again else 0.0
