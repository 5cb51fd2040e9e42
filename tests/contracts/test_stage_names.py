"""How an error names a stage: by kind, name and the distribution that provides it."""

from __future__ import annotations

from typing import ClassVar

import attrs
import pytest

import clusterkit
from clusterkit.contracts import Tuned, Tuner
from clusterkit.contracts.checks import named
from clusterkit.contracts.providers import Entry
from clusterkit.contracts.registry import registry
from clusterkit.errors import BrokenPlugin, BrokenStage
from clusterkit.families.means.kmeans import Centroids

pytestmark = pytest.mark.usefixtures("no_external_plugins")


@attrs.frozen
class OddTuner(Tuner):
    name: ClassVar[str] = "odd"

    def tune(self, stages, X, rng):
        return Tuned(stages, {})


def test_who_provides_a_stage():
    assert named(Centroids()) == "solver 'centroids' of clusterkit-toolkit"
    assert named(OddTuner()) == f"tuner 'odd' of module {__name__}"
    clusterkit.register(OddTuner)
    assert named(OddTuner()) == "tuner 'odd' of this session"
    registry.forget()
    place = f"{OddTuner.__module__}:{OddTuner.__qualname__}"
    registry._session["tuner", "odd"] = Entry("tuner", "odd", place, "odd-tuners")
    assert named(OddTuner()) == "tuner 'odd' of odd-tuners"


def test_the_error_is_one_of_a_plugin():
    assert issubclass(BrokenStage, BrokenPlugin)
