"""The estimator: stages by name, composed, fitted, and inspected the scikit-learn way."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, Self

import attrs
import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from clusterkit._typing import Array, Labels
from clusterkit.core.compat import Composition, check
from clusterkit.core.errors import IncompatibleStages, InvalidParameter, UnknownName, nearest_names
from clusterkit.core.registry import registry
from clusterkit.core.run import FitResult, fit
from clusterkit.core.seeds import Seeds
from clusterkit.core.stages import Stage
from clusterkit.estimators import bars, slots, threads
from clusterkit.estimators.inductive import inductive
from clusterkit.estimators.samples import checked
from clusterkit.numerics.sparse_rows import SparseRows

__all__ = ["Pipeline"]


class Pipeline(ClusterMixin, BaseEstimator):
    """A clustering algorithm composed of stages.

    Each slot takes a name (``"elm"``), a dict (``{"name": "elm", "n_hidden": 300}``) or a stage object; `featuremap`
    also a list of maps applied one after the other. Parameters of stages are reached as ``slot__parameter`` by
    `set_params` and in grids. The defaults are extreme maximum margin clustering.

    Parameters
    ----------
    featuremap : str, dict, list or FeatureMap, default "elm"
        What turns the data into features or a kernel.
    solver : str, dict or Solver, default "ridge"
        What is optimised there.
    labeler : str, dict or Labeler, default "auto"
        What reads labels from the solution; "auto" follows from the solver and the number of clusters.
    balancer : str, dict, Balancer or None, default "auto"
        What keeps cluster sizes within bounds; "auto" is the solver's own default, None is none.
    init : str, dict or Partitioner, default "kmeans"
        What labels the loop starts from, where the solver learns from labels: a partitioner or any recipe by name.
    tuner : str, dict, Tuner or None, default None
        What replaces parameters left at None by values found without labels.
    n_clusters : int, optional
        Number of clusters. Left out where the labeler finds it or has only one (threshold: two).
    n_init : int, default 1
        Starts; the one with the lowest objective is kept.
    max_iter : int, default 100
        Most turns of the loop between labels and solver; iterations within a turn are ``solver__max_iter``.
    random_state : int, Generator, RandomState or None, default None
        One seed, from which every slot has a stream of its own.
    verbose : bool, default False
        A progress bar, if standard error is a terminal.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each sample; -1 is noise.
    n_iter_ : int
        Turns (or iterations of a solver that makes one turn only).
    converged_ : bool
    stop_reason_ : str
    interrupted_ : bool
        Whether Ctrl-C ended the fit early; the attributes are then those of the best labels so far.
    history_ : ndarray
        Objective turn by turn.
    objective_ : float
        Objective of `labels_`; nan if the solver has none.
    space_ : Space or None
        The fitted feature map: it maps new samples.
    outcome_ : Outcome or None
        The solution: scores, an embedding or a domain.
    resolved_ : dict
        Parameters that the fit decided, by slot; under "tuner" how its values were found.
    exact_on_training_ : bool
        Whether ``predict`` on the training rows gives `labels_`.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if X had string column names.

    Raises
    ------
    UnknownName, InvalidParameter, IncompatibleStages, InvalidData, Infeasible, NeedsMemory
        All are ValueErrors, raised by `fit` before work; parameters are checked there too, as scikit-learn does.

    Examples
    --------
    >>> from clusterkit import Pipeline
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs([40, 40], random_state=0, cluster_std=0.5)
    >>> labels = Pipeline(featuremap="elm", solver="ridge", labeler="threshold", random_state=0).fit_predict(X)
    >>> sorted(map(int, set(labels)))
    [0, 1]
    """

    def __init__(
        self,
        featuremap: Any = "elm",
        solver: Any = "ridge",
        labeler: Any = "auto",
        balancer: Any = "auto",
        init: Any = "kmeans",
        tuner: Any = None,
        n_clusters: int | None = None,
        n_init: int = 1,
        max_iter: int = 100,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.featuremap = featuremap
        self.solver = solver
        self.labeler = labeler
        self.balancer = balancer
        self.init = init
        self.tuner = tuner
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows of X (n, d); `y` is ignored."""
        composition = self.composition()
        X = checked(self, X, composition.featuremap, reset=True)
        seeds = Seeds.of(self.random_state)
        with threads.suited(threads.elements(len(X), composition.featuremap)), bars.shown(self.verbose), bars.hooks():
            composition, decided = self._tuned(composition, X, seeds)
            run = fit(composition, X, seeds)
        self._takes_sparse_rows = isinstance(X, SparseRows)
        return self._keep(run, composition, decided)

    @inductive
    def predict(self, X: Any) -> Labels:
        """Clusters of new samples X (m, d)."""
        check_is_fitted(self, "labels_")
        sparse = self._takes_sparse_rows if self.space_ is not None else None
        X = checked(self, X, self._takes(), reset=False, sparse=sparse)
        if self.predictor_ is None:
            raise NotFittedError("the stages changed since the fit, which cannot predict; fit again")
        return self.predictor_(X)

    def composition(self, X: Array | None = None, seeds: Seeds | None = None) -> Composition:
        """The stages, resolved and checked; with data X (n, d) and seeds also tuned."""
        # a subclass for a method that finds the number of clusters may drop the parameter
        k = _count("n_clusters", getattr(self, "n_clusters", None), optional=True)
        solver, featuremap = self._required("solver"), self._required("featuremap")
        labeler: Any = slots.resolve_labeler(self.labeler, featuremap, solver, k)
        balancer: Any = slots.resolve_balancer(self.balancer, solver, labeler)
        init = self._required("init") if solver.targets != "never" else None
        if k is None and not labeler.finds_k:
            k = labeler.max_clusters
            if k is None:
                raise InvalidParameter(f"n_clusters is needed: labeler '{labeler.name}' does not find it")
        n_init = _count("n_init", self.n_init)
        max_iter = _count("max_iter", self.max_iter)
        limits: Any = slots.resolve_limits(self.balancer, solver)
        c = Composition(featuremap, solver, labeler, balancer, init, k, n_init, max_iter, limits)
        check(c)
        # before the data are looked at, so that a wrong tuner costs nothing
        slots.resolve("tuner", self.tuner)
        return c if X is None or seeds is None else self._tuned(c, X, seeds)[0]

    def _tuned(self, c: Composition, X: Array, seeds: Seeds) -> tuple[Composition, dict[str, dict[str, Any]]]:
        """The composition with the tuner's values, and these by slot, with the tuner's own account."""
        tuner: Any = slots.resolve("tuner", self.tuner)
        if tuner is None:
            return c, {}
        before: dict[str, Stage] = {"featuremap": c.featuremap, "solver": c.solver, "labeler": c.labeler}
        tuned = tuner.tune(before, X, seeds.stream("tuner"))
        after: dict[str, Any] = {slot: tuned.stages[slot] for slot in before}
        decided = {slot: slots.changes(stage, after[slot]) for slot, stage in before.items()}
        decided["tuner"] = {"name": tuner.name, **tuned.facts, "interrupted": tuned.interrupted}
        return attrs.evolve(c, **after), {slot: facts for slot, facts in decided.items() if facts}

    def why_not_inductive(self) -> str | None:
        """Why there is no `predict`, with what would give one; None if there is."""
        try:
            c = self.composition()
        except ValueError:
            return None  # fit tells what is wrong
        if c.inductive:
            return None
        who = f"labeler '{c.labeler.name}'" if not c.labeler.inductive else f"solver '{c.solver.name}'"
        return f"{who} labels the fitted samples only (transductive). {_inductive_instead(c)}"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with `deep` those of the stages as ``slot__parameter``."""
        params: dict[str, Any] = {name: getattr(self, name) for name in self._get_param_names()}
        if deep:
            for slot in slots.KINDS:
                try:
                    params.update(slots.deep_parameters(slot, self._stage(slot)))
                except ValueError:  # a wrong name is reported by fit
                    continue
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``slot__parameter`` replaces the stage of a slot by one with that parameter changed."""
        own = set(self._get_param_names())
        for name in params:
            slot, _, key = name.partition("__")
            if name not in own and not (slot in slots.KINDS and key):
                raise UnknownName(f"Pipeline has no parameter {name!r}. {nearest_names(name, own)}")
        for name in sorted(params, key=lambda name: "__" in name):  # whole slots before parts of them
            slot, _, key = name.partition("__")
            if not key:
                setattr(self, name, params[name])
                continue
            stage = self._stage(slot)
            if stage is None:
                raise InvalidParameter(
                    f"{name} cannot be set: {slot} is {getattr(self, slot)!r}; name one first, {slot}=..."
                )
            setattr(self, slot, slots.with_parameter(slot, stage, key, params[name]))
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._sparse_samples()
        return tags

    def _sparse_samples(self) -> bool:
        """Whether sparse samples can be fitted: whoever gets them sparse must work on them."""
        featuremap = self._takes()
        if featuremap is None or not featuremap.sparse:
            return False
        if featuremap.makes_dense or not featuremap.keeps_sparse:
            return True
        try:
            path = self._required("solver").path(featuremap.gives)
        except ValueError:
            return False
        return path is not None and path.sparse

    def _takes(self) -> Any:
        """The feature map, or None where the slot has no valid value: fit tells what is wrong."""
        try:
            return self._stage("featuremap")
        except ValueError:
            return None

    def _required(self, slot: str) -> Any:
        """The stage of a slot that must have one."""
        stage = self._stage(slot)
        if stage is None:
            names = ", ".join(registry.names(slots.KINDS[slot]))
            raise InvalidParameter(f"{slot} must name a stage, got {getattr(self, slot)!r}. Available: {names}.")
        return stage

    def _stage(self, slot: str) -> Stage | None:
        """The stage of a slot; "auto" where it does not depend on data, else None."""
        value = getattr(self, slot)
        if isinstance(value, str) and value == slots.AUTO:
            if slot != "balancer":
                return None
            solver: Any = slots.resolve("solver", self.solver)
            return slots.resolve_balancer(value, solver)
        return slots.resolve(slot, value)

    def _keep(
        self, run: FitResult, composition: Composition, decided: Mapping[str, Mapping[str, Any]] | None = None
    ) -> Self:
        self.labels_ = run.labels
        self.n_iter_ = run.n_iter
        self.converged_ = run.converged
        self.stop_reason_ = run.reason
        self.interrupted_ = run.interrupted
        self.history_ = np.asarray(run.history, dtype=np.float64)
        self.objective_ = run.objective
        self.space_ = run.space
        self.outcome_ = run.outcome
        self.resolved_ = {slot: dict(facts) for slot, facts in (decided or {}).items()}
        for slot, facts in run.resolved.items():
            self.resolved_[slot] = {**self.resolved_.get(slot, {}), **facts}
        if self.labeler == slots.AUTO:
            self.resolved_["labeler"] = {"name": composition.labeler.name, **self.resolved_.get("labeler", {})}
        self.exact_on_training_ = run.exact
        self.predictor_ = run.predict
        return self


def _count(name: str, value: Any, *, optional: bool = False) -> Any:
    if optional and value is None:
        return None
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
        raise InvalidParameter(f"{name} must be an integer >= 1{' or None' if optional else ''}, got {value!r}")
    return int(value)


def _inductive_instead(c: Composition) -> str:
    """Solvers and labelers that would predict."""
    fits = []
    for slot in ("solver", "labeler"):
        for name, stage in registry.specimens(slot).items():
            other = attrs.evolve(c, **{slot: stage})
            try:
                check(other)
            except IncompatibleStages:
                continue
            if other.inductive:
                fits.append(f"{slot} '{name}'")
    return f"These predict: {', '.join(fits)}." if fits else "Use a recipe whose page says it predicts."
