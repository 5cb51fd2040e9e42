"""Links and seeds in fits: kept by every method that takes them, carried by scikit-learn, refused elsewhere."""

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.links import links_of
from sklearn.datasets import load_wine, make_blobs
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import scale

import clusterkit
from clusterkit import Links, recipe
from clusterkit.contracts import CostTable, Task
from clusterkit.contracts.links import checked_seeds, linked_groups
from clusterkit.errors import ClusterkitWarning, IncompatibleStages, Infeasible, InvalidData
from clusterkit.families.shared.band import Band
from clusterkit.fitting.label_iterations import balanced_by

WINE, CULTIVAR = load_wine(return_X_y=True)
WINE = scale(WINE)


def broken(labels, links):
    same = labels[links[:, 0]] == labels[links[:, 1]]
    return int((same != (links[:, 2] > 0)).sum())


SCORES = (
    "kmeans",
    "fuzzy-cmeans",
    "mixture",
    "kernel-kmeans",
    "spectral",
    "lapgmm",
    "equal-clustering",
    "emmc",
    "emmc-multi",
    "cpm3c",
)


@pytest.mark.parametrize("name", SCORES)
def test_every_method_with_scores_keeps_links(name):
    links = links_of(CULTIVAR, 90)
    model = recipe(name, n_clusters=3, random_state=0).fit(WINE, links=links)
    assert broken(model.labels_, links) == 0
    assert model.resolved_["balancer"]["gap"] == 0.0
    assert "rows_not_together" not in model.resolved_["links"]
    if name == "equal-clustering":
        assert np.ptp(np.bincount(model.labels_)) <= 1


def test_a_mixture_of_mixed_columns_keeps_links_and_its_probabilities_have_the_numbers_of_its_labels():
    X, y = make_blobs(90, centers=3, random_state=0, cluster_std=1.5)
    table = {"a": X[:, 0], "b": X[:, 1], "c": np.where(y == 1, "u", "v")}
    links = np.concatenate([[(0, 1, -1)], links_of(y, 40)])
    seeds = np.full(90, -1)
    seeds[[*np.flatnonzero(y == 0)[:3], *np.flatnonzero(y == 1)[:3]]] = [2, 2, 2, 0, 0, 0]
    for knowledge in ({"links": links}, {"seeds": seeds}):
        model = recipe("mixture", n_clusters=3, random_state=0).fit(table, **knowledge)
        likely = model.predict_proba(table).argmax(axis=1)
        np.testing.assert_array_equal(likely, model.predict(table))
        np.testing.assert_array_equal(likely, model.memberships_.argmax(axis=1))
        assert (likely == model.labels_).mean() > 0.9
        if "links" in knowledge:
            assert broken(model.labels_, links) == 0
        else:
            assert (model.labels_ == seeds)[seeds >= 0].all()


@pytest.mark.parametrize("name", ["kmeans", "fuzzy-cmeans", "mixture"])
def test_seeds_fix_the_numbers_of_clusters_in_every_output(name):
    truth = (CULTIVAR + 1) % 3
    seeds = np.where(np.arange(len(truth)) % 9 == 0, truth, -1)
    model = recipe(name, n_clusters=3, random_state=0).fit(WINE, seeds=seeds)
    assert (model.labels_[seeds >= 0] == seeds[seeds >= 0]).all()
    assert (model.labels_ == truth).mean() > 0.9
    assert (model.predict(WINE) == truth).mean() > 0.9
    assert (np.argmax(model.decision_function(WINE), axis=1) == truth).mean() > 0.9
    centres = np.stack([WINE[truth == j].mean(axis=0) for j in range(3)])
    nearest = np.argmin(((model.cluster_centers_[:, None] - centres) ** 2).sum(axis=2), axis=1)
    assert nearest.tolist() == [0, 1, 2]


def test_some_clusters_may_have_no_seeds():
    X, y = make_blobs([20] * 4, random_state=3, cluster_std=0.5)
    seeds = np.where(np.arange(len(y)) < 30, np.where(y == 1, 3, -1), -1)
    model = recipe("kmeans", n_clusters=4, random_state=0).fit(X, seeds=seeds)
    assert (model.labels_[seeds == 3] == 3).all()
    assert len(set(model.labels_)) == 4


def test_links_are_cut_with_the_rows_of_a_cross_validation():
    links = Links.of(links_of(CULTIVAR, 40), len(WINE))
    search = GridSearchCV(recipe("kmeans", n_clusters=3, random_state=0), {"n_init": [1, 2]}, cv=2, error_score="raise")
    search.fit(WINE, CULTIVAR, links=links)
    assert search.best_estimator_.resolved_["links"]["groups"] > 0


