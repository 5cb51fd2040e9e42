"""Fits under several random maps; each winner is judged under all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from clusterkit._typing import Floats, NumberLike, RandomState
from clusterkit.core.stages import Driver
from clusterkit.drivers import pooled
from clusterkit.estimators.driven import Driven
from clusterkit.estimators.pipeline import Pipeline

__all__ = ["FixedDriver", "Pooled"]


class FixedDriver(Driven):
    """`Driven` by one class of drivers, whose parameters are parameters of the estimator."""

    _slots: ClassVar[Mapping[str, str]] = {}
    _driver_class: ClassVar[type[Driver]]

    def _driver(self) -> Driver:
        return self._driver_class(**{name: getattr(self, name) for name in self._driver_class().parameters()})

    def _driver_params(self) -> dict[str, Any]:
        return {}  # they are the estimator's own


class Pooled(FixedDriver):
    """Fits a pipeline under several random maps and keeps the labels with the lowest objective summed over all maps.

    For objectives that have good optima but many bad ones, such as EMMC from random starts: the labels that one map
    prefers are judged by the other maps, which did not choose them. Costs `n_maps` fits and ``n_maps²`` solves, and the
    memory of `n_maps` spaces. The work is in drivers/pooled.py.

    Parameters
    ----------
    base : Pipeline, optional
        The composition fitted under each map; its solver needs an objective. Default `Pipeline()`.
    n_maps : int, default 5
    n_clusters : int, "auto", (int, int) or None, default None
        As in `Driven`.
    random_state : int, Generator, RandomState or None
    verbose : bool, default False

    Attributes
    ----------
    agreement_ : float
        Mean accuracy between the winners of two maps, matched by the Hungarian method, in [0, 1]; nan for one map.
        Below about 0.9 the data do not determine the clusters well.
    pooled_ : ndarray of shape (n_maps,)
        Summed objective of each map's winner.
    winner_ : int
        Index of the map whose labels are returned.
    labels_, n_iter_, converged_, stop_reason_, interrupted_, history_, objective_, space_, outcome_, resolved_, \
exact_on_training_
        As in `Pipeline`, of the winner.

    Examples
    --------
    >>> from clusterkit import recipe
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs([30, 30], centers=[[0, 0], [6, 6]], random_state=0)
    >>> model = recipe("emmc-multistart", n_clusters=2, n_maps=2, random_state=0).fit(X)
    >>> model.agreement_
    1.0
    """

    agreement_: float
    pooled_: Floats
    winner_: int

    _driver_class = pooled.PooledDriver

    def __init__(
        self,
        base: Pipeline | None = None,
        n_maps: int = 5,
        n_clusters: NumberLike = None,
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.base = base
        self.n_maps = n_maps
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.verbose = verbose
