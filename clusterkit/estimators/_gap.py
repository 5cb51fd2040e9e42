"""How much lower an objective is than on data without clusters: what complexities and widths are compared by."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core.chain import Chain
from clusterkit.core.compat import Composition
from clusterkit.core.run import BoundComposition, FitResult, bind, run
from clusterkit.core.seeds import Seeds
from clusterkit.core.stages import Balancer, FeatureMap

__all__ = ["Gaps", "changed", "decided", "excess", "finished", "parameter", "reference"]

ROWS, NODES = 1000, 300
"""Rows and nodes that the gap is measured on: it chooses parameters, not labels."""


def parameter(featuremap: FeatureMap, name: str) -> Any:
    """A parameter of the last map; None if it has none of that name."""
    last: FeatureMap = featuremap.maps[-1] if isinstance(featuremap, Chain) else featuremap
    return last.parameters().get(name)


def changed(featuremap: FeatureMap, **values: Any) -> FeatureMap:
    """The map with parameters of its last part set, as far as it has them."""
    last: FeatureMap = featuremap.maps[-1] if isinstance(featuremap, Chain) else featuremap
    known = last.parameters()
    last = last.with_parameters(**{name: value for name, value in values.items() if name in known})
    return Chain((*featuremap.maps[:-1], last)) if isinstance(featuremap, Chain) else last


def decided(c: Composition, df: float | None, width: float | None) -> Composition:
    """A composition with a complexity and a width; None leaves what it has."""
    if df is not None:
        c = attrs.evolve(c, solver=c.solver.with_parameters(df=df))
    if width is not None:
        c = attrs.evolve(c, featuremap=changed(c.featuremap, width=width))
    return c


def reference(X: Array, rng: Rng) -> Array:
    """A Gaussian sample with the mean and the covariance of the rows of X, (n, d): the same shape, and no clusters."""
    centre = X.mean(axis=0, dtype=np.float64)
    spread = (X - centre) / math.sqrt(max(1, len(X) - 1))
    if len(X) > ROWS:
        spread = np.linalg.qr(spread, mode="r")  # the same covariance from min(n, d) rows
    return (centre + rng.standard_normal((len(X), len(spread))) @ spread).astype(X.dtype)


def excess(bound: BoundComposition, objective: float) -> float:
    """An objective without its factor C, which another map or other data make larger for the same complexity."""
    C = bound.prepared.resolved.get("C", bound.composition.solver.parameters().get("C"))
    return objective / C if C else objective


def finished(found: FitResult) -> FitResult:
    """The run, if nobody interrupted it."""
    if found.interrupted:
        raise KeyboardInterrupt
    return found


def _relative(balancer: Balancer | None) -> bool:
    """Whether the bounds on sizes are fractions of the rows, which hold for a part of them too."""
    values = [] if balancer is None else balancer.parameters().values()
    return all(value is None or isinstance(value, str | float) for value in values)


@final
@attrs.frozen(eq=False)
class Gaps:
    """Gaps of a composition on some data, for any complexity and width.

    Parameters
    ----------
    composition : Composition
        With random starts.
    samples : tuple of ndarray
        What is fitted: the data `n_real` times, under different maps, and after them the references.
    n_real : int
    seeds : Seeds
    """

    composition: Composition
    samples: tuple[Array, ...]
    n_real: int
    seeds: Seeds

    @classmethod
    def of(cls, c: Composition, X: Array, n_real: int, n_references: int, starts: int, seeds: Seeds) -> Gaps:
        """Gaps on at most 1000 rows of X (n, d), all if sizes are bounded by numbers of rows, and 300 nodes."""
        if len(X) > ROWS and _relative(c.balancer or c.limits):
            X = X[np.sort(seeds.stream("rows").choice(len(X), ROWS, replace=False))]
        featuremap = c.featuremap
        if parameter(featuremap, "scale") == "minmax" and not isinstance(featuremap, Chain):
            # before the references are drawn: their own ranges would weigh attributes differently
            low, high = X.min(axis=0), X.max(axis=0)
            X = 2.0 * (X - low) / np.where(high > low, high - low, 1.0) - 1.0
            featuremap = changed(featuremap, scale=None)
        nodes = parameter(featuremap, "n_hidden") or len(X)
        featuremap = changed(featuremap, n_hidden=min(nodes, NODES, len(X)))
        references = [reference(X, seeds.stream("reference", i)) for i in range(n_references)]
        c = attrs.evolve(c, featuremap=featuremap, n_init=starts)
        return cls(c, (*(X for _ in range(n_real)), *references), n_real, seeds)

    def over(
        self, cells: Sequence[tuple[float | None, float | None]], done: Callable[[], None]
    ) -> Mapping[tuple[float | None, float | None], float]:
        """The gap of each pair of df and width; `done` is called after each fit.

        The gap is the mean of log(objective / C) over the references less that over the data: how many e-folds lower
        the best objective found is than without clusters. References, maps and starts are the same for all cells.
        """
        values = {cell: np.empty(len(self.samples)) for cell in cells}
        for i, X in enumerate(self.samples):
            spaces: dict[float | None, BoundComposition] = {}
            for df, width in cells:
                c, seeds = decided(self.composition, df, width), self.seeds.child("fit", i)
                if width in spaces:
                    known = spaces[width]
                    prepared = c.solver.prepare(known.space, known.task, seeds.stream("solver", "prepare"))
                    bound = attrs.evolve(known, composition=c, prepared=prepared)
                else:
                    bound = spaces[width] = bind(c, X, seeds)
                least = excess(bound, finished(run(bound)).objective)
                values[df, width][i] = math.log(max(least, np.finfo(np.float64).tiny))
                done()
        return {cell: float(v[self.n_real :].mean() - v[: self.n_real].mean()) for cell, v in values.items()}
