"""The simplest driver: one fit, on all rows or on a sample of them (`fit_on_sample`).

A fit on a sample has the level and the labels of all rows, and a measure of how sure they are: `level_for` and
`with_violators` make the domain of the sample right for all rows, by their kernel sums.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Mask, Rng
from clusterkit.contracts import Driver, DriverResult, Prepared
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.driver import FitResult
from clusterkit.contracts.labelings import NOISE
from clusterkit.contracts.outcomes import Domain, KernelDomain, Outcome
from clusterkit.contracts.seeds import Seeds
from clusterkit.families.support_vectors.level_sets.neighbours import nearest_rows
from clusterkit.families.support_vectors.svdd import SMALLEST_TOLERANCE, PreparedSvdd
from clusterkit.fitting.fit import BoundComposition, bind, fit, run
from clusterkit.fitting.samples import ArrayOrSamples, Samples, as_samples
from clusterkit.metrics import adjusted_rand
from clusterkit.numerics.selection import sample_rows, smallest
from clusterkit.numerics.shapes import array, scalar
from clusterkit.samples.array_libraries import BlockFunction, is_device_array, to_host
from clusterkit.samples.coding import Coded
from clusterkit.samples.kernels import left_with
from clusterkit.samples.limits import Report, notify
from clusterkit.samples.sums import GROUP, groups
from clusterkit.samples.transform import IdentityMap, Transform

if TYPE_CHECKING:
    from clusterkit.numerics.nearest_jit import LabelledGroups


@final
@attrs.frozen
class SingleDriver(Driver):
    """Fits the composition once; its starts (``n_init``) are compared inside that fit.

    The work is in fitting/fit.py (`fit`) and contracts/iteration.py (the loop). Where a tuner
    advises to fit a sample of the rows, `fit_on_sample` does so.
    """

    name: ClassVar[str] = "single"
    weighted: ClassVar[bool] = True
    linked: ClassVar[bool] = True
    estimator: ClassVar[str] = "clusterkit.estimators.pipeline:Pipeline"

    def run(self, compositions: Sequence[Composition], X: ArrayOrSamples, seeds: Seeds) -> DriverResult:
        """Fit the one composition to X, shape (n, d), in memory or elsewhere; there is no report."""
        composition = self.single(compositions)
        if composition.rows is not None:
            return DriverResult(fit_on_sample(composition, composition.rows, X, seeds))
        return DriverResult(fit(composition, X, seeds))


PILOT = 2**15
"""Rows on which a second sample is judged: its level is estimated from their values, and its labels are compared."""
JOINED = 1000
"""Rows that join the sample in a round of `with_violators`: those farthest outside. More make rounds fewer and the
solution of each dearer."""
MOST_ROUNDS = 100
"""Rounds of `with_violators`; data in clusters take 2 to 6. The gap reached is reported in any case."""


def _coordinates(samples: Samples, bound: BoundComposition) -> Array:
    """The coordinates of all samples, (n, d)."""
    steps = bound.space.coordinates.steps
    return samples.space(IdentityMap(steps[-1].width if steps else samples.d), steps).rows()


def _values(domain: KernelDomain, H: Array) -> Array:
    """The values of all rows of coordinates, (n,)."""
    return np.concatenate([domain.value(H[rows]) for rows in groups(len(H))])


def level_for(domain: KernelDomain, H: Array, nu: float, tol: float) -> tuple[KernelDomain, float]:
    """The domain with the level that leaves at most a share `nu` of the rows H outside, and the share outside.

    The level is the order statistic of the values of all rows, less the slack that `svdd` gives its level.
    """
    values, n = _values(domain, H), len(H)
    outside = min(n - 1, math.floor(nu * n + 1e-9))
    least = float(np.partition(values, outside)[outside])
    level = least - min(max(SMALLEST_TOLERANCE, tol) / 2.0, 1e-3 * abs(least))
    return attrs.evolve(domain, level=level), int((values < level).sum()) / n


def quick_level(domain: KernelDomain, values: Array, nu: float) -> KernelDomain:
    """The domain with the level that leaves a share `nu` of some rows with these values outside."""
    rank = min(len(values) - 1, math.floor(nu * len(values)))
    return attrs.evolve(domain, level=float(np.partition(values, rank)[rank]))


def with_violators(
    c: Composition, index: Indices, samples: Samples, seeds: Seeds, rng: Rng
) -> tuple[BoundComposition, KernelDomain, Mapping[str, object]]:
    """The sphere around all rows: the rows farthest outside join the sample until the gap of all rows is below `tol`.

    The gap is the largest squared distance of any row from the centre less the mean one of the support vectors,
    ``2 (β'Kβ - least value)``: at 0 the sphere of the sample is that of all rows.
    """
    outcome: KernelDomain | None = None
    bound = bind(attrs.evolve(c, rows=index), samples, seeds)
    size, gap, outside = len(index), math.inf, 0
    H = _coordinates(samples, bound)
    for round_number in range(1, MOST_ROUNDS + 1):
        prepared = bound.prepared
        assert isinstance(prepared, PreparedSvdd)
        domain = prepared.solve(None, outcome, rng)
        assert isinstance(domain, KernelDomain)
        outcome = domain
        length2 = float(domain.weights @ domain.value(domain.centres))
        limit = length2 - prepared.solver.tol / 2.0
        values = _values(domain, H)
        beyond = np.flatnonzero(values < limit)
        gap, outside = 2.0 * (length2 - float(values.min())) if len(beyond) else 0.0, len(beyond)
        notify(Report("rows outside", round_number, MOST_ROUNDS, gap, outside))
        more = np.setdiff1d(beyond[smallest(values[beyond], JOINED)], index)
        if gap <= prepared.solver.tol or not len(more):
            break
        index = np.union1d(index, more)
        bound = bind(attrs.evolve(c, rows=index), samples, seeds)
    facts = {"joined_rows": len(index) - size, "gap": max(gap, 0.0), "share_outside": outside / samples.n}
    assert outcome is not None
    return bound, outcome, facts


GROUPS: weakref.WeakKeyDictionary[NearestSampleRow, LabelledGroups] = weakref.WeakKeyDictionary()
"""Groups of predictors that have labelled rows in this process: they follow from rows and labels, and are not saved."""


@final
@attrs.frozen(eq=False)
class NearestSampleRow(BlockFunction):
    """Labels rows by the nearest row of the sample; a frozen callable, so that a fit can be pickled.

    Parameters
    ----------
    coordinates : Transform
        Maps raw rows to the coordinates of `rows`.
    rows : ndarray of shape (m, d)
        The rows of the sample that are inside the domain.
    labels : ndarray of shape (m,)
        Labels of these rows; -1 for those of components that are too small.
    reach : float
        Largest distance of one of these rows to the nearest other one.
    domain : Domain or None
        Rows outside it are noise; None: they get the label of the nearest row too.
    """

    coordinates: Transform
    rows: Array = attrs.field(validator=array("m d"))
    labels: Labels = attrs.field(validator=array("m", least=-1, most="m"))
    reach: float = attrs.field(validator=scalar(least=0))
    domain: Domain | None = None

    def __call__(self, Y: Array) -> Labels:
        """Labels of raw rows, (p,)."""
        return left_with(Y, self.labels_and_far(Y)[0])

    def labels_and_far(self, Y: Array) -> tuple[Labels, Mask]:
        """Labels of raw rows, (p,), and the mask of rows farther from the sample than its rows are from each other.

        Clusters that the sample has missed lie there.
        """
        if Y.shape[0] > GROUP:  # float64 coordinates of a part of the rows at a time
            parts = [self.labels_and_far(Y[rows, ...]) for rows in groups(Y.shape[0])]
            labels, far = (np.concatenate(several) for several in zip(*parts, strict=True))
            return labels, far
        mapped = self.coordinates(Y)
        if is_device_array(mapped):
            return self._on_block(mapped)
        points = np.ascontiguousarray(mapped, dtype=np.float64)
        from clusterkit.numerics.nearest_jit import LabelledGroups

        if self not in GROUPS:
            GROUPS[self] = LabelledGroups.of(self.rows, self.labels)
        labels, far = GROUPS[self].label(points, self.reach)
        if self.domain is not None:
            labels = np.where(self.domain.value(points) >= self.domain.level, labels, NOISE)
        return labels, far

    def _on_block(self, points: Array) -> tuple[Labels, Mask]:
        """Labels and far rows for coordinates of another library than numpy; the results are numpy arrays."""
        nearest = nearest_rows(points, self.rows)
        distances = np.square(np.asarray(to_host(points), dtype=np.float64) - self.rows[nearest]).sum(axis=1)
        labels, far = self.labels[nearest], np.sqrt(distances) > self.reach
        if self.domain is not None:
            labels = np.where(to_host(self.domain.value(points)) >= self.domain.level, labels, NOISE)
        return labels, far


def fit_on_sample(c: Composition, index: Indices, X: ArrayOrSamples, seeds: Seeds) -> FitResult:
    """Fit a composition to the samples with the numbers `index`, ascending, and label all of them from the outcome."""
    samples = as_samples(X)
    fit, predict, facts = _fitted(c, index, samples, seeds)
    labels, far = predict.labels_and_far(samples.whole("", ""))
    labels.flags.writeable = False
    facts = {**fit.resolved.get("tuner", {}), **facts, "far_rows": int(far.sum())}
    resolved = {**fit.resolved, "tuner": facts}
    return attrs.evolve(
        fit,
        labels=labels,
        predict=predict,
        exact=True,
        resolved=resolved,
        memberships=None,
        outlier_scores=None,
        probabilities=None,
        layers=(),
    )


def _fitted(
    c: Composition, index: Indices, samples: Samples, seeds: Seeds
) -> tuple[FitResult, NearestSampleRow, Mapping[str, object]]:
    """The fit of the sample with the level of all rows, its predictor, and facts to report.

    A smallest cluster size, which counts all rows, is scaled to the sample.
    """
    least = cast("int | None", c.labeler.parameters().get("min_cluster_size"))
    if least is not None:
        labeler = c.labeler.with_parameters(min_cluster_size=max(1, round(least * len(index) / samples.n)))
        c = attrs.evolve(c, labeler=labeler)
    rng = seeds.stream("sample")
    bound = bind(attrs.evolve(c, rows=index), samples, seeds)
    facts: dict[str, object] = {}
    nu = _share_outside(bound)
    if nu is not None and nu < 1.0:
        domain = cast("KernelDomain", bound.prepared.solve(None, None, rng))
        tol = cast("PreparedSvdd", bound.prepared).solver.tol
        domain, facts["share_outside"] = level_for(domain, _coordinates(samples, bound), nu, tol)
        bound = attrs.evolve(bound, prepared=_Solved(bound.prepared, domain))
    elif nu is not None:
        bound, domain, certificate = with_violators(c, index, samples, seeds, rng)
        facts |= certificate
        bound = attrs.evolve(bound, prepared=_Solved(bound.prepared, domain))
    fit = run(bound)
    predict = _predictor(fit, c)
    if nu is not None:
        facts["stability"] = _stability(c, len(index), samples, seeds, nu, predict)
    return fit, predict, {"fitted_rows": bound.space.n, **facts}


def _share_outside(bound: BoundComposition) -> float | None:
    """Share of rows that the solver leaves outside; 1 or more for a sphere around all; None for other solvers."""
    prepared = bound.prepared
    if not isinstance(prepared, PreparedSvdd) or prepared.solver.weights is not None:
        return None
    from clusterkit.samples import KernelSpace
    from clusterkit.samples.kernels import Gaussian

    if not isinstance(bound.space, KernelSpace) or not isinstance(bound.space.kernel, Gaussian):
        return None
    return 1.0 / (prepared.C * bound.space.n) if prepared.C < 1.0 else 1.0


def _stability(
    c: Composition, size: int, samples: Samples, seeds: Seeds, nu: float, predict: NearestSampleRow
) -> float:
    """Adjusted Rand index between the labels that two samples give to rows drawn at random.

    Rows that either labelling calls noise are left out: their number is fixed, and which they are depends on the
    border. nan if no others are left.
    """
    rng = seeds.stream("sample", "stability")
    apart = seeds.child("sample", "stability")
    bound = bind(attrs.evolve(c, rows=sample_rows(samples.n, size, rng)), samples, apart)
    judged = samples.gather(sample_rows(samples.n, PILOT, rng))
    domain = cast("KernelDomain", bound.prepared.solve(None, None, rng))
    if nu < 1.0:
        domain = quick_level(
            domain, domain.value(np.ascontiguousarray(bound.space.coordinates(judged), dtype=np.float64)), nu
        )
    second = run(attrs.evolve(bound, prepared=_Solved(bound.prepared, domain)))
    one, other = predict(judged), _predictor(second, c)(judged)
    both = (one >= 0) & (other >= 0)
    return adjusted_rand(one[both], other[both]) if both.any() else math.nan


@final
@attrs.frozen(eq=False)
class _Solved(Prepared):
    """A prepared solver whose outcome is known."""

    prepared: Prepared
    outcome: Outcome

    @property
    def resolved(self) -> Mapping[str, object]:
        return self.prepared.resolved

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Outcome:
        return self.outcome

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        return self.prepared.objective(targets, outcome)


def _predictor(fit: FitResult, c: Composition) -> NearestSampleRow:
    """The function that labels all rows, and new ones, from the outcome of a fit on a sample of them.

    Each row gets the label of the nearest row of the sample inside the domain, which keeps the components of the
    sample; where the labeler calls rows outside the domain noise, those outside it are noise.
    """
    assert fit.space is not None
    points = np.ascontiguousarray(fit.space.points, dtype=np.float64)
    noise = c.labeler.parameters().get("outliers") in {"noise", "singleton"}
    inside = np.ones(len(points), dtype=np.bool_)
    if isinstance(fit.outcome, Domain):
        inside &= fit.outcome.value(points) >= fit.outcome.level
    chosen = np.flatnonzero(inside) if inside.any() else np.arange(len(points))
    rows, reach = points[chosen], 0.0
    for i in range(len(rows)):
        distances = np.square(rows - rows[i]).sum(axis=1)
        distances[i] = np.inf
        reach = max(reach, float(distances.min())) if len(rows) > 1 else 0.0
    domain = fit.outcome if noise and isinstance(fit.outcome, Domain) else None
    return NearestSampleRow(fit.space.coordinates, rows, fit.labels[chosen], float(np.sqrt(reach)), domain)
