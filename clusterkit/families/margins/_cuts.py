"""Cuts of a margin problem without labels, and the quadratic program over them.

A cut holds some samples and gives each of them a rival cluster. With winner z_i and rival c_i it is the constraint
``(1/n) Σ_i (f_z(x_i) - f_c(x_i)) >= (number of samples held)/n - ξ``, so that its vector, in features or in the space
of a kernel, is ``Z = (1/n) Σ_i x_i (e_z - e_c)'``. Two clusters may share one output ``f = f_1 - f_0``, and then
``e_z - e_c`` is ±1.

`solve_cuts` states the dual of the program, whose size is the number of cuts; `_conic_form` writes it for the interior
point method of Clarabel, whose solution `_primal_point` turns into a feasible point.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, Protocol, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels
from clusterkit.contracts.outcomes import Extension, KernelRows, LinearRows
from clusterkit.errors import ClusterkitWarning, need
from clusterkit.numerics.shapes import array
from clusterkit.samples import FeatureSpace, KernelSpace

CONIC = ("maximum margin clustering by cuts (cpmmc, cpm3c)", "cuts")
"""What needs the interior point method of Clarabel, and the extra that brings it."""

NONE = -1
"""Value of the rival of a sample that a cut does not hold."""

EDGE = 1e-6
"""A margin less than this below 1 counts as 1: the margins of support vectors are 1 up to rounding, and rounding must
not decide whether a cut holds such a sample."""

TIE = 1e-7
"""Outputs that differ by at most this count as equal: the winner then stays, and of several others the lowest index is
taken. It is above the error of outputs whose weights come from an interior point method."""


def winners(F: Array, before: Labels) -> Labels:
    """The cluster with the largest output, (n,); on a tie up to `TIE` the winner `before` stays."""
    rows = np.arange(len(F))
    if F.shape[1] == 1:
        up = F[:, 0] > 0.0
        return np.where(np.abs(F[:, 0]) <= TIE, before, up).astype(before.dtype)
    best = _first_largest(F)
    return np.where(F[rows, best] - F[rows, before] <= TIE, before, best).astype(before.dtype)


def rivals(F: Array, z: Labels) -> Labels:
    """The cluster other than z with the largest output, (n,)."""
    if F.shape[1] == 1:
        return (1 - z).astype(z.dtype)
    others = F.copy()
    others[np.arange(len(F)), z] = -np.inf
    return _first_largest(others).astype(z.dtype)


def _first_largest(F: Array) -> Indices:
    """The lowest index of the outputs within `TIE` of the largest: outputs of empty clusters are often equal."""
    return np.argmax(F.max(axis=1, keepdims=True) - TIE <= F, axis=1)


def margins(F: Array) -> Array:
    """Largest output minus the next, (n,); ``|f|`` for a single output."""
    if F.shape[1] == 1:
        return np.abs(F[:, 0])
    top = np.partition(F, F.shape[1] - 2, axis=1)[:, -2:]
    return np.asarray(top[:, 1] - top[:, 0])


def _directions(z: Labels, rival: Labels, q: int) -> Counts:
    """``e_z - e_c`` of each sample and cut, (r, p, q) of int8; zero where the cut does not hold the sample."""
    held = rival != NONE
    if q == 1:
        return np.where(held, (2 * z - 1)[:, None], 0).astype(np.int8)[:, :, None]
    T = np.zeros((*rival.shape, q), dtype=np.int8)
    i, c = np.nonzero(held)
    T[i, c, z[i]] = 1
    T[i, c, rival[i, c]] = -1
    return T


class CutVectors(Protocol):
    """Vectors of cuts, V (m, p, q), and their partners, whose products with V are inner products.

    m is the number of features, or the number of samples for a kernel; p is the number of cuts, q of outputs.
    """

    V: Array

    @property
    def partner(self) -> Array:
        """Partners of the vectors, (m, p, q)."""

    @property
    def mean(self) -> tuple[Array, Array]:
        """The mean sample as a vector and as a partner, (m,) each."""

    def vector(self, T: Counts) -> tuple[Array, Array]:
        """The vector of coefficients ``T / n``, T (n, q), and its partner, (m, q)."""

    def add(self, T: Counts) -> None:
        """Append the vector of coefficients ``T / n``."""

    def update(
        self, W: Array, WP: Array, offset: Array, follow: Callable[[slice, Array], tuple[Indices, Counts]]
    ) -> Array:
        """Outputs (n, q), float64, of weights W with partner WP; the vectors change as `follow` says.

        ``follow(rows, outputs)`` returns which of the rows change coefficients, and the changes, (rows, p, q).
        """

    def rows(self, W: Array) -> tuple[Array, Extension]:
        """Outputs without offset, in the type of the data, and their extension to new samples."""


@attrs.define(eq=False)
class FeatureCutVectors:
    """Cut vectors in explicit features, equal to their partners; everything is a pass over blocks of samples."""

    space: FeatureSpace
    q: int
    V: Array = attrs.field(init=False)
    average: Array = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.V = np.zeros((self.space.width, 0, self.q))
        self.average = self.space.adjoint(np.ones((self.space.n, 1)))[:, 0] / self.space.n

    @property
    def partner(self) -> Array:
        return self.V

    @property
    def mean(self) -> tuple[Array, Array]:
        return self.average, self.average

    def vector(self, T: Counts) -> tuple[Array, Array]:
        V = self.space.adjoint(T) / self.space.n
        return V, V

    def add(self, T: Counts) -> None:
        self.V = np.concatenate([self.V, self.vector(T)[0][:, None]], axis=1)

    def update(
        self, W: Array, WP: Array, offset: Array, follow: Callable[[slice, Array], tuple[Indices, Counts]]
    ) -> Array:
        space, B = self.space, W.astype(self.space.dtype, copy=False)
        F = np.empty((space.n, self.q))
        total = np.zeros((space.width, self.V.shape[1] * self.q))
        for rows, H in space.blocks():
            F[rows] = H @ B
            F[rows] += offset
            moved, change = follow(rows, F[rows])
            if len(moved):
                total += H[moved].T @ change.reshape(len(moved), -1).astype(space.dtype)
        self.V = self.V + total.reshape(self.V.shape) / space.n
        return F

    def rows(self, W: Array) -> tuple[Array, Extension]:
        B = W.astype(self.space.dtype, copy=False)
        return self.space.apply(B), LinearRows(self.space.transform, B)


@attrs.define(eq=False)
class KernelCutVectors:
    """Cut vectors in the space of a kernel: coefficients A of the samples, with the partner K A."""

    space: KernelSpace
    q: int
    K: Array = attrs.field(init=False)
    V: Array = attrs.field(init=False)
    P: Array = attrs.field(init=False)
    average: tuple[Array, Array] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        n = self.space.n
        self.K = self.space.gram()
        self.V = np.zeros((n, 0, self.q))
        self.P = np.zeros((n, 0, self.q))
        equal = np.full(n, 1.0 / n)
        self.average = equal, self.K.sum(axis=1, dtype=np.float64) / n

    @property
    def partner(self) -> Array:
        return self.P

    @property
    def mean(self) -> tuple[Array, Array]:
        return self.average

    def vector(self, T: Counts) -> tuple[Array, Array]:
        A = T / self.space.n
        return A, (self.K @ A.astype(self.K.dtype)).astype(np.float64)

    def add(self, T: Counts) -> None:
        A, P = self.vector(T)
        self.V = np.concatenate([self.V, A[:, None]], axis=1)
        self.P = np.concatenate([self.P, P[:, None]], axis=1)

    def update(
        self, W: Array, WP: Array, offset: Array, follow: Callable[[slice, Array], tuple[Indices, Counts]]
    ) -> Array:
        F = WP + offset
        moved, change = follow(slice(0, self.space.n), F)
        if len(moved):
            A = change / self.space.n
            self.V[moved] += A
            product = self.K[:, moved] @ A.reshape(len(moved), -1).astype(self.K.dtype)
            self.P = self.P + product.reshape(self.P.shape)
        return F

    def rows(self, W: Array) -> tuple[Array, Extension]:
        space = self.space
        return space.apply(W), KernelRows(space.coordinates, space.points, space.kernel, W)


@attrs.define(eq=False)
class Cuts:
    """All cuts at the present winners.

    Parameters
    ----------
    vectors : CutVectors
    z : ndarray of int, shape (n,)
        Winners: the clusters (for two, the signs) at which the margins are linearised.
    rival : ndarray of int, shape (n, p)
        Rival of each sample in each cut, or `NONE`: one byte a sample and cut for up to 127 clusters.
    counts : ndarray of int, shape (p, q)
        Sums of ``e_z - e_c`` over the samples of each cut.
    """

    vectors: CutVectors
    z: Labels
    rival: Labels
    counts: Counts

    @classmethod
    def of(cls, vectors: CutVectors, labels: Labels, k: int) -> Cuts:
        """An empty set of cuts whose winners are the labels."""
        kind = np.int8 if k <= np.iinfo(np.int8).max else np.int32
        none = np.zeros((len(labels), 0), dtype=kind)
        return cls(vectors, labels.astype(kind), none, np.zeros((0, vectors.V.shape[2]), dtype=np.int64))

    @property
    def p(self) -> int:
        """Number of cuts."""
        return int(self.rival.shape[1])

    @property
    def shares(self) -> Array:
        """m_c, the share of the samples that each cut holds, (p,)."""
        return np.count_nonzero(self.rival != NONE, axis=0) / len(self.z)

    @property
    def means(self) -> Array:
        """Amount that a unit of bias of each output adds to the left side of each cut, (p, q)."""
        return self.counts / len(self.z)

    def add(self, rival: Labels) -> None:
        """Append the cut with these rivals, (n,), `NONE` for samples that it does not hold."""
        column = rival.astype(self.rival.dtype)[:, None]
        self.rival = np.concatenate([self.rival, column], axis=1)
        T = _directions(self.z, column, self.vectors.V.shape[2])[:, 0]
        self.counts = np.concatenate([self.counts, T.sum(axis=0, dtype=np.int64)[None]])
        self.vectors.add(T)

    def most_violated(self, F: Array) -> Labels:
        """Rivals of the most violated cut: the best rival of samples whose margin is below 1, `NONE` for all others."""
        return np.where(self.leads(F) < 1.0 - EDGE, rivals(F, self.z), NONE).astype(self.rival.dtype)

    def leads(self, F: Array) -> Array:
        """Output of the present winner minus the largest of the others, (n,)."""
        if F.shape[1] == 1:
            return F[:, 0] * (2.0 * self.z - 1.0)
        rows = np.arange(len(F))
        return np.asarray(F[rows, self.z] - F[rows, rivals(F, self.z)])

    def update(self, W: Array, WP: Array, offset: Array, update_winners: bool = True) -> tuple[Array, int]:
        """Outputs (n, q) of a solution, and how many winners changed.

        With `update_winners` the winners become those of the outputs, and the cuts and their vectors follow.
        """
        changed = 0

        def follow(rows: slice, F: Array) -> tuple[Indices, Counts]:
            nonlocal changed
            old = self.z[rows]
            new = winners(F, old) if update_winners else old
            moved = np.flatnonzero(new != old)
            changed += len(moved)
            if not len(moved):
                return moved, moved
            index = rows.start + moved
            rival = self.rival[index]
            before = _directions(old[moved], rival, F.shape[1])
            # a rival that wins changes places with the winner: the constraint on the sample can only become weaker
            self.rival[index] = rival = np.where(rival == new[moved, None], old[moved, None], rival)
            self.z[index] = new[moved]
            change = _directions(new[moved], rival, F.shape[1]) - before
            self.counts = self.counts + change.sum(axis=0, dtype=np.int64)
            return moved, change

        return self.vectors.update(W, WP, offset, follow), changed


@final
@attrs.frozen(eq=False)
class OffsetExtension:
    """Outputs of new samples with their biases.

    Parameters
    ----------
    inner : Extension
        Outputs without biases.
    offset : ndarray of shape (q,)
        Biases.
    dtype : numpy dtype
        Type of the outputs.
    """

    inner: Extension
    offset: Array = attrs.field(validator=array("q"))
    dtype: np.dtype

    def __call__(self, Y: Array) -> Array:
        """Outputs (m, q) of raw rows (m, d)."""
        return add_offset(self.inner(Y), self.offset, self.dtype)

    def columns(self, index: slice | Indices) -> OffsetExtension:
        """The extension of some outputs."""
        return attrs.evolve(self, inner=self.inner.columns(index), offset=self.offset[index])


def add_offset(rows: Array, offset: Array, dtype: np.dtype) -> Array:
    """The sum of outputs and biases, added in float64 and converted to the type of the data."""
    return (rows.astype(np.float64, copy=False) + offset).astype(dtype, copy=False)


SOLVER_SETTINGS = ((1e-11, 1e-13, 0.99), (1e-8, 1e-8, 0.99), (1e-11, 1e-13, 0.8))
"""Tolerance, regularisation and largest fraction of the step to the border, for successive runs of the interior point
method.

