"""The simplest driver: one fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, final

import attrs

from clusterkit.core.compat import Composition
from clusterkit.core.run import fit
from clusterkit.core.samples import AnySamples
from clusterkit.core.seeds import Seeds
from clusterkit.core.stages import Driver, DriverResult
from clusterkit.drivers.on_sample import fit_on_sample

__all__ = ["SingleDriver"]


@final
@attrs.frozen
class SingleDriver(Driver):
    """Fits the composition once; its starts (``n_init``) are compared inside that fit.

    The work is in core/run.py (`fit`) and core/iteration.py (the loop). Where a tuner
    advises to fit a sample of the rows, on_sample.py (`fit_on_sample`) does so.
    """

    name: ClassVar[str] = "single"
    weighted: ClassVar[bool] = True
    estimator: ClassVar[str] = "clusterkit.estimators.pipeline:Pipeline"

    def run(self, compositions: Sequence[Composition], X: AnySamples, seeds: Seeds) -> DriverResult:
        """Fit the one composition to X, shape (n, d), wherever the samples lie; there is no report."""
        composition = self.single(compositions)
        if composition.rows is not None:
            return DriverResult(fit_on_sample(composition, composition.rows, X, seeds))
        return DriverResult(fit(composition, X, seeds))
