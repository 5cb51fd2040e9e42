"""Laws of equal clustering, against the plain loop."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from clusterkit import recipe
from clusterkit.contracts import Task
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import ClusterkitWarning, InvalidData
from clusterkit.families.equal.drift import DriftRule, even_out, find_parts, random_distinct_rows
from clusterkit.families.equal.equal import Equal, EqualParts
from clusterkit.families.shared.codecs import Argmax
from clusterkit.families.shared.scaling import Identity
from clusterkit.fitting.fit import fit
from clusterkit.samples import build_space, identity_space
from clusterkit.samples.limits import listening
from clusterkit.samples.transform import IdentityMap
from clusterkit_campaign.oracles import balance as oracle


def dense(X):
    return build_space(X, IdentityMap(X.shape[1]))


def parts_of(X, m, seed=0, record=True, **settings):
    return find_parts(X, m, DriftRule(**settings), np.random.default_rng(seed), record=record)


def seeds_of(X, m, seed=0):
    return X[random_distinct_rows(X, m, np.random.default_rng(seed))[0]]


def solve(X, m, seed=0, **parameters):
    prepared = Equal(**parameters).prepare(dense(X), Task(len(X), m), np.random.default_rng(9))
    return prepared.solve(None, None, np.random.default_rng(seed))


def bananas(n, seed=0):
    rng = np.random.default_rng(seed)
    angle, other = rng.uniform(0, np.pi, n), rng.random(n) < 0.5
    X = np.stack([np.cos(angle) + other, np.where(other, 0.5 - np.sin(angle), np.sin(angle))], axis=1)
    return X + rng.normal(scale=0.2, size=(n, 2))


@st.composite
def problem(draw):
    """Rows with clumps and an offset, and a number of parts."""
    d, m = draw(st.sampled_from([1, 2, 3, 4, 7, 16])), draw(st.integers(2, 12))
    n = draw(st.integers(m, 300))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d)) * rng.choice([0.1, 1.0, 3.0], size=(n, 1)) + draw(st.sampled_from([0.0, 20.0]))
    return X * draw(st.sampled_from([1e-3, 1.0, 1e4])), m


@given(rows=problem(), step=st.sampled_from([0.001, 0.01, 0.1]), original=st.booleans(), seed=st.integers(0, 99))
def test_sizes_of_every_iteration_equal_the_plain_loop(rows, step, original, seed):
    X, m = rows
    iterations = 40
    parts = parts_of(X, m, seed, original=original, step=step, max_iter=iterations, restarts=0)
    tolerance = -1 if original else DriftRule().tolerance_for(len(X), m)
    sizes, centres = oracle.jacobi(X, seeds_of(X, m, seed), step, iterations, tolerance=tolerance, original=original)
    common = min(len(parts.sizes), len(sizes))
    differ = np.flatnonzero((parts.sizes[:common] != sizes[:common]).any(axis=1))
    if len(differ):
        # centres that run away are nearly as far from a row as each other: there rounding may decide
        D = np.sort(((X[:, None] - centres[differ[0]]) ** 2).sum(axis=2), axis=1)
        assert ((D[:, 1] - D[:, 0]) <= 1e-9 * D[:, 1]).sum() >= np.abs(parts.sizes - sizes[: len(parts.sizes)])[
            differ[0]
        ].sum() / 2
        return
    if len(parts.sizes) < len(sizes):  # it stands still, or has run away
        assert "stand still" in parts.reason or "balanced" in parts.reason or "ran away" in parts.reason
    imbalances = np.abs(parts.sizes - len(X) // m).max(axis=1)
    np.testing.assert_array_equal(parts.imbalances, imbalances)
    assert parts.iteration == np.argmin(imbalances) + 1
    assert parts.imbalance == imbalances.min()
    size = np.abs(centres[: parts.iteration]).max()
    np.testing.assert_allclose(parts.centres, centres[parts.iteration - 1], atol=1e-9 * size)


DEEP = [pytest.param(d, m, marks=pytest.mark.deep) for d, m in ((2, 20), (4, 5), (8, 10), (16, 20))]


@pytest.mark.parametrize(("d", "m"), [(1, 6), (2, 2), (5, 2), (2, 5), (3, 7), *DEEP])
def test_long_runs_equal_the_plain_loop_in_every_way_of_counting(d, m):
    rng = np.random.default_rng(d * m)
    X = rng.normal(size=(1500, d)) + 2.0 * rng.integers(2, size=(1500, d))
    iterations = 250
    parts = parts_of(X, m, 3, max_iter=iterations, size_tol=0, strict=True, restarts=0)
    sizes, _ = oracle.jacobi(X, seeds_of(X, m, 3), DriftRule().step_for(m), iterations)
    np.testing.assert_array_equal(parts.sizes, sizes[: len(parts.sizes)])
    assert len(parts.sizes) == iterations or "stand still" in parts.reason


@given(n=st.integers(20, 150), d=st.integers(1, 5), m=st.integers(2, 6), seed=st.integers(0, 2**32 - 1))
def test_ties_of_whole_numbers_go_to_the_lowest(n, d, m, seed):
    """In the first iteration all is exact, so that ties are ties."""
    rng = np.random.default_rng(seed)
    X = rng.integers(4, size=(n, d)).astype(float)
    parts = parts_of(X, m, 5, max_iter=1, restarts=0)
    sizes, _ = oracle.jacobi(X, seeds_of(X, m, 5), 0.01, 1)
    np.testing.assert_array_equal(parts.sizes, sizes)


@given(rows=problem(), seed=st.integers(0, 99))
def test_the_status_of_a_fit_is_true(rows, seed):
    X, m = rows
    n = len(X)
    outcome = solve(X, m, seed, max_iter=200)
    status, labels = outcome.status, np.argmax(outcome.rows, axis=1)
    assert status.facts["sizes"] == tuple(np.bincount(labels, minlength=m))
    assert sum(status.facts["sizes"]) == n
    assert status.facts["imbalance"] == max(abs(size - n // m) for size in status.facts["sizes"])
    assert min(status.history) == status.history[status.facts["best_iteration"] - 1] <= status.history[-1]
    tolerance = max(n // (50 * m), 2 if n % m else 1)
    assert status.converged == (min(status.history) < tolerance)
    D = ((X[:, None] - outcome.extend.centres) ** 2).sum(axis=2)
    np.testing.assert_allclose(-outcome.rows, D, rtol=1e-12)
    np.testing.assert_array_equal(outcome.extend(X), outcome.rows)


def test_published_settings():
    assert [DriftRule().step_for(m) for m in (1, 10, 11, 20, 21)] == pytest.approx([0.01, 0.01, 0.001, 0.001, 0.0001])
    assert DriftRule().tolerance_for(40_000, 20) == 40
    assert DriftRule().tolerance_for(100, 4) == 1
    assert DriftRule().tolerance_for(101, 4) == 2
    assert DriftRule(strict=True).tolerance_for(101, 4) == 0
    prepared = Equal(size_tol=0).prepare(dense(np.zeros((10, 2))), Task(10, 3), np.random.default_rng(0))
    assert prepared.resolved == {"step": 0.01, "size_tol": 2}


def test_a_largest_ratio_of_one_keeps_the_centres():
    X = bananas(500)
    parts = parts_of(X, 4, max_ratio=1.0, restarts=0)
    assert len(parts.imbalances) == 1
    assert "stand still" in parts.reason
    np.testing.assert_array_equal(parts.centres, seeds_of(X, 4))


def test_strict_returns_the_last_iteration():
    X = bananas(300)
    parts = parts_of(X, 5, 1, max_iter=37, strict=True, restarts=0)
    _, centres = oracle.jacobi(X, seeds_of(X, 5, 1), 0.01, 37)
    assert parts.iteration == 37
    np.testing.assert_allclose(parts.centres, centres[-1], atol=1e-12)
    assert parts.imbalance == parts.imbalances[-1]


def test_seeds_far_from_the_middle_and_close_together_never_meet_it_but_a_new_start_does():
    rng = np.random.default_rng(0)
    X = np.concatenate([[[9.0, 9.0], [9.001, 9.0]], rng.normal(size=(2000, 2))])
    order = np.random.default_rng(3).permutation(len(X))  # the first draw of the fit, so the seeds are the two far out
    placed = np.empty_like(X)
    placed[order] = X
    stuck = parts_of(placed, 2, 3, restarts=0, max_iter=3000)
    assert not stuck.converged
    restarted = parts_of(placed, 2, 3, restarts=3, max_iter=3000)
    assert restarted.converged
    assert restarted.starts == 2


@given(rows=problem(), seed=st.integers(0, 99))
def test_repair_makes_sizes_even_and_predicts_them(rows, seed):
    X, m = rows
    outcome = solve(X, m, seed, max_iter=20, repair=True)
    sizes = np.array(outcome.status.facts["sizes"])
    assert sizes.max() - sizes.min() <= 1
    if outcome.exact_on_training:
        np.testing.assert_array_equal(outcome.extend(X), outcome.rows)
    assert outcome.exact_on_training or outcome.status.facts["tied"] > 0


@given(n=st.integers(2, 8), k=st.integers(2, 3), seed=st.integers(0, 2**32 - 1))
def test_repair_is_the_cheapest(n, k, seed):
    assume(n >= k)
    costs = np.random.default_rng(seed).exponential(size=(n, k)) * np.array([0.2, 1.0, 1.0])[:k]
    rows, offsets, _, tied = even_out(-costs)
    labels = np.argmax(rows, axis=1)
    assert costs[np.arange(n), labels].sum() == pytest.approx(oracle.cheapest_even(costs), rel=1e-9)
    assert tied == 0
    np.testing.assert_array_equal(rows, -costs + offsets)


def test_repair_of_equal_rows_is_not_exact():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [5.0, 1.0]], [40, 3, 2], axis=0)
    model = recipe("equal-clustering", n_clusters=3, random_state=0, solver__repair=True).fit(X)
    assert sorted(np.bincount(model.labels_)) == [15, 15, 15]
    assert not model.exact_on_training_
    assert model.outcome_.status.facts["tied"] > 0


def test_repair_after_one_iteration_of_bananas_predicts_the_labels():
    X = bananas(3000)
    model = recipe("equal-clustering", n_clusters=7, random_state=0, solver__repair=True, solver__max_iter=1).fit(X)
    assert np.ptp(np.bincount(model.labels_)) <= 1
    assert model.exact_on_training_
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("max_ratio", [1.0, np.nextafter(1.0, 2.0)])
def test_the_least_ratio_leaves_the_centres_where_they_are(d, max_ratio):
    """Of equal rows most parts are empty, and with the ratio 1 a coefficient towards one of these would be 0 / 0."""
    X = np.repeat(np.random.default_rng(0).normal(size=(3, d)), 6, axis=0)
    parameters = {"max_ratio": max_ratio, "max_iter": 20, "restarts": 0}
    model = recipe("equal-clustering", n_clusters=5, random_state=0)
    model.set_params(**{f"solver__{name}": value for name, value in parameters.items()})
    with pytest.warns(ClusterkitWarning, match="only 3 rows are distinct"):
        model.fit(X)
    assert np.isfinite(model.outcome_.rows).all()
    labels = EqualParts(**parameters).start(identity_space(X), Task(len(X), 5), np.random.default_rng(0))
    assert set(labels.tolist()) <= set(range(5))


@pytest.mark.parametrize("d", [1, 2, 5])
def test_more_parts_than_distinct_rows_are_answered_with_a_warning(d):
    X = np.repeat(np.random.default_rng(0).normal(size=(3, d)), 10, axis=0)
    with pytest.warns(ClusterkitWarning, match="only 3 rows are distinct"):
        model = recipe("equal-clustering", n_clusters=5, random_state=0, solver__max_iter=50, solver__repair=False).fit(
            X
        )
    assert not model.converged_
    assert all(len(set(model.labels_[np.all(x == X, axis=1)])) == 1 for x in X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("m", [2, 4])
def test_constant_data_end_with_zeros(dtype, m):
    X = np.full((30, 4), 0.1, dtype=dtype)
    with pytest.warns(ClusterkitWarning):
        fitted = fit(Composition(Identity(), Equal(), Argmax(), None, None, m), X, Seeds(0))
    assert not fitted.labels.any()
    assert not fitted.converged
    assert fitted.n_iter <= 2


def test_fewer_rows_than_clusters():
    with pytest.raises(InvalidData, match="partitioner 'equal': 3 rows cannot make 4 parts"):
        EqualParts().start(identity_space(np.eye(3)), Task(3, 4), np.random.default_rng(0))


def test_as_many_clusters_as_rows():
    X = np.random.default_rng(0).normal(size=(12, 3))
    model = recipe("equal-clustering", n_clusters=12, random_state=0).fit(X)
    assert sorted(model.labels_) == list(range(12))
    assert model.n_iter_ == 1


def test_a_fit_compares_starts():
    X = bananas(1500)
    model = recipe("equal-clustering", n_clusters=5, random_state=0, n_init=3).fit(X)
    assert model.objective_ == np.abs(np.bincount(model.labels_) - 300).max() < 6
    assert model.resolved_["solver"] == {"step": 0.01, "size_tol": 6}
    assert model.exact_on_training_


def test_the_partitioner_gives_the_parts_of_the_solver():
    X = bananas(1500)
    labels = EqualParts().start(identity_space(X), Task(len(X), 6), np.random.default_rng(4))
    np.testing.assert_array_equal(labels, np.argmax(solve(X, 6, 4).rows, axis=1))
    even = EqualParts(repair=True).start(identity_space(X), Task(len(X), 7), np.random.default_rng(4))
    assert np.ptp(np.bincount(even)) == 1


def test_no_part_stays_empty_where_there_are_rows_for_it():
    X = np.repeat([[0.0], [1.0]], [9, 2], axis=0)
    labels = EqualParts(max_iter=20).start(identity_space(X), Task(len(X), 4), np.random.default_rng(0))
    assert sorted(set(labels)) == [0, 1, 2, 3]


def test_it_reports_and_keeps_the_best_at_an_interrupt():
    X, reports = bananas(2000), []

    def stop(report):
        reports.append(report)
        if len(reports) == 3:
            raise KeyboardInterrupt

    with listening(stop):
        outcome = solve(X, 11, 0, step=1e-5)
    assert [report.iteration for report in reports] == [100, 200, 300]
    assert reports[0].stage == "equal"
    assert outcome.status.interrupted
    assert "interrupted after 300" in outcome.status.reason
