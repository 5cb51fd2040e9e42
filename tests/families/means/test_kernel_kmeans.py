"""The recipes kernel-kmeans and kmeans end to end: linear kernel, trace form, and the best of all partitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.maps import mapped

from clusterkit import recipe
from clusterkit.contracts import Task
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.seeds import Seeds
from clusterkit.families.means.kmeans import Centroids
from clusterkit.families.shared.codecs import Argmax
from clusterkit.families.shared.random import Random
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.shared.scaling import Identity
from clusterkit.fitting.fit import BoundComposition, fit, run
from clusterkit.samples import KernelSpace, build_space
from clusterkit.samples.kernels import Linear
from clusterkit.samples.transform import IdentityMap
from clusterkit_campaign.oracles import means as oracle

SEEDS = st.integers(0, 2**32 - 1)


def partitions(n, k):
    """All partitions of n samples into k classes, as labellings."""

    def grow(labels, used):
        if len(labels) == n:
            if used == k:
                yield np.array(labels)
            return
        if used + n - len(labels) < k:
            return
        for label in range(min(used + 1, k)):
            yield from grow([*labels, label], max(used, label + 1))

    return grow([], 0)


def bound_to(space, X, k, seed):
    """A composition bound to a space that no feature map can produce."""
    composition = Composition(Identity(), Centroids(), Argmax(), None, Random(), k)
    task = Task(len(X), k)
    return BoundComposition(
        composition, X, space, Centroids().prepare(space, task, np.random.default_rng(0)), task, Seeds(seed)
    )


@given(seed=SEEDS, n=st.integers(10, 120), d=st.integers(1, 5), k=st.integers(2, 5))
def test_linear_kernel_ends_where_kmeans_does(seed, n, d, k):
    X = np.random.default_rng(seed).normal(size=(n, d))
    X -= X.mean(axis=0)
    plain = run(bound_to(build_space(X, IdentityMap(d)), X, k, seed))
    kernel = run(bound_to(KernelSpace(X, Linear()), X, k, seed))
    assert np.array_equal(plain.labels, kernel.labels)
    assert plain.n_iter == kernel.n_iter
    np.testing.assert_allclose(kernel.history, plain.history, rtol=1e-9, atol=1e-12 * np.sum(X**2))


@given(seed=SEEDS, n=st.integers(12, 150), k=st.integers(2, 6), width=st.sampled_from([0.1, 1.0, 4.0]))
def test_objective_is_the_trace_form_and_every_sample_is_at_its_nearest_mean(seed, n, k, width):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    model = recipe("kernel-kmeans", n_clusters=k, n_init=2, random_state=0, featuremap__gamma=width).fit(X)
    K = mapped(Rbf(gamma=width), X, 0).gram()
    np.testing.assert_allclose(model.objective_, oracle.kernel_objective(K, model.labels_), rtol=1e-9, atol=1e-12 * n)
    D = oracle.kernel_distances(K, model.labels_, k)
    assert np.all(D[np.arange(n), model.labels_] <= D.min(axis=1) + 1e-12)
    assert np.array_equal(model.predict(X), model.labels_)


@given(seed=SEEDS, n=st.integers(4, 8), k=st.integers(2, 3))
def test_no_fit_is_better_than_the_best_partition(seed, n, k):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    lowest = min(oracle.objective(X, labels) for labels in partitions(n, k))
    model = recipe("kmeans", n_clusters=k, n_init=3, random_state=0).fit(X)
    assert model.objective_ >= lowest * (1 - 1e-12)
    K = mapped(Rbf(gamma=0.5), X, 0).gram()
    lowest = min(oracle.kernel_objective(K, labels) for labels in partitions(n, k))
    model = recipe("kernel-kmeans", n_clusters=k, n_init=3, random_state=0, featuremap__gamma=0.5).fit(X)
    assert model.objective_ >= lowest * (1 - 1e-12) - 1e-14


@pytest.mark.parametrize("name", ["kmeans", "kernel-kmeans"])
@pytest.mark.parametrize("seed", range(2))
def test_separated_groups_are_found_by_several_starts(name, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(scale=0.05, size=(7, 2)) + np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])[np.arange(7) % 3]
    model = recipe(name, n_clusters=3, n_init=10, random_state=0).fit(X)
    if name == "kmeans":
        lowest = min(oracle.objective(X, labels) for labels in partitions(7, 3))
    else:
        K = model.space_.kernel(X, X)
        lowest = min(oracle.kernel_objective(K, labels) for labels in partitions(7, 3))
    np.testing.assert_allclose(model.objective_, lowest, rtol=1e-9)
    assert len(set(zip(model.labels_, np.arange(7) % 3, strict=True))) == 3


def test_sums_that_follow_equal_sums_anew():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    fitted = fit(Composition(Rbf(gamma=0.2), Centroids(), Argmax(), None, Random(), 6), X, Seeds(3))
    K = fitted.space.gram()
    history = []
    start = Random().start(fitted.space, Task(fitted.space.n, 6), Seeds(3).stream("init"))
    for _ in range(fitted.n_iter):
        D = oracle.kernel_distances(K, start, 6)
        history.append(D[np.arange(300), start].sum())
        start = D.argmin(axis=1)
    assert fitted.n_iter > 6
    assert np.array_equal(start, fitted.labels)
    np.testing.assert_allclose(fitted.history, history, rtol=1e-11)
