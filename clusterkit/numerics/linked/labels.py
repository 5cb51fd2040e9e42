"""Labels of least cost for rows of which some belong together and some apart, with and without bounds of the sizes.

Without bounds (`cheapest_labels`) the costs of each group of rows that belong together are summed, and the cheapest
labels of groups that are apart are searched (`apart_jit.cheapest_apart`); all other rows have their cheapest label.

**With bounds of the cluster sizes** (`cheapest_sized`), for rows with links, or with weights, or both:

Minimised is the total cost of all labels, weight times cost of a row, where the weight of each cluster lies between two
bounds, rows that belong together have one label and groups that are apart different ones. With weights or groups this
is an integer program. Its relaxation, in which a row may be divided among clusters, is a transportation problem
(`solve_transport`), whose prices make a row's cheapest priced label right nearly everywhere. So:

1. the prices come from the relaxation; with weights from rows drawn in proportion to them;
2. groups get their cheapest priced labels under the pairs that are apart (`cheapest_labels`), and are moved where they
leave
   no room for the sizes (`make_room`);
3. the other rows are labelled exactly for the sizes that are left (`solve_transport`); with weights by prices and moves
   (`move_into_bounds`);
4. steps 2 and 3 are repeated with the prices of step 3, and the cheapest labels are kept.

For any prices p the cheapest priced labels, less the most that p can take from allowed sizes, are a lower bound (weak
duality); the best of these bounds gives the gap. Small problems with a gap go to the branch and bound of HiGHS
(`scipy.optimize.milp`), within a budget of nodes.
"""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Sizes

ROUNDS = 3
"""Largest number of rounds of steps 2 and 3: prices change little after the second."""

EXACT_CELLS = 1500
"""Largest number of items times clusters of a problem that goes to HiGHS: some hundredths of a second to a second."""

EXACT_NODES = 2000
"""Largest number of nodes of its branch and bound: nodes, not seconds, so that results do not depend on the machine."""

DRAWN = 4
"""Rows drawn for each row with weights, for the prices."""

ROUNDING = 1e-9
"""Relative gap that is rounding."""


BUDGET = 5e7
"""Largest number of costs that the branch and bound reads: some tenths of a second."""


@final
@attrs.frozen(eq=False)
class LinkedLabels:
    """Labels of groups.

    Parameters
    ----------
    labels : ndarray of shape (m,)
        The label of each group.
    cost, lower : float
        Their cost, and a lower bound of the least possible cost.
    state : int
        How the search ended, a value of `apart_jit`.
    where : int
        A group of the component that ended so.
    """

    labels: Labels
    cost: float
    lower: float
    state: int
    where: int


def cheapest_labels(D: Array, apart: Indices, budget: float = BUDGET) -> LinkedLabels:
    """Labels of least cost of groups with costs D (m, k), where the pairs `apart` (c, 2) have different ones.

    Examples
    --------
    >>> import numpy as np
    >>> D = np.array([[0.0, 1.0], [0.0, 3.0], [2.0, 0.0]])
    >>> found = cheapest_labels(D, np.array([[0, 1], [1, 2]]))
    >>> found.labels.tolist(), found.cost, found.lower
    ([1, 0, 1], 1.0, 1.0)
    """
    from clusterkit.numerics.linked.apart_jit import BUDGET_OVER, IMPOSSIBLE, OPTIMAL, cheapest_apart

    if not len(apart):
        labels: Labels = np.argmin(D, axis=1) if len(D) else np.empty(0, np.int64)
        cost = float(D[np.arange(len(D)), labels].sum())
        where = int(np.argmax(D.min(axis=1))) if len(D) else -1
        return LinkedLabels(labels, cost, cost, OPTIMAL if np.isfinite(cost) else IMPOSSIBLE, where)
    table, pairs = np.ascontiguousarray(D, dtype=np.float64), np.ascontiguousarray(apart, dtype=np.int64)
    labels, lower, state, where = cheapest_apart(table, pairs, budget)
    if state in (IMPOSSIBLE, BUDGET_OVER):
        return LinkedLabels(labels, np.inf, float(lower), int(state), int(where))
    cost = float(D[np.arange(len(D)), labels].sum())
    return LinkedLabels(labels, cost, cost if state == OPTIMAL else float(lower), int(state), int(where))


