"""Iterations of k-means without a table of scores, against full iterations."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.cluster import KMeans

from clusterkit import recipe
from clusterkit.contracts import Prepared, Task, labels_by_blocks
from clusterkit.families.means import _hamerly
from clusterkit.families.means._geometry import minus_distances
from clusterkit.families.means.kmeans import Centroids
from clusterkit.families.means.starts import Seeded
from clusterkit.families.shared.codecs import Argmax
from clusterkit.fitting import label_iterations
from clusterkit.fitting.label_iterations import alternate
from clusterkit.numerics import lloyd, threads
from clusterkit.numerics.nearest_jit import two_largest
from clusterkit.samples import KernelSpace, build_space, sums
from clusterkit.samples.kernels import Gaussian
from clusterkit.samples.limits import listening
from clusterkit.samples.transform import IdentityMap
from clusterkit_campaign.oracles import means as oracle


def dense(X):
    return build_space(X, IdentityMap(X.shape[1]))


@attrs.frozen
class InFull(Prepared):
    """The solver without its iterations that need no table of scores."""

    prepared: Prepared

    @property
    def resolved(self):
        return self.prepared.resolved

    def solve(self, targets, previous, rng):
        return self.prepared.solve(targets, previous, rng)

    def objective(self, targets, outcome):
        return self.prepared.objective(targets, outcome)


def loop(prepared, space, labels, k, max_iter):
    [last], _ = alternate(
        prepared, Argmax(), None, space, Task(space.n, k), lambda start: labels,
        starts=1, max_iter=max_iter, together=False, rng=np.random.default_rng(0),
    )  # fmt: skip
    return last


@st.composite
def overlapping(draw):
    """Rows of overlapping groups, so that several iterations are needed, with labels of all k classes."""
    k, d = draw(st.integers(2, 9)), draw(st.integers(1, 6))
    n = draw(st.integers(4 * k, 400))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = (
        rng.normal(size=(n, d))
        + draw(st.sampled_from([0.0, 1.0, 5.0])) * rng.normal(size=(k, d))[rng.integers(k, size=n)]
    )
    return X + draw(st.sampled_from([0.0, 30.0])), np.concatenate([np.arange(k), rng.integers(k, size=n - k)]), k


@pytest.mark.parametrize("kind", ["products", "loops", "kernel"])
@given(case=overlapping(), renewal=st.sampled_from([2, 5, 50]), max_iter=st.sampled_from([1, 2, 3, 4, 7, 300]))
def test_quick_iterations_are_the_iterations_in_full(kind, case, renewal, max_iter):
    (X, labels, k), kernel = case, kind == "kernel"
    space = KernelSpace(X, Gaussian(0.3 / X.var())) if kernel else dense(X)
    prepared = Centroids().prepare(space, Task(space.n, k), np.random.default_rng(0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_hamerly, "RENEWAL", renewal)
        patch.setattr(_hamerly, "GATHERED_BYTES", 1)
        patch.setattr(lloyd, "LEAST_WORK", 1 if kind == "loops" else np.inf)
        quick = loop(prepared, space, labels, k, max_iter)
    full = loop(InFull(prepared), space, labels, k, max_iter)
    assert np.array_equal(quick.answer.labels, full.answer.labels)
    assert np.array_equal(quick.answer.outcome.rows, full.answer.outcome.rows)
    assert (quick.n_iter, quick.converged, quick.reason) == (full.n_iter, full.converged, full.reason)
    np.testing.assert_allclose(quick.history, full.history, rtol=1e-10)
    np.testing.assert_allclose(quick.objective, full.objective, rtol=1e-10)


def seeded(X, k, seed):
    """k distinct rows as centres, and the label of the nearest one."""
    centres = X[np.random.default_rng(seed).permutation(len(X))[:k]]
    return centres, np.argmin(((X[:, None] - centres) ** 2).sum(axis=2), axis=1)


def leaves_a_cluster_empty(X, centres):
    """Whether a cluster loses all its rows in Lloyd's iterations, after which each library has a rule of its own."""
    while True:
        labels = np.argmin(((X[:, None] - centres) ** 2).sum(axis=2), axis=1)
        if len(np.unique(labels)) < len(centres):
            return True
        means = np.array([X[labels == label].mean(axis=0) for label in range(len(centres))])
        if np.array_equal(means, centres):
            return False
        centres = means


