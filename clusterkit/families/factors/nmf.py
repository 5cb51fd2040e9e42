"""Nonnegative matrix factorisation by multiplicative updates, coordinate descent, or alternating least squares.

Alternating least squares are sums over the rows (`AnlsIterations`): A follows from W, row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Rng
from clusterkit.contracts import Path, Prepared, Solver, Task, params
from clusterkit.contracts.iteration import Iteration, Iterations, Start, solve
from clusterkit.contracts.outcomes import Ending, KernelRows, LinearRows, Outcome, Scores, Status
from clusterkit.contracts.pass_solver import PassSolver, RowFunction, Step
from clusterkit.errors import InvalidData
from clusterkit.families.factors.updates import (
    FOLD_IN_CHANGE,
    FOLD_IN_UPDATES,
    TABLES,
    Blocks,
    FoldIn,
    RowUpdate,
    average_equal_rows,
    blocks_of,
    factor_gram,
    inner,
    lowered,
    nonnegative_kernel,
    update_rows,
    workers,
)
from clusterkit.numerics.selection import sets_of_equal_rows
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples import FeatureSpace, KernelSpace, Space
from clusterkit.samples.array_libraries import (
    BlockFunction,
    array_namespace,
    as_type,
    is_device_array,
    move_to,
    row_chunks,
    row_squares,
)
from clusterkit.samples.coding import Coded, Coding
from clusterkit.samples.sums import Sums, products_of_rows
from clusterkit.samples.transform import Transform

ROWS = RowUpdate("hals")
"""How a row of A is found: coordinate descent to `FOLD_IN_CHANGE`, as for new samples."""

BASIS = RowUpdate("hals", max_passes=FOLD_IN_UPDATES, stop_ratio=FOLD_IN_CHANGE)
"""How W is found from the sums: coordinate descent to the same tolerance, from the W of the iteration before."""


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
    """The smallest feature and the sum of squares of one or more blocks, computed before the first iteration."""

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
class AnlsIterations(BlockFunction):
    """Iterations of alternating nonnegative least squares; each yields a `FoldIn`, which computes rows of A from W.

    Parameters
    ----------
    transform : Transform
        Raw rows to features.
    k : int
    norm : float
        ``|H|²``.
    tol, max_iter
        Parameters of the solver `nmf`.
    """

    array_api: ClassVar[bool] = True

    transform: Transform
    k: int
    norm: float
    tol: float
    max_iter: int

    @classmethod
    def of(cls, space: FeatureSpace, k: int, tol: float, max_iter: int, weights: Array | None = None) -> AnlsIterations:
        """One pass, which checks the sign of the features."""
        survey = space.reduce(_SurveyOf(weights))
        refuse_negative(survey.smallest)
        return cls(space.transform, k, survey.norm, tol, max_iter)

    @property
    def name(self) -> str:
        """Name of the solver, for progress reports."""
        return "nmf"

    @property
    def table_columns(self) -> int:
        """Columns of the temporary arrays of a block: `TABLES` arrays of k columns, the rows of A and their updates."""
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


HALS_EFFORT = 0.1
"""Cost of the passes of coordinate descent per cost of the products with H: α of Gillis & Glineur, section 4.1.

Their α is 0.5; compiled products are cheaper relative to the passes, and a fifth of it is as good in less time.
"""
HALS_STOP = 0.1
"""Passes end for a row after a pass that moved it by less than this times the first pass: ε of Gillis & Glineur."""
HALS_MAX_PASSES = 100
"""Bound on the passes over a row, against endless loops where the products are very long: a guard, not a tuned value.