@final
@attrs.frozen(eq=False)
class SizedProblem:
    """Items, groups of rows or single rows, with a weight and a cost of each label.

    Parameters
    ----------
    D : ndarray of shape (m, k)
        Cost of each label for each group, inf for none.
    group_weights : ndarray of shape (m,)
    apart : ndarray of shape (c, 2)
        Pairs of groups with different labels.
    C : ndarray of shape (r, k)
        Cost of each label for a unit of weight of each single row.
    weights : ndarray of shape (r,) or None
        Weights of the single rows; None: all 1.
    low, high : ndarray of shape (k,)
        Bounds of the weight of each cluster.
    """

    D: Array
    group_weights: Array
    apart: Indices
    C: Array
    weights: Array | None
    low: Sizes
    high: Sizes

    @property
    def total(self) -> float:
        """The weight of all items."""
        rows = float(len(self.C)) if self.weights is None else float(self.weights.sum())
        return float(self.group_weights.sum()) + rows

    def cost(self, of_groups: Labels, of_rows: Labels) -> float:
        """Total cost of labels."""
        rows = self.C[np.arange(len(self.C)), of_rows].astype(np.float64)
        groups = float(self.D[np.arange(len(self.D)), of_groups].sum())
        return groups + float(rows.sum() if self.weights is None else (rows * self.weights).sum())

    def allows(self, of_groups: Labels, of_rows: Labels) -> bool:
        """Whether the weights of all clusters are within their bounds."""
        k = len(self.low)
        sizes: Any = np.bincount(of_groups, weights=self.group_weights, minlength=k)
        sizes = sizes + np.bincount(of_rows, weights=self.weights, minlength=k)
        rounding = 1e-9 * self.total
        return bool((sizes >= self.low - rounding).all() and (sizes <= self.high + rounding).all())

    def dearest(self, prices: Array) -> float:
        """The most that these prices take from allowed sizes: the dearest labels are filled up first."""
        takes, left = float(prices @ self.low), self.total - float(self.low.sum())
        for j in np.argsort(-prices, kind="stable"):
            more = min(left, float(self.high[j] - self.low[j]))
            takes, left = takes + more * float(prices[j]), left - more
        return takes


@final
@attrs.frozen(eq=False)
class SizedLabels:
    """Labels of groups and rows, their cost, a lower bound of the least one, and prices of the clusters."""

    of_groups: Labels
    of_rows: Labels
    cost: float
    lower: float
    prices: Array


def cheapest_sized(problem: SizedProblem, *, exact_cells: int = EXACT_CELLS) -> SizedLabels | None:
    """Labels of nearly least cost, or of least cost where ``cost == lower`` up to rounding; None if none are found.

    Parameters
    ----------
    problem : SizedProblem
    exact_cells : int
        Most items times clusters for which HiGHS may be asked.
    """
    free = np.zeros(problem.D.shape[1])
    groups = cheapest_labels(problem.D, problem.apart, BUDGET / (ROUNDS + 1))
    least, unpriced = _least_priced(problem, free)
    if np.isfinite(groups.cost) and problem.allows(groups.labels, unpriced):
        return SizedLabels(groups.labels, unpriced, groups.cost + least, groups.lower + least, free)
    prices = _relaxed_prices(problem, unpriced)
    best: SizedLabels | None = None
    lower = -np.inf
    for _ in range(ROUNDS if prices is not None else 0):
        assert prices is not None
        priced = cheapest_labels(
            problem.D + problem.group_weights[:, None] * prices, problem.apart, BUDGET / (ROUNDS + 1)
        )
        least, of_rows = _least_priced(problem, prices)
        lower = max(lower, priced.lower + least - problem.dearest(prices))
        if not np.isfinite(priced.cost):
            break
        labelled = _fill(problem, priced.labels.astype(np.int64), of_rows, unpriced, prices)
        if labelled is None:
            break
        of_groups, of_rows, following = labelled
        cost = problem.cost(of_groups, of_rows)
        if best is None or cost < best.cost:
            best = SizedLabels(of_groups, of_rows, cost, lower, following)
        if best.cost - lower <= ROUNDING * (1.0 + abs(best.cost)) or np.allclose(following, prices):
            break
        prices = following
    if best is not None:
        best = attrs.evolve(best, lower=min(lower, best.cost))
        if best.cost - best.lower <= ROUNDING * (1.0 + abs(best.cost)):
            return best
    if (len(problem.D) + len(problem.C)) * problem.D.shape[1] <= exact_cells:
        return _by_highs(problem, best)
    return best


def _relaxed_prices(problem: SizedProblem, unpriced: Labels) -> Array | None:
    """Prices of the relaxation in which items may be divided; None if it has no solution.

    `unpriced` are the cheapest labels of the single rows.
    """
    from clusterkit.numerics.transport import cheapest_allowed

    units = problem.group_weights
    with np.errstate(invalid="ignore", divide="ignore"):
        of_groups = np.where(units[:, None] > 0, problem.D / units[:, None], problem.D).astype(problem.C.dtype)
    if problem.weights is None and not (units % 1).any():
        number = units.astype(np.int64)
        table, share = np.concatenate([np.repeat(of_groups, number, axis=0), problem.C]), 1.0
        start = np.concatenate([np.repeat(np.argmin(of_groups, axis=1), number), unpriced])
    else:
        weights = np.ones(len(problem.C)) if problem.weights is None else problem.weights
        upto = np.cumsum(np.concatenate([units, weights]))
        count = DRAWN * len(upto)
        drawn = np.searchsorted(upto, (np.arange(count) + 0.5) * upto[-1] / count, side="right")
        table, share = np.concatenate([of_groups, problem.C])[drawn], count / upto[-1]
        start = np.argmin(table, axis=1)
    low, high = np.floor(problem.low * share + 1e-9), np.ceil(problem.high * share - 1e-9)
    low, high = low.astype(np.int64), np.minimum(high, len(table)).astype(np.int64)
    if low.sum() > len(table) or high.sum() < len(table) or not np.isfinite(table).any(axis=1).all():
        return None
    solved = cheapest_allowed(table, start, low, high)
    return None if solved is None else solved[1].astype(np.float64)


