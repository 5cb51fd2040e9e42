"""Laws of the normalised cut, against all bipartitions and all eigenvectors."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from clusterkit import Pipeline, recipe
from clusterkit.contracts import Task
from clusterkit.errors import ClusterkitWarning, IncompatibleStages, InvalidData, NeedsMemory
from clusterkit.families.graphs._neighbour_graph import affinity
from clusterkit.families.graphs.ncut import Ncut
from clusterkit.numerics import eigenvectors
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian, Linear
from clusterkit_campaign.oracles import graph_cuts as oracle


def solve(X, gamma, k=2, seed=0, **parameters):
    space = KernelSpace(X, Gaussian(gamma))
    prepared = Ncut(**parameters).prepare(space, Task(len(X), k), np.random.default_rng(seed))
    return prepared.solve(None, None, np.random.default_rng(seed))


def split(outcome):
    return (outcome.rows[:, 0] > 0).astype(int)


def same_partition(one, other):
    pairs = set(zip(np.asarray(one).tolist(), np.asarray(other).tolist(), strict=True))
    return len(pairs) == len(np.unique(one)) == len(np.unique(other))


def islands(sizes, d=2, seed=0, apart=1e3):
    """Groups so far apart that no weight between them is left."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(len(truth), d)) * 0.3
    X[:, 0] += apart * truth
    order = rng.permutation(len(truth))
    return X[order], truth[order]


@st.composite
def points(draw, low=4, high=10):
    n, d = draw(st.integers(low, high)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d)) + draw(st.sampled_from([0.0, 2.0, 4.0])) * (np.arange(n) % 2)[:, None]
    return X * draw(st.sampled_from([1e-3, 1.0, 1e4])) + draw(st.sampled_from([0.0, 50.0]))


def width(X):
    return 0.5 / X.var(axis=0).sum()


@given(X=points(), self_loops=st.booleans())
def test_no_bipartition_is_better_than_the_best_and_ours_is_what_it_says(X, self_loops):
    W = oracle.weights(X, width(X), self_loops)
    outcome = solve(X, width(X), self_loops=self_loops)
    facts = outcome.status.facts
    value = oracle.ncut(W, split(outcome))
    assert facts["ncut"] == pytest.approx(value, rel=1e-9)
    least = oracle.smallest_ncut(W)
    assert least - 1e-12 <= value
    assert facts["bound"] <= least + 1e-9
    assert len(np.unique(split(outcome))) == 2
    assert split(outcome)[0] == 0


@given(X=points(5, 30), self_loops=st.booleans())
def test_the_split_is_the_best_of_all_thresholds_on_the_eigenvector(X, self_loops):
    W = oracle.weights(X, width(X), self_loops)
    values, z = oracle.second_coordinate(W)
    assume(values[1] - values[2] > 1e-6)
    outcome = solve(X, width(X), self_loops=self_loops)
    value = outcome.status.facts["ncut"]
    assert value == pytest.approx(oracle.best_threshold(W, z), rel=1e-7, abs=1e-12)
    assert value <= oracle.ncut(W, (z > 0).astype(int)) + 1e-12
    assert value <= oracle.ncut(W, (z > np.median(z)).astype(int)) + 1e-12
    np.testing.assert_allclose(outcome.status.facts["eigenvalues"], values[:2], atol=1e-10)
    # the scores are the coordinate, shifted and scaled
    shifted = outcome.rows[:, 0]
    assert abs(np.corrcoef(shifted, z)[0, 1]) > 1 - 1e-6


