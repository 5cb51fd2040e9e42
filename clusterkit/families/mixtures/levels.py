r"""What the levels of a category are in a cluster: free, ordered, or counts.

All three read the rows through the rows of each level alone, so that EM, sums of blocks and posteriors are the same for
them; they differ in the probabilities that they make of these sums, and in the evidence.

- *free*: any probabilities, with a Dirichlet prior. With two levels this is a Bernoulli part.
- *ordered*: a cumulative probit model (McCullagh 1980, Regression models for ordinal data, Journal of the Royal
  Statistical Society B 42(2)). A level is an interval of a hidden Gaussian, with thresholds at the quantiles of all
  rows; a cluster has a mean and a deviation on a grid. Over the grid the evidence is a sum, and the M step picks a
  point, so that neither needs an iteration.
- *count*: Poisson, with the conjugate Gamma(1/2) prior of the mean of all rows.

A category that does not depend on the clusters has free levels in any form: the rows of a count whose means differ for
reasons of its own are no reason for a cluster.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Self, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.numerics.shapes import array

PRIOR_COUNT = 0.5
"""Rows that the prior adds to each level and to each cluster: Jeffreys' prior of a multinomial, and of a rate."""

LOCATIONS = np.linspace(-3.0, 3.0, 25)
"""Means of the hidden Gaussian of a cluster. That of all rows has mean 0 and deviation 1, and is their prior."""

DEVIATIONS = 2.0 ** np.linspace(-2.0, 1.0, 7)
"""Its deviations: from a cluster of hardly more than one level to one at both ends."""

GUESSED = 0.01
"""Share of a cluster whose levels are alike, so that no level is impossible."""


def multinomial_evidence(counts: Array) -> Array:
    """Logarithm of the Dirichlet-multinomial evidence of counts (..., L), for a sequence of rows."""
    from scipy.special import gammaln

    L = counts.shape[-1]
    constant = math.lgamma(L * PRIOR_COUNT) - L * math.lgamma(PRIOR_COUNT)
    of_levels = gammaln(counts + PRIOR_COUNT).sum(axis=-1)
    return np.asarray(constant + of_levels - gammaln(counts.sum(axis=-1) + L * PRIOR_COUNT))


