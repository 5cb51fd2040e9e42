"""Laws of drivers and of tuners.

Drivers: one fit is returned, which the seeds determine, and the data stay as they are. Tuners: they decide parameters
that were left open and change nothing else.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, cast

import attrs
import numpy as np

from clusterkit.contracts import Driver, DriverResult, Partitioner, Stage, Tuned, Tuner
from clusterkit.contracts.composition import Composition, problems
from clusterkit.contracts.registry import StageKind, registry
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import IncompatibleStages, InvalidData, InvalidParameter
from clusterkit.fitting.fit import fit
from clusterkit.testing.compare import same_bits
from clusterkit.testing.law import Law, law
from clusterkit.testing.strategies import Case, cases

LAWS: list[Law] = []
"""The laws of every driver, in the order in which they stand below; filled by the decorator `law`."""


def _composition(k: int) -> Composition:
    """A composition of k clusters that every driver can work with: random starts, an objective, labels as targets."""
    stage: dict[str, Any] = {
        "featuremap": registry.get("featuremap", "elm")().with_parameters(n_hidden=6),
        "solver": registry.get("solver", "ridge")(),
        "labeler": registry.get("labeler", "argmax")(),
        "init": registry.get("partitioner", "random")(),
    }
    c = Composition(**stage, n_clusters=k, n_init=2, max_iter=8)
    assert not problems(c)
    return c


def _result(stage: Driver, case: Case, k: int | None = None) -> DriverResult:
    return stage.run([_composition(case.k if k is None else k)], case.X, Seeds(case.seed))


@law(LAWS, case=cases())
def returns_one_fit_of_all_samples(stage: Driver, case: Case) -> None:
    """Labels 0..k-1 of all samples, a reason why it stopped, and a report under identifiers."""
    answer = _result(stage, case)
    labels = answer.fit.labels
    assert labels.shape == (case.n,)
    assert labels.dtype.kind in "iu"
    assert labels.min() >= 0
    assert labels.max() < case.k
    assert answer.fit.reason
    assert not answer.fit.interrupted
    for name in answer.report:
        assert name.isidentifier(), f"an estimator cannot offer {name!r} as an attribute"
        assert not name.endswith("_"), f"the estimator adds the underscore to {name!r} itself"


@law(LAWS, case=cases(["blobs", "duplicates", "equal_rows"]))
def same_seeds_same_answer(stage: Driver, case: Case) -> None:
    """Equal data and equal seeds give equal labels and histories bit for bit; the data are left alone."""
    X = case.X
    one = stage.run([_composition(case.k)], X, Seeds(case.seed))
    other = _result(stage, case)
    same_bits(one.fit.labels, other.fit.labels, "labels of two runs")
    same_bits(np.asarray(one.fit.history), np.asarray(other.fit.history), "histories of two runs")
    assert set(one.report) == set(other.report)
    same_bits(X, case.X, "the data afterwards")


@law(LAWS, case=cases(["blobs"]))
def answers_a_single_cluster(stage: Driver, case: Case) -> None:
    """A composition of one cluster gives zeros, and the report has the same entries as ever."""
    one = _result(stage, case, 1)
    assert not one.fit.labels.any()
    assert set(one.report) == set(_result(stage, case).report)


@law(LAWS, case=cases(["blobs"]))
def predicts_new_samples(stage: Driver, case: Case) -> None:
    """The fit of an inductive composition predicts; where it says that it is exact, the labels come back."""
    fit = _result(stage, case).fit
    assert fit.predict is not None
    predicted = fit.predict(case.X)
    assert predicted.shape == (case.n,)
    if fit.exact:
        same_bits(predicted, fit.labels, "predictions for the training rows")


TUNER_LAWS: list[Law] = []
"""The laws of every tuner, in the order in which they stand below; filled by the decorator `law`."""

TRIALS = (Case("blobs", 24, 3, 3), Case("blobs", 150, 3, 3, absolute=True))
"""Data on which a tuner is tried: few rows first, for these are enough for most; then more, none of them negative."""

SLOTS = ("featuremap", "solver", "labeler")
"""The slots that a tuner gets."""


def compositions_to_tune() -> Iterator[Composition]:
    """Compositions of registered stages with something to decide: each tunable stage with each other that fits it.

    A tuner may be made for one stage, or for two together, so no single composition is enough for all tuners; and
    there are thousands of legal ones, so not all can be tried. The first composition of each pair is given.
    """
    stages = [sorted(_affordable(slot), key=lambda stage: not stage.tunable) for slot in SLOTS]
    inits = cast("list[Partitioner]", list(registry.specimens("partitioner").values()))
    covered: set[tuple[Stage, Stage]] = set()
    for featuremap, solver, labeler in product(*stages):
        mix = (featuremap, solver, labeler)
        pairs = {(one, other) for one, other in product(mix, mix) if one.tunable and one is not other}
        if pairs <= covered:
            continue
        number = None if labeler.finds_k else 2
        for init in inits if solver.targets != "never" else [None]:
            c = Composition(featuremap, solver, labeler, None, init, number, max_iter=5)
            if not problems(c):
                covered |= pairs
                yield c
                break


def _affordable(kind: str) -> list[Any]:
    """A stage of each class of a kind, with the parameters that make a costly one cheap but nothing tunable set."""
    return [
        stage.with_parameters(**{name: value for name, value in stage.trial.items() if name not in stage.tunable})
        for stage in registry.specimens(cast("StageKind", kind)).values()
    ]


def _stages(c: Composition) -> dict[str, Stage]:
    return {slot: getattr(c, slot) for slot in SLOTS}


def _words(c: Composition) -> str:
    return " + ".join(f"'{stage.name}'" for stage in _stages(c).values())


@functools.cache
def _composition_of(tuner: Tuner) -> Composition:
    """The first composition in which the tuner decides something; searched once, for the laws ask at every example."""
    tried: dict[str, None] = {}
    for trial, c in product(TRIALS, compositions_to_tune()):
        tried[_words(c)] = None
        try:
            answer = _tune(tuner, c, trial)
        except (InvalidParameter, IncompatibleStages):  # a tuner may refuse what it is not made for
            continue
        except Exception as error:  # whatever a tuner raises goes on, with the stages that it had
            error.add_note(f"the stages were {_words(c)}")
            raise
        if _only_open(_stages(c), answer.stages):
            return c
    owners = [stage for slot in SLOTS for stage in _affordable(slot) if stage.tunable]
    offered = "; ".join(f"{', '.join(sorted(stage.tunable))} of '{stage.name}'" for stage in owners)
    raise AssertionError(
        f"nothing was decided in any of {len(tried)} compositions, from {next(iter(tried), None)} to "
        f"{next(reversed(tried), None)}. Registered stages leave to a tuner: {offered or 'nothing'}. A parameter is "
        "left to tuners where its stage lists it in `tunable` and it is None"
    )


def _tune(tuner: Tuner, c: Composition, case: Case) -> Tuned:
    """The tuner's decision on the data of a case, without negative values where a stage takes none."""
    return tuner.for_clusters(c.n_clusters).tune(_stages(c), _for(c, case).X, case.rng("tuner"))


