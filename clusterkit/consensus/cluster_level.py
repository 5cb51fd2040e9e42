"""COMUSA on base clusters instead of samples: linear in the number of samples."""

from __future__ import annotations

import warnings
from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.core import params
from clusterkit.core.errors import ClusterkitWarning
from clusterkit.core.labelings import Labelings
from clusterkit.core.stages import Consensus

__all__ = ["Comusacl", "ComusaclDew"]


@final
@attrs.frozen
class Comusacl(Consensus):
    """Grows groups of base clusters as COMUSA grows groups of samples, then each sample joins the group it votes for.

    A sample votes for the group with most of its base clusters. This is our own variant of the idea of a COMUSA on
    clusters: the published algorithm of this name may differ, so do not compare with its numbers. The growth is in
    ``_expansion_jit.py`` (`expand`).

    Parameters
    ----------
    relaxation : float, default 0.5
        Larger gives fewer and larger groups.
    weight : {"jaccard", "ecs"}, default "jaccard"
        Similarity of two base clusters: the fraction of their samples that are in both, or the mean co-association
        between them, which also counts agreement through third clusters.

    Notes
    -----
    Ties go to the first base cluster, or the first group. O(n M + E³) time and O(E²) memory for E base clusters.
    """

    name: ClassVar[str] = "comusacl"
    finds_k: ClassVar[bool] = True

    relaxation: float = params.real(0.5, at_least=0.0)
    weight: str = params.choice("jaccard", ("jaccard", "ecs"))

    def merge(self, labelings: Labelings, k: int | None, rng: Rng) -> Labels:
        """Expansion over base clusters, then votes."""
        return _merged(self.name, labelings, self.relaxation, self.weight)


@final
@attrs.frozen
class ComusaclDew(Consensus):
    """`comusacl` with the mean co-association of two base clusters as their similarity.

    Our own variant, like `comusacl`; ``comusacl(weight="ecs")`` is the same.

    Parameters
    ----------
    relaxation : float, default 0.5
        Larger gives fewer and larger groups.

    Notes
    -----
    O(n M + E³) time and O(E²) memory for E base clusters.
    """

    name: ClassVar[str] = "comusacl_dew"
    finds_k: ClassVar[bool] = True

    relaxation: float = params.real(0.5, at_least=0.0)

    def merge(self, labelings: Labelings, k: int | None, rng: Rng) -> Labels:
        """Expansion over base clusters, then votes."""
        return _merged(self.name, labelings, self.relaxation, "ecs")


def _merged(name: str, labelings: Labelings, relaxation: float, weight: str) -> Labels:
    from clusterkit.consensus._base_clusters import average_coassociation, jaccard, overlaps, plurality
    from clusterkit.consensus._expansion_jit import expand

    B = overlaps(labelings)
    W = jaccard(B) if weight == "jaccard" else average_coassociation(B)
    E = len(W)
    order = np.argsort(-_attachment(W), kind="stable")
    groups = expand(W, np.arange(E), np.ones(E, dtype=np.int64), order, relaxation, False)
    columns = labelings.columns
    votes = np.where(columns >= 0, groups[(columns + labelings.offsets).clip(0)], -1)
    labels = plurality(votes)[labelings.column_of]
    if (labels == labels[0]).all():
        warnings.warn(
            f"consensus '{name}' joined all samples with relaxation = {relaxation:g}; a smaller one gives more"
            " clusters",
            ClusterkitWarning,
            stacklevel=5,
        )
    return labels


def _attachment(W: Array) -> Array:
    """Mean of the positive similarities of each base cluster to others, (E,); -inf without any."""
    W = W.copy()
    np.fill_diagonal(W, 0.0)
    degree = np.count_nonzero(W, axis=1)
    means = np.divide(W.sum(axis=1), degree, out=np.full(len(W), -np.inf), where=degree > 0)
    # equal means of quotients differ by rounding; rounded, they are ties, which the order of the base clusters breaks
    return np.round(means / max(means.max(), 1.0), 12)
