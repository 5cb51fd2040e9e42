"""The domain of a sample made right for all rows, by passes over their kernel sums wherever they lie."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Self, TypeVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Rng
from clusterkit.core.compat import Composition
from clusterkit.core.namespaces import BlockFunction, has_array_api, to_host
from clusterkit.core.outcomes import Domain, KernelDomain
from clusterkit.core.progress import Report, tell
from clusterkit.core.radix_selection import Reduce, limit_of
from clusterkit.core.run import BoundComposition, bind
from clusterkit.core.samples import EngineSamples, Samples
from clusterkit.core.seeds import Seeds
from clusterkit.core.spaces import DenseSpace, FeatureSpace
from clusterkit.core.sums import Addable, fold, groups
from clusterkit.core.transform import IdentityMap, Transform
from clusterkit.numerics.row_samples import sample_rows
from clusterkit.numerics.smallest import smallest
from clusterkit.solvers.one_class.svdd import SMALLEST_TOLERANCE, PreparedSvdd

__all__ = ["bind_sample", "coordinates_of", "level_for", "quick_level", "with_violators"]

Part = TypeVar("Part", bound=Addable)

PILOT = 2**15
"""Rows whose values tell between which two numbers the level lies: a pass then gathers 1 or 2 % of all values."""
DEVIATIONS = 6.0
"""Half the width of that bracket in standard deviations of the rank: a miss, one in 10^8, costs two more passes."""
JOINED = 1000
"""Rows that join the sample in a round of `with_violators`: those farthest outside. More make rounds fewer and the
solution of each dearer."""
MOST_ROUNDS = 100
"""Rounds of `with_violators`; data in clusters take 2 to 6. The gap reached is reported in any case."""


def bind_sample(c: Composition, index: Indices, samples: Samples, seeds: Seeds) -> BoundComposition:
    """The composition bound to some of the samples; a feature map is fitted to all of those that are in memory."""
    if isinstance(samples, EngineSamples):
        return bind(attrs.evolve(c, rows=None), samples.gather(index), seeds)
    return bind(attrs.evolve(c, rows=index), samples, seeds)


def coordinates_of(samples: Samples, coordinates: Transform) -> FeatureSpace:
    """The coordinates of all samples as a space."""
    width = coordinates.steps[-1].width if coordinates.steps else samples.d
    return samples.space(IdentityMap(width), coordinates.steps)


def level_for(domain: KernelDomain, space: FeatureSpace, nu: float, tol: float, rng: Rng) -> tuple[KernelDomain, float]:
    """The domain with the level that leaves at most a share `nu` of all rows outside, and the share outside.

    The level is the order statistic of the values of all rows, less the slack that `svdd` gives its level: the same
    whatever is in the bracket, for a miss is made good by `limit_of`.
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
        tell(Report("rows outside", round_number, MOST_ROUNDS, gap, outside))
        more = np.setdiff1d(worst.numbers, index)
        if gap <= prepared.solver.tol or not len(more):
            break
        index = np.union1d(index, more)
        bound = bind_sample(c, index, samples, seeds)
    facts = {"joined_rows": len(index) - size, "gap": max(gap, 0.0), "share_outside": outside / samples.n}
    assert outcome is not None
    return bound, outcome, facts


def _in_one_pass(space: FeatureSpace, part: Callable[[slice, Array], Part]) -> Part:
    """The sum of the parts of all rows; in memory of large ones, because counts and values in order add up alike."""
    if isinstance(space, DenseSpace):
        [(_, H)] = space.pieces()
        return fold(part(rows, H[rows]) for rows in groups(space.n))
    return space.reduce(part)


@final
@attrs.frozen(eq=False)
class _Bracketed:
    """How many values are below a bracket, and those in it."""

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
    """Passes over the values of a domain as one column of costs."""

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
        """That of the domain: the part gets the values on the host."""
        return has_array_api(self.domain)

    def __call__(self, rows: slice, H: Array) -> Addable:
        return self.part(rows, to_host(self.domain.value(H))[:, None])


@final
@attrs.frozen(eq=False)
class _Whole:
    """All values of a block with the numbers of their rows."""

    def __call__(self, rows: slice, costs: Array) -> tuple[Array, Indices]:
        return costs[:, 0], np.arange(rows.start, rows.stop)