The next run is made where the gap of the one before is not good. The usual regularisation of 1e-8 is too much where C
is far larger than the margins need, and with the usual step fraction of 0.99 the method may stall between two points.
"""

BIAS_TOLERANCE = 1e-9
"""Largest amount by which the choice of the shortest bias may increase the slack."""

GOOD_GAP = 1e-10
"""Duality gap that is accurate enough, relative to the value plus `GOOD_SHARE` of C."""

GOOD_SHARE = 1e-2
"""Share of C, the cost of W = 0, that counts for the accuracy of values near 0."""

GAP_ACCURACY = 2e-5
"""Difference that `GOOD_GAP` may leave between the scores of two runs, for scores of order 1: |W|²/2 is strongly
convex, so W is within √(2 · 1e-10 · value) of the optimum."""

POOR_GAP = 1e-3
"""Duality gap above which a warning is issued, relative to the value."""


@final
@attrs.frozen(eq=False)
class RestrictedProgram:
    """``|W|²/2 + C ξ`` to be minimised over W, ξ >= 0 and outputs balanced in the mean, subject to p cuts.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        Inner products of the cut vectors Z_c, made of samples minus their mean.
    shares : ndarray of shape (p,)
        m_c: the cuts are ``<Z_c, W> + means_c · bias >= m_c - ξ``.
    means : ndarray of shape (p, q)
        Amount that a unit of bias of each output adds to each cut.
    C : float
        Weight of the slack.
    half_width : float
        Half width of the interval that holds the mean outputs, >= 0.
    centre : (ndarray of shape (p, q), float) or None
        If the bias is ``W · mean`` instead of a variable: inner products of the cut vectors with the mean sample in
        each output, and the squared length of the mean.
    """

    gram: Array
    shares: Array
    means: Array
    C: float
    half_width: float
    centre: tuple[Array, float] | None = None

    @property
    def unit(self) -> float:
        """Unit of λ, in which the matrix has entries of at most 1 and λ has entries of order 1."""
        scale = float(np.abs(np.diag(self.gram)).max(initial=0.0))
        return self.C if scale * self.C <= 1.0 else 1.0 / scale


@final
@attrs.frozen(eq=False)
class RestrictedSolution:
    """The minimiser for the present cuts.

    Parameters
    ----------
    weights : ndarray of shape (p,)
        λ >= 0 of the cuts, ``Σ λ <= C``.
    mean_weight : ndarray of shape (q,)
        ε: the multiple of the mean sample that is subtracted from the weights of each output; zeros with an intercept.
    bias : ndarray of shape (q,)
        Mean outputs, within the half width of the balance up to a shift common to all outputs.
    slack : float
        ξ, the largest violation of a cut.
    value : float
        ``|W|²/2 + C ξ``.
    dual : float
        A lower bound of the value.
    excess : float
        Amount by which the balance is violated, above 0 only without an intercept.
    """

    weights: Array
    mean_weight: Array
    bias: Array
    slack: float
    value: float
    dual: float
    excess: float = 0.0


def solve_cuts(program: RestrictedProgram) -> RestrictedSolution:
    """Minimise ``|W|²/2 + C ξ`` over W, ξ >= 0 and outputs balanced in the mean, subject to p cuts.

    Warns
    -----
    ClusterkitWarning
        If the interior point method stopped far from the optimum.

    Notes
    -----
    ``max  λ·m - |W|²/2 - half Σ|δ|`` over λ >= 0, ``Σ λ <= C`` with ``W = Σ λ_c Z_c`` and ``δ = means' λ``. The
    k (k - 1) constraints ``|bias_p - bias_q| <= 2 half`` of k outputs cost ``half Σ|δ_p|`` in the dual, because the
    entries of δ sum to 0 and moving a unit from one output to another costs the same for all pairs. Without an
    intercept ``W = Σ λ_c Z_c - mean ε'`` and ``δ = means' λ + ε``. O(p³) and independent of the data.
    """
    C = program.C
    best, gap = None, np.inf
    for x, duals in _attempts(_conic_form(program)):
        point = _primal_point(program, x, duals)
        if best is None or point.value - point.dual + C * point.excess < gap:
            best, gap = point, point.value - point.dual + C * point.excess
        if gap <= GOOD_GAP * (best.value + GOOD_SHARE * C):
            break
    assert best is not None
    if gap > POOR_GAP * (best.value + POOR_GAP * C):  # W = 0 costs up to C, which is the scale of values near 0
        warnings.warn(
            f"the program over {len(program.shares)} cuts was solved to a gap of {gap:.1e} at {best.value:.1e} only; "
            "scale the features, for example by featuremap 'zscore', or lower C",
            ClusterkitWarning,
            stacklevel=2,
        )
    return best


def _primal_point(program: RestrictedProgram, x: Array, duals: Array) -> RestrictedSolution:
    """A feasible point from a solution of the interior point method, with its value and its lower bound."""
    gram, shares, means = program.gram, program.shares, program.means
    C, half_width, centre = program.C, program.half_width, program.centre
    p, q = means.shape
    weights = np.maximum(x[:p], 0.0) * program.unit
    weights *= min(1.0, C / weights.sum()) if weights.sum() > 0.0 else 1.0
    inner, square, delta = gram @ weights, float(weights @ gram @ weights), means.T @ weights
    mean_weight: Array = np.zeros(q)
    bias: Array = np.zeros(q)
    if centre is not None:
        mean_weight = x[p : p + q] * (program.unit / _length(gram, centre[1]))
        mean_weight -= mean_weight.mean()
        delta = delta + mean_weight
        bias = centre[0].T @ weights - centre[1] * mean_weight
        inner = inner - centre[0] @ mean_weight
        square += float(centre[1] * (mean_weight @ mean_weight) - 2.0 * weights @ centre[0] @ mean_weight)
    elif half_width > 0.0:
        above, below = duals[p + 1 : p + 1 + q], duals[p + 1 + q : p + 1 + 2 * q]
        bias = np.clip(above - below, -half_width, half_width)
        needs = shares - inner
        bias = _least_bias(needs - max(0.0, float((needs - means @ bias).max())), means, half_width, bias)
    square = max(0.0, square)
    slack = max(0.0, float((shares - inner - means @ bias).max()))
    dual = float(shares @ weights) - 0.5 * square - half_width * float(np.abs(delta).sum())
    excess = 0.0 if centre is None else max(0.0, float(np.ptp(bias)) - 2.0 * half_width)
    return RestrictedSolution(weights, mean_weight, bias, slack, 0.5 * square + C * slack, dual, excess)


def _least_bias(needs: Array, means: Array, half_width: float, rough: Array) -> Array:
    """The shortest bias within the balance with ``means · bias >= needs``; `rough` if none is found.

    Where margins leave room many biases are optimal; the interior point method gives one that depends on rounding.
    """
    from scipy import sparse

    clarabel = need("clarabel", *CONIC)

    q = means.shape[1]
    needs = needs - BIAS_TOLERANCE
    if q == 1:
        slope = means[:, 0]
        bounds = needs / np.where(slope == 0.0, 1.0, slope)
        low = max(-half_width, float(bounds[slope > 0.0].max(initial=-np.inf)))
        high = min(half_width, float(bounds[slope < 0.0].min(initial=np.inf)))
        return np.array([min(max(0.0, low), high)]) if low <= high else rough
    # the box may be shifted: biases and the shift are the variables
    shifted = np.hstack([np.eye(q), -np.ones((q, 1))])
    A = np.concatenate([np.hstack([-means, np.zeros((len(needs), 1))]), shifted, -shifted])
    b = np.concatenate([-needs, np.full(2 * q, half_width)])
    P = np.diag([*np.ones(q), 0.0])
    cones = [clarabel.NonnegativeConeT(len(b))]
    conic = sparse.csc_matrix(P), np.zeros(q + 1), sparse.csc_matrix(A), b, cones
    x, _ = _interior(conic, *SOLVER_SETTINGS[0])
    return np.asarray(x[:q]) if (A @ x - b).max() <= BIAS_TOLERANCE else rough


def _length(gram: Array, square: float) -> float:
    """The unit of ε: the length of the mean sample, or of the longest cut vector if that is longer; never 0."""
    return float(np.sqrt(max(square, float(np.abs(np.diag(gram)).max())))) or 1.0


def _conic_form(program: RestrictedProgram) -> tuple[Any, ...]:
    """P, q, A, b and cones of ``min x'Px/2 + q'x, b - Ax in cones``, for Clarabel.

    x is λ in units of `RestrictedProgram.unit`, then ε without an intercept, then bounds of ``|δ|`` if there are any.
    """
    from scipy import sparse

    clarabel = need("clarabel", *CONIC)

    means, centre, unit = program.means, program.centre, program.unit
    p, q = means.shape
    free = 0 if centre is None else q
    bounds = q if program.half_width > 0.0 or centre is not None else 0
    size = p + free + bounds
    P = np.zeros((size, size))
    P[:p, :p] = program.gram * unit
    delta = np.zeros((q, size))
    delta[:, :p] = means.T
    if centre is not None:
        length = _length(program.gram, centre[1])
        P[:p, p : p + q] = -centre[0] * (unit / length)
        P[p : p + q, p : p + q] = np.eye(q) * (unit * centre[1] / length**2)
        delta[:, p : p + q] = np.eye(q) / length
    linear = np.concatenate([-program.shares, np.zeros(free), np.full(bounds, program.half_width)])
    reach = np.zeros((bounds, size))
    reach[:, size - bounds :] = np.eye(bounds)
    rows = [-np.eye(size)[:p], np.r_[np.ones(p), np.zeros(size - p)][None]]
    limits = [np.zeros(p), np.array([program.C / unit])]
    if bounds:
        rows += [delta - reach, -delta - reach]
        limits += [np.zeros(2 * q)]
    cones = [clarabel.NonnegativeConeT(sum(len(part) for part in rows))]
    if centre is not None:
        rows.append(np.r_[np.zeros(p), np.ones(q), np.zeros(bounds)][None])
        limits.append(np.zeros(1))
        cones.append(clarabel.ZeroConeT(1))
    A, b = np.concatenate(rows), np.concatenate(limits)
    return sparse.csc_matrix(np.triu(P)), linear, sparse.csc_matrix(A), b, cones


def _attempts(conic: tuple[Any, ...]) -> Iterator[tuple[Array, Array]]:
    """Solutions and multipliers of successive attempts; the caller stops at the first that is accurate enough."""
    for settings in SOLVER_SETTINGS:
        rough = _interior(conic, *settings)
        yield rough
        yield _polished(conic, *rough)


def _interior(conic: tuple[Any, ...], tolerance: float, regularization: float, step: float) -> tuple[Array, Array]:
    """Solution and multipliers by Clarabel; numbers that are not finite become zeros, which are feasible."""
    clarabel = need("clarabel", *CONIC)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    settings.static_regularization_constant = regularization
    settings.max_step_fraction = step
    solution = clarabel.DefaultSolver(*conic, settings).solve()
    x, z = np.asarray(solution.x), np.asarray(solution.z)
    if not (np.isfinite(x).all() and np.isfinite(z).all()):
        return np.zeros(len(conic[1])), np.zeros(len(conic[3]))
    return x, z


def _polished(conic: tuple[Any, ...], x: Array, z: Array) -> tuple[Array, Array]:
    """The point at which the constraints whose multipliers exceed their slacks hold with equality."""
    upper, q, A, b = conic[0].toarray(), conic[1], conic[2].toarray(), conic[3]
    P = upper + np.triu(upper, 1).T
    tight = z > np.maximum(b - A @ x, 0.0)
    tight[conic[4][0].dim :] = True  # equations
    system = np.zeros((len(q) + np.count_nonzero(tight),) * 2)
    system[: len(q), : len(q)] = P
    system[len(q) :, : len(q)] = A[tight]
    system[: len(q), len(q) :] = A[tight].T
    try:
        solution = np.linalg.lstsq(system, np.concatenate([-q, b[tight]]), rcond=None)[0]
    except np.linalg.LinAlgError:
        return x, z
    multipliers = np.zeros(len(b))
    multipliers[tight] = solution[len(q) :]
    return solution[: len(q)], multipliers
