# abstract classes as keys, which mypy refuses by a rule that it means to give up
# mypy: disable-error-code="type-abstract"
"""A stage of every kind as a third party writes it, and how stages are found by name."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, assert_type, final

import attrs
import numpy as np
from numpy.typing import NDArray

import clusterkit
from clusterkit import Recipe, hookimpl, register
from clusterkit.contracts import (
    BalanceDecision,
    Balancer,
    Consensus,
    Costs,
    Driver,
    DriverResult,
    FeatureMap,
    Labeler,
    Labeling,
    Partitioner,
    Path,
    Prepared,
    Solver,
    Stage,
    Task,
    Tuned,
    Tuner,
)
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.labelings import Labelings
from clusterkit.contracts.outcomes import Domain, Outcome, Scores
from clusterkit.contracts.params import real
from clusterkit.contracts.registry import registry
from clusterkit.contracts.seeds import Seeds
from clusterkit.drivers import compose
from clusterkit.fitting.fit import fit
from clusterkit.samples import FeatureSpace, Space
from clusterkit.samples.coding import Coded, Coding

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]
Rng = np.random.Generator


@register
@final
@attrs.frozen
class Halved(FeatureMap):
    name: ClassVar[str] = "halved"

    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> Space:
        X = samples.points
        return clusterkit.stages("featuremap")["identity"]().space_of(X / 2, task, rng)


@attrs.frozen(eq=False)
class PreparedNearest(Prepared):
    solver: "Nearest"
    space: FeatureSpace

    @property
    def resolved(self) -> Mapping[str, float]:
        return {"scale": self.solver.scale}

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        assert targets is not None
        return Scores(self.space.rows() * self.solver.scale, None)

    def objective(self, targets: Coded | None, outcome: Outcome) -> None:
        return None


def prepare(solver: "Nearest", space: FeatureSpace, task: Task, rng: Rng) -> PreparedNearest:
    return PreparedNearest(solver, space)


def too_few(solver: "Nearest", space: FeatureSpace) -> PreparedNearest:
    return PreparedNearest(solver, space)


@final
@attrs.frozen
class Nearest(Solver):
    name: ClassVar[str] = "nearest"
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})
    scale: float = real(1.0, above=0)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        assert_type(Path(prepare, Scores), Path[Nearest, FeatureSpace])
        Path(too_few, Scores)  # type: ignore[arg-type]
        return {FeatureSpace: Path(prepare, Scores)}


@final
@attrs.frozen
class Inside(Labeler[Domain]):
    name: ClassVar[str] = "inside"
    consumes: ClassVar[type[Outcome]] = Domain

    def label(self, outcome: Domain, space: Space, task: Task, rng: Rng) -> Labeling:
        labels = np.where(outcome.value(space.points) >= outcome.level, 0, -1)
        assert_type(outcome.level, float)
        return Labeling(labels, None)


@final
@attrs.frozen
class Untold(Labeler):
    """Without a type of outcome, as before there were any."""

    name: ClassVar[str] = "untold"
    consumes: ClassVar[type[Outcome]] = Scores

    def label(self, outcome: Scores, space: Space, task: Task, rng: Rng) -> Labeling:
        return Labeling(np.argmax(outcome.rows, axis=1), None)


@final
@attrs.frozen
class Wrong(Labeler[Domain]):
    name: ClassVar[str] = "wrong"

    def label(self, outcome: Scores, space: Space, task: Task, rng: Rng) -> Labeling:  # type: ignore[override]
        raise NotImplementedError


@final
@attrs.frozen
class Free(Balancer):
    name: ClassVar[str] = "free"

    def bounds(self, n: int, k: int) -> tuple[Floats, Floats]:
        return np.zeros(k), np.full(k, float(n))

    def reads(self, k: int) -> str:
        return "all"

    def balance(self, costs: Costs, task: Task) -> BalanceDecision:
        return BalanceDecision(costs.labels)

    def resolved(self, n: int, k: int) -> Mapping[str, int]:
        return {"most": n}


@final
@attrs.frozen
class BySign(Partitioner[FeatureSpace]):
    name: ClassVar[str] = "by_sign"
    spaces: ClassVar[tuple[type[Space], ...]] = (FeatureSpace,)

    def start(self, samples: FeatureSpace, task: Task, rng: Rng) -> Integers:
        return (samples.rows()[:, 0] > 0).astype(np.intp)


@final
@attrs.frozen
class First(Consensus):
    name: ClassVar[str] = "first"
    finds_k: ClassVar[bool] = True

    def merge(self, labelings: Labelings, k: int | None, rng: Rng) -> Integers:
        assert_type(labelings.members, Integers)
        first: Integers = labelings.members[0]
        return first


@final
@attrs.frozen
class Keep(Tuner):
    name: ClassVar[str] = "keep"

    def tune(self, stages: Mapping[str, Stage], X: Floats, rng: Rng) -> Tuned:
        return Tuned(stages, {"rule": "none"})


@final
@attrs.frozen
class Once(Driver):
    name: ClassVar[str] = "once"

    def run(self, compositions: Sequence[Composition], X: Floats, seeds: Seeds) -> DriverResult:
        return DriverResult(fit(self.single(compositions), X, seeds), {"runs": 1})


@hookimpl
def clusterkit_solvers() -> dict[str, str]:
    return {"nearest": "my_package:Nearest"}


def names_of_stages() -> None:
    assert_type(clusterkit.stages("solver")["ridge"], type[Solver])
    assert_type(clusterkit.stages("driver"), dict[str, type[Driver]])
    assert_type(clusterkit.stages(), dict[str, dict[str, type[Stage]]])
    assert_type(registry.get("featuremap", "elm"), type[FeatureMap])
    assert_type(registry.get("partitioner", "kmeans")(), Partitioner[Any])
    assert_type(registry.get("recipe", "emmc"), Recipe)
    assert_type(register(Nearest, replace=True), type[Nearest])


def values_of_slots(value: str | None) -> None:
    assert_type(compose.resolve_as(Solver, "solver", {"name": "ridge", "C": 1.0}), Solver)
    assert_type(compose.resolve_as(FeatureMap, "featuremap", ["zscore", "rbf"]), FeatureMap)
    assert_type(compose.resolve("balancer", value), Stage | None)
    assert_type(Nearest().with_parameters(scale=2.0), Nearest)
