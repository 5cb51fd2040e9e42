"""How well a labelling agrees with an ensemble of others, for hundreds of labellings of the same samples."""

from __future__ import annotations

import math
from typing import final

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
    and one other not at all. NMI is that of `clusterkit.metrics.anmi`, from one table of counts for all members. AMI
    is 0 where chance alone shares everything (all samples apart).

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
    _factorials: Array = attrs.field(init=False)
    _known: dict[bytes, float] = attrs.field(init=False, factory=dict)
    _chances: dict[int, Array] = attrs.field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        numbered = [np.unique(member, return_inverse=True)[1] for member in self.members]
        sizes = [int(member.max()) + 1 for member in numbered]
        self._codes = np.stack(numbered) + np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)[:, None]
        self._owner = np.repeat(np.arange(len(sizes)), sizes)
        n = self.members.shape[1]
        counts = np.arange(n + 1, dtype=np.float64)
        counts[0] = 1.0
        self._logs = np.arange(n + 1) * np.log(counts)
        self._factorials = np.cumsum(np.log(counts))  # log n!
        self._entropies = math.log(n) - self._sums(np.bincount(self._codes.reshape(-1), minlength=len(self._owner))) / n

    def __len__(self) -> int:
        """Partitions scored."""
        return len(self._known)

    def score(self, labels: Labels) -> float:
        """Mean over the members, in [0, 1] for NMI; labels (n,) numbered from 0 by first appearance, -1 a cluster."""
        key = np.ascontiguousarray(labels, dtype=np.int32).tobytes()
        if key not in self._known:
            values = self._nmi(labels) if self.measure == "nmi" else self._ami(labels)
            # the order of the members must not matter: a correctly rounded sum
            self._known[key] = math.fsum(values.tolist()) / len(self.members)
        return self._known[key]

    def singletons(self) -> float:
        """The score of every sample alone: what chance gives a shattered partition."""
        return self.score(np.arange(self.members.shape[1]))

    def _sums(self, table: Array) -> Array:
        """``Σ T log T`` of each member over the columns of its clusters, (M,)."""
        terms = self._logs[table]
        return np.bincount(self._owner, terms if terms.ndim == 1 else terms.sum(axis=0), minlength=len(self.members))

    def _information(self, labels: Labels) -> tuple[Array, float, Array]:
        """Information shared with each member, the entropy of the labels, and the sizes of their clusters."""
        n, wide = len(labels), len(self._owner)
        own = np.unique(labels, return_inverse=True)[1]
        sizes = np.bincount(own)
        cells = np.bincount((own * wide + self._codes).reshape(-1), minlength=len(sizes) * wide)
        entropy = math.log(n) - float(self._logs[sizes].sum()) / n
        joint = math.log(n) - self._sums(cells.reshape(len(sizes), wide)) / n
        return np.maximum(entropy + self._entropies - joint, 0.0), entropy, sizes

    def _nmi(self, labels: Labels) -> Array:
        shared, entropy, sizes = self._information(labels)
        norm = np.sqrt(np.maximum(entropy * self._entropies, 0.0))
        values = np.minimum(shared / np.where(norm > 0.0, norm, 1.0), 1.0)
        return np.where(self._trivial, float(len(sizes) == 1), 0.0 if len(sizes) == 1 else values)

    def _ami(self, labels: Labels) -> Array:
        shared, entropy, sizes = self._information(labels)
        kinds, many = np.unique(sizes, return_counts=True)
        by_chance = np.zeros(len(self.members))
        for size, number in zip(kinds.tolist(), many.tolist(), strict=True):
            by_chance += number * self._by_chance(size)
        above = np.sqrt(np.maximum(entropy * self._entropies, 0.0)) - by_chance
        # where chance alone gives all there is to share nothing is left to agree by
        blank = above <= 1e-12
        values = np.where(blank, 0.0, shared - by_chance) / np.where(blank, 1.0, above)
        return np.where(self._trivial, float(len(sizes) == 1), 0.0 if len(sizes) == 1 else values)

    @property
    def _trivial(self) -> Array:
        """Which members are one cluster."""
        return np.bincount(self._owner, minlength=len(self.members)) == 1

    def _by_chance(self, a: int) -> Array:
        """What a cluster of size a is expected to share with each member, (M,): hypergeometric counts."""
        if a not in self._chances:
            n, lf, per_size = self.members.shape[1], self._factorials, {}
            sizes = np.bincount(self._codes.reshape(-1), minlength=len(self._owner))
            for b in np.unique(sizes).tolist():
                t = np.arange(max(1, a + b - n), min(a, b) + 1)
                logs = lf[a] + lf[b] + lf[n - a] + lf[n - b] - lf[n] - lf[t] - lf[a - t] - lf[b - t] - lf[n - a - b + t]
                per_size[b] = float((t / n * np.log(n * t / (a * b)) * np.exp(logs)).sum())
            terms = np.array([per_size[b] for b in sizes.tolist()])
            self._chances[a] = np.bincount(self._owner, terms, minlength=len(self.members))
        return self._chances[a]
