"""Fits of the three methods to a data set: measured, and each computed once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any

import attrs
import numpy as np

from clusterkit_papers.fits import timed_fit, warm_up, without_warnings
from clusterkit_papers.jobs import Values
from clusterkit_papers.scalings import SCALING_WORDS, SCALINGS
from clusterkit_papers.svc.data_sets import Scaling, SvcDataSet

__all__ = ["METHODS", "GridPoint", "SvcFit", "SvcFits", "SvcMethod", "grid_points", "grid_words", "two_step_fit"]

STEPS_PER_ROW, MOST_STEPS = 10, 5000
"""Least steps of lmsvc where nothing is chosen by labels: ten per row, or 5000 if that is less."""


@attrs.frozen
class SvcMethod:
    """A method of the paper.

    Parameters
    ----------
    name : str
        Printed name.
    recipe : str
    random : bool
        Whether the method draws at random, so that it is run with several seeds.
    policy : str
        How samples outside the contour are labelled, for the rows' notes.
    as_described : bool
        Whether it is the method as the paper describes it.
    """

    name: str
    recipe: str
    random: bool
    policy: str
    as_described: bool = True


METHODS = (
    SvcMethod("SVC", "svc", False, "outliers to the nearest cluster"),
    SvcMethod("SGD-LMSVC", "sgd-lmsvc", True, "outliers by basin", as_described=False),
    SvcMethod("SGD-LMSVC", "sgd-lmsvc-strip", True, "ascents from |f| <= 0.1, outliers by basin"),
    SvcMethod("FSVC", "fsvc", True, "outliers by basin"),
)
"""The three methods of tables 2 to 4. The paper lets only samples in a strip of unknown width ascend in SGD-LMSVC; all
samples ascend in the first of the two recipes, which needs no such width."""


@attrs.frozen
class GridPoint:
    """A point of a method's grid: parameters of the recipe, and the scaling before it.

    Parameters
    ----------
    scaling : {"raw", "zscore", "minmax"}
    parameters : tuple of (str, value)
    text : str
        Scaling and parameters in words.
    """

    scaling: Scaling
    parameters: tuple[tuple[str, object], ...]
    text: str

    @classmethod
    def of(cls, scaling: Scaling, words: str, parameters: Mapping[str, object]) -> GridPoint:
        """The point described by `words`, to which the scaling is added."""
        return cls(scaling, tuple(parameters.items()), f"{SCALING_WORDS[scaling]}, {words}")


@attrs.frozen(eq=False)
class SvcFit:
    """The labels of a fit and its times.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    training, labelling : float
        CPU seconds for the domain, and for the labels.
    seconds : float
        Wall time of both together.
    ended : bool
        Whether the labeler's budget of work ended its search for components, some of which may belong together.
    """

    labels: np.ndarray
    training: float
    labelling: float
    seconds: float
    ended: bool

    @property
    def clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1


@attrs.define(eq=False)
class SvcFits:
    """The fits to a data set, which is loaded on first use; each fit is computed once.

    Parameters
    ----------
    data_set : SvcDataSet
    """

    data_set: SvcDataSet
    _data: dict[str, np.ndarray] = attrs.field(factory=dict, init=False)
    _fits: dict[Any, SvcFit] = attrs.field(factory=dict, init=False)
    _judged: dict[int, Values] = attrs.field(factory=dict, init=False)
    _tuned: dict[str, Any] = attrs.field(factory=dict, init=False)

    def X(self, scaling: Scaling) -> np.ndarray:
        """Scaled samples, (n, d)."""
        if not self._data:
            self._data["raw"], self._data["y"] = self.data_set.load()
        if scaling not in self._data:
            self._data[scaling] = SCALINGS[scaling](self._data["raw"])
        return self._data[scaling]

    @property
    def y(self) -> np.ndarray:
        """Known classes, (n,)."""
        self.X("raw")
        return self._data["y"]

    def fit(self, method: SvcMethod, point: GridPoint, seed: int) -> SvcFit:
        """The fit of a method at a point of its grid, computed once."""
        key = (method.recipe, point, seed)
        if key not in self._fits:
            self._fits[key] = two_step_fit(self.X(point.scaling), method.recipe, seed, **dict(point.parameters))
        return self._fits[key]

    def external(self, method: SvcMethod, point: GridPoint, seed: int) -> Values:
        """Indices that compare with the known classes; NMI is the one with the arithmetic mean, as printed."""
        from clusterkit.metrics import nmi, purity, purity_by_class, rand_index

        fit = self.fit(method, point, seed)
        if id(fit) not in self._judged:
            labels = fit.labels
            self._judged[id(fit)] = {
                "purity": purity(self.y, labels),
                "rand": rand_index(self.y, labels),
                "nmi": nmi(self.y, labels, average="arithmetic"),
                "purity_by_class": purity_by_class(self.y, labels),
                "clusters": float(fit.clusters),
                "seconds": fit.seconds,
                "ended": float(fit.ended),
            }
        return self._judged[id(fit)]

    def internal(self, method: SvcMethod, point: GridPoint, seed: int) -> Values:
        """Indices that need no classes, on the scaled data; nan where an index is not defined."""
        from clusterkit.metrics import compactness, davies_bouldin

        fit = self.fit(method, point, seed)
        X = self.X(point.scaling)
        separation = davies_bouldin(X, fit.labels)
        return {
            "compactness": compactness(X, fit.labels),
            "davies_bouldin": separation if math.isfinite(separation) else math.nan,
            "clusters": float(fit.clusters),
            "seconds": fit.seconds,
            "ended": float(fit.ended),
        }

    def unlabelled(self, method: SvcMethod, seed: int) -> GridPoint:
        """Parameters chosen without labels: width, share outside and least cluster size by the tuner of `svc`."""
        if not self._tuned:
            self._tuned.update(_svc_auto(self.X(self.data_set.unlabelled), seed))
        gamma, nu, least = (self._tuned[name] for name in ("gamma", "nu", "least"))
        outside: dict[str, Any] = {
            "labeler__outliers": "nearest",
            "labeler__min_cluster_size": least,
            "featuremap__gamma": gamma,
        }
        words = f"gamma = {gamma:.3g}, share outside {nu:g} and clusters of {least} rows at least by svc_auto"
        match method.name:
            case "SVC":
                more: dict[str, Any] = {"solver__nu": nu, "tuner": None}
            case "SGD-LMSVC":
                steps = min(STEPS_PER_ROW * len(self.y), MOST_STEPS)
                more = {"solver__level": "quantile", "solver__outlier_fraction": nu, "solver__t_min": steps}
                words += f", C = 8, level quantile, {steps} steps at least"
            case _:
                more = {"solver__solver__nu": nu}
                words += ", p = 0.5, ε = 0.5"
        return GridPoint.of(self.data_set.unlabelled, f"{words}, outliers to the nearest cluster", outside | more)


def grid_points(data_set: SvcDataSet, method: SvcMethod) -> Iterator[GridPoint]:
    """The grid of a method."""
    sphere = data_set.gammas if data_set.sphere_gammas is None else data_set.sphere_gammas
    for scaling, gamma in product(data_set.scalings, sphere if method.name == "SVC" else data_set.gammas):
        width = {"featuremap__gamma": gamma}
        words = f"gamma = {gamma:g}"
        match method.name:
            case "SVC":
                for C in data_set.sphere_C:
                    yield GridPoint.of(scaling, f"{words}, C = {C:g}", {**width, "solver__C": C, "tuner": None})
            case "SGD-LMSVC":
                for C in data_set.plane_C:
                    yield GridPoint.of(scaling, f"{words}, C = {C:g}", {**width, "solver__C": C})
            case _:
                for p, radius in product(data_set.fractions, data_set.radii):
                    part = {"solver__fraction": p, "labeler__radius": radius}
                    yield GridPoint.of(scaling, f"{words}, p = {p:g}, ε = {radius:g}", {**width, **part})


def grid_words(data_set: SvcDataSet, method: SvcMethod) -> str:
    """The part of the paper's grid that `grid_points` takes, in words."""
    sphere = data_set.gammas if data_set.sphere_gammas is None else data_set.sphere_gammas
    gammas = sphere if method.name == "SVC" else data_set.gammas
    whole = f"gamma from {gammas[0]:g} to {gammas[-1]:g}"
    match method.name:
        case "SVC":
            return f"{whole}, C from {', '.join(f'{C:g}' for C in data_set.sphere_C)} (those above 1 are all as 1)"
        case "SGD-LMSVC":
            return f"{whole}, C from {', '.join(f'{C:g}' for C in data_set.plane_C)}"
        case _:
            p, radius = (", ".join(f"{value:g}" for value in values) for values in (data_set.fractions, data_set.radii))
            return f"{whole}, p from {p}, ε = {radius}, no outliers in training"


