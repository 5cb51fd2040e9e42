"""`MinMaxModularSVC`: naive min-max, plain machines, the laws of the rule, and scikit-learn's checks."""

from __future__ import annotations

import itertools
import pickle
from typing import ClassVar

import attrs
import numpy as np
import pytest
from clusterkit_min_max import MinMaxModularSVC
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config, register_parallel_backend
from joblib.parallel import ThreadingBackend
from scikit_learn_checks import run_checks
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.svm import SVC

from clusterkit.contracts import Partitioner
from clusterkit.errors import InvalidData, InvalidParameter, UnknownName
from clusterkit.samples.rows import SlicedRows
from clusterkit.testing.compare import small_groups
from clusterkit_campaign.oracles.max_margin import machines, min_max, parts_of, staircase, table

EXACT = ("shared", "alpha_beta", "row_break")


def test_scikit_learn_checks():
    run_checks(MinMaxModularSVC())
    run_checks(MinMaxModularSVC(n_parts=1, predict_method="shared"))


@pytest.fixture(scope="module")
def moons():
    return make_moons(300, noise=0.25, random_state=0)


@pytest.fixture(scope="module")
def blobs():
    return make_blobs([40, 50, 60, 45], n_features=3, cluster_std=4.0, random_state=2)


def naive(model, X, y, Y):
    """Table of all machines of a two-class fit at the rows of Y."""
    negative, positive = parts_of(model, y)
    return table(machines(X, negative, positive, C=model.C, gamma=model.gamma_), Y)


class TestTwoClasses:
    @pytest.mark.parametrize("partitioner", ["random", "kmeans", "kmeans_mapped", "equal", "geoclust"])
    @pytest.mark.parametrize("n_parts", [2, 5, (3, 6)])
    def test_equals_all_machines_one_by_one(self, moons, partitioner, n_parts):
        X, y = moons
        Y = make_moons(200, noise=0.4, random_state=1)[0]
        model = MinMaxModularSVC(n_parts, partitioner, C=5.0, gamma=2.0, random_state=0).fit(X, y)
        S = naive(model, X, y, Y)
        if isinstance(n_parts, tuple):
            assert S.shape[1:] == n_parts
        np.testing.assert_allclose(model.decision_function(Y), min_max(S), rtol=0, atol=1e-9)
        model.set_params(predict_method="alpha_beta")
        np.testing.assert_allclose(model.decision_function(Y), min_max(S), rtol=0, atol=1e-9)
        for method in EXACT:
            model.set_params(predict_method=method)
            np.testing.assert_array_equal(model.predict(Y), min_max(S) > 0)
            np.testing.assert_array_equal(model.predict(Y), model.decision_function(Y) > 0)

    def test_reductions_evaluate_fewer_machines(self, moons):
        X, y = moons
        model = MinMaxModularSVC(6, "kmeans", gamma=2.0, random_state=0).fit(X, y)
        counts = {}
        for method in (*EXACT, "approximate"):
            model.set_params(predict_method=method).predict(X)
            counts[method] = model.fit_report_["evaluated_modules"]
        assert counts["shared"] == 36
        assert 6 <= counts["row_break"] < counts["alpha_beta"] < 36
        assert counts["approximate"] <= 11

    def test_staircase(self, moons):
        X, y = moons
        model = MinMaxModularSVC(4, "random", gamma=2.0, random_state=0, predict_method="approximate").fit(X, y)
        answers, steps = staircase(naive(model, X, y, X))
        np.testing.assert_array_equal(model.predict(X), answers)
        assert model.fit_report_["evaluated_modules"] == pytest.approx(steps.mean())

    @pytest.mark.parametrize("gamma", ["scale", "auto", 0.7])
    def test_one_part_is_the_plain_machine(self, moons, gamma):
        X, y = moons
        plain = SVC(C=3.0, gamma=gamma).fit(X, y)
        model = MinMaxModularSVC(1, C=3.0, gamma=gamma).fit(X, y)
        np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), rtol=0, atol=1e-9)
        assert model.fit_report_["n_support"] == model.fit_report_["n_support_distinct"] == plain.n_support_.sum()
        np.testing.assert_array_equal(np.sort(model.support_), np.sort(plain.support_))

    def test_report(self, moons):
        X, y = moons
        model = MinMaxModularSVC(4, "random", random_state=0).fit(X, y)
        report = model.fit_report_
        assert report["n_modules"] == 16
        assert 0 < report["parallel_seconds"] <= report["sequential_seconds"]
        assert report["partition_seconds"] >= 0
        assert report["n_support"] > report["n_support_distinct"] == len(model.support_) <= len(X)
        assert report["evaluated_modules"] is None
        rows = machines(X, *parts_of(model, y), C=1.0, gamma=model.gamma_)
        assert report["n_support"] == sum(len(m.support_) for row in rows for m in row)

    def test_swapped_classes(self, moons):
        # the minimum of maxima is never below the maximum of minima: swapping the classes keeps or raises the value
        X, y = moons
        model = MinMaxModularSVC(5, FromColumn(), gamma=2.0, tol=1e-9)  # the solver sees the classes swapped too
        marked = np.column_stack([X, np.arange(len(X)) % 5 * 1e-9])
        value = clone(model).fit(marked, y).decision_function(marked)
        swapped = -clone(model).fit(marked, 1 - y).decision_function(marked)
        assert (swapped >= value - 1e-6).all()
        assert (swapped > value + 1e-3).any()

    def test_empty_parts_are_dropped(self):
        X = np.repeat([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0], [6.0, 6.0]], 5, axis=0)
        y = np.repeat([0, 1], 10)
        model = MinMaxModularSVC(4, "kmeans", random_state=0).fit(X, y)
        assert model.n_parts_.tolist() == [2, 2]
        assert model.score(X, y) == 1.0