def test_metadata_routing_passes_links_and_seeds_on():
    from sklearn import config_context
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    links = links_of(CULTIVAR, 40)
    with config_context(enable_metadata_routing=True):
        model = recipe("kmeans", n_clusters=3, random_state=0).set_fit_request(links=True)
        chain = make_pipeline(StandardScaler(), model).fit(WINE, links=links)
    assert broken(chain[-1].labels_, links) == 0


def test_labels_of_a_frame_name_rows():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(WINE, index=[f"w{i}" for i in range(len(WINE))])
    links = links_of(CULTIVAR, 40)
    named = [(f"w{i}", f"w{j}", sign) for i, j, sign in links]
    one = recipe("kmeans", n_clusters=3, random_state=0).fit(frame, links=named)
    other = recipe("kmeans", n_clusters=3, random_state=0).fit(WINE, links=links)
    np.testing.assert_array_equal(one.labels_, other.labels_)
    search = GridSearchCV(recipe("kmeans", n_clusters=3, random_state=0), {"n_init": [1]}, cv=2, error_score="raise")
    with pytest.warns(ClusterkitWarning, match="are left out, as in a fold"):
        search.fit(frame, CULTIVAR, links=named[:1])  # in one fold, and not in the other


def test_what_would_break_links_is_refused():
    @attrs.frozen
    class Deaf(Band):
        name = "deaf"
        linked = False

    links = [(0, 1, 1)]
    with pytest.raises(IncompatibleStages, match="balancer: 'deaf' keeps no links; 'links', 'transport'"):
        recipe("emmc-single", n_clusters=3, balancer=Deaf()).fit(WINE, links=links)
    with pytest.raises(IncompatibleStages, match="n_clusters: its choice compares fits without links"):
        recipe("kmeans", n_clusters="auto").fit(WINE, links=links)
    with pytest.raises(Infeasible, match="need more than 2 clusters"):
        recipe("kmeans", n_clusters=2).fit(WINE, links=[(0, 1, -1), (1, 2, -1), (0, 2, -1)])


def balanced(costs, links, balancer="links", seeds=None):
    """Labels of a balancer at fixed costs, and their cost."""
    n, k = costs.shape
    groups = linked_groups(Links.of(links, n), None if seeds is None else checked_seeds(seeds, n, k), n, k)
    stage = clusterkit.stages("balancer")[balancer]() if isinstance(balancer, str) else balancer
    table = CostTable(costs)
    labels = balanced_by(stage, table, Task(n, k, links=groups)).labels_of(table)
    return labels, float(costs[np.arange(n), labels].sum())


@given(seed=st.integers(0, 2**32 - 1))
def test_links_never_lower_the_cost_and_permuted_rows_have_permuted_labels(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 30)
    costs, links = rng.normal(size=(30, 3)), links_of(y, 25, seed)
    labels, cost = balanced(costs, links)
    assert broken(labels, links) == 0
    assert cost >= costs.min(axis=1).sum() - 1e-12
    order = rng.permutation(30)
    place = np.argsort(order)
    moved = np.column_stack([place[links[:, :2]], links[:, 2]])
    again, same = balanced(costs[order], moved)
    assert same == pytest.approx(cost)
    np.testing.assert_array_equal(again, labels[order])  # the optimum of random costs is unique


@given(seed=st.integers(0, 2**32 - 1), name=st.sampled_from(["transport", "band"]))
def test_balancers_of_sizes_keep_links_and_sizes(seed, name):
    rng = np.random.default_rng(seed)
    y = np.arange(36) % 3
    costs, links = rng.normal(size=(36, 3)), links_of(y, 14, seed)
    labels, cost = balanced(costs, links, name)
    assert broken(labels, links) == 0
    assert np.ptp(np.bincount(labels, minlength=3)) <= (0 if name == "transport" else 1)
    assert cost >= balanced(costs, links)[1] - 1e-9


def test_bounds_of_each_cluster_follow_the_numbers_of_the_seeds():
    X, y = make_blobs([30, 30, 30], random_state=1, cluster_std=3.0)
    seeds = np.where(np.arange(90) % 10 == 0, y, -1)
    balancer = {"name": "transport", "size_min": [40, 0, 20], "size_max": [45, 90, 25]}
    sizes = np.bincount(recipe("kmeans", n_clusters=3, balancer=balancer, random_state=0).fit(X, seeds=seeds).labels_)
    assert 40 <= sizes[0] <= 45
    assert 20 <= sizes[2] <= 25
    with pytest.raises(ValueError, match="a list of bounds needs the numbers of the clusters, which seeds fix"):
        recipe("kmeans", n_clusters=3, balancer=balancer).fit(X)


