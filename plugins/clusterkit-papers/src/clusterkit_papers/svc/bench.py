"""Fits of the three methods to one data set, each made once and measured."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any

import attrs
import numpy as np

from clusterkit.core.errors import ClusterkitWarning
from clusterkit_papers.jobs import Values
from clusterkit_papers.scalings import SAID, SCALINGS
from clusterkit_papers.svc.sets import Scaling, Setting

__all__ = ["METHODS", "Bench", "Fitted", "Method", "Trial", "fitted", "grid_words", "trials"]

STEPS_A_ROW, MOST_STEPS = 10, 5000
"""Fewest steps of `lmsvc` where nothing is chosen by labels."""


@attrs.frozen
class Method:
    """A method of the paper.

    Parameters
    ----------
    name : str
        As printed.
    recipe : str
    random : bool
        Whether seeds matter.
    policy : str
        What becomes of samples outside the contour.
    """

    name: str
    recipe: str
    random: bool
    policy: str


METHODS = (
    Method("SVC", "svc", False, "outliers to the nearest cluster"),
    Method("SGD-LMSVC", "sgd-lmsvc", True, "outliers by basin"),
    Method("FSVC", "fsvc", True, "outliers by basin"),
)


@attrs.frozen
class Trial:
    """Parameters of a recipe, and the scaling before it.

    Parameters
    ----------
    scaling : {"raw", "zscore", "minmax"}
    parameters : tuple of (str, value)
    text : str
        Both in words.
    """

    scaling: Scaling
    parameters: tuple[tuple[str, Any], ...]
    text: str

    @classmethod
    def of(cls, scaling: Scaling, words: str, parameters: Mapping[str, Any]) -> Trial:
        """A trial; the scaling is added to the words."""
        return cls(scaling, tuple(parameters.items()), f"{SAID[scaling]}, {words}")


@attrs.frozen(eq=False)
class Fitted:
    """What a fit found.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    training, labelling : float
        CPU seconds for the domain, and for the labels.
    seconds : float
        Wall time of both.
    """

    labels: np.ndarray
    training: float
    labelling: float
    seconds: float

    @property
    def clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1


@attrs.define(eq=False)
class Bench:
    """A data set, loaded on first use, and the fits made to it so far."""

    setting: Setting
    _data: dict[str, np.ndarray] = attrs.field(factory=dict, init=False)
    _fits: dict[Any, Fitted] = attrs.field(factory=dict, init=False)
    _judged: dict[int, Values] = attrs.field(factory=dict, init=False)
    _found: dict[str, Any] = attrs.field(factory=dict, init=False)

    def X(self, scaling: Scaling) -> np.ndarray:
        """Scaled samples, (n, d)."""
        if not self._data:
            self._data["raw"], self._data["y"] = self.setting.load()
        if scaling not in self._data:
            self._data[scaling] = SCALINGS[scaling](self._data["raw"])
        return self._data[scaling]

    @property
    def y(self) -> np.ndarray:
        """Known classes, (n,)."""
        self.X("raw")
        return self._data["y"]

    def fit(self, method: Method, trial: Trial, seed: int) -> Fitted:
        """The fit of a trial, from memory if it was made before."""
        key = (method.name, trial, seed)
        if key not in self._fits:
            self._fits[key] = fitted(self.X(trial.scaling), method.recipe, seed, **dict(trial.parameters))
        return self._fits[key]

    def external(self, method: Method, trial: Trial, seed: int) -> Values:
        """Indices that compare with the known classes; NMI with the arithmetic mean, as printed."""
        from clusterkit.metrics import nmi, purity, purity_by_class, rand_index

        found = self.fit(method, trial, seed)
        if id(found) not in self._judged:
            labels = found.labels
            self._judged[id(found)] = {
                "purity": purity(self.y, labels),
                "rand": rand_index(self.y, labels),
                "nmi": nmi(self.y, labels, average="arithmetic"),
                "purity_by_class": purity_by_class(self.y, labels),
                "clusters": float(found.clusters),
                "seconds": found.seconds,
            }
        return self._judged[id(found)]

    def internal(self, method: Method, trial: Trial, seed: int) -> Values:
        """Indices of the scaled data alone; nan where one is not defined."""
        from clusterkit.metrics import compactness, davies_bouldin

        found = self.fit(method, trial, seed)
        X = self.X(trial.scaling)
        separation = davies_bouldin(X, found.labels)
        return {
            "compactness": compactness(X, found.labels),
            "davies_bouldin": separation if math.isfinite(separation) else math.nan,
            "clusters": float(found.clusters),
            "seconds": found.seconds,
        }

    def unlabelled(self, method: Method, seed: int) -> Trial:
        """What is tried without labels: width, share outside and least size as the tuner of `svc` finds them."""
        if not self._found:
            self._found.update(_tuned(self.X(self.setting.unlabelled), seed))
        gamma, nu, least = (self._found[name] for name in ("gamma", "nu", "least"))
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
                steps = min(STEPS_A_ROW * len(self.y), MOST_STEPS)
                more = {"solver__level": "quantile", "solver__outlier_fraction": nu, "solver__t_min": steps}
                words += f", C = 8, level quantile, {steps} steps at least"
            case _:
                more = {"solver__solver__nu": nu}
                words += ", p = 0.5, ε = 0.5"
        return Trial.of(self.setting.unlabelled, f"{words}, outliers to the nearest cluster", outside | more)


def trials(setting: Setting, method: Method) -> Iterator[Trial]:
    """The grid of a method."""
    sphere = setting.gammas if setting.sphere_gammas is None else setting.sphere_gammas
    for scaling, gamma in product(setting.scalings, sphere if method.name == "SVC" else setting.gammas):
        width = {"featuremap__gamma": gamma}
        words = f"gamma = {gamma:g}"
        match method.name:
            case "SVC":
                for C in setting.sphere_C:
                    yield Trial.of(scaling, f"{words}, C = {C:g}", {**width, "solver__C": C, "tuner": None})
            case "SGD-LMSVC":
                for C in setting.plane_C:
                    yield Trial.of(scaling, f"{words}, C = {C:g}", {**width, "solver__C": C})
            case _:
                for p, radius in product(setting.fractions, setting.radii):
                    part = {"solver__fraction": p, "labeler__radius": radius}
                    yield Trial.of(scaling, f"{words}, p = {p:g}, ε = {radius:g}", {**width, **part})


def grid_words(setting: Setting, method: Method) -> str:
    """How much of the paper's grid `trials` takes."""
    sphere = setting.gammas if setting.sphere_gammas is None else setting.sphere_gammas
    gammas = sphere if method.name == "SVC" else setting.gammas
    whole = f"gamma from {gammas[0]:g} to {gammas[-1]:g}"
    match method.name:
        case "SVC":
            return f"{whole}, C from {', '.join(f'{C:g}' for C in setting.sphere_C)} (those above 1 are all as 1)"
        case "SGD-LMSVC":
            return f"{whole}, C from {', '.join(f'{C:g}' for C in setting.plane_C)}"
        case _:
            p, radius = (", ".join(f"{each:g}" for each in values) for values in (setting.fractions, setting.radii))
            return f"{whole}, p from {p}, ε = {radius}, no outliers in training"


