"""What a fit reports is true: no convergence to nothing, no objective left out, no cluster lost without a word."""

import contextlib
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from clusterkit import recipe
from clusterkit.errors import ClusterkitWarning, InvalidData

X = make_blobs([40, 40], centers=[[0, 0], [5, 5]], random_state=0)[0]


@pytest.mark.parametrize("name", ["gmmc", "kmeans"])
def test_an_objective_that_is_no_number_is_no_convergence(name, monkeypatch):
    model = recipe(name, n_clusters=2, random_state=0)
    model.fit(X)
    prepared = type(model.composition().solver.prepare(model.space_, _task(), np.random.default_rng(0)))
    monkeypatch.setattr(
        prepared, "objective", lambda self, targets, outcome: np.full(targets.starts if targets else 1, np.nan)
    )
    if hasattr(prepared, "descend"):
        monkeypatch.delattr(prepared, "descend")
    model.fit(X)
    assert not model.converged_
    assert "but the objective is nan, out of the range of numbers" in model.stop_reason_


def _task():
    from clusterkit.contracts import Task

    return Task(80, 2)


def test_the_objective_of_a_solver_on_a_subsample_is_that_of_its_history():
    model = recipe("fsvc", featuremap__gamma=0.5, random_state=0).fit(X)
    assert np.isfinite(model.objective_)
    assert model.objective_ == model.history_[-1]


@pytest.mark.parametrize("name", ["cpmmc", "cpm3c"])
def test_rising_histories_say_what_they_are(name):
    model = recipe(name, n_clusters=2, random_state=0).fit(X)
    assert np.all(np.diff(model.history_) > 0)
    assert model.stop_reason_.endswith("the history has the values of the programs with the cuts so far, which rise")


@pytest.mark.parametrize("name", ["kmeans", "cmeans", "kernel-kmeans"])
@pytest.mark.parametrize("copies", [1, 3])
def test_rows_too_near_to_be_told_apart_are_one_cluster_with_a_warning(name, copies):
    near = np.repeat([[1.0, 0.0], [1.0 + 1e-15, 0.0]], copies, axis=0)
    with pytest.warns(ClusterkitWarning, match=rf"all {2 * copies} samples are in one cluster of the 2 asked for"):
        labels = recipe(name, n_clusters=2, random_state=0).fit(near).labels_
    assert set(labels.tolist()) == {0}