def test_auto_passes_links_and_seeds_to_every_candidate():
    links = links_of(CULTIVAR, 60)
    pool = ("kmeans", "hdbscan", "genie")
    model = clusterkit.Auto(pool=pool, random_state=0).fit(WINE, links=links)
    assert broken(model.labels_, links) == 0
    assert any("hdbscan" in name for name in model.resolved_["auto"]["failed"])  # its noise breaks links
    truth = (CULTIVAR + 1) % 3
    seeds = np.where(np.arange(len(truth)) % 9 == 0, truth, -1)
    labels = clusterkit.Auto(n_clusters=3, pool=pool, random_state=0).fit_predict(WINE, seeds=seeds)
    assert (labels[seeds >= 0] == seeds[seeds >= 0]).all()
    weighted = clusterkit.Auto(n_clusters=3, pool=("kmeans", "genie"), random_state=0)
    assert len(weighted.fit_predict(WINE, sample_weight=np.arange(1.0, len(WINE) + 1))) == len(WINE)
    assert weighted.resolved_["auto"]["recipe"] == "kmeans"
    with pytest.raises(ValueError, match="candidates are fitted to a sample of 100 of these 178: set max_rows=178"):
        clusterkit.Auto(max_rows=100).fit(WINE, links=links)


def test_seeds_ask_for_as_many_clusters_and_noise_among_them_is_told():
    X = make_blobs(150, centers=3, random_state=0)[0]
    seeds = np.full(150, -1)
    seeds[[0, 1, 2]] = 0, 1, 4
    with pytest.raises(Infeasible, match="the seed 4, so that there are at least 5 clusters, not 3"):
        linked_groups(None, seeds, 150, 3)
    assert clusterkit.Auto(random_state=0).fit(X, seeds=seeds).n_clusters_ >= 5
    seeds[2] = -1
    with pytest.warns(clusterkit.ClusterkitWarning, match="2 rows with a seed are noise"):
        model = recipe("hdbscan").fit(X, seeds=seeds)
    assert model.resolved_["links"]["seeded_noise"] == 2


def test_seeds_of_another_order_of_the_index_are_refused():
    pandas = pytest.importorskip("pandas")
    X, y = make_blobs([20, 20], centers=[[0, 0], [9, 9]], random_state=0)
    frame = pandas.DataFrame(X, columns=["a", "b"])
    seeds = pandas.Series(np.where(np.arange(40) % 4, -1, y))
    model = recipe("kmeans", n_clusters=2, n_init=1, random_state=0)
    np.testing.assert_array_equal(model.fit(frame, seeds=seeds).labels_, y)
    with pytest.raises(InvalidData, match=r"another index than the data frame.*seeds.reindex\(X.index\)"):
        model.fit(frame, seeds=seeds[::-1])
    np.testing.assert_array_equal(model.fit(frame, seeds=seeds[::-1].reindex(frame.index)).labels_, y)


def test_auto_keeps_the_method_of_its_answer_where_that_takes_what_is_known():
    rng, sides = np.random.default_rng(0), np.arange(120) % 2
    table = {
        "size": rng.normal(6.0 * sides), "mass": rng.normal(5.0 * sides), "noise": rng.normal(size=120),
        "kind": np.where(rng.random(120) < 0.9, sides, 1 - sides).astype(str),
    }  # fmt: skip
    plain = clusterkit.Auto(2, random_state=0).fit(table).labels_
    for known in ({"links": [(0, 2, 1), (0, 1, -1)]}, {"sample_weight": np.full(120, 3.0)}):
        np.testing.assert_array_equal(clusterkit.Auto(2, random_state=0).fit(table, **known).labels_, plain)
    model, seeds = clusterkit.Auto(2, random_state=0), np.r_[1 - plain[:8], [-1] * 112]
    labels = model.fit(table, links=[(0, 1, 1)]).labels_
    assert labels[0] == labels[1]
    assert (labels != plain).sum() == 1
    np.testing.assert_array_equal(model.fit(table, seeds=seeds).labels_, 1 - plain)
    assert model.resolved_["auto"]["recipe"] == "mixture"
    with pytest.warns(ClusterkitWarning, match="counts for methods of the pool only"):
        model.fit(table, sample_weight=np.arange(120.0))