@pytest.mark.parametrize("kind", ["products", "loops", "in full"])
@given(
    case=overlapping(),
    seed=st.integers(0, 99),
    tol=st.sampled_from([0.0, 1e-4, 1e-3, 1e-2, 0.1]),
    renewal=st.sampled_from([2, 50]),
)
def test_the_tolerance_is_that_of_scikit_learn(kind, case, seed, tol, renewal):
    X, _, k = case
    centres, labels = seeded(X, k, seed)
    assume(not leaves_a_cluster_empty(X, centres))
    theirs = KMeans(k, init=centres, n_init=1, max_iter=300, tol=tol).fit(X)
    assume(theirs.n_iter_ > 1)  # the first movement is from the seeds, which the labels do not tell
    space = dense(X)
    prepared = Centroids(tol=tol).prepare(space, Task(space.n, k), np.random.default_rng(0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_hamerly, "RENEWAL", renewal)
        patch.setattr(lloyd, "LEAST_WORK", 1 if kind == "loops" else np.inf)
        mine = loop(InFull(prepared) if kind == "in full" else prepared, space, labels, k, 300)
    assert np.array_equal(mine.answer.labels, theirs.labels_)
    final = mine.answer.outcome.extend
    np.testing.assert_allclose((final.origin[:, None] + final.centres).T, theirs.cluster_centers_, atol=1e-9)
    assert mine.converged
    if mine.n_iter != theirs.n_iter_:
        # where the tolerance is not met first, scikit-learn needs one more iteration to see that labels repeat
        to_the_end = KMeans(k, init=centres, n_init=1, max_iter=300, tol=0.0).fit(X)
        assert mine.n_iter + 1 == theirs.n_iter_ == to_the_end.n_iter_
        assert mine.reason == "converged: labels no longer change"
    elif mine.reason != "converged: labels no longer change":
        assert mine.reason == f"tolerance reached: the centres move by no more than tol = {tol:g}"
    assert np.isclose(mine.objective, oracle.objective(X, mine.answer.labels))
    assert np.array_equal(np.argmax(final(X), axis=1), mine.answer.labels)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_most_samples_are_not_looked_at_again(monkeypatch, dtype):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(6000, 4)) + 3 * rng.normal(size=(8, 4))[rng.integers(8, size=6000)]).astype(dtype)
    looked = []
    picked = _hamerly.gathered
    monkeypatch.setattr(_hamerly, "gathered", lambda space, index: looked.append(len(index)) or picked(space, index))
    start = Seeded().start(dense(X), Task(len(X), 8), np.random.default_rng(1))
    prepared = Centroids().prepare(dense(X), Task(len(X), 8), np.random.default_rng(0))
    last = loop(prepared, dense(X), start, 8, 300)
    assert last.n_iter > 10
    assert looked[0] == len(X)
    assert sum(looked) < 0.4 * len(X) * len(looked)


@pytest.mark.parametrize("group", [2000, 2**18])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_loops_give_streamed_features_the_same_bits(monkeypatch, dtype, group):
    monkeypatch.setattr(lloyd, "LEAST_WORK", 1)
    monkeypatch.setattr(sums, "GROUP", group)
    X = np.random.default_rng(0).normal(size=(9000, 3)).astype(dtype)
    ends = []
    for storage in ("dense", "streamed"):
        space = build_space(X, IdentityMap(3), storage=storage)
        seeds = Seeded(weighting="kmeans++", trials=3).start(space, Task(len(X), 7), np.random.default_rng(1))
        start = labels_by_blocks(seeds, space)
        prepared = Centroids().prepare(space, Task(len(X), 7), np.random.default_rng(0))
        ends.append((start, loop(prepared, space, start, 7, 300)))
    (one_start, one), (other_start, other) = ends
    assert np.array_equal(one_start, other_start)
    assert one.history == other.history
    assert np.array_equal(one.answer.labels, other.answer.labels)
    assert one.n_iter > 10