class Pickling(ThreadingBackend):
    """Sends jobs through pickle, as a backend of processes or of several machines does."""

    jobs = 0

    def submit(self, func, callback=None):
        Pickling.jobs += len(func)
        return super().submit(pickle.loads(pickle.dumps(func)), callback)

    def effective_n_jobs(self, n_jobs):
        return 2


class Watching(ThreadingBackend):
    """Notes the arrays that jobs get, by their identity."""

    parts: ClassVar[dict[int, np.ndarray]] = {}

    def submit(self, func, callback=None):
        for _, arrays, _ in func.items:
            Watching.parts.update((id(array), array) for array in arrays)
        return super().submit(func, callback)

    def effective_n_jobs(self, n_jobs):
        return 2


@attrs.frozen
class FromColumn(Partitioner):
    """Parts written into the last column, in billionths."""

    name = "from_column"
    sees = "input"

    def start(self, samples, task, rng):
        return np.rint(samples.points[:, -1] * 1e9).astype(int)


@st.composite
def problems(draw):
    """Two overlapping classes on a coarse grid (so with equal rows), with parts for each."""
    seed = draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    n, d = draw(st.integers(12, 40)), draw(st.integers(1, 6))
    X = np.round(rng.normal(size=(n, d)) * draw(st.sampled_from([1.0, 3.0])), draw(st.sampled_from([0, 1, 8])))
    y = np.repeat(["a", "b"], [n // 2, n - n // 2])
    n_parts = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    C = draw(st.sampled_from([0.01, 1.0, 100.0]))
    return X, y, n_parts, C, seed


@given(problems(), st.sampled_from(["random", "kmeans"]))
def test_any_small_problem_equals_naive(problem, partitioner):
    X, y, n_parts, C, seed = problem
    model = MinMaxModularSVC(n_parts, partitioner, C=C, gamma=0.5, random_state=seed).fit(X, y)
    Y = np.concatenate([X, np.random.default_rng(seed).normal(size=(10, X.shape[1])) * 100])
    value = min_max(naive(model, X, y, Y))
    scale = 1e-9 * max(1.0, C * len(X))
    predicted = {}
    for method in EXACT:
        model.set_params(predict_method=method)
        np.testing.assert_allclose(model.decision_function(Y), value, rtol=0, atol=scale)
        predicted[method] = model.predict(Y)
        clear = np.abs(value) > scale
        np.testing.assert_array_equal((predicted[method] == "b")[clear], (value > 0)[clear])


class TestManyClasses:
    def test_one_part_is_the_plain_machine(self, blobs):
        X, y = blobs
        for shape in ("ovr", "ovo"):
            plain = SVC(gamma=0.1, decision_function_shape=shape).fit(X, y)
            model = MinMaxModularSVC(1, gamma=0.1, decision_function_shape=shape).fit(X, y)
            np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), rtol=0, atol=1e-9)
        ties_broken = SVC(gamma=0.1, break_ties=True).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), ties_broken.predict(X))

    @pytest.mark.parametrize("n_parts", [2, 4])
    def test_pairs_equal_naive(self, blobs, n_parts):
        X, y = blobs
        Y = X + np.random.default_rng(0).normal(size=X.shape)
        model = MinMaxModularSVC(n_parts, "kmeans", gamma=0.1, random_state=0, decision_function_shape="ovo").fit(X, y)
        parts = parts_of(model, y)
        pairs = [(p, q) for p in range(4) for q in range(p + 1, 4)]
        values = np.stack(
            [min_max(table(machines(X, parts[p], parts[q], C=1.0, gamma=0.1), Y)) for p, q in pairs], axis=1
        )
        np.testing.assert_allclose(-model.decision_function(Y), values, rtol=0, atol=1e-9)
        assert model.fit_report_["n_modules"] == 6 * n_parts * n_parts
        answers = [clone(model).set_params(predict_method=method).fit(X, y).predict(Y) for method in EXACT]
        np.testing.assert_array_equal(answers[0], answers[1])
        np.testing.assert_array_equal(answers[0], answers[2])

    def test_a_class_counts_as_much_as_the_pair_that_is_worst_for_it(self, blobs):
        X, y = blobs
        Y = X + 3 * np.random.default_rng(0).normal(size=X.shape)
        model = MinMaxModularSVC(2, "kmeans", gamma=0.1, random_state=0, decision_function_shape="ovo").fit(X, y)
        least, votes = np.full((len(Y), 4), np.inf), model.predict(Y)
        for (p, q), value in zip(itertools.combinations(range(4), 2), model.decision_function(Y).T, strict=True):
            least[:, p], least[:, q] = np.minimum(least[:, p], value), np.minimum(least[:, q], -value)
        model.set_params(combine="minimum", decision_function_shape="ovr")
        np.testing.assert_array_equal(model.decision_function(Y), least)
        for method in EXACT:
            answer = model.set_params(predict_method=method).predict(Y)
            np.testing.assert_array_equal(answer, model.classes_[np.argmax(least, axis=1)])
        wins = least.max(axis=1) > 0
        np.testing.assert_array_equal(answer[wins], votes[wins])
        assert (answer != votes).any()

    def test_blocks_of_rows(self, blobs, monkeypatch):
        X, y = blobs
        model = MinMaxModularSVC(3, "kmeans", random_state=0).fit(X, y)
        whole = model.decision_function(X)
        monkeypatch.setattr("clusterkit_min_max.modules.BLOCK", 1000)
        np.testing.assert_array_equal(model.decision_function(X), whole)
        model.set_params(predict_method="shared")
        np.testing.assert_allclose(model.decision_function(X), whole, rtol=0, atol=1e-12)


