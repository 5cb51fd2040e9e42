"""Feature maps, codecs, labelers, balancers and partitioners that each differ from a sound one in a single point."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit.contracts import (
    BalanceDecision,
    Balancer,
    Codec,
    Consensus,
    FeatureMap,
    FittedMap,
    Labeler,
    Labeling,
    Partitioner,
)
from clusterkit.contracts.outcomes import Embedding
from clusterkit.samples import KernelSpace, build_space
from clusterkit.samples.coding import Coding
from clusterkit.samples.kernels import Gaussian
from clusterkit.samples.transform import IdentityMap


@attrs.frozen
class Moved:
    """Subtracts the mean of whatever rows it is given: not row-wise."""

    width: int

    def __call__(self, Y):
        return Y - Y.mean(axis=0)


@attrs.frozen
class Widened:
    """Forgets the number type."""

    width: int

    def __call__(self, Y):
        return Y.astype(np.float64)


class MeanRemoved(FeatureMap):
    name: ClassVar[str] = "mean_removed"

    def fit(self, samples, task, rng):
        X = samples.points
        return build_space(X, Moved(X.shape[1]), storage="dense")


class Widening(FeatureMap):
    name: ClassVar[str] = "widening"

    def fit(self, samples, task, rng):
        X = samples.points
        return build_space(X, Widened(X.shape[1]), storage="streamed")


class Unseeded(FeatureMap):
    name: ClassVar[str] = "unseeded"

    def fit(self, samples, task, rng):
        X = samples.points
        noise = np.random.default_rng().standard_normal()
        return build_space(X * np.asarray(noise, X.dtype), Scaled(X.shape[1], noise), storage="dense")


@attrs.frozen
class Scaled:
    width: int
    factor: float

    def __call__(self, Y):
        return (Y * self.factor).astype(Y.dtype)


class Elsewhere(FeatureMap):
    """Another map where the samples are read by passes."""

    name: ClassVar[str] = "elsewhere"
    reads: ClassVar[str] = "passes"

    def fit(self, samples, task, rng):
        return FittedMap(Scaled(samples.width, 2.0 if samples.in_memory else 3.0))


class Overwriting(FeatureMap):
    name: ClassVar[str] = "overwriting"

    def fit(self, samples, task, rng):
        X = samples.points
        X[0] = 1.0
        return build_space(X, IdentityMap(X.shape[1]), storage="dense")


class Misdeclared(FeatureMap):
    name: ClassVar[str] = "misdeclared"

    def fit(self, samples, task, rng):
        X = samples.points
        return KernelSpace(X, Gaussian(1.0))


@final
@attrs.frozen
class Negative:
    def __call__(self, A, B):
        return -Gaussian(1.0)(A, B)

    def diag(self, A):
        return -np.ones(len(A), A.dtype)


class Indefinite(FeatureMap):
    name: ClassVar[str] = "indefinite"
    gives: ClassVar[type] = KernelSpace

    def fit(self, samples, task, rng):
        X = samples.points
        return KernelSpace(X, Negative())


class Upside(Codec):
    """Decodes the farthest target."""

    name: ClassVar[str] = "upside"
    coding: ClassVar[Coding] = Coding.ONEHOT

    def codebook(self, k):
        return np.eye(k)

    def costs(self, rows, k):
        return rows

    def calibrate(self, rows, task):
        return self


class Ranked(Upside):
    """Costs that depend on all rows."""

    name: ClassVar[str] = "ranked"

    def costs(self, rows, k):
        return -rows + rows.max()


class Hollow(Upside):
    """Costs of a score of zero are infinite."""

    name: ClassVar[str] = "hollow"

    def costs(self, rows, k):
        return np.where(rows == 0, np.inf, -rows)


class Turning(Upside):
    """`calibrate` scales the scores it was given."""

    name: ClassVar[str] = "turning"

    def costs(self, rows, k):
        return -rows

    def calibrate(self, rows, task):
        rows *= 2
        return self


@attrs.frozen(eq=False)
class Shifted:
    """The wrong answer, and more labels than there are."""

    k: int

    def __call__(self, Y):
        return np.full(len(Y), self.k)


class Scattering(Labeler):
    """Labels by position."""

    name: ClassVar[str] = "scattering"
    consumes: ClassVar[type] = Embedding

    def label(self, outcome, space, task, rng):
        return Labeling(np.arange(space.n) % task.k, Shifted(task.k))


class Gappy(Labeler):
    """Finds clusters 1 and 3; from a stream of its own."""

    name: ClassVar[str] = "gappy"
    consumes: ClassVar[type] = Embedding
    finds_k: ClassVar[bool] = True

    def label(self, outcome, space, task, rng):
        labels = np.where(np.random.default_rng().random(space.n) > 0.5, 3, 1)
        return Labeling(labels, None)


class Backwards(Labeler):
    """Numbers the last sample's cluster 0."""

    name: ClassVar[str] = "backwards"
    consumes: ClassVar[type] = Embedding
    finds_k: ClassVar[bool] = True
    inductive: ClassVar[bool] = False

    def label(self, outcome, space, task, rng):
        _, labels = np.unique(-outcome.rows[:, 0], return_inverse=True)
        return Labeling(labels, None)


class Lazy(Balancer):
    """Promises sizes, and does nothing."""

    name: ClassVar[str] = "lazy"

    def bounds(self, n, k):
        return np.full(k, n // k), np.full(k, -(-n // k))

    def reads(self, k):
        return "all"

    def balance(self, costs, task):
        return BalanceDecision()

    def resolved(self, n, k):
        return {}


class Restless(Lazy):
    """Feasible, but never twice the same, and dear."""

    name: ClassVar[str] = "restless"

    def balance(self, costs, task):
        return BalanceDecision(np.roll(np.arange(costs.n), 1 + int(costs.labels[0])) % costs.k)


class Boundless(Lazy):
    """Bounds that cannot be met."""

    name: ClassVar[str] = "boundless"

    def bounds(self, n, k):
        return np.full(k, n), np.full(k, n)

    def resolved(self, n, k):
        return {"size": 3}


class Outside(Partitioner):
    name: ClassVar[str] = "outside"
    sees: ClassVar[str] = "input"

    def start(self, samples, task, rng):
        return np.full(samples.n, task.k)


class Fickle(Partitioner):
    name: ClassVar[str] = "fickle"
    sees: ClassVar[str] = "input"
    varies: ClassVar[bool] = False

    def start(self, samples, task, rng):
        return rng.integers(task.k, size=samples.n)


class Freely(Partitioner):
    name: ClassVar[str] = "freely"
    sees: ClassVar[str] = "input"

    def start(self, samples, task, rng):
        return np.random.default_rng().integers(task.k, size=samples.n)


class Last(Consensus):
    """The last member."""

    name: ClassVar[str] = "last"
    finds_k: ClassVar[bool] = True

    def merge(self, labelings, k, rng):
        return labelings.members[-1] + 1