@given(X=points(4, 30), self_loops=st.booleans(), k=st.integers(3, 4))
def test_eigenvalues_and_the_first_eigenvector(X, self_loops, k):
    W = oracle.weights(X, width(X), self_loops)
    outcome = solve(X, width(X), k=k, self_loops=self_loops)
    values = np.array(outcome.status.facts["eigenvalues"])
    expected = oracle.second_coordinate(W)[0]
    np.testing.assert_allclose(values, expected[:k], atol=1e-10)
    assert values[0] == pytest.approx(1.0, abs=1e-12)
    assert np.abs(expected).max() <= 1 + 1e-12
    # the rows are D^(-1/2) U: constant first, and A U = U Λ
    degrees = W.sum(axis=1)
    np.testing.assert_allclose(outcome.rows[:, 0], 1.0, rtol=1e-9)
    np.testing.assert_allclose(W @ outcome.rows / degrees[:, None], outcome.rows * values, atol=1e-8)
    np.testing.assert_allclose(outcome.rows.T @ (degrees[:, None] * outcome.rows) / degrees.sum(), np.eye(k), atol=1e-8)


@pytest.mark.parametrize("n_neighbors", [None, 4])
@pytest.mark.parametrize("sizes", [(12, 9), (10, 14, 8), (9, 8, 11, 7)])
def test_disconnected_blocks_are_the_clusters(n_neighbors, sizes):
    X, truth = islands(sizes)
    k = len(sizes)
    model = Pipeline(
        {"name": "rbf", "gamma": 1.0}, {"name": "ncut", "n_neighbors": n_neighbors},
        "threshold" if k == 2 else "rows_kmeans", n_clusters=k, random_state=0,
    ).fit(X)  # fmt: skip
    facts = model.outcome_.status.facts
    assert facts["components"] == k
    assert facts["eigenvalues"] == (1.0,) * k
    assert facts["bound"] == 0.0
    assert same_partition(model.labels_, truth)


@pytest.mark.parametrize("n_neighbors", [None, 4])
def test_more_components_than_clusters_are_grouped_evenly(n_neighbors):
    X, truth = islands((30, 8, 12, 9))
    two = solve(X, 1.0, n_neighbors=n_neighbors)
    assert two.status.facts["components"] == 4
    assert two.status.facts["ncut"] == 0.0
    labels = split(two)
    for piece in range(4):
        assert len(np.unique(labels[truth == piece])) == 1
    assert len(np.unique(labels)) == 2
    three = solve(X, 1.0, k=3, n_neighbors=n_neighbors)
    assert len(np.unique(three.rows.round(9), axis=0)) == 3


@pytest.mark.parametrize("n_neighbors", [None, 6])
def test_fewer_components_than_clusters_are_split_further(n_neighbors):
    rng = np.random.default_rng(3)
    truth = np.repeat(np.arange(3), 25)
    X = rng.normal(size=(75, 2)) * 0.3 + np.array([[0, 0], [4, 0], [1e4, 0]])[truth]
    model = Pipeline(
        {"name": "rbf", "gamma": 0.3}, {"name": "ncut", "n_neighbors": n_neighbors}, n_clusters=3, random_state=0
    ).fit(X)
    assert 2 <= model.outcome_.status.facts["components"] <= 3
    assert same_partition(model.labels_, truth)


@given(X=points(12, 40), p=st.integers(1, 6), k=st.integers(2, 3))
def test_sparse_weights_equal_the_formula(X, p, k):
    near = oracle.neighbour_weights(X, p)
    W = oracle.weights(X, width(X)) * near
    space = KernelSpace(X, Gaussian(width(X)))
    ours = affinity(space, p, False)
    np.testing.assert_allclose(ours.W.toarray(), W, rtol=1e-9)
    components = ours.components()
    assert same_partition(components, oracle.pieces(W))
    assert solve(X, width(X), k=k, n_neighbors=p).status.facts["components"] == components.max() + 1


@given(X=points(6, 40), seed=st.integers(0, 99))
def test_dense_and_sparse_agree_where_all_are_neighbours(X, seed):
    dense, sparse = solve(X, width(X)), solve(X, width(X), n_neighbors=len(X))
    assert sparse.status.facts["ncut"] == pytest.approx(dense.status.facts["ncut"], rel=1e-8)
    loops = [solve(X, width(X), n_neighbors=p, self_loops=True).status.facts["ncut"] for p in (None, len(X) - 1)]
    assert loops[0] == pytest.approx(loops[1], rel=1e-8)


