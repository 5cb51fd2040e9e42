"""Laws of tuners: they fill in what was left open and touch nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from clusterkit.core.compat import legal_compositions
from clusterkit.core.stages import Stage, Tuner
from clusterkit.testing.compare import same_bits
from clusterkit.testing.law import Law, law
from clusterkit.testing.strategies import Case, cases

__all__ = ["LAWS"]

LAWS: list[Law] = []


def _tunable() -> Mapping[str, Stage]:
    """The first legal composition whose map and solver have parameters that a tuner may decide."""
    for c in legal_compositions():
        if c.featuremap.tunable and c.solver.tunable:
            return {"featuremap": c.featuremap, "solver": c.solver, "labeler": c.labeler}
    raise AssertionError("no registered composition has anything to tune")


@law(LAWS, case=cases(["blobs", "duplicates"]))
def decides_only_what_is_open(stage: Tuner, case: Case) -> None:
    """The same slots come back, with some tunable None replaced and everything else as it was."""
    stages, X = _tunable(), case.X
    tuned = stage.tune(stages, X, case.rng("tuner"))
    assert set(tuned) == set(stages)
    changed = 0
    for slot, before in stages.items():
        after = tuned[slot]
        assert type(after) is type(before), f"{slot} became another stage"
        for name, value in before.parameters().items():
            if after.parameters()[name] != value:
                assert value is None, f"{slot}: {name} was given, and was changed"
                assert name in before.tunable, f"{slot}: {name} is not tunable"
                changed += 1
    assert changed, "nothing was decided"
    same_bits(X, case.X, "the data afterwards")


@law(LAWS, case=cases(["blobs", "duplicates"]))
def same_seed_same_decision(stage: Tuner, case: Case) -> None:
    """Equal data and equal streams give equal stages."""
    one, other = (stage.tune(_tunable(), case.X, case.rng("tuner")) for _ in range(2))
    assert dict(one) == dict(other)
