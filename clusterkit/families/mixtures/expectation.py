"""EM for mixtures of numbers and levels, by sums over the rows, and the posteriors of rows with gaps.

The M step maximises the posterior under the priors of `clusterkit.families.mixtures.evidence`, so that no component
collapses: shares and levels get 1/2 row each, a mean the weight of .01 rows at the mean of all, a variance a prior sum
of squares. "tied" needs the sums of each cluster alone, since the scatter within clusters is that of all rows less
that of the means; "full" needs the products of each cluster too. Covariates shift the numbers by ``W B``.

In the E step of a fit, structures with covariances see gaps filled once (`MixedTable.X`); `MixtureModel.posteriors`
integrates gaps out, exactly.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TypeAlias, final

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import Array, Indices, Mask
from clusterkit.families.mixtures.evidence import (
    COVARIATE,
    DEPENDENT,
    MEAN_WEIGHT,
    Structure,
    number_scale,
    shift_by_covariates,
)
from clusterkit.families.mixtures.levels import PRIOR_COUNT, LevelForms
from clusterkit.families.mixtures.mixed_table import MixedTable, products_within
from clusterkit.numerics.pair_products import PairProducts
from clusterkit.numerics.shapes import array

LOG_2PI = math.log(2.0 * math.pi)

VARIANCE_ROWS = 3.0
"""Rows that the prior of a variance counts for, without correlations."""

RIDGELINE = np.concatenate([[0.0], 1.0 / (1.0 + np.exp(np.linspace(12.0, -12.0, 121))), [1.0]])
"""Places on a ridgeline, between the centres of two clusters; dense at both, whose variances may be very different."""

BLOCK = 2**16
"""Rows of which `MixtureModel.posteriors` holds the densities at once."""


@final
@attrs.frozen(eq=False)
class MixtureModel:
    """A finite mixture of Gaussians and levels of each form, on the columns with a role.

    Parameters
    ----------
    shares : ndarray of shape (k,)
        Logarithms.
    numbers : ndarray of shape (r,), int
        The relevant numbers.
    means : ndarray of shape (k, r)
    spreads : ndarray of shape (k, r), (1, r, r) or (k, r, r)
        Variances; or covariances, tied or of each cluster.
    grid : ndarray of shape (r,)
        See `MixedTable`.
    places : ndarray of shape (q,), int
        Where the levels of each category begin in `tables`; -1 for those that do not depend on the cluster.
    tables : ndarray of shape (L, k)
        Logarithms of the probabilities of levels.
    shifts : ndarray of shape (L, r)
        What each level of the covariates adds to the numbers; 0 for other categories.
    covariates : ndarray of shape (c,), int
        The categories that are covariates.
    forms : LevelForms
        See `MixedTable`.
    """

    shares: Array = attrs.field(validator=array("k", finite=False))
    numbers: Indices = attrs.field(validator=array("r", least=0, distinct=True))
    means: Array = attrs.field(validator=array("k r"))
    spreads: Array = attrs.field(validator=array("k r", "1 r r", "k r r"))
    grid: Array = attrs.field(validator=array("r", least=0))
    places: Indices = attrs.field(validator=array("q", least=-1))
    tables: Array = attrs.field(validator=array("L k", finite=False))
    shifts: Array = attrs.field(validator=array("L r"))
    covariates: Indices = attrs.field(validator=array("c", below="q", distinct=True))
    forms: LevelForms

    def check_saved(self) -> None:
        """Raise ValueError unless the levels are those of the forms."""
        offsets = self.forms.offsets
        if len(self.tables) != offsets[-1] or len(self.places) != len(offsets) - 1:
            raise ValueError("MixtureModel: tables and places are not those of the forms")
        if ((self.places >= 0) & (self.places != offsets[:-1])).any():
            raise ValueError("MixtureModel: places are not where the levels of a category begin")

    @property
    def k(self) -> int:
        """Number of clusters."""
        return len(self.shares)

    def take(self, order: Indices | slice) -> MixtureModel:
        """The model of some of its clusters, or with these in another order; their shares stay as they are."""
        spreads = self.spreads if self.spreads.ndim == 3 and len(self.spreads) == 1 else self.spreads[order]
        tables = np.ascontiguousarray(self.tables[:, order])
        return attrs.evolve(self, shares=self.shares[order], means=self.means[order], spreads=spreads, tables=tables)

    def valley(self, i: int, j: int) -> float:
        """The least density between the centres of two clusters, as a share of the lower of the densities there.

        Where it is 1, the two have one mode and are one cluster that is no Gaussian: heavy tails around a core, or
        pieces of a curve. All modes of two Gaussians lie on their ridgeline (Ray, Lindsay 2005, The topography of
        multivariate normal mixtures, Annals of Statistics 33(5), equation 4), which Hennig (2010) joins clusters by. Of
        levels counts how far their probabilities overlap.
        """
        S, T = (self.spreads[0], self.spreads[0]) if len(self.spreads) == 1 < self.k else self.spreads[[i, j]]
        apart = self.means[j] - self.means[i]
        if S.ndim == 2:  # coordinates in which both covariances are diagonal, the first one the identity
            root = np.linalg.cholesky(S)
            variances, vectors = np.linalg.eigh(np.linalg.solve(root, np.linalg.solve(root, T).T))
            apart = vectors.T @ np.linalg.solve(root, apart)
        else:
            variances, apart = T / S, apart / np.sqrt(S)
        a = RIDGELINE[:, None]
        x = a * apart / ((1.0 - a) * variances + a)
        first = self.shares[i] - 0.5 * np.square(x).sum(axis=1)
        second = self.shares[j] - 0.5 * (np.square(x - apart) / variances + np.log(variances)).sum(axis=1)
        heights = np.logaddexp(first, second)
        of_levels = 1.0
        for place in np.flatnonzero(self.places >= 0).tolist():
            levels = self.tables[self.forms.slice_of(place)]
            of_levels *= np.exp(0.5 * (levels[:, i] + levels[:, j])).sum()
        return float(of_levels * np.exp(heights.min() - min(heights[0], heights[-1])))

    def posteriors(self, numbers: Array, codes: NDArray[np.int32]) -> tuple[Array, float]:
        """Probabilities of the clusters, (m, k), and the log-likelihood, for rows with gaps.

        Parameters
        ----------
        numbers : ndarray of shape (m, p)
            NaN in gaps.
        codes : ndarray of shape (m, q), int32
            -1 in gaps.
        """
        P, total = np.empty((len(numbers), self.k)), 0.0
        for start in range(0, len(numbers), BLOCK):
            part = slice(start, start + BLOCK)
            A = numbers[part][:, self.numbers] - self.shift(codes[part])
            P[part], likelihood = self.of_densities(self.densities(A), codes[part])
            total += likelihood
        return P, total

    def terms(self, numbers: Array, codes: NDArray[np.int32]) -> Array:
        """The logarithm of shares and likelihoods by number and category, (m, p + q + 1, k); 0 in gaps.

        The term of a number is the logarithm of its own density, whatever its correlations. The last term is what the
        numbers say together beyond that, and the share of the cluster.
        """
        p = numbers.shape[1]
        terms = np.zeros((len(numbers), p + codes.shape[1] + 1, self.k))
        A = numbers[:, self.numbers] - self.shift(codes)
        for j, number in enumerate(self.numbers.tolist()):
            terms[:, number] = self.densities(np.where(np.arange(A.shape[1]) == j, A, np.nan))
        terms[:, -1] = self.shares + self.densities(A) - terms.sum(axis=1)
        for j in np.flatnonzero(self.places >= 0).tolist():
            has = codes[:, j] >= 0
            terms[has, p + j] = self.tables[self.places[j] + codes[has, j]]
        return terms

    def of_densities(self, logs: Array, codes: NDArray[np.int32]) -> tuple[Array, float]:
        """Posteriors and log-likelihood from the densities of the numbers, (m, k), which are overwritten."""
        from clusterkit.families.mixtures.posteriors_jit import posteriors

        return logs, posteriors(logs, codes, self.places, self.tables, self.shares, np.empty_like(self.tables))

    def shift(self, codes: NDArray[np.int32]) -> Array:
        """What the covariates add to the numbers of rows, (m, r); gaps add nothing."""
        shift = np.zeros((len(codes), len(self.numbers)))
        for j in self.covariates:
            has = codes[:, j] >= 0
            shift[has] += self.shifts[self.forms.offsets[j] + codes[has, j]]
        return shift

    def densities(self, A: Array) -> Array:
        """Logarithms of the densities of numbers without shifts (m, r), NaN in gaps, in each cluster, (m, k)."""
        observed = np.isfinite(A)
        if self.spreads.ndim == 2:
            return self._diagonal(np.where(observed, A, 0.0), None if observed.all() else observed)
        if not A.shape[1]:
            return np.zeros((len(A), self.k))
        if observed.all():
            return self._with_covariances(A, np.arange(A.shape[1]))
        logs = np.zeros((len(A), self.k))
        patterns, which = np.unique(observed, axis=0, return_inverse=True)
        for pattern, mask in enumerate(patterns):
            rows = np.flatnonzero(which.ravel() == pattern)
            columns = np.flatnonzero(mask)
            if len(columns):
                logs[rows] = self._with_covariances(A[np.ix_(rows, columns)], columns)
        return logs

    def _diagonal(self, A: Array, observed: Mask | None) -> Array:
        inverse = 1.0 / self.spreads
        constants = np.square(self.means) * inverse + np.log(self.spreads) + LOG_2PI + self.grid * inverse
        logs = np.square(A) @ inverse.T - 2.0 * A @ (self.means * inverse).T
        logs += constants.sum(axis=1) if observed is None else observed @ constants.T
        logs *= -0.5
        return np.ascontiguousarray(logs)

    def _with_covariances(self, A: Array, columns: Indices) -> Array:
        """Densities of the observed columns alone: a marginal of a Gaussian is a Gaussian."""
        logs = np.empty((len(A), self.k))
        whitened: Array | None = None
        factor = np.empty(0)
        for c in range(self.k):
            tied = len(self.spreads) == 1
            if c == 0 or not tied:
                covariance = self.spreads[0 if tied else c][columns[:, None], columns]
                lower = np.linalg.cholesky(covariance)
                factor = np.linalg.inv(lower).T
                whitened = A @ factor
                constant = 2.0 * np.log(np.diag(lower)).sum() + len(columns) * LOG_2PI
                constant += float((np.square(factor).sum(axis=1) * self.grid[columns]).sum())
            gaps = whitened - self.means[c, columns] @ factor
            logs[:, c] = -0.5 * (np.einsum("ij,ij->i", gaps, gaps) + constant)
        return logs


def maximise(
    table: MixedTable,
    P: Array,
    structure: Structure,
    relevant: Mask,
    categories: NDArray[np.int8],
    counts: Array | None = None,
    before: MixtureModel | None = None,
) -> MixtureModel:
    """M step: the mixture of posteriors P (n, k).

    Parameters
    ----------
    before : MixtureModel, optional
        The model of the posteriors, with the same roles and form: the rows of each cluster then count by its
        covariances for the coefficients of covariates, so that no step lowers the likelihood.
    counts : ndarray of shape (L, k), optional
        Sums of the posteriors over the rows of each level, where they are known for the categories that count.
    """
    columns = _Columns.of(table, structure, relevant, categories)
    shares, tables, B, means, spreads = columns.maximised(P, counts, None if before is None else before.spreads)
    shifts = _shifts_of_levels(table, columns.covariates, B)
    return MixtureModel(
        shares, columns.r, means, spreads, table.grid[columns.r], columns.places, tables, shifts, columns.covariates,
        table.forms,
    )  # fmt: skip


_Parameters: TypeAlias = tuple[Array, Array, Array, Array, Array]
"""Logarithms of the shares and of the levels, coefficients of covariates (w, r), means, variances or covariances."""


@final
@attrs.frozen(eq=False)
class _Columns:
    """The columns that count by their roles, which all steps of EM have in common.

    A logarithm of a Gaussian density is linear in the numbers and their products in pairs, and so are the sums of an M
    step. A step of EM is therefore two products of matrices, whatever the number of clusters.

    Parameters
    ----------
    table : MixedTable
    structure : {"diag", "tied", "full"}
    r : ndarray of shape (r,), int
        The relevant numbers.
    places : ndarray of shape (q,), int
        See `MixtureModel`.
    covariates : ndarray of shape (c,), int
    J : ndarray of shape (n, r + w)
        The relevant numbers, and the design of the covariates.
    products : ndarray of shape (r + w, r + w)
        Of the columns of both.
    """

    table: MixedTable
    structure: Structure
    r: Indices
    places: Indices
    covariates: Indices
    J: Array
    products: Array
    # coefficients of covariates, and `_of_diagonal` of these: both halves of a step read it
    _memo: list[Array] = attrs.field(factory=list, repr=False)

    @classmethod
    def of(cls, table: MixedTable, structure: Structure, relevant: Mask, categories: NDArray[np.int8]) -> _Columns:
        """The columns with their roles."""
        r = np.flatnonzero(relevant)
        places = np.where(categories == DEPENDENT, table.offsets[:-1], -1).astype(np.intp)
        covariates = np.flatnonzero(categories == COVARIATE) if len(r) else np.empty(0, dtype=np.intp)
        both = np.concatenate([r, table.columns_of(covariates)])
        return cls(table, structure, r, places, covariates, table.design[:, both], table.gram[both[:, None], both])

    def maximised(self, P: Array, counts: Array | None, before: Array | None) -> _Parameters:
        """M step: the parameters of posteriors P, of which `before` are the variances or covariances."""
        table, k, width = self.table, P.shape[1], len(self.r)
        sizes = P.sum(axis=0)
        shares = np.log((sizes + PRIOR_COUNT) / (table.n + PRIOR_COUNT * k))
        tables = table.forms.log_probabilities(table.indicators.T @ P if counts is None else counts)
        B: Array = np.empty((0, width))
        both: Array = np.empty((k, 0))
        second: Array = self.products[None]
        if self.structure == "tied":
            both = P.T @ self.J
        elif self.structure == "full" or len(self.covariates):
            both, second = self._pairs.sums(P)
        first = both
        if len(self.covariates):
            if before is None or self.structure == "tied":
                within = products_within(self.products, sizes + MEAN_WEIGHT, both)
                B = shift_by_covariates(within, width, np.arange(width, len(within)))[0]
            else:
                B = _weighted_coefficients(both, second, sizes + MEAN_WEIGHT, before)
        if self.structure == "diag":
            sums = (P.T @ self._of_diagonal(B)).reshape(k, 3 if table.has_gaps else 2, width)
            of_numbers = sums[:, 2] if table.has_gaps else np.repeat(sizes[:, None], width, axis=1)
            first, second = sums[:, 0], sums[:, 1]
        else:
            first = both[:, :width] - both[:, width:] @ B
            of_numbers = first
            if len(B):
                C = np.vstack([np.eye(width), -B])
                second = C.T @ second @ C
        means, spreads = _moved(
            table.n, sizes, of_numbers, first, second, table.grid[self.r], B, is_tied=self.structure == "tied"
        )
        return shares, tables, B, means, spreads

    def densities(self, parameters: _Parameters) -> tuple[Array, float]:
        """Densities of the rows of the fit (n, k), with gaps left out by "diag", and filled for covariances.

        Each row lacks what it has in all clusters; the second value is the sum of that.
        """
        _, _, B, means, spreads = parameters
        grid, of_all = self.table.grid[self.r], 0.0
        if not len(self.r):
            return np.zeros((self.table.n, len(means))), of_all
        if self.structure == "diag":
            inverse = 1.0 / spreads
            constants = np.square(means) * inverse + np.log(spreads) + LOG_2PI + grid * inverse
            weights = [means * inverse, -0.5 * inverse]
            if self.table.has_gaps:
                weights.append(-0.5 * constants)
                constants = np.zeros_like(constants)
            return self._of_diagonal(B) @ np.hstack(weights).T - 0.5 * constants.sum(axis=1), of_all
        inverse = np.linalg.inv(spreads)
        linear = (inverse @ means[:, :, None])[:, :, 0]
        constants = (linear * means).sum(axis=1) + len(self.r) * LOG_2PI + np.linalg.slogdet(spreads)[1]
        constants = -0.5 * (constants + np.diagonal(inverse, axis1=1, axis2=2) @ grid)
        if len(B):
            C = np.hstack([np.eye(len(self.r)), -B.T])
            linear, inverse = linear @ C, C.T @ inverse @ C
        if self.structure == "tied":
            return self.J @ linear.T + constants, -0.5 * float((inverse[0] * self.products).sum())
        return self._pairs.values(inverse, linear, constants), of_all

    @cached_property
    def _pairs(self) -> PairProducts:
        return PairProducts(self.J)

    def _of_diagonal(self, B: Array) -> Array:
        """Numbers less what covariates add, their squares, and where there are gaps what is none, (n, 2 r or 3 r)."""
        if self._memo and (not len(B) or self._memo[0] is B):
            return self._memo[1]
        A = self.J
        if len(B):
            A = A[:, : len(self.r)] - A[:, len(self.r) :] @ B
        observed = list[Array]()
        if self.table.has_gaps:
            observed.append(self.table.observed[:, self.r].astype(float))
            A = A * observed[0]
        self._memo[:] = B, np.hstack([A, np.square(A), *observed])
        return self._memo[1]


def _weighted_coefficients(first: Array, second: Array, rows: Array, spreads: Array) -> Array:
    """Coefficients (w, r) of covariates in numbers, with the means of the clusters left free.

    For known variances (k, r) or covariances (k, r, r), and a prior variance of 1: ``Σ_c G_c B Λ_c + B = Σ_c N_c Λ_c``.
    `first` and `second` are sums of numbers and design, and of their products, in clusters of so many rows.
    """
    r = spreads.shape[1]
    within = second[:, r:] - first[:, r:, None] * first[:, None] / rows[:, None, None]
    G, N = within[:, :, r:], within[:, :, :r]
    c = G.shape[1]
    if spreads.ndim == 2:
        left = np.einsum("jab,jr->rab", G, 1.0 / spreads) + np.eye(c)
        right = np.einsum("jar,jr->ra", N, 1.0 / spreads)
        return np.asarray(np.linalg.solve(left, right[:, :, None])[:, :, 0].T)
    precisions = np.linalg.inv(spreads)
    products = np.einsum("jab,jrs->arbs", G, precisions).reshape(c * r, c * r) + np.eye(c * r)
    right = np.einsum("jas,jsr->ar", N, precisions).reshape(c * r)
    return np.asarray(np.linalg.solve(products, right).reshape(c, r))


def _shifts_of_levels(table: MixedTable, covariates: Indices, B: Array) -> Array:
    """What each level adds to the numbers, (L, r): its centred indicators times the coefficients."""
    shifts = np.zeros((int(table.offsets[-1]), B.shape[1]))
    at = 0
    for j in covariates:
        first, last = int(table.offsets[j]), int(table.offsets[j + 1])
        of_j = B[at : at + last - first - 1]
        counts = table.forms.counts[first:last]
        frequencies = counts[:-1] / max(1.0, float(counts.sum()))
        shifts[first : last - 1] = of_j
        shifts[first:last] -= frequencies @ of_j
        at += last - first - 1
    return shifts


def _moved(
    n: int, sizes: Array, observed: Array, first: Array, second: Array, grid: Array, B: Array, *, is_tied: bool
) -> tuple[Array, Array]:
    """Means, and variances or covariances, of sums of numbers and of their squares or products, as in `ModelSums`."""
    k, width = first.shape
    scale = number_scale(k)
    if second.ndim == 2:
        means = first / (observed + MEAN_WEIGHT)
        squares = second - np.square(means) * (observed + MEAN_WEIGHT) + observed * grid
        return means, (np.maximum(squares, 0.0) + scale) / (observed + VARIANCE_ROWS)
    rows = sizes + MEAN_WEIGHT
    means = first / rows[:, None]
    prior, of_grid = scale * np.eye(width), np.diag(grid)
    if is_tied:
        scatter = second[0] - first.T @ means + n * of_grid + B.T @ B
        return means, ((scatter + prior) / (n + width + 2.0 + k + len(B)))[None]
    scatters = second - first[:, :, None] * means[:, None] + sizes[:, None, None] * of_grid
    return means, (scatters + prior) / (sizes + width + 3.0)[:, None, None]


def _coefficients(model: MixtureModel) -> Array:
    """The coefficients of the covariates, (c, r), from what their levels add."""
    starts, ends = model.forms.offsets[model.covariates], model.forms.offsets[model.covariates + 1]
    parts = [model.shifts[i : j - 1] - model.shifts[j - 1] for i, j in zip(starts, ends, strict=True)]
    return np.vstack([np.empty((0, model.means.shape[1])), *parts])


def expectation_maximisation(
    table: MixedTable,
    P: Array,
    structure: Structure,
    relevant: Mask,
    categories: NDArray[np.int8],
    iterations: int,
    tol: float = 1e-5,
) -> Array:
    """Posteriors (n, k) after EM on the columns with a role, from posteriors P.

    It ends after `iterations`, or when the log-likelihood rises by less than `tol` of it.
    """
    from clusterkit.families.mixtures.posteriors_jit import posteriors

    columns = _Columns.of(table, structure, relevant, categories)
    before, counts, spreads = -math.inf, None, None
    for _ in range(iterations):
        parameters = columns.maximised(P, counts, spreads)
        shares, tables, _, _, spreads = parameters
        P, likelihood = columns.densities(parameters)
        counts = np.zeros_like(tables)
        likelihood += posteriors(P, table.codes, columns.places, tables, shares, counts)
        if likelihood - before < tol * abs(likelihood):
            break
        before = likelihood
    return P


@final
@attrs.frozen(eq=False)
class ModelSums:
    """What an EM iteration needs of rows that are read block by block; sums of blocks are added.

    Coefficients of covariates stay as they are, so that an iteration is a conditional maximisation, which lowers no
    likelihood either.

    Parameters
    ----------
    n : int
    likelihood : float
        Log-likelihood under the model of the sums.
    sizes : ndarray of shape (k,)
    counts : ndarray of shape (L, k)
        Posteriors of the rows of each level; 0 for categories that do not depend on the cluster.
    observed : ndarray of shape (k, r)
        Posteriors of the rows that have each number.
    first : ndarray of shape (k, r)
        Sums of the numbers less what covariates add.
    second : ndarray of shape (k, r), (1, r, r) or (k, r, r)
        Their squares, or products.
    """

    n: int
    likelihood: float
    sizes: Array
    counts: Array
    observed: Array
    first: Array
    second: Array

    @classmethod
    def of(cls, model: MixtureModel, numbers: Array, codes: NDArray[np.int32]) -> ModelSums:
        """The sums of a block of numbers (b, p), NaN in gaps, and codes (b, q), -1 in gaps."""
        from clusterkit.families.mixtures.posteriors_jit import posteriors

        A = numbers[:, model.numbers]
        if len(model.covariates):
            A = A - model.shift(codes)
        P = model.densities(A)
        counts = np.zeros((len(model.tables), model.k))
        likelihood = posteriors(P, codes, model.places, model.tables, model.shares, counts)
        has = np.isfinite(A)
        A = A if has.all() else np.where(has, A, 0.0)
        if model.spreads.ndim == 2:
            second = P.T @ np.square(A)
        elif len(model.spreads) == 1:
            second = (A.T @ A)[None]
        else:
            second = PairProducts(A).sums(P)[1]
        sizes = P.sum(axis=0)
        observed = np.repeat(sizes[:, None], A.shape[1], axis=1) if has.all() else P.T @ has
        return cls(len(P), likelihood, sizes, counts, observed, P.T @ A, second)

    def __add__(self, other: ModelSums) -> ModelSums:
        """The sums of both blocks."""
        parts = attrs.asdict(self, recurse=False)
        return ModelSums(**{name: value + getattr(other, name) for name, value in parts.items()})

    def maximised(self, model: MixtureModel) -> MixtureModel:
        """The M step: the model after the one of the sums."""
        k = len(self.first)
        shares = np.log((self.sizes + PRIOR_COUNT) / (self.n + PRIOR_COUNT * k))
        tables = model.forms.log_probabilities(self.counts)
        means, spreads = _moved(
            self.n, self.sizes, self.observed, self.first, self.second, model.grid, _coefficients(model),
            is_tied=len(model.spreads) == 1 and model.spreads.ndim == 3,
        )  # fmt: skip
        return attrs.evolve(model, shares=shares, tables=tables, means=means, spreads=spreads)
