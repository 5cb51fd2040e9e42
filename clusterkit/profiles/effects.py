"""How far columns differ inside and outside of each cluster: means, ranks, and intervals by the bootstrap."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Mask, Rng
from clusterkit.profiles.measures import GroupedSample

COLUMNS = 256
"""Columns that are worked on at a time, so that the tables of a block stay in the cache."""

TAIL = 2.5
"""Percentage that the bootstrap interval leaves out on each side: it covers 95 %."""


@final
@attrs.frozen(eq=False)
class Effects:
    """Differences between the rows inside and outside of each cluster, by column. All arrays have the shape (g, p).

    Everything is of the cells that are there: nan where a side has none, and for what compares the sides where either
    has none.

    Parameters
    ----------
    inside, outside : ndarray
        Means; of an indicator the share of the rows.
    difference : ndarray
        Inside minus outside, in standard deviations of the column over all rows; 0 for a constant column.
    low, high : ndarray
        The 95 % percentile interval of `difference` by the bootstrap within the clusters (Efron, Tibshirani 1993,
        chapter 13).
    auc : ndarray
        Probability that a row inside has a larger value than a row outside, ties counted half: the statistic of Mann
        and Whitney (1947) divided by the number of pairs, exact on the rows that are used.
    contrast : ndarray
        Mean of these probabilities against each of the other clusters, which all count alike, whatever their size. One
        large cluster that is far away does not make a column typical for all the others.
    closeness : ndarray
        Like `contrast`, for being nearer to the median of the cluster than a row outside.
    """

    inside: Array
    outside: Array
    difference: Array
    low: Array
    high: Array
    auc: Array
    contrast: Array
    closeness: Array


def effects(values: Array, sample: GroupedSample, n_bootstraps: int, rng: Rng) -> Effects:
    """The effects of all groups.

    Parameters
    ----------
    values : ndarray of shape (m, p)
        Rows in the order of the sample; nan where missing: such cells count on neither side.
    sample : GroupedSample
    n_bootstraps : int
    rng : Generator

    Returns
    -------
    Effects

    Notes
    -----
    O(m p (B + g log m)) time for B bootstraps and g groups, O(m (B + 256)) memory.
    """
    g, p = len(sample.names), values.shape[1]
    counts = _resampled(sample, n_bootstraps, rng)
    tables = [np.zeros((g, p)) for _ in attrs.fields(Effects)]
    for start in range(0, p, COLUMNS):
        block = slice(start, min(start + COLUMNS, p))
        part = np.ascontiguousarray(values[:, block])
        for table, of_block in zip(tables, _of_block(part, sample, counts), strict=True):
            table[:, block] = of_block
    return Effects(*tables)


def _of_block(values: Array, sample: GroupedSample, counts: Array) -> list[Array]:
    """The fields of `Effects` for some columns."""
    weights, present = sample.weights, ~np.isnan(values)
    total = np.maximum(weights @ present, np.finfo(float).tiny)
    filled = np.where(present, values, 0.0)
    middle = weights @ filled / total
    centred = np.where(present, values - middle, 0.0)
    spread = np.sqrt(weights @ np.square(centred) / total)
    # a spread that is only rounding counts as 0
    spread[spread <= 1e-12 * np.abs(middle)] = 0.0
    unit = np.where(spread > 0, spread, 1.0)
    centred = np.where(spread > 0, centred / unit, 0.0)
    once = np.ones((1, len(values)))
    inside, outside, difference = (table[0] for table in _differences(centred, present, sample, once))
    low, high = _interval(_differences(centred, present, sample, counts)[2])
    auc = ranked_auc(values, present, sample, weights)
    alike = sample.alike
    contrast = ranked_auc(values, present, sample, alike)
    closeness = np.full_like(auc, 0.5)
    for j in range(len(sample.names)):
        closeness[j] = _closeness(values, present, sample, alike, j)
    probabilities = (np.where(np.isnan(difference), np.nan, table) for table in (auc, contrast, closeness))
    return [middle + unit * inside, middle + unit * outside, difference, low, high, *probabilities]


def _interval(resampled: Array) -> Array:
    """The ends of the interval, (2, g, p), of the resamples, (B, g, p), that have cells on both sides."""
    ends: Array = np.percentile(resampled, [TAIL, 100 - TAIL], axis=0)
    for j, p in zip(*np.nonzero(np.isnan(resampled).any(axis=0)), strict=True):
        values = resampled[:, j, p]
        values = values[~np.isnan(values)]
        ends[:, j, p] = np.percentile(values, [TAIL, 100 - TAIL]) if len(values) else np.nan
    return ends


def _differences(z: Array, present: Mask, sample: GroupedSample, counts: Array) -> tuple[Array, Array, Array]:
    """Means inside and outside, and their difference in standard deviations, each (B, g, p).

    `counts`, (B, m), says how often each row counts. nan where there is no cell.
    """
    factors = sample.sizes / sample.counts
    shape = (len(counts), len(sample.names), z.shape[1])
    sums, squares, numbers = np.empty(shape), np.empty(shape), np.empty(shape)
    for j, factor in enumerate(factors):
        rows = sample.part(j)
        sums[:, j] = factor * (counts[:, rows] @ z[rows])
        squares[:, j] = factor * (counts[:, rows] @ np.square(z[rows]))
        if present[rows].all():
            numbers[:, j] = factor * counts[:, rows].sum(axis=1)[:, None]
        else:
            numbers[:, j] = factor * (counts[:, rows] @ present[rows])
    all_sums, all_numbers = sums.sum(axis=1, keepdims=True), numbers.sum(axis=1, keepdims=True)
    inside = _ratio(sums, numbers)
    outside = _ratio(all_sums - sums, all_numbers - numbers)
    mean = _ratio(all_sums, all_numbers)
    spread = np.sqrt(np.maximum(_ratio(squares.sum(axis=1, keepdims=True), all_numbers) - np.square(mean), 0.0))
    none_inside, none_outside = numbers <= 0, all_numbers - numbers <= 1e-9 * all_numbers
    inside, outside = np.where(none_inside, np.nan, inside), np.where(none_outside, np.nan, outside)
    return inside, outside, np.where(none_inside | none_outside, np.nan, _ratio(inside - outside, spread))


def _ratio(a: Array, b: Array) -> Array:
    """a / b, 0 where b is 0."""
    return np.divide(
        a, b, out=np.zeros(np.broadcast_shapes(a.shape, b.shape)), where=np.broadcast_to(b > 1e-12, a.shape)
    )


def ranked_auc(values: Array, present: Mask, sample: GroupedSample, weight: Array) -> Array:
    """Probability, (g, p), that a row of a group has a larger value than a row of the others, ties counted half.

    By midranks with the weights (m,) of the rows: O(m log m) a column for all groups together.
    """
    weights = np.where(present, weight[:, None], 0.0)
    ranks = _midranks(values, weights)
    total = weights.sum(axis=0)
    auc = np.full((len(sample.names), values.shape[1]), 0.5)
    for j in range(len(sample.names)):
        rows = sample.part(j)
        auc[j] = _auc(ranks[rows], present[rows], weights[rows], total)
    return auc


def _closeness(values: Array, present: Mask, sample: GroupedSample, weight: Array, j: int) -> Array:
    """Probability, (p,), that a row of group j is nearer to the median of the group than a row of the others."""
    rows = sample.part(j)
    known = present[rows].any(axis=0)
    if not known.any():
        return np.full(values.shape[1], 0.5)
    median = np.zeros(values.shape[1])
    median[known] = np.nanmedian(values[rows][:, known], axis=0)
    weights = np.where(present, weight[:, None], 0.0)
    ranks = _midranks(-np.abs(values - median), weights)
    return _auc(ranks[rows], present[rows], weights[rows], weights.sum(axis=0))


def _auc(ranks: Array, present: Mask, weights: Array, total: Array) -> Array:
    """Probabilities (p,) from the midranks of the rows inside; .5 where a side is empty."""
    count, within = (weights > 0).sum(axis=0), weights.sum(axis=0)
    rest = total - within
    mean = np.where(present, ranks, 0.0).sum(axis=0) / np.maximum(count, 1)
    usable = (count > 0) & (rest > 1e-9 * total)
    return np.where(usable, np.clip((mean - within / 2) / np.where(usable, rest, 1.0), 0.0, 1.0), 0.5)


def _midranks(values: Array, weights: Array) -> Array:
    """Weight of all smaller values plus half the weight of equal ones, (m, p); nan comes last."""
    m = len(values)
    order = np.argsort(values, axis=0, kind="stable")
    ascending = np.take_along_axis(values, order, axis=0)
    total = np.cumsum(np.take_along_axis(weights, order, axis=0), axis=0)
    place = np.arange(m)[:, None]
    is_new = np.ones(values.shape, dtype=bool)
    is_new[1:] = ascending[1:] != ascending[:-1]
    first = np.maximum.accumulate(np.where(is_new, place, 0), axis=0)
    is_end = np.ones(values.shape, dtype=bool)
    is_end[:-1] = is_new[1:]
    last: Indices = np.minimum.accumulate(np.where(is_end, place, m)[::-1], axis=0)[::-1]
    below = np.where(first > 0, np.take_along_axis(total, np.maximum(first - 1, 0), axis=0), 0.0)
    middle = (below + np.take_along_axis(total, last, axis=0)) / 2
    ranks = np.empty_like(middle)
    np.put_along_axis(ranks, order, middle, axis=0)
    return ranks


def _resampled(sample: GroupedSample, n_bootstraps: int, rng: Rng) -> Array:
    """How often each row is drawn, (B, m), where every group is drawn from itself with replacement."""
    counts = np.empty((n_bootstraps, len(sample.rows)))
    for j, size in enumerate(sample.counts):
        for b in range(n_bootstraps):
            counts[b, sample.part(j)] = np.bincount(rng.integers(size, size=size), minlength=size)
    return counts
