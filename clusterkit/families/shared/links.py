"""The balancer `links`: cheapest labels in which rows that belong together have one label, rows that are apart two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Sizes
from clusterkit.contracts import BalanceDecision, Balancer, Costs, Task
from clusterkit.errors import Infeasible


@final
@attrs.frozen
class LinksBalancer(Balancer):
    """Keep links: labels of least total cost under must-links and cannot-links, of any sizes.

    `fit(X, links=...)` puts it in where no balancer is set. Rows that belong together are one group with the sum of
    their costs. Groups that are apart are labelled by branch and bound, each component of conflicts by itself: the
    optimum, unless the budget of 5e7 costs that are read is over. Then a local search has the last word, and `gap` in
    `resolved_` bounds the distance of its cost from the optimum, relative to the difference between random labels of
    the linked groups and their cheapest ones. The mathematics is in numerics/linked/apart_jit.py (`cheapest_apart`).
    All other rows keep their cheapest label. Without links the labels stay as they are. O(n k) and the search.

    Raises
    ------
    Infeasible
        If no labels keep all links, or none were found within the budget.

    References
    ----------
    Wagstaff, Cardie, Rogers, Schroedl (2001), Constrained k-means clustering with background knowledge, ICML: the
    constraints; their greedy assignment can miss labels that there are. Basu, Banerjee, Mooney (2002), Semi-supervised
    clustering by seeding, ICML: seeds.
    """

    name: ClassVar[str] = "links"
    synonyms: ClassVar[tuple[str, ...]] = ("must_link", "cannot_link", "constraints", "cop_kmeans")
    linked: ClassVar[bool] = True
    weighted: ClassVar[bool] = True

    def bounds(self, n: int, k: int) -> tuple[Counts, Counts]:
        """Any sizes."""
        return np.zeros(k, dtype=np.int64), np.full(k, n)

    def resolved(self, n: int, k: int) -> Mapping[str, object]:
        """Nothing: it has no parameters."""
        return {}

    def reads(self, k: int) -> str:
        """All costs, of which those of linked rows are added up."""
        return "all"

    def balance(self, costs: Costs, task: Task) -> BalanceDecision:
        """Cheapest labels that keep the links of the task."""
        links = task.links
        if links is None or not links.m:
            return BalanceDecision()
        labels, gap = links.cheapest("balancer 'links'", costs.table(), costs.labels, task.sample_weight)
        return BalanceDecision(labels, exact=bool(np.array_equal(labels, costs.labels)), facts={"gap": gap})


def sized_decision(name: str, costs: Costs, task: Task, low: Sizes, high: Sizes) -> BalanceDecision:
    """Cheapest labels with sizes, or weights, between bounds (k,) each, which keep the links of the task.

    Bounds are of the clusters by the numbers that the seeds fix.

    Raises
    ------
    Infeasible
        If there are no such labels, or none were found.
    """
    from clusterkit.numerics.linked.labels import SizedProblem, cheapest_sized
    from clusterkit.numerics.transport_jit import audit

    table, weights, links = costs.table(), task.sample_weight, task.links
    n, k = table.shape
    C = np.ascontiguousarray(table, dtype=table.dtype if table.dtype in (np.float32, np.float64) else np.float64)
    single = np.ones(n, dtype=bool)
    D: Array = np.empty((0, k))
    of_groups: Array = np.empty(0)
    apart: Indices = np.empty((0, 2), dtype=np.int64)
    if links is not None and links.m:
        D, numbers = links.columns(links.sums(C, weights))
        low, high, apart = np.asarray(low)[numbers], np.asarray(high)[numbers], links.apart
        of_linked: Array = np.ones(len(links.rows)) if weights is None else weights[links.rows]
        of_groups = 1.0 * np.bincount(links.groups, weights=of_linked, minlength=links.m)
        single[links.rows] = False
    of_rows = None if weights is None else weights[single]
    rest = C if single.all() else C[single]
    problem = SizedProblem(D, of_groups, apart, rest, of_rows, np.asarray(low), np.asarray(high))
    solved = cheapest_sized(problem)
    if solved is None:
        what = "sizes" if weights is None else "weights"
        keeping, largest = "", ""
        if links is not None and links.m:
            keeping = "that keep the links, "
            largest = f"; the largest group that belongs together has {of_groups.max():g}"
        raise Infeasible(
            f"balancer '{name}': no labels {keeping}with {what} between {np.asarray(low).tolist()} and "
            f"{np.asarray(high).tolist()} were found at a finite cost. Wider bounds leave more room: rows that belong "
            f"together, and rows with weights, cannot be divided{largest}"
        )
    labels = np.empty(n, dtype=np.intp)
    labels[single] = solved.of_rows
    if links is not None and links.m:
        labels[links.rows] = solved.of_groups[links.groups]
    gap = max(0.0, solved.cost - solved.lower)
    none = np.zeros(k, dtype=np.int64)
    _, scale, others = audit(C, labels, solved.prices, none, none, none)
    if weights is not None:
        scale *= float(weights.mean())
    facts: dict[str, object] = {"gap": gap / scale if scale > 0 else float(gap > 0)}
    facts |= {"tied_rows": int(others)} if others and links is None else {}
    return BalanceDecision(labels, solved.prices if solved.prices.any() else None, not others, facts)
