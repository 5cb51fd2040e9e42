"""Sample weights: whole ones equal repeated rows, and what counts rows says so before any work."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import clusterkit
from clusterkit import recipe
from clusterkit.contracts import Partitioner
from clusterkit.drivers.compose import compose
from clusterkit.errors import IncompatibleStages, InvalidData
from clusterkit.estimators.driven import Driven
from clusterkit.fitting.fit import run
from clusterkit.testing.compare import small_blocks, small_groups

X = make_blobs(240, 4, centers=3, cluster_std=2.0, random_state=0)[0]
WEIGHTS = np.random.default_rng(1).integers(0, 4, len(X))
REPEATED = np.repeat(np.arange(len(X)), WEIGHTS)


class Fixed(Partitioner):
    """The labels of a start, for samples or their copies."""

    name = "fixed"
    weighted = True
    index = None

    def start(self, samples, task, rng):
        labels = np.argsort(np.argsort(X[:, 0])) * task.k // len(X)
        return labels if task.n == len(X) else labels[REPEATED]


@pytest.mark.parametrize(
    ("slots", "k"),
    [
        ({"featuremap": "identity", "solver": "centroids", "labeler": "argmax", "balancer": None}, 3),
        ({"featuremap": "identity", "solver": "ridge", "labeler": "argmax", "balancer": None}, 3),
        ({"featuremap": "identity", "solver": {"name": "ridge", "C": 3.0}, "labeler": "interval", "balancer": None}, 3),
        ({"featuremap": "identity", "solver": "ridge", "labeler": "threshold", "balancer": None}, 2),
    ],
)  # fmt: skip
def test_whole_weights_equal_repeated_rows(slots, k):
    from clusterkit.contracts.composition import weighted
    from clusterkit.contracts.seeds import Seeds
    from clusterkit.fitting.fit import bind

    composition = compose({**slots, "init": Fixed()}, k)
    counted = run(bind(weighted(composition, WEIGHTS, len(X)), X, Seeds.of(0)))
    copies = run(bind(composition, X[REPEATED], Seeds.of(0)))
    assert np.array_equal(counted.labels[REPEATED], copies.labels)
    assert counted.objective == pytest.approx(copies.objective, rel=1e-9)
    assert counted.history[: len(copies.history)] == pytest.approx(copies.history, rel=1e-9)
    assert np.array_equal(counted.predict(X), copies.predict(X))


def test_k_means_finds_the_weighted_optimum_of_scikit_learn():
    model = recipe("kmeans", n_clusters=3, random_state=0).fit(X, sample_weight=WEIGHTS)
    other = KMeans(3, n_init=10, random_state=0).fit(X, sample_weight=WEIGHTS)
    assert model.objective_ == pytest.approx(other.inertia_, rel=1e-3)
    nearest = np.linalg.norm(model.cluster_centers_[:, None] - other.cluster_centers_[None], axis=2).argmin(axis=1)
    np.testing.assert_allclose(model.cluster_centers_, other.cluster_centers_[nearest], atol=0.2)


@pytest.mark.parametrize(
    "init", ["random", "seeds", "kmeans", "kmeans_mapped", {"name": "seeds", "weighting": "kmeans++"}]
)
def test_a_sample_of_weight_zero_is_nobody_s_centre(init):
    far = np.vstack([X, [[1e4] * 4]])
    weights = np.append(np.ones(len(X)), 0.0)
    model = recipe("kmeans", n_clusters=3, init=init, n_init=2, random_state=0).fit(far, sample_weight=weights)
    assert np.abs(model.cluster_centers_).max() < 100
    assert model.objective_ < 1e5


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("kmeans", {}),
        ("emmc-multi", {"balancer": None}),
        ("emmc-single", {"balancer": None}),
        ("fuzzy-cmeans", {}),
        ("nmf", {"solver__update": "anls", "labeler": "argmax"}),
    ],
)
def test_out_of_core_weights_give_the_labels_of_memory(name, changes):
    parameters = {"n_clusters": 3, "n_init": 1, "random_state": 0, **changes}
    with small_groups(100), small_blocks():
        memory = recipe(name, **parameters).fit(X, sample_weight=WEIGHTS)
        rows = recipe(name, **parameters).fit(clusterkit.open(X), sample_weight=WEIGHTS)
    assert np.array_equal(memory.labels_, rows.labels_)
    assert rows.objective_ == pytest.approx(memory.objective_, rel=1e-9)


def test_pooled_fits_count_weights():
    base = recipe("emmc", balancer=None)
    model = Driven({"name": "pooled", "n_maps": 2}, base, n_clusters=2, random_state=0)
    counted = model.fit(X, sample_weight=WEIGHTS).pooled_
    assert not np.array_equal(counted, model.fit(X).pooled_)


@pytest.mark.parametrize(
    ("name", "changes", "reason"),
    [
        ("equal-clustering", {}, "solver: 'equal' counts rows here"),
        ("nmf", {}, "solver: 'nmf' counts rows"),
        ("lapgmm", {}, "solver: 'lapgmm' counts rows here"),
        ("kernel-kmeans", {}, "solver: 'centroids' counts rows here"),
        ("kmeans", {"n_clusters": "auto"}, "n_clusters: its choice compares fits by rows"),
        ("svc", {"n_clusters": None}, "tuner: it compares fits by rows"),
        ("emmc-auto", {}, "driver: 'auto_pooled' counts rows"),
        ("spectral", {}, "featuremap: 'graph' counts rows: one of weight 0"),
        ("kmeans", {"featuremap": ["zscore", "graph"]}, "featuremap: 'graph' counts rows"),
    ],
)
def test_what_counts_rows_is_refused_unless_all_weights_are_the_same(name, changes, reason):
    parameters = {"n_clusters": 2, "random_state": 0, **changes}
    model = recipe(name, **{key: value for key, value in parameters.items() if value is not None})
    with pytest.raises(IncompatibleStages) as refusal:
        model.fit(X[:60], sample_weight=WEIGHTS[:60])
    assert reason in str(refusal.value)
    if name in ("emmc", "nmf"):
        same = recipe(name, n_clusters=2, random_state=0).fit(X[:60], sample_weight=np.full(60, 2.5))
        assert np.array_equal(same.labels_, model.fit(X[:60]).labels_)


@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        (WEIGHTS[:-1], "expected (240,)"),
        (np.where(np.arange(len(X)) == 7, -1.0, 1.0), "of sample 7 is -1.0"),
        (np.where(np.arange(len(X)) == 7, np.nan, 1.0), "of sample 7 is nan"),
        (np.zeros(len(X)), "zero for all samples"),
        (["a"] * len(X), "must be numbers, one for each sample, got values of type <U1, the first one 'a'"),
        (["1", "2"] * (len(X) // 2), "must be numbers, one for each sample, got values of type <U1"),
        (np.array([1.0, "2"] * (len(X) // 2), dtype=object), "got values of type object, the first one 1.0"),
        ([1.0, None] * (len(X) // 2), "got values of type object"),
        (np.ones(len(X), dtype="m8[s]"), "got values of type timedelta64[s]"),
        ([1.0 + 0j] * len(X), "got values of type complex128"),
        ((np.arange(len(X)) < 2).astype(float), "only 2 samples have a weight above 0"),
    ],
)
def test_what_is_no_weight_is_refused(weights, reason):
    with pytest.raises(InvalidData) as refusal:
        recipe("kmeans", n_clusters=3).fit(X, sample_weight=weights)
    assert reason in str(refusal.value)


@pytest.mark.parametrize("name", ["kmeans", "elm-kmeans", "emmc", "fuzzy-cmeans", "mixture"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_out_of_all_proportion_are_refused_and_extreme_ones_are_not(name, dtype):
    rows = np.random.default_rng(0).normal(size=(30, 2)).astype(dtype)
    rows[:15] += 5.0
    for wrong in (1e305, 1e31, 1e-31, 5e-324):
        weights = np.ones(30)
        weights[4] = wrong
        with pytest.raises(InvalidData, match=r"sample_weight of sample 4 is .* between 1e-30 and 1e\+30: multiply"):
            recipe(name, n_clusters=2, random_state=0).fit(rows, sample_weight=weights)
    for weight in (1e-30, 1e30):
        model = recipe(name, n_clusters=2, random_state=0).fit(rows, sample_weight=np.full(30, weight))
        assert model.n_clusters_ == 2
        assert np.isfinite(model.objective_)


@pytest.mark.parametrize(
    ("name", "balancer"),
    [
        ("kmeans", "band"),
        ("emmc-single", "transport"),
        ("kmeans", "transport"),
        ("kmeans", {"name": "transport", "size_min": 0.3, "size_max": 0.36}),
    ],
)
def test_balancers_of_sizes_count_weights(name, balancer):
    weights = np.random.default_rng(0).uniform(0.2, 3.0, len(X))
    model = recipe(name, n_clusters=3, balancer=balancer, random_state=0).fit(X, sample_weight=weights)
    shares = np.bincount(model.labels_, weights=weights) / weights.sum()
    assert np.ptp(shares) <= (
        0.06 + 1e-9 if isinstance(balancer, dict) else max(0.03, 2 * weights.max() / weights.sum())
    )
    if name == "kmeans":
        assert 0 <= model.resolved_["balancer"]["gap"] < 0.01


def test_fit_offers_weights_only_where_they_count():
    from sklearn.utils.validation import has_fit_parameter

    assert has_fit_parameter(recipe("emmc", n_clusters=2), "sample_weight")
    for name in ("equal-clustering", "spectral", "genie"):
        model = recipe(name, n_clusters=2)
        assert not has_fit_parameter(model, "sample_weight")
        assert has_fit_parameter(model, "links")
        with pytest.raises(IncompatibleStages, match="sample_weight cannot be used here"):
            model.fit(X, sample_weight=np.arange(1.0, len(X) + 1))
