"""The tuner of support vector clustering: what it decides, what it leaves, and what it says about it."""

import warnings
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.maps import mapped
from oracles.svdd_runs import STAGES, blobs, tune
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from clusterkit import ClusterkitWarning, Pipeline, recipe
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.featuremap import Chain
from clusterkit.contracts.outcomes import Ending
from clusterkit.contracts.seeds import Seeds
from clusterkit.drivers import compose
from clusterkit.families.margins.ridge import Ridge
from clusterkit.families.shared.elm import Elm
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.shared.scaling import ZScore
from clusterkit.families.support_vectors import _svc_search
from clusterkit.families.support_vectors._svc_search import (
    SAME,
    GridPartition,
    ReachabilityTree,
    _reach,
    adjusted_rand,
    best,
)
from clusterkit.families.support_vectors.complete_graph import CompleteGraph
from clusterkit.families.support_vectors.svc_auto import SvcAuto
from clusterkit.families.support_vectors.svdd import Svdd
from clusterkit.samples.limits import listening
from clusterkit_campaign.oracles.measures import plain_rand, plain_reach, plain_separation

OPEN_SIZE = "min_cluster_size" in CompleteGraph.tunable


def test_a_fit_without_parameters_finds_the_clusters_and_reports_how():
    X, y = blobs()
    model = recipe("svc", random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    facts = model.resolved_["tuner"]
    assert facts["name"] == "svc_auto"
    assert facts["rows"] == 120
    assert facts["clusters"] == 3
    assert facts["runs"] >= 10
    assert facts["seconds"] > 0
    assert facts["ended"] == "all widths tried"
    assert model.resolved_["featuremap"]["gamma"] == model.outcome_.kernel.gamma
    assert 0 < model.resolved_["solver"]["nu"] < 1
    assert model.get_params()["featuremap__gamma"] is None


def test_moons_that_hdbscan_would_find_are_found():
    X, y = make_moons(200, noise=0.06, random_state=0)
    assert adjusted_rand_score(y, recipe("svc", random_state=0).fit(X).labels_) > 0.9


@pytest.mark.parametrize("featuremap", [Rbf(gamma=0.5), Rbf(sigma=1.0), Rbf(sigma_fraction=0.2)])
def test_a_fixed_width_needs_no_run(featuremap):
    X, _ = blobs(60)
    tuned = tune(X, {**STAGES, "featuremap": featuremap})
    assert tuned.stages["featuremap"] == featuremap
    assert tuned.stages["solver"].nu == 0.2
    assert tuned.facts["runs"] == 0


def test_a_given_bound_stands_for_the_share_of_outliers():
    X, _ = blobs(60)
    tuned = tune(X, {**STAGES, "solver": Svdd(C=1.0)})
    assert tuned.stages["solver"] == Svdd(C=1.0)
    assert tuned.stages["featuremap"].gamma is not None


@pytest.mark.parametrize("stages", [
    {"featuremap": Elm(), "solver": Ridge(), "labeler": CompleteGraph(min_cluster_size=2)},
    {"featuremap": Rbf(gamma=1.0), "solver": Svdd(C=0.5), "labeler": CompleteGraph(min_cluster_size=2)},
])  # fmt: skip
def test_where_nothing_is_open_nothing_is_done(stages):
    X, _ = blobs(30)
    tuned = tune(X, stages)
    assert dict(tuned.stages) == stages
    assert tuned.facts["runs"] == 0
    assert "nothing to decide" in tuned.facts["rule"]


def test_a_chain_is_judged_after_its_scaling():
    X, y = blobs()
    stretched = X * [1.0, 1e4]
    plain = tune(mapped(ZScore(), X, 0).rows())
    chained = compose.tuned(
        Composition(**{**STAGES, "featuremap": Chain((ZScore(), Rbf()))}), SvcAuto(), stretched, Seeds(0)
    )
    first, last = chained.composition.featuremap.maps
    assert first == ZScore()
    assert last.gamma == pytest.approx(plain.stages["featuremap"].gamma, rel=1e-6)
    model = recipe("svc", featuremap=["zscore", "rbf"], random_state=0).fit(stretched)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert model.resolved_["featuremap"]["gamma"] == pytest.approx(plain.stages["featuremap"].gamma, rel=1e-6)


def test_the_scale_of_the_data_does_not_matter():
    X, _ = blobs()
    one, other = tune(X), tune(1024.0 * X)
    assert other.stages["featuremap"].gamma * 1024.0**2 == pytest.approx(one.stages["featuremap"].gamma, rel=1e-9)
    assert other.stages["solver"] == one.stages["solver"]


def test_equal_seeds_give_equal_stages_on_a_sample_too():
    X, _ = blobs(150)
    one, other = (tune(X, seed=3, max_rows=60) for _ in range(2))
    assert dict(one.stages) == dict(other.stages)
    assert {**one.facts, "seconds": 0} == {**other.facts, "seconds": 0}


@pytest.mark.skipif(not OPEN_SIZE, reason="min_cluster_size has a default of its own")
def test_a_sample_keeps_the_share_of_the_least_cluster():
    X, _ = blobs(400)
    tuned = tune(X, max_rows=100)
    assert tuned.facts["rows"] == 100
    assert tuned.stages["labeler"].min_cluster_size == 20  # 5 of 100 rows


def test_ctrl_c_keeps_the_partitions_so_far():
    X, _ = blobs(60)
    whole = tune(X)

    def stop(report):
        if report.stage == "svc_auto" and report.iteration >= 25:
            raise KeyboardInterrupt

    with listening(stop):
        tuned = tune(X)
    assert tuned.interrupted
    assert tuned.facts["ended"] == "interrupted"
    assert tuned.facts["runs"] < whole.facts["runs"]
    assert tuned.stages["featuremap"].gamma > 0


def test_progress_is_reported():
    reports = []
    with listening(reports.append):
        tune(blobs(60)[0])
    iterations = [report.iteration for report in reports if report.stage == "svc_auto"]
    assert iterations == sorted(iterations)
    assert iterations[0] == 1


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7])
def test_a_handful_of_rows_is_one_cluster(n):
    X = np.random.default_rng(n).normal(size=(n, 2))
    with pytest.warns(ClusterkitWarning, match=f"{n} rows are too few to search") if n > 1 else nullcontext():
        model = recipe("svc", random_state=0).fit(X)
    assert not model.labels_.any()
    assert "no partition qualified" in model.resolved_["tuner"]["rule"]


