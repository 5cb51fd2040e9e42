"""Laws of tuners: they decide parameters that were left open and change nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from clusterkit.core.compat import Composition, problems
from clusterkit.core.errors import InvalidParameter
from clusterkit.core.registry import registry
from clusterkit.core.stages import FeatureMap, Labeler, Solver, Stage, Task, Tuner
from clusterkit.testing.compare import same_bits
from clusterkit.testing.law import Law, law
from clusterkit.testing.strategies import Case, cases

__all__ = ["LAWS"]

LAWS: list[Law] = []
"""The laws of every tuner, in the order in which they stand below; filled by the decorator `law`."""


def _tunable() -> Mapping[str, Stage]:
    """The first legal composition whose map and solver have parameters that a tuner may decide."""
    # chosen before they are combined: there are thousands of legal compositions, and a law asks for every example
    featuremaps = [each for each in registry.specimens("featuremap").values() if each.tunable]
    solvers = [each for each in registry.specimens("solver").values() if each.tunable and each.targets == "never"]
    labelers = [each for each in registry.specimens("labeler").values() if each.finds_k]
    for solver, featuremap, labeler in product(solvers, featuremaps, labelers):
        if not problems(Composition(featuremap, solver, labeler, None, None, None)):
            return {"featuremap": featuremap, "solver": solver, "labeler": labeler}
    raise AssertionError("no registered composition has anything to tune")


@law(LAWS, case=cases(["blobs", "duplicates"]))
def decides_only_what_is_open(stage: Tuner, case: Case) -> None:
    """The same slots are returned; some tunable parameters that were None have values, everything else is unchanged."""
    stages, X = _tunable(), case.X
    tuned = stage.tune(stages, X, case.rng("tuner")).stages
    assert set(tuned) == set(stages)
    changed = _only_open(stages, tuned)
    assert changed, "nothing was decided"
    same_bits(X, case.X, "the data afterwards")


@law(LAWS, case=cases(["blobs", "duplicates"]))
def keeps_what_is_given(stage: Tuner, case: Case) -> None:
    """Tuning stages that are tuned already changes nothing, or is refused because nothing is left to decide."""
    tuned = stage.tune(_tunable(), case.X, case.rng("tuner")).stages
    try:
        again = stage.tune(tuned, case.X, case.rng("again")).stages
    except InvalidParameter:
        return
    _only_open(tuned, again)


@law(LAWS, case=cases(["blobs", "duplicates"]))
def same_seed_same_decision(stage: Tuner, case: Case) -> None:
    """Equal data and equal streams give equal stages."""
    one, other = (stage.tune(_tunable(), case.X, case.rng("tuner")).stages for _ in range(2))
    assert dict(one) == dict(other)


@law(LAWS, case=cases())
def what_it_decides_can_be_fitted(stage: Tuner, case: Case) -> None:
    """The map and the solver accept what was decided, on any data; the names of its facts are strings."""
    tuned = stage.tune(_tunable(), case.X, case.rng("tuner"))
    featuremap, solver, labeler = (tuned.stages[slot] for slot in ("featuremap", "solver", "labeler"))
    assert isinstance(featuremap, FeatureMap)
    assert isinstance(solver, Solver)
    assert isinstance(labeler, Labeler)
    space = featuremap.fit(case.X, Task(len(case.X), None), case.rng("featuremap"))
    task = Task(case.n, None)
    outcome = solver.prepare(space, task, case.rng("solver")).solve(None, None, case.rng("solver"))
    labels = labeler.label(outcome, space, task, case.rng("labeler")).labels
    assert labels.shape == (case.n,)
    assert all(isinstance(name, str) for name in tuned.facts)


def _only_open(before: Mapping[str, Stage], after: Mapping[str, Stage]) -> int:
    """Parameters that changed; each of them was None and tunable."""
    changed = 0
    for slot, stage in before.items():
        assert type(after[slot]) is type(stage), f"{slot} became another stage"
        values = after[slot].parameters()
        for name, value in stage.parameters().items():
            if values[name] != value:
                assert value is None, f"{slot}: {name} was set by the user, and the tuner changed it"
                assert name in stage.tunable, f"{slot}: {name} is not tunable"
                changed += 1
    return changed
