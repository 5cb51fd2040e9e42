"""The gap of a composition: how much lower its objective is on the data than on data without clusters.

The gap compares complexities and widths without labels, as Tibshirani, Walther and Hastie (2001) compare numbers of
clusters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.core.chain import Chain
from clusterkit.core.compat import Composition
from clusterkit.core.run import BoundComposition, bind, run
from clusterkit.core.samples import AnySamples, as_samples
from clusterkit.core.seeds import Seeds
from clusterkit.core.stages import Balancer, FeatureMap

__all__ = [
    "NODES",
    "Complexity",
    "Gaps",
    "map_parameter",
    "reference",
    "scale_free",
    "scale_free_objective",
    "with_complexity",
    "with_map_parameters",
]

ROWS = 1000
"""Most rows that a gap is measured on; more rows would cost time only, because the gap chooses parameters, not
labels."""

NODES = 300
"""Most random nodes of the map while a gap is measured or attributes are halved, for the same reason."""

Complexity: TypeAlias = tuple[float | None, float | None]
"""Effective degrees of freedom (df) of the solver and width of the map; None stands for the value that the composition
has already."""


def map_parameter(featuremap: FeatureMap, name: str) -> object:
    """A parameter of the last map of a chain (or of the only map); None if that map has no such parameter."""
    return _last(featuremap).parameters().get(name)


def with_map_parameters(featuremap: FeatureMap, **values: object) -> FeatureMap:
    """The map with parameters of its last part changed; parameters that this part does not have are ignored."""
    last = _last(featuremap)
    known = last.parameters()
    last = last.with_parameters(**{name: value for name, value in values.items() if name in known})
    return Chain((*featuremap.maps[:-1], last)) if isinstance(featuremap, Chain) else last


def _last(featuremap: FeatureMap) -> FeatureMap:
    last: FeatureMap = featuremap.maps[-1] if isinstance(featuremap, Chain) else featuremap
    return last


def with_complexity(c: Composition, df: float | None, width: float | None) -> Composition:
    """The composition with another df and another width; None leaves the value as it is."""
    if df is not None:
        c = attrs.evolve(c, solver=c.solver.with_parameters(df=df))
    if width is not None:
        c = attrs.evolve(c, featuremap=with_map_parameters(c.featuremap, width=width))
    return c


def reference(X: Array, rng: Rng) -> Array:
    """A Gaussian sample of shape (n, d) with the mean and the covariance of the rows of X: same shape, no clusters."""
    centre = X.mean(axis=0, dtype=np.float64)
    spread = (X - centre) / math.sqrt(max(1, len(X) - 1))
    if len(X) > ROWS:
        spread = np.linalg.qr(spread, mode="r")  # the same covariance from min(n, d) rows
    return (centre + rng.standard_normal((len(X), len(spread))) @ spread).astype(X.dtype)


def scale_free(bound: BoundComposition, objective: float) -> float:
    """An objective without its factor C.

    For the same complexity C is larger for another map or other data, so that objectives themselves cannot be compared.
    """
    return objective / bound.objective_factor


def scale_free_objective(bound: BoundComposition, labels: Labels) -> float:
    """The objective of labels, shape (n,), without its factor C."""
    return scale_free(bound, bound.objective(labels))


def _bounds_are_relative(balancer: Balancer | None) -> bool:
    """Whether the bounds on sizes are fractions of the number of rows, which hold for a part of the rows too."""
    values = [] if balancer is None else balancer.parameters().values()
    return all(value is None or isinstance(value, str | float) for value in values)


@final
@attrs.frozen(eq=False)
class Gaps:
    """Measures the gap of a composition at any complexity and width.

    Parameters
    ----------
    composition : Composition
        The composition, with random starts.
    samples : tuple of ndarray
        The data sets to fit: the data themselves `n_real` times, each time under another random map, followed by the
        references.
    n_real : int
    seeds : Seeds
    """

    composition: Composition
    samples: tuple[Array, ...]
    n_real: int
    seeds: Seeds

    @classmethod
    def of(cls, c: Composition, samples: AnySamples, n_real: int, n_references: int, starts: int, seeds: Seeds) -> Gaps:
        """Gaps on at most 300 nodes and 1000 rows of the samples, (n, d), which are brought to the host.

        All rows are used where the bounds on sizes are numbers of rows, because these do not hold for a part of them.
        """
        samples, index = as_samples(samples), None
        if len(samples) > ROWS and _bounds_are_relative(c.balancer or c.limits):
            index = np.sort(seeds.stream("rows").choice(len(samples), ROWS, replace=False))
        X = (
            samples.gather(index)
            if index is not None
            else samples.whole(
                f"the {len(samples):,} samples that this comparison needs on the host",
                "Give the bounds on the sizes of clusters as shares, which hold for a part of the samples too.",
            )
        )
        featuremap = c.featuremap
        if map_parameter(featuremap, "scale") == "minmax" and not isinstance(featuremap, Chain):
            # scale before the references are drawn: the ranges of a reference itself would weigh attributes differently
            low, high = X.min(axis=0), X.max(axis=0)
            X = 2.0 * (X - low) / np.where(high > low, high - low, 1.0) - 1.0
            featuremap = with_map_parameters(featuremap, scale=None)
        nodes = cast("int | None", map_parameter(featuremap, "n_hidden")) or len(X)
        featuremap = with_map_parameters(featuremap, n_hidden=min(nodes, NODES, len(X)))
        references = [reference(X, seeds.stream("reference", i)) for i in range(n_references)]
        c = attrs.evolve(c, featuremap=featuremap, n_init=starts)
        return cls(c, (*(X for _ in range(n_real)), *references), n_real, seeds)

    def over(self, complexities: Sequence[Complexity], report_fit: Callable[[], None]) -> Mapping[Complexity, float]:
        """The gap at each pair of df and width; `report_fit` is called after each fit.

        The gap is the mean of log(objective / C) over the references minus the mean over the data: by how many factors
        e the best objective is lower than without clusters. References, maps and starts are the same for all pairs.

        Raises
        ------
        KeyboardInterrupt
            Also if Ctrl-C ended one of the fits early.
        """
        logs = {complexity: np.empty(len(self.samples)) for complexity in complexities}
        for i, X in enumerate(self.samples):
            bound_at: dict[float | None, BoundComposition] = {}
            for df, width in complexities:
                c, seeds = with_complexity(self.composition, df, width), self.seeds.child("fit", i)
                if width in bound_at:
                    before = bound_at[width]
                    prepared = c.solver.prepare(before.space, before.task, seeds.stream("solver", "prepare"))
                    bound = attrs.evolve(before, composition=c, prepared=prepared)
                else:
                    bound = bound_at[width] = bind(c, X, seeds)
                fit = run(bound)
                if fit.interrupted:
                    raise KeyboardInterrupt
                least = scale_free(bound, fit.objective)
                logs[df, width][i] = math.log(max(least, np.finfo(np.float64).tiny))
                report_fit()
        return {
            complexity: float(values[self.n_real :].mean() - values[: self.n_real].mean())
            for complexity, values in logs.items()
        }
