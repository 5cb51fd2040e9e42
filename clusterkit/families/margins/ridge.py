"""Regularised least squares on coded labels: the solver of extreme maximum margin clustering.

One factorisation of ``M + I/C`` serves all iterations, with C as a parameter or from the effective degrees of freedom.
`factorise` is for a matrix, `factorise_gram` for the Gram matrix of the features of a space, which it adds up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.contracts import Path, Prepared, Solver, Task, params
from clusterkit.contracts.outcomes import KernelRows, LinearRows, Outcome, Scores
from clusterkit.contracts.pass_solver import Finished, PassSolver, RowFunction
from clusterkit.numerics.threads import limited_threads
from clusterkit.samples import FeatureSpace, KernelSpace, Space
from clusterkit.samples.array_libraries import BlockFunction, array_namespace, device_copy, is_device_array, move_to
from clusterkit.samples.coding import Coded, Coding
from clusterkit.samples.sums import Sums, packed_upper, target_sums, upper_of
from clusterkit.samples.transform import Transform

TINY_C = 1e-8
"""C below which the system is multiplied by C: with C = 1e-100, ``I/C`` would hide M in rounding errors or overflow."""
ILL_CONDITIONED = 1e12
"""C times the trace of M above which rounding errors of M, multiplied by C, would reach the scores."""
BISECTIONS = 200
"""Bound on the bisection steps for log C; 60 suffice for 1e-12, the bound only keeps the loop finite."""
LOG_C_TOLERANCE = 1e-12
"""Width of the interval of log C at which the bisection stops: about the rounding error of the eigenvalues."""


@final
@attrs.frozen(eq=False)
class RegularisedInverse:
    """Solves ``(M + I/C) x = b``.

    Parameters
    ----------
    C : float
    matrix : ndarray
        Inverse of the lower Cholesky factor of ``scale M + (scale / C) I``, or the eigenvectors of M.
    weights : ndarray or None
        ``1 / (w + 1/C)`` for the eigenvalues w; None for Cholesky.
    scale : float
        Factor by which the system was multiplied.
    resolved : mapping
        Values chosen by the factorisation, for `resolved_`.
    """

    C: float
    matrix: Array
    weights: Array | None
    scale: float
    resolved: Mapping[str, Any]

    def solve(self, b: Array) -> Array:
        """x (m, q) for right-hand sides b (m, q)."""
        if self.weights is not None:
            return self.matrix @ (self.weights[:, None] * (self.matrix.T @ b))
        # Two products with the inverse triangle instead of two substitutions: this runs in every iteration between
        # products with the features, and scipy's BLAS is another library than numpy's, whose waiting threads slow
        # those products down (38 ms an iteration against 14 on two cores).
        return self.matrix.T @ (self.matrix @ (self.scale * b))


def trade_off(eigenvalues: Array, df: float) -> tuple[float, float]:
    """C that gives `df` effective degrees of freedom, and the df actually used.

    A df above half the numerical rank is lowered to half the rank: C would diverge otherwise.

    Examples
    --------
    >>> C, df = trade_off(np.array([1.0, 1.0, 1.0, 1.0]), 2.0)
    >>> round(C, 6), df
    (1.0, 2.0)
    """
    w = np.maximum(eigenvalues, 0.0)
    largest = float(w.max(initial=0.0))
    rank = int(np.sum(w > len(w) * np.finfo(np.float64).eps * largest)) if largest > 0 else 0
    if rank == 0:
        return 1.0, 0.0
    used = min(df, rank / 2)
    # df(C) = sum w / (w + 1/C) rises with C; bisect on log C between values that bracket the solution
    low, high = np.log(used / (w.sum() + 1e-300)) - 1.0, np.log(1.0 / w[w > 0].min()) + 40.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if np.sum(w / (w + np.exp(-middle))) < used:
            low = middle
        else:
            high = middle
        if high - low < LOG_C_TOLERANCE:
            break
    return float(np.exp(0.5 * (low + high))), float(used)


def factorise(M: Array, C: float | None, df: float) -> RegularisedInverse:
    """Cholesky factor of ``M + I/C``, or its eigenvectors where Cholesky would lose digits.

    The eigenvectors of eigenvalues that are rounding errors are left out.

    Parameters
    ----------
    M : ndarray of shape (m, m)
        Positive semidefinite.
    C : float or None
        None determines C from `df`, which costs the eigenvalues of M.
    df : float
        Effective degrees of freedom (`Ridge`); used only if C is None.
    """
    return _factorise(M, C, df, lambda: _spectrum(M))


def factorise_gram(space: FeatureSpace, C: float | None, df: float, weights: Array | None = None) -> RegularisedInverse:
    """`factorise` for the Gram matrix H'H of the features, or H'WH for weights (n,) of the samples, in one pass.

    Where Cholesky would lose digits, a second pass computes singular values of H, because these have twice as many
    correct digits as the eigenvalues of H'H.
    """
    return _factorise(space.gram(weights), C, df, lambda: space.reduce(_Triangles(weights)).spectrum())


def _factorise(M: Array, C: float | None, df: float, spectrum: Callable[[], tuple[Array, Array]]) -> RegularisedInverse:
    # the fit has a number of threads that suits its products; eigenvalues of some thousand features need one thread,
    # and a second one that finds no idle core makes them fifty times as slow
    with limited_threads(M.size):
        return _factorised(M, C, df, spectrum)


def _factorised(
    M: Array, C: float | None, df: float, spectrum: Callable[[], tuple[Array, Array]]
) -> RegularisedInverse:
    from scipy.linalg.lapack import dtrtri

    resolved: dict[str, Any] = {}
    if C is None:
        C, used = trade_off(np.linalg.eigvalsh(M), df)
        resolved["C"] = C
        if used < df:
            resolved["df"] = used
    C = float(C)
    # keep the identity on the scale of the matrix when C is tiny
    scale = C if TINY_C > C else 1.0
    try:
        if np.trace(M) * C > ILL_CONDITIONED:
            raise np.linalg.LinAlgError("C is too large for a Cholesky factorisation")
        system = M * scale
        system[np.diag_indices_from(system)] += scale / C
        inverse, failed = dtrtri(np.linalg.cholesky(system), lower=1)
        if failed or not np.isfinite(inverse[-1, -1]):
            raise np.linalg.LinAlgError("not finite")
        return RegularisedInverse(C, inverse, None, scale, resolved)
    except np.linalg.LinAlgError:
        w, V = spectrum()
        resolved["factorisation"] = "eigenvectors: the matrix is too ill-conditioned for Cholesky at this C"
        noise = max(M.shape) * np.finfo(np.float64).eps * w.max(initial=0.0)
        weights = np.divide(1.0, w + 1.0 / C, out=np.zeros_like(w), where=w > noise)
        return RegularisedInverse(C, V, weights, 1.0, resolved)


def _spectrum(M: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of M."""
    w, V = np.linalg.eigh(M)
    return np.maximum(w, 0.0), V


