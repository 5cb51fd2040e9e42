"""The balancer `links`: cheapest labels in which rows that belong together have one label, rows that are apart two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Labels
from clusterkit.contracts import BalanceDecision, Balancer, Costs, Task
from clusterkit.contracts.links import LinkedGroups
from clusterkit.errors import Infeasible

__all__ = ["LinksBalancer", "check_end", "group_costs"]


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
        from clusterkit.numerics.linked.assignment import cheapest_labels

        links = task.links
        if links is None or not links.m:
            return BalanceDecision()
        D = group_costs(links, costs.table(), task.sample_weight)
        solved = cheapest_labels(D, links.apart)
        check_end("links", solved.state, solved.where, links, costs.k)
        labels: Labels = costs.labels.copy()
        labels[links.rows] = solved.labels[links.groups]
        finite = np.where(np.isfinite(D), D, 0.0)
        scale = float((finite.sum(axis=1) / np.isfinite(D).sum(axis=1) - D.min(axis=1)).sum())
        gap = max(0.0, solved.cost - solved.lower)
        return BalanceDecision(
            labels,
            exact=bool(np.array_equal(labels, costs.labels)),
            facts={"gap": gap / scale if scale > 0 else float(gap > 0)},
        )


def group_costs(links: LinkedGroups, costs: Array, weights: Array | None) -> Array:
    """Cost of each label for each group, (m, k): the sums over its rows, inf for labels that the seeds exclude.

    Which column belongs to which seed is what is cheapest for the rows with seeds: solvers number clusters as they
    like.
    """
    D = links.sums(costs, weights)
    sown = np.flatnonzero(links.seeds >= 0)
    if len(sown):
        from scipy.optimize import linear_sum_assignment

        finite = np.where(np.isfinite(D[sown]), D[sown], np.abs(D[np.isfinite(D)]).sum() + 1.0)
        which, columns = linear_sum_assignment(finite)
        least = D[sown[which], columns]
        D[sown] = np.inf
        D[sown[which], columns] = least
    return D


def check_end(name: str, state: int, where: int, links: LinkedGroups, k: int) -> None:
    """Raise `Infeasible` where a search has no labels."""
    from clusterkit.numerics.linked.apart_jit import BUDGET_OVER, IMPOSSIBLE

    if state not in (IMPOSSIBLE, BUDGET_OVER):
        return
    row = int(links.rows[np.argmax(links.groups == where)])
    if state == IMPOSSIBLE:
        raise Infeasible(
            f"balancer '{name}': no labels keep the links around row {row} with {k} clusters at a finite cost; take "
            "more clusters, or leave some of its links out"
        )
    raise Infeasible(
        f"balancer '{name}': the work budget is over, and no labels were found that keep the links around row {row} "
        f"with {k} clusters; whether there are any is not known. Take more clusters, or leave some of these links out"
    )