@pytest.mark.parametrize("n_neighbors", [None, 8])
@pytest.mark.parametrize("k", [2, 4])
def test_lanczos_equals_all_eigenvectors(monkeypatch, n_neighbors, k):
    X = np.random.default_rng(0).normal(size=(320, 3))
    lanczos = solve(X, 0.5, k=k, n_neighbors=n_neighbors)
    assert "Lanczos" in lanczos.status.reason
    again = solve(X, 0.5, k=k, seed=1, n_neighbors=n_neighbors)
    monkeypatch.setattr(eigenvectors, "DENSE", 10**6)
    direct = solve(X, 0.5, k=k, n_neighbors=n_neighbors)
    assert "all eigenvectors" in direct.status.reason
    for outcome in (lanczos, again):
        np.testing.assert_allclose(outcome.status.facts["eigenvalues"], direct.status.facts["eigenvalues"], atol=1e-10)
        # columns up to sign
        for one, other in zip(outcome.rows.T, direct.rows.T, strict=True):
            assert min(np.abs(one - other).max(), np.abs(one + other).max()) < 1e-6 * np.abs(other).max()


@pytest.mark.parametrize(("n_neighbors", "how"), [(None, "all eigenvectors"), (8, "Lanczos")])
def test_where_lanczos_fails_another_way_is_found(monkeypatch, n_neighbors, how):
    X = np.random.default_rng(0).normal(size=(320, 3))
    plain = solve(X, 0.5, k=4, n_neighbors=n_neighbors)
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    calls = []

    def fails_once(*arguments, **options):
        calls.append(1)
        if len(calls) == 1:
            raise ArpackNoConvergence("no", np.empty(0), np.empty((0, 0)))
        return eigsh(*arguments, **options)

    monkeypatch.setattr("scipy.sparse.linalg.eigsh", fails_once)
    other = solve(X, 0.5, k=4, n_neighbors=n_neighbors)
    assert how in other.status.reason
    np.testing.assert_allclose(other.status.facts["eigenvalues"], plain.status.facts["eigenvalues"], atol=1e-9)


@pytest.mark.parametrize("n_neighbors", [None, 3])
@pytest.mark.parametrize("k", [2, 3])
def test_samples_without_weight_join_the_largest_cluster(n_neighbors, k):
    X, truth = islands((20, 11, 6)[:k])
    X = np.concatenate([[[-5e3, 0.0]], X, [[-7e3, 3.0]]])
    if k == 2:
        assert truth[0] in (0, 1)
    model = Pipeline(
        {"name": "rbf", "gamma": 1.0}, {"name": "ncut", "n_neighbors": n_neighbors},
        "threshold" if k == 2 else "rows_kmeans", n_clusters=k, random_state=0,
    ).fit(X)  # fmt: skip
    facts = model.outcome_.status.facts
    assert facts["isolated"] == 2
    assert facts["components"] == k
    assert same_partition(model.labels_[1:-1], truth)
    largest = np.bincount(model.labels_[1:-1]).argmax()
    assert model.labels_[0] == model.labels_[-1] == largest


@pytest.mark.parametrize("self_loops", [False, True])
def test_a_width_that_joins_nothing_is_told(self_loops):
    X = np.arange(12.0)[:, None]
    with pytest.warns(ClusterkitWarning, match="nothing to cut"):
        outcome = solve(X, 1e6, self_loops=self_loops)
    assert not outcome.rows.any()
    assert outcome.status.facts["isolated"] == 12


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [2, 3])
def test_equal_samples(dtype, k):
    outcome = solve(np.full((20, 3), 0.1, dtype=dtype), 1.0, k=k)
    assert not outcome.rows.any()
    assert outcome.status.converged


@pytest.mark.parametrize("n_neighbors", [None, 3])
def test_duplicates_stay_together(n_neighbors):
    values = np.random.default_rng(0).normal(size=(9, 2)) + 4.0 * (np.arange(9) % 2)[:, None]
    which = np.repeat(np.arange(9), 4)
    outcome = solve(values[which], 0.2, n_neighbors=n_neighbors)
    assert len(set(zip(which.tolist(), split(outcome).tolist(), strict=True))) == 9