class TestUse:
    def test_the_number_of_jobs_changes_nothing(self, blobs):
        X, y = blobs
        one, two = (MinMaxModularSVC(3, n_jobs=jobs, random_state=0).fit(X, y) for jobs in (1, 2))
        np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
        np.testing.assert_array_equal(one.support_, two.support_)

    def test_machines_are_trained_by_the_chosen_backend(self, blobs):
        X, y = blobs
        here = MinMaxModularSVC(3, random_state=0).fit(X, y)
        register_parallel_backend("pickling", Pickling)
        Pickling.jobs = 0
        with parallel_config(backend="pickling", n_jobs=1):
            there = MinMaxModularSVC(3, random_state=0).fit(X, y)
        assert Pickling.jobs == 6 * 9
        np.testing.assert_array_equal(here.decision_function(X), there.decision_function(X))

    def test_each_part_is_cut_out_once(self, blobs):
        X, y = blobs
        register_parallel_backend("watching", Watching)
        Watching.parts = {}
        with parallel_config(backend="watching", n_jobs=1):
            model = MinMaxModularSVC(3, random_state=0).fit(X, y)
        assert len(Watching.parts) == model.n_parts_.sum() == 12
        assert sum(map(len, Watching.parts.values())) == len(X)

    def test_rows_that_are_read_block_by_block_are_predicted_and_not_fitted(self, blobs):
        X, y = blobs
        model = MinMaxModularSVC(3, random_state=0).fit(X, y)
        with small_groups(50):
            assert np.array_equal(model.predict(SlicedRows(X)), model.predict(X))
        with pytest.raises(InvalidData, match=r"X has 2 columns, and the model was fitted to 3"):
            model.predict(SlicedRows(X[:, :2]))
        with pytest.raises(InvalidData, match=r"rows.read\(slice\(0, rows.n\)\) if all fit into memory"):
            MinMaxModularSVC(3).fit(SlicedRows(X), y)

    def test_pickle(self, blobs):
        X, y = blobs
        for method in (*EXACT, "approximate"):
            model = MinMaxModularSVC(2, "random", random_state=0, predict_method=method).fit(X, y)
            loaded = pickle.loads(pickle.dumps(model))
            np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
            np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))

    def test_float32_and_names_of_classes(self, moons):
        X, y = moons
        names = np.where(y == 1, "yes", "no")
        model = MinMaxModularSVC(3, "kmeans", random_state=0).fit(X.astype(np.float32), names)
        assert set(model.predict(X.astype(np.float32))) == {"yes", "no"}
        assert model.score(X, names) > 0.9

    def test_a_recipe_splits(self, moons):
        X, y = moons
        model = MinMaxModularSVC(3, "kernel-kmeans", gamma=2.0, random_state=0).fit(X, y)
        assert model.n_parts_.tolist() == [3, 3]
        assert model.score(X, y) > 0.9

    def test_parameters_of_the_partitioner(self):
        model = MinMaxModularSVC(partitioner="kmeans")
        assert model.get_params()["partitioner__n_init"] == 10
        model.set_params(partitioner__n_init=2)
        assert model.partitioner.n_init == 2
        assert clone(model).partitioner == model.partitioner
        with pytest.raises(UnknownName, match="no parameter 'starts'"):
            model.set_params(partitioner__starts=2)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"n_parts": 0}, "n_parts must be an integer >= 1, or a pair"),
            ({"n_parts": (2, 3, 4)}, r"a pair \(K\+, K-\) of these, got \(2, 3, 4\)"),
            ({"n_parts": (2, 0)}, "got .2, 0."),
            ({"n_parts": 2.0}, "got 2.0"),
            ({"C": 0.0}, "C must be a finite number > 0, got 0.0"),
            ({"gamma": -1.0}, "gamma must be 'scale', 'auto' or a finite number > 0, got -1.0"),
            ({"tol": np.inf}, "tol must be"),
            ({"predict_method": "fast"}, "predict_method must be one of 'row_break'"),
            ({"decision_function_shape": "all"}, "must be one of 'ovr', 'ovo', got 'all'"),
            ({"partitioner": None}, "partitioner must not be None"),
            ({"partitioner": "kmean"}, "Did you mean 'kmeans'"),
        ],
    )
    def test_bad_arguments(self, moons, arguments, message):
        with pytest.raises((InvalidParameter, UnknownName), match=message):
            MinMaxModularSVC(**arguments).fit(*moons)

    def test_bad_data(self, blobs):
        X, y = blobs
        with pytest.raises(InvalidData, match="class 0 has 40 samples, too few for n_parts = 41; n_parts <= 40"):
            MinMaxModularSVC(41).fit(X, y)
        with pytest.raises(InvalidData, match="class 1 has 2 samples, too few for n_parts = 3"):
            MinMaxModularSVC((3, 1)).fit(X[:6], [0, 0, 0, 0, 1, 1])
        with pytest.raises(InvalidParameter, match="needs two classes, the data have 4"):
            MinMaxModularSVC((2, 3)).fit(X, y)
        with pytest.raises(InvalidData, match="at least two classes; all 40 samples are of one class, 0"):
            MinMaxModularSVC().fit(X[y == 0], y[y == 0])
        with pytest.raises(ValueError, match="NaN"):
            MinMaxModularSVC().fit(np.where(X[0, 0] == X, np.nan, X), y)

    def test_a_partitioner_that_leaves_samples_out(self, moons):
        marked = np.column_stack([moons[0], np.full(300, 7e-9)])
        with pytest.raises(InvalidParameter, match=r"'from_column' gave the label 7, outside 0..2"):
            MinMaxModularSVC(3, FromColumn()).fit(marked, moons[1])


@pytest.mark.parametrize(
    ("parameters", "scale", "message"),
    [
        ({"n_jobs": 0}, 1.0, "n_jobs must be an integer other than 0 or None, got 0"),
        ({"n_jobs": "all"}, 1.0, "n_jobs must be an integer other than 0 or None, got 'all'"),
        ({"partitioner": {"alpha": 1}}, 1.0, "partitioner given as a dict needs the key 'name'"),
        ({}, 1e200, "overflow float64"),
    ],
)
def test_mistakes_are_named_before_training(parameters, scale, message):
    X, y = make_moons(60, random_state=0)
    with pytest.raises((InvalidParameter, InvalidData), match=message):
        MinMaxModularSVC(2, **parameters).fit(X * scale, y)
