"""Several random maps, one verdict: the winner of each map judged under all of them."""

from __future__ import annotations

import math
from typing import Any, Self

import attrs
import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from clusterkit._typing import Array, Labels
from clusterkit.core.errors import IncompatibleStages, InvalidParameter, UnknownName, nearest_names
from clusterkit.core.progress import Report, tell
from clusterkit.core.run import BoundComposition, FitResult, bind, first_least, fit, run
from clusterkit.core.seeds import Seeds
from clusterkit.estimators import bars, threads
from clusterkit.estimators.inductive import inductive
from clusterkit.estimators.pipeline import Pipeline, _count

__all__ = ["Pooled"]


class Pooled(ClusterMixin, BaseEstimator):
    """Fits a pipeline under several random maps and keeps the labels with the lowest objective summed over all maps.

    For objectives that have good optima but many bad ones, such as EMMC from random starts: one map's favourite is
    checked by the others, which did not choose it. Costs `n_maps` fits and ``n_maps²`` solves; memory of `n_maps`
    spaces.

    Parameters
    ----------
    base : Pipeline, optional
        What is fitted under each map; its solver needs an objective. Default `Pipeline()`.
    n_maps : int, default 5
    n_clusters : int, optional
        Reaches the base unchanged.
    random_state : int, Generator, RandomState or None
    verbose : bool, default False

    Attributes
    ----------
    agreement_ : float
        Mean accuracy between the winners of two maps, matched by Hungarian, in [0, 1]; nan for one map. Below about 0.9
        the data do not determine the clusters well.
    pooled_ : ndarray of shape (n_maps,)
        Summed objective of each map's winner.
    winner_ : int
        Index of the map whose labels were kept.
    labels_, n_iter_, converged_, stop_reason_, history_, objective_, space_, outcome_, resolved_, exact_on_training_
        Of the winner, as in `Pipeline`.

    Examples
    --------
    >>> from clusterkit import recipe
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs([30, 30], random_state=0, cluster_std=0.5)
    >>> model = recipe("emmc-multistart", n_clusters=2, n_init=5, n_maps=2, random_state=0).fit(X)
    >>> model.agreement_
    1.0
    """

    def __init__(
        self,
        base: Pipeline | None = None,
        n_maps: int = 5,
        n_clusters: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.base = base
        self.n_maps = n_maps
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows of X (n, d); `y` is ignored."""
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C")
        base, n_maps = self._base(), _count("n_maps", self.n_maps)
        seeds = Seeds.of(base.random_state if self.random_state is None else self.random_state)
        composition = base.composition(X, seeds)
        if not composition.solver.has_objective:
            raise IncompatibleStages(
                f"Pooled compares maps by objective, but solver '{composition.solver.name}' has none"
            )
        if composition.solver.targets == "never":
            raise IncompatibleStages(
                f"Pooled judges labels under other maps, but solver '{composition.solver.name}' learns from no labels"
            )
        with threads.suited(threads.elements(len(X), composition.featuremap)), bars.shown(self.verbose), bars.hooks():
            if composition.n_clusters == 1:
                winner = fit(composition, X, seeds)
                self.agreement_, self.pooled_, self.winner_ = 1.0, np.zeros(n_maps), 0
            else:
                winner = self._search(composition, X, seeds, n_maps)
        base._keep(winner, composition)
        for name in vars(base):
            if name.endswith("_") and name != "n_features_in_":
                setattr(self, name, getattr(base, name))
        return self

    @inductive
    def predict(self, X: Any) -> Labels:
        """Clusters of new samples X (m, d), by the winner."""
        check_is_fitted(self, "labels_")
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C", reset=False)
        labels: Labels = self.predictor_(X)
        return labels

    def why_not_inductive(self) -> str | None:
        """Why there is no `predict`; None if there is."""
        return self._base().why_not_inductive()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Own parameters; with `deep` those of the base too, under the names they have there."""
        params: dict[str, Any] = {name: getattr(self, name) for name in self._get_param_names()}
        if deep:
            base = self.base if self.base is not None else Pipeline()
            params = {**base.get_params(), **params}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set own parameters; all others go to the base."""
        own = set(self._get_param_names())
        for name in own & params.keys():
            setattr(self, name, params.pop(name))
        if params:
            base = Pipeline() if self.base is None else clone(self.base)
            try:
                self.base = base.set_params(**params)
            except UnknownName as error:
                unknown = [name for name in params if "__" not in name and name not in base._get_param_names()]
                if not unknown:
                    raise
                known = own | set(base._get_param_names())
                raise UnknownName(
                    f"{type(self).__name__} has no parameter {unknown[0]!r}. {nearest_names(unknown[0], known)}"
                ) from error
        return self

    def _base(self) -> Pipeline:
        if self.base is not None and not isinstance(self.base, Pipeline):
            raise InvalidParameter(f"base must be a Pipeline or None, got {self.base!r}")
        base = Pipeline() if self.base is None else clone(self.base)
        return base if self.n_clusters is None else base.set_params(n_clusters=self.n_clusters)

    def _search(self, composition: Any, X: Array, seeds: Seeds, n_maps: int) -> FitResult:
        bounds: list[BoundComposition] = []
        runs: list[FitResult] = []
        interrupted = False
        for index in range(n_maps):
            try:
                bound = bind(composition, X, seeds.child("map", index))
                found = run(bound)
                bounds.append(bound)
                runs.append(found)
                interrupted = found.interrupted
                tell(Report("maps", index + 1, n_maps, found.objective))
            except KeyboardInterrupt:
                if not runs:
                    raise
                interrupted = True
            if interrupted:
                break
        pooled = np.array([math.fsum(b.objective(r.labels) for b in bounds) for r in runs])
        self.pooled_ = pooled
        self.winner_ = first_least(pooled.tolist())
        self.agreement_ = _agreement([r.labels for r in runs])
        winner = runs[self.winner_]
        if interrupted:
            winner = attrs.evolve(
                winner, converged=False, reason=f"interrupted: the best of {len(runs)} maps is kept", interrupted=True
            )
        return winner


def _agreement(labelings: list[Labels]) -> float:
    """Mean Hungarian-matched accuracy over all pairs."""
    from clusterkit.metrics import clustering_accuracy

    pairs = [(i, j) for i in range(len(labelings)) for j in range(i)]
    if not pairs:
        return math.nan
    return math.fsum(clustering_accuracy(labelings[i], labelings[j]) for i, j in pairs) / len(pairs)