def test_equal_rows_are_one_cluster_with_one_warning():
    with pytest.warns(ClusterkitWarning, match="are equal") as record:
        model = recipe("svc", random_state=0).fit(np.full((30, 3), 2.5))
    assert len(record) == 1
    assert not model.labels_.any()


def piles(sizes, points, seed=0):
    """Rows that repeat some points, in random order."""
    rows = np.repeat(np.asarray(points, dtype=float)[: len(sizes)], sizes, axis=0)
    return np.random.default_rng(seed).permutation(rows)


CORNERS = ((1, 1), (2, 2), (5, 1), (0, 6))
PILES = {
    "two": piles([10, 10], CORNERS),
    "three": piles([40, 10, 25], CORNERS),
    "four of many": piles([500] * 4, CORNERS),
    "boolean": piles([30, 70], [[0], [1]]),
    "three booleans": piles([25] * 8, np.indices((2, 2, 2)).reshape(3, -1).T),
    "one-hot": piles([30, 50, 20, 50], np.eye(4)),
    "grid": piles([20] * 16, np.indices((4, 4)).reshape(2, -1).T),
    "answers from 1 to 5": piles([10, 40, 60, 40, 15], [[1], [2], [3], [4], [5]]),
    "few": piles([3, 3], CORNERS),
    "uneven": piles([10, 500], CORNERS),
    "uneven three": piles([10, 100, 500], CORNERS),
    "uneven four": piles([10, 20, 300, 500], CORNERS),
    "three rows and thirty": piles([3, 30], CORNERS),
}


