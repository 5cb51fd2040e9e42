"""The balancer `band`: sizes that differ by at most a slack.

The slack l of the band ``|N_p - N_q| <= l`` is in rows or a fraction of n, raised to the least possible value.
`smallest` selects the r smallest values with a fixed rule for ties.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels, Sizes
from clusterkit.contracts import BalanceDecision, Balancer, Costs, Task, params
from clusterkit.contracts.balancer import Limit, limit_of
from clusterkit.contracts.params import LARGEST, as_float
from clusterkit.errors import Infeasible
from clusterkit.families.shared.links import sized_decision
from clusterkit.samples.array_libraries import array_namespace, class_counts
from clusterkit.samples.sums import Sums


def window(slack: float, task: Task, k: int) -> tuple[Sizes, Sizes]:
    """Lowest and highest size of each cluster in a window of width `slack` around the mean, or of weights.

    Weights cannot be divided: the window is twice as wide as the heaviest row at least.
    """
    if task.sample_weight is None:
        whole = int(rows_of(slack, task.n, k)[1])
        low = max(0, task.n // k - whole // 2)
        low += (low + whole) * k < task.n
        return np.full(k, low), np.full(k, min(task.n, low + whole))
    total, heaviest = float(task.sample_weight.sum()), float(task.sample_weight.max())
    width = float(slack) if isinstance(slack, numbers.Integral) else float(slack) * total
    half = max(width / 2.0, heaviest)
    return np.full(k, max(0.0, total / k - half)), np.full(k, total / k + half)


def slack_problem(value: Any) -> str | None:
    """Description of the valid values of a slack, for an error message; None if this value is valid."""
    valid = f"a fraction of n (float >= 0) or a number of rows (integer >= 0), and at most {LARGEST:g}"
    return None if 0 <= as_float(value) <= LARGEST else valid


def rows_of(slack: float, n: int, k: int) -> tuple[float, float]:
    """The slack in rows, as stated and as used: at least 1 unless the clusters can be exactly equal."""
    rows = float(slack) if isinstance(slack, numbers.Integral) else float(slack) * n
    # products such as 0.03 * 400 = 12.000000000000002 mean whole numbers
    rows = round(rows) if abs(rows - round(rows)) < 1e-9 else rows
    return rows, (rows if n % k == 0 else max(rows, 1.0))


def smallest(values: Array, r: int) -> Indices:
    """Indices of the r smallest values; of equal values those with the lowest indices. O(n), without sorting."""
    if r >= len(values):
        return np.arange(len(values))
    limit = np.partition(values, r - 1)[r - 1]
    below = np.flatnonzero(values < limit)
    level = np.flatnonzero(values == limit)[: r - len(below)]
    return np.concatenate([below, level])


@final
@attrs.frozen
class Band(Balancer):
    """Limit the difference of any two cluster sizes to a slack, ``|N_p - N_q| <= l``.

    While the largest cluster p exceeds the smallest cluster q by more than l, the samples of p that lose least by
    moving to q are moved, as few as necessary. For two clusters this is the exact optimum (the smallest scores change
    sign); for more it is the published pairwise repair. Feasible labels are not changed. O(n) for each round, usually
    fewer than k² rounds. The mathematics is in `balance`.

    With `sample_weight` sizes are weights, and with `links` rows that belong together stay together: then all sizes lie
    in a window of width l around their mean, and the labels are those of `transport` for these bounds. The window of
    weights is at least twice as wide as the heaviest row.

    Parameters
    ----------
    slack : float or int, default 0.03
        The paper's l: a float is a fraction of n, an integer counts rows. It is raised to 1 if equal sizes are
        impossible.
    priority : {"regret", "confidence"}, default "regret"
        Which samples of p move first: the samples with the smallest added cost, or (as printed for several outputs) the
        samples whose best score is smallest, whatever the cluster they move to.

    References
    ----------
    Zhang, Xia, Liu, Zhang (2013), Extreme maximum margin clustering, IEICE Trans., section 4.1, with its rounding and
    signs repaired.
    """

    name: ClassVar[str] = "band"
    synonyms: ClassVar[tuple[str, ...]] = ("balance_constraint", "class_balance")
    linked: ClassVar[bool] = True
    weighted: ClassVar[bool] = True
    slack: float = params.free(0.03, slack_problem, invalid=(-1, -0.1, float("nan"), "wide"))
    priority: str = params.choice("regret", ("regret", "confidence"))

    def bounds(self, n: int, k: int) -> tuple[Counts, Counts]:
        """Bounds that every size in the band obeys; for two clusters they are sufficient as well."""
        low, high = self._limits(n, k)
        return np.full(k, low), np.full(k, high)

    def resolved(self, n: int, k: int) -> Mapping[str, object]:
        """The slack in rows, if it had to be raised."""
        stated, used = rows_of(self.slack, n, k)
        return {"slack": int(used)} if used > stated else {}

    def reads(self, k: int) -> str:
        """Passes for two clusters only: more would take a pass for each repair."""
        return "passes" if k == 2 else f"repairs {k} clusters with all rows in memory only, two also by passes"

    def balance(self, costs: Costs, task: Task) -> BalanceDecision:
        """Labels with sizes in the band."""
        if task.links is not None or task.sample_weight is not None:
            return sized_decision(self.name, costs, task, *window(self.slack, task, costs.k))
        if not costs.in_memory:
            return self._two_by_passes(costs)
        n, k, table, labels = costs.n, costs.k, costs.table(), costs.labels
        slack = self._whole_slack(n, k)
        sizes = np.bincount(labels, minlength=k)
        if sizes.max() - sizes.min() <= slack:
            return BalanceDecision()
        labels = labels.copy()
        for _ in range(n + k):
            p, q = int(np.argmax(sizes)), int(np.argmin(sizes))
            gap = int(sizes[p] - sizes[q])
            if gap <= max(slack, 0):
                return BalanceDecision(labels, exact=False)
            r = -((slack - gap) // 2)  # ceil((gap - slack) / 2)
            members = np.flatnonzero(labels == p)
            labels[members[smallest(self._losses(table[members], p, q), r)]] = q
            sizes[p] -= r
            sizes[q] += r
        raise Infeasible(f"balancer 'band' did not reach sizes within {slack} of each other in {n} moves")

    def _two_by_passes(self, costs: Costs) -> BalanceDecision:
        """The labels of `balance` for two clusters, in passes: one for the sizes, usually two for the limit."""
        sizes = costs.reduce(CheapestSizes(costs.k)).arrays[0]
        p, q = int(np.argmax(sizes)), int(np.argmin(sizes))
        gap, slack = int(sizes[p] - sizes[q]), self._whole_slack(costs.n, costs.k)
        if gap <= max(slack, 0):
            return BalanceDecision()
        losses = _MemberLosses(self, p, q)
        limit = limit_of(costs.reduce, losses, -((slack - gap) // 2))
        return BalanceDecision(_Moved(losses, limit), exact=False)

    def _losses(self, costs: Array, p: int, q: int) -> Array:
        """Losses of the members of p when they move to q, (m,), from their costs (m, k); the smallest move first."""
        return costs[:, q] - costs[:, p] if self.priority == "regret" else -costs.min(axis=1)

    def _whole_slack(self, n: int, k: int) -> int:
        """The largest difference of two sizes."""
        _, slack = rows_of(self.slack, n, k)
        # differences of sizes are integers: comparing them with the floor is exact for fractional slacks
        whole = math.floor(slack + 1e-9)
        # |N0 - N1| has the parity of n, so the slack follows from the largest allowed size
        return 2 * ((n + whole) // 2) - n if k == 2 else whole

    def _limits(self, n: int, k: int) -> tuple[int, int]:
        _, slack = rows_of(self.slack, n, k)
        low = max(0, math.ceil((n - (k - 1) * slack) / k - 1e-9))
        high = min(n, math.floor((n + (k - 1) * slack) / k + 1e-9))
        return low, high


@final
@attrs.frozen(eq=False)
class _MemberLosses:
    """Losses and row numbers of the members of cluster p."""

    band: Band
    p: int
    q: int

    def __call__(self, rows: slice, costs: Array) -> tuple[Array, Indices]:
        members = np.flatnonzero(np.argmin(costs, axis=1) == self.p)
        return self.band._losses(costs[members], self.p, self.q), members + rows.start


@final
@attrs.frozen(eq=False)
class _Moved:
    """The cheapest labels, but q instead of p where the loss is within the limit."""

    losses: _MemberLosses
    limit: Limit

    def __call__(self, rows: slice, costs: Array) -> Labels:
        labels: Labels = np.argmin(costs, axis=1)
        values, members = self.losses(rows, costs)
        labels[members[self.limit.below(values, members)] - rows.start] = self.losses.q
        return labels


@final
@attrs.frozen(eq=False)
class CheapestSizes:
    """Part of a pass: how many rows have each label as their cheapest.

    Parameters
    ----------
    k : int
    """

    array_api: ClassVar[bool] = True

    k: int

    def __call__(self, rows: slice, costs: Array) -> Sums:
        """Sizes of a block, (k,)."""
        return Sums.of(class_counts(array_namespace(costs).argmin(costs, axis=1), self.k))
