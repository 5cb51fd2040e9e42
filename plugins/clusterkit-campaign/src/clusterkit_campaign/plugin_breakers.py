"""Stages that break their contract in every way we know: the fit must end in one error that names the stage.

Each slot has a stage called ``odd``, which does what a sound stage does and then spoils what it returns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.contracts import (
    BalanceDecision,
    Balancer,
    Costs,
    Driver,
    FeatureMap,
    Labeler,
    Labeling,
    Partitioner,
    Prepared,
    Solver,
    Task,
    Tuned,
    Tuner,
)
from clusterkit.contracts.outcomes import Scores
from clusterkit.estimators.driven import Driven
from clusterkit.estimators.pipeline import Pipeline
from clusterkit.families.means.kmeans import Centroids
from clusterkit.samples import FeatureSpace, Space, build_space
from clusterkit.samples.coding import Coded
from clusterkit.samples.transform import IdentityMap
from clusterkit_campaign.findings import CRASH, SILENT, UNCLEAR, Problem

__all__ = ["BREAKERS", "ODDITIES", "check_breaker", "fit_with"]

N, K = 30, 3
"""Samples and clusters of the fit that a broken stage takes part in."""


def _raised(error: BaseException) -> Callable[[Any], Any]:
    def spoil(value: Any) -> Any:
        raise error

    return spoil


def _nested(value: Any) -> Any:
    return _nested(value)


ODDITIES: Mapping[str, Callable[..., object]] = {
    "nothing": lambda value: None,
    "a word": lambda value: "labels",
    "an object": lambda value: object(),
    "a row less": lambda value: value[1:],
    "a row more": lambda value: np.concatenate([value, value[:1]]),
    "no rows": lambda value: value[:0],
    "a list": lambda value: value.tolist(),
    "another axis": lambda value: value[..., None, None],
    "transposed": lambda value: value[None].T if value.ndim == 1 else value.T,
    "nan": lambda value: value * np.nan,
    "a single nan": lambda value: np.where(np.arange(value.size).reshape(value.shape) == 3, np.nan, value),
    "infinite": lambda value: value * 1.0 + np.inf,
    "large numbers": lambda value: value + 2**40,
    "negative numbers": lambda value: value - 5,
    "text": lambda value: value.astype(str),
    "objects": lambda value: value.astype(object),
    "complex": lambda value: value + 1j,
    "bool": lambda value: value > 0,
    "masked": lambda value: np.ma.masked_array(value, mask=np.arange(value.size).reshape(value.shape) == 3),
    "an error": _raised(RuntimeError("broken on purpose")),
    "an error without a message": _raised(KeyError()),
    "an error of arithmetic": _raised(ZeroDivisionError("division by zero")),
    "an exit": _raised(SystemExit("enough")),
    "an endless recursion": _nested,
    "no memory": _raised(MemoryError()),
    "an error of numpy": lambda value: value @ np.zeros((value.shape[-1] + 1, 1)),
    "an attribute": lambda value: value.no_such_attribute,
    "an assertion": _raised(AssertionError("it cannot be")),
    "a stop of an iteration": _raised(StopIteration()),
}
"""Conversions that spoil an array of a sound stage."""


def _spoilt(how: str, value: Any) -> Any:
    return ODDITIES[how](value)


class _Odd:
    """A stage with the name of an oddity."""

    name: ClassVar[str] = "odd"


@final
@attrs.frozen
class _OddMap(_Odd, FeatureMap):
    """Spoils the features."""

    how: str = ""

    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> Space:
        """Spoil the samples."""
        X = samples.points
        spoilt = _spoilt(self.how, X)
        return build_space(spoilt, IdentityMap(X.shape[1])) if isinstance(spoilt, np.ndarray) else spoilt


@final
class _OddPrepared(Prepared):
    """Spoils the scores of the prepared k-means."""

    resolved: ClassVar[dict[str, object]] = {}

    def __init__(self, sound: Prepared, how: str) -> None:
        self.sound, self.how = sound, how

    def solve(self, targets: Coded | None, previous: Any, rng: Rng) -> Any:
        """Spoil the scores."""
        outcome: Any = self.sound.solve(targets, previous, rng)
        spoilt = _spoilt(self.how, outcome.rows)
        return Scores(spoilt, None) if isinstance(spoilt, np.ndarray) else spoilt

    def objective(self, targets: Coded | None, outcome: Any) -> Any:
        """Objective of zeros, (1,)."""
        return np.zeros(1)


@final
@attrs.frozen
class _OddSolver(_Odd, Solver):
    """Spoils the scores of k-means."""

    codings: ClassVar[Any] = Centroids.codings
    targets: ClassVar[Any] = "every_iteration"
    how: str = ""

    @property
    def paths(self) -> Mapping[type[Space], Any]:
        """Paths of k-means, not inductive."""
        return {
            kind: attrs.evolve(path, prepare=self._prepare, gives=Scores, inductive=False)
            for kind, path in Centroids().paths.items()
        }

    def _prepare(self, spec: Any, space: Space, task: Task, rng: Rng) -> Prepared:
        return _OddPrepared(Centroids().prepare(space, task, rng), self.how)


def _some_labels() -> Labels:
    return np.arange(N) % K


@final
@attrs.frozen
class _OddLabeler(_Odd, Labeler[Scores]):
    """Spoils labels."""

    consumes: ClassVar[Any] = Scores
    how: str = ""

    def label(self, outcome: Scores, space: Space, task: Task, rng: Rng) -> Labeling:
        """Spoil labels."""
        return Labeling(_spoilt(self.how, _some_labels()), None)


@final
@attrs.frozen
class _OddBalancer(_Odd, Balancer):
    """Spoils balanced labels."""

    how: str = ""

    def bounds(self, n: int, k: int) -> tuple[Any, Any]:
        """No bounds: sizes from 0 to n."""
        return np.zeros(k), np.full(k, n)

    def reads(self, k: int) -> str:
        """The balancer needs all costs at once."""
        return "all"

    def balance(self, costs: Costs, task: Task) -> BalanceDecision:
        """Spoil the labels."""
        return BalanceDecision(_spoilt(self.how, costs.labels))

    def resolved(self, n: int, k: int) -> dict[str, object]:
        """No entries."""
        return {}


@final
@attrs.frozen
class _OddParts(_Odd, Partitioner):
    """Spoils first labels."""

    sees: ClassVar[Any] = "input"
    how: str = ""

    def start(self, samples: Any, task: Task, rng: Rng) -> Labels:
        """Spoil labels."""
        return _spoilt(self.how, _some_labels())


@final
@attrs.frozen
class _OddTuner(_Odd, Tuner):
    """Spoils the stages."""

    how: str = ""

    def tune(self, stages: Any, X: Array, rng: Rng) -> Tuned:
        """A spoilt array in the place of the solver."""
        return Tuned({**stages, "solver": _spoilt(self.how, X)})


@final
@attrs.frozen
class _OddDriver(_Odd, Driver):
    """Returns an array for a result."""

    how: str = ""

    def run(self, compositions: Any, X: Array, seeds: Any) -> Any:
        """A spoilt array."""
        return _spoilt(self.how, X)


BREAKERS: Mapping[str, type] = {
    "featuremap": _OddMap, "solver": _OddSolver, "labeler": _OddLabeler, "balancer": _OddBalancer, "init": _OddParts,
    "tuner": _OddTuner, "driver": _OddDriver,
}  # fmt: skip
"""The broken stage of each slot."""


def check_breaker(slot: str, how: str, counts: Counter[str]) -> list[tuple[Problem, str]]:
    """Fit with a broken stage: an error that names it, or labels that are in order in spite of it."""
    counts["breakers"] += 1
    program = f"from clusterkit_campaign.plugin_breakers import fit_with\nfit_with({slot!r}, {how!r})"
    try:
        labels = np.asarray(fit_with(slot, how).labels_)
    except (Exception, SystemExit) as error:
        problem = _verdict(error)
    else:
        good = labels.shape == (N,) and labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < K
        problem = None if good else Problem(SILENT, f"labels out of order by a broken {slot}", f"{how}: {labels}")
    return [] if problem is None else [(problem, program)]


def _verdict(error: BaseException) -> Problem | None:
    words = str(error) + " ".join(getattr(error, "__notes__", ()))
    if "'odd'" in words:
        return None
    from clusterkit_campaign.findings import DOCUMENTED

    severity = UNCLEAR if isinstance(error, DOCUMENTED) else CRASH
    return Problem(severity, f"{type(error).__name__} that does not name the broken stage", words[:500])


def fit_with(slot: str, how: str) -> Pipeline | Driven:
    """Fit k-means to 30 samples with a broken stage in one slot."""
    X = np.random.default_rng(0).standard_normal((N, 2))
    slots: dict[str, Any] = {"featuremap": "identity", "solver": "centroids", "labeler": "argmax", "init": "seeds"}
    stage = BREAKERS[slot](how=how)
    if slot == "driver":
        return Driven(stage, Pipeline(**slots), n_clusters=K, random_state=0).fit(X)
    if slot == "labeler":
        slots["solver"] = "fuzzy_cmeans"
    return Pipeline(**{**slots, slot: stage}, n_clusters=K, random_state=0).fit(X)