@final
@attrs.frozen(eq=False)
class Triangle:
    """The factor R of a QR decomposition of rows of features, or a block of rows that is not decomposed yet.

    Two of them add up to the factor of all their rows, so that dense and streamed features give the same digits.
    """

    rows: Array
    decomposed: bool = False

    def __add__(self, following: Triangle) -> Triangle:
        """The triangular factor of the rows of both."""
        return _decomposed([self.factor().rows, following.rows])

    def __reduce__(self) -> tuple[Callable[..., Triangle], tuple[object, ...]]:
        """A factor without its zeros, half as many bytes."""
        rows = self.rows
        return (_of_entries, (packed_upper(rows), *rows.shape)) if self.decomposed else (Triangle, (rows,))

    def factor(self) -> Triangle:
        """The factor itself."""
        return self if self.decomposed else _decomposed([self.rows])

    def spectrum(self) -> tuple[Array, Array]:
        """Squared singular values and right singular vectors of the rows."""
        _, s, Vt = np.linalg.svd(self.factor().rows, full_matrices=False)
        return s**2, Vt.T


def _of_entries(packed: Array, rows: int, columns: int) -> Triangle:
    return Triangle(upper_of(packed, rows, columns), True)


def _decomposed(rows: list[Array]) -> Triangle:
    return Triangle(np.asarray(np.linalg.qr(np.concatenate(rows), mode="r")), True)


