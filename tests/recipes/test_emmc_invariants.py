"""Invariants of extreme maximum margin clustering (specification 2.9), through recipes and through the loop."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import attrs
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import balance
from oracles import ridge as oracle
from oracles.maps import mapped

from clusterkit import recipe
from clusterkit.balancers.band import Band
from clusterkit.balancers.ordinal import Ordinal
from clusterkit.core.compat import Composition
from clusterkit.core.errors import ClusterkitWarning, InvalidData
from clusterkit.core.kernel import Gaussian, Linear
from clusterkit.core.ordering import along_principal_axis
from clusterkit.core.run import BoundComposition, run
from clusterkit.core.seeds import Seeds
from clusterkit.core.spaces import KernelSpace, build_space
from clusterkit.core.stages import Partitioner, Task
from clusterkit.core.transform import Keep
from clusterkit.featuremaps.elm import Elm
from clusterkit.featuremaps.identity import Identity
from clusterkit.labelers.codecs.argmax import Argmax
from clusterkit.labelers.codecs.interval import Interval
from clusterkit.labelers.codecs.threshold import Threshold
from clusterkit.solvers.regression.ridge import Ridge

SEED = st.integers(0, 2**32 - 1)
RECIPES = {
    "emmc": {},
    "emmc-single": {},
    "emmc-multi": {},
    "emmc-paper": {"featuremap__n_hidden": 50},
    "emmc-multistart": {"n_maps": 2, "n_init": 3},
}


@final
@attrs.frozen
class Given(Partitioner):
    """Labels handed over."""

    name: ClassVar[str] = "given"
    sees: ClassVar[Literal["input", "space"]] = "input"
    varies: ClassVar[bool] = False
    labels: tuple[int, ...] = ()

    def partition(self, samples, task, rng):
        return np.array(self.labels)


def blobs(n, k, seed, d=3, spread=1.5):
    """Overlapping clusters of unequal size."""
    rng = np.random.default_rng(seed)
    which = np.minimum(rng.integers(k + 1, size=n), k - 1)
    return rng.normal(size=(k, d))[which] * spread + rng.normal(size=(n, d))


def loop(space, labels, k, codec, balancer=None, **parameters):
    """The loop from given labels in a given space."""
    composition = Composition(Identity(), Ridge(**parameters), codec, balancer, Given(tuple(map(int, labels))), k)
    task = Task(space.n, k)
    prepared = composition.solver.prepare(space, task, np.random.default_rng(0))
    return run(BoundComposition(composition, space.points, space, prepared, task, Seeds(0)))


@st.composite
def problem(draw, clusters=(2, 4)):
    """A space of random features, starting labels that leave no class empty, k, a slack in rows, C."""
    k = draw(st.integers(*clusters))
    n, seed = draw(st.integers(12, 60)), draw(SEED)
    space = mapped(Elm(n_hidden=draw(st.sampled_from([8, 25, 80])), width=2.0), blobs(n, k, seed), seed)
    rng = np.random.default_rng(seed + 1)
    labels = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
    if draw(st.booleans()):  # a good start
        labels = np.argmin(np.linalg.norm(space.points[:, None] - space.points[rng.permutation(n)[:k]], axis=2), axis=1)
        assume(len(np.unique(labels)) == k)
    return space, labels, k, draw(st.integers(0, n // 3)), 10.0 ** draw(st.floats(-2, 3))


def gap(labels, k):
    return np.ptp(np.bincount(labels, minlength=k))


def agree(one, two, number=None):
    """Same labels; where a cycle ends the loop, labels equally good: renumbered ones have the same objective."""
    assert one.n_iter == two.n_iter
    assert one.reason == two.reason
    if one.converged:
        np.testing.assert_array_equal(one.labels if number is None else one.labels[number], two.labels)
    np.testing.assert_allclose(one.objective, two.objective, rtol=1e-6)


def falls(history):
    history = np.asarray(history)
    return np.all(history[1:] <= history[:-1] * (1 + 1e-9))


# 1


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize(("n", "k", "slack"), [(60, 2, 0.03), (61, 2, 0), (60, 3, 0.15), (61, 4, 1), (60, 3, 0)])
def test_every_recipe_respects_the_band(name, n, k, slack):
    for seed in range(2):
        X = blobs(n, k, seed)
        model = recipe(name, n_clusters=k, random_state=seed, balancer__slack=slack, **RECIPES[name]).fit(X)
        rows = slack if isinstance(slack, int) else slack * n
        rows = rows if n % k == 0 else max(rows, 1)
        assert gap(model.labels_, k) <= rows
        assert np.bincount(model.labels_, minlength=k).min() >= (n - (k - 1) * rows) / k > 0


@given(given=problem())
def test_the_loop_respects_the_band_from_any_start(given):
    space, labels, k, slack, C = given
    codecs = [(Argmax(), Band), (Interval(), Band), (Interval(rule="paper"), Band), (Interval(), Ordinal)]
    for codec, balancer in codecs + ([(Threshold(), Band)] if k == 2 else []):
        found = loop(space, labels, k, codec, balancer(slack=slack), C=C)
        assert gap(found.labels, k) <= (slack if space.n % k == 0 else max(slack, 1))


# 2


@given(given=problem(clusters=(2, 2)))
def test_two_class_objective_falls_once_feasible(given):
    space, labels, _, slack, C = given
    found = loop(space, labels, 2, Threshold(), Band(slack=slack), C=C)
    feasible = gap(labels, 2) <= max(slack, space.n % 2)
    assert falls(found.history if feasible else found.history[1:])
    assert found.converged


@pytest.mark.parametrize("init", ["random", "kmeans", "kmeans_mapped"])
def test_two_class_objective_falls_in_the_recipe(init):
    for seed in range(5):
        model = recipe("emmc", n_clusters=2, init=init, balancer__slack=0, random_state=seed).fit(blobs(80, 2, seed))
        assert falls(model.history_ if init == "random" else model.history_[1:])
        assert model.converged_
        assert len(model.history_) == model.n_iter_
        assert model.objective_ == model.history_[-1]


# 3


@given(given=problem(), codec=st.sampled_from([Argmax(), Interval(), Interval(rule="midpoint")]))
def test_unbalanced_objective_falls_and_the_loop_ends(given, codec):
    space, labels, k, _, C = given
    found = loop(space, labels, k, codec, C=C)
    assert falls(found.history)
    assert found.converged
    assert found.exact
    np.testing.assert_array_equal(found.predict(space.points), found.labels)


# 4


@given(given=problem())
def test_features_and_their_kernel_give_the_same_labels(given):
    space, labels, k, slack, C = given
    H = space.rows()
    for balancer in (None, Band(slack=slack)):
        one, two = (
            loop(s, labels, k, Argmax(), balancer, C=C)
            for s in (build_space(H, Keep(H.shape[1])), KernelSpace(H, Linear()))
        )
        agree(one, two)
        np.testing.assert_allclose(one.history, two.history, rtol=1e-6)


# 5


@given(given=problem(clusters=(2, 2)))
def test_opposite_starts_give_opposite_labels(given):
    space, labels, _, slack, C = given
    for balancer in (None, Band(slack=slack), Ordinal(slack=slack)):
        one, two = (loop(space, y, 2, Threshold(), balancer, C=C) for y in (labels, 1 - labels))
        np.testing.assert_array_equal(one.labels, 1 - two.labels)
        assert one.history == two.history


# 6


@given(given=problem(), seed=SEED)
def test_renumbered_starts_give_renumbered_labels_with_one_output_a_cluster(given, seed):
    space, labels, k, slack, C = given
    number = np.random.default_rng(seed).permutation(k)
    # for more than two clusters the repair goes by number where sizes tie
    for balancer in (None, Band(slack=slack)) if k == 2 else (None,):
        one, two = (loop(space, y, k, Argmax(), balancer, C=C) for y in (labels, number[labels]))
        np.testing.assert_array_equal(number[one.labels], two.labels)


@given(given=problem(), seed=SEED, codec=st.sampled_from([Argmax(), Interval(), Threshold()]))
def test_rows_carry_their_labels_along(given, seed, codec):
    space, labels, k, slack, C = given
    assume(k == 2 or codec != Threshold())
    assume(k > 2 or codec != Interval() or 2 * labels.sum() != space.n)
    order = np.random.default_rng(seed).permutation(space.n)
    for balancer in (None, Band(slack=slack)):
        plain = loop(space, labels, k, codec, balancer, C=C)
        moved = loop(space.take(order), labels[order], k, codec, balancer, C=C)
        agree(plain, moved, order)


# 7


@given(given=problem(clusters=(2, 2)))
def test_two_outputs_are_one_signed_output(given):
    space, labels, _, slack, C = given
    for balancer in (None, Band(slack=slack)):
        signed = loop(space, labels, 2, Threshold(), balancer, C=C)
        onehot = loop(space, labels, 2, Argmax(), balancer, C=C)
        np.testing.assert_array_equal(signed.labels, onehot.labels)
        difference = onehot.outcome.rows @ [-1.0, 1.0]
        np.testing.assert_allclose(difference, signed.outcome.rows[:, 0], atol=1e-10)


# 8


@given(given=problem(clusters=(2, 2)))
def test_tiny_C_decides_by_the_sign_of_the_class_sums(given):
    space, labels, _, _, _ = given
    H = space.rows()
    f = H @ (H.T @ (2.0 * labels - 1))
    assume(np.abs(f).min() > 1e-6)
    found = loop(space, labels, 2, Threshold(), C=1e-12)
    visited, _ = oracle.emmc(H, labels, np.array([[-1.0], [1.0]]), lambda F: (F[:, 0] > 0).astype(int), keep, 1e-12)
    np.testing.assert_array_equal(visited[1], f > 0)
    np.testing.assert_array_equal(found.labels, visited[-1])


# 9


def keep(F, labels):
    """No repair."""
    return labels


def literal(codec, k, slack, n):
    """Decoding and repair of a codec as the specification writes them."""
    if codec == Threshold():
        most = max(slack, n % 2)
        return (lambda F: (F[:, 0] > 0).astype(int)), (lambda F, y: balance.two_class(F[:, 0], most))
    if codec == Argmax():
        return (lambda F: np.argmax(F, axis=1)), (lambda F, y: balance.pairwise(y, k, slack, balance.regret(F))[0])
    half = 0.5 if codec.rule == "nearest" else 0.0
    return (
        lambda F: np.clip(np.ceil(F[:, 0] - half), 1, k).astype(int) - 1,
        lambda F, y: balance.pairwise(y, k, slack, balance.single_output(F[:, 0]))[0],
    )


@given(
    given=problem(),
    codec=st.sampled_from([Threshold(), Argmax(), Interval(), Interval(rule="midpoint"), Interval(rule="paper")]),
    balanced=st.booleans(),
)
def test_one_factorisation_equals_one_in_every_turn(given, codec, balanced):
    space, labels, k, slack, C = given
    assume(k == 2 or codec != Threshold())
    found = loop(space, labels, k, codec, Band(slack=slack) if balanced else None, C=C)
    decode, repair = literal(codec, k, slack, space.n)
    start = along_principal_axis(space, labels, k) if isinstance(codec, Interval) else labels
    visited, values = oracle.emmc(space.rows(), start, codec.codebook(k), decode, repair if balanced else keep, C)
    np.testing.assert_allclose(found.history, values, rtol=1e-7)
    assert found.converged == np.array_equal(visited[-1], visited[-2])
    # without convergence: the best labels that were read, the start being no candidate
    candidates = [visited[-1]]
    if not found.converged and len(values) > 1:
        lowest = min(values[1:]) * (1 + 1e-9)
        candidates = [y for y, value in zip(visited[1:], values[1:], strict=False) if value <= lowest]
    assert any(np.array_equal(found.labels, y) for y in candidates)


# the numbering of single outputs


@given(given=problem(clusters=(2, 4)), seed=SEED)
def test_the_canonical_order_makes_the_numbering_of_the_start_irrelevant(given, seed):
    space, labels, k, slack, C = given
    number = np.random.default_rng(seed).permutation(k)
    one, two = (loop(space, y, k, Interval(), Band(slack=slack), C=C) for y in (labels, number[labels]))
    np.testing.assert_array_equal(one.labels, two.labels)


@given(given=problem(clusters=(2, 2)), seed=SEED)
def test_the_canonical_order_of_two_clusters(given, seed):
    space, labels, _, _, _ = given
    order = np.random.default_rng(seed).permutation(space.n)
    for where in (space, KernelSpace(space.points, Gaussian(0.5))):
        one, two = (along_principal_axis(where, y, 2) for y in (labels, 1 - labels))
        np.testing.assert_array_equal(one, two)
        if 2 * labels.sum() != space.n:  # of equal sizes the first to appear decides
            np.testing.assert_array_equal(along_principal_axis(where.take(order), labels[order], 2), one[order])


def test_without_it_single_output_depends_on_the_numbering():
    space = mapped(Elm(n_hidden=25, width=2.0), blobs(60, 3, 0), 0)
    labels = np.random.default_rng(1).integers(3, size=60)
    codec = Interval()
    decode, repair = literal(codec, 3, 2, 60)
    partitions = set()
    for number in ([0, 1, 2], [1, 0, 2], [0, 2, 1]):
        visited, _ = oracle.emmc(space.rows(), np.array(number)[labels], codec.codebook(3), decode, repair, 10.0)
        partitions.add((visited[-1][:, None] == visited[-1]).tobytes())
    assert len(partitions) > 1


@given(given=problem())
def test_the_canonical_order_keeps_the_partition(given):
    space, labels, k, _, _ = given
    ordered = along_principal_axis(space, labels, k)
    assert len(set(zip(ordered, labels, strict=True))) == k
    H = space.rows()
    means = np.stack([H[ordered == j].mean(axis=0) for j in range(k)])
    axis = np.linalg.svd(means - means.mean(axis=0))[2][0]
    steps = np.diff(means @ axis)
    assert np.all(steps > 0) or np.all(steps < 0)


# prediction


@pytest.mark.parametrize("name", RECIPES)
def test_prediction_is_the_rule_without_balance(name):
    X = blobs(60, 3, 1)
    model = recipe(name, n_clusters=3, random_state=0, **RECIPES[name]).fit(X)
    codec = Interval() if name in ("emmc-single", "emmc-paper") else Argmax()
    unbalanced = codec.decode(model.outcome_.rows, 3)
    np.testing.assert_array_equal(model.predict(X), unbalanced)
    assert model.exact_on_training_ == np.array_equal(unbalanced, model.labels_)
    np.testing.assert_array_equal(model.predict(X[::-1]), unbalanced[::-1])


# degenerate data


@pytest.mark.parametrize(
    ("name", "k", "n"), [("emmc", 2, 20), ("emmc", 3, 21), ("emmc-single", 2, 20), ("emmc-multi", 3, 21)]
)
@pytest.mark.parametrize("value", [0.0, 0.1, 1e6])
def test_equal_rows_are_split_by_index_with_a_warning(name, k, n, value):
    with pytest.warns(ClusterkitWarning, match=f"all {n} samples are equal"):
        model = recipe(name, n_clusters=k, random_state=0, balancer__slack=0).fit(np.full((n, 5), value))
    assert gap(model.labels_, k) == 0
    assert np.count_nonzero(np.diff(model.labels_)) == k - 1


@pytest.mark.parametrize("name", RECIPES)
def test_fewer_rows_than_clusters(name):
    with pytest.raises(InvalidData, match=r"n_samples=3 should be >= n_clusters=4"):
        recipe(name, n_clusters=4, **RECIPES[name]).fit(blobs(3, 2, 0))


@pytest.mark.parametrize("name", RECIPES)
def test_as_many_rows_as_clusters(name):
    labels = recipe(name, n_clusters=4, random_state=0, **RECIPES[name]).fit_predict(blobs(4, 4, 0))
    assert sorted(labels) == [0, 1, 2, 3]


@pytest.mark.parametrize("name", RECIPES)
def test_one_cluster(name):
    model = recipe(name, n_clusters=1, **RECIPES[name]).fit(blobs(9, 2, 0))
    assert not model.labels_.any()
    assert not model.predict(blobs(5, 2, 1)).any()


@pytest.mark.parametrize("codec", [Threshold(), Argmax()])
@pytest.mark.parametrize("slack", [30, 40, 1.0])
def test_a_void_constraint_allows_one_class_for_all(codec, slack):
    space = mapped(Elm(n_hidden=20), blobs(30, 2, 0), 0)
    found = loop(space, np.zeros(30, dtype=int), 2, codec, Band(slack=slack), C=10.0)
    assert not found.labels.any()
    assert (found.converged, found.n_iter) == (True, 1)


@pytest.mark.parametrize("name", ["emmc", "emmc-single", "emmc-multi"])
def test_odd_rows_with_zero_slack(name):
    model = recipe(name, n_clusters=2, random_state=0, balancer__slack=0).fit(blobs(21, 2, 0))
    assert model.resolved_["balancer"] == {"slack": 1}
    assert sorted(np.bincount(model.labels_)) == [10, 11]


def test_the_default_complexity_is_reported():
    model = recipe("emmc", n_clusters=2, random_state=0).fit(blobs(80, 2, 0))
    H = model.space_.rows()
    np.testing.assert_allclose(oracle.degrees(H, model.resolved_["solver"]["C"]), 12.0, atol=1e-6)
    assert model.resolved_["featuremap"] == {"n_hidden": 80}
    assert model.resolved_["labeler"] == {"name": "threshold"}
    assert model.n_iter_ < 100
