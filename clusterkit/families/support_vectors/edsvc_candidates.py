"""The candidates of an ``edsvc`` search: their fits, and their agreement with an ensemble.

A fit solves and labels one pair (gamma, C), independently of all others (`CandidateRuns`). `Agreement` compares
hundreds of labellings of the same samples with an ensemble.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from typing import TypeAlias, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels, Mask, Rng
from clusterkit.contracts import Labeler, Solver, Task
from clusterkit.contracts.outcomes import KernelDomain, Outcome
from clusterkit.errors import ClusterkitWarning
from clusterkit.samples import KernelSpace, Space
from clusterkit.samples.limits import Report, notify

__all__ = [
    "Agreement",
    "CandidateFit",
    "CandidateGroup",
    "CandidateRuns",
]


CandidateGroup: TypeAlias = tuple[float | None, Sequence[float]]
"""A bandwidth, or None for the bandwidth of the space, and the bounds to try with it."""


@final
@attrs.frozen(eq=False)
class CandidateFit:
    """A fitted candidate.

    Parameters
    ----------
    gamma, C : float
    labels : ndarray of shape (n,)
        -1 is noise.
    """

    gamma: float
    C: float
    labels: Labels

    @property
    def n_clusters(self) -> int:
        """Number of clusters; noise is not one."""
        return int(self.labels.max(initial=-1)) + 1


@final
@attrs.frozen(eq=False)
class CandidateRuns:
    """The stages bound to the rows, ready to fit candidates.

    Parameters
    ----------
    space : Space
        The space of the rows; its bandwidth is replaced where a candidate has one of its own.
    solver : Solver
        Without the bound that is searched, or as it is to be used.
    labeler : Labeler
    open_C : bool
        Whether bounds are searched: those above the largest weight of the solution at bound 1 reuse it.
    seed : int
        Seed of the random stream of every candidate. Each candidate starts a fresh stream, so its result does not
        depend on the order.
    """

    space: Space
    solver: Solver
    labeler: Labeler
    open_C: bool
    seed: int

    def over(self, groups: Sequence[CandidateGroup], stage: str) -> Iterator[list[CandidateFit]]:
        """Fit the candidates of each group, in the order of the groups; `stage` names the progress reports.

        The bounds of a group share the solution at bound 1. A bound of nan leaves the solver as it is.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ClusterkitWarning)  # a failing candidate shows in its score
            for done, (gamma, bounds) in enumerate(groups):
                yield self._fit_group(gamma, bounds)
                notify(Report(stage, done + 1, len(groups)))

    def _fit_group(self, gamma: float | None, bounds: Sequence[float]) -> list[CandidateFit]:
        space = self.space
        if gamma is not None:
            assert isinstance(space, KernelSpace)
            space = space.rescaled(gamma)
        width = getattr(getattr(space, "kernel", None), "gamma", math.nan)
        free_labels: Labels | None = None
        largest = math.inf  # bounds from this weight on change nothing
        if self._has_one_solution and (len(bounds) > 1 or bounds[0] != 1.0):
            free = self._solve(space, 1.0)
            assert isinstance(free, KernelDomain)
            free_labels, largest = self._labels(free, space), float(free.weights.max())
        fits: list[CandidateFit] = []
        for C in bounds:
            reused = free_labels is not None and (C == 1.0 or largest <= C)
            labels = free_labels if reused else self._labels(self._solve(space, C), space)
            assert labels is not None
            fits.append(CandidateFit(float(width), C, labels))
        return fits

    @property
    def _has_one_solution(self) -> bool:
        """Whether all bounds above the largest weight at bound 1 have the solution at bound 1.

        The dual of svdd with equal weights is convex with one solution; for other problems this need not hold.
        """
        return self.open_C and self.solver.name == "svdd" and self.solver.parameters().get("weights") is None

    def _solve(self, space: Space, C: float) -> Outcome:
        solver = self.solver if math.isnan(C) else self.solver.with_parameters(C=C)
        outcome = solver.prepare(space, Task(space.n, None), self.rng()).solve(None, None, self.rng())
        if outcome.status is not None and outcome.status.interrupted:
            raise KeyboardInterrupt
        return outcome

    def rng(self) -> Rng:
        """A fresh random stream of a candidate."""
        return np.random.default_rng(self.seed)

    def _labels(self, outcome: Outcome, space: Space) -> Labels:
        return self.labeler.label(outcome, space, Task(space.n, None), self.rng()).labels


TIE = 1e-12
"""Scores that differ by less are equal: the order of a sum changes them by about this much."""


@final
@attrs.define(eq=False)
class Agreement:
    """Mean agreement of a partition with M labellings of n samples; equal partitions are scored once.

    ``NMI = I / √(H H')`` with the mutual information I and the entropies H and H'. Two trivial partitions (one cluster)
    agree fully, a trivial and a nontrivial one not at all. It equals `clusterkit.metrics.anmi`, but one table of counts
    serves all members.

    O(n M) time for a partition of k clusters, and O(k Σ k_m) for its table.

    Parameters
    ----------
    members : ndarray of shape (M, n), int
    """

    members: Labels
    _codes: Labels = attrs.field(init=False)
    _owner: Indices = attrs.field(init=False)
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
        """Number of different partitions scored."""
        return len(self._known)

    def score(self, labels: Labels) -> float:
        """Mean over the members, in [0, 1]; labels (n,) in order of first appearance, -1 is a cluster."""
        key = np.ascontiguousarray(labels, dtype=np.int32).tobytes()
        if key not in self._known:
            values = self._nmi(labels)
            # fsum rounds correctly, so the order of the members does not matter
            self._known[key] = math.fsum(values.tolist()) / len(self.members)
        return self._known[key]

    def singletons(self) -> float:
        """Score of the partition in which every sample is alone: the level that a shattered partition has by chance."""
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

    @property
    def _trivial(self) -> Mask:
        """Which members have a single cluster, (M,)."""
        return np.bincount(self._owner, minlength=len(self.members)) == 1