It did not bind in the fit tried: 50 and 200 gave the same factors bit for bit,
because the stopping rule above ends the passes earlier.
"""


INSTEAD = "update='anls' has one, with labeler='argmax'"
"""How to factorise rows outside memory."""


@final
@attrs.frozen
class Nmf(Solver):
    """Minimises ``F = |H - A W'|² / 2`` over nonnegative A (n, k) and W (L, k); the rows of A embed the samples.

    For nonnegative features whose clusters are additive parts. An iteration is one pass over H, O(n L k + (n + L) k²),
    or O(nnz k) if H is sparse, with A and W in memory; streamed features cost one mapping of the data per iteration. On
    a kernel the matrix K is factorised in the place of H, O(n² k) per iteration. F never rises in exact arithmetic; it
    is computed to about ``1e-15 |H|²`` and clipped at 0. An iteration is `_NmfIterations.advance`, a pass over
    H in `update_rows` of updates.py; the updates are `_multiply` and `_descend` in
    _updates_jit.py.

    Parameters
    ----------
    update : {"multiplicative", "hals", "anls"}, default "multiplicative"
        "multiplicative": the updates of Lee and Seung. "hals": coordinate descent on each row of A, and then of W, with
        several passes while these are cheap relative to the products with H. It needs far fewer iterations for the
        same F, gives exact zeros, and ends in another local optimum. "anls": alternating nonnegative least squares, in
        which the rows of A follow from W alone, each solved to a tolerance, and then W from the sums of the rows. An
        iteration is slower, but no number is kept for a row: it runs on rows outside memory, counts `sample_weight`,
        and predicting the training samples gives their labels. W then has columns of unit length whatever `normalize`
        says, and `tol` looks at W only.
    max_iter : int, default 500
        Maximum number of iterations, each an update of A and then of W.
    tol : float, default 1e-4
        Stop when the root mean square change of the entries of A and of W in one iteration are both below this. The
        tolerance depends on scale: its unit is the square root of the unit of the features, as for the factors.
    delta : float, default 1e-12
        This times mean(H) is added to numerator and denominator of multiplicative updates. It prevents 0/0, keeps F
        monotone and does not move the stationary points.
    normalize : bool, default False
        Scale the columns of W to unit length at the end, and the columns of A inversely. This changes the result of
        k-means on the rows of A; otherwise the scale of each column of A is left to chance.

    Raises
    ------
    InvalidData
        If a feature, or a kernel value, is negative.

    Notes
    -----
    A factorisation need not be unique; equal samples in memory get the mean of their rows of A, so that they share a
    label. Outside memory "anls" gives equal rows one label. With a checkpoint their rows of A stay where they ended,
    and a fit warns where equal ones among the first 4,096 rows have different labels.

    New samples are folded in: with W fixed, their rows get a fixed number of updates from a deterministic start. The
    rows of the training samples ended elsewhere (but for "anls"), so predicting the training samples need not give
    `labels_` (`exact_on_training` is False). New samples outside the training range may have negative features;
    negative products with W count as 0. After Ctrl-C the current factors are kept if at least one iteration is
    complete. Sums have the same order for every number of threads.

    References
    ----------
    Lee, Seung (2001), Algorithms for non-negative matrix factorization, NIPS 13, eq. (4), row-wise.
    Gillis, Glineur (2012), Accelerated multiplicative updates and hierarchical ALS algorithms for nonnegative matrix
    factorization, Neural Computation 24(4), algorithm 3 ("hals").
    Kim, Park (2008), Nonnegative matrix factorization based on alternating nonnegativity constrained least squares and
    active set method, SIAM Journal on Matrix Analysis and Applications 30(2) ("anls", here by coordinate descent).
    He, Jin, Du, Zhuang, Shi (2014), Clustering in extreme learning machine feature space, Neurocomputing 128,
    algorithm 2 (NMF of ELM features).
    Zhang, Zhou, Chen (2006), Non-negative matrix factorization on kernels, PRICAI, LNAI 4099 (the kernel path).
    """

    name: ClassVar[str] = "nmf"
    synonyms: ClassVar[tuple[str, ...]] = ("non_negative_matrix_factorisation", "non_negative_matrix_factorization")
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})
    default_labeler: ClassVar[str | None] = "rows_kmeans"
    has_objective: ClassVar[bool] = True
    nonnegative: ClassVar[bool] = True

    update: str = params.choice("multiplicative", ("multiplicative", "hals", "anls"))
    max_iter: int = params.integer(500, at_least=1)
    tol: float = params.real(1e-4, at_least=0)
    delta: float = params.real(1e-12, at_least=0)
    normalize: bool = params.flag(False)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """The implementations, by the type of the space."""
        if self.update == "anls":
            return {FeatureSpace: Path(_anls, Scores, sparse=True, passes="anywhere", weighted=True)}
        return {
            FeatureSpace: Path(_features, Scores, sparse=True, instead=INSTEAD),
            KernelSpace: Path(_kernel, Scores, sparse=True, square=True),
        }


def _features(spec: Nmf, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """Check the sign of H, and compute its mean and norm: O(n L), three passes in memory."""
    refuse_negative(space.minimum())
    mean = float(space.adjoint(np.ones((space.n, 1))).sum()) / (space.n * space.width)
    # slicing sparse rows copies them: once, not in every pass
    blocks = list(space.blocks()).__iter__ if space.sparse else space.blocks
    norm, sets = float(space.squared_norms().sum()), sets_of_equal_rows(space.points)
    return _PreparedNmf(spec, space, task.k, blocks, space.width, mean, norm, sets)


def _anls(spec: Nmf, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    iterations = AnlsIterations.of(space, task.k, spec.tol, spec.max_iter, task.sample_weight)  # one pass
    return PassSolver(space, iterations, weights=task.sample_weight)


def _row_update(spec: Nmf, k: int, mean: float, length: int) -> RowUpdate:
    """The update of a factor whose products with H cost `length` multiplications per entry."""
    if spec.update == "multiplicative":
        return RowUpdate("multiplicative", delta=spec.delta * mean)
    max_passes = min(HALS_MAX_PASSES, 1 + int(HALS_EFFORT * (1.0 + length / k)))
    return RowUpdate("hals", max_passes=max_passes, stop_ratio=HALS_STOP)


def _kernel(spec: Nmf, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    """The kernel matrix, if the memory cap allows it and no value is negative."""
    K = nonnegative_kernel("nmf", space)
    blocks = blocks_of(K)
    mean, norm = float(K.mean(dtype=np.float64)), sum(inner(part, part) for _, part in blocks())
    return _PreparedNmf(spec, space, task.k, blocks, space.n, mean, norm, sets_of_equal_rows(space.points))


@final
@attrs.frozen(eq=False)
class _PreparedNmf(Prepared):
    """NMF of a matrix H (n, L) with its mean, its squared Frobenius norm, and the sets of equal samples, if any are."""

    spec: Nmf
    space: FeatureSpace | KernelSpace
    k: int
    blocks: Blocks
    width: int
    mean: float
    norm: float
    sets: Indices | None

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        spec, dtype = self.spec, self.space.dtype
        scale = np.sqrt(self.mean / self.k)
        # 1 - U is never 0, which would be a fixed point of the multiplicative updates
        A = ((1.0 - rng.random((self.space.n, self.k))) * scale).astype(dtype)
        W = ((1.0 - rng.random((self.width, self.k))) * scale).astype(dtype)
        if self.mean == 0.0:
            status = Status(1, Ending.CONVERGED, "all features are zero, and so are the factors", (0.0,))
        else:
            iterations = _NmfIterations(self, A, W, self._row_update(self.width), self._row_update(self.space.n))
            # sparse products hold the interpreter lock
            slow = self.space.sparse and isinstance(self.space, FeatureSpace)
            iterations.pool = None if slow else workers(self.space.n, self.width, self.k)
            with nullcontext() if iterations.pool is None else iterations.pool:
                _, status = solve(iterations, Start(0, None, keeps_best=False), spec.max_iter)
            status = lowered(status, average_equal_rows(A, self.sets, factor_gram(W)))
        status = attrs.evolve(status, predicts_labels=False)
        norms = np.linalg.norm(W.astype(np.float64, copy=False), axis=0)
        if spec.normalize:
            A = (A * norms).astype(dtype, copy=False)
            W = np.divide(W, norms, out=np.zeros_like(W), where=norms > 0)
            norms = (norms > 0).astype(np.float64)
        extend = FoldIn(self._products(W), factor_gram(W), self._row_update(1), dtype, np.arange(self.k))
        return Scores(A, extend, scale=norms, status=status)

    def _products(self, W: Array) -> LinearRows | KernelRows:
        space = self.space
        if isinstance(space, FeatureSpace):
            return LinearRows(space.transform, W)
        return KernelRows(space.coordinates, space.points, space.kernel, W)

    def _row_update(self, length: int) -> RowUpdate:
        return _row_update(self.spec, self.k, self.mean, length)


@attrs.define(eq=False)
class _NmfIterations(Iterations[bool]):
    """Updates of A and W in place; an iteration is one pass over H.

    After Ctrl-C some rows of A may be one update ahead of the others: A stays nonnegative, F is at most the last value.
    """

    of: _PreparedNmf
    A: Array
    W: Array
    rows: RowUpdate
    columns: RowUpdate
    pool: ThreadPoolExecutor | None = None

    name = "nmf"
    sentences: ClassVar[Mapping[Ending, str]] = {
        Ending.SETTLED: "tolerance reached: the factors changed by {detail}",
        Ending.INTERRUPTED: "interrupted after {n} iterations: the factors so far are kept",
        Ending.OUT_OF_ITERATIONS: "max_iter = {most} reached, the factors still changed by {detail}",
    }

    def advance(self, active: list[Start[bool]]) -> Iterator[Iteration[bool]]:
        """One iteration."""
        [start] = active
        A, W = self.A, self.W
        P, gram, moved = update_rows(self.of.blocks, W, A, self.rows, self.pool)  # P = H'A and A'A with the new A
        change = self.columns.advance(W, P, gram)
        # F from the traces: A W' is never formed
        fit = inner(factor_gram(W), gram) - 2.0 * inner(W, P)
        start.judge(max(0.0, 0.5 * (self.of.norm + fit)))
        change = max(np.sqrt(moved / A.size), np.sqrt(change / W.size))
        yield Iteration(True, None, Ending.SETTLED if change < self.of.spec.tol else None, f"{change:.1e}")
