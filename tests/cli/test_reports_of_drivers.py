"""`fit` with a recipe whose driver reports what no built-in driver does."""

from __future__ import annotations

import json
from typing import ClassVar, final

import attrs
import numpy as np

import clusterkit
from clusterkit.contracts import Driver, DriverResult
from clusterkit.fitting.fit import fit


@final
@attrs.frozen
class Chatty(Driver):
    """One fit, and a report in which the agreement is that of each fit."""

    name: ClassVar[str] = "chatty"

    def run(self, compositions, X, seeds):
        return DriverResult(fit(self.single(compositions), X, seeds), {"agreement": np.ones(3), "n_fits": 1})


def test_a_driver_may_report_an_array_as_agreement(run, table):
    clusterkit.register(Chatty)
    stages = {"featuremap": "identity", "solver": "centroids", "labeler": "argmax", "init": "seeds"}
    clusterkit.register(clusterkit.Recipe("chatty-means", "one fit", "nobody", stages, driver="chatty"))
    answer = run("fit", table, "--recipe", "chatty-means", "-k", 2, "--drop", "id", "--json")
    assert answer.exit_code == 0, answer.output
    assert "agreement" not in json.loads(answer.stdout)
