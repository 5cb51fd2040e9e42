"""A fit on a sample of the rows, with the level and the labels of all rows, and a measure of how sure they are.

`level_for` and `with_violators` make the domain of the sample right for all rows, by passes over their kernel sums
wherever the rows lie.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Self, TypeVar, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Mask, Rng
from clusterkit.contracts import Prepared
from clusterkit.contracts.balancer import Reduce, limit_of
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.driver import FitResult
from clusterkit.contracts.labelings import NOISE
from clusterkit.contracts.outcomes import Domain, KernelDomain, Outcome
from clusterkit.contracts.seeds import Seeds
from clusterkit.families.support_vectors.level_sets.neighbours import nearest_rows
from clusterkit.families.support_vectors.svdd import SMALLEST_TOLERANCE, PreparedSvdd
from clusterkit.fitting.fit import BoundComposition, bind, run
from clusterkit.fitting.samples import ArrayOrSamples, EngineSamples, Predicted, Samples, as_samples
from clusterkit.metrics import adjusted_rand
from clusterkit.numerics.selection import sample_rows, smallest
from clusterkit.numerics.shapes import array, scalar
from clusterkit.samples import DenseSpace, FeatureSpace
from clusterkit.samples.array_libraries import BlockFunction, has_array_api, is_device_array, to_host
from clusterkit.samples.coding import Coded
from clusterkit.samples.kernels import left_with
from clusterkit.samples.limits import Report, notify
from clusterkit.samples.sums import GROUP, Addable, add_left_to_right, groups
from clusterkit.samples.transform import IdentityMap, Transform

if TYPE_CHECKING:
    from clusterkit.numerics.nearest_jit import LabelledGroups

__all__ = [
    "NearestSampleRow",
    "bind_sample",
    "coordinates_of",
    "fit_on_sample",
    "level_for",
    "quick_level",
    "with_violators",
]


Part = TypeVar("Part", bound=Addable)

PILOT = 2**15
"""Rows whose values give an interval that contains the level: a pass then gathers 1 or 2 % of all values."""
DEVIATIONS = 6.0
"""Half the width of that bracket in standard deviations of the rank: a miss, one in 10^8, costs two more passes."""
JOINED = 1000
"""Rows that join the sample in a round of `with_violators`: those farthest outside. More make rounds fewer and the
solution of each dearer."""
MOST_ROUNDS = 100
"""Rounds of `with_violators`; data in clusters take 2 to 6. The gap reached is reported in any case."""


def bind_sample(c: Composition, index: Indices, samples: Samples, seeds: Seeds) -> BoundComposition:
    """The composition bound to some of the samples; a feature map is fitted to all samples that are in memory."""
    if isinstance(samples, EngineSamples):
        return bind(attrs.evolve(c, rows=None), samples.gather(index), seeds)
    return bind(attrs.evolve(c, rows=index), samples, seeds)


def coordinates_of(samples: Samples, coordinates: Transform) -> FeatureSpace:
    """The coordinates of all samples as a space."""
    width = coordinates.steps[-1].width if coordinates.steps else samples.d
    return samples.space(IdentityMap(width), coordinates.steps)


def level_for(domain: KernelDomain, space: FeatureSpace, nu: float, tol: float, rng: Rng) -> tuple[KernelDomain, float]:
    """The domain with the level that leaves at most a share `nu` of all rows outside, and the share outside.

    The level is the order statistic of the values of all rows, less the slack that `svdd` gives its level. It does not
    depend on the bracket, because `limit_of` corrects a miss.
    """
    n = space.n
    outside = min(n - 1, math.floor(nu * n + 1e-9))
    pilot = np.sort(domain.value(space.rows(sample_rows(n, PILOT, rng))))
    low, high = -math.inf, math.inf
    if len(pilot) < n:
        share = (outside + 1) / n
        middle, half = share * len(pilot), DEVIATIONS * math.sqrt(len(pilot) * share * (1.0 - share)) + 2.0
        low = float(pilot[int(middle - half)]) if middle >= half else low
        high = float(pilot[int(middle + half)]) if middle + half < len(pilot) else high
    between = _in_one_pass(space, _Bracket(domain, low, high))
    rank = outside - between.below
    if 0 <= rank < len(between.values):
        least = float(np.partition(between.values, rank)[rank])
    else:
        least = limit_of(_passes_over_values(space, domain), _Whole(), outside + 1).value
    level = least - min(max(SMALLEST_TOLERANCE, tol) / 2.0, 1e-3 * abs(least))
    beyond = between.below + int((between.values < level).sum())
    return attrs.evolve(domain, level=level), (beyond if level >= low else outside) / n


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
    bound = bind_sample(c, index, samples, seeds)
    size, gap, outside = len(index), math.inf, 0
    space = coordinates_of(samples, bound.space.coordinates)
    for round_number in range(1, MOST_ROUNDS + 1):
        prepared = bound.prepared
        assert isinstance(prepared, PreparedSvdd)
        domain = prepared.solve(None, outcome, rng)
        assert isinstance(domain, KernelDomain)
        outcome = domain
        length2 = float(domain.weights @ domain.value(domain.centres))
        limit = length2 - prepared.solver.tol / 2.0
        worst = _in_one_pass(space, _Violators(domain, limit, JOINED))
        gap = 2.0 * (length2 - float(worst.values.min())) if len(worst.values) else 0.0
        outside = worst.count
        notify(Report("rows outside", round_number, MOST_ROUNDS, gap, outside))
        more = np.setdiff1d(worst.numbers, index)
        if gap <= prepared.solver.tol or not len(more):
            break
        index = np.union1d(index, more)
        bound = bind_sample(c, index, samples, seeds)
    facts = {"joined_rows": len(index) - size, "gap": max(gap, 0.0), "share_outside": outside / samples.n}
    assert outcome is not None
    return bound, outcome, facts


def _in_one_pass(space: FeatureSpace, part: Callable[[slice, Array], Part]) -> Part:
    """The sum of the parts of all rows; in memory by large blocks, on which counts and ordered values do not depend."""
    if isinstance(space, DenseSpace):
        [(_, H)] = space.pieces()
        return add_left_to_right(part(rows, H[rows]) for rows in groups(space.n))
    return space.reduce(part)


@final
@attrs.frozen(eq=False)
class _Bracketed:
    """Number of values below a bracket, and the values in it."""

    below: int
    values: Array

    def __add__(self, following: Self) -> Self:
        return type(self)(self.below + following.below, np.concatenate([self.values, following.values]))


@final
@attrs.frozen(eq=False)
class _Bracket(BlockFunction):
    """Part of a pass: the values of a block in a bracket."""

    domain: Domain
    low: float
    high: float

    def __call__(self, rows: slice, H: Array) -> _Bracketed:
        values = to_host(self.domain.value(H))
        return _Bracketed(int((values < self.low).sum()), values[(values >= self.low) & (values <= self.high)])


@final
@attrs.frozen(eq=False)
class _Worst:
    """The smallest values with the numbers of their rows, and how many rows are outside."""

    values: Array
    numbers: Indices
    count: int
    size: int

    def __add__(self, following: Self) -> Self:
        values = np.concatenate([self.values, following.values])
        numbers = np.concatenate([self.numbers, following.numbers])
        chosen = smallest(values, self.size)
        return type(self)(values[chosen], numbers[chosen], self.count + following.count, self.size)


@final
@attrs.frozen(eq=False)
class _Violators(BlockFunction):
    """Part of a pass: the rows of a block below a limit, at most `size` of them."""

    domain: Domain
    limit: float
    size: int

    def __call__(self, rows: slice, H: Array) -> _Worst:
        values = to_host(self.domain.value(H))
        below = np.flatnonzero(values < self.limit)
        chosen = below[smallest(values[below], self.size)]
        return _Worst(values[chosen], chosen + rows.start, len(below), self.size)


def _passes_over_values(space: FeatureSpace, domain: Domain) -> Reduce:
    """Function that passes over the values of a domain as one column of costs."""

    def reduce(part: Callable[[slice, Array], Part]) -> Part:
        whole: Part = space.reduce(_OfValues(domain, part))  # type: ignore[assignment] # of the type of `part`
        return whole

    return reduce


@final
@attrs.frozen(eq=False)
class _OfValues(BlockFunction):
    """A part of values as a part of the rows that have them."""

    domain: Domain
    part: Callable[[slice, Array], Addable]

    @property
    def array_api(self) -> bool:
        """Whether the domain has the mark; the part gets the values on the host."""
        return has_array_api(self.domain)

    def __call__(self, rows: slice, H: Array) -> Addable:
        return self.part(rows, to_host(self.domain.value(H))[:, None])


@final
@attrs.frozen(eq=False)
class _Whole:
    """All values of a block with the numbers of their rows."""

    def __call__(self, rows: slice, costs: Array) -> tuple[Array, Indices]:
        return costs[:, 0], np.arange(rows.start, rows.stop)


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
    """Fit a composition to the samples with the numbers `index`, ascending, and label all of them from the outcome.

    For samples outside memory the labels are an array of their engine, lazy where it has such arrays.
    """
    samples = as_samples(X)
    fit, predict, facts = _fitted(c, index, samples, seeds)
    if isinstance(samples, EngineSamples):
        labels = samples.engine.labels(Predicted(predict), samples.rows, samples.d)
    else:
        labels, far = predict.labels_and_far(samples.whole("", ""))
        facts = {**facts, "far_rows": int(far.sum())}
    if isinstance(labels, np.ndarray):
        labels.flags.writeable = False
    return _labelled(fit, labels, predict, facts)


def _labelled(fit: FitResult, labels: Labels, predict: NearestSampleRow, facts: Mapping[str, object]) -> FitResult:
    resolved = {**fit.resolved, "tuner": {**fit.resolved.get("tuner", {}), **facts}}
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
    bound = bind_sample(c, index, samples, seeds)
    facts: dict[str, object] = {}
    nu = _share_outside(bound)
    if nu is not None and nu < 1.0:
        domain = cast("KernelDomain", bound.prepared.solve(None, None, rng))
        tol = cast("PreparedSvdd", bound.prepared).solver.tol
        domain, facts["share_outside"] = level_for(
            domain, coordinates_of(samples, bound.space.coordinates), nu, tol, rng
        )
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
    bound = bind_sample(c, sample_rows(samples.n, size, rng), samples, apart)
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
