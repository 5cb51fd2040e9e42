"""Links of labelers that read trees and domains: kept, whatever the tree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.links import links_of
from sklearn.datasets import make_blobs, make_moons

from clusterkit import recipe

MOONS, SIDE = make_moons(160, noise=0.12, random_state=0)


def broken(labels, links):
    """Links that labels break; noise is apart from everything, and noise belongs together."""
    same = labels[links[:, 0]] == labels[links[:, 1]]
    noise = (labels[links[:, 0]] < 0) & (links[:, 2] < 0)
    return int(((same != (links[:, 2] > 0)) & ~noise).sum())


@pytest.mark.parametrize("name", ["genie", "mass-cut", "single-linkage"])
@given(seed=st.integers(0, 2**32 - 1), share=st.sampled_from([0.1, 0.5, 1.0]))
def test_trees_keep_links_with_the_number_asked_for(name, seed, share):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 5))
    X, y = rng.normal(size=(60, 2)).round(1), rng.integers(0, k, 60)  # ties, and links that no geometry explains
    links = links_of(y, int(60 * share), seed)
    labels = recipe(name, n_clusters=k, random_state=0).fit(X, links=links).labels_
    assert broken(labels, links) == 0
    assert 0 <= labels.min() <= labels.max() < k


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("hdbscan", {}),
        ("hdbscan", {"labeler__allow_single_cluster": True, "solver__n_neighbors": 1}),
        ("svc", {}),
        ("svc", {"labeler__outliers": "noise"}),
        ("nmf", {"n_clusters": 2}),
    ],
)
@pytest.mark.parametrize("share", [0.1, 0.6])
def test_methods_that_find_the_number_keep_links(name, parameters, share):
    links = links_of(SIDE, int(160 * share), 1)
    X = MOONS - MOONS.min(axis=0)
    model = recipe(name, random_state=0, **parameters).fit(X, links=links)
    assert broken(model.labels_, links) == 0
    assert set(model.predict(X)) <= set(model.labels_) | {-1}
    if name == "svc":
        assert (
            model.resolved_["labeler"]["clusters_cut_by_links"] + model.resolved_["labeler"]["clusters_joined_by_links"]
        )


def test_links_show_hdbscan_the_clusters():
    links = links_of(SIDE, 80, 0)
    without, model = recipe("hdbscan").fit(MOONS), recipe("hdbscan").fit(MOONS, links=links)
    from sklearn.metrics import adjusted_rand_score

    assert adjusted_rand_score(SIDE, model.labels_) > adjusted_rand_score(SIDE, without.labels_) + 0.2


def test_seeds_number_the_clusters_of_a_tree_and_of_its_predictions():
    X, y = make_blobs([40, 40, 40], random_state=0, cluster_std=0.6)
    y = (y + 1) % 3
    seeds = np.where(np.arange(120) % 10 == 0, y, -1)
    for name in ("hdbscan", "mass-cut", "svc"):
        number = {} if name != "mass-cut" else {"n_clusters": 3}
        model = recipe(name, random_state=0, **number).fit(X, seeds=seeds)
        clustered = model.labels_ >= 0
        assert (model.labels_[clustered & (seeds >= 0)] == seeds[clustered & (seeds >= 0)]).all()
        assert (model.predict(X)[clustered] == model.labels_[clustered]).mean() > 0.95


def test_a_cluster_that_links_cut_predicts_by_its_linked_rows():
    X = np.concatenate([np.random.default_rng(0).normal(size=(60, 2)) * 0.3 + [i, 0] for i in range(2)])
    y = np.repeat([0, 1], 60)
    without = recipe("svc", random_state=0).fit(X)
    model = recipe("svc", random_state=0).fit(X, links=links_of(y, 40, 0))
    cut = model.resolved_["labeler"]
    assert cut["clusters_cut_by_links"] + cut["clusters_joined_by_links"] + without.n_clusters_ > 1
    assert (model.predict(X) == model.labels_).mean() > 0.9
