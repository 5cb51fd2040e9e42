"""The balancer `transport`: labels of least total cost under lowest and highest cluster sizes.

Bounds are in rows or fractions of n for every cluster, or a list has one size for each.

For rows outside memory prices come from samples, and the solution is exact for the rows near a border. The prices of
independent samples differ by about the error of each. A row whose cheapest label is cheaper than every other by more
than twice that error keeps it under the right prices too. The rows that are left, the border, are few; their costs are
gathered and solved exactly, with the sizes that the others leave. A last pass bounds the distance of all labels from
the optimum by weak duality. It is 0 up to rounding unless a row outside the border has a wrong label: then the error
was larger than taken, and the border is widened.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels, Mask, Sizes
from clusterkit.contracts import BalanceDecision, Balancer, Costs, CostTable, Task, params
from clusterkit.contracts.params import is_count
from clusterkit.errors import Infeasible, InvalidData, InvalidParameter
from clusterkit.families.shared.links import sized_decision
from clusterkit.samples import memory
from clusterkit.samples.array_libraries import (
    array_namespace,
    as_type,
    class_counts,
    is_device_array,
    move_to,
    to_device_of,
    to_host,
)
from clusterkit.samples.sums import RowsInOrder, Sums
from clusterkit.samples.survey import uniforms_of

SizeLike: TypeAlias = float | tuple[float, ...] | None
"""A bound of all sizes, one for each cluster, or none."""

GATHERED = 2**23
"""Costs that are gathered and solved at once: 64 MB."""
SAMPLED = 2**19
"""Costs of a sample of rows."""
SAMPLES = 4
"""Samples that are drawn for each level of the border: two may agree by chance, four seldom do."""
SAFETY = 1.5
"""Factor of the largest difference of two prices that is taken as the error of their mean: about six times it."""
WIDENED = 2.0
"""Factor by which the error is enlarged after a contradiction."""
ROUNDING = 1e-9
"""Relative distance from the optimum that is rounding: of float32 costs in sums over many rows."""
LEVELS = 20
"""Largest number of levels and contradictions together, after which all costs are gathered. Each level leaves a small
share of the rows, and two or three are usual."""


def are_many(n: int, k: int) -> bool:
    """Whether n rows and k clusters have too many costs to be solved at once."""
    return n * k > GATHERED


@final
@attrs.frozen(eq=False)
class Level:
    """Prices, and the difference of reduced costs above which the label of a row is final."""

    prices: Array
    margin: float

    def sure(self, costs: Array) -> tuple[Mask, Labels]:
        """Mask of the rows whose label no further step changes, and the label of each row."""
        labels, more = _margins(costs, self.prices)
        return more > self.margin, labels


def _margins(costs: Any, prices: Array) -> tuple[Any, Any]:
    """The label of least cost plus price of each row, and how much more the next one costs, on their device."""
    if not is_device_array(costs):
        from clusterkit.numerics.transport_jit import margins

        return margins(costs, prices)
    xp = array_namespace(costs)
    values = as_type(costs, np.float64) + to_device_of(prices, costs, np.float64)
    labels = xp.argmin(values, axis=1)
    hit = xp.arange(costs.shape[1], dtype=labels.dtype, device=costs.device)[None, :] == labels[:, None]
    others = xp.where(hit, xp.full((), np.inf, dtype=xp.float64, device=costs.device), values)
    return labels, xp.min(others, axis=1) - xp.min(values, axis=1)


def split(levels: tuple[Level, ...], costs: Array) -> tuple[Mask, Labels]:
    """Mask of the rows in the border of the last level, and labels of the others, from the first level that decides.

    Both are on the device of the costs.
    """
    xp, there = array_namespace(costs), {"device": costs.device} if is_device_array(costs) else {}
    border = xp.ones(costs.shape[0], dtype=xp.bool, **there)
    labels = xp.zeros(costs.shape[0], dtype=xp.int64, **there)
    for level in levels:
        sure, here = level.sure(costs)
        labels = xp.where(border & sure, here, labels)
        border = border & ~sure
    return border, labels


def _taken(inside: Any, *tables: Any) -> tuple[Array, ...]:
    """The rows of a mask, (t,), and those rows of some tables, on the host: few leave a device."""
    if not is_device_array(inside):
        index = np.flatnonzero(inside)
        return index, *(table[index] for table in tables)
    xp = array_namespace(inside)
    numbers = xp.nonzero(inside)[0]
    return to_host(numbers), *(to_host(xp.take(table, numbers, axis=0)) for table in tables)


@final
@attrs.frozen(eq=False)
class Priced:
    """Function that gives each row its label of least cost plus price, except rows with ties, which have a fixed label.

    Parameters
    ----------
    prices : ndarray of shape (k,)
    rows : ndarray of shape (t,)
        Indices of the rows with ties, ascending.
    labels : ndarray of shape (t,)
        Labels of these rows.
    """

    array_api: ClassVar[bool] = True

    prices: Array
    rows: Indices
    labels: Labels

    def __call__(self, rows: slice, costs: Array) -> Labels:
        """Labels of a block."""
        labels, _ = _margins(costs, self.prices)
        first, last = np.searchsorted(self.rows, [rows.start, rows.stop])
        places, tied = self.rows[first:last] - rows.start, self.labels[first:last]
        if is_device_array(costs) and len(places):
            xp, instead = array_namespace(costs), np.full(costs.shape[0], -1, dtype=np.int64)
            instead[places] = tied
            there = move_to(instead, costs)
            return xp.where(there >= 0, there, labels)
        if len(places):
            labels[places] = tied
        return labels


def cheapest_by_passes(costs: Costs, low: Counts, high: Counts) -> tuple[Priced, float] | None:
    """Labels of least total cost with sizes from `low` to `high`, and a bound on their distance from the optimum.

    Returns
    -------
    (labels, gap), the gap relative as in `TransportSolution`; None if no labels have such sizes at a finite cost.
    """
    levels: tuple[Level, ...] = ()
    n = costs.n
    left, fixed = n, np.zeros(len(low), dtype=np.int64)
    for attempt in range(LEVELS):
        if left * len(low) <= GATHERED:
            priced = _solve_border(costs, levels, low - fixed, high - fixed)
            gap = math.inf if priced is None else _gap(costs, priced, low, high)
            if priced is not None and (gap <= ROUNDING or not levels):
                return priced, gap
            if not levels:
                return None
            # the error of the prices was larger than taken: every border becomes wider
            levels = tuple(attrs.evolve(level, margin=WIDENED * level.margin) for level in levels)
        else:
            drawn: Any = costs.reduce(_Samples(levels, SAMPLED / (len(low) * left), attempt))
            levels = (*levels, _level(drawn.arrays, low - fixed, high - fixed, left))
        fixed = costs.reduce(_Counts(levels, len(low))).arrays[0].astype(np.int64)
        left = n - int(fixed.sum())
    memory.require(8 * n * len(low), f"the costs of {n} rows", "Take balancer=None, or fit a sample of the rows.")
    priced = _solve_border(costs, (), low, high)
    return None if priced is None else (priced, _gap(costs, priced, low, high))


def _gap(costs: Costs, priced: Priced, low: Counts, high: Counts) -> float:
    """A bound on the distance from the optimum by weak duality, over all rows; infinite if sizes are out of bounds."""
    totals, sizes = costs.reduce(_Duality(priced)).arrays
    if (sizes < low).any() or (sizes > high).any():
        return math.inf
    saved, scale = map(float, totals)
    # largest total price of sizes within the bounds that add up to n: fill the dearest labels first
    takes, free = float(priced.prices @ low), int(sizes.sum()) - int(low.sum())
    for j in np.argsort(-priced.prices, kind="stable"):
        more = min(free, int(high[j] - low[j]))
        takes, free = takes + more * float(priced.prices[j]), free - more
    gap = max(0.0, saved + takes - float(priced.prices @ sizes))
    return gap / scale if scale > 0 else float(gap > 0)


def _level(samples: tuple[Array, ...], low: Counts, high: Counts, left: int) -> Level:
    """Prices from samples of the border, and twice their error."""
    from clusterkit.numerics.transport import solve_transport

    prices = []
    for sample in samples:
        share = len(sample) / left
        bounds = np.floor(np.maximum(low, 0) * share), np.ceil(np.maximum(high, 0) * share)
        solution = solve_transport(
            sample, np.argmin(sample, axis=1), bounds[0].astype(np.int64), bounds[1].astype(np.int64)
        )
        prices.append(np.zeros(len(low)) if solution is None else solution.prices - solution.prices.mean())
    largest = max(float(np.abs(sample[np.isfinite(sample)]).max(initial=0.0)) for sample in samples)
    error = max(SAFETY * float(np.ptp(prices, axis=0).max()), ROUNDING * largest)
    return Level(np.mean(prices, axis=0), 2.0 * error)


def _solve_border(costs: Costs, levels: tuple[Level, ...], low: Counts, high: Counts) -> Priced | None:
    """The optimal labels of the border rows, as prices and the tied rows; None if the bounds are infeasible."""
    from clusterkit.numerics.transport import solve_transport

    border: Any = costs.reduce(_Border(levels))
    rows, C = border.arrays[0], np.ascontiguousarray(border.arrays[1])
    if (high < 0).any() or low.sum() > len(C) or np.maximum(low, 0).sum() > len(C) or high.sum() < len(C):
        return None
    solution = solve_transport(C, np.argmin(C, axis=1), low, high)
    if solution is None:
        return None
    tied = np.flatnonzero(np.argmin(C + solution.prices, axis=1) != solution.labels)
    return Priced(solution.prices, rows[tied], solution.labels[tied])


@final
@attrs.frozen(eq=False)
class _Counts:
    """Part of a pass: number of rows of each label that no further step changes."""

    array_api: ClassVar[bool] = True

    levels: tuple[Level, ...]
    k: int

    def __call__(self, rows: slice, costs: Array) -> Sums:
        border, labels = split(self.levels, costs)
        if is_device_array(costs):
            return Sums.of(class_counts(array_namespace(costs).where(border, -1 + 0 * labels, labels), self.k))
        return Sums.of(np.bincount(labels[~border], minlength=self.k))


@final
@attrs.frozen(eq=False)
class _Duality:
    """Part of the certificate: the savings of all rows at the prices, the scale to divide them by, and the sizes."""

    array_api: ClassVar[bool] = True

    priced: Priced

    def __call__(self, rows: slice, costs: Array) -> Sums:
        if is_device_array(costs):
            return self._on_device(rows, costs)
        from clusterkit.numerics.transport_jit import audit

        labels, none = self.priced(rows, costs), np.zeros(costs.shape[1], dtype=np.int64)
        saved, scale, _ = audit(costs, labels, self.priced.prices, none, none, none)
        return Sums.of(np.array([saved, scale]), np.bincount(labels, minlength=costs.shape[1]))

    def _on_device(self, rows: slice, costs: Any) -> Sums:
        """The sums of `audit`, added in another order."""
        xp, labels = array_namespace(costs), self.priced(rows, costs)
        costs = as_type(costs, np.float64)
        values = costs + to_device_of(self.priced.prices, costs, np.float64)
        saved = xp.take_along_axis(values, labels[:, None], axis=1)[:, 0] - xp.min(values, axis=1)
        finite = costs < np.inf
        total = xp.sum(xp.where(finite, costs, xp.zeros_like(costs)), axis=1)
        mean = total / xp.astype(xp.sum(xp.astype(finite, xp.int64), axis=1), xp.float64)
        return Sums.of(
            xp.stack([xp.sum(saved), xp.sum(mean - xp.min(costs, axis=1))]), class_counts(labels, costs.shape[1])
        )


@final
@attrs.frozen(eq=False)
class _Border:
    """Part of a pass: the numbers of the rows of the border, and their costs."""

    array_api: ClassVar[bool] = True

    levels: tuple[Level, ...]

    def __call__(self, rows: slice, costs: Array) -> RowsInOrder:
        border, _ = split(self.levels, costs)
        inside, few = _taken(border, costs)
        return RowsInOrder((inside + rows.start, few))


@final
@attrs.frozen(eq=False)
class _Samples:
    """Part of a pass: costs of samples of the border, each row with the same probability and in one of them at most.

    The rows are drawn by their indices, not by a seed of the fit: a balancer draws nothing. Any sample leads to the
    same labels except for ties, and equal samples decide ties alike, whatever the blocks.
    """

    array_api: ClassVar[bool] = True

    levels: tuple[Level, ...]
    share: float
    attempt: int

    def __call__(self, rows: slice, costs: Array) -> RowsInOrder:
        border, _ = split(self.levels, costs)
        sample = uniforms_of(self.attempt, rows, costs) / min(self.share, 1.0 / SAMPLES)
        _, numbers, few = _taken(border & (sample < SAMPLES), sample, costs)
        return RowsInOrder(tuple(few[(numbers >= j) & (numbers < j + 1)] for j in range(SAMPLES)))


def limit_problem(value: Any) -> str | None:
    """Description of the valid values of a lowest or highest size, for an error message; None if this one is valid."""
    if value is None:
        return None
    if isinstance(value, tuple) and value and all(limit_problem(each) is None and each is not None for each in value):
        return None
    if is_count(value, 0):
        return None
    if isinstance(value, float | np.floating) and 0 <= float(value) <= 1:
        return None
    return "a number of rows (integer >= 0), a fraction of n (float from 0 to 1), a list of these, or None"


def sizes_problem(value: Any) -> str | None:
    """Description of the valid lists of sizes, for an error message; None if this one is valid."""
    if value is None:
        return None
    whole = isinstance(value, tuple) and all(is_count(size, 0) for size in value)
    return None if whole and value else "one integer >= 0 for each cluster, or None"


def limits(least: float | None, most: float | None, n: int, k: int) -> tuple[int, int]:
    """Lowest and highest size in rows; raises `Infeasible` if no sizes obey both.

    If a fraction is impossible only because it is rounded to rows, it is replaced by n / k, rounded.
    """
    if least is None and most is None:
        return n // k, -(-n // k)
    low, high = 0, n
    if least is not None:
        low = int(least) if isinstance(least, numbers.Integral) else math.ceil(_rows(least, n))
        if low > n // k and not isinstance(least, numbers.Integral) and float(least) * k <= 1 + 1e-9:
            low = n // k
    if most is not None:
        high = int(most) if isinstance(most, numbers.Integral) else math.floor(_rows(most, n))
        if high < -(-n // k) and not isinstance(most, numbers.Integral) and float(most) * k >= 1 - 1e-9:
            high = -(-n // k)
    if low > high:
        raise Infeasible(
            f"balancer 'transport': size_min = {least!r} is {low} rows, more than size_max = {most!r}, {high} rows"
        )
    if k * low > n:
        raise Infeasible(
            f"balancer 'transport': size_min = {least!r} requires {low} rows in each of {k} clusters, "
            f"{k * low} in all, but there are {n}; at most {n // k} rows each are possible"
        )
    if k * high < n:
        raise Infeasible(
            f"balancer 'transport': size_max = {most!r} allows {high} rows in each of {k} clusters, "
            f"{k * high} in all, but there are {n}; at least {-(-n // k)} rows each are needed"
        )
    return low, min(high, n)


def weighted_limits(
    least: float | None, most: float | None, total: float, heaviest: float, k: int
) -> tuple[float, float]:
    """Lowest and highest weight of a cluster: equal up to the heaviest row if neither is set; raises `Infeasible`."""
    if least is None and most is None:
        return max(0.0, total / k - heaviest), total / k + heaviest
    low = 0.0 if least is None else float(least) * (1.0 if isinstance(least, numbers.Integral) else total)
    high = total if most is None else float(most) * (1.0 if isinstance(most, numbers.Integral) else total)
    if low > high or k * low > total * (1 + 1e-9) or k * high < total * (1 - 1e-9):
        raise Infeasible(
            f"balancer 'transport': weights between size_min = {least!r} and size_max = {most!r} in each of {k} "
            f"clusters cannot add up to {total:g}, the weight of all rows: {total / k:g} each must be allowed"
        )
    return low, high


def of_each(least: SizeLike, most: SizeLike, n: int, k: int) -> tuple[Counts, Counts]:
    """Lowest and highest size of each cluster in rows, where one of them is a list; raises `Infeasible`."""
    bounds = []
    for name, value, missing, rounded in (("size_min", least, 0, math.ceil), ("size_max", most, n, math.floor)):
        each = value if isinstance(value, tuple) else (missing if value is None else value,) * k
        if len(each) != k:
            raise Infeasible(f"balancer 'transport': {name} has {len(each)} numbers, but there are {k} clusters")
        rows = [int(one) if isinstance(one, numbers.Integral) else rounded(_rows(one, n)) for one in each]
        bounds.append(np.array(rows, dtype=np.int64))
    low, high = bounds[0], np.minimum(bounds[1], n)
    if (low > high).any():
        j = int(np.argmax(low > high))
        raise Infeasible(f"balancer 'transport': cluster {j} has {low[j]} rows at least and {high[j]} at most")
    if low.sum() > n or high.sum() < n:
        raise Infeasible(
            f"balancer 'transport': {n} rows have no sizes between {low.tolist()} and {high.tolist()}, which add up to "
            f"{low.sum()} and {high.sum()}"
        )
    return low, high


def ranked(sizes: tuple[int, ...], n: int, k: int, initial: Labels) -> Labels:
    """The sizes in the order of the clusters: the largest for the largest cluster; ties go to the lowest number."""
    if len(sizes) != k:
        raise Infeasible(f"balancer 'transport': sizes has {len(sizes)} numbers, but there are {k} clusters")
    if sum(sizes) != n:
        raise Infeasible(f"balancer 'transport': sizes {sizes} add up to {sum(sizes)}, but there are {n} samples")
    matched = np.empty(k, dtype=np.int64)
    matched[np.argsort(-initial, kind="stable")] = np.sort(np.asarray(sizes, dtype=np.int64))[::-1]
    return matched


def _rows(fraction: float, n: int) -> float:
    rows = float(fraction) * n
    # products such as 0.03 * 400 = 12.000000000000002 mean whole numbers
    return round(rows) if abs(rows - round(rows)) < 1e-9 * max(n, 1) else rows


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list | np.ndarray) and np.ndim(value) else value


@final
@attrs.frozen
class Transport(Balancer):
    """Find labels of least total cost with cluster sizes between two bounds, or with a size for each cluster.

    The labels are optimal for any number of clusters (up to rounding of sums of k costs), while `band` is optimal for
    two only. Labels that cannot be made cheaper are not changed. Without parameters, sizes are n / k, rounded down or
    up.

    `predict` adds a price to the cost of each cluster. The prices are dual variables of the linear program, in the
    middle of their possible range. They reproduce the training labels except for rows that tie, such as equal rows on
    both sides of a border. `resolved_` reports `gap`, a bound on the distance of the cost from the optimum (by weak
    duality; relative to the difference between random labels and unbalanced ones; 0 up to rounding), and `tied_rows`,
    the number of rows that are predicted otherwise.

    With `sample_weight` sizes are weights: an integer is a weight, a float a fraction of all; without parameters they
    are equal up to the weight of the heaviest row. With `links` rows that belong together stay together. Both make it
    an integer program: the prices of its relaxation, rounding and moves give labels whose `gap` is a bound on the
    distance from the optimum, and small problems are solved exactly (numerics/linked/labels.py).

    A cost of inf forbids a label. Memory O(n k). Time O(n k + m (k² + k log n)) for m moves along cheapest paths
    between clusters. Prices from a sixteenth of the rows, found in the same way, leave few moves: a million rows and
    ten clusters take less than a second. The mathematics is in `move_along_paths` of
    numerics/transport_jit.py, and in `widest` and `audit` of numerics/transport_jit.py.

    Parameters
    ----------
    size_min, size_max : int, float, sequence of these or None, default None
        Bounds on the size of every cluster: an integer counts rows, a float is a fraction of n. If only one is set, the
        other is 0 or n. A fraction that is impossible only because of rounding becomes n / k, rounded; see `resolved_`.
        A sequence has a bound for each cluster, by the numbers that the seeds of a fit fix: ``fit(X, seeds=...)``.
    sizes : sequence of int or None, default None
        A size for each cluster, n in all; the largest goes to the cluster that is largest before balancing, and so on.
        It excludes the other two parameters.

    Raises
    ------
    Infeasible
        If no labels have such sizes, or if all labels with such sizes cost inf.

    References
    ----------
    Ahuja, Magnanti, Orlin (1993), Network Flows, section 9.7 (successive shortest paths); Tokuyama, Nakano (1995),
    SIAM J. Comput. 24, 563-578 (few sinks); Bradley, Bennett, Demiriz (2000), Constrained k-means clustering,
    MSR-TR-2000-65 (size constraints in k-means).
    """

    name: ClassVar[str] = "transport"
    synonyms: ClassVar[tuple[str, ...]] = ("optimal_transport", "sizes")
    linked: ClassVar[bool] = True
    weighted: ClassVar[bool] = True
    size_min: float | tuple[float, ...] | None = params.free(
        None, limit_problem, invalid=(-1, -0.1, 1.5, float("nan"), "few", ()), converter=_as_tuple
    )
    size_max: float | tuple[float, ...] | None = params.free(
        None, limit_problem, invalid=(-1, -0.1, 1.5, float("nan"), "many", (-1,)), converter=_as_tuple
    )
    sizes: tuple[int, ...] | None = params.free(
        None, sizes_problem, invalid=((), (1.5,), (-1, 2), 3, "equal"), converter=_as_tuple
    )

    def __attrs_post_init__(self) -> None:
        """Refuse `sizes` together with bounds."""
        if self.sizes is not None and (self.size_min is not None or self.size_max is not None):
            raise InvalidParameter(
                f"balancer 'transport': sizes = {self.sizes} sets all sizes; leave size_min and size_max at None, "
                f"got {self.size_min!r} and {self.size_max!r}"
            )

    def bounds(self, n: int, k: int) -> tuple[Counts, Counts]:
        """Lowest and highest sizes; with `sizes` the smallest and the largest of them, as their order is unknown."""
        if self.sizes is not None:
            sizes = ranked(self.sizes, n, k, np.zeros(k, dtype=np.int64))
            return np.full(k, sizes.min()), np.full(k, sizes.max())
        if isinstance(self.size_min, tuple) or isinstance(self.size_max, tuple):
            return of_each(self.size_min, self.size_max, n, k)
        low, high = limits(self.size_min, self.size_max, n, k)
        return np.full(k, low), np.full(k, high)

    def resolved(self, n: int, k: int) -> Mapping[str, object]:
        """Fractions, as numbers of rows."""
        if self.sizes is not None or k < 1:
            return {}
        if isinstance(self.size_min, tuple) or isinstance(self.size_max, tuple):
            return {}
        low, high = limits(self.size_min, self.size_max, n, k)
        bounds = {"size_min": (self.size_min, low), "size_max": (self.size_max, high)}
        return {name: rows for name, (value, rows) in bounds.items() if value is not None and not _is_whole(value)}

    def reads(self, k: int) -> str:
        """Passes, whatever the number of clusters."""
        return "passes"

    def balance(self, costs: Costs, task: Task) -> BalanceDecision:
        """Cheapest labels with allowed sizes: of few costs in memory at once, else by passes, ties and all."""
        if task.links is not None or task.sample_weight is not None:
            return self._with_links_or_weights(costs, task)
        if isinstance(self.size_min, tuple) or isinstance(self.size_max, tuple):
            raise InvalidParameter(
                "balancer 'transport': a list of bounds needs the numbers of the clusters, which seeds fix: "
                "fit(X, seeds=...)"
            )
        if not costs.in_memory:
            return self._by_passes(costs)
        table = costs.table()
        dtype = table.dtype if table.dtype in (np.float32, np.float64) else np.float64
        costs = CostTable(np.ascontiguousarray(table, dtype=dtype), costs.labels)
        return self._by_passes(costs) if are_many(costs.n, costs.k) else self._at_once(costs)

    def _at_once(self, costs: Costs) -> BalanceDecision:
        from clusterkit.numerics.transport import solve_transport

        n, k, C, labels = costs.n, costs.k, costs.table(), costs.labels
        low, high = self._sizes(n, k, np.bincount(labels, minlength=k))
        if not math.isfinite(float(C.min()) + float(C.max())):  # row by row is ten times the work
            Present.of(slice(0, n), C).check()
        solution = solve_transport(C, labels, low, high)
        if solution is None:
            raise _infeasible(low, high)
        facts = {"gap": solution.gap} | ({"tied_rows": solution.tied} if solution.tied else {})
        offsets = solution.prices if solution.prices.any() else None
        return BalanceDecision(solution.labels, offsets, solution.tied == 0, facts)

    def _with_links_or_weights(self, costs: Costs, task: Task) -> BalanceDecision:
        n, k, weights = costs.n, costs.k, task.sample_weight
        lists = [value for value in (self.size_min, self.size_max, self.sizes) if isinstance(value, tuple)]
        if lists and (task.links is None or not (task.links.seeds >= 0).any()) and self.sizes is None:
            raise InvalidParameter(
                "balancer 'transport': a list of bounds needs the numbers of the clusters, which seeds fix: "
                "fit(X, seeds=...)"
            )
        low: Sizes
        high: Sizes
        if weights is None:
            low, high = self._sizes(n, k, np.bincount(costs.labels, minlength=k))
        elif isinstance(self.size_min, tuple) or isinstance(self.size_max, tuple) or self.sizes is not None:
            raise InvalidParameter(
                "balancer 'transport': with sample_weight bounds are one number for all clusters, size_min and size_max"
            )
        else:
            heaviest = float(weights.max())
            if task.links is not None and task.links.m:
                of_groups = np.bincount(task.links.groups, weights=weights[task.links.rows])
                heaviest = max(heaviest, float(of_groups.max()))
            least, most = weighted_limits(self.size_min, self.size_max, float(weights.sum()), heaviest, k)
            low, high = np.full(k, least), np.full(k, most)
        return sized_decision(self.name, costs, task, low, high)

    def _by_passes(self, costs: Costs) -> BalanceDecision:
        """One pass for the sizes, and about four if these have to change."""
        before = costs.reduce(Present.of)
        before.check()
        present: Counts = before.sizes.astype(np.int64)
        low, high = self._sizes(costs.n, costs.k, present)
        if (present >= low).all() and (present <= high).all():
            return BalanceDecision(facts={"gap": 0.0})
        solved = cheapest_by_passes(costs, low, high)
        if solved is None:
            raise _infeasible(low, high)
        priced, gap = solved
        facts = {"gap": gap} | ({"tied_rows": len(priced.rows)} if len(priced.rows) else {})
        return BalanceDecision(priced, priced.prices, not len(priced.rows), facts)

    def _sizes(self, n: int, k: int, present: Counts) -> tuple[Counts, Counts]:
        """Least and largest size of each cluster, from its size before."""
        if self.sizes is not None:
            sizes = ranked(self.sizes, n, k, present)
            return sizes, sizes
        return self.bounds(n, k)


def _infeasible(low: Counts, high: Counts) -> Infeasible:
    return Infeasible(
        f"balancer 'transport': no labels with sizes between {low.tolist()} and {high.tolist()} have a finite cost"
    )


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral)


@final
@attrs.frozen(eq=False)
class Present:
    """Summary of the cheapest labels of all rows, before any of them is changed.

    Parameters
    ----------
    sizes : ndarray of shape (k,)
        Number of rows for which each label is the cheapest.
    lowest : float
        The least cost; nan if any cost is nan.
    forbidden : int
        Index of the first row whose labels all cost inf; -1 if there is none.
    """

    array_api: ClassVar[bool] = True

    sizes: Counts
    lowest: float
    forbidden: int

    @classmethod
    def of(cls, rows: slice, costs: Array) -> Present:
        """The summary of a block of costs, (b, k)."""
        xp = array_namespace(costs)
        sizes = to_host(class_counts(xp.argmin(costs, axis=1), costs.shape[1]))
        least = to_host(xp.min(costs, axis=1)) if costs.shape[0] else np.empty(0)
        none = np.flatnonzero(least == np.inf)
        return cls(sizes, float(least.min(initial=np.inf)), rows.start + int(none[0]) if len(none) else -1)

    def __add__(self, following: Present) -> Present:
        forbidden = self.forbidden if self.forbidden >= 0 else following.forbidden
        return Present(self.sizes + following.sizes, float(np.minimum(self.lowest, following.lowest)), forbidden)

    def check(self) -> None:
        """Refuse costs that no labels can have.

        Raises
        ------
        InvalidData
            If a cost is NaN or -inf.
        Infeasible
            If a row can have no label.
        """
        if np.isnan(self.lowest) or self.lowest == -np.inf:
            raise InvalidData(
                "balancer 'transport': costs must be numbers above -inf (inf forbids a label), got NaN or -inf"
            )
        if self.forbidden >= 0:
            raise Infeasible(
                f"balancer 'transport': every label of row {self.forbidden} costs inf, so the row can have no label"
            )