@final
@attrs.frozen(eq=False)
class _Triangles:
    """Part of a QR decomposition: the rows of a block, times the roots of their weights."""

    weights: Array | None = None

    def __call__(self, rows: slice, H: Array) -> Triangle:
        block = H.astype(np.float64, copy=False)
        return Triangle(block if self.weights is None else block * np.sqrt(self.weights[rows, None]))


DEFAULT_DF = 12.0
"""Effective degrees of freedom without a choice of the user: the default on which EMMC's label-free results rest."""


@final
@attrs.frozen
class Ridge(Solver):
    """Minimises ``|B|²/2 + (C/2) |H B - T|²`` over B: ridge regression without a bias, from features to targets.

    The margin solver of EMMC. One factorisation serves all iterations. On features the primal system
    ``(I/C + H'H) B = H'T`` is solved if L <= n, O(n L² + L³) once and O(n L q) per iteration, otherwise the dual system
    on HH'. On a kernel the dual ``K (K + I/C)^-1 T`` is computed, O(n³) once and O(n² q) per iteration. If C is too
    large for a Cholesky factorisation, eigenvectors are used instead, without those whose eigenvalues are rounding
    errors, and `resolved_` reports this. Weights of the samples weight their squared errors, on features only; the
    primal system is then solved whatever L is. The mathematics is in `RegularisedInverse.solve` and `_factorise` of
    ridge.py; `RidgeSums.finish` applies it to H'T, and `_DualRidge.solve` to T.

    Parameters
    ----------
    C : float, optional
        Trade-off, > 0. Takes precedence over `df`.
    df : float, default 12
        Effective degrees of freedom (df, as in statistics), the complexity of the scores:
        ``sum_i w_i / (w_i + 1/C)`` over the eigenvalues w of H'H. The meaning does not depend on scale, L
        or n. Lowered to half the numerical rank if it is larger. None means 12.

    References
    ----------
    Zhang, Xia, Liu, Zhang (2013), Extreme maximum margin clustering, IEICE Trans., eqs. (6), (8), (9).
    Hastie, Tibshirani, Friedman (2009), The Elements of Statistical Learning, section 3.4.1 (degrees of freedom).
    """

    name: ClassVar[str] = "ridge"
    synonyms: ClassVar[tuple[str, ...]] = ("elm_ridge", "least_squares", "regularised_least_squares")
    codings: ClassVar[frozenset[Coding]] = frozenset(Coding)
    targets: ClassVar[Literal["never", "start", "every_iteration"]] = "every_iteration"
    default_balancer: ClassVar[str | None] = "band"
    columns: ClassVar[bool] = True
    has_objective: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    C: float | None = params.real(None, above=0, optional=True)
    df: float | None = params.real(DEFAULT_DF, above=0, optional=True)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """The implementations, by the type of the space."""
        return {
            FeatureSpace: Path(_features, Scores, passes="anywhere", weighted=True),
            KernelSpace: Path(_kernel, Scores, square=True),
        }

    @property
    def degrees(self) -> float:
        """`df`, or its default if it is None."""
        return DEFAULT_DF if self.df is None else float(self.df)


