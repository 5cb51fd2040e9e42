"""How likely it is that a chosen clustering describes the structure of the data, on the scale of a probability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array

__all__ = ["AGREES", "Evidence", "structure_confidence", "witnesses"]

AGREES = 0.9
"""Adjusted Rand index from which a clustering of another method is the same answer: above it they differ in rows on
borders."""

FEWEST_METHODS = 4
"""With fewer methods than this their agreement says little."""

KNOWN, UNKNOWN = (-4.15, 2.02, 4.13, 4.67, 0.0, 0.99), (-4.49, 1.78, 0.71, 2.77, 0.75, 1.21)
"""Constant and weights of stability, margin, separation, logarithm of the number of clusters, and witnesses, where the
number of clusters was given and where it was chosen. Two clusters are the least certain number that is chosen: they
are often the upper level of a nested structure."""

KNOWN_ALONE, UNKNOWN_ALONE = (-3.00, 3.12, 5.87, 4.15, 0.0), (-3.52, 0.89, 2.19, 3.61, 0.97)
"""The same without witnesses."""

MOST_KNOWN, MOST_UNKNOWN = 7, 2
"""Most witnesses that count: all methods of the default pool but one of two Genies, and those of them that find the
number themselves."""

# The weights are those of logistic regressions (ridge, C = 10) of "adjusted Rand index of at least .8 with the
# generated structure" on 200 generated sets of ten families, each with a weight of 1 / its number of clusters, by
# tests/benchmarks/confidence.py; `UNKNOWN` on 77 more of right_numbers.py, with seeds below 100. While the form was
# chosen by cross-validation on these, figures of parts of the shapes and named sets stood beside it, so the figures on
# those are not strictly blind.


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
        Other ways to the same answer, of `witnesses`; None where too few methods were compared.
    """

    stability: float
    margin: float
    separation: float
    n_clusters: int
    witnesses: int | None = None


def witnesses(similarity: Array, methods: Sequence[str], finders: Sequence[bool], *, known: bool) -> int | None:
    """Number of methods one of whose candidates has a similarity of at least .9 to the answer, with its own.

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
    >>> sure, unsure = Evidence(1.0, 1.5, 0.6, 4, 2), Evidence(0.2, 0.0, -0.2, 2, 0)
    >>> round(structure_confidence(sure, known=False), 3), round(structure_confidence(unsure, known=False), 3)
    (0.97, 0.015)
    """
    e = evidence
    constant, *weights = (
        (KNOWN_ALONE if known else UNKNOWN_ALONE) if e.witnesses is None else KNOWN if known else UNKNOWN
    )
    terms = (e.stability, e.margin, e.separation, math.log(e.n_clusters), e.witnesses or 0)
    logit = constant + math.fsum(weight * term for weight, term in zip(weights, terms, strict=False))
    return 1.0 / (1.0 + math.exp(-logit))