@pytest.mark.parametrize("kind", ["products", "loops"])
@given(case=overlapping(), renewal=st.sampled_from([2, 50]), offset=st.sampled_from([0.0, 1000.0, 5000.0]))
def test_above_one_group_quick_iterations_are_the_iterations_in_full_bit_for_bit(kind, case, renewal, offset):
    X, labels, k = case
    X = (X + offset).astype(np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sums, "GROUP", 70)
        patch.setattr(_hamerly, "RENEWAL", renewal)
        patch.setattr(lloyd, "LEAST_WORK", 1 if kind == "loops" else np.inf)
        space = dense(X)
        prepared = Centroids().prepare(space, Task(space.n, k), np.random.default_rng(0))
        quick = loop(prepared, space, labels, k, 6)
        full = loop(InFull(prepared), space, labels, k, 6)
    if space.n > 70:
        assert np.array_equal(quick.answer.labels, full.answer.labels)
        assert np.array_equal(quick.answer.outcome.extend.centres, full.answer.outcome.extend.centres)
        assert quick.n_iter == full.n_iter


def test_starts_that_end_no_lower_are_left_without_labels():
    X = np.random.default_rng(0).normal(size=(400, 2))
    prepared = Centroids(tol=0.0).prepare(dense(X), Task(len(X), 5), np.random.default_rng(0))
    starts = [Seeded().start(dense(X), Task(len(X), 5), np.random.default_rng(seed)) for seed in range(8)]
    starts.append(starts[0])
    several = {}
    for best_only in (False, True):
        ends, _ = alternate(
            prepared, Argmax(), None, dense(X), Task(len(X), 5), lambda start: starts[start],
            starts=len(starts), max_iter=300, together=False, rng=np.random.default_rng(0), best_only=best_only,
        )  # fmt: skip
        several[best_only] = ends
    for one, other in zip(*several.values(), strict=True):
        assert (one.n_iter, one.converged, one.reason, one.index) == (other.n_iter, True, other.reason, other.index)
        np.testing.assert_allclose(one.history, other.history, rtol=1e-10)
        np.testing.assert_allclose(one.objective, other.objective, rtol=1e-10)
        assert one.answer is not None
    objectives = np.array([end.objective for end in several[True]])
    has_labels = np.array([end.answer is not None for end in several[True]])
    assert has_labels[np.argmin(objectives)]
    assert not has_labels[objectives > objectives.min() * (1 + 1e-4)].any()
    assert has_labels.sum() < len(starts)


def test_ctrl_c_between_quick_iterations_keeps_the_labels_reached():
    X = np.random.default_rng(0).normal(size=(500, 2))
    start = Seeded().start(dense(X), Task(len(X), 8), np.random.default_rng(1))
    prepared = Centroids().prepare(dense(X), Task(len(X), 8), np.random.default_rng(0))

    def stop(report):
        if report.stage == "loop" and report.iteration == 4:
            raise KeyboardInterrupt

    with listening(stop):
        ends, interrupted = alternate(
            prepared, Argmax(), None, dense(X), Task(len(X), 8), lambda _: start,
            starts=3, max_iter=300, together=False, rng=np.random.default_rng(0),
        )  # fmt: skip
    assert interrupted
    [last] = ends
    assert not last.converged
    assert last.n_iter == 5
    # the first four iterations were not lost: these labels come from the fifth
    labels, _ = oracle.lloyd(X, start, 8, max_iter=5)
    assert np.array_equal(last.answer.labels, labels)


