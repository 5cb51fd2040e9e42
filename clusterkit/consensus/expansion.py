"""COMUSA: clusters that grow from pivots in the graph of co-associations."""

from __future__ import annotations

import warnings
from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Labels, Rng
from clusterkit.core import memory, params
from clusterkit.core.errors import ClusterkitWarning
from clusterkit.core.labelings import Labelings
from clusterkit.core.stages import Consensus

__all__ = ["Comusa"]

BLOCK = 2**22
"""Co-associations multiplied at a time: 32 MiB as float64."""


@final
@attrs.frozen
class Comusa(Consensus):
    """Grows clusters in the graph whose edges count how many members put two samples into one cluster.

    A cluster starts at the free sample with the largest mean similarity to its neighbours. A sample v of the cluster
    takes a free sample w if no other free sample is more similar to w than ``(1 + relaxation)`` times v. The number of
    clusters follows. The growth is in ``_expansion_jit.py`` (`expand`).

    Parameters
    ----------
    relaxation : float, default 0.5
        Larger gives fewer and larger clusters. The published value joins everything where members have two or three
        clusters; 0.25 is worth a try then, 0 gives dozens of clusters.
    max_over : {"unvisited", "all"}, default "unvisited"
        Samples among which the most similar one to w is sought.

    Notes
    -----
    Ties go to the smallest index. Samples that all members label alike are stored once in the matrix of counts:
    O(u² M) time and O(u²) memory for u distinct label columns, plus the scans of the rows. The result is that of the
    plain algorithm on n samples. Source: Mimaroglu, Erdil 2011.
    """

    name: ClassVar[str] = "comusa"
    finds_k: ClassVar[bool] = True

    relaxation: float = params.real(0.5, at_least=0.0)
    max_over: str = params.choice("unvisited", ("unvisited", "all"))

    def merge(self, labelings: Labelings, k: int | None, rng: Rng) -> Labels:
        """Expansion over samples; one cluster gets a warning."""
        from clusterkit.consensus._coassociation_jit import agreements
        from clusterkit.consensus._expansion_jit import expand

        u = len(labelings.counts)
        memory.require(4 * u * u, f"the co-association of {u} distinct label columns", "Use consensus 'comusacl'.")
        S = np.empty((u, u), dtype=np.int32)
        agreements(labelings.columns, S)
        order = np.argsort(-_attachment(S, labelings.counts)[labelings.column_of], kind="stable")
        labels: Labels = expand(
            S, labelings.column_of, labelings.counts, order, self.relaxation, self.max_over == "all"
        )
        if not labels.any():
            warnings.warn(
                f"consensus 'comusa' joined all samples with relaxation = {self.relaxation:g}; a smaller one gives "
                "more clusters",
                ClusterkitWarning,
                stacklevel=4,
            )
        return labels


def _attachment(S: Counts, counts: Counts) -> Array:
    """Mean co-association of a sample of each column with its neighbours in the graph, (u,); -inf without any."""
    together = np.empty(len(S))
    degree = np.empty(len(S))
    block = max(1, BLOCK // len(S))
    for begin in range(0, len(S), block):
        rows = S[begin : begin + block]
        itself = rows[np.arange(len(rows)), np.arange(begin, begin + len(rows))]
        together[begin : begin + block] = rows @ counts - itself
        degree[begin : begin + block] = (rows > 0) @ counts - 1
    return np.divide(together, degree, out=np.full(len(S), -np.inf), where=degree > 0)