def _features(spec: Ridge, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    if not space.in_memory or space.width <= space.n or task.sample_weight is not None:
        return PassSolver(space, ridge_sums(spec, space, task))
    M = space.outer()
    return _DualRidge(space, M, factorise(M, spec.C, spec.degrees))


def ridge_sums(spec: Ridge, space: FeatureSpace, task: Task) -> RidgeSums:
    """The iterations of ridge regression on features as sums; one pass for the Gram matrix, seldom two."""
    return RidgeSums(space.transform, factorise_gram(space, spec.C, spec.degrees, task.sample_weight))


def _kernel(spec: Ridge, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    K = space.gram().astype(np.float64, copy=False)
    return _DualRidge(space, K, factorise(K, spec.C, spec.degrees))


@final
@attrs.frozen
class TargetProducts(BlockFunction):
    """The sums of an iteration of ridge regression."""

    array_api: ClassVar[bool] = True

    def part(self, H: Array, targets: Coded, scores: Array | None) -> Sums:
        """``H_b'T_b``, (L, R q), and ``|T_b|²`` of each start, (R,)."""
        if is_device_array(H):
            return self._on_device(H, targets)
        squares = np.square(targets.codebook).sum(axis=1)[targets.labels]
        if targets.weights is not None:
            squares = squares * targets.weights
        return Sums.of(target_sums(H, targets), squares.sum(axis=1))

    def _on_device(self, H: Any, targets: Coded) -> Sums:
        xp = array_namespace(H)
        book, labels = targets.codebook, move_to(targets.labels, H)
        lengths = device_copy(book, H, lambda: move_to(np.square(book).sum(axis=1), H, np.float64), "squares")
        squares = xp.take(lengths, xp.reshape(labels, (-1,)), axis=0)
        squares = xp.reshape(squares, (targets.starts, targets.n))
        if targets.weights is not None:
            squares = squares * move_to(targets.weights, H, np.float64)
        return Sums.of(target_sums(H, targets), xp.sum(squares, axis=1))


class _Factorised:
    """What solves with one factorisation, `factor`, in every iteration."""

    factor: RegularisedInverse

    @property
    def resolved(self) -> Mapping[str, object]:
        """C from the degrees of freedom, and what the factorisation had to change."""
        return self.factor.resolved

    @property
    def objective_factor(self) -> float:
        """C, by which objectives are divided to compare feature maps."""
        return self.factor.C


@final
@attrs.frozen(eq=False)
class RidgeSums(_Factorised, BlockFunction):
    """Ridge regression by the coefficients, ``B = (I/C + H'H)^-1 H'T``, from the sums ``H'T`` and ``|T|²`` of the rows.

    Parameters
    ----------
    transform : Transform
        Raw rows to features.
    factor : RegularisedInverse
        Factorisation of ``H'H + I/C``.
    """

    array_api: ClassVar[bool] = True

    transform: Transform
    factor: RegularisedInverse

    @property
    def adder(self) -> TargetProducts:
        """The sums over rows, without the factorisation, which would be sent to the workers in every iteration."""
        return TargetProducts()

    def part(self, H: Array, targets: Coded, scores: Array | None) -> Sums:
        """``H_b'T_b``, (L, R q), and ``|T_b|²`` of each start, (R,)."""
        return self.adder.part(H, targets, scores)

    def finish(self, total: Sums, previous: RowFunction | None) -> Finished:
        """The coefficients B, (L, R q), and ``(C/2) (|T|² - <B, H'T>)``, the ridge objective at its minimum.

        B is `RegularisedInverse.solve` of ridge.py, applied to H'T.
        """
        products, squares = total.arrays
        B = self.factor.solve(products)
        gains = (B * products).sum(axis=0).reshape(len(squares), -1).sum(axis=1)
        return Finished(LinearRows(self.transform, B), 0.5 * self.factor.C * (squares - gains))


class FactorisedSolver(_Factorised, Prepared):
    """A solver bound to a space that solves with one factorisation, `factor`, in every iteration."""


@final
@attrs.frozen(eq=False)
class _DualRidge(FactorisedSolver):
    """Ridge regression by dual variables: ``A = (M + I/C)^-1 T``, where M is HH' or the kernel matrix."""

    space: FeatureSpace | KernelSpace
    M: Array
    factor: RegularisedInverse

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        assert targets is not None
        A = self.factor.solve(targets.targets())  # (n, R q)
        extend: LinearRows | KernelRows
        if isinstance(self.space, FeatureSpace):
            B = self.space.adjoint(A)
            extend = LinearRows(self.space.transform, B)
            # the same product as in prediction, so that ties are broken alike
            return Scores(self.space.apply(B), extend, starts=targets.starts)
        space = self.space
        extend = KernelRows(space.coordinates, space.points, space.kernel, A)
        return Scores(self.M @ A, extend, starts=targets.starts)

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        """``(C/2) t'(t - f)`` for each start: the value of the ridge objective at its minimum, (R,)."""
        assert targets is not None
        assert isinstance(outcome, Scores)
        residual = np.empty(targets.starts)
        for start in range(targets.starts):
            T = targets.codebook[targets.labels[start]]  # (n, q)
            F = outcome.rows[:, start * outcome.q : (start + 1) * outcome.q]
            residual[start] = np.einsum("ij,ij->", T, T - F, dtype=np.float64)
        return 0.5 * self.factor.C * residual
