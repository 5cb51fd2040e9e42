"""Runs of the clustering methods in ELM feature space and of their relatives, with each data set prepared once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

import attrs
import numpy as np

from clusterkit_papers.elm.data_sets import ElmDataSet, Samples
from clusterkit_papers.fits import timed_fit, without_warnings
from clusterkit_papers.jobs import Step, Values

__all__ = ["ElmMethod", "ElmRuns", "Nodes"]

Nodes = Literal["distance", "ridge"]
"""Kind of nodes of the ELM map: ``exp(-b |x - a|²)`` or ``exp(-(a · x + b)²)``."""

ONE_START: Mapping[str, object] = {"init__weighting": "uniform", "init__trials": 1, "n_init": 1}
"""The start of the paper's k-means: k distinct random samples are the centres, once."""

LARGE = 900
"""Number of rows above which kernel and ELM matrices are factorised in float32, which takes half the time."""


@attrs.frozen
class ElmMethod:
    """A recipe with its parameters: a plain method, a kernel method, or a method in ELM feature space.

    Parameters
    ----------
    recipe : str
    nodes : int or None
        Number of nodes of the ELM map; None for methods without one.
    kind : {"distance", "ridge"}
        Kind of the nodes: ``exp(-b |x - a|²)`` or ``exp(-(a · x + b)²)``.
    sigma : float or None
        Width of the kernel; None for methods without one.
    factor : bool, default False
        Whether the kernel is ``exp(-σ |x - y|²)``, as many programs have it, and not that of equation 14.
    """

    recipe: str
    nodes: int | None = None
    kind: Nodes = "distance"
    sigma: float | None = None
    factor: bool = False

    @property
    def words(self) -> str:
        """The name of the method in rows."""
        ridge = self.nodes is not None and self.kind == "ridge"
        return self.recipe + (", ridge nodes" if ridge else ", exp(-σ d²)" if self.factor else "")

    @property
    def as_described(self) -> bool:
        """Whether the paper describes the method so; its nodes are as printed, its kernel NMF is another one."""
        return self.kind == "distance" and self.recipe != "kernel-nmf"

    def parameters(self, data_set: ElmDataSet) -> dict[str, object]:
        """Parameters of the recipe on a data set."""
        factorises = self.recipe.endswith("nmf")
        parameters: dict[str, Any] = {"labeler__n_init": 1} if factorises else dict(ONE_START)
        if self.sigma is not None:
            return parameters | {"featuremap__sigma": (2 * self.sigma) ** -0.5 if self.factor else self.sigma}
        if self.nodes is None:
            return parameters | {"featuremap": "identity"}
        if self.kind == "ridge":
            parameters |= {"featuremap__activation": "radbas", "featuremap__width": 1.0}
        return parameters | {"featuremap__n_hidden": self.nodes, "featuremap__scale": data_set.scale}


@attrs.define(eq=False)
class ElmRuns:
    """Runs of methods on a data set; the values of the plain methods are remembered, since other rows need them.

    Parameters
    ----------
    data_set : ElmDataSet
    """

    data_set: ElmDataSet
    _samples: dict[int, Samples] = attrs.field(factory=dict, init=False)
    _plain_values: dict[Any, list[Values]] = attrs.field(factory=dict, init=False)

    def samples(self, k: int) -> Samples:
        """The first k categories, prepared on first use; only the samples used last stay in memory."""
        if k not in self._samples:
            self._samples.clear()
            self._samples[k] = self.data_set.load(k)
        return self._samples[k]

    def plain(self, method: ElmMethod, k: int, seeds: Sequence[int], step: Step | None = None) -> list[Values]:
        """Values of a method without map for each seed, computed once."""
        key = (method, k, tuple(seeds))
        if key not in self._plain_values:
            self._plain_values[key] = self.runs(method, k, seeds, step)
        elif step is not None:
            for seed in seeds:
                step(f"{self.data_set.name}, k = {k}: {method.words}, seed {seed}")
        return self._plain_values[key]

    def runs(self, method: ElmMethod, k: int, seeds: Sequence[int], step: Step | None = None) -> list[Values]:
        """Purity in percent and NMI for each seed. What does not depend on the seed is computed once.

        Raises
        ------
        KeyboardInterrupt
            If Ctrl-C ended a fit.
        """
        from clusterkit import recipe
        from clusterkit.contracts.seeds import Seeds
        from clusterkit.fitting.fit import bind, run
        from clusterkit.metrics import nmi, purity

        samples = self.samples(k)
        plain_nmf = method.recipe == "nmf"
        X: Any = samples.additive if plain_nmf else samples.dense
        if method.recipe.endswith("nmf") and not plain_nmf and len(X) > LARGE:
            X = X.astype(np.float32)
        with without_warnings():
            model = recipe(method.recipe, n_clusters=k, **method.parameters(self.data_set))
            composition = model.composition()
        values: list[Values] = []
        bound: Any = None
        for seed in seeds:
            if bound is None or method.nodes is not None:
                prepared = timed_fit(partial(bind, composition, X, Seeds.of(seed)))
                bound, seconds = prepared.fitted, prepared.seconds
            else:  # the kernel matrix is that of the run before
                bound, seconds = attrs.evolve(bound, seeds=Seeds.of(seed)), 0.0
            timed = timed_fit(partial(run, bound))
            values.append(
                {
                    "purity_percent": 100.0 * purity(samples.y, timed.fitted.labels),
                    "nmi": nmi(samples.y, timed.fitted.labels, average="arithmetic"),
                    "seconds": seconds + timed.seconds,
                }
            )
            if step is not None:
                step(f"{self.data_set.name}, k = {k}: {method.words}, seed {seed}")
        return values
