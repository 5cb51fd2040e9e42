"""The balancer `ordinal`: balanced intervals of a single score, at least cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices
from clusterkit.balancers._slack import rows_of, slack_problem
from clusterkit.core import params
from clusterkit.core.coding import Coding
from clusterkit.core.stages import BalanceDecision, Balancer, Costs, Task

__all__ = ["Ordinal"]


@final
@attrs.frozen
class Ordinal(Balancer):
    """Choose thresholds on sorted scores of least total cost, with every cluster size in one window of width l.

    Choose it for codings with a single output, for which `band` moves samples between clusters that are not neighbours.
    The labels are the exact optimum for the window ``[lo, lo + l]`` centred on n / k, hence within the band
    ``|N_p - N_q| <= l``. A dynamic program over the clusters (`_cuts`), O(k n l) time, O(k n) memory.

    Parameters
    ----------
    slack : float or int, default 0.03
        The width l: a float is a fraction of n, an integer counts rows. It is raised to 1 if equal sizes are
        impossible.
    """

    name: ClassVar[str] = "ordinal"
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ORDINAL, Coding.SIGNED})
    slack: float = params.free(0.03, slack_problem, invalid=(-1, -0.1, float("nan"), "wide"))

    def bounds(self, n: int, k: int) -> tuple[Counts, Counts]:
        """The window, the same for every cluster."""
        low, high = self._window(n, k)
        return np.full(k, low), np.full(k, high)

    def resolved(self, n: int, k: int) -> Mapping[str, object]:
        """The slack in rows, if it had to be raised."""
        stated, used = rows_of(self.slack, n, k)
        return {"slack": int(used)} if used > stated else {}

    def reads(self, k: int) -> str:
        """All costs, which are sorted."""
        return "all"

    def balance(self, costs: Costs, task: Task) -> BalanceDecision:
        """Cheapest labels that are intervals of the scores with sizes in the window."""
        n, k, table, labels = costs.n, costs.k, costs.table(), costs.labels
        low, high = self._window(n, k)
        sizes = np.bincount(labels, minlength=k)
        if sizes.min() >= low and sizes.max() <= high:
            return BalanceDecision()
        # the difference of the outer costs grows with the score, whatever the coding
        order = np.argsort(table[:, 0] - table[:, -1], kind="stable")
        prefix = np.zeros((k, n + 1))
        np.cumsum(table[order].T, axis=1, out=prefix[:, 1:])
        ends = _cuts(prefix, low, high)
        balanced = np.empty(n, dtype=labels.dtype)
        balanced[order] = np.repeat(np.arange(k), np.diff(ends))
        return BalanceDecision(balanced, exact=bool(np.array_equal(balanced, labels)))

    def _window(self, n: int, k: int) -> tuple[int, int]:
        slack = int(rows_of(self.slack, n, k)[1])
        low = max(0, n // k - slack // 2)
        if (low + slack) * k < n:
            low += 1
        return low, min(n, low + slack)


def _cuts(prefix: Array, low: int, high: int) -> Indices:
    """Ends of the k intervals of least total cost, (k + 1,), from prefix sums of the costs (k, n + 1)."""
    k, n = prefix.shape[0], prefix.shape[1] - 1
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    chosen = np.zeros((k, n + 1), dtype=np.intp)
    for j in range(k):
        # candidate starts of interval j that ends at i: i - high … i - low
        padded = np.concatenate([np.full(high, np.inf), best - prefix[j]])
        windows = np.lib.stride_tricks.sliding_window_view(padded, high - low + 1)[: n + 1]
        pick = np.argmin(windows, axis=1)
        chosen[j] = np.arange(n + 1) - high + pick
        best = prefix[j] + windows[np.arange(n + 1), pick]
    ends = np.empty(k + 1, dtype=np.intp)
    ends[k] = n
    for j in reversed(range(k)):
        ends[j] = chosen[j, ends[j + 1]]
    return ends