def test_weak_bridges_do_not_hide_the_blocks():
    """Links below rounding: no eigenvector routine can tell the components apart, the search can."""
    X, truth = islands((15, 12, 10), apart=9.0)  # weights near 1e-35
    outcome = solve(X, 1.0, k=3)
    assert outcome.status.facts["components"] == 3
    for piece in range(3):
        assert len(np.unique(outcome.rows[truth == piece].round(9), axis=0)) == 1


def test_rows_of_length_one():
    X, truth = islands((15, 12, 10), apart=3.0)
    outcome = solve(X, 0.5, k=3, normalize=True)
    np.testing.assert_allclose(np.linalg.norm(outcome.rows, axis=1), 1.0)
    model = recipe("ncut", n_clusters=3, random_state=0, solver__normalize=True).fit(X)
    assert same_partition(model.labels_, truth)


def test_non_convex_clusters():
    angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    X = np.concatenate([circle, 4 * circle])
    kernel = {"name": "rbf", "sigma_fraction": 0.05}
    model = recipe("ncut", n_clusters=2, random_state=0, labeler="threshold", featuremap=kernel).fit(X)
    assert same_partition(model.labels_, np.repeat([0, 1], 100))
    model = recipe("ncut", n_clusters=2, random_state=0).fit(X)
    assert same_partition(model.labels_, np.repeat([0, 1], 100))
    assert not model.exact_on_training_
    assert not hasattr(model, "predict")


def test_labelers_that_fit_and_those_that_do_not():
    X, _ = islands((15, 12, 10), apart=3.0)
    with pytest.raises(IncompatibleStages, match=r"at most 2 clusters.*rows_kmeans"):
        recipe("ncut", n_clusters=3, labeler="threshold").fit(X)
    for labeler in ("threshold", "rows_kmeans"):
        assert len(np.unique(recipe("ncut", n_clusters=2, labeler=labeler, random_state=0).fit(X).labels_)) == 2
    balanced = recipe("ncut", n_clusters=2, labeler="threshold", balancer={"name": "band", "slack": 1}).fit(X)
    assert abs(np.diff(np.bincount(balanced.labels_))[0]) <= 1


def test_weights_must_not_be_negative():
    X = np.random.default_rng(0).normal(size=(20, 2))
    for n_neighbors in (None, 19):
        prepare = Ncut(n_neighbors=n_neighbors).prepare
        with pytest.raises(InvalidData, match="solver 'ncut' needs weights that are not negative"):
            prepare(KernelSpace(X, Linear()), Task(20, 2), np.random.default_rng(0))
    positive = KernelSpace(np.abs(X) + 0.1, Linear())
    dense, sparse = (affinity(positive, p, False) for p in (None, 19))
    np.testing.assert_allclose(sparse.W.toarray(), dense.W, rtol=1e-12)


def test_the_matrix_respects_the_memory_cap(monkeypatch):
    X = np.random.default_rng(0).normal(size=(120, 2))
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "10K")
    with pytest.raises(NeedsMemory, match="120 x 120"):
        solve(X, 0.5)
    assert len(np.unique(split(solve(X, 0.5, n_neighbors=6)))) == 2


@pytest.mark.parametrize("n_neighbors", [None, 3])
def test_the_space_of_the_caller_keeps_its_kernel(n_neighbors):
    space = KernelSpace(np.random.default_rng(0).normal(size=(20, 2)), Gaussian(0.5))
    K = space.gram().copy()
    Ncut(n_neighbors=n_neighbors).prepare(space, Task(20, 2), np.random.default_rng(0))
    np.testing.assert_array_equal(space.gram(), K)


def test_neighbours_beyond_the_samples_are_reported():
    X = np.random.default_rng(0).normal(size=(12, 2))
    model = recipe("ncut", n_clusters=2, solver__n_neighbors=50, random_state=0).fit(X)
    assert model.resolved_["solver"]["n_neighbors"] == 11
