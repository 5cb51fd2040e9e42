"""The built-in consensus methods as functions on plain arrays: `combine` with one stage each.

The class named in each docstring explains the method and its parameters. `labelings`, `n_clusters`, `random_state`, the
returned labels and the errors are those of `combine`.
"""

from __future__ import annotations

from collections.abc import Sequence

from clusterkit._typing import ArrayLike, Labels, RandomState
from clusterkit.consensus._combine import combine

__all__ = ["coassociation", "comusa", "comusacl", "comusacl_dew", "cspa", "diclens", "hbgf", "voting"]


def coassociation(
    labelings: ArrayLike | Sequence[ArrayLike],
    *,
    n_clusters: int | None = None,
    random_state: RandomState = None,
    linkage: str = "average",
) -> Labels:
    """Hierarchical clustering by the fraction of members that separate two samples: `evidence.Coassociation`."""
    return combine(labelings, "coassociation", n_clusters=n_clusters, random_state=random_state, linkage=linkage)


def comusa(
    labelings: ArrayLike | Sequence[ArrayLike],
    *,
    n_clusters: int | None = None,
    random_state: RandomState = None,
    relaxation: float = 0.5,
    max_over: str = "unvisited",
) -> Labels:
    """Clusters grown in the graph of co-associations of samples: `expansion.Comusa`."""
    return combine(
        labelings, "comusa", n_clusters=n_clusters, random_state=random_state, relaxation=relaxation, max_over=max_over
    )


def comusacl(
    labelings: ArrayLike | Sequence[ArrayLike],
    *,
    n_clusters: int | None = None,
    random_state: RandomState = None,
    relaxation: float = 0.5,
    weight: str = "jaccard",
) -> Labels:
    """Clusters grown in the graph of similarities of base clusters: `cluster_level.Comusacl`."""
    return combine(
        labelings, "comusacl", n_clusters=n_clusters, random_state=random_state, relaxation=relaxation, weight=weight
    )


def comusacl_dew(
    labelings: ArrayLike | Sequence[ArrayLike],
    *,
    n_clusters: int | None = None,
    random_state: RandomState = None,
    relaxation: float = 0.5,
) -> Labels:
    """`comusacl` with the mean co-association as the similarity: `cluster_level.ComusaclDew`."""
    return combine(labelings, "comusacl_dew", n_clusters=n_clusters, random_state=random_state, relaxation=relaxation)


def cspa(
    labelings: ArrayLike | Sequence[ArrayLike],
    *,
    n_clusters: int | None = None,
    random_state: RandomState = None,
    n_init: int = 10,
) -> Labels:
    """Normalised cut of the graph of co-associations; needs `n_clusters`: `spectral.Cspa`."""
    return combine(labelings, "cspa", n_clusters=n_clusters, random_state=random_state, n_init=n_init)


def diclens(
    labelings: ArrayLike | Sequence[ArrayLike], *, n_clusters: int | None = None, random_state: RandomState = None
) -> Labels:
    """The best partition along a spanning tree of base clusters: `divisive.Diclens`."""
    return combine(labelings, "diclens", n_clusters=n_clusters, random_state=random_state)


def hbgf(
    labelings: ArrayLike | Sequence[ArrayLike],
    *,
    n_clusters: int | None = None,
    random_state: RandomState = None,
    n_init: int = 10,
) -> Labels:
    """Normalised cut of the bipartite graph of samples and base clusters; needs `n_clusters`: `spectral.Hbgf`."""
    return combine(labelings, "hbgf", n_clusters=n_clusters, random_state=random_state, n_init=n_init)


def voting(
    labelings: ArrayLike | Sequence[ArrayLike], *, n_clusters: int | None = None, random_state: RandomState = None
) -> Labels:
    """The most frequent label after matching the clusters of all members: `plurality.Voting`."""
    return combine(labelings, "voting", n_clusters=n_clusters, random_state=random_state)
