"""The simplest driver: one fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, final

import attrs

from clusterkit.contracts import Driver, DriverResult
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.seeds import Seeds
from clusterkit.drivers.on_sample import fit_on_sample
from clusterkit.fitting.fit import fit
from clusterkit.fitting.samples import ArrayOrSamples

__all__ = ["SingleDriver"]


@final
@attrs.frozen
class SingleDriver(Driver):
    """Fits the composition once; its starts (``n_init``) are compared inside that fit.

    The work is in fitting/fit.py (`fit`) and contracts/iteration.py (the loop). Where a tuner
    advises to fit a sample of the rows, on_sample.py (`fit_on_sample`) does so.
    """

    name: ClassVar[str] = "single"
    weighted: ClassVar[bool] = True
    linked: ClassVar[bool] = True
    estimator: ClassVar[str] = "clusterkit.estimators.pipeline:Pipeline"

    def run(self, compositions: Sequence[Composition], X: ArrayOrSamples, seeds: Seeds) -> DriverResult:
        """Fit the one composition to X, shape (n, d), in memory or elsewhere; there is no report."""
        composition = self.single(compositions)
        if composition.rows is not None:
            return DriverResult(fit_on_sample(composition, composition.rows, X, seeds))
        return DriverResult(fit(composition, X, seeds))