def two_step_fit(X: np.ndarray, name: str, seed: int, **parameters: object) -> SvcFit:
    """Fit a recipe as its estimator does, measuring the domain and the labels separately.

    Empty domains (C < 1) are a part of the paper's grid; the row shows what came of them, without a warning.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    name : str
        The recipe.
    seed : int
    **parameters
        Parameters of the recipe.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C ended the fit.
    """
    from clusterkit import recipe
    from clusterkit.contracts.seeds import Seeds
    from clusterkit.fitting.fit import bind
    from clusterkit.fitting.label_iterations import label_and_balance

    warm_up(name, featuremap__gamma=1.0)
    seeds = Seeds.of(seed)
    with without_warnings():
        composition = recipe(name, random_state=seed, **parameters).composition(X, seeds)
    prepared = timed_fit(partial(bind, composition, X, seeds))
    bound, rng = prepared.fitted, seeds.stream("solver")
    domain = timed_fit(partial(bound.prepared.solve, None, None, rng))
    labels = timed_fit(
        partial(label_and_balance, domain.fitted, composition.labeler, None, bound.space, bound.task, rng)
    )
    return SvcFit(
        labels.fitted.labels.astype(np.int32),
        prepared.cpu_seconds + domain.cpu_seconds,
        labels.cpu_seconds,
        prepared.seconds + domain.seconds + labels.seconds,
        "ended" in labels.fitted.labeler_facts,
    )


def _svc_auto(X: np.ndarray, seed: int) -> dict[str, Any]:
    """Width, share outside and least cluster size that the tuner of `svc` decides on for X of shape (n, d)."""
    from clusterkit import recipe
    from clusterkit.contracts.seeds import Seeds

    with without_warnings():
        stages: Any = recipe("svc", random_state=seed).composition(X, Seeds.of(seed))
    return {"gamma": stages.featuremap.gamma, "nu": stages.solver.nu, "least": stages.labeler.min_cluster_size}