@pytest.mark.parametrize(
    ("name", "X"),
    [
        pytest.param(name, X, id=f"{name}-{case}")
        for case, X in PILES.items()
        for name in ("svc", "edsvc", *(() if case == "few" else ("psvc", "fsvc", "sgd-lmsvc")))
    ],
)
def test_rows_in_piles_are_as_many_clusters(name, X):
    model = recipe(name, random_state=0).fit(X)
    pile = np.unique(X, axis=0, return_inverse=True)[1]
    assert adjusted_rand_score(pile.reshape(-1), model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_a_least_size_of_the_user_holds_for_piles():
    X = piles([30, 100], CORNERS)
    assert recipe("svc", labeler__min_cluster_size=30, random_state=0).fit(X).n_clusters_ == 2
    with pytest.warns(ClusterkitWarning, match="no partition qualified"):
        assert recipe("svc", labeler__min_cluster_size=31, random_state=0).fit(X).n_clusters_ == 1


def test_a_stray_row_joins_the_nearest_pile():
    X = np.vstack([piles([100, 100], CORNERS), [[3.0, 3.0]]])
    model = recipe("svc", random_state=0).fit(X)
    assert np.unique(X[model.labels_ == model.labels_[-1]], axis=0).tolist() == [[2.0, 2.0], [3.0, 3.0]]
    assert model.labels_.max() == 1


def test_single_rows_beside_piles_are_outliers_of_psvc():
    X = np.vstack([piles([50, 60], CORNERS), [[9.0, 0.0], [0.0, 9.0], [12.0, 12.0]]])
    model = recipe("psvc", random_state=0).fit(X)
    assert np.flatnonzero(model.labels_ < 0).tolist() == [110, 111, 112]
    assert model.n_clusters_ == 2


@pytest.mark.parametrize("name", ["svc", "edsvc"])
@pytest.mark.parametrize("exponent", [-150, -160, -200])
def test_rows_too_close_for_any_bandwidth_are_one_cluster_with_a_warning(name, exponent):
    X = np.random.default_rng(0).normal(size=(30, 2)) * 10.0**exponent
    with pytest.warns(ClusterkitWarning):
        model = recipe(name, random_state=0).fit(X)
    assert not model.labels_.any()


@pytest.mark.filterwarnings("ignore:tuner 'svc_auto'. no partition qualified")
@pytest.mark.parametrize("d", [2, 5, 40])
def test_one_cloud_stays_nearly_whole(d):
    counts = [
        recipe("svc", random_state=0).fit(np.random.default_rng(seed).normal(size=(150, d))).labels_.max() + 1
        for seed in range(3)
    ]
    assert max(counts) <= 3


def test_chance_is_reported():
    model = recipe("svc", random_state=0).fit(np.random.default_rng(0).normal(size=(150, 2)))
    assert "chance" in model.resolved_["tuner"]["rule"]
    assert model.resolved_["solver"]["nu"] == 0.5


def test_the_least_size_of_a_cluster():
    assert [_svc_search.least_size(m) for m in (1, 8, 20, 25, 100, 400, 2000)] == [2, 2, 4, 5, 5, 10, 22]


def test_repeated_rows_and_constant_columns():
    X, y = blobs()
    X = np.column_stack([np.round(X), np.full(len(X), 3.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = recipe("svc", random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_values_that_overflow_are_refused_by_the_fit_not_by_the_tuner():
    X, _ = blobs(30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="overflow"):
            recipe("svc", random_state=0).fit(X * 1e300)


def test_a_wrong_composition_is_refused_before_any_run(monkeypatch):
    X, _ = blobs(30)
    monkeypatch.setattr(SvcAuto, "tune", lambda *_: pytest.fail("the tuner ran"))
    with pytest.raises(ValueError, match="reads"):
        Pipeline(featuremap="rbf", solver="svdd", labeler="rows_kmeans", tuner="svc_auto", n_clusters=2).fit(X)


partitions = st.lists(st.integers(0, 3), min_size=4, max_size=14)


def partition_of(labels, row=0):
    labels = np.unique(labels, return_inverse=True)[1]
    return GridPartition(row, 0, labels, int(labels.max()) + 1, 1.0)


@given(st.data())
def test_agreement_is_the_adjusted_rand_index(data):
    one = data.draw(partitions)
    other = data.draw(st.lists(st.integers(0, 3), min_size=len(one), max_size=len(one)))
    assert adjusted_rand(partition_of(one), partition_of(other)) == pytest.approx(plain_rand(one, other), abs=1e-12)


@given(st.integers(0, 2**16), partitions)
def test_separation_is_that_of_a_plain_tree(seed, labels):
    X = np.random.default_rng(seed).normal(size=(len(labels), 2))
    D = np.square(X[:, None] - X).sum(axis=2)
    partition = partition_of(labels)
    separation = ReachabilityTree.of(D).separation(partition)
    assert separation == pytest.approx(plain_separation(X, partition.labels), abs=1e-9)


@given(st.lists(st.sampled_from([0, 1, 2, None]), min_size=1, max_size=9))
def test_a_plateau_is_counted_to_both_sides(kinds):
    shapes = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1]]
    path = [None if kind is None else partition_of(shapes[kind], row) for row, kind in enumerate(kinds)]
    grid = {(p.row, p.column): p for p in path if p is not None}
    for partition in grid.values():
        reach = (_reach(partition, grid, -1), _reach(partition, grid, 1))
        assert reach == plain_reach([None if p is None else p.labels for p in path], partition.row, SAME)


def test_the_middle_of_the_plateau_is_taken():
    path = [partition_of([0] * 8 + [1] * 8, row) for row in range(5)]
    X = np.concatenate([np.arange(8.0), 50.0 + np.arange(8.0)])[:, None]
    choice = best(path, ReachabilityTree.of(np.square(X - X.T)))
    assert (choice.partition.row, choice.lasts) == (2, 5)
    assert not choice.chance
    assert best([], ReachabilityTree.of(np.square(X - X.T))) is None


def test_ctrl_c_in_a_run_ends_the_search(monkeypatch):
    """A solver that keeps what it has at Ctrl-C must not hide it from the search."""
    import attrs

    from clusterkit.families.support_vectors.svdd import PreparedSvdd

    plain, calls = PreparedSvdd.solve, []

    def solve(self, targets, previous, rng):
        outcome = plain(self, targets, previous, rng)
        calls.append(1)
        if len(calls) == 7:
            return attrs.evolve(outcome, status=attrs.evolve(outcome.status, ending=Ending.INTERRUPTED))
        return outcome

    monkeypatch.setattr(PreparedSvdd, "solve", solve)
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 8])
    with pytest.warns(ClusterkitWarning, match="'svc_auto' was ended by interrupted after 7 runs"):
        model = recipe("svc", random_state=0).fit(X)
    assert model.resolved_["tuner"]["interrupted"]
    assert model.interrupted_
    assert len(calls) == 8  # and the fit itself