def fitted(X: np.ndarray, name: str, seed: int, **parameters: Any) -> Fitted:
    """Fit a recipe, as its estimator does, with a look at the clock between domain and labels.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C ended the fit: a fit keeps what it has and returns, but a table must not go on with that.
    """
    from clusterkit import recipe
    from clusterkit.core.alternate import read
    from clusterkit.core.run import bind
    from clusterkit.core.seeds import Seeds

    _warm(name)
    seeds = Seeds.of(seed)
    with warnings.catch_warnings():
        # an empty domain (C < 1) is a part of the paper's grid; the row shows the outcome
        warnings.simplefilter("ignore", ClusterkitWarning)
        composition = recipe(name, random_state=seed, **parameters).composition(X, seeds)
        wall, begin = time.perf_counter(), time.process_time()
        bound = bind(composition, X, seeds)
        rng = seeds.stream("solver")
        outcome = bound.prepared.solve(None, None, rng)
        trained = time.process_time()
        reading = read(outcome, composition.labeler, None, bound.space, bound.task, rng)
        end = time.process_time()
        wall = time.perf_counter() - wall
    if reading.interrupted or (outcome.status is not None and outcome.status.interrupted):
        raise KeyboardInterrupt
    return Fitted(reading.labels.astype(np.int32), trained - begin, end - trained, wall)


def _tuned(X: np.ndarray, seed: int) -> dict[str, Any]:
    """What the tuner of `svc` decides on X (n, d)."""
    from clusterkit import recipe
    from clusterkit.core.seeds import Seeds

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusterkitWarning)
        stages: Any = recipe("svc", random_state=seed).composition(X, Seeds.of(seed))
    return {"gamma": stages.featuremap.gamma, "nu": stages.solver.nu, "least": stages.labeler.min_cluster_size}


@cache
def _warm(name: str) -> None:
    """Import and compile what the recipe needs, so that the first time measured is none of that."""
    from clusterkit import recipe

    recipe(name, featuremap__gamma=1.0, random_state=0).fit(np.random.default_rng(0).normal(size=(60, 2)))
