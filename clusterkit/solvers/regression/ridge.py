"""Regularised least squares on coded labels: the solver of extreme maximum margin clustering."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core import params
from clusterkit.core.class_sums import target_sums
from clusterkit.core.coding import Coded, Coding
from clusterkit.core.namespaces import BlockFunction, array_namespace, device_copy, is_device_array, move_to
from clusterkit.core.outcomes import KernelRows, LinearRows, Outcome, Scores
from clusterkit.core.pass_solver import PassSolver
from clusterkit.core.spaces import FeatureSpace, KernelSpace, Space
from clusterkit.core.stages import Path, Prepared, Solver, Task
from clusterkit.core.summing import Finished, RowFunction
from clusterkit.core.sums import Sums
from clusterkit.core.transform import Transform
from clusterkit.solvers.regression._regularised_inverse import RegularisedInverse, factorise, factorise_gram

__all__ = ["Ridge"]


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
    regression/_regularised_inverse.py; `RidgeSums.finish` applies it to H'T, and `_DualRidge.solve` to T.

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
    codings: ClassVar[frozenset[Coding]] = frozenset(Coding)
    targets: ClassVar[Literal["never", "start", "every_turn"]] = "every_turn"
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
            FeatureSpace: Path(_features, Scores, passes="anywhere", weighted=True, learner=ridge_learner),
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
    """The turns of ridge regression on features as sums; one pass for the Gram matrix, seldom two."""
    return RidgeSums(space.transform, factorise_gram(space, spec.C, spec.degrees, task.sample_weight))


def _kernel(spec: Ridge, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    K = space.gram().astype(np.float64, copy=False)
    return _DualRidge(space, K, factorise(K, spec.C, spec.degrees))


@final
@attrs.frozen
class TargetProducts(BlockFunction):
    """The sums of a turn of ridge regression."""

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


@final
@attrs.frozen(eq=False)
class RidgeSums(BlockFunction):
    """Ridge regression by the coefficients, ``B = (I/C + H'H)^-1 H'T``, from the sums ``H'T`` and ``|T|²`` of the rows.

    Parameters
    ----------
    transform : Transform
        Raw rows to features.
    factor : RegularisedInverse
        Of ``H'H + I/C``.
    """

    array_api: ClassVar[bool] = True

    transform: Transform
    factor: RegularisedInverse

    @property
    def resolved(self) -> Mapping[str, object]:
        """C from the degrees of freedom, and what the factorisation had to change."""
        return self.factor.resolved

    @property
    def objective_factor(self) -> float:
        """As of `Prepared`."""
        return self.factor.C

    @property
    def adder(self) -> TargetProducts:
        """What adds up, without the factorisation, which would be sent in every turn."""
        return TargetProducts()

    def part(self, H: Array, targets: Coded, scores: Array | None) -> Sums:
        """``H_b'T_b``, (L, R q), and ``|T_b|²`` of each start, (R,)."""
        return self.adder.part(H, targets, scores)

    def finish(self, total: Sums, previous: RowFunction | None) -> Finished:
        """The coefficients B, (L, R q), and ``(C/2) (|T|² - <B, H'T>)``, the ridge objective at its minimum.

        B is `RegularisedInverse.solve` of _regularised_inverse.py, applied to H'T.
        """
        products, squares = total.arrays
        B = self.factor.solve(products)
        gains = (B * products).sum(axis=0).reshape(len(squares), -1).sum(axis=1)
        return Finished(LinearRows(self.transform, B), 0.5 * self.factor.C * (squares - gains))


def ridge_learner(spec: Ridge, space: FeatureSpace, task: Task) -> RidgeLearner:
    """Ridge regression that goes on with further samples; one pass."""
    return RidgeLearner(spec, space.transform, space.gram(task.sample_weight))


@final
@attrs.frozen(eq=False)
class RidgeLearner:
    """Ridge regression of the samples so far, with their Gram matrix.

    Parameters
    ----------
    spec : Ridge
    transform : Transform
    gram : ndarray of shape (L, L)
    """

    spec: Ridge
    transform: Transform
    gram: Array

    @property
    def turns(self) -> RidgeSums:
        """The turns; O(L³), because C follows from the eigenvalues of the Gram matrix so far unless it is given."""
        return RidgeSums(self.transform, factorise(self.gram, self.spec.C, self.spec.degrees))

    def more(self, space: FeatureSpace, weights: Array | None) -> RidgeLearner:
        """With the Gram matrix of further samples added; one pass."""
        return attrs.evolve(self, gram=self.gram + space.gram(weights))


@final
@attrs.frozen(eq=False)
class _DualRidge(Prepared):
    """Ridge regression by dual variables: ``A = (M + I/C)^-1 T``, where M is HH' or the kernel matrix."""

    space: FeatureSpace | KernelSpace
    M: Array
    factor: RegularisedInverse

    @property
    def resolved(self) -> Mapping[str, Any]:
        return self.factor.resolved

    @property
    def objective_factor(self) -> float:
        return self.factor.C

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
