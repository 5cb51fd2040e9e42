"""What a stage returns is checked in every fit: one error that names stage and distribution, never a wrong result."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest

import clusterkit
from clusterkit import Pipeline
from clusterkit.contracts import (
    BalanceDecision,
    Balancer,
    Consensus,
    Driver,
    FeatureMap,
    Labeler,
    Labeling,
    Partitioner,
    Prepared,
    Solver,
    Tuned,
    Tuner,
)
from clusterkit.contracts.outcomes import Ending, FunctionDomain, Scores, Status
from clusterkit.contracts.registry import registry
from clusterkit.errors import BrokenStage, ClusterkitWarning, InvalidData, InvalidParameter
from clusterkit.families.means.kmeans import Centroids
from clusterkit.families.shared.codecs import Argmax
from clusterkit.families.shared.scaling import Identity
from clusterkit.fitting import device_paths
from clusterkit.samples import build_space
from clusterkit.samples.transform import IdentityMap

pytestmark = pytest.mark.usefixtures("no_external_plugins")

N = 60
STAGES: dict[str, Any] = {"featuremap": "identity", "solver": "centroids", "labeler": "argmax", "init": "seeds"}


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(N, 2))


@pytest.fixture(autouse=True)
def distribution(monkeypatch):
    """The stages of this module are of a distribution."""

    def provider(self, stage):
        return "odd-stages" if stage.__module__ == __name__ else "clusterkit-toolkit"

    monkeypatch.setattr(type(registry), "provider", provider)


def fit(X, **slots):
    return Pipeline(**{**STAGES, **slots}, n_clusters=3, random_state=0).fit(X)


@attrs.frozen
class Spoilt:
    """A map of rows whose features may not be finite."""

    width: int

    value: float = np.nan

    def __call__(self, Y):
        features = np.array(Y)
        features[-1, 0] = self.value
        return features


@attrs.frozen
class Map(FeatureMap):
    name: ClassVar[str] = "odd"
    gives: ClassVar = Identity.gives
    what: Any = None

    def fit(self, samples, task, rng):
        X = samples.points
        return self.what(X)


SPACES = [
    (lambda X: build_space(Spoilt(2)(X), IdentityMap(2)), "its points have values that are not finite numbers"),
    (
        lambda X: build_space(Spoilt(2, np.inf)(X), IdentityMap(2)),
        "its points have values that are not finite numbers",
    ),
    (lambda X: build_space(X[1:], IdentityMap(2)), "its space has 59 samples instead of 60"),
    (lambda X: X, "fit must return a FeatureSpace, got shape (60, 2) of float64"),
]


def test_features_that_a_map_of_rows_makes(X):
    from clusterkit.samples.transform import RowMap

    @attrs.frozen
    class Logarithm(RowMap):
        width: int = 2

        def __call__(self, Y):
            with np.errstate(all="ignore"):
                return np.log(Y)

    with pytest.raises(BrokenStage, match="its features have values that are not finite numbers"):
        fit(X, featuremap=Map(lambda X: build_space(X, Logarithm())))


class Odd(Prepared):
    resolved: ClassVar = {}

    def __init__(self, what):
        self.what = what

    def solve(self, targets, previous, rng):
        return self.what(targets)

    def objective(self, targets, outcome):
        return None


@attrs.frozen
class OddSolver(Solver):
    name: ClassVar[str] = "odd"
    codings: ClassVar = Centroids.codings
    targets: ClassVar = "every_iteration"
    what: Any = None
    prepares: Any = Odd

    @property
    def paths(self):
        return {
            kind: attrs.evolve(path, prepare=self._prepare, gives=Scores) for kind, path in Centroids().paths.items()
        }

    def _prepare(self, spec, space, task, rng):
        return self.prepares(self.what)


OUTCOMES = [
    (lambda t: Scores(np.full((N, 3), np.nan), None), "its scores are not all finite"),
    (lambda t: Scores(np.full((N, 3), -np.inf), None), "its scores are not all finite"),
    (lambda t: Scores(np.zeros((N - 1, 3)), None), "its rows must be 60 rows of floats, got shape (59, 3)"),
    (lambda t: Scores(np.zeros((N, 2)), None), "its scores must have 3 columns of 1 starts, got 2 of 1"),
    (lambda t: Scores(np.full((N, 3), "a"), None), "its rows must be 60 rows of floats"),
    (lambda t: FunctionDomain(np.sum, level=0.0), "solve must return a Scores, got FunctionDomain"),
    (lambda t: None, "solve must return a Scores, got NoneType None"),
]


def test_what_a_solver_prepares(X):
    with pytest.raises(BrokenStage, match="prepare must return a Prepared, got NoneType None"):
        fit(X, solver=OddSolver(prepares=lambda what: None))


def test_objectives(X, monkeypatch):
    monkeypatch.setattr(Odd, "objective", lambda self, targets, outcome: np.zeros(2))
    with pytest.raises(BrokenStage, match="objective must give 1 values, got shape \\(2,\\)"):
        fit(X, solver=OddSolver(lambda t: Scores(np.zeros((N, 3)), None)))


def test_what_a_solver_warns_of_is_a_warning_of_the_fit(X, monkeypatch):
    monkeypatch.setattr(Odd, "objective", lambda self, targets, outcome: np.zeros(1))
    status = Status(1, Ending.CONVERGED, "as planned", warning="hardly any sample counts")
    with pytest.warns(ClusterkitWarning, match="hardly any sample counts"):
        fit(X, solver=OddSolver(lambda t: Scores(np.eye(3)[np.arange(N) % 3], None, status=status)))


@attrs.frozen
class OddLabeler(Labeler):
    name: ClassVar[str] = "odd"
    consumes: ClassVar = Scores
    what: Any = None

    def label(self, outcome, space, task, rng):
        return self.what(np.arange(N) % 3)


def _other(labels, **changes):
    return Labeling(**{"labels": labels, "predict": None, **changes})


LABELINGS = [
    (lambda y: _other(y[1:]), "it must give 60 integer labels, got shape (59,) of int64"),
    (lambda y: _other(y * 1.0), "it must give 60 integer labels, got shape (60,) of float64"),
    (lambda y: _other(y * np.nan), "it must give 60 integer labels"),
    (lambda y: _other(y.tolist()), "it must give 60 integer labels, got list [0, 1, 2"),
    (lambda y: _other(y + 5), "it gave the label 7, outside -1..2"),
    (lambda y: _other(y - 2), "it gave the label -2, outside -1..2"),
    (lambda y: y, "label must return a Labeling, got shape (60,)"),
    (lambda y: _other(y, costs=np.zeros((3, N))), "its costs must have 60 rows, got shape (3, 60)"),
    (lambda y: _other(y, costs=np.full((N, 3), np.nan)), "its costs have values that are no numbers"),
    (lambda y: _other(y, memberships=np.zeros(N)), "its memberships must have 60 rows"),
    (lambda y: _other(y, outlier_scores=np.zeros(3)), "its outlier_scores must have 60 rows"),
]


class TestOfTheLibraryItself:
    def test_costs_of_a_codec(self, X, monkeypatch):
        monkeypatch.setattr(Argmax, "costs", lambda self, rows, k: np.zeros((len(rows) - 1, k)))
        with pytest.raises(BrokenStage, match=r"labeler 'argmax' of clusterkit-toolkit .* costs must have shape"):
            fit(X)

    def test_features(self, X, monkeypatch):
        from clusterkit.families.shared.scaling import MinMax

        # the answer for the changed class must not stay for the tests after this one
        monkeypatch.setattr(device_paths, "_tried", device_paths._tried.__wrapped__)
        monkeypatch.setattr(MinMax, "fit", lambda self, samples, task, rng: build_space(samples.points, Spoilt(2)))
        with pytest.raises(BrokenStage, match=r"featuremap 'minmax' of clusterkit-toolkit .* its features have values"):
            fit(X, featuremap="minmax")


@attrs.frozen
class OddBalancer(Balancer):
    name: ClassVar[str] = "odd"
    what: Any = None

    def bounds(self, n, k):
        return np.zeros(k), np.full(k, n)

    def reads(self, k):
        return "all"

    def balance(self, costs, task):
        return self.what(costs.labels)

    def resolved(self, n, k):
        return {}


@attrs.frozen
class OddParts(Partitioner):
    name: ClassVar[str] = "odd"
    sees: ClassVar = "input"
    what: Any = None

    def start(self, samples, task, rng):
        return self.what(np.arange(N) % 3)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda y: y[1:], "must give 60 integer labels, got shape (59,) of int64 (partitioner 'odd' of odd-stages)"),
        (lambda y: y + 5, "gave the label 7, outside 0..2 (partitioner 'odd' of odd-stages)"),
        (lambda y: y * np.nan, "must give 60 integer labels, got shape (60,) of float64"),
    ],
)
def test_partitioner(X, returned, message):
    with pytest.raises(InvalidParameter, match=re.escape(f"init 'odd' {message}")):
        fit(X, init=OddParts(returned))


@attrs.frozen
class OddConsensus(Consensus):
    name: ClassVar[str] = "odd"
    takes_k: ClassVar[bool] = True
    what: Any = None

    def merge(self, labelings, k, rng):
        return self.what(np.arange(4) % 2)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda y: y * np.nan, "it must give 4 integer labels, got shape (4,) of float64"),
        (lambda y: y[1:], "it must give 4 integer labels, got shape (3,)"),
        (lambda y: y - 1, "it gave the label -1, outside 0.."),
    ],
)
def test_consensus(returned, message):
    from clusterkit.consensus import combine

    with pytest.raises(BrokenStage, match=re.escape(f"consensus 'odd' of odd-stages breaks its contract: {message}")):
        combine([[0, 0, 1, 1], [0, 1, 0, 1]], OddConsensus(returned), n_clusters=2)


@attrs.frozen
class OddTuner(Tuner):
    name: ClassVar[str] = "odd"
    what: Any = None

    def tune(self, stages, X, rng):
        return self.what(stages)


DECISIONS = [
    (lambda y: BalanceDecision(y[1:]), "it must give 60 integer labels, got shape (59,)"),
    (lambda y: BalanceDecision(y * 0 + 3), "it gave the label 3, outside 0..2"),
    (lambda y: BalanceDecision(lambda rows, costs: y * 0 - 1), "it gave the label -1, outside 0..2"),
    (lambda y: y, "balance must return a BalanceDecision"),
]

TUNED = [
    (lambda stages: stages, "tune must return a Tuned, got dict"),
    (lambda stages: Tuned({}), "tune, under 'featuremap', must return a FeatureMap, got NoneType None"),
    (
        lambda stages: Tuned({**stages, "solver": stages["labeler"]}),
        "tune, under 'solver', must return a Solver, got Argmax",
    ),
]

BREACHES = [
    *((Map, {}, *case) for case in SPACES),
    *((OddSolver, {}, *case) for case in OUTCOMES),
    *((OddLabeler, {"solver": "fuzzy_cmeans"}, *case) for case in LABELINGS),
    *((OddBalancer, {}, *case) for case in DECISIONS),
    *((OddTuner, {}, *case) for case in TUNED),
]


@pytest.mark.parametrize(("stage", "others", "returned", "message"), BREACHES)
def test_what_a_stage_returns(X, stage, others, returned, message):
    expected = f"{stage.kind} 'odd' of odd-stages breaks its contract: {message}"
    with pytest.raises(BrokenStage, match=re.escape(expected)):
        fit(X, **{**others, stage.kind: stage(what=returned)})


@attrs.frozen
class OddDriver(Driver):
    name: ClassVar[str] = "odd"

    def run(self, compositions, X, seeds):
        return None


def test_driver(X):
    from clusterkit.estimators.driven import Driven

    with pytest.raises(
        BrokenStage, match="driver 'odd' of odd-stages breaks its contract: run must return a DriverRes"
    ):
        Driven(OddDriver(), n_clusters=2).fit(X)


class TestNotesOfExceptions:
    @staticmethod
    def fail(*_):
        return np.ones(3)[7]

    @staticmethod
    def stop(*_):
        return next(iter(()))

    @pytest.mark.parametrize(
        "slots",
        [
            {"featuremap": Map(fail)},
            {"solver": OddSolver(fail)},
            {"solver": OddSolver(prepares=fail)},
            {"solver": "fuzzy_cmeans", "labeler": OddLabeler(fail)},
            {"balancer": OddBalancer(fail)},
            {"init": OddParts(fail)},
            {"tuner": OddTuner(fail)},
        ],
    )
    def test_of_every_kind(self, X, slots):
        with pytest.raises(IndexError) as caught:
            fit(X, **slots)
        kind = next(stage for stage in slots.values() if not isinstance(stage, str)).kind
        assert caught.value.__notes__ == [f"raised in {kind} 'odd' of odd-stages"]

    @pytest.mark.parametrize("slots", [{"solver": OddSolver(stop)}, {"balancer": OddBalancer(stop)}])
    def test_of_a_stop_of_an_iteration_which_ends_no_loop_of_the_fit(self, X, slots):
        with pytest.raises(RuntimeError, match="a StopIteration left the stage") as caught:
            fit(X, **slots)
        assert caught.value.__notes__ == [f"raised in {next(iter(slots))} 'odd' of odd-stages"]

    def test_of_a_stage_inside_another_the_innermost(self, X, monkeypatch):
        monkeypatch.setattr(OddDriver, "run", lambda self, *_: fit(X, init=OddParts(self_fail)))
        from clusterkit.estimators.driven import Driven

        with pytest.raises(IndexError) as caught:
            Driven(OddDriver(), n_clusters=2).fit(X)
        assert caught.value.__notes__ == ["raised in partitioner 'odd' of odd-stages"]

    def test_an_error_on_purpose_of_a_built_in_has_none(self, X):
        with pytest.raises(InvalidData) as caught:
            fit(X - 100.0, solver="nmf")
        assert not hasattr(caught.value, "__notes__")

    def test_the_command_line_prints_it(self, X, tmp_path):
        from click.testing import CliRunner

        from clusterkit.cli import app

        class Failing(OddParts):
            name: ClassVar[str] = "failing"

            def start(self, samples, task, rng):
                return np.ones(3)[7]

        clusterkit.register(Failing)
        np.save(tmp_path / "x.npy", X)
        words = ["fit", str(tmp_path / "x.npy"), "-r", "kmeans", "-k", "2", "--set", "init=failing"]
        answer = CliRunner().invoke(app, words)
        assert answer.exit_code == 1
        assert ", raised in partitioner 'failing' of odd-stages (--debug shows where)" in answer.stderr


self_fail = TestNotesOfExceptions.fail