@final
@attrs.frozen(eq=False)
class LevelForms:
    """The forms of the categories of a table, and what they take from all of its rows.

    Parameters
    ----------
    offsets : ndarray of shape (q + 1,), int
        Places of the levels of each category among all levels.
    forms : tuple of str
        "free", "ordered" or "count" for each category. Counts have a level for each number from 0 on.
    counts : ndarray of shape (offsets[-1],)
        Rows of each level.
    """

    offsets: Indices = attrs.field(validator=array("q+1", divides="L", distinct=True))
    forms: tuple[str, ...] = attrs.field(validator=array("q"))
    counts: Array = attrs.field(validator=array("L", least=0))
    # logarithms of the probabilities at each point of the grid, (points, levels), of each ordered category
    _grids: dict[int, Array] = attrs.field(factory=dict, repr=False, init=False)

    def check_saved(self) -> None:
        """Raise ValueError unless the forms are some that there are."""
        if unknown := set(self.forms) - {"free", "ordered", "count"}:
            raise ValueError(f"LevelForms: there is no form {min(unknown)[:40]!r}")

    @classmethod
    def of(cls, levels: Indices, forms: Sequence[str], counts: Array) -> Self:
        """The forms of categories with so many levels; () are free ones."""
        offsets = np.concatenate([[0], np.cumsum(levels)]).astype(np.intp)
        return cls(offsets, tuple(forms) or ("free",) * len(levels), counts)

    @cached_property
    def levels(self) -> Indices:
        """Number of levels of each category, (q,)."""
        return np.diff(self.offsets)

    @property
    def special(self) -> list[int]:
        """The categories that are not free."""
        return [j for j, form in enumerate(self.forms) if form != "free"]

    def slice_of(self, j: int) -> slice:
        """Places of the levels of a category."""
        return slice(int(self.offsets[j]), int(self.offsets[j + 1]))

    def grid(self, j: int) -> Array:
        """Logarithms of the probabilities of the levels of an ordered category at each point of the grid."""
        if j not in self._grids:
            self._grids[j] = _probit_grid(self.counts[self.slice_of(j)])
        return self._grids[j]

    def rate(self, j: int) -> float:
        """The mean of a count over all rows."""
        counts = self.counts[self.slice_of(j)]
        return (float(counts @ np.arange(len(counts))) + PRIOR_COUNT) / (float(counts.sum()) + PRIOR_COUNT)

    def evidence(self, N: Array) -> tuple[Array, Array]:
        """ln evidence of each category, (q,) each: independent of clusters, and dependent on them.

        Parameters
        ----------
        N : ndarray of shape (k, offsets[-1])
            Rows of each level in each cluster.
        """
        from scipy.special import gammaln

        if len(self.offsets) < 2:
            return np.zeros(0), np.zeros(0)
        N = np.concatenate([self.counts[None], N])
        starts, prior = self.offsets[:-1], self.levels * PRIOR_COUNT
        of_levels = np.add.reduceat(gammaln(N + PRIOR_COUNT), starts, axis=1)
        in_all = np.add.reduceat(N, starts, axis=1)
        values = gammaln(prior) - self.levels * math.lgamma(PRIOR_COUNT) + of_levels - gammaln(in_all + prior)
        alone, dependent = values[0], values[1:].sum(axis=0)
        for j in self.special:
            of_j = N[:, self.slice_of(j)]
            if self.forms[j] == "count":
                rates = _poisson_evidence(of_j, self.rate(j))
                alone[j], dependent[j] = max(alone[j], rates[0]), rates[1:].sum()
            else:  # the thresholds are those of all rows, so that the gain over them is what clusters say
                logs = _log_mean_over_grid(of_j @ self.grid(j).T)
                dependent[j] = alone[j] + logs[1:].sum() - logs[0]
        return alone, dependent

    def log_probabilities(self, counts: Array) -> Array:
        """Logarithms of the probabilities of levels, (L, k), by the M step from sums of posteriors (L, k)."""
        if not len(counts):
            return np.empty(counts.shape)
        levels = self.levels
        in_all = np.add.reduceat(counts, self.offsets[:-1], axis=0) + PRIOR_COUNT * levels[:, None]
        tables = np.log((counts + PRIOR_COUNT) / np.repeat(in_all, levels, axis=0))
        for j in self.special:
            of_j = counts[self.slice_of(j)]
            if self.forms[j] == "count":
                x = np.arange(len(of_j))
                rates = (x @ of_j + PRIOR_COUNT) / (of_j.sum(axis=0) + PRIOR_COUNT / self.rate(j))
                tables[self.slice_of(j)] = x[:, None] * np.log(rates) - rates - _log_factorials(len(x))[:, None]
            else:
                grid = self.grid(j)
                tables[self.slice_of(j)] = grid[(grid @ of_j + _grid_prior()[:, None]).argmax(axis=0)].T
        return tables

    def coordinates(self, j: int) -> Array:
        """A number for each level of a category that is not free: its place in the hidden Gaussian, or a root."""
        from scipy.special import ndtri

        counts = self.counts[self.slice_of(j)]
        if self.forms[j] == "count":
            return np.sqrt(np.arange(len(counts)) + 0.375)
        shares = (counts + PRIOR_COUNT) / (counts + PRIOR_COUNT).sum()
        return np.asarray(ndtri(np.cumsum(shares) - 0.5 * shares))


def _probit_grid(counts: Array) -> Array:
    """ln ((1 - g) P(level | mean, deviation) + g / L) for all means and deviations, (points, L)."""
    from scipy.special import ndtr, ndtri

    shares = (counts + PRIOR_COUNT) / (counts + PRIOR_COUNT).sum()
    borders = ndtri(np.clip(np.cumsum(shares)[:-1], 0.0, 1.0))
    means, deviations = (values.ravel()[:, None] for values in np.meshgrid(LOCATIONS, DEVIATIONS))
    below = ndtr((borders - means) / deviations)
    whole = np.hstack([np.zeros((len(below), 1)), below, np.ones((len(below), 1))])
    return np.asarray(np.log((1.0 - GUESSED) * np.maximum(np.diff(whole, axis=1), 0.0) + GUESSED / len(counts)))


@lru_cache(maxsize=1)
def _grid_prior() -> Array:
    """Logarithms of the prior of the points of the grid."""
    weights = np.exp(-0.5 * np.square(np.meshgrid(LOCATIONS, DEVIATIONS)[0].ravel()))
    return np.asarray(np.log(weights / weights.sum()))


def _log_mean_over_grid(logs: Array) -> Array:
    """Logarithms of the likelihood (b, points), averaged over the prior of the grid, (b,)."""
    logs = logs + _grid_prior()
    most = logs.max(axis=1, keepdims=True)
    return np.asarray(most[:, 0] + np.log(np.exp(logs - most).sum(axis=1)))


def _log_factorials(count: int) -> Array:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, count)))])


def _poisson_evidence(N: Array, rate: float) -> Array:
    """Logarithm of the evidence of counts with rows N (b, L), with the prior Gamma(1/2) of mean `rate`."""
    from scipy.special import gammaln

    total, rows, b = N @ np.arange(N.shape[1]), N.sum(axis=1), PRIOR_COUNT / rate
    constant = PRIOR_COUNT * math.log(b) - math.lgamma(PRIOR_COUNT)
    of_sums = gammaln(total + PRIOR_COUNT) - (total + PRIOR_COUNT) * np.log(rows + b)
    return np.asarray(constant + of_sums - N @ _log_factorials(N.shape[1]))
