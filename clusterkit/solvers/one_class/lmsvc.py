"""Large margin support vector clustering by stochastic gradient descent: a hyperplane away from the origin."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core import memory
from clusterkit.core.coding import Coded
from clusterkit.core.errors import ClusterkitWarning
from clusterkit.core.outcomes import Domain, FunctionDomain, KernelDomain, Outcome, Status
from clusterkit.core.params import choice, flag, integer, real
from clusterkit.core.progress import Report, tell
from clusterkit.core.spaces import FeatureSpace, KernelSpace, Space
from clusterkit.core.stages import Path, Prepared, Solver, Task
from clusterkit.solvers.one_class._gram_blocks import FeatureProducts, KernelProducts

__all__ = ["Lmsvc"]

GAP = 1e-3
"""Relative duality gap at which ``stop="gap"`` ends."""
GAP_PASSES, GAP_STEPS = 1000, 200_000
"""Draws a sample after which it gives up, but not before so many in all."""
MARGINS = (0.1, 0.02)
"""Distances from the margin beyond which a sample counts as clearly inside or outside, for the dual value."""

WHOLE_BYTES, LONG_BYTES = 32 * 1024**2, 256 * 1024**2
"""Most memory for all kernel values at once: in a run of unknown length, and in one of several passes."""
FIRST_STEPS, CHUNK_STEPS = 256, 1024
CHUNK_WORK = 100_000_000
LEVEL_SLACK = 1e-9


@final
@attrs.frozen
class Lmsvc(Solver):
    """A hyperplane in feature space that leaves the samples on the far side of the origin, by random single steps.

    Choose it where `svdd` is too slow: the number of steps does not grow with n. It minimises
    ``J(w) = |w|²/2 + (C/n) Σ max(0, 1 - w'φ(x_i))`` by ``w <- (1 - 1/t) w + (C/t) φ(x)`` for a random sample x with
    ``w'φ(x) < 1`` (without the last term for others), which keeps ``α_i = C c_i / t`` with integer counts c. The
    domain is ``Σ α_i k(x_i, x) >= 1``. O(s) kernel values a step for s support vectors, then n s to report the gap;
    memory O(n) and at most 256 MiB of kernel values.

    Parameters
    ----------
    C : float, default 8
        Weight of the margin violations against ``|w|²``. **Below 1 the domain is empty on any data**, since
        ``w'φ(x) <= |w| <= C``; a warning says so. The solution varies with the seed, the more so for small C.
    theta : float, default 0.01
        The length of a step, ``|w_{t+1} - w_t|``, at which to stop.
    t_min : int, default 1
        Fewest steps. 10 n removes most of the variation between seeds.
    t_max : int or None, default None
        Most steps; wins over `t_min`. None: as many as the criterion can need, ``2C / theta`` for "paper", n more
        for "window"; 1000 n but at least 200,000 for "gap".
    stop : {"paper", "window", "gap"}, default "paper"
        One step not above `theta`, which is a matter of chance and no sign of convergence; n such steps in a row;
        or a duality gap of at most 1e-3 of the objective.
    average : bool, default False
        Give the mean of all iterates, for which the bound on the objective holds, instead of the last.
    offset : {"one", "quantile"}, default "one"
        Level of the contour: 1 as published, or that which leaves a fraction `kappa` of the samples outside. The
        second is never empty.
    kappa : float, default 0.02
        At most ``floor(kappa n)`` samples are outside. Only for offset "quantile".

    Notes
    -----
    Paths: `_prepare_kernel` gives a `KernelDomain` for any kernel, `_prepare_features` (the linear kernel on explicit
    features) a `FunctionDomain`. Kernels and features are scaled so that the longest sample has length 1, which the
    Gaussian kernel has anyway; C and theta then mean the same everywhere, and the bound on the steps holds.

    ``status.facts``: `t` steps, `n_support`, `norm2` = ``|w|²``, `n_inside` samples inside, `domain_empty` (no sample
    is), and `gap`: J less the value of a feasible point of the dual, relative to J. That point is α clipped to
    ``[0, C/n]``; with ``stop="gap"`` the same with samples clearly inside or outside at the bound they belong to, if
    that is better.
    The draws of the samples are one stream that no other setting and no number of threads changes. After Ctrl-C the
    last complete stretch of steps is kept.

    References
    ----------
    Pham, Dang, Le, Le (2017), Fast support vector clustering, Vietnam Journal of Computer Science 4, eq. (2) and
    theorem 1: the step, the stop criterion and the bound on the mean iterate.
    Shalev-Shwartz, Singer, Srebro, Cotter (2011), Pegasos, Mathematical Programming 127: the step size 1/t.
    """

    name: ClassVar[str] = "lmsvc"
    has_objective: ClassVar[bool] = True

    C: float = real(8.0, above=0.0)
    theta: float = real(0.01, above=0.0)
    t_min: int = integer(1, at_least=1)
    t_max: int | None = integer(None, at_least=1, optional=True)
    stop: str = choice("paper", ("paper", "window", "gap"))
    average: bool = flag(False)
    offset: str = choice("one", ("one", "quantile"))
    kappa: float = real(0.02, at_least=0.0, below=1.0)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Kernels, and features with the linear kernel."""
        return {
            KernelSpace: Path(_prepare_kernel, gives=KernelDomain),
            FeatureSpace: Path(_prepare_features, gives=FunctionDomain),
        }

    @property
    def surely_empty(self) -> bool:
        """Whether no sample can be inside, whatever the data."""
        return self.offset == "one" and self.C < 1.0

    def most_steps(self, n: int) -> int:
        """`t_max`, or what stands for None: a step is no longer than ``2C / t``."""
        if self.t_max is not None:
            return self.t_max
        needed = math.ceil(2.0 * self.C / self.theta) + 1
        if self.stop == "paper":
            return max(self.t_min, needed)
        return max(self.t_min, needed) + n if self.stop == "window" else max(self.t_min, GAP_PASSES * n, GAP_STEPS)


def _prepare_kernel(solver: Lmsvc, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    """Path of kernels: only the diagonal is computed before the first step."""
    return _prepare(solver, KernelProducts.of(space))


def _prepare_features(solver: Lmsvc, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """Path of features: their lengths, one pass."""
    return _prepare(solver, FeatureProducts.of(space))


def _prepare(solver: Lmsvc, products: KernelProducts | FeatureProducts) -> Prepared:
    if solver.surely_empty:
        warnings.warn(
            f"solver 'lmsvc': C = {solver.C:g} < 1 leaves every sample outside the domain, whatever the data; labelers "
            "that join samples inside it find nothing to join. Use C > 1 or offset='quantile'",
            ClusterkitWarning,
            stacklevel=2,
        )
    return _Prepared(solver, products)


@final
@attrs.frozen(eq=False)
class _Prepared(Prepared):
    """The inner products of a space."""

    solver: Lmsvc
    products: KernelProducts | FeatureProducts

    @property
    def resolved(self) -> Mapping[str, Any]:
        """Nothing was decided here."""
        return {}

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Domain:
        """The domain after the steps that `rng` draws; only its method ``integers(n, size=)`` is used."""
        spec, descent = self.solver, _Descent.of(self.solver, self.products)
        converged, interrupted, reason = self._descend(descent, rng)
        alpha = descent.average() if spec.average else descent.last()
        objective, gap, values = self._gap(alpha, None if spec.average else descent.length2())
        norm2 = self.products.length2(alpha) if spec.average else descent.length2()
        level = 1.0
        if spec.offset == "quantile":
            level = float(np.sort(values)[math.floor(spec.kappa * len(values))])
            # so that rounding puts no sample outside the level it defines
            level -= LEVEL_SLACK * abs(level) + self.products.rounding * math.sqrt(norm2)
        inside = int(np.count_nonzero(values >= level))
        if not inside:
            reason += "; the domain is empty" + (": C < 1" if spec.surely_empty else ": no sample is inside")
        facts = {
            "t": descent.t,
            "n_support": int(np.count_nonzero(alpha)),
            "norm2": norm2,
            "gap": gap,
            "n_inside": inside,
            "domain_empty": not inside,
        }
        status = Status(descent.t, converged, reason, (objective,), facts, interrupted)
        return self.products.domain(alpha, level, status)

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        """``J(w)``."""
        return None if outcome.status is None else np.array(outcome.status.history)

    def _descend(self, descent: _Descent, rng: Rng) -> tuple[bool, bool, str]:
        """Step until the criterion, `t_max` or Ctrl-C: whether by the first, by the last, and in words."""
        spec, n = self.solver, self.products.n
        t_max = spec.most_steps(n)
        calm = {"paper": 1, "window": n, "gap": 0}[spec.stop]
        size, check = max(FIRST_STEPS, spec.t_min), max(FIRST_STEPS, spec.t_min, n)
        gap = math.inf
        try:
            while descent.t < t_max:
                limit = min(t_max, check) if spec.stop == "gap" else t_max
                drawn = rng.integers(n, size=min(size, descent.longest, limit - descent.t))
                ended = descent.advance(np.asarray(drawn, dtype=np.int64), calm)
                size *= 2
                tell(Report("lmsvc", descent.t, t_max))
                if ended:
                    many = "" if spec.stop == "paper" else f", {n} times in a row"
                    step = math.sqrt(descent.step2)
                    return True, False, f"step of {step:.2g} not above theta after {descent.t} steps{many}"
                if spec.stop == "gap" and descent.t == check:
                    check += max(n, check // 4)
                    gap = self._gap(descent.average() if spec.average else descent.last())[1]
                    if gap <= GAP:
                        return True, False, f"relative duality gap {gap:.2g} after {descent.t} steps"
        except KeyboardInterrupt:
            if not descent.t:
                raise
            return False, True, f"interrupted after {descent.t} steps"
        known = f", relative duality gap {gap:.2g}" if math.isfinite(gap) else ""
        return False, False, f"t_max = {t_max} steps done{known}"

    def _gap(self, alpha: Array, norm2: float | None = None) -> tuple[float, float, Array]:
        """``J(w)``, its distance to the dual relative to it, and ``w'φ(x_i)`` for all samples, (n,)."""
        n, C = self.products.n, self.solver.C
        values = self.products.sums(alpha)
        norm2 = float(alpha @ values) if norm2 is None else norm2
        objective = norm2 / 2.0 + C / n * float(np.maximum(0.0, 1.0 - values).sum())
        clipped = np.minimum(alpha, C / n)
        dual = self._dual(clipped)
        # A count is off its mean by chance long after its sample is clearly inside or outside: put those where the
        # optimum has them. Every feasible point bounds J from below, so the best of a few may be taken.
        # Their support is nearly all samples, O(n²) kernel values: only for those who stop by the gap.
        for margin in MARGINS if self.solver.stop == "gap" else ():
            sorted_out = np.where(values < 1.0 - margin, C / n, np.where(values > 1.0 + margin, 0.0, clipped))
            dual = max(dual, self._dual(sorted_out))
        return objective, max(0.0, objective - dual) / objective, values

    def _dual(self, feasible: Array) -> float:
        return float(feasible.sum()) - self.products.length2(feasible) / 2.0


@attrs.define(eq=False)
class _Descent:
    """The iterate as counts, and the kernel values it steps on."""

    spec: Lmsvc
    products: KernelProducts | FeatureProducts
    counts: Array
    delays: Array
    state: Array
    whole: tuple[Array, Array] | None
    """all inner products, and those of the iterate with all samples, where there is room for the first"""

    @classmethod
    def of(cls, spec: Lmsvc, products: KernelProducts | FeatureProducts) -> _Descent:
        """Before the first step, ``w_1 = 0``."""
        from clusterkit.solvers.one_class._sgd_jit import STATE

        n = products.n
        several = spec.stop != "paper" or spec.t_min >= 2 * n
        room = min(LONG_BYTES if several else WHOLE_BYTES, memory.cap() // 2)
        whole = (products.block(np.arange(n)), np.zeros(n)) if 8 * n * n <= room else None
        return cls(spec, products, np.zeros(n, np.int64), np.zeros(n), np.zeros(STATE), whole)

    @property
    def t(self) -> int:
        """Steps done."""
        from clusterkit.solvers.one_class._sgd_jit import STEPS

        return int(self.state[STEPS])

    @property
    def step2(self) -> float:
        """Squared length of the last step."""
        from clusterkit.solvers.one_class._sgd_jit import LAST

        return float(self.state[LAST])

    @property
    def longest(self) -> int:
        """Most steps in one go: Ctrl-C is heard, and the kernel values among their samples are few."""
        return CHUNK_STEPS if self.whole is None else max(1, CHUNK_WORK // self.products.n)

    def advance(self, drawn: Array, calm: int) -> bool:
        """Take steps on the samples drawn; whether the criterion held, which leaves the rest undone."""
        from clusterkit.solvers.one_class._sgd_jit import descend

        spec = self.spec
        if self.whole is not None:
            K, h = self.whole
            return bool(
                descend(drawn, K, h, self.counts, self.delays, self.state, spec.C, spec.theta, spec.t_min, calm)
            )
        index, places = np.unique(drawn, return_inverse=True)
        h = self.products.sums(self.counts.astype(np.float64), index)
        counts, delays, K = self.counts[index], self.delays[index], self.products.block(index)
        ended = descend(places, K, h, counts, delays, self.state, spec.C, spec.theta, spec.t_min, calm)
        self.counts[index], self.delays[index] = counts, delays
        return bool(ended)

    def last(self) -> Array:
        """Coefficients of the last iterate, ``C c_i / t``, (n,)."""
        return self.spec.C / self.t * self.counts

    def length2(self) -> float:
        """Squared length of the last iterate, by its recurrence."""
        from clusterkit.solvers.one_class._sgd_jit import LENGTH2

        return (self.spec.C / self.t) ** 2 * float(self.state[LENGTH2])

    def average(self) -> Array:
        """Coefficients of ``(w_1 + … + w_t) / t``, (n,); of the last iterate after a single step, as ``w_1 = 0``."""
        from clusterkit.solvers.one_class._sgd_jit import HARMONIC

        if self.t == 1:
            return self.last()
        terms = self.counts * (float(self.state[HARMONIC]) - 1.0 / self.t) - self.delays
        # The last step is not in the mean: what is left of its count is rounding, far below any true term.
        return self.spec.C / self.t * np.where(terms > 0.5 / self.t, terms, 0.0)
