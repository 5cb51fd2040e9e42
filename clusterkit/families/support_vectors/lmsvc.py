"""Large margin support vector clustering by stochastic gradient descent: a hyperplane away from the origin."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from typing import ClassVar, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Rng
from clusterkit.contracts import Path, Prepared, Solver, Task
from clusterkit.contracts.iteration import Iteration, Iterations, Start, solve
from clusterkit.contracts.outcomes import Ending, KernelDomain, Outcome, Status, SupportCounts
from clusterkit.contracts.params import choice, integer, real
from clusterkit.errors import ClusterkitWarning
from clusterkit.families.support_vectors.svdd import gaussian_of
from clusterkit.samples import KernelSpace, Space, memory
from clusterkit.samples.coding import Coded
from clusterkit.samples.kernels import Gaussian

MOST_WEIGHT = 1e100
"""Greatest C: its square and the squared counts of steps must stay finite."""

MOST_STEPS = 10**8
"""Largest number of steps that are taken unless `t_max` asks for more: seconds for a few samples. A fit that needs
more, with a `step_tol` of 1e-9 for example, would run for hours, and its steps would be smaller than their own
rounding."""

WHOLE_BYTES, LONG_BYTES = 32 * 1024**2, 256 * 1024**2
"""Largest memory for all inner products at once: in a run that may stop after few steps, and in a run of several
passes, where they are used more often."""

FIRST_STEPS, CHUNK_STEPS = 256, 1024
"""Steps of the first stretch, which doubles from then on, and most steps of a stretch without all inner products, for
which those between its samples are computed anew."""

CHUNK_WORK = 100_000_000
"""Largest number of steps times samples of a stretch with all inner products, some 0.1 s, so that Ctrl-C takes effect
soon."""

LEVEL_SLACK = 1e-9
"""Part of the level by which it is lowered with ``level="quantile"``, above the rounding of a kernel sum."""


@final
@attrs.frozen
class Lmsvc(Solver):
    """A hyperplane in feature space with most samples on the far side from the origin, by stochastic gradient steps.

    Choose it where `svdd` is too slow: the number of steps does not grow with n. The step is in
    _steps_jit.py (sgd_steps). It minimises
    ``J(w) = |w|²/2 + (C/n) Σ max(0, 1 - w'φ(x_i))`` by ``w <- (1 - 1/t) w + (C/t) φ(x)`` for a random sample x with
    ``w'φ(x) < 1`` (without the last term for others), which keeps ``α_i = C c_i / t`` with integer counts c. The
    domain is ``Σ α_i k(x_i, x) >= 1``. O(s) kernel values a step for s support vectors, and n s at the end for the
    duality gap; memory O(n) and at most 256 MiB of kernel values.

    Parameters
    ----------
    C : float, default 8
        Weight of the margin violations against ``|w|²``. **Below 1 the domain is empty on any data**, since
        ``w'φ(x) <= |w| <= C``; a warning says so. The solution varies with the seed, the more so for small C.
    step_tol : float, default 0.01
        Length of a step, ``|w_{t+1} - w_t|``, at which to stop: θ of the paper. A single step may be as short by
        chance, which is no sign of convergence.
    t_min : int, default 1
        Fewest steps. 10 n removes most of the variation between seeds.
    t_max : int or None, default None
        Most steps; overrides `t_min`. None means as many as the criterion can need, ``2C / step_tol``, and no more than
        10⁸.
    iterate : {"last", "average", "random"}, default "last"
        Which of the iterates ``w_1, …, w_T`` of T steps is returned. "last" as published. "average": their mean, whose
        expected objective theorem 1 bounds. "random": one of them, each with the same probability, whose objective
        theorem 2 bounds with a given probability; the steps before it are taken a second time. Both theorems fix T in
        advance, as `t_min` and `t_max` of T do.
    level : {"one", "quantile"}, default "one"
        Level of the contour: 1 as published, or the level that leaves a fraction `outlier_fraction` of the samples
        outside. With "quantile" the domain is never empty.
    outlier_fraction : float, default 0.02
        At most ``floor(outlier_fraction n)`` samples are outside. Only for level "quantile".

    Notes
    -----
    ``status.facts``: `t` steps, `norm2` = ``|w|²``, `n_inside` samples inside, `domain_empty` (no sample
    is inside), and `gap`: J less the value of a feasible point of the dual, relative to J. That point is α clipped to
    ``[0, C/n]``.
    The draws of the samples are one stream that no other parameter and no number of threads changes. After Ctrl-C the
    last complete stretch of steps is returned.

    References
    ----------
    Pham, Dang, Le, Le (2017), Fast support vector clustering, Vietnam Journal of Computer Science 4, eq. (2) and
    theorems 1 and 2: the step, the stop criterion, the bounds on the mean and on a random iterate.
    Shalev-Shwartz, Singer, Srebro, Cotter (2011), Pegasos, Mathematical Programming 127: the step size 1/t.
    """

    name: ClassVar[str] = "lmsvc"
    synonyms: ClassVar[tuple[str, ...]] = (
        "sgd",
        "stochastic_gradient_descent",
        "sgd_lmsvc",
        "sgd_hyperplane",
        "hyperplane",
    )
    has_objective: ClassVar[bool] = True

    C: float = real(8.0, above=0.0, at_most=MOST_WEIGHT)
    step_tol: float = real(0.01, above=0.0)
    t_min: int = integer(1, at_least=1, at_most=MOST_STEPS)
    t_max: int | None = integer(None, at_least=1, optional=True)
    iterate: str = choice("last", ("last", "average", "random"))
    level: str = choice("one", ("one", "quantile"))
    outlier_fraction: float = real(0.02, at_least=0.0, below=1.0)

    saved_before: ClassVar[frozenset[str]] = frozenset({"stop"})  # it chose among criteria for the end of the fit

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Gaussian kernels."""
        return {KernelSpace: Path(_prepare, gives=KernelDomain)}

    @property
    def surely_empty(self) -> bool:
        """Whether no sample can be inside, whatever the data."""
        return self.level == "one" and self.C < 1.0

    @property
    def most_steps(self) -> int:
        """`t_max`, or its default, which follows from step t being at most ``2C / t``."""
        if self.t_max is not None:
            return self.t_max
        needed = max(self.t_min, math.ceil(min(2.0 * self.C / self.step_tol, MOST_STEPS)) + 1)
        return min(needed, MOST_STEPS)


def _prepare(solver: Lmsvc, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    """The float64 points; no inner product is computed before the first step."""
    if solver.surely_empty:
        warnings.warn(
            f"solver 'lmsvc': C = {solver.C:g} < 1 leaves every sample outside the domain, whatever the data; labelers "
            "that join samples inside it find nothing to join. Use C > 1 or level='quantile'",
            ClusterkitWarning,
            stacklevel=2,
        )
    points = np.ascontiguousarray(space.points, dtype=np.float64)
    return PreparedLmsvc(solver, KernelProducts(points, gaussian_of(space, solver.name)))


@final
@attrs.frozen(eq=False)
class KernelProducts:
    """Inner products of the samples of a Gaussian kernel, in float64: sums run over thousands of float32 values.

    Parameters
    ----------
    points : ndarray of shape (n, d), float64
    kernel : Gaussian
    """

    points: Array
    kernel: Gaussian

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.points)

    def block(self, index: Indices) -> Array:
        """Inner products between some samples, (u, u)."""
        from clusterkit.numerics.gaussian_jit import gaussian_block

        points = self.points[index]
        return gaussian_block(points, points, self.kernel.gamma)

    def sums(self, weights: Array, index: Indices | None = None) -> Array:
        """``Σ_i weights_i K_ij`` for all samples j, or for those of `index`."""
        support = np.flatnonzero(weights)
        if not len(support):
            return np.zeros(self.n if index is None else len(index))
        targets = self.points if index is None else self.points[index]
        return self.kernel.weighted_sum(targets, self.points[support], weights[support])

    def length2(self, weights: Array) -> float:
        """``Σ_ij weights_i weights_j K_ij``."""
        support = np.flatnonzero(weights)
        return float(weights[support] @ self.sums(weights, support))

    def domain(self, weights: Array, level: float, status: Status) -> KernelDomain:
        """Where ``Σ_i weights_i K(x_i, x) >= level``."""
        support = np.flatnonzero(weights)
        counts = SupportCounts(len(support))
        centres = self.points[support]
        return KernelDomain(centres, weights[support], self.kernel, level=level, status=status, support_counts=counts)


@final
@attrs.frozen(eq=False)
class PreparedLmsvc(Prepared):
    """The solver with the inner products of a space."""

    solver: Lmsvc
    products: KernelProducts

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> KernelDomain:
        """The domain after the steps that `rng` draws; only its method ``integers(n, size=)`` is used."""
        spec = self.solver
        iterations = _Stretches(self, SgdIterate.of(spec, self.products), rng)
        iterate, status = solve(iterations, iterations.begin(), spec.most_steps)
        t, reason = status.n_iter, status.reason
        if spec.iterate == "random":
            iterate = iterate.before_step(1 + int(rng.integers(t, size=1)[0]))
        mean = spec.iterate == "average"
        alpha = iterate.average() if mean else iterate.last()
        objective, gap, values = self.gap(alpha, None if mean else iterate.length2())
        norm2 = self.products.length2(alpha) if mean else iterate.length2()
        level = 1.0
        if spec.level == "quantile":
            level = float(np.sort(values)[math.floor(spec.outlier_fraction * len(values))])
            # so that rounding puts no sample outside the level it defines
            level -= LEVEL_SLACK * abs(level)
        inside = int(np.count_nonzero(values >= level))
        if not inside:
            reason += "; the domain is empty" + (": C < 1" if spec.surely_empty else ": no sample is inside")
        facts = {
            "t": t,
            "norm2": norm2,
            "gap": gap,
            "n_inside": inside,
            "domain_empty": not inside,
        }
        status = attrs.evolve(status, reason=reason, history=(objective,), facts=facts)
        return self.products.domain(alpha, level, status)

    def gap(self, alpha: Array, norm2: float | None = None) -> tuple[float, float, Array]:
        """``J(w)``, the duality gap relative to it, and ``w'φ(x_i)`` for all samples, (n,)."""
        n, C = self.products.n, self.solver.C
        values = self.products.sums(alpha)
        norm2 = float(alpha @ values) if norm2 is None else norm2
        objective = norm2 / 2.0 + C / n * float(np.maximum(0.0, 1.0 - values).sum())
        clipped = np.minimum(alpha, C / n)
        dual = float(clipped.sum()) - self.products.length2(clipped) / 2.0
        return objective, max(0.0, objective - dual) / objective, values


@attrs.define(eq=False)
class SgdIterate:
    """The iterate as integer counts, with the inner products for the next steps.

    Parameters
    ----------
    spec : Lmsvc
    products : KernelProducts
    counts : ndarray of int64, shape (n,)
        Numbers of steps at which each sample was drawn and violated its margin.
    delays : ndarray of shape (n,)
        Parts of these counts that the mean iterate lacks; see `_steps_jit.sgd_steps`.
    state : ndarray of shape (STATE_SIZE,)
        See `_steps_jit.sgd_steps`.
    whole : (ndarray of shape (n, n), ndarray of shape (n,)) or None
        All inner products of the samples, and those of the counted samples with all samples; None where the first do
        not fit into memory.
    drawn : list of ndarray
        The samples drawn so far, with those that a stretch left unused after its last step; only where a random
        iterate is asked for, which takes the steps before it a second time.
    """

    spec: Lmsvc
    products: KernelProducts
    counts: Counts
    delays: Array
    state: Array
    whole: tuple[Array, Array] | None
    drawn: list[Indices] = attrs.field(factory=list)

    @classmethod
    def of(cls, spec: Lmsvc, products: KernelProducts) -> SgdIterate:
        """The iterate before the first step, ``w_1 = 0``."""
        from clusterkit.families.support_vectors._steps_jit import STATE_SIZE

        n = products.n
        room = min(LONG_BYTES if spec.t_min >= 2 * n else WHOLE_BYTES, memory.cap() // 2)
        whole = (products.block(np.arange(n)), np.zeros(n)) if 8 * n * n <= room else None
        return cls(spec, products, np.zeros(n, np.int64), np.zeros(n), np.zeros(STATE_SIZE), whole)

    @property
    def t(self) -> int:
        """Number of steps taken."""
        from clusterkit.families.support_vectors._steps_jit import STEPS

        return int(self.state[STEPS])

    @property
    def step_length2(self) -> float:
        """Squared length of the last step."""
        from clusterkit.families.support_vectors._steps_jit import STEP_LENGTH2

        return float(self.state[STEP_LENGTH2])

    @property
    def longest_stretch(self) -> int:
        """Largest number of steps of one stretch: Ctrl-C takes effect soon, and its samples have few inner products."""
        return CHUNK_STEPS if self.whole is None else max(1, CHUNK_WORK // self.products.n)

    def advance(self, drawn: Indices, may_end: bool) -> bool:
        """Take steps on the samples drawn, until a short one if they `may_end`; returns whether there was one."""
        from clusterkit.families.support_vectors._steps_jit import sgd_steps

        spec = self.spec
        if spec.iterate == "random":
            self.drawn.append(drawn)
            memory.require(
                8 * (self.t + len(drawn)), "solver 'lmsvc' with iterate='random' (the samples of all steps)",
                "Take fewer steps (t_max), or iterate='average'.",
            )  # fmt: skip
        criterion = spec.C, spec.step_tol, spec.t_min, may_end
        if self.whole is not None:
            K, h = self.whole
            return bool(sgd_steps(drawn, K, h, self.counts, self.delays, self.state, *criterion))
        index, places = np.unique(drawn, return_inverse=True)
        h = self.products.sums(self.counts.astype(np.float64), index)
        counts, delays, K = self.counts[index], self.delays[index], self.products.block(index)
        converged = sgd_steps(places, K, h, counts, delays, self.state, *criterion)
        self.counts[index], self.delays[index] = counts, delays
        return bool(converged)

    def before_step(self, r: int) -> SgdIterate:
        """The iterate ``w_r``, after the first r - 1 steps; ``w_2`` for r = 1, since ``w_1 = 0`` has no contour."""
        drawn = np.concatenate(self.drawn)[: max(1, r - 1)]
        iterate = SgdIterate.of(self.spec, self.products)
        for start in range(0, len(drawn), iterate.longest_stretch):
            iterate.advance(drawn[start : start + iterate.longest_stretch], False)
        return iterate

    def last(self) -> Array:
        """Coefficients of the last iterate, ``C c_i / t``, (n,)."""
        return self.spec.C / self.t * self.counts

    def length2(self) -> float:
        """Squared length of the last iterate, from the recurrence in the compiled steps."""
        from clusterkit.families.support_vectors._steps_jit import LENGTH2

        return (self.spec.C / self.t) ** 2 * float(self.state[LENGTH2])

    def average(self) -> Array:
        """Coefficients of ``(w_1 + … + w_t) / t``, (n,); of the last iterate after a single step, as ``w_1 = 0``."""
        from clusterkit.families.support_vectors._steps_jit import HARMONIC

        if self.t == 1:
            return self.last()
        terms = self.counts * (float(self.state[HARMONIC]) - 1.0 / self.t) - self.delays
        # The last step does not enter the mean: the rest of its count is rounding, far below any true term.
        return self.spec.C / self.t * np.where(terms > 0.5 / self.t, terms, 0.0)


@attrs.frozen(eq=False)
class _Stretches(Iterations[SgdIterate]):
    """Steps on samples drawn at random: an `Iteration` is a stretch of them, and `n_iter` counts each step."""

    of: PreparedLmsvc
    iterate: SgdIterate
    rng: Rng

    name = "lmsvc"
    sentences: ClassVar[Mapping[Ending, str]] = {
        Ending.INTERRUPTED: "interrupted after {n} steps",
        Ending.OUT_OF_ITERATIONS: "t_max = {most} steps done",
    }

    def begin(self) -> Start[SgdIterate]:
        """Set the number of steps of the next stretch."""
        return Start(0, max(FIRST_STEPS, self.of.solver.t_min), keeps_best=False)

    def advance(self, active: list[Start[SgdIterate]]) -> Iterator[Iteration[SgdIterate]]:
        """One stretch."""
        [start] = active
        size, iterate = cast("int", start.state), self.iterate
        most = min(size, iterate.longest_stretch, self.of.solver.most_steps - iterate.t)
        drawn = self.rng.integers(self.of.products.n, size=most)
        settled, detail = iterate.advance(np.asarray(drawn, dtype=np.int64), True), start.detail
        start.n_iter = iterate.t
        if settled:
            step = math.sqrt(iterate.step_length2)
            detail = f"step of {step:.2g} not above step_tol after {iterate.t} steps"
        yield Iteration(iterate, 2 * size, Ending.SETTLED if settled else None, detail)

    def recover(self, start: Start[SgdIterate]) -> None:
        """Accept the steps of an interrupted stretch."""
        start.n_iter = self.iterate.t
        start.answer = self.iterate if self.iterate.t else None
