"""Sample weights of a fit: checked, and refused where a stage counts rows instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs
import numpy as np

from clusterkit._typing import Array, ArrayLike
from clusterkit.core.compat import Composition, Problem
from clusterkit.core.errors import IncompatibleStages, InvalidData
from clusterkit.core.namespaces import to_host
from clusterkit.core.stages import Codec

__all__ = ["checked_weights", "weight_problems", "weighted"]

NUMBERS = "biuf"
"""Kinds of numpy's types that hold real numbers: truth values, integers and floats. Texts such as "2" and objects are
none, although numpy would convert some of them."""

LIGHTEST, HEAVIEST = 1e-30, 1e30
"""Weights other than 0 lie between these, so that their products with squares of single precision are numbers too."""


def checked_weights(sample_weight: ArrayLike, n: int) -> Array:
    """Weights of n samples as float64, (n,); a number stands for n equal weights.

    Raises
    ------
    InvalidData
        If they are not n finite numbers, none below 0 and some above, or if one is out of all proportion.

    Examples
    --------
    >>> checked_weights([1, 2, 0], 3).tolist()
    [1.0, 2.0, 0.0]
    """
    try:
        as_passed = np.asarray(to_host(sample_weight))
    except (TypeError, ValueError) as error:
        raise InvalidData(f"sample_weight must be numbers, one for each sample: {error}") from error
    if as_passed.dtype.kind not in NUMBERS:
        first = f", the first one {as_passed.ravel()[:1].tolist()[0]!r}" if as_passed.size else ""
        raise InvalidData(
            f"sample_weight must be numbers, one for each sample, got values of type {as_passed.dtype}{first}"
        )
    if np.ma.is_masked(sample_weight):
        raise InvalidData("sample_weight has masked values: fill them (0 leaves a sample out of the sums)")
    weights = np.array(as_passed, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n, weights)
    if weights.shape != (n,):
        raise InvalidData(f"sample_weight.shape == {weights.shape}, expected {(n,)}: one number for each sample")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise InvalidData(
            f"sample_weight of sample {wrong[0]} is {weights[wrong[0]]}; weights are finite numbers of at least 0"
        )
    odd = np.flatnonzero((weights > HEAVIEST) | ((weights > 0) & (weights < LIGHTEST)))
    if len(odd):
        raise InvalidData(
            f"sample_weight of sample {odd[0]} is {weights[odd[0]]:g}; weights are 0, or between {LIGHTEST:g} and "
            f"{HEAVIEST:g}: multiply all of them by a constant"
        )
    if not weights.any():
        raise InvalidData("sample_weight is zero for all samples; at least one must count")
    return weights


def weighted(c: Composition, sample_weight: ArrayLike | None, n: int, others: Sequence[Problem] = ()) -> Composition:
    """The composition for n samples with these weights; `others` are what counts rows outside the composition.

    Weights that are all the same say nothing about the samples: stages that count rows take these too, and the fit is
    then that without weights.

    Raises
    ------
    IncompatibleStages
        If a stage counts rows and the weights differ.
    InvalidData
        If they are no weights, or too few of them are above 0 for the number of clusters.
    """
    if sample_weight is None:
        return c
    weights = checked_weights(sample_weight, n)
    reasons = "; ".join(f"{problem.slot}: {problem.reason}" for problem in (*others, *weight_problems(c)))
    if reasons:
        if (weights == weights[0]).all():
            return c
        raise IncompatibleStages(f"sample_weight cannot be used here. {reasons}")
    positive = int((weights > 0).sum())
    if c.n_clusters is not None and positive < c.n_clusters:
        raise InvalidData(
            f"only {positive} samples have a weight above 0, fewer than n_clusters={c.n_clusters}: no cluster may be "
            "without a sample that counts"
        )
    return attrs.evolve(c, sample_weight=weights)


def weight_problems(c: Composition) -> Iterator[Problem]:
    """Which stages of a composition count rows and not weights."""
    if c.featuremap.counts_rows:
        parts = getattr(c.featuremap, "maps", (c.featuremap,))
        name = next(part.name for part in parts if part.counts_rows)
        yield Problem("featuremap", f"'{name}' counts rows: one of weight 0 would change the features of the others")
    if c.path is not None and not c.path.weighted:
        yield Problem(
            "solver",
            f"'{c.solver.name}' counts rows here; 'ridge', 'centroids', 'fuzzy_cmeans', and 'nmf' with update='anls' "
            "count weights on features",
        )
    if not (isinstance(c.labeler, Codec) and c.labeler.rowwise):
        yield Problem(
            "labeler", f"'{c.labeler.name}' counts rows; 'argmax', 'threshold' and 'interval' read each row by itself"
        )
    if c.balancer is not None:
        yield Problem("balancer", f"'{c.balancer.name}' counts rows; balancer=None takes weights")
    if c.init is not None and not c.init.weighted:
        yield Problem(
            "init", f"'{c.init.name}' counts rows; 'kmeans', 'kmeans_mapped', 'seeds' and 'random' take weights"
        )