def _least_priced(problem: SizedProblem, prices: Array) -> tuple[float, Labels]:
    """Cost of the cheapest priced labels of the single rows, and these labels."""
    from clusterkit.numerics.linked.sizes_jit import least_priced

    labels = np.empty(len(problem.C), np.int64)
    weights = np.empty(0) if problem.weights is None else problem.weights
    return float(least_priced(problem.C, prices, weights, labels)), labels


def _fill(
    problem: SizedProblem, of_groups: Labels, of_rows: Labels, unpriced: Labels, prices: Array
) -> tuple[Labels, Labels, Array] | None:
    """Labels of groups and rows with allowed sizes, and the prices of the rows; None if there is no room.

    `unpriced` are the cheapest labels of the rows.
    """
    from clusterkit.numerics.linked.apart_jit import neighbours_of
    from clusterkit.numerics.linked.sizes_jit import improve, make_room, move_into_bounds
    from clusterkit.numerics.transport import cheapest_allowed

    C, k, m = problem.C, problem.D.shape[1], len(problem.D)
    low, high = problem.low.astype(np.float64), problem.high.astype(np.float64)
    free = problem.total - float(problem.group_weights.sum())
    if m:
        starts, near = neighbours_of(np.ascontiguousarray(problem.apart, dtype=np.int64), m)
        table = np.ascontiguousarray(problem.D + problem.group_weights[:, None] * prices)
        if not make_room(table, problem.group_weights, starts, near, of_groups, low, high, free):
            return None
    taken = np.bincount(of_groups, weights=problem.group_weights, minlength=k)
    if problem.weights is None:
        at_least = np.maximum(np.ceil(low - taken - 1e-9), 0.0).astype(np.int64)
        at_most = np.floor(high - taken + 1e-9).astype(np.int64)
        if not len(C):
            return of_groups, np.empty(0, np.int64), prices
        solved = cheapest_allowed(C, unpriced, at_least, np.minimum(at_most, len(C)), prices)
        return None if solved is None else (of_groups, solved[0].astype(np.int64), solved[1])
    sizes: Any = taken + np.bincount(of_rows, weights=problem.weights, minlength=k)
    costs = C.astype(np.float64)
    if not move_into_bounds(costs, problem.weights, of_rows, sizes, low, high):
        return None
    improve(costs, problem.weights, of_rows, sizes, low, high, 5)
    return of_groups, of_rows, prices


def _by_highs(problem: SizedProblem, known: SizedLabels | None) -> SizedLabels | None:
    """The labels that HiGHS finds, or those that are known where it finds none cheaper, with the better bound."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    m, r, k = len(problem.D), len(problem.C), problem.D.shape[1]
    weights = np.ones(r) if problem.weights is None else problem.weights
    items, of_items = m + r, np.concatenate([problem.group_weights, weights])
    costs = np.concatenate([problem.D, problem.C.astype(np.float64) * weights[:, None]])
    costs[np.isnan(costs)] = np.inf
    allowed = np.isfinite(costs)
    cells = np.arange(items * k).reshape(items, k)
    one = coo_array((np.ones(items * k), (np.repeat(np.arange(items), k), cells.ravel())), shape=(items, items * k))
    size = coo_array((np.repeat(of_items, k), (np.tile(np.arange(k), items), cells.ravel())), shape=(k, items * k))
    rules = [LinearConstraint(one.tocsr(), 1, 1), LinearConstraint(size.tocsr(), problem.low, problem.high)]
    if len(problem.apart):
        pairs = len(problem.apart) * k
        which = np.concatenate([cells[problem.apart[:, 0]].ravel(), cells[problem.apart[:, 1]].ravel()])
        both = coo_array((np.ones(2 * pairs), (np.tile(np.arange(pairs), 2), which)), shape=(pairs, items * k))
        rules.append(LinearConstraint(both.tocsr(), -np.inf, 1))
    solution: Any = milp(
        np.where(allowed, costs, 0.0).ravel(),
        integrality=np.ones(items * k),
        bounds=Bounds(0, allowed.ravel().astype(float)),
        constraints=rules,
        options={"node_limit": EXACT_NODES, "mip_rel_gap": 0.0},
    )
    if solution.x is None:
        return known
    labels = np.argmax(solution.x.reshape(items, k), axis=1).astype(np.int64)
    cost = problem.cost(labels[:m], labels[m:])
    bound = solution.mip_dual_bound
    lower = cost if solution.status == 0 or bound is None else float(bound)
    prices = np.zeros(k) if known is None else known.prices
    if known is None:
        return SizedLabels(labels[:m], labels[m:], cost, min(lower, cost), prices)
    lower = max(lower, known.lower)
    best = known if known.cost <= cost else SizedLabels(labels[:m], labels[m:], cost, lower, prices)
    return attrs.evolve(best, lower=min(lower, best.cost))
