"""Laws of `svm` and of IterSVM, against scikit-learn's classifier and plain loops."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import machines as oracle
from oracles.machines import dense, problem

from clusterkit import Pipeline, recipe
from clusterkit.contracts import Task
from clusterkit.errors import ClusterkitWarning, IncompatibleStages, InvalidParameter, NeedsMemory
from clusterkit.families.margins.support_vector import Svm
from clusterkit.families.shared.codecs import BiasThreshold
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian, Linear

solve_once = partial(oracle.solve_once, Svm)

# a solver that stops where no two rows violate optimality by more than 1e-4 is off by 1e-4 C n at most
weights = st.sampled_from([0.01, 1.0, 50.0])


@given(case=problem(), C=weights)
def test_scores_and_objective_equal_the_oracle(case, C):
    X, labels, gamma = case
    space, y = KernelSpace(X, Gaussian(gamma)), 2.0 * labels - 1.0
    outcome, value = solve_once(space, labels, C=C)
    K = space.gram()
    alpha = oracle.smo(K, y, np.where(y < 0, -C, 0.0), np.where(y > 0, C, 0.0), 0.0, 1e-6)
    # scikit-learn keeps kernel values in single precision, which C magnifies
    np.testing.assert_allclose(outcome.rows[:, 0], K @ alpha - np.mean(K @ alpha), atol=1e-3 * max(1.0, C))
    np.testing.assert_allclose(value, oracle.primal(K, alpha, y, C, "hinge"), rtol=1e-5, atol=5e-3 * max(1.0, C))
    # no labels can have a lower value than the dual
    assert value >= oracle.dual(K, alpha, y, "hinge") - 1e-6 * C * len(y)


@given(case=problem(), C=weights)
def test_features_equal_the_linear_kernel(case, C):
    X, labels, _ = case
    features, value = solve_once(dense(X), labels, C=C)
    kernel, same = solve_once(KernelSpace(X, Linear()), labels, C=C)
    np.testing.assert_allclose(features.rows, kernel.rows, atol=5e-3 * max(1.0, C))
    np.testing.assert_allclose(value, same, rtol=1e-4, atol=1e-4 * max(1.0, C * len(X)))
    np.testing.assert_array_equal(features.extend(X), features.rows)
    np.testing.assert_allclose(kernel.extend(X), kernel.rows, atol=1e-10 * (1 + C * len(X) ** 2))


@given(case=problem(), C=weights)
def test_translation_does_not_matter(case, C):
    X, labels, _ = case
    plain, value = solve_once(dense(X), labels, C=C)
    moved, same = solve_once(dense(X + 1e5), labels, C=C)
    np.testing.assert_allclose(moved.rows, plain.rows, atol=5e-3 * max(1.0, C))
    np.testing.assert_allclose(same, value, rtol=1e-4, atol=1e-4 * max(1.0, C * len(X)))


@given(case=problem(), C=weights)
def test_other_numbers_negate_the_scores_to_the_bit(case, C):
    X, labels, gamma = case
    for space in (dense(X), KernelSpace(X, Gaussian(gamma))):
        one, value = solve_once(space, labels, C=C)
        other, same = solve_once(space, 1 - labels, C=C)
        np.testing.assert_array_equal(other.rows, -one.rows)
        np.testing.assert_allclose(same, value, rtol=1e-12)
        # also from the outcome of the previous iteration
        np.testing.assert_array_equal(
            solve_once(space, 1 - labels, other, C=C)[0].rows, -solve_once(space, labels, one, C=C)[0].rows
        )


@pytest.mark.parametrize("label", [0, 1])
def test_one_label_alone_scores_zero(label):
    X = np.random.default_rng(0).normal(size=(12, 3))
    for space in (dense(X), KernelSpace(X, Gaussian(0.5))):
        outcome, value = solve_once(space, np.full(12, label))
        assert not outcome.rows.any()
        assert not outcome.extend(X).any()
        assert value == 0.0


def halves(n=40, gap=6.0, seed=0):
    """Two groups of equal size far apart, and their labels."""
    truth = np.arange(n) % 2
    return np.random.default_rng(seed).normal(size=(n, 2)) + gap * truth[:, None], truth


@pytest.mark.parametrize("solver", ["svm", "svr"])
def test_the_labels_of_separable_data_stay(solver):
    X, truth = halves()
    space = KernelSpace(X, Gaussian(0.05))
    outcome, _ = solve_once(space, truth)
    codec = BiasThreshold(loss="hinge").calibrate(outcome.rows, Task(40, 2, (np.full(2, 20), np.full(2, 20))))
    np.testing.assert_array_equal(codec.decode(outcome.rows, 2), truth)
    model = Pipeline("rbf", solver, init="kmeans", n_clusters=2, random_state=0).fit(X)
    assert model.n_iter_ == 1
    assert np.array_equal(model.labels_, truth) or np.array_equal(model.labels_, 1 - truth)


@pytest.mark.parametrize("seed", range(6))
def test_itersvm_goes_the_way_of_the_oracle(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4))
    model = recipe("itersvm", random_state=seed, init="random", balancer__slack=6).fit(X)
    start = recipe("itersvm", random_state=seed, init="random").set_params(max_iter=1)
    gamma = model.resolved_["featuremap"]["gamma"]
    labels = _start_of(start, X)
    way = oracle.iterate(KernelSpace(X, Gaussian(gamma)).gram(), labels, 1.0, 27, 33, "hinge")
    assert model.n_iter_ == len(way) - 1
    if model.converged_:
        np.testing.assert_array_equal(model.labels_, way[-1])


def _start_of(model, X):
    from clusterkit.contracts.seeds import Seeds
    from clusterkit.fitting.fit import bind, starting_labels

    return starting_labels(bind(model.composition(), X, Seeds.of(model.random_state)), 0)


@given(seed=st.integers(0, 10_000), n=st.integers(6, 7))
def test_no_labelling_of_few_samples_has_a_lower_objective_than_brute_force_finds(seed, n):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    model = recipe("itersvm", random_state=0, init="random", n_init=3, balancer__slack=2).fit(X)
    space = KernelSpace(X, Gaussian(model.resolved_["featuremap"]["gamma"]))
    values = {}
    for rest in product((0, 1), repeat=n - 1):
        labels = np.array((0, *rest))
        if abs(2 * labels.sum() - n) <= 2:
            values[tuple(labels)] = solve_once(space, labels)[1]
    canonical = tuple(model.labels_ if model.labels_[0] == 0 else 1 - model.labels_)
    assert canonical in values, "sizes out of the band"
    if model.converged_:
        np.testing.assert_allclose(model.objective_, values[canonical], rtol=1e-6)
    assert model.objective_ >= min(values.values()) * (1 - 1e-6)


@pytest.mark.parametrize("slack", [1, 0.1, 0.5])
def test_sizes_are_in_the_band(slack):
    X = np.random.default_rng(3).normal(size=(51, 3))
    for name in ("itersvm", "itersvr"):
        model = recipe(name, random_state=0, balancer__slack=slack).fit(X)
        sizes = np.bincount(model.labels_, minlength=2)
        assert abs(sizes[0] - sizes[1]) <= max(1, slack if slack >= 1 else slack * 51)


def test_single_precision():
    X, _ = halves(50, 2.0)
    for featuremap, scores in (("rbf", np.float64), ("identity", np.float32)):
        single = Pipeline(featuremap, "svm", n_clusters=2, random_state=0).fit(X.astype(np.float32))
        double = Pipeline(featuremap, "svm", n_clusters=2, random_state=0).fit(X)
        assert single.outcome_.rows.dtype == scores
        np.testing.assert_array_equal(single.labels_, double.labels_)


def test_too_few_steps_warn():
    X, labels = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    with pytest.warns(ClusterkitWarning, match=r"solver 'svm' stopped after max_iter = 3 steps"):
        solve_once(dense(X), labels, max_iter=3)


def test_the_matrix_respects_the_memory_cap(monkeypatch):
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "10K")
    X = np.random.default_rng(0).normal(size=(80, 6))
    with pytest.raises(NeedsMemory, match="80 x 80 matrix of inner products"):
        solve_once(dense(X), np.arange(80) % 2)
    with pytest.raises(NeedsMemory, match="80 x 80 kernel matrix"):
        solve_once(KernelSpace(X, Gaussian(1.0)), np.arange(80) % 2)


def test_two_clusters_only():
    with pytest.raises(IncompatibleStages, match="'bias_threshold' gives at most 2 clusters, not 3"):
        Pipeline("rbf", "svm", n_clusters=3).fit(np.eye(9))
    with pytest.raises(InvalidParameter, match="solver 'svm': C must be > 0"):
        Svm(C=0)