class TestFewerClusters:
    """A fit that was asked for k clusters, and has fewer, says so once."""

    few = np.repeat(np.random.default_rng(0).normal(size=(3, 2)), 20, axis=0)

    @staticmethod
    def caught(model, rows):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(rows)
        return [str(each.message) for each in caught]

    @pytest.mark.parametrize(
        "name", ["fuzzy-cmeans", "genie", "single-linkage", "mass-cut", "ncut", "auto", "kmeans", "spectral", "mixture"]
    )
    def test_fewer_distinct_rows(self, name):
        model = recipe(name, n_clusters=5, random_state=0)
        (message,) = self.caught(model, self.few)
        assert model.n_clusters_ == 3
        if name not in ("kmeans", "spectral", "mixture"):  # their solvers say it in words of their own
            assert message == "3 of the 5 clusters that were asked for have rows, because only 3 rows are distinct"

    @pytest.mark.parametrize("name", ["nmf", "elm-nmf", "kernel-nmf"])
    @pytest.mark.parametrize("k", [3, 5])
    def test_equal_rows_share_a_label_though_a_factorisation_is_not_unique(self, name, k):
        ray = np.repeat([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]], 5, axis=0)
        for rows in (ray, np.repeat([[0.0, 1.0], [3.0, 1.0], [5.0, 9.0]], 5, axis=0)):
            model = recipe(name, n_clusters=k, solver__max_iter=100, random_state=0)
            messages = self.caught(model, rows)
            assert (model.labels_.reshape(3, 5) == model.labels_[::5, None]).all()
            assert len(messages) == (model.n_clusters_ < k)
            assert k == 3 or messages[0].endswith("because only 3 rows are distinct")

    @pytest.mark.parametrize(
        "name", ["emmc", "emmc-multi", "emmc-single", "emmc-auto", "emmc-multistart", "emmc-paper", "equal-clustering"]
    )
    def test_equal_rows_that_sizes_part_are_reported(self, name):
        model = recipe(name, n_clusters=5, random_state=0)
        few = {"n_maps": 2, "n_init": 2} if name in ("emmc-auto", "emmc-multistart") else {}
        model.set_params(**few)
        (message,) = self.caught(model, self.few)
        assert message == (
            "5 clusters were asked for, and only 3 rows are distinct: some equal rows are in different clusters"
        )
        slot = "solver" if name == "equal-clustering" else "balancer"
        parted = sum(len(set(model.labels_[start : start + 20])) > 1 for start in (0, 20, 40))
        assert model.resolved_[slot]["points_parted"] == parted > 0

    def test_a_balancer_that_parts_equal_rows_says_so(self):
        rows = np.repeat([[0.0], [4.0], [5.0]], 5, axis=0)
        balanced = recipe("kmeans", n_clusters=2, balancer="band", balancer__slack=0, random_state=0)
        assert self.caught(balanced, rows) == []
        assert balanced.resolved_["balancer"]["points_parted"] == 1
        assert "points_parted" not in recipe("kmeans", n_clusters=2, random_state=0).fit(rows).resolved_.get(
            "balancer", {}
        )

    def test_a_band_that_allows_empty_clusters(self):
        model = recipe("emmc", n_clusters=100, random_state=0)
        messages = self.caught(model, np.random.default_rng(0).normal(size=(100, 2)))
        assert messages == [f"{model.n_clusters_} of the 100 clusters that were asked for have rows"]

    def test_only_the_answer_of_a_driver_counts(self):
        model = recipe("emmc-multistart", n_clusters=60, n_maps=3, n_init=2, random_state=0)
        messages = self.caught(model, np.random.default_rng(0).normal(size=(100, 2)))
        assert messages == [f"{model.n_clusters_} of the 60 clusters that were asked for have rows"]

    @pytest.mark.parametrize("n_clusters", [None, "auto", (2, 5)])
    def test_nothing_is_missing_where_the_number_is_open(self, n_clusters):
        (message,) = self.caught(recipe("auto", n_clusters=n_clusters, random_state=0), self.few)
        assert message.endswith(
            "rows are distinct, and they are in 2 clusters. Where each is a cluster, take n_clusters=3"
        )
        if n_clusters is not None:
            assert self.caught(recipe("fuzzy-cmeans", n_clusters=n_clusters, random_state=0), self.few) == []

    def test_all_clusters_have_rows(self):
        assert self.caught(recipe("kmeans", n_clusters=3, random_state=0), self.few) == []


class TestNoWarningsOfNumpy:
    """Numbers at the ends of their range end in a documented error or a result, never in a RuntimeWarning."""

    normal = np.random.default_rng(0).normal(size=(40, 2))
    single = (np.random.default_rng(0).random((40, 3)) * 1e-30).astype(np.float32)
    outlier = np.vstack([X[1:], [[1e153, 1e153]]])
    denormal = np.repeat([[0.0], [1.0]], 10, axis=0) + 5e-324 * np.random.default_rng(0).integers(3, size=(20, 2))

    @pytest.mark.parametrize(
        ("name", "data"),
        [
            ("geoclust", normal * 1e-310),
            ("equal-clustering", normal * 1e-310),
            ("equal-clustering", normal * 1e-160),
            ("equal-clustering", outlier),
            ("geoclust", outlier),
            ("kernel-kmeans", single),
            ("kernel-nmf", single),
            ("edsvc", outlier),
            ("edsvc", denormal),
            ("svc", (np.repeat([[0.0], [4.0]], 8, axis=0) + normal[:16]).astype(np.float32) * np.float32(1e-30)),
            ("kmeans", np.where(normal > 0, 1.0, -1.0) * np.finfo(float).max),
        ],
    )
    def test_none_leaks(self, name, data):
        k = {} if name in ("edsvc", "svc") else {"n_clusters": 2}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with contextlib.suppress(InvalidData):
                assert len(recipe(name, random_state=0, **k).fit(data).labels_) == len(data)
        assert {each.category for each in caught} <= {ClusterkitWarning}

    def test_sizes_of_denormal_samples_are_no_surprise(self):
        with pytest.warns(ClusterkitWarning) as caught:
            recipe("geoclust", n_clusters=2, random_state=0).fit(self.normal * 1e-310)
        spread, one = sorted(str(each.message) for each in caught)[::-1]
        assert "squared distances that small are 0" in spread
        assert "all 40 samples are in one cluster of the 2 asked for" in one
