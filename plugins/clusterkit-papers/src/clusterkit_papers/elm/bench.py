"""Runs of the clustering methods in ELM feature space and their relatives, one data set prepared once for all."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import attrs
import numpy as np

from clusterkit.core.errors import ClusterkitWarning
from clusterkit_papers.elm.sets import Samples, Setting
from clusterkit_papers.jobs import Step, Values

__all__ = ["Bench", "Method", "Nodes"]

Nodes = Literal["distance", "ridge"]

ONE_START: Mapping[str, Any] = {"init__weighting": "uniform", "init__trials": 1, "n_init": 1}
"""k distinct random samples are the centres, once."""
LARGE = 900
"""Rows from which kernel and ELM matrices are factorised in float32, in half the time."""


@attrs.frozen
class Method:
    """A recipe with the parameters of one data set.

    Parameters
    ----------
    recipe : str
    nodes : int or None
        Of ELM methods.
    kind : {"distance", "ridge"}
        Of the nodes: ``exp(-b |x - a|²)`` or ``exp(-(a · x + b)²)``.
    sigma : float or None
        Of kernel methods.
    """

    recipe: str
    nodes: int | None = None
    kind: Nodes = "distance"
    sigma: float | None = None

    @property
    def words(self) -> str:
        """As rows name it."""
        return self.recipe + (", ridge nodes" if self.nodes is not None and self.kind == "ridge" else "")

    def parameters(self, setting: Setting) -> dict[str, Any]:
        """Of the recipe."""
        factors = self.recipe.endswith("nmf")
        found: dict[str, Any] = {"labeler__n_init": 1} if factors else dict(ONE_START)
        if self.sigma is not None:
            return found | {"featuremap__sigma": self.sigma}
        if self.nodes is None:
            return found | {"featuremap": "identity"}
        if self.kind == "ridge":
            found |= {"featuremap__activation": "radbas", "featuremap__width": 1.0}
        return found | {"featuremap__n_hidden": self.nodes, "featuremap__scale": setting.scale}


@attrs.define(eq=False)
class Bench:
    """A data set, and what was measured so far of its plain methods."""

    setting: Setting
    _samples: dict[int, Samples] = attrs.field(factory=dict, init=False)
    _known: dict[Any, list[Values]] = attrs.field(factory=dict, init=False)

    def samples(self, k: int) -> Samples:
        """The first k categories, prepared on first use; only those used last are kept."""
        if k not in self._samples:
            self._samples.clear()
            self._samples[k] = self.setting.load(k)
        return self._samples[k]

    def plain(self, method: Method, k: int, seeds: Sequence[int], step: Step | None = None) -> list[Values]:
        """Runs of a method without map, from memory if they were made before."""
        key = (method, k, tuple(seeds))
        if key not in self._known:
            self._known[key] = self.runs(method, k, seeds, step)
        elif step is not None:
            for seed in seeds:
                step(f"{self.setting.name}, k = {k}: {method.words}, seed {seed}")
        return self._known[key]

    def runs(self, method: Method, k: int, seeds: Sequence[int], step: Step | None = None) -> list[Values]:
        """Purity in percent and NMI of each seed; what does not depend on the seed is computed once.

        Raises
        ------
        KeyboardInterrupt
            If Ctrl-C ended a fit: a fit keeps what it has and returns, but a table must not go on with that.
        """
        from clusterkit import recipe
        from clusterkit.core.run import bind, run
        from clusterkit.core.seeds import Seeds
        from clusterkit.metrics import nmi, purity

        samples = self.samples(k)
        plain_nmf = method.recipe == "nmf"
        X: Any = samples.additive if plain_nmf else samples.dense
        if method.recipe.endswith("nmf") and not plain_nmf and len(X) > LARGE:
            X = X.astype(np.float32)
        found: list[Values] = []
        bound: Any = None
        with warnings.catch_warnings():
            # features that vanish are what the paper's nodes do in high dimension; the row shows the outcome
            warnings.simplefilter("ignore", ClusterkitWarning)
            model = recipe(method.recipe, n_clusters=k, **method.parameters(self.setting))
            composition = model.composition()
            for seed in seeds:
                begin = time.perf_counter()
                streams = Seeds.of(seed)
                again = bound is not None and method.nodes is None  # the kernel matrix is that of the run before
                bound = attrs.evolve(bound, seeds=streams) if again else bind(composition, X, streams)
                fitted = run(bound)
                if fitted.interrupted:
                    raise KeyboardInterrupt
                found.append(
                    {
                        "purity_percent": 100.0 * purity(samples.y, fitted.labels),
                        "nmi": nmi(samples.y, fitted.labels, average="arithmetic"),
                        "seconds": time.perf_counter() - begin,
                    }
                )
                if step is not None:
                    step(f"{self.setting.name}, k = {k}: {method.words}, seed {seed}")
        return found
