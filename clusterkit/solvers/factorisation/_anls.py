"""Nonnegative factorisation by alternating least squares as sums over the rows: A follows from W, row by row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core.class_sums import products_of_rows
from clusterkit.core.errors import InvalidData
from clusterkit.core.iterating import Step
from clusterkit.core.namespaces import (
    BlockFunction,
    array_namespace,
    as_type,
    is_device_array,
    move_to,
    row_chunks,
    row_squares,
)
from clusterkit.core.outcomes import LinearRows
from clusterkit.core.spaces import FeatureSpace
from clusterkit.core.summing import RowFunction
from clusterkit.core.sums import Sums
from clusterkit.core.transform import Transform
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.solvers.factorisation._passes import (
    FOLD_IN_CHANGE,
    FOLD_IN_UPDATES,
    TABLES,
    FoldIn,
    RowUpdate,
    factor_gram,
    inner,
)

__all__ = ["AnlsTurns", "refuse_negative"]

ROWS = RowUpdate("hals")
"""How a row of A is found: coordinate descent to `FOLD_IN_CHANGE`, as for new samples."""

BASIS = RowUpdate("hals", max_passes=FOLD_IN_UPDATES, stop_ratio=FOLD_IN_CHANGE)
"""How W is found from the sums: coordinate descent to the same tolerance, from the W of the turn before."""


def refuse_negative(smallest: float) -> None:
    """Raise `InvalidData` if the smallest feature is negative."""
    if smallest < 0:
        raise InvalidData(
            f"solver 'nmf' needs nonnegative features, the smallest is {smallest:.6g}. Feature maps that give "
            "nonnegative ones: 'minmax' (with limits=(0, 1)) and 'elm'; 'rbf' gives a nonnegative kernel."
        )


@final
@attrs.frozen(eq=False)
class _Survey:
    """The smallest feature of a block and the sum of its squares; part of what is known before the first turn."""

    smallest: float
    norm: float

    def __add__(self, following: _Survey) -> _Survey:
        return _Survey(min(self.smallest, following.smallest), self.norm + following.norm)


@final
@attrs.frozen(eq=False)
class _SurveyOf(BlockFunction):
    array_api: ClassVar[bool] = True

    weights: Array | None

    def __call__(self, rows: slice, H: Any) -> _Survey:
        if is_device_array(H):
            xp = array_namespace(H)
            there = xp.concat([row_squares(as_type(chunk, np.float64)) for _, chunk in row_chunks(H)])
            counted = there if self.weights is None else there * move_to(self.weights[rows], H, np.float64)
            return _Survey(float(xp.min(H)), float(xp.sum(counted)))
        squares = H.squares() if isinstance(H, SparseRows) else np.einsum("ij,ij->i", H, H, dtype=np.float64)
        norm = squares.sum() if self.weights is None else self.weights[rows] @ squares
        return _Survey(float(H.min()), float(norm))


@final
@attrs.frozen(eq=False)
class AnlsTurns(BlockFunction):
    """The turns of alternating nonnegative least squares; the function of a turn is `FoldIn`, the rows of A by W.

    Parameters
    ----------
    transform : Transform
        Raw rows to features.
    k : int
    norm : float
        ``|H|²``.
    tol, max_iter
        As of the solver `nmf`.
    """

    array_api: ClassVar[bool] = True

    transform: Transform
    k: int
    norm: float
    tol: float
    max_iter: int

    @classmethod
    def of(cls, space: FeatureSpace, k: int, tol: float, max_iter: int, weights: Array | None = None) -> AnlsTurns:
        """One pass, which checks the sign of the features."""
        survey = space.reduce(_SurveyOf(weights))
        refuse_negative(survey.smallest)
        return cls(space.transform, k, survey.norm, tol, max_iter)

    @property
    def name(self) -> str:
        """That of the solver."""
        return "nmf"

    @property
    def resolved(self) -> Mapping[str, object]:
        """Nothing is decided on the way."""
        return {}

    @property
    def table_columns(self) -> int:
        """As of the rows of A."""
        return TABLES * self.k

    def begin(self, space: FeatureSpace, rng: Rng) -> FoldIn:
        """A random basis; 1 - U is never 0."""
        return self._function(1.0 - rng.random((space.width, self.k)))

    def part(self, H: Array, function: RowFunction, before: RowFunction | None, weights: Array | None) -> Sums:
        """``H_b'A_b``, (L, k), and ``A_b'A_b``, (k, k)."""
        A = function.on(H)
        if is_device_array(A):
            there, wide = A, as_type(A, np.float64)
            if weights is not None:
                there, wide = A * move_to(weights, A)[:, None], wide * move_to(weights, A, np.float64)[:, None]
            return Sums.of(products_of_rows(H, there), products_of_rows(as_type(A, np.float64), wide))
        counted = A if weights is None else A * weights[:, None].astype(A.dtype, copy=False)
        wide = A.astype(np.float64, copy=False)
        return Sums.of(np.asarray(H.T @ counted), wide.T @ counted.astype(np.float64, copy=False))

    def finish(self, total: Sums, function: RowFunction) -> Step:
        """The basis for the rows of A, by coordinate descent from the basis they were found by."""
        assert isinstance(function, FoldIn)
        P, G = total.arrays
        W = function.basis.astype(np.float64, copy=False)
        objective = max(0.0, 0.5 * (self.norm + inner(function.gram, G) - 2.0 * inner(W, P)))
        moved = np.ascontiguousarray(W).copy()
        BASIS.advance(moved, P, G)
        following = self._function(moved)
        change = float(np.sqrt(np.mean((following.basis - W) ** 2)))
        settled = f"tolerance reached: the basis changed by {change:.1e}" if change < self.tol else None
        if self.norm == 0.0:
            settled = "all features are zero, and so are the factors"
        return Step(following, objective, settled, f", the basis still changed by {change:.1e}")

    def _function(self, W: Array) -> FoldIn:
        """Rows of A for a basis, whose columns get unit length, so that the columns of A can be compared."""
        norms = np.linalg.norm(W, axis=0)
        W = np.divide(W, norms, out=np.zeros_like(W), where=norms > 0).astype(self.transform.dtype, copy=False)
        shown = np.arange(self.k)
        return FoldIn(LinearRows(self.transform, W), factor_gram(W), ROWS, self.transform.dtype, shown)
