"""Consensus: one labelling from several labellings of the same samples.

M labellings of n samples are a table (M, n). A consensus looks for the partition that agrees best with all rows; the
methods differ in what they compare: pairs of samples by their co-association ``S_ij = number of members with i and j in
one cluster``, base clusters (the clusters of all members) by their overlaps, or labels matched between members.

>>> from clusterkit import consensus
>>> members = [[0, 0, 0, 1, 1, 1], [5, 5, 5, 7, 7, 7], [0, 0, 1, 1, 2, 2]]
>>> consensus.diclens(members).tolist()
[0, 0, 0, 1, 1, 1]
>>> consensus.coassociation(members, n_clusters=2, linkage="complete").tolist()
[0, 0, 0, 1, 1, 1]

`combine` takes the consensus by name or as a stage; the built-in methods are functions of their own. A consensus of a
plugin, or one registered in this session, is an attribute as well. `clusterkit.ensemble` makes the members,
`clusterkit.ConsensusClustering` does both at once.

The stages are in `clusterkit.families.consensus`; ``_combining.py`` has `combine`, and the methods as functions on
plain arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from clusterkit._typing import Labels
from clusterkit.consensus._combining import (
    coassociation,
    combine,
    comusa,
    comusacl,
    comusacl_dew,
    cspa,
    diclens,
    hbgf,
    voting,
)

__all__ = ["coassociation", "combine", "comusa", "comusacl", "comusacl_dew", "cspa", "diclens", "hbgf", "voting"]


def __getattr__(name: str) -> Callable[..., Labels]:
    """`combine` with a consensus of a plugin or of this session."""
    from clusterkit.contracts.registry import registry

    if name.startswith("_"):
        raise AttributeError(f"module 'clusterkit.consensus' has no attribute {name!r}")
    if registry.find("consensus", name) is None:
        names = ", ".join(registry.names("consensus"))
        raise AttributeError(f"module 'clusterkit.consensus' has no function {name!r}; there are: {names}")
    return partial(combine, consensus=name)


def __dir__() -> list[str]:
    from clusterkit.contracts.registry import registry

    return sorted({*globals(), *registry.names("consensus")})
