"""How likely it is that a chosen clustering describes the structure of the data, on the scale of a probability."""

from __future__ import annotations

import math
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array

__all__ = ["AGREES", "Evidence", "structure_confidence", "witnesses"]

AGREES = 0.9
"""Adjusted Rand index from which a clustering of another method is the same answer: above it they differ in rows on
borders."""

FEWEST_METHODS, MOST_WITNESSES = 4, 7
"""With fewer methods than the first their agreement says little; the second is the size of the default pool, with which
the weights were fitted."""

KNOWN = (-2.80, 0.90, 1.69, 2.21, 1.20)
"""Constant and weights of stability, margin, separation and witnesses where the number of clusters was given."""

UNKNOWN = (-5.08, 1.15, 1.01, 1.24, 0.58)
"""Constant and weights of stability, margin, logarithm of the number of clusters and witnesses where the number was
chosen. Two clusters are the least certain number: they are often the upper level of a nested structure."""

KNOWN_ALONE, UNKNOWN_ALONE = (-1.34, 1.93, 2.27, 2.45), (-5.40, 3.10, 2.62, 1.07)
"""The same without witnesses."""

# The weights are those of logistic regressions (ridge, C = 1) of "adjusted Rand index of at least .8 with the generated
# structure" on 200 generated sets of ten families, by tests/benchmarks/confidence.py; no other data chose them.


@final
@attrs.frozen
class Evidence:
    """What speaks for a chosen clustering.

    Parameters
    ----------
    stability : float
        Of `subsample_stability`.
    margin : float
        Of `Ranking.margin`.
    separation : float
        Of `Separation.validity`.
    n_clusters : int
    witnesses : int or None
        Of `witnesses`; None where too few methods were compared.
    """

    stability: float
    margin: float
    separation: float
    n_clusters: int
    witnesses: int | None = None


def witnesses(similarity: Array, methods: list[str]) -> int | None:
    """Number of methods one of whose candidates has a similarity of at least .9 to the answer, with its own; at most 7.

    Parameters
    ----------
    similarity : ndarray of shape (m,)
        Adjusted Rand index of each candidate with the answer.
    methods : list of str
        The method of each candidate. None is returned for fewer than 4.

    Examples
    --------
    >>> witnesses(np.array([1.0, 0.95, 0.99, 0.2, 0.3]), ["a", "a", "b", "c", "d"])
    2
    """
    if len(set(methods)) < FEWEST_METHODS:
        return None
    agreeing = {methods[int(i)] for i in np.flatnonzero(similarity >= AGREES)}
    return min(len(agreeing), MOST_WITNESSES)


def structure_confidence(evidence: Evidence, *, known: bool) -> float:
    """Estimated probability that a clustering has an adjusted Rand index of at least .8 with the structure of the data.

    It was fitted to data whose structure is known, and speaks of the structure that the positions of the rows show. It
    says nothing of agreement with classes of the user: classes need not be clusters, and where they are not, an answer
    can be certain and unlike them. It was fitted to data with at least two clusters.

    Parameters
    ----------
    evidence : Evidence
    known : bool
        Whether the number of clusters was given.

    Examples
    --------
    >>> round(structure_confidence(Evidence(1.0, 1.5, 0.6, 4, 7), known=False), 3), round(
    ...     structure_confidence(Evidence(0.2, 0.0, -0.2, 2, 1), known=False), 3
    ... )
    (0.967, 0.032)
    """
    e = evidence
    third = e.separation if known else math.log(e.n_clusters)
    if e.witnesses is None:
        constant, *weights = KNOWN_ALONE if known else UNKNOWN_ALONE
        terms: tuple[float, ...] = (e.stability, e.margin, third)
    else:
        constant, *weights = KNOWN if known else UNKNOWN
        terms = (e.stability, e.margin, third, e.witnesses)
    logit = constant + math.fsum(weight * term for weight, term in zip(weights, terms, strict=True))
    return 1.0 / (1.0 + math.exp(-logit))
