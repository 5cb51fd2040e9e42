"""How well a labelling agrees with an ensemble of others, for hundreds of labellings of the same samples."""

from __future__ import annotations

import math
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels

__all__ = ["Agreement"]

TIE = 1e-12
"""Scores within this of the best are equal: so much is left to the order of a sum."""


@final
@attrs.define(eq=False)
class Agreement:
    """Mean agreement with M labelings of n samples; a partition met before is not scored again.

    ``NMI = I / √(H H')`` and ``AMI = (I - E I) / (√(H H') - E I)``; two trivial partitions agree fully, one trivial
    and one other not at all. The same value as `clusterkit.metrics.anmi`, from one table of counts for all members.

    Parameters
    ----------
    members : ndarray of shape (M, n), int
    measure : {"nmi", "ami"}
    """

    members: Array
    measure: str
    _codes: Array = attrs.field(init=False)
    _owner: Array = attrs.field(init=False)
    _entropies: Array = attrs.field(init=False)
    _logs: Array = attrs.field(init=False)
    _known: dict[bytes, float] = attrs.field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        numbered = [np.unique(member, return_inverse=True)[1] for member in self.members]
        sizes = [int(member.max()) + 1 for member in numbered]
        self._codes = np.stack(numbered) + np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)[:, None]
        self._owner = np.repeat(np.arange(len(sizes)), sizes)
        n = self.members.shape[1]
        counts = np.arange(n + 1, dtype=np.float64)
        counts[0] = 1.0
        self._logs = np.arange(n + 1) * np.log(counts)
        self._entropies = math.log(n) - self._sums(np.bincount(self._codes.reshape(-1), minlength=len(self._owner))) / n

    def __len__(self) -> int:
        """Partitions scored."""
        return len(self._known)

    def score(self, labels: Labels) -> float:
        """Mean over the members, in [0, 1] for NMI; labels (n,) numbered from 0 by first appearance, -1 a cluster."""
        key = np.ascontiguousarray(labels, dtype=np.int32).tobytes()
        if key not in self._known:
            # the order of the members must not matter: a correctly rounded sum
            self._known[key] = math.fsum(self._nmi(labels) if self.measure == "nmi" else self._ami(labels)) / len(
                self.members
            )
        return self._known[key]

    def singletons(self) -> float:
        """The score of every sample alone: what chance gives a shattered partition."""
        return self.score(np.arange(self.members.shape[1]))

    def _sums(self, table: Array) -> Array:
        """``Σ T log T`` of each member over the columns of its clusters, (M,)."""
        terms = self._logs[table]
        return np.bincount(self._owner, terms if terms.ndim == 1 else terms.sum(axis=0), minlength=len(self.members))

    def _nmi(self, labels: Labels) -> Any:
        n, wide = len(labels), len(self._owner)
        own = np.unique(labels, return_inverse=True)[1]
        k = int(own.max()) + 1
        cells = np.bincount((own * wide + self._codes).reshape(-1), minlength=k * wide).reshape(k, wide)
        entropy = math.log(n) - float(self._logs[np.bincount(own)].sum()) / n
        shared = entropy + self._entropies - (math.log(n) - self._sums(cells) / n)
        # an entropy of one cluster is 0 up to rounding, and never below 1 / n otherwise
        trivial, theirs = k == 1, np.bincount(self._owner, minlength=len(self.members)) == 1
        norm = np.sqrt(np.maximum(entropy * self._entropies, 0.0))
        values = np.clip(shared / np.where(norm > 0.0, norm, 1.0), 0.0, 1.0)
        return np.where(theirs, float(trivial), 0.0 if trivial else values)

    def _ami(self, labels: Labels) -> Any:
        from sklearn.metrics import adjusted_mutual_info_score

        return [
            float(adjusted_mutual_info_score(member, labels, average_method="geometric")) for member in self.members
        ]
