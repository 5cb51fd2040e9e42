"""The balancer `transport`: labels of least total cost under lowest and highest cluster sizes."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Counts
from clusterkit.balancers._border import are_many, cheapest_by_passes
from clusterkit.balancers._cheapest import Present
from clusterkit.balancers._sizes import limit_problem, limits, ranked, sizes_problem
from clusterkit.core import params
from clusterkit.core.errors import Infeasible, InvalidParameter
from clusterkit.core.stages import BalanceDecision, Balancer, Costs, CostTable, Task

__all__ = ["Transport"]


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

    A cost of inf forbids a label. Memory O(n k). Time O(n k + m (k² + k log n)) for m moves along cheapest paths
    between clusters. Prices from a sixteenth of the rows, found in the same way, leave few moves: a million rows and
    ten clusters take less than a second. The mathematics is in `move_along_paths` of
    numerics/transport/paths_jit.py, and in `widest` and `audit` of numerics/transport/prices_jit.py.

    Parameters
    ----------
    size_min, size_max : int, float or None, default None
        Bounds on the size of every cluster: an integer counts rows, a float is a fraction of n. If only one is set, the
        other is 0 or n. A fraction that is impossible only because of rounding becomes n / k, rounded; see `resolved_`.
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
    size_min: float | None = params.free(None, limit_problem, invalid=(-1, -0.1, 1.5, float("nan"), "few"))
    size_max: float | None = params.free(None, limit_problem, invalid=(-1, -0.1, 1.5, float("nan"), "many"))
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
        low, high = limits(self.size_min, self.size_max, n, k)
        return np.full(k, low), np.full(k, high)

    def resolved(self, n: int, k: int) -> Mapping[str, object]:
        """Fractions, as numbers of rows."""
        if self.sizes is not None or k < 1:
            return {}
        low, high = limits(self.size_min, self.size_max, n, k)
        bounds = {"size_min": (self.size_min, low), "size_max": (self.size_max, high)}
        return {name: rows for name, (value, rows) in bounds.items() if value is not None and not _is_whole(value)}

    def reads(self, k: int) -> str:
        """Passes, whatever the number of clusters."""
        return "passes"

    def balance(self, costs: Costs, task: Task) -> BalanceDecision:
        """Cheapest labels with allowed sizes: of few costs in memory at once, else by passes, ties and all."""
        if not costs.in_memory:
            return self._by_passes(costs)
        table = costs.table()
        dtype = table.dtype if table.dtype in (np.float32, np.float64) else np.float64
        costs = CostTable(np.ascontiguousarray(table, dtype=dtype), costs.labels)
        return self._by_passes(costs) if are_many(costs.n, costs.k) else self._at_once(costs)

    def _at_once(self, costs: Costs) -> BalanceDecision:
        from clusterkit.numerics.transport.solve import solve_transport

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