def test_a_balancer_sees_scores_in_every_iteration(monkeypatch):
    def never(*_):
        raise AssertionError("quick iterations must not be used with a balancer")

    monkeypatch.setattr(_hamerly, "gathered", never)
    X = np.random.default_rng(0).normal(size=(200, 2))
    model = recipe("kmeans", n_clusters=5, n_init=1, random_state=0, balancer="band").fit(X)
    assert np.ptp(np.bincount(model.labels_, minlength=5)) <= 6 + 1
    with pytest.raises(AssertionError, match="quick iterations"):
        recipe("kmeans", n_clusters=5, n_init=1, random_state=0).fit(X)


def test_duplicates_stay_together():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, 3))
    which = rng.integers(40, size=4000)
    model = recipe("kmeans", n_clusters=6, n_init=2, random_state=0).fit(values[which])
    assert len(set(zip(model.labels_, which, strict=True))) == len(np.unique(which))
    assert np.array_equal(model.predict(values[which]), model.labels_)


@given(
    b=st.integers(1, 20),
    k=st.integers(1, 6),
    levels=st.sampled_from([2, 1000]),
    seed=st.integers(0, 2**16),
)
def test_the_compiled_comparison_of_products_has_the_bits_of_the_plain_one(b, k, levels, seed):
    rng = np.random.default_rng(seed)
    products = rng.integers(levels, size=(b, k)) / levels
    constants, lengths = rng.integers(3, size=k) / 2.0, rng.integers(1, 4, size=b) / 2.0
    labels, noise = rng.integers(k, size=b), rng.integers(3, size=b) * 1e-3
    plain = _hamerly._nearest(minus_distances(products, constants, lengths, noise), labels, noise)
    compiled = two_largest(products, constants, lengths, noise, labels)
    for one, other in zip(compiled, plain, strict=True):
        np.testing.assert_array_equal(one, other)


def test_many_centres_are_compared_by_products_with_the_labels_of_loops(monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 64))
    fits = []
    for least in (0, 10**9):
        monkeypatch.setattr(_hamerly, "PRODUCTS", least)
        monkeypatch.setattr(_hamerly, "compiled_pays", lambda *sizes: True)
        monkeypatch.setattr(_hamerly, "LEAST_WORK", 0)
        fits.append(recipe("kmeans", n_clusters=8, n_init=1, random_state=0).fit(X))
    np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)
    assert fits[0].objective_ == pytest.approx(fits[1].objective_, rel=1e-12)


def test_starts_that_run_side_by_side_end_as_one_after_the_other(monkeypatch):
    X = np.random.default_rng(0).normal(size=(600, 3))

    def fitted(cores: int, **settings: object):
        monkeypatch.setattr(threads, "available", lambda: cores)
        return recipe("kmeans", n_clusters=5, n_init=6, random_state=0, **settings).fit(X)

    for settings in ({}, {"balancer": "transport"}):
        apart = fitted(1, **settings)
        monkeypatch.setattr(label_iterations, "CONCURRENT_WORK", 1)
        for cores in (1, 3):
            beside = fitted(cores, **settings)
            assert np.array_equal(apart.labels_, beside.labels_)
            assert apart.inertia_ == beside.inertia_
            assert apart.stop_reason_ == beside.stop_reason_
        monkeypatch.undo()


def test_ctrl_c_in_one_of_several_starts_at_once_keeps_what_they_reached(monkeypatch):
    X = np.random.default_rng(0).normal(size=(600, 2))
    monkeypatch.setattr(label_iterations, "CONCURRENT_WORK", 1)
    monkeypatch.setattr(threads, "available", lambda: 2)

    def stop(report):
        if report.iteration == 4:
            raise KeyboardInterrupt

    with listening(stop):
        model = recipe("kmeans", n_clusters=8, n_init=9, random_state=0, solver__tol=0).fit(X)
    assert model.interrupted_
    assert len(np.unique(model.labels_)) == 8
