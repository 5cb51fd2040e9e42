"""Laws of `svr` and of IterSVR, against scikit-learn's regression, a dense system and plain loops."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import machines as oracle
from oracles.machines import dense, problem

from clusterkit import Pipeline, recipe
from clusterkit.contracts import Task
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import ClusterkitWarning, InvalidParameter, NeedsMemory
from clusterkit.families.margins.support_vector import Svr
from clusterkit.families.shared.codecs import BiasThreshold
from clusterkit.fitting.fit import bind, starting_labels
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian, Linear

LOSSES = ("laplacian", "epsilon", "square")


solve_once = partial(oracle.solve_once, Svr)

# a solver that stops where no two rows violate optimality by more than 1e-4 is off by 1e-4 C n at most
weights = st.sampled_from([0.01, 1.0, 20.0])


@given(case=problem(), C=weights, epsilon=st.sampled_from([0.0, 0.1, 0.6]))
def test_scores_and_objective_equal_the_oracle(case, C, epsilon):
    X, labels, gamma = case
    space, y = KernelSpace(X, Gaussian(gamma)), 2.0 * labels - 1.0
    name = "epsilon" if epsilon else "laplacian"
    outcome, value = solve_once(space, labels, C=C, loss=name, epsilon=epsilon)
    K, box = space.gram(), np.full(len(y), C)
    alpha = oracle.smo(K, y, -box, box, epsilon, 1e-6)
    # scikit-learn keeps kernel values in single precision, which C magnifies
    np.testing.assert_allclose(outcome.rows[:, 0], K @ alpha - np.mean(K @ alpha), atol=5e-3 * max(1.0, C))
    same = oracle.primal(K, alpha, y, C, name, epsilon)
    np.testing.assert_allclose(value, same, rtol=1e-4, atol=1e-4 * max(1.0, C * len(X)))
    assert value >= oracle.dual(K, alpha, y, name, epsilon) - 1e-6 * C * len(y)


@given(case=problem(), C=weights)
def test_least_squares_equal_a_dense_system(case, C):
    X, labels, gamma = case
    space, y = KernelSpace(X, Gaussian(gamma)), 2.0 * labels - 1.0
    outcome, value = solve_once(space, labels, C=C, loss="square")
    K = space.gram()
    alpha, b = oracle.least_squares(K, y, C)
    g = outcome.rows[:, 0]
    np.testing.assert_allclose(g, K @ alpha - np.mean(K @ alpha), atol=1e-9)
    # with the bias the scores are the closed form: residuals are α / C
    np.testing.assert_allclose(g + np.mean(y - g), K @ alpha + b, atol=1e-9)
    np.testing.assert_allclose(y - g - np.mean(y - g), alpha / C, atol=1e-7)
    np.testing.assert_allclose(value, 0.5 * y @ alpha, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(value, oracle.primal(K, alpha, y, C, "square"), rtol=1e-8, atol=1e-10)


@given(case=problem(), C=weights, loss=st.sampled_from(LOSSES))
def test_features_equal_the_linear_kernel(case, C, loss):
    X, labels, _ = case
    wide = np.concatenate([X, np.random.default_rng(0).normal(size=(len(X), 40))], axis=1)
    for rows in (X, wide):  # fewer features than samples, and more
        features, value = solve_once(dense(rows), labels, C=C, loss=loss)
        kernel, same = solve_once(KernelSpace(rows, Linear()), labels, C=C, loss=loss)
        np.testing.assert_allclose(features.rows, kernel.rows, atol=5e-3 * max(1.0, C))
        np.testing.assert_allclose(value, same, rtol=1e-4, atol=1e-4 * max(1.0, C * len(X)))
        np.testing.assert_array_equal(features.extend(rows), features.rows)


@given(case=problem(), C=weights, loss=st.sampled_from(LOSSES))
def test_translation_does_not_matter(case, C, loss):
    X, labels, _ = case
    plain, value = solve_once(dense(X), labels, C=C, loss=loss)
    moved, same = solve_once(dense(X + 1e5), labels, C=C, loss=loss)
    np.testing.assert_allclose(moved.rows, plain.rows, atol=5e-3 * max(1.0, C))
    np.testing.assert_allclose(same, value, rtol=1e-4, atol=1e-4 * max(1.0, C * len(X)))


@given(case=problem(), C=weights, loss=st.sampled_from(LOSSES))
def test_other_numbers_negate_the_scores(case, C, loss):
    X, labels, gamma = case
    for space in (dense(X), KernelSpace(X, Gaussian(gamma))):
        one, value = solve_once(space, labels, C=C, loss=loss)
        other, same = solve_once(space, 1 - labels, C=C, loss=loss)
        np.testing.assert_array_equal(other.rows, -one.rows)
        np.testing.assert_allclose(same, value, rtol=1e-12)


@given(case=problem(), C=weights, seed=st.integers(0, 99), loss=st.sampled_from(LOSSES))
def test_going_on_from_other_labels_equals_a_fresh_start(case, C, seed, loss):
    X, labels, gamma = case
    space = KernelSpace(X, Gaussian(gamma))
    changed = np.where(np.random.default_rng(seed).random(len(labels)) < 0.2, 1 - labels, labels)
    changed[:2] = [0, 1]
    before, _ = solve_once(space, labels, C=C, loss=loss)
    warm, value = solve_once(space, changed, before, C=C, loss=loss)
    cold, same = solve_once(space, changed, C=C, loss=loss)
    np.testing.assert_allclose(warm.rows, cold.rows, atol=5e-3 * max(1.0, C))
    np.testing.assert_allclose(value, same, rtol=1e-4, atol=1e-4 * max(1.0, C * len(X)))


@pytest.mark.parametrize("loss", LOSSES)
def test_one_label_alone_scores_zero(loss):
    X = np.random.default_rng(0).normal(size=(12, 3))
    for space in (dense(X), dense(X[:, :1]), KernelSpace(X, Gaussian(0.5))):
        outcome, value = solve_once(space, np.ones(12, dtype=int), loss=loss)
        assert not outcome.rows.any()
        assert not outcome.extend(X[:, : space.points.shape[1]]).any()
        assert value == 0.0


@pytest.mark.parametrize("loss", ["laplacian", "square"])
@pytest.mark.parametrize("seed", range(4))
def test_itersvr_goes_the_way_of_the_oracle(loss, seed):
    X = np.random.default_rng(seed).normal(size=(60, 4))
    model = recipe("itersvr", random_state=seed, init="random", balancer__slack=6)
    model.set_params(solver__loss=loss, labeler__loss=loss).fit(X)
    start = starting_labels(bind(model.composition(), X, Seeds.of(seed)), 0)
    K = KernelSpace(X, Gaussian(model.resolved_["featuremap"]["gamma"])).gram()
    way = oracle.iterate(K, start, 1.0, 27, 33, loss)
    assert model.n_iter_ == len(way) - 1
    if model.converged_:
        np.testing.assert_array_equal(model.labels_, way[-1])


@pytest.mark.parametrize(
    ("C", "init", "least"), [(0.01, "random", 4), (1.0, "random", 4), (1.0, "kmeans", 2), (100.0, "kmeans", 2)]
)
def test_itersvr_with_squares_is_the_published_loop_iteration_by_iteration(C, init, least):
    """On digits 3 and 9, as table 3 of the EMMC paper has it; k-means is near a fixed point, random labels are not."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X = X[np.isin(y, (3, 9))][::3] / 16.0  # (121, 64)
    model = recipe("itersvr", random_state=0, init=init, balancer__slack=5, max_iter=100)
    model.set_params(solver__loss="square", labeler__loss="square", solver__C=C).fit(X)
    start = starting_labels(bind(model.composition(), X, Seeds.of(0)), 0)
    K = KernelSpace(X, Gaussian(model.resolved_["featuremap"]["gamma"])).gram()
    way, objectives = oracle.iterate_squares(K, start, C, 58, 63)
    assert model.n_iter_ == len(objectives) >= least
    np.testing.assert_allclose(model.history_, objectives, rtol=1e-8)
    np.testing.assert_array_equal(model.labels_, way[-1])


