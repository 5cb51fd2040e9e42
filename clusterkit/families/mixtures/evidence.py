r"""The integrated completed likelihood of labels of a mixed table, with a role for each column.

``ICL = ln p(z) + N(z, R) + Σ_j C_j``; all parameters are integrated out with conjugate priors (Biernacki, Celeux,
Govaert 2010, Exact and Monte Carlo calculations of integrated likelihoods for the latent class model, Journal of
Statistical Planning and Inference 140(11)), so that it needs no penalty, and judges starts, structures, roles and the
number of clusters alike.

- ``ln p(z)``: shares of the clusters with a Dirichlet prior of 1/2 each.
- A category j that is irrelevant or a covariate counts ``C_j = DM(all rows)``, a cluster-dependent one
  ``C_j = Σ_c DM(rows of cluster c)``; DM is the Dirichlet-multinomial with 1/2 a level, and gaps count nowhere. Ordered
  levels and counts have evidence of their own in clusters (`clusterkit.families.mixtures.levels`).
- The numbers R that depend on the cluster: ``N = Σ_c ln m_c(X_R) + ln m_0(X) - ln m_0(X_R)``. The others are explained
  by a regression on those, the same in all clusters (Raftery, Dean 2006, Variable selection for model-based
  clustering, Journal of the American Statistical Association 101; Maugis, Celeux, Martin-Magniette 2009, Biometrics
  65), so that correlated noise and copies are no reason for a cluster. m is the evidence of a Gaussian with a normal
  and inverse Wishart prior: "diag" a variance for each column and cluster, "tied" one covariance within clusters,
  "full" one for each cluster.
- A covariate shifts the numbers alike in every cluster: ``X - W B`` takes the place of X in m_c, with coefficients
  ``B = (W'W + I)^-1 W'X`` within clusters, and ``-1/2 ln|W'W + I|`` is added for each relevant number.

`numbers_evidence` also gives the gain of changing the role of each number: ``|S_R\\j| = |S_R| (S_R^-1)_jj``, and the
Schur complement for a column that is added; O(k p³) for all of them.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import Array, Indices, Mask
from clusterkit.families.mixtures.levels import multinomial_evidence
from clusterkit.families.mixtures.mixed_table import MixedTable, PartitionSums

Structure: TypeAlias = Literal["diag", "tied", "full"]
"""Form of the covariances of the numbers."""

Roles: TypeAlias = tuple[Mask, NDArray[np.int8]]
"""Which numbers depend on the cluster, (p,), and the role of each category, (q,)."""

IRRELEVANT, DEPENDENT, COVARIATE = 0, 1, 2
"""Roles of categories."""

MEAN_WEIGHT = 0.01
"""Rows that the prior of a mean counts for (Fraley, Raftery 2007, Journal of Classification 24(2), section 3)."""

CLUSTER_SCALE = 0.5
"""Prior variance of standardised numbers inside one of several clusters; those of all rows have 1. It may not depend
on the number of relevant columns, or gains of roles would not be exact."""

SWEEPS = 4
"""Largest number of rounds over the roles of all columns with fixed labels."""


def number_scale(k: int) -> float:
    """Prior variance of the numbers in a cluster, one of k."""
    return 1.0 if k == 1 else CLUSTER_SCALE


def normal_evidence(m: Array, mean: Array, squares: Array, scale: float) -> Array:
    """Logarithm of the evidence of m numbers with a normal and inverse gamma prior of 3 degrees of freedom.

    Parameters
    ----------
    m, mean, squares : ndarray
        Number, mean, and sum of squared differences from the mean.
    scale : float
        Prior sum of squares.
    """
    from scipy.special import gammaln

    total = scale + squares + MEAN_WEIGHT * m / (MEAN_WEIGHT + m) * mean**2
    return np.asarray(
        -0.5 * m * math.log(math.pi)
        + gammaln((3.0 + m) / 2.0)
        - math.lgamma(1.5)
        + 1.5 * math.log(scale)
        - 0.5 * (3.0 + m) * np.log(total)
        + 0.5 * np.log(MEAN_WEIGHT / (MEAN_WEIGHT + m))
    )


@lru_cache(maxsize=100_000)
def _wishart_constant(m: float, p: int, scale: float) -> float:
    """Logarithm of the evidence of m rows of p numbers, without the terms of the determinant and of the mean."""
    nu = p + 2.0
    gammas = sum(math.lgamma((nu + m - i) / 2.0) - math.lgamma((nu - i) / 2.0) for i in range(p))
    return -0.5 * m * p * math.log(math.pi) + gammas + 0.5 * nu * p * math.log(scale)


def shift_by_covariates(within: Array, p: int, columns: Indices) -> tuple[Array, Array, float]:
    """Coefficients of the covariates within clusters, the products they explain, and ``-1/2 ln|W'W + I|``.

    Parameters
    ----------
    within : ndarray of shape (p + w, p + w)
        `products_within` of columns of the design.
    p : int
        Number of numbers.
    columns : ndarray of shape (c,)
        Columns of the design that the covariates have.

    Returns
    -------
    B : ndarray of shape (c, p)
    explained : ndarray of shape (p, p)
    penalty : float
    """
    from scipy.linalg.lapack import dposv

    rows = within[columns]
    products = rows[:, :p]
    # LAPACK itself, once: with few columns the checks of solve and slogdet take as long as the solution
    factor, B, _ = dposv(rows[:, columns] + np.eye(len(columns)), products)
    return B, products.T @ B, -float(np.log(factor.diagonal()).sum())


def numbers_evidence(
    table: MixedTable,
    sums: PartitionSums,
    structure: Structure,
    relevant: Mask,
    covariates: Indices,
    *,
    with_gains: bool = True,
    prior: Array | None = None,
) -> tuple[float, Array]:
    """N(z, R), and how much it gains by changing the role of each number, (p,); no gains unless `with_gains`.

    `prior` (p, p) is the scale of the inverse Wishart priors; None is the identity, which regularises more where
    columns are correlated, and lets prior variance stand for what a near copy has of its own.
    """
    if not table.p:
        return 0.0, np.zeros(0)
    columns = table.columns_of(covariates)
    B, explained, penalty = None, None, 0.0
    if len(columns):
        B, explained, penalty = shift_by_covariates(sums.within(table), table.p, columns)
    if structure == "diag":
        return _diagonal_evidence(table, sums, relevant, columns, B, penalty)
    return _full_evidence(table, sums, structure, relevant, columns, B, explained, penalty, with_gains, prior)


def _diagonal_evidence(
    table: MixedTable, sums: PartitionSums, relevant: Mask, columns: Indices, B: Array | None, penalty: float
) -> tuple[float, Array]:
    """With a variance for each column and cluster; gaps are left out exactly."""
    members, observed = sums.members, table.observed
    A = table.Z if B is None else np.where(observed, table.X - table.design[:, columns] @ B, 0.0)
    m = members.T @ observed if table.has_gaps else np.repeat(sums.sizes[:, None], table.p, axis=1)
    mean = members.T @ A / np.maximum(m, 1e-9)
    squares = np.maximum(members.T @ np.square(A) - m * mean**2, 0.0) + m * table.grid
    dependent = normal_evidence(m, mean, squares, number_scale(sums.k)).sum(axis=0) + penalty
    alone = _alone(table)
    total = float(np.where(relevant, dependent, alone).sum())
    return total, np.where(relevant, alone - dependent, dependent - alone)


def _alone(table: MixedTable) -> Array:
    """Evidence of each number by itself, in one cluster, (p,)."""
    if "alone" not in table._memo:
        m = table.observed.sum(axis=0).astype(float)
        mean = table.Z.sum(axis=0) / np.maximum(m, 1e-9)
        squares = np.maximum(np.square(table.Z).sum(axis=0) - m * mean**2, 0.0) + m * table.grid
        table._memo["alone"] = normal_evidence(m, mean, squares, 1.0)
    return table._memo["alone"]


def _full_evidence(
    table: MixedTable,
    sums: PartitionSums,
    structure: Structure,
    relevant: Mask,
    columns: Indices,
    B: Array | None,
    explained: Array | None,
    penalty: float,
    with_gains: bool,
    prior: Array | None,
) -> tuple[float, Array]:
    """With covariances: one within clusters, or one for each of them."""
    n, p, sizes = table.n, table.p, sums.sizes
    used = sizes > 0
    first = sums.sums[:, :p]
    G = table.gram[:p, :p]
    mean = first.sum(axis=0) / n
    grid = np.diag(table.grid)
    pooled = G - n * np.outer(mean, mean) + n * grid
    shifted = first if B is None else first - sums.sums[:, columns] @ B
    weights = MEAN_WEIGHT * sizes / (MEAN_WEIGHT + sizes)
    means = shifted / np.maximum(sizes, 1e-9)[:, None]
    scatters: Array
    if structure == "tied":
        within = sums.within(table)[:p, :p] + n * grid
        if explained is not None:
            within = within - explained
        scatters = (within + (means * weights[:, None]).T @ means)[None]
        rows = [float(n)]
    else:
        weighted = means * np.sqrt(weights)[:, None]
        scatters = sums.scatters(table, B, columns) + sizes[:, None, None] * grid
        scatters = (scatters + weighted[:, :, None] * weighted[:, None, :])[used]
        rows = [float(m) for m in sizes[used]]
    scale = number_scale(sums.k)
    inside, outside = np.flatnonzero(relevant), np.flatnonzero(~relevant)
    r = len(inside)
    S = np.eye(p) if prior is None else prior
    stacked = np.concatenate([scatters + scale * S, (pooled + S)[None], *([] if prior is None else [prior[None]])])
    logs, changes = _determinants(stacked, inside, outside, with_gains)
    whole, of_prior = table.log_determinant, 0.0
    if prior is not None:
        whole, of_prior = (float(value) for value in np.linalg.slogdet(stacked[-2:])[1])
    in_mean = 0.5 * math.log(MEAN_WEIGHT / (MEAN_WEIGHT + n))
    alone = _wishart_constant(float(n), p, 1.0) + p * in_mean - 0.5 * (p + 2 + n) * whole + 0.5 * (p + 2) * of_prior
    b = len(rows)
    in_means = 0.5 * float(np.log(MEAN_WEIGHT / (MEAN_WEIGHT + sizes[used])).sum())

    def value(size: int, logs: Array) -> Array:
        """Evidence with `size` relevant numbers, from logarithms of determinants: clusters, all rows, prior."""
        if size == 0:
            return np.full(logs.shape[1:], alone)
        constants = sum(_wishart_constant(m, size, scale) for m in rows) - _wishart_constant(float(n), size, 1.0)
        halves = 0.5 * (size + 2 + np.array(rows))
        of_clusters = halves @ logs[:b]
        if prior is not None:
            of_clusters = of_clusters - 0.5 * (size + 2) * (b - 1) * logs[-1]
        return np.asarray(
            alone + constants + size * (in_means + penalty - in_mean) - of_clusters + 0.5 * (size + 2 + n) * logs[b]
        )

    total = float(value(r, logs))
    if not with_gains:
        return total, np.zeros(0)
    gains = np.empty(p)
    if r:
        gains[inside] = value(r - 1, logs[:, None] + changes[:, inside]) - total
    if len(outside):
        gains[outside] = value(r + 1, logs[:, None] + changes[:, outside]) - total
    return total, gains


def _determinants(stacked: Array, inside: Indices, outside: Indices, with_changes: bool) -> tuple[Array, Array]:
    """``ln|S_R|`` of matrices (b, p, p), (b,), and how it changes by leaving out or adding each column, (b, p)."""
    b, p = stacked.shape[:2]
    changes = np.zeros((b, p))
    diagonals = np.diagonal(stacked, axis1=1, axis2=2)
    if not len(inside):
        changes[:] = np.log(diagonals)
        return np.zeros(b), changes
    block = stacked[:, inside[:, None], inside]
    logs = np.linalg.slogdet(block)[1]
    if not with_changes:
        return logs, changes
    inverse = np.linalg.inv(block)
    tiny = np.finfo(float).tiny
    changes[:, inside] = np.log(np.maximum(np.diagonal(inverse, axis1=1, axis2=2), tiny))
    if len(outside):
        cross = stacked[:, outside[:, None], inside]
        rest = diagonals[:, outside] - ((cross @ inverse) * cross).sum(axis=2)
        changes[:, outside] = np.log(np.maximum(rest, tiny))
    return logs, changes


def labels_evidence(sizes: Array) -> float:
    """ln p(z) with a Dirichlet prior of 1/2 for each cluster; empty clusters count."""
    return float(multinomial_evidence(sizes))


def completed_likelihood(
    table: MixedTable, sums: PartitionSums, structure: Structure, relevant: Mask, categories: NDArray[np.int8]
) -> float:
    """The criterion of labels with roles."""
    alone, dependent = table.forms.evidence(sums.counts)
    numbers, _ = numbers_evidence(table, sums, structure, relevant, np.flatnonzero(categories == COVARIATE))
    return labels_evidence(sums.sizes) + numbers + float(np.where(categories == DEPENDENT, dependent, alone).sum())


def roles_of(
    table: MixedTable,
    sums: PartitionSums,
    structure: Structure,
    relevant: Mask,
    categories: NDArray[np.int8],
    *,
    sweeps: int = SWEEPS,
    covariates: bool = True,
    only_covariates: bool = False,
    excluded: Mask | None = None,
) -> tuple[Mask, NDArray[np.int8], float]:
    """Roles that the criterion prefers for fixed labels, found by changing those that gain, and its value.

    Parameters
    ----------
    table, sums, structure
        The labels and the structure, which stay.
    relevant, categories : ndarray
        The roles to begin with.
    sweeps : int
        Most rounds over all columns.
    covariates : bool, default True
        Whether categories may be covariates.
    only_covariates : bool, default False
        Whether numbers keep their roles, and categories depend on no cluster: with one cluster.
    excluded : ndarray of shape (q,), bool, or None
        Categories that stay irrelevant, because others say the same.
    """
    relevant, categories = relevant.copy(), categories.copy()
    alone, dependent = table.forms.evidence(sums.counts)
    best = alone if only_covariates else np.maximum(alone, dependent)
    plain = np.where(best > alone, DEPENDENT, IRRELEVANT).astype(np.int8)
    if excluded is not None:
        plain[excluded] = IRRELEVANT
    may_shift = [j for j in range(table.q) if covariates and table.shifting[j] is not None]
    if excluded is not None:
        may_shift = [j for j in may_shift if not excluded[j]]
    shifting = [j for j in may_shift if categories[j] == COVARIATE]

    def evidence(covariates: list[int], with_gains: bool) -> tuple[float, Array]:
        chosen = np.array(covariates, dtype=np.intp)
        return numbers_evidence(table, sums, structure, relevant, chosen, with_gains=with_gains)

    total = 0.0
    for _ in range(sweeps):
        before = relevant.copy(), list(shifting)
        total, gains = evidence(shifting, with_gains=True)
        if not only_covariates:
            gaining = np.flatnonzero(gains > 0)
            if structure != "diag":  # gains depend on each other: half of them are taken at a time
                gaining = gaining[np.argsort(-gains[gaining], kind="stable")][: max(1, len(gaining) // 2)]
            if len(gaining):
                relevant[gaining] = ~relevant[gaining]
                total, _ = evidence(shifting, with_gains=False)
        for j in may_shift:
            if not relevant.any():
                shifting = []
                break
            others = [i for i in shifting if i != j]
            if j in shifting:
                without, with_it = evidence(others, with_gains=False)[0], total
            else:
                without, with_it = total, evidence([*others, j], with_gains=False)[0]
            is_better = alone[j] + with_it > best[j] + without
            shifting = [*others, j] if is_better else others
            total = with_it if is_better else without
        if (relevant == before[0]).all() and shifting == before[1]:
            break
    categories = plain.copy()
    categories[shifting] = COVARIATE
    in_levels = np.where(categories == DEPENDENT, dependent, alone).sum()
    return relevant, categories, labels_evidence(sums.sizes) + total + float(in_levels)
