"""Agreement of a labelling with an ensemble of others, for hundreds of labellings of the same samples."""

from __future__ import annotations

import math
from typing import cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels, Mask

__all__ = ["Agreement"]

TIE = 1e-12
"""Scores that differ by less are equal: the order of a sum changes them by about this much."""


@final
@attrs.define(eq=False)
class Agreement:
    """Mean agreement of a partition with M labelings of n samples; equal partitions are scored once.

    ``NMI = I / √(H H')`` and ``AMI = (I - E I) / (√(H H') - E I)`` with the mutual information I, the entropies H and
    H', and the expectation E over random partitions with the same cluster sizes. Two trivial partitions (one cluster)
    agree fully, a trivial and a nontrivial one not at all. NMI equals `clusterkit.metrics.anmi`, but one table of
    counts serves all members. AMI is 0 where chance alone shares all the information (all samples apart).

    O(n M) time for a partition of k clusters, and O(k Σ k_m) for its table.

    Parameters
    ----------
    members : ndarray of shape (M, n), int
    measure : {"nmi", "ami"}
    """

    members: Labels
    measure: str
    _codes: Labels = attrs.field(init=False)
    _owner: Indices = attrs.field(init=False)
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
        """Number of different partitions scored."""
        return len(self._known)

    def score(self, labels: Labels) -> float:
        """Mean over the members, in [0, 1] for NMI; labels (n,) in order of first appearance, -1 is a cluster."""
        key = np.ascontiguousarray(labels, dtype=np.int32).tobytes()
        if key not in self._known:
            values = self._nmi(labels) if self.measure == "nmi" else self._ami(labels)
            # fsum rounds correctly, so the order of the members does not matter
            self._known[key] = math.fsum(values.tolist()) / len(self.members)
        return self._known[key]

    def singletons(self) -> float:
        """Score of the partition in which every sample is alone: what chance gives a shattered partition."""
        return self.score(np.arange(self.members.shape[1]))

    def _sums(self, table: Counts) -> Array:
        """``Σ T log T`` of each member over the columns of its clusters, (M,)."""
        terms = self._logs[table]
        summands = terms if terms.ndim == 1 else terms.sum(axis=0)
        return cast("Array", np.bincount(self._owner, summands, minlength=len(self.members)))

    def _information(self, labels: Labels) -> tuple[Array, float, Counts]:
        """Mutual information with each member (M,), entropy of the labels, and their cluster sizes."""
        n, wide = len(labels), len(self._owner)
        codes = np.unique(labels, return_inverse=True)[1]
        sizes = np.bincount(codes)
        cells = np.bincount((codes * wide + self._codes).reshape(-1), minlength=len(sizes) * wide)
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
        # Where chance alone shares all the information, the agreement is 0 / 0 and counts as none.
        blank = above <= 1e-12
        values = np.where(blank, 0.0, shared - by_chance) / np.where(blank, 1.0, above)
        return np.where(self._trivial, float(len(sizes) == 1), 0.0 if len(sizes) == 1 else values)

    @property
    def _trivial(self) -> Mask:
        """Which members have a single cluster, (M,)."""
        return np.bincount(self._owner, minlength=len(self.members)) == 1

    def _by_chance(self, a: int) -> Array:
        """Information that a random cluster of size a shares with each member on average, (M,).

        The overlap with a cluster of a member is hypergeometric; the formula is that of Vinh, Epps, Bailey (2010).
        """
        if a not in self._chances:
            n, lf, per_size = self.members.shape[1], self._factorials, {}
            sizes = np.bincount(self._codes.reshape(-1), minlength=len(self._owner))
            for b in np.unique(sizes).tolist():
                t = np.arange(max(1, a + b - n), min(a, b) + 1)
                logs = lf[a] + lf[b] + lf[n - a] + lf[n - b] - lf[n] - lf[t] - lf[a - t] - lf[b - t] - lf[n - a - b + t]
                per_size[b] = float((t / n * np.log(n * t / (a * b)) * np.exp(logs)).sum())
            terms = np.array([per_size[b] for b in sizes.tolist()])
            self._chances[a] = cast("Array", np.bincount(self._owner, terms, minlength=len(self.members)))
        return self._chances[a]