def _for(c: Composition, case: Case) -> Case:
    """The case, without negative values where the composition takes none."""
    takes_negative = c.featuremap.takes_negative and not c.solver.nonnegative
    return case if takes_negative else attrs.evolve(case, absolute=True)


@law(TUNER_LAWS)
def decides_something(stage: Tuner) -> None:
    """There is a composition of registered stages in which it decides a parameter that was left open."""
    _composition_of(stage)


@law(TUNER_LAWS, case=cases(["blobs", "duplicates"]))
def decides_only_what_is_open(stage: Tuner, case: Case) -> None:
    """The same slots are returned; some tunable parameters that were None have values, everything else is unchanged.

    Equal data and equal streams give equal stages.
    """
    c = _composition_of(stage)
    case, stages = _for(c, case), _stages(c)
    X = case.X
    tuned = stage.for_clusters(c.n_clusters).tune(stages, X, case.rng("tuner")).stages
    assert set(tuned) == set(stages), f"the slots of {_words(c)} became {sorted(tuned)}"
    _only_open(stages, tuned)
    same_bits(X, case.X, "the data afterwards")
    assert dict(tuned) == dict(_tune(stage, c, case).stages), f"two runs on {_words(c)} differ"


@law(TUNER_LAWS, case=cases(["blobs", "duplicates"]))
def keeps_what_is_given(stage: Tuner, case: Case) -> None:
    """Tuning stages that are tuned already changes nothing, or is refused because nothing is left to decide."""
    c = _composition_of(stage)
    tuned = _tune(stage, c, case).stages
    try:
        again = stage.for_clusters(c.n_clusters).tune(tuned, _for(c, case).X, case.rng("again")).stages
    except InvalidParameter:
        return
    _only_open(tuned, again)


@law(TUNER_LAWS, case=cases())
def what_it_decides_can_be_fitted(stage: Tuner, case: Case) -> None:
    """The stages accept what was decided, on any data that they take at all; the names of its facts are strings."""
    c = _composition_of(stage)
    case = _for(c, case)
    tuned = _tune(stage, c, case)
    decided: dict[str, Any] = {slot: tuned.stages[slot] for slot in SLOTS}
    try:
        labels = fit(attrs.evolve(c, **decided), case.X, Seeds(case.seed)).labels
    except InvalidData:
        try:
            fit(c, case.X, Seeds(case.seed))
        except InvalidData:
            return
        raise
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
                assert value is None, f"{slot}: {name} of '{stage.name}' was set by the user, and the tuner changed it"
                assert name in stage.tunable, f"{slot}: {name} of '{stage.name}' is not tunable"
                changed += 1
    return changed
