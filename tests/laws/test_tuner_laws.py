"""The laws of tuners: no legitimate tuner is refused, whatever stage it is made for; a broken one is, by name."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np
import pytest
from hypothesis import Phase

import clusterkit
from clusterkit.contracts import FeatureMap, Tuned, Tuner, params
from clusterkit.samples import build_space
from clusterkit.testing import check_stage
from clusterkit.testing.laws.driver import compositions_to_tune


@pytest.fixture(autouse=True)
def few_examples(change_settings):
    """Whether a tuner is refused at all needs few examples."""
    change_settings(phases=[Phase.generate], max_examples=5)


@final
@attrs.frozen(eq=False)
class FirstColumns:
    """The row map of `Narrowed`."""

    width: int

    def __call__(self, Y):
        return np.ascontiguousarray(Y[:, : self.width])


@final
@attrs.frozen
class Narrowed(FeatureMap):
    """The first attributes.

    Parameters
    ----------
    width : int, optional
        How many; all of them if None.
    """

    name: ClassVar[str] = "narrowed"
    nonnegative: ClassVar[bool | None] = None
    tunable: ClassVar[frozenset[str]] = frozenset({"width"})
    width: int | None = params.integer(None, at_least=1, optional=True)

    def fit(self, samples, task, rng):
        X = samples.points
        return build_space(X, FirstColumns(X.shape[1] if self.width is None else min(self.width, X.shape[1])))


@final
@attrs.frozen
class HalfTheColumns(Tuner):
    """Made for one map of its author: no built-in composition has anything for it to decide."""

    name: ClassVar[str] = "half_the_columns"

    def tune(self, stages, X, rng):
        featuremap = stages["featuremap"]
        if featuremap.name != "narrowed" or featuremap.width is not None:
            return Tuned(stages)
        width = -(-X.shape[1] // 2)
        return Tuned({**stages, "featuremap": featuremap.with_parameters(width=width)}, {"width": width})


@final
@attrs.frozen
class ForRidge(Tuner):
    """Made for two stages together, one of which learns from labels and leaves nothing open itself."""

    name: ClassVar[str] = "for_ridge"

    def tune(self, stages, X, rng):
        if stages["solver"].name != "ridge" or stages["featuremap"].name != "narrowed" or stages["featuremap"].width:
            return Tuned(stages)
        return Tuned({**stages, "featuremap": stages["featuremap"].with_parameters(width=1)})


@pytest.mark.parametrize("tuner", [HalfTheColumns(), ForRidge()], ids=lambda tuner: tuner.name)
def test_a_tuner_of_a_stage_that_is_not_built_in_keeps_the_laws(tuner):
    clusterkit.register(Narrowed)
    check_stage(tuner)


def test_every_tunable_stage_is_tried_with_every_other_that_fits_and_no_more():
    clusterkit.register(Narrowed)
    mixes = [(c.featuremap, c.solver, c.labeler) for c in compositions_to_tune()]
    tunable = {stage for mix in mixes for stage in mix if stage.tunable}
    assert {"rbf", "svdd", "complete_graph", "narrowed"} <= {stage.name for stage in tunable}
    assert ("narrowed", "ridge") in {(featuremap.name, solver.name) for featuremap, solver, _ in mixes}
    pairs = {frozenset((one, other)) for mix in mixes for one in mix for other in mix if one.tunable and one != other}
    assert len(mixes) == len(set(mixes)) <= len(pairs)


@final
@attrs.frozen
class Idle(Tuner):
    """Decides nothing at all."""

    name: ClassVar[str] = "idle"

    def tune(self, stages, X, rng):
        return Tuned(stages)


def test_a_tuner_that_decides_nothing_is_refused_with_the_stages_that_were_tried():
    with pytest.raises(AssertionError, match=r"(?s)decides_something.*'rbf' \+ 'subsampled' \+ .*gamma of 'rbf'"):
        check_stage(Idle())


@final
@attrs.frozen
class Meddling(Tuner):
    """Sets a parameter that the user may have set."""

    name: ClassVar[str] = "meddling"

    def tune(self, stages, X, rng):
        if "gamma" not in stages["featuremap"].tunable:
            return Tuned(stages)
        return Tuned({**stages, "featuremap": stages["featuremap"].with_parameters(gamma=float(rng.random()) + 0.1)})


@final
@attrs.frozen
class Replacing(Tuner):
    """Exchanges a stage."""

    name: ClassVar[str] = "replacing"

    def tune(self, stages, X, rng):
        return Tuned({**stages, "featuremap": Narrowed()})


@pytest.mark.parametrize(
    ("tuner", "message"),
    [(Meddling(), "gamma of 'rbf' was set by the user"), (Replacing(), "featuremap became another stage")],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_broken_tuner_is_refused(tuner, message):
    with pytest.raises(AssertionError, match=message):
        check_stage(tuner)