@pytest.mark.parametrize("loss", LOSSES)
def test_other_numbers_at_the_start_give_the_other_numbers_at_the_end(loss):
    from clusterkit.families.shared.band import Band
    from clusterkit.fitting.label_iterations import alternate

    X = np.random.default_rng(1).normal(size=(40, 3))
    space, band, codec = KernelSpace(X, Gaussian(0.3)), Band(slack=4), BiasThreshold(loss=loss)
    task = Task(40, 2, band.bounds(40, 2))
    prepared = Svr(loss=loss).prepare(space, task, None)
    start = np.random.default_rng(2).permutation(40) % 2
    ends = []
    for labels in (start, 1 - start):
        [last], _ = alternate(
            prepared, codec, band, space, task, lambda _, labels=labels: labels,
            starts=1, max_iter=50, together=False, rng=None,
        )  # fmt: skip
        ends.append(last.answer.labels)
    np.testing.assert_array_equal(ends[1], 1 - ends[0])


@pytest.mark.parametrize("loss", LOSSES)
def test_a_fit_predicts_its_labels(loss):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3)) + 3.0 * (np.arange(60) % 2)[:, None]
    for featuremap in ("rbf", "identity", "elm"):
        model = Pipeline(featuremap, {"name": "svr", "loss": loss}, n_clusters=2, random_state=0).fit(X)
        assert model.exact_on_training_
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        np.testing.assert_array_equal(model.labels_, model.labels_[:2][np.arange(60) % 2])


def test_least_squares_on_few_features_need_no_square_matrix(monkeypatch):
    monkeypatch.setenv("CLUSTERKIT_MEMORY_CAP", "10K")
    X = np.random.default_rng(0).normal(size=(80, 6))
    outcome, _ = solve_once(dense(X), np.arange(80) % 2, loss="square")
    assert outcome.rows.shape == (80, 1)
    with pytest.raises(NeedsMemory, match="80 x 80 matrix of inner products"):
        solve_once(dense(X), np.arange(80) % 2)


def test_too_few_steps_warn():
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.warns(ClusterkitWarning, match=r"solver 'svr' stopped after max_iter = 3 steps"):
        solve_once(dense(X), np.arange(40) % 2, max_iter=3)


def test_unknown_loss():
    with pytest.raises(InvalidParameter, match="solver 'svr': loss must be one of 'laplacian', 'epsilon', 'square'"):
        Svr(loss="hinge")
