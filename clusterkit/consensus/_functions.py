"""The built-in consensus methods as functions on plain arrays: `combine` with one stage each.

Each gets the docstring of its stage, completed by the parameters that all share, so that ``help`` is complete.
"""

from __future__ import annotations

from collections.abc import Sequence

from clusterkit._typing import ArrayLike, Labels, RandomState
from clusterkit.consensus._combine import combine
from clusterkit.consensus._help import documented_by
from clusterkit.consensus.cluster_level import Comusacl, ComusaclDew
from clusterkit.consensus.divisive import Diclens
from clusterkit.consensus.evidence import Coassociation
from clusterkit.consensus.expansion import Comusa
from clusterkit.consensus.plurality import Voting
from clusterkit.consensus.spectral import Cspa, Hbgf

__all__ = ["coassociation", "comusa", "comusacl", "comusacl_dew", "cspa", "diclens", "hbgf", "voting"]


@documented_by(Coassociation)
def coassociation(
    labelings: ArrayLike | Sequence[ArrayLike],
    *,
    n_clusters: int | None = None,
    random_state: RandomState = None,
    linkage: str = "average",
) -> Labels:
    """Hierarchical clustering by the fraction of members that separate two samples."""
    return combine(labelings, "coassociation", n_clusters=n_clusters, random_state=random_state, linkage=linkage)


@documented_by(Comusa)
def comusa(
    labelings: ArrayLike | Sequence[ArrayLike],
    *,
    n_clusters: int | None = None,
    random_state: RandomState = None,
    relaxation: float = 0.5,
    max_over: str = "unvisited",
) -> Labels:
    """Clusters grown in the graph of co-associations of samples."""
    return combine(
        labelings, "comusa", n_clusters=n_clusters, random_state=random_state, relaxation=relaxation, max_over=max_over
    )


@documented_by(Comusacl)
def comusacl(
    labelings: ArrayLike | Sequence[ArrayLike],
    *,
    n_clusters: int | None = None,
    random_state: RandomState = None,
    relaxation: float = 0.5,
    weight: str = "jaccard",
) -> Labels:
    """Clusters grown in the graph of similarities of base clusters."""
    return combine(
        labelings, "comusacl", n_clusters=n_clusters, random_state=random_state, relaxation=relaxation, weight=weight
    )


@documented_by(ComusaclDew)
def comusacl_dew(
    labelings: ArrayLike | Sequence[ArrayLike],
    *,
    n_clusters: int | None = None,
    random_state: RandomState = None,
    relaxation: float = 0.5,
) -> Labels:
    """`comusacl` with the mean co-association as the similarity."""
    return combine(labelings, "comusacl_dew", n_clusters=n_clusters, random_state=random_state, relaxation=relaxation)


@documented_by(Cspa)
def cspa(
    labelings: ArrayLike | Sequence[ArrayLike],
    *,
    n_clusters: int | None = None,
    random_state: RandomState = None,
    n_init: int = 10,
) -> Labels:
    """Normalised cut of the graph of co-associations; needs `n_clusters`."""
    return combine(labelings, "cspa", n_clusters=n_clusters, random_state=random_state, n_init=n_init)


@documented_by(Diclens)
def diclens(
    labelings: ArrayLike | Sequence[ArrayLike], *, n_clusters: int | None = None, random_state: RandomState = None
) -> Labels:
    """The best partition along a spanning tree of base clusters."""
    return combine(labelings, "diclens", n_clusters=n_clusters, random_state=random_state)


@documented_by(Hbgf)
def hbgf(
    labelings: ArrayLike | Sequence[ArrayLike],
    *,
    n_clusters: int | None = None,
    random_state: RandomState = None,
    n_init: int = 10,
) -> Labels:
    """Normalised cut of the bipartite graph of samples and base clusters; needs `n_clusters`."""
    return combine(labelings, "hbgf", n_clusters=n_clusters, random_state=random_state, n_init=n_init)


@documented_by(Voting)
def voting(
    labelings: ArrayLike | Sequence[ArrayLike], *, n_clusters: int | None = None, random_state: RandomState = None
) -> Labels:
    """The most frequent label after matching the clusters of all members."""
    return combine(labelings, "voting", n_clusters=n_clusters, random_state=random_state)
