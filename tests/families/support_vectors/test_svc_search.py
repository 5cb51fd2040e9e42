"""The search of the tuner of support vector clustering: its budgets, its shortcuts and its choice."""

import time
import warnings

import numpy as np
import pytest
from oracles.svdd_runs import STAGES, blobs, tune

from clusterkit import ClusterkitWarning, recipe
from clusterkit.families.support_vectors import _svc_search
from clusterkit.families.support_vectors._svc_search import adjusted_rand


@pytest.mark.parametrize("exact_rows", [0, 500])
def test_the_budget_ends_the_search_and_is_reported(exact_rows):
    X, _ = blobs(100)
    whole = tune(X, exact_rows=exact_rows)
    budget = whole.facts["work"] // 2
    with pytest.warns(ClusterkitWarning, match="ended by max_work after"):
        tuned = tune(X, max_work=budget, exact_rows=exact_rows)
    assert tuned.facts["ended"] == "max_work"
    assert 1 <= tuned.facts["runs"] < whole.facts["runs"]
    assert tuned.facts["work"] <= budget
    assert tuned.stages["featuremap"].gamma > 0


@pytest.mark.parametrize("share", [pytest.param(1, marks=pytest.mark.deep), 0.5])
def test_no_clock_decides(monkeypatch, share):
    X, _ = blobs(100)
    budget = round(share * tune(X).facts["work"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusterkitWarning)
        plain = tune(X, max_work=budget)
        hours = iter(range(0, 10**9, 3600))
        monkeypatch.setattr(time, "monotonic", lambda: float(next(hours)))
        slow = tune(X, max_work=budget)
    assert dict(slow.stages) == dict(plain.stages)
    assert {**slow.facts, "seconds": 0} == {**plain.facts, "seconds": 0}


def test_a_budget_cuts_the_widths_that_are_farthest_off(monkeypatch):
    """Every width but the last has all its runs, and the widths are those nearest to the local one."""
    X, _ = blobs(100)
    made = []
    plain = _svc_search.SvcAutoSearch._run

    def run(self, at_width, column):
        partition = plain(self, at_width, column)
        if partition is not None:
            made.append(at_width.row)
        return partition

    monkeypatch.setattr(_svc_search.SvcAutoSearch, "_run", run)
    whole = tune(X)
    order = list(dict.fromkeys(made))
    made.clear()
    with pytest.warns(ClusterkitWarning):
        tune(X, max_work=whole.facts["work"] // 3)
    cut = list(dict.fromkeys(made))
    assert 1 <= len(cut) < len(order)
    assert cut == order[: len(cut)]
    assert [abs(row - order[0]) for row in order] == sorted(abs(row - order[0]) for row in order)


def test_a_labeling_that_a_budget_cut_is_marked():
    X = np.random.default_rng(0).normal(size=(200, 2))
    with pytest.warns(ClusterkitWarning, match="max_work=1"):
        model = recipe("svc", random_state=0, labeler__max_work=1).fit(X)
    assert model.resolved_["labeler"]["ended"] == "max_work"
    assert "ended" not in recipe("svc", random_state=0).fit(X).resolved_["labeler"]


def test_a_number_of_clusters_asked_for_decides_among_the_partitions():
    """Two pairs of groups: two clusters last longest, and four are there if they are wanted."""
    X = np.concatenate([
        np.random.default_rng(i).normal(size=(40, 2)) * 0.5 + shift
        for i, shift in enumerate([[0, 0], [3, 0], [40, 0], [43, 0]])
    ])  # fmt: skip
    for k in (2, 4):
        model = recipe("svc", tuner__n_clusters=k, random_state=0).fit(X)
        assert model.labels_.max() + 1 == k
        assert model.resolved_["tuner"]["clusters"] == k
        assert model.resolved_["tuner"]["ended"] == "all widths tried"


def test_clusters_below_the_least_size_are_dissolved_and_not_covered():
    X, _ = blobs(60)
    runs = _svc_search.SvcRuns.of(STAGES, X, np.arange(60), 500, np.random.default_rng(0))
    assert runs.least == 5
    partition = runs.partition(np.repeat([0, 1, 2, 3, -1], [30, 20, 5, 4, 1]), 0, 0)
    assert (partition.k, partition.coverage) == (3, 55 / 60)
    assert np.bincount(partition.labels).sum() == 60


def test_a_solution_that_is_inside_wider_bounds_is_solved_once(monkeypatch):
    from clusterkit.families.support_vectors.svdd import PreparedSvdd

    solved = []
    plain = PreparedSvdd.solve
    monkeypatch.setattr(PreparedSvdd, "solve", lambda self, *targets: solved.append(self) or plain(self, *targets))
    X, _ = blobs(80)
    facts = tune(X).facts
    assert len(solved) < facts["runs"]


@pytest.mark.deep
def test_every_run_that_shares_a_solution_has_its_partition(monkeypatch):
    """The partitions with and without the shortcut are the same, run by run.

    But for one in a hundred: the solver is exact up to a tolerance, and rounding, which differs between processors, may
    put an edge on the other side of the sphere in one of two solutions.
    """
    from clusterkit.families.support_vectors._svc_search import WidthRuns

    def partitions(X):
        made = {}
        plain = WidthRuns.partition

        def partition(self, fraction, column):
            made[self.row, column] = plain(self, fraction, column)
            return made[self.row, column]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(WidthRuns, "partition", partition)
            tune(X)
        return made

    tables = [blobs(90, seed)[0] for seed in range(3)]
    short = [partitions(X) for X in tables]
    monkeypatch.setattr(_svc_search, "_largest_free_weight", lambda *_: None)
    whole = [partitions(X) for X in tables]
    pairs = [(runs[place], others[place]) for runs, others in zip(short, whole, strict=True) for place in runs]
    equal = [adjusted_rand(partition, other) > 0.999 for partition, other in pairs]
    assert len(equal) > 200
    assert np.mean(equal) >= 0.99


def test_a_best_partition_that_lasts_stays_where_the_local_one_is_much_less_separated(monkeypatch):
    """The choice of `_local_choice` for a best partition below zero separation, by its duration and the loss."""
    from clusterkit.families.support_vectors._svc_search import GridPartition, ReachabilityTree, ScoredPartition

    X, _ = blobs(60)
    runs = _svc_search.SvcRuns.of(STAGES, X, np.arange(60), 500, np.random.default_rng(0))
    search = _svc_search.SvcAutoSearch(runs, True, None, None, None)
    half = _svc_search.FRACTIONS.index(0.5)
    best, local = (GridPartition(row, half, np.arange(60) % 2, 2, 0.6) for row in (0, 3))
    for duration, loss, replaced in ((1, 0.5, True), (2, 0.5, True), (3, 0.5, False), (3, 0.1, True), (6, 0.1, False)):
        monkeypatch.setattr(ReachabilityTree, "separation", lambda self, _, value=-0.3 - loss: value)
        choice = search._local_choice(
            ScoredPartition(best, duration, -0.3, 0.0), [best, local], 8.0, 2.0 ** np.arange(6),
            ReachabilityTree.of(runs.D), {},
        )  # fmt: skip
        assert (choice is not None) == replaced, (duration, loss)
