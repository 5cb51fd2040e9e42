"""Drivers that each differ from a sound one in a single point."""

from __future__ import annotations

from typing import ClassVar

import attrs

from clusterkit.contracts import Driver, DriverResult
from clusterkit.contracts.seeds import Seeds
from clusterkit.fitting.fit import fit


class Shortening(Driver):
    """Loses the label of the last sample."""

    name: ClassVar[str] = "shortening"

    def run(self, compositions, X, seeds):
        one = fit(self.single(compositions), X, seeds)
        return DriverResult(attrs.evolve(one, labels=one.labels[:-1]))


class Misreporting(Driver):
    """Gives its report the name of an attribute of an estimator."""

    name: ClassVar[str] = "misreporting"

    def run(self, compositions, X, seeds):
        return DriverResult(fit(self.single(compositions), X, seeds), {"score_": 1.0})


class Unrepeatable(Driver):
    """Draws seeds of its own."""

    name: ClassVar[str] = "unrepeatable"

    def run(self, compositions, X, seeds):
        return DriverResult(fit(self.single(compositions), X, Seeds.of(None)))


class Shifting(Driver):
    """Centres the data in place."""

    name: ClassVar[str] = "shifting"

    def run(self, compositions, X, seeds):
        X -= X.mean(axis=0) + 1
        return DriverResult(fit(self.single(compositions), X, seeds))


class Forgetful(Driver):
    """Has nothing to report about a single cluster."""

    name: ClassVar[str] = "forgetful"

    def run(self, compositions, X, seeds):
        composition = self.single(compositions)
        return DriverResult(
            fit(composition, X, seeds), {} if composition.n_clusters == 1 else {"k": composition.n_clusters}
        )


class Mute(Driver):
    """Drops the predictor."""

    name: ClassVar[str] = "mute"

    def run(self, compositions, X, seeds):
        return DriverResult(attrs.evolve(fit(self.single(compositions), X, seeds), predict=None))


class Overconfident(Driver):
    """Says that predictions repeat the labels, and exchanges the names of clusters."""

    name: ClassVar[str] = "overconfident"

    def run(self, compositions, X, seeds):
        composition = self.single(compositions)
        one = fit(composition, X, seeds)
        return DriverResult(attrs.evolve(one, labels=composition.n_clusters - 1 - one.labels, exact=True))
