"""What is more than sums on a device: scores of all rows, comparisons of fits, maps and labels made on the host."""

import numpy as np
import pytest
from oracles.devices import blobs, strict
from sklearn.datasets import make_moons

import clusterkit
from clusterkit import recipe
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import IncompatibleStages, NeedsMemory
from clusterkit.fitting.device_paths import check_rows
from clusterkit.fitting.fit import bind
from clusterkit.fitting.samples import EngineSamples
from clusterkit.samples import devices
from clusterkit.samples.array_libraries import is_device_array, to_host
from clusterkit.samples.device_engine import ArrayRows, DeviceEngine
from clusterkit.samples.devices import Device
from clusterkit.samples.engines import LocalEngine
from clusterkit.samples.rows import RowsOfColumns, SlicedRows

pytest.importorskip("array_api_strict", reason="array-api-strict simulates devices")

NAME = "array_api_strict:device1"
DEVICE = Device("array_api_strict", "device1")


@pytest.fixture
def dispatch(monkeypatch):
    monkeypatch.setattr(devices, "dispatches", lambda: True)


class OnCluster(LocalEngine):
    """An engine whose blocks are computed by other processes."""

    in_process = False


class TestScores:
    def test_k_means_of_the_scores_of_other_solvers(self, dispatch):
        X = blobs()
        model = recipe("fuzzy-cmeans", n_clusters=4, n_init=2, random_state=0, labeler="rows_kmeans")
        here, there = (recipe("fuzzy-cmeans").set_params(**model.get_params()).fit(each) for each in (X, strict(X)))
        assert np.array_equal(to_host(there.labels_), here.labels_)
        assert np.array_equal(to_host(there.predict(strict(X))), here.predict(X))
        assert there.exact_on_training_ == here.exact_on_training_


class TestDrivers:
    def test_reports_lie_where_the_samples_lie(self, dispatch):
        model = recipe("emmc-multistart", n_clusters=4, n_maps=2, n_init=2, random_state=0)
        here, there = (
            recipe("emmc-multistart").set_params(**model.get_params()).fit(X) for X in (blobs(), strict(blobs()))
        )
        np.testing.assert_allclose(to_host(there.pooled_), here.pooled_)
        assert is_device_array(there.pooled_)
        assert (there.agreement_, there.winner_) == (here.agreement_, here.winner_)

    def test_the_choice_is_that_of_the_host(self, dispatch):
        changes = {"n_maps": 2, "n_init": 2, "n_trials": 2, "n_references": 1, "n_halvings": 2, "degrees": (8.0, 12.0)}
        model = recipe("emmc-auto", n_clusters=3, random_state=1, **changes)
        X = blobs(n=200)
        here, there = (recipe("emmc-auto").set_params(**model.get_params()).fit(each) for each in (X, strict(X)))
        assert there.gaps_ == here.gaps_
        assert there.chosen_ == here.chosen_
        np.testing.assert_allclose(to_host(there.halves_), here.halves_)
        assert there.resolved_["tuner"]["df"] == here.resolved_["tuner"]["df"]

    def test_samples_that_an_engine_reads(self):
        X = blobs(n=50)
        for rows in (SlicedRows(X), ArrayRows.of(strict(X))):
            samples = EngineSamples(rows, DeviceEngine(DEVICE))
            assert len(samples) == 50
            low, high = samples.extremes()
            np.testing.assert_allclose(high - low, np.ptp(X, axis=0))
            half = samples.columns(np.array([4, 1]))
            assert np.array_equal(half.whole("the rows", "Fit fewer."), X[:, [4, 1]])
            assert np.array_equal(half.gather(np.array([7, 2])), X[[7, 2]][:, [4, 1]])
            assert (half.rows.n, half.rows.d, half.rows.dtype, half.rows.names) == (50, 2, X.dtype, None)
        assert isinstance(half.rows, ArrayRows)
        assert np.array_equal(RowsOfColumns(SlicedRows(X), np.array([2])).read(slice(3, 9)), X[3:9, [2]])

    def test_one_cluster_and_weights(self, dispatch):
        X, weights = blobs(), np.random.default_rng(0).integers(1, 4, size=700)
        changes = {"n_maps": 2, "n_init": 2, "random_state": 0}
        one = recipe("emmc-multistart", n_clusters=1, **changes).fit(strict(X))
        assert set(to_host(one.labels_).tolist()) == {0}
        model = recipe("emmc-multistart", n_clusters=3, balancer=None, **changes)
        here = model.fit(X, sample_weight=weights).labels_
        assert np.array_equal(to_host(model.fit(strict(X), sample_weight=weights).labels_), here)

    def test_what_is_refused(self):
        X = blobs()
        with clusterkit.config(device=NAME):
            with pytest.raises(IncompatibleStages, match="tuner compares fits"):
                recipe("emmc-multistart", n_clusters=3, tuner="svc_auto").fit(X)
            with pytest.raises(IncompatibleStages, match="'auto_pooled' counts rows"):
                recipe("emmc-auto", n_clusters=3).fit(X, sample_weight=np.arange(700.0))


class TestMapsMadeOnTheHost:
    def test_the_fit_says_so_and_new_rows_are_labelled(self, dispatch, tmp_path):
        X = make_moons(300, noise=0.08, random_state=0)[0]
        model = recipe("emmc-graph", n_clusters=2, random_state=0)
        here, there = (recipe("emmc-graph").set_params(**model.get_params()).fit(each) for each in (X, strict(X)))
        assert there.resolved_["featuremap"] == {**here.resolved_["featuremap"], "made_on": "host"}
        assert np.array_equal(to_host(there.labels_), here.labels_)
        predicted = there.predict(strict(X + 0.01))
        assert is_device_array(predicted)
        assert np.array_equal(to_host(predicted), here.predict(X + 0.01))
        there.save(tmp_path / "model.clusterkit")
        assert np.array_equal(clusterkit.load(tmp_path / "model.clusterkit").predict(X + 0.01), here.predict(X + 0.01))

    def test_a_chain_is_made_there_as_a_whole(self, dispatch):
        X = make_moons(300, noise=0.08, random_state=0)[0]
        model = recipe("spectral", n_clusters=2, random_state=0, featuremap=["zscore", "graph"])
        assert model.__sklearn_tags__().array_api_support
        here = model.fit(X).labels_
        assert np.array_equal(to_host(model.fit(strict(X)).labels_), here)

    def test_the_memory_of_the_host_is_asked_for(self, monkeypatch):
        monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "1K")
        rows = ArrayRows.of(strict(blobs()))
        c = recipe("emmc-graph", n_clusters=4).composition()
        with pytest.raises(NeedsMemory, match="the 700 rows of featuremap 'graph', which is made on the host"):
            bind(c, EngineSamples(rows, DeviceEngine(DEVICE)), Seeds(0))

    def test_more_than_a_group_of_rows_is_refused_before_work(self):
        c = recipe("emmc-graph", n_clusters=2).composition()
        check_rows(c, DeviceEngine(DEVICE), 262_144)
        with pytest.raises(IncompatibleStages, match="of at most 262,144 rows, and these are 262,145"):
            check_rows(c, DeviceEngine(DEVICE), 262_145)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nmf", "'nmf' has no form as sums"),
        ("elm-nmf", "'rows_kmeans' needs the scores"),
        ("emmc-graph", "'graph' needs all"),
    ],
)
def test_on_a_cluster_none_of_it_is_there(name, reason):
    with pytest.raises(IncompatibleStages, match=reason):
        check_rows(recipe(name, n_clusters=2).composition(), DeviceEngine(DEVICE, OnCluster()), 100)
