"""The columns of a table as arrays, numbers apart from levels, and the sums of a partition of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Self, final

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import Array, Indices, Labels, Mask
from clusterkit.families.mixtures.levels import LevelForms
from clusterkit.numerics.pair_products import PairProducts

MOST_SHIFTING = 6
"""Largest number of levels of a category that may be a covariate: each level costs a coefficient for every number."""

MOST_COVARIATES = 20
"""Categories that may be covariates, at most: every change of roles weighs each of them against all numbers."""

RIDGE, SWEEPS = 0.05, 10
"""Variance added to the standardised numbers, and rounds, in the regression that fills gaps for structures with
covariances."""


@final
@attrs.frozen(eq=False)
class MixedTable:
    """Standardised numbers and codes of levels.

    Parameters
    ----------
    Z : ndarray of shape (n, p)
        Numbers, with 0 in gaps.
    observed : ndarray of shape (n, p), bool
    X : ndarray of shape (n, p)
        The numbers with gaps filled by a regression on the other numbers.
    grid : ndarray of shape (p,)
        ``h² / 12`` for numbers on a grid of step h: the variance of what rounding took away, so that no density of
        equal numbers is infinite.
    codes : ndarray of shape (n, q), int32
        Levels; -1 is a gap.
    levels : ndarray of shape (q,), int
        Number of levels of each category.
    offsets : ndarray of shape (q + 1,), int
        Places of the levels of each category among all levels.
    indicators : ndarray of shape (n, offsets[-1])
        1 where a row has a level.
    design : ndarray of shape (n, p + w)
        X, then the centred indicators, but the last, of the categories that may be covariates.
    gram : ndarray of shape (p + w, p + w)
        ``design' design``.
    shifting : tuple of ndarray or None
        Columns of `design` that belong to each category; None for those of more than `MOST_SHIFTING` levels, and
        all but the `MOST_COVARIATES` that say most of the numbers.
    forms : LevelForms
        What the levels are in a cluster.
    log_determinant : float
        ``ln|S_0|`` of the scatter of all numbers with the prior and the grid, see
        `clusterkit.families.mixtures.evidence`.
    """

    Z: Array
    observed: Mask
    X: Array
    grid: Array
    codes: NDArray[np.int32]
    levels: Indices
    offsets: Indices
    indicators: Array
    design: Array
    gram: Array
    shifting: tuple[Indices | None, ...]
    forms: LevelForms
    log_determinant: float
    # values that follow from the table alone, computed at their first use
    _memo: dict[str, Array] = attrs.field(factory=dict, repr=False)

    @classmethod
    def of(
        cls, numbers: Array, grid: Array, codes: NDArray[np.int32], levels: Indices, forms: Sequence[str] = ()
    ) -> Self:
        """The table of numbers (n, p), with NaN in gaps, and codes (n, q), with -1 in gaps; () are free levels."""
        observed = np.isfinite(numbers)
        Z = np.where(observed, numbers, 0.0)
        X = Z if observed.all() or Z.shape[1] < 2 else _filled(Z, observed)
        offsets = np.concatenate([[0], np.cumsum(levels)]).astype(np.intp)
        n, (p, q) = len(Z), (Z.shape[1], len(levels))
        indicators = np.zeros((n, int(offsets[-1])))
        for j in range(q):
            rows = np.flatnonzero(codes[:, j] >= 0)
            indicators[rows, offsets[j] + codes[rows, j]] = 1.0
        scatter = X - X.mean(axis=0)
        may_shift = np.flatnonzero(levels <= MOST_SHIFTING) if p else np.empty(0, dtype=np.intp)
        if len(may_shift) > MOST_COVARIATES:
            # what each explains of the numbers, less what it would by chance
            sums = indicators.T @ (scatter / np.maximum(scatter.std(axis=0), 1e-9))
            of_levels = np.square(sums).sum(axis=1) / np.maximum(indicators.sum(axis=0), 1.0)
            gains = np.add.reduceat(of_levels, offsets[:-1]) - p * levels
            may_shift = may_shift[np.argsort(-gains[may_shift], kind="stable")[:MOST_COVARIATES]]
        parts, shifting, at = [X], list[Indices | None](), p
        for j in range(q):
            if j not in may_shift:
                shifting.append(None)
                continue
            D = indicators[:, offsets[j] : offsets[j + 1] - 1]
            has = codes[:, j : j + 1] >= 0
            parts.append(np.where(has, D - D.sum(axis=0) / max(1, int(has.sum())), 0.0))
            shifting.append(np.arange(at, at + D.shape[1]))
            at += D.shape[1]
        design = np.hstack(parts)
        pooled = scatter.T @ scatter + np.eye(p) + n * np.diag(grid)
        return cls(
            Z, observed, X, grid, codes, levels, offsets, indicators, design, design.T @ design, tuple(shifting),
            LevelForms.of(levels, forms, indicators.sum(axis=0)), float(np.linalg.slogdet(pooled)[1]) if p else 0.0,
        )  # fmt: skip

    @cached_property
    def pairs(self) -> PairProducts:
        """Products of the columns of the design."""
        return PairProducts(self.design)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.Z)

    @property
    def p(self) -> int:
        """Number of numbers."""
        return self.Z.shape[1]

    @property
    def q(self) -> int:
        """Number of categories."""
        return len(self.levels)

    @property
    def has_gaps(self) -> bool:
        """Whether a number is missing."""
        return not bool(self.observed.all())

    def take(self, index: Indices) -> MixedTable:
        """The table of some rows."""
        numbers = np.where(self.observed[index], self.Z[index], np.nan)
        return MixedTable.of(numbers, self.grid, self.codes[index], self.levels, self.forms.forms)

    def places(self, categories: Indices) -> Indices:
        """Places of the levels of some categories among all levels."""
        parts = [np.arange(self.offsets[j], self.offsets[j + 1]) for j in categories]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)

    def columns_of(self, covariates: Indices) -> Indices:
        """Columns of `design` of some categories."""
        parts = [columns for j in covariates if (columns := self.shifting[j]) is not None]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)


@final
@attrs.frozen(eq=False)
class PartitionSums:
    """Sums over the clusters of a partition, or of posteriors.

    Parameters
    ----------
    k : int
    sizes : ndarray of shape (k,)
    sums : ndarray of shape (k, p + w)
        Of the rows of `MixedTable.design`.
    counts : ndarray of shape (k, offsets[-1])
        Rows of each level in each cluster.
    members : ndarray of shape (n, k)
        1 where a row is in a cluster.
    """

    k: int
    sizes: Array
    sums: Array
    counts: Array
    members: Array
    # values that follow from the sums, computed at their first use
    _memo: dict[str, Array] = attrs.field(factory=dict, repr=False)

    @classmethod
    def of(cls, table: MixedTable, labels: Labels, k: int) -> Self:
        """The sums of labels (n,)."""
        members = np.eye(k)[labels]
        return cls(k, members.sum(axis=0), members.T @ table.design, members.T @ table.indicators, members)

    def within(self, table: MixedTable) -> Array:
        """Products of the columns of the design about the means of the clusters, (p + w, p + w)."""
        if "within" not in self._memo:
            self._memo["within"] = products_within(table.gram, self.sizes, self.sums)
        return self._memo["within"]

    def scatters(self, table: MixedTable, B: Array | None, columns: Indices) -> Array:
        """Products of the numbers about the mean of each cluster, less what covariates add to them, (k, p, p)."""
        p = table.p
        if "scatters" not in self._memo:
            means = self.sums / np.maximum(self.sizes, 1e-9)[:, None]
            self._memo["scatters"] = table.pairs.sums(self.members)[1] - self.sums[:, :, None] * means[:, None]
        S = self._memo["scatters"]
        if B is None:
            return S[:, :p, :p]
        shifted = S[:, :, :p] - S[:, :, columns] @ B
        return np.asarray(shifted[:, :p] - B.T @ shifted[:, columns])


def products_within(products: Array, sizes: Array, sums: Array) -> Array:
    """Products of columns (d, d) about the means of clusters, hard or by posteriors: sizes (k,) and sums (k, d)."""
    return np.asarray(products - (sums / np.maximum(sizes, 1e-9)[:, None]).T @ sums)


def _filled(Z: Array, observed: Mask) -> Array:
    """The numbers with gaps filled by their means given the others, under one Gaussian with a ridge."""
    X, p = Z.copy(), Z.shape[1]
    holes = [np.flatnonzero(~observed[:, j]) for j in range(p)]
    for _ in range(SWEEPS):
        precision = np.linalg.inv(np.cov(X.T) + RIDGE * np.eye(p))
        mean = X.mean(axis=0)
        for j, rows in enumerate(holes):
            if len(rows):
                # the coefficient of the column itself is cancelled by the last term
                gaps = (X[rows] - mean) @ precision[:, j] - (X[rows, j] - mean[j]) * precision[j, j]
                X[rows, j] = mean[j] - gaps / precision[j, j]
    return X
