"""A turn of fuzzy c-means on features as sums over the rows: weighted sums of features, weights, objective, change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Rng
from clusterkit.core import sums
from clusterkit.core.class_sums import class_totals, products_of_rows
from clusterkit.core.coding import Coded, Coding, unit_vectors
from clusterkit.core.iterating import Step
from clusterkit.core.namespaces import (
    BlockFunction,
    array_namespace,
    as_type,
    host_dtype,
    is_device_array,
    move_to,
    table_columns,
    to_device_of,
    to_host,
)
from clusterkit.core.outcomes import Extension
from clusterkit.core.row_graph import Node
from clusterkit.core.spaces import FeatureSpace, KernelSpace
from clusterkit.core.summing import RowFunction
from clusterkit.core.sums import Sums
from clusterkit.core.survey import draw_rows, draw_weighted
from clusterkit.core.transform import block_plan
from clusterkit.solvers.means._geometry import CentredFeatures
from clusterkit.solvers.means._nearness import NearestMeans

__all__ = [
    "ALL_EQUAL",
    "FuzzySums",
    "FuzzyTurns",
    "Memberships",
    "distinct",
    "largest_change",
    "memberships",
    "tolerance_reached",
    "weighted_sums",
]

ALL_EQUAL = "all samples are equal, and so are their memberships"
"""Why the iteration ends before it begins where no sample differs from another."""


TABLES = 4
"""Tables of k columns that a turn has at once on a device, in the unit by which blocks are planned: a block that is
planned for one table has five to nine, of float64 numbers whatever the rows are."""


def tolerance_reached(change: float) -> str:
    """Why the iteration ended."""
    return f"tolerance reached: no membership changed by more than {change:.1e}"


def memberships(distances: Array, fuzzifier: float) -> Array:
    """Memberships in k clusters for squared distances to their centres.

    Parameters
    ----------
    distances : ndarray of shape (n, k)
        Nonnegative; exactly 0 on a centre.
    fuzzifier : float
        φ > 1.

    Returns
    -------
    ndarray of shape (n, k), float64
        Rows sum to 1.

    Notes
    -----
    Computed as a softmax of ``-ln d / (φ - 1)``, because the powers themselves overflow for φ near 1.

    Examples
    --------
    >>> memberships(np.array([[1.0, 4.0], [0.0, 4.0], [0.0, 0.0]]), 2.0).tolist()
    [[0.8, 0.2], [1.0, 0.0], [0.5, 0.5]]
    """
    if is_device_array(distances):
        return _memberships_on_device(distances, fuzzifier)
    distances = distances.astype(np.float64, copy=False)
    # relative to the nearest centre: exactly 1 there, at most 1 elsewhere, and 0 beside a distance of 0
    if fuzzifier == 2.0:  # the usual value: a quotient, which cannot overflow
        nearest = distances.min(axis=1, keepdims=True)
        shares = np.divide(nearest, distances, out=np.ones_like(distances), where=distances > 0.0)
    else:
        with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
            logs = np.log(distances)
            shares = np.exp((logs.min(axis=1, keepdims=True) - logs) / (fuzzifier - 1.0))
        shares[distances == 0.0] = 1.0
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _memberships_on_device(distances: Any, fuzzifier: float) -> Any:
    """`memberships` of a block of another library, float64, without a division by 0, of which some libraries warn."""
    xp = array_namespace(distances)
    distances = as_type(distances, np.float64)
    one = xp.ones((), dtype=xp.float64, device=distances.device)
    nearest, on_centre = xp.min(distances, axis=1, keepdims=True), distances == 0.0
    shares = nearest / xp.where(on_centre, one, distances)
    if fuzzifier != 2.0:
        somewhere = xp.where(nearest == 0.0, one, shares)
        shares = xp.where(nearest == 0.0, 0.0 * one, xp.exp(xp.log(somewhere) / (fuzzifier - 1.0)))
    shares = xp.where(on_centre, one, shares)
    return shares / xp.sum(shares, axis=1, keepdims=True)


@final
@attrs.frozen(eq=False)
class Memberships(BlockFunction):
    """Memberships of new samples in the clusters of a fit.

    Parameters
    ----------
    nearness : Extension
        Raw rows to minus their squared distances from the centres, (m, d) to (m, k).
    fuzzifier : float
    shown : ndarray of int
        Clusters to return; the memberships in all clusters sum to 1.
    """

    nearness: Extension
    fuzzifier: float
    shown: Indices

    def __call__(self, Y: Array) -> Array:
        """Memberships of raw rows, (m, d) to (m, len(shown)), in the type of the training data."""
        return self._of(self.nearness(Y))

    @property
    def table_columns(self) -> int:
        """Of the distances, and of what becomes of them."""
        return TABLES * table_columns(self.nearness)

    def on(self, H: Array) -> Array:
        """Memberships of a block of features, (b, L) to (b, len(shown)); of centres in features only."""
        assert isinstance(self.nearness, NearestMeans)
        return self._of(self.nearness.on(H))

    def _of(self, scores: Array) -> Array:
        if is_device_array(scores):
            shown = array_namespace(scores).take(
                memberships(-scores, self.fuzzifier), to_device_of(self.shown, scores), axis=1
            )
            return as_type(shown, host_dtype(scores))
        U = np.empty((len(scores), len(self.shown)), dtype=scores.dtype)
        for rows in block_plan(len(scores), scores.shape[1], np.float64):
            U[rows] = memberships(-scores[rows], self.fuzzifier)[:, self.shown]
        return U

    def onnx(self, rows: Node) -> Node:
        """Memberships of raw rows."""
        distances = -rows.through(self.nearness)
        on_centre, least = distances.equals(0.0), distances.least()
        if self.fuzzifier == 2.0:
            shares = least / distances
        else:  # 1 stands for a distance of 0, beside which no other centre has a share
            quotients = least.equals(0.0).where(1.0, least) / on_centre.where(1.0, distances)
            shares = least.equals(0.0).where(0.0, (quotients.log() / (self.fuzzifier - 1.0)).exp())
        shares = on_centre.where(1.0, shares)
        return (shares / shares.sum()).columns(self.shown)

    def columns(self, index: slice) -> Memberships:
        """The extension that returns some of the columns."""
        return attrs.evolve(self, shown=self.shown[index])


@final
@attrs.frozen(eq=False)
class FuzzySums:
    """What the rows of a block, or of several, give to a turn.

    Parameters
    ----------
    sums : Sums
        Features weighted by ``u^φ``, (L, k), and the weights, (k,).
    objective : float
    change : float
        Largest change of a membership.
    """

    sums: Sums
    objective: float
    change: float

    def to_host(self) -> FuzzySums:
        """The same on the host."""
        return FuzzySums(self.sums.to_host(), self.objective, self.change)

    def __add__(self, following: FuzzySums) -> FuzzySums:
        """Those of both."""
        objective = self.objective + following.objective
        return FuzzySums(self.sums + following.sums, objective, max(self.change, following.change))


@final
@attrs.frozen(eq=False)
class FuzzyTurns(BlockFunction):
    """The turns of fuzzy c-means on features; the function of a turn is `Memberships`.

    Parameters
    ----------
    about : CentredFeatures
    k : int
    fuzzifier, tol, max_iter
        As of the solver `fuzzy_cmeans`.
    weights : ndarray of shape (n,) or None
        How much each sample counts in the first centres.
    """

    array_api: ClassVar[bool] = True

    about: CentredFeatures
    k: int
    fuzzifier: float
    tol: float
    max_iter: int
    weights: Array | None = None

    @property
    def name(self) -> str:
        """That of the solver."""
        return "fuzzy_cmeans"

    @property
    def resolved(self) -> Mapping[str, object]:
        """Nothing is decided on the way."""
        return {}

    @property
    def table_columns(self) -> int:
        """Of the distances, and of what becomes of them."""
        return TABLES * self.k

    def function(self, centres: Array) -> Memberships:
        """Memberships for centres (L, k)."""
        return Memberships(self.about.extension(centres), self.fuzzifier, np.arange(self.k))

    def begin(self, space: FeatureSpace, rng: Rng) -> Memberships:
        """The means of the samples nearest to each of k random ones: one pass, and k single rows."""
        if self.about.all_equal:
            return self.function(self.about.overall(self.k))
        seeds = distinct(space, self.k, rng, self.weights)
        nearness = self.about.extension(self.about.centred(space.rows(seeds)))
        class_sums, sizes = space.reduce(_StartSums(nearness, seeds, self.weights)).arrays
        return self.function(self.about.centres(class_sums, sizes))

    def part(self, H: Array, function: RowFunction, before: RowFunction | None, weights: Array | None) -> FuzzySums:
        """The sums of a block; memberships are computed anew under both functions, so that none is kept."""
        assert isinstance(function, Memberships)
        assert isinstance(function.nearness, NearestMeans)
        if is_device_array(H):
            return self._part_on_device(H, function, before, weights)
        scores = function.nearness.on(H)
        U = memberships(-scores, self.fuzzifier) if len(H) else np.empty(scores.shape)
        change = 0.0 if before is None else largest_change(U.astype(scores.dtype, copy=False) - before.on(H), weights)
        with np.errstate(under="ignore"):
            powers = U**self.fuzzifier
        if weights is not None:
            powers *= weights[:, None]
        objective = -np.vdot(powers, scores.astype(np.float64, copy=False))
        return FuzzySums(weighted_sums(H, powers), float(objective), np.inf if before is None else change)

    def _part_on_device(
        self, H: Any, function: Memberships, before: RowFunction | None, weights: Array | None
    ) -> FuzzySums:
        """`part` of a block of another library."""
        assert isinstance(function.nearness, NearestMeans)
        xp = array_namespace(H)
        scores = function.nearness.on(H)
        U = memberships(-scores, self.fuzzifier)
        change = np.inf
        if before is not None:
            changes = xp.abs(as_type(U, host_dtype(scores)) - before.on(H))
            if weights is not None:
                counted = move_to(weights > 0, H)[:, None]
                changes = xp.where(counted, changes, xp.zeros_like(changes))
            change = float(xp.max(changes)) if H.shape[0] else 0.0
        powers = U**self.fuzzifier
        if weights is not None:
            powers = powers * move_to(weights, H, np.float64)[:, None]
        objective = -float(xp.sum(powers * as_type(scores, np.float64)))
        return FuzzySums(weighted_sums(H, powers), objective, change)

    def finish(self, total: FuzzySums, function: RowFunction) -> Step:
        """The means weighted by the memberships."""
        assert isinstance(function, Memberships)
        assert isinstance(function.nearness, NearestMeans)
        settled = ALL_EQUAL if self.about.all_equal else None
        if total.change <= self.tol:
            settled = tolerance_reached(total.change)
        return Step(
            self.function(self.moved(total.sums, function.nearness.centres)),
            total.objective,
            settled,
            f", memberships still changed by up to {total.change:.1e}",
        )

    def moved(self, total: Sums, centres: Array) -> Array:
        """The weighted means, (L, k), from the sums over all rows; a centre without weight keeps its place."""
        products, weights = total.arrays
        means = np.divide(products, weights, out=np.zeros_like(products), where=weights > 0.0)
        return np.where(weights > 0.0, means - self.about.origin[:, None], centres).astype(centres.dtype, copy=False)


def weighted_sums(H: Array, weights: Array) -> Sums:
    """Features times weights, (L, k), and the sums of the weights, (k,)."""
    if is_device_array(H):
        xp, weights_there = array_namespace(H), as_type(weights, host_dtype(H))
        return Sums.of(products_of_rows(H, weights_there), xp.sum(weights_there, axis=0, dtype=xp.float64))
    rounded = weights.astype(H.dtype, copy=False)  # so that the sums are of the same weights as the product
    return Sums.of(H.T @ rounded, rounded.sum(axis=0, dtype=np.float64))


def largest_change(changes: Array, weights: Array | None) -> float:
    """Largest change of a membership of a sample that counts."""
    if weights is not None:
        changes = changes[weights > 0]
    return float(np.abs(changes).max(initial=0.0))


@final
@attrs.frozen(eq=False)
class _StartSums(BlockFunction):
    """Part of the first centres: class sums and sizes of the rows by the nearest seed; a seed has its own label."""

    nearness: NearestMeans
    seeds: Indices
    weights: Array | None

    def __call__(self, rows: slice, H: Array) -> Sums:
        k = len(self.seeds)
        scores = self.nearness.on(H)
        labels = array_namespace(scores).argmax(scores, axis=1)
        inside = np.flatnonzero((self.seeds >= rows.start) & (self.seeds < rows.stop))
        if len(inside):  # a few blocks only: their labels come to the host
            labels = to_host(labels)
            labels = labels if labels.flags.writeable else labels.copy()
            labels[self.seeds[inside] - rows.start] = inside
        weights = None if self.weights is None else self.weights[rows]
        return Sums.of(*class_totals(H, Coded(labels[None, :], Coding.ONEHOT, k, unit_vectors(k), weights)))


def distinct(space: FeatureSpace | KernelSpace, k: int, rng: Rng, weights: Array | None = None) -> Indices:
    """k random samples, (k,), no two with equal values unless fewer than k samples are distinct.

    Above one group of rows (`clusterkit.core.sums.GROUP`) they are looked for among 8 k drawn ones, at least 64.
    """
    most = space.n if space.n <= sums.GROUP else max(64, 8 * k)
    if weights is not None:
        order = draw_weighted(rng, weights, most)
    else:
        order = rng.permutation(space.n) if most == space.n else draw_rows(rng, space.n, most)
    chosen, examined, more = order[:0], 0, k
    while examined < len(order) and len(chosen) < k:
        pool = np.concatenate([chosen, order[examined : examined + more]])
        rows = space.rows(pool) if isinstance(space, FeatureSpace) else space.points[pool]
        chosen = pool[np.sort(np.unique(rows, axis=0, return_index=True)[1])[:k]]
        # one round is enough unless there are many duplicates
        examined, more = examined + more, 2 * more
    return np.concatenate([chosen, np.setdiff1d(order, chosen)[: k - len(chosen)]])
