"""How likely it is that a chosen clustering describes the structure of the data, on the scale of a probability."""

from __future__ import annotations

import math

__all__ = ["structure_confidence"]

KNOWN = (-0.76, 2.22, 0.29, 1.71)
"""Constant and weights of stability, margin and fringe gap where the number of clusters was known: a logistic
regression (ridge, C = 1) of "adjusted Rand index of at least .8 with the generated structure" on 28 development sets of
shapes, 8 named sets (both with weight 2) and 72 generated sets."""

UNKNOWN = (-1.21, 0.94, 1.59, 1.78)
"""The same where the number of clusters was chosen."""


def structure_confidence(stability: float, margin: float, fringe: float, *, known: bool) -> float:
    """Estimated probability that a clustering has an adjusted Rand index of at least .8 with the structure of the data.

    It was fitted to data whose structure is known, and speaks of the structure that the positions of the rows show. It
    says nothing of agreement with classes of the user: classes need not be clusters, and where they are not, an answer
    can be certain and unlike them. It was fitted to data with at least two clusters.

    Parameters
    ----------
    stability : float
        Of `subsample_stability`.
    margin : float
        Of `Ranking.margin`.
    fringe : float
        Of `fringe_gap`.
    known : bool
        Whether the number of clusters was given.

    Examples
    --------
    >>> round(structure_confidence(1.0, 1.0, 2.0, known=False), 3), round(
    ...     structure_confidence(0.2, 0.0, -1.0, known=False), 3
    ... )
    (0.992, 0.057)
    """
    constant, *weights = KNOWN if known else UNKNOWN
    terms = (stability, margin, fringe)
    logit = constant + math.fsum(weight * term for weight, term in zip(weights, terms, strict=True))
    return 1.0 / (1.0 + math.exp(-logit))
