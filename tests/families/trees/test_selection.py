"""Which clusters of the condensed hierarchy are taken, what becomes of noise, and the most persistent cuts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from clusterkit import recipe
from clusterkit.families.trees.cuts import persistent_cuts
from clusterkit.families.trees.hierarchy_jit import condense, excess_of_mass, hierarchy
from clusterkit.numerics.spanning_trees.tree import minimum_spanning_tree

random_seeds = st.integers(0, 2**32 - 1)


def tree_of(seed, n=70):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) * rng.choice([0.3, 1.0, 2.0], size=(n, 1)) + 4 * rng.integers(0, 3, (n, 1))
    return minimum_spanning_tree(X, int(rng.integers(1, 6)))


def same_partition(one, other):
    return ((one < 0) == (other < 0)).all() and adjusted_rand_score(one, other) == pytest.approx(1.0)


def plainly_taken(condensed, single, leaves, epsilon, largest):
    """The clusters that are taken, by recursion over the condensed hierarchy."""
    below = [np.flatnonzero(condensed.above == c).tolist() for c in range(len(condensed.above))]
    size = condensed.size.copy()
    size[0] = size[below[0]].sum()

    def best(c):
        taken, stability = [], 0.0
        for child in below[c]:
            clusters, value = best(child)
            taken, stability = taken + clusters, stability + value
        whole = (not below[c] and c > 0) if leaves else stability <= condensed.stability[c] and size[c] <= largest
        return ([c], condensed.stability[c]) if whole and (c > 0 or single) else (taken, stability)

    taken = best(0)[0]
    if epsilon == 0.0 or taken == [0]:
        return set(taken)
    raised = set()
    for cluster in taken:
        c = cluster
        while 1 / condensed.birth[c] <= epsilon and condensed.above[c] > 0:
            if c == cluster and 1 / condensed.birth[c] == epsilon:
                break
            c = condensed.above[c]
        raised.add(0 if single and 1 / condensed.birth[c] < epsilon else c)
    return {c for c in raised if not any(other in raised for other in above(condensed, c))}


def above(condensed, c):
    while condensed.above[c] >= 0:
        c = condensed.above[c]
        yield c


@given(
    seed=random_seeds,
    size=st.integers(2, 9),
    single=st.booleans(),
    leaves=st.booleans(),
    epsilon=st.sampled_from([0.0, 0.2, 0.5, 1.0, 3.0]),
    largest=st.sampled_from([None, 12, 30]),
)
def test_the_clusters_are_those_of_a_recursion(seed, size, single, leaves, epsilon, largest):
    tree = tree_of(seed)
    levels = hierarchy(tree.edges, tree.weights)
    condensed = condense(levels, 70, size)
    taken = excess_of_mass(levels, 70, size, single, leaves=leaves, epsilon=epsilon, max_cluster_size=largest)
    expected = plainly_taken(condensed, single, leaves, epsilon, 71 if largest is None else largest)
    owner = condensed.cluster[:70]
    of_rows = np.array([next((c for c in (o, *above(condensed, o)) if c in expected), -1) for o in owner])
    inside = taken.owner >= 0
    np.testing.assert_array_equal(taken.owner[inside], of_rows[inside])
    assert (of_rows[~inside] <= 0).all()  # rows that leave a root early are noise


@given(seed=random_seeds)
def test_each_layer_is_the_leaves_at_its_smallest_size(seed):
    tree = tree_of(seed)
    cuts = persistent_cuts(tree.edges, tree.weights, 2, 100)
    levels = hierarchy(tree.edges, tree.weights)
    assert [cut.least for cut in cuts] == sorted((cut.least for cut in cuts), reverse=True)
    for cut in cuts:
        for size in {cut.least + 1, cut.end}:
            assert same_partition(cut.labels, excess_of_mass(levels, 70, size, single=False, leaves=True).owner)


@given(seed=random_seeds, n_neighbors=st.integers(1, 5))
def test_without_a_smallest_size_the_clusters_are_the_strongest_layer(seed, n_neighbors):
    X = np.random.default_rng(seed).normal(size=(70, 2))
    model = recipe("hdbscan", solver__n_neighbors=n_neighbors, labeler__min_cluster_size=None).fit(X)
    strongest = [layer.labels for layer in model.layers_ if layer.strength == 1.0]  # several where sizes tie
    assert any(np.array_equal(labels, model.labels_) for labels in strongest)


def test_layers_are_an_attribute_and_one_of_them_may_be_chosen():
    X, _ = make_blobs([40] * 4, centers=[[0, 0], [0, 3], [12, 0], [12, 3]], cluster_std=0.5, random_state=0)
    model = recipe("hdbscan").fit(X)
    layers = model.layers_
    assert {layer.n_clusters for layer in layers} >= {4}
    assert [layer.n_clusters for layer in layers] == sorted(layer.n_clusters for layer in layers)
    with pytest.raises(AttributeError, match="no layers_ here"):
        _ = recipe("kmeans", n_clusters=2).fit(X).layers_


def test_noise_goes_to_the_cluster_that_is_nearest_by_mutual_reachability():
    X, _ = make_blobs([60, 60], centers=[[0, 0], [6, 0]], cluster_std=[0.5, 0.5], random_state=0)
    X = np.concatenate([X, np.random.default_rng(0).uniform([-5, -8], [11, 8], size=(20, 2))])
    with_noise = recipe("hdbscan").fit(X)
    model = recipe("hdbscan", labeler__outliers="nearest").fit(X)
    noise = np.flatnonzero(with_noise.labels_ < 0)
    assert len(noise) > 3
    assert model.labels_.min() == 0
    assert model.resolved_["labeler"]["noise_joined"] == len(noise)
    core, inside = model.outcome_.core_distances, np.flatnonzero(with_noise.labels_ >= 0)
    for i in noise:
        reach = np.maximum(np.maximum(np.linalg.norm(X[inside] - X[i], axis=1), core[inside]), core[i])
        nearest = inside[reach == reach.min()]
        assert model.labels_[i] in with_noise.labels_[nearest]
    assert (model.probabilities_[noise] == 0).all()
    assert model.predict([[100.0, 100.0]])[0] >= 0


def test_min_samples_is_the_name_of_scikit_learn_for_the_same_number():
    X, _ = make_blobs([50, 50], random_state=0)
    one = recipe("hdbscan", solver__n_neighbors=8).fit(X)
    other = recipe("hdbscan", solver__min_samples=8).fit(X)
    np.testing.assert_array_equal(one.labels_, other.labels_)


def letters(labels):
    """The partition as a text: clusters by first appearance, noise a point."""
    names = {}
    return "".join("." if label < 0 else names.setdefault(label, chr(97 + len(names))) for label in labels.tolist())


@pytest.mark.parametrize(
    ("choice", "partition"),
    [
        ({}, "aaaaaaaaaabbbbbbbbbbcc.cccccccccccc.ccc."),
        ({"selection": "leaf"}, "aaaaaaaaaabbbbbbbbbb.c.....dc..dcd......"),
        ({"selection": "leaf", "epsilon": 0.6}, "aaaaaaaaaaaaaaaaaaaa.b.....cb..cbc.a...."),
        ({"max_cluster_size": 12}, "aaaaaaaaaabbbbbbbbbb.c.....dc..dcd......"),
        ({"allow_single_cluster": True}, "aaaaaaaaaabbbbbbbbbbcc.cccccccccccc.ccc."),
        ({"allow_single_cluster": True, "epsilon": 1.5}, "aaaaaaaaaaaaaaaaaaaabb.bbbbbbbbbbbbabbb."),
    ],
)
def test_the_clusters_are_those_of_the_package_hdbscan(choice, partition):
    """Recorded with hdbscan 0.8.44, min_samples=3."""
    rng = np.random.default_rng(59)
    parts = ((10, 0.25, (0, 0)), (10, 0.25, (1.5, 0)), (14, 0.8, (6, 3)), (6, 2.5, (3, 1)))
    X = np.concatenate([rng.normal(size=(n, 2)) * spread + centre for n, spread, centre in parts])
    labeler = {f"labeler__{name}": value for name, value in choice.items()}
    model = recipe("hdbscan", solver__n_neighbors=4, labeler__min_cluster_size=3, **labeler).fit(X)
    assert letters(model.labels_) == partition
