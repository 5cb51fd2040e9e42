"""GeoClust: the plain loop is compared in `test_equal`; here is what differs."""

import numpy as np
import pytest

from clusterkit import recipe
from clusterkit.contracts import Task
from clusterkit.families.equal.drift import DriftRule, find_parts, random_distinct_rows
from clusterkit.families.equal.equal import GeoClustParts
from clusterkit.samples import identity_space
from clusterkit_campaign.oracles import balance as oracle


def cloud(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 2)) * [3.0, 1.0]


def test_it_goes_on_after_balance_and_returns_the_best():
    X = cloud(2000)
    model = recipe("geoclust", n_clusters=4, random_state=0, solver__max_iter=700).fit(X)
    assert model.n_iter_ == 700 or "stand still" in model.stop_reason_ or model.history_[-1] == 0
    assert model.objective_ == min(model.history_)
    assert model.converged_ == (model.objective_ < 10)
    assert np.argmin(model.history_) + 1 == model.outcome_.status.facts["best_iteration"]
    assert np.flatnonzero(model.history_ < 10)[0] < model.n_iter_ - 1


def test_an_empty_cell_counts_one():
    np.testing.assert_array_equal(oracle.coefficients(np.array([0, 6]), 3.0, True), [[0.0, 5.0], [-1.0, 0.0]])
    X = np.repeat([[0.0, 0.0], [1.0, 0.0]], [6, 1], axis=0)
    rule = DriftRule(original=True, max_iter=20, step=0.01)
    parts = find_parts(X, 3, rule, np.random.default_rng(0), record=True)
    seeds = X[random_distinct_rows(X, 3, np.random.default_rng(0))[0]]
    sizes, _ = oracle.jacobi(X, seeds, 0.01, 20, original=True)
    np.testing.assert_array_equal(parts.sizes, sizes[: len(parts.sizes)])
    assert sizes.min() == 0


def test_centres_that_run_away_end_it():
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(size=(5000, 2)), rng.normal(size=(3, 2)) + 30.0])
    X = np.concatenate([X[-3:], X[:-3]])
    order = np.random.default_rng(5).permutation(len(X))
    placed = np.empty_like(X)
    placed[order] = X
    parts = find_parts(placed, 3, DriftRule(original=True, step=1.0, restarts=0), np.random.default_rng(5))
    assert "ran away" in parts.reason
    assert np.isfinite(parts.centres).all()
    assert parts.imbalance == parts.imbalances.min()


def test_repair_and_the_partitioner():
    X = cloud(500)
    labels = GeoClustParts(max_iter=50, repair=True).start(identity_space(X), Task(len(X), 3), np.random.default_rng(0))
    assert sorted(np.bincount(labels)) == [166, 167, 167]
    model = recipe("geoclust", n_clusters=3, random_state=0, solver__max_iter=50, solver__repair=True).fit(X)
    assert sorted(np.bincount(model.labels_)) == [166, 167, 167]
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.filterwarnings("ignore:the attributes of X spread over")
def test_denormal_numbers_are_scaled_by_a_number():
    X = np.random.default_rng(0).integers(0, 8, (9, 2)) * 5e-324
    with pytest.warns(match="all 9 samples are in one cluster of the 3 asked for"):
        assert recipe("geoclust", n_clusters=3, random_state=0).fit(X).n_clusters_ == 1
