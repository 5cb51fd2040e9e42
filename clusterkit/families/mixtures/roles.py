"""The roles of columns in words: what a column says about the clusters, and how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Mask
from clusterkit.families.mixtures.evidence import (
    COVARIATE,
    DEPENDENT,
    numbers_evidence,
)
from clusterkit.families.mixtures.mixed_table import MixedTable, PartitionSums
from clusterkit.families.mixtures.search import MOST_COLUMNS, Solution, agreement

ROLES = ("cluster-dependent", "covariate", "redundant", "irrelevant")
"""Roles of columns, in the order in which that of a column follows from those of its parts."""

PRIOR_RIDGE = 1e-6
"""Variance added to the covariance of all rows in the prior of that, so that copies leave it regular."""

EXACT = 1e-5
"""Share of the variance of a number that the others leave unexplained, below which it is their exact function."""

STRONG = 3.0
"""Logarithm of the Bayes factor that a category needs to be called cluster-dependent: "strong" in Kass, Raftery (1995),
Bayes factors, Journal of the American Statistical Association 90. Without it one flag in twenty that says nothing of
two clusters would be; the search itself takes whatever the criterion prefers."""

SAME = 0.9
"""Adjusted Rand index of two categories from which the one that says less of the clusters is redundant."""


@final
@attrs.frozen(eq=False)
class PartRoles:
    """Roles of the parts of columns.

    Parameters
    ----------
    roles : tuple of str
        One of `ROLES` for each number and each category.
    gains : ndarray of shape (p + q,)
        How much the evidence of the part gains a row by the clusters, by itself; below 0 where they say nothing of it.
    """

    roles: tuple[str, ...]
    gains: Array

    def of_columns(self, names: Sequence[str], parts: Sequence[int]) -> dict[str, str]:
        """The role of each column; `parts` has the column of each part. Columns without parts are constant."""
        roles = dict.fromkeys(names, "left out")
        for part, column in enumerate(parts):
            name = names[column]
            of_parts = [self.roles[part], roles[name]] if roles[name] in ROLES else [self.roles[part]]
            roles[name] = min(of_parts, key=ROLES.index)
        return roles

    def gains_of_columns(self, names: Sequence[str], parts: Sequence[int]) -> dict[str, float]:
        """The gain of each column: the sum of those of its parts."""
        gains: dict[str, float] = {}
        for part, column in enumerate(parts):
            gains[names[column]] = gains.get(names[column], 0.0) + float(self.gains[part])
        return {name: round(gain, 6) for name, gain in gains.items()}


def roles_of_columns(table: MixedTable, solution: Solution) -> PartRoles:
    """Roles by the labels of a solution.

    A number that depends on the cluster by itself, but not given the relevant numbers, is redundant; and so is a
    category that says nearly what another one says.
    """
    sums = PartitionSums.of(table, solution.labels, solution.k)
    covariates = np.flatnonzero(solution.categories == COVARIATE)
    _, by_itself = numbers_evidence(table, sums, "diag", np.zeros(table.p, dtype=bool), covariates)
    alone, dependent = table.forms.evidence(sums.counts)
    relevant = solution.relevant
    if table.p >= 2 and table.p + table.q <= MOST_COLUMNS:
        relevant = _explained_left_out(table, sums, relevant, covariates)
    numbers = [
        "cluster-dependent" if relevant[j] else ("redundant" if by_itself[j] > 0 and solution.k > 1 else "irrelevant")
        for j in range(table.p)
    ]
    repeated = _repeated(table, solution, dependent - alone)
    words = {DEPENDENT: "cluster-dependent", COVARIATE: "covariate"}
    strong = (dependent - alone >= STRONG) | (solution.categories != DEPENDENT)
    categories = [
        words.get(int(role), "irrelevant") if is_strong else "irrelevant"
        for role, is_strong in zip(solution.categories, strong, strict=True)
    ]
    for j in np.flatnonzero(repeated & (solution.categories != COVARIATE)):
        categories[j] = "redundant"
    gains = np.concatenate([by_itself, dependent - alone]) / max(1, table.n)
    return PartRoles((*numbers, *categories), gains if solution.k > 1 else np.zeros(len(gains)))


def _explained_left_out(table: MixedTable, sums: PartitionSums, relevant: Mask, covariates: Indices) -> Mask:
    """The relevant numbers without those that the others explain, one after the other, the most explained first.

    The prior has the covariance of all rows: under one that is the same for all directions, a column and its near copy
    are both relevant, as the prior outweighs the little in which they differ.
    """
    relevant = relevant.copy()
    X = table.X - table.X.mean(axis=0)
    prior = X.T @ X / table.n + PRIOR_RIDGE * np.eye(table.p)
    while relevant.sum() > 1:  # exact copies, of which the evidence sees nothing but the ridge
        inside = np.flatnonzero(relevant)
        left = 1.0 / np.diag(np.linalg.inv(prior[np.ix_(inside, inside)])) / np.diag(prior)[inside]
        if not (left < EXACT).any():
            break
        relevant[inside[np.flatnonzero(left < EXACT)[-1]]] = False
    for _ in range(int(relevant.sum()) - 1):
        _, gains = numbers_evidence(table, sums, "tied", relevant, covariates, prior=prior)
        gains = np.where(relevant, gains, -np.inf)
        if not gains.max(initial=-np.inf) > 0:
            break
        relevant[int(gains.argmax())] = False
    return relevant


def _repeated(table: MixedTable, solution: Solution, gains: Array) -> Mask:
    """Categories that depend on the clusters, and say nearly what one that says more of the clusters says."""
    repeated = np.zeros(table.q, dtype=bool)
    dependent = [int(j) for j in np.flatnonzero(gains > 0)]
    dependent.sort(key=lambda j: (solution.categories[j] != DEPENDENT, -round(float(gains[j]), 6), j))
    for place, j in enumerate(dependent):
        for i in dependent[:place]:
            if not repeated[i]:
                both = agreement(table.codes[:, j], table.codes[:, i], int(table.levels[j]), int(table.levels[i]))
                repeated[j] |= both >= SAME
    return repeated
