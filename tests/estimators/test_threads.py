"""The same labels whatever the thread count, and bit-equal fits with the same one."""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
from oracles.builtin_names import TABLE
from oracles.recipes import EACH_CLASS, OF_EACH_CLASS, small
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs, make_moons
from sklearn.preprocessing import minmax_scale
from threadpoolctl import threadpool_info, threadpool_limits

from clusterkit import recipe
from clusterkit.numerics.lloyd import compiled_pays
from clusterkit.numerics.threads import THIN, available, limited_threads
from clusterkit.testing.pytest_plugin import deep


def digits_pair():
    X, y = load_digits(return_X_y=True)
    return X[(y == 3) | (y == 9)][: None if deep() else 80] / 16


SETS = {
    "digits 3-9": digits_pair,
    "iris": lambda: load_iris().data[:: 1 if deep() else 2],
    "wine": lambda: minmax_scale(load_wine().data),
    "wdbc": lambda: minmax_scale(load_breast_cancer().data),
    "moons": lambda: make_moons(200, noise=0.08, random_state=0)[0],
}
REAL = ("ionosphere", "glass", "flame", "banknote", "synthetic-control", "aggregation")[: None if deep() else 3]
RECIPES = sorted(TABLE["recipe"])
TAKEN = list(SETS) if deep() else ["digits 3-9", "iris"]  # many and wide, and thin


def fit(name, X, threads, monkeypatch=None):
    with threadpool_limits(threads):
        return small(name, random_state=0).fit(X)


@cache
def first_fit(name, data, threads):
    """A fit that two tests compare with another."""
    return fit(name, SETS[data](), threads)


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def all_threads(monkeypatch):
    """Let small problems use both threads too, or the test would compare one with one."""
    monkeypatch.setattr("clusterkit.numerics.threads.THIN", 0)


DEAR = {"auto", "emmc-auto", "lapgmm", "svc"}
"""Recipes that every run fits to one data set only; those that are like another of `OF_EACH_CLASS` it leaves out."""


@pytest.mark.hypothesis
@pytest.mark.parametrize(
    ("data", "name"),
    [
        pytest.param(
            data,
            name,
            marks=[] if name in OF_EACH_CLASS - (DEAR if data != TAKEN[0] else set()) else [pytest.mark.deep],
        )
        for data in TAKEN
        for name in RECIPES
    ],
)
def test_one_and_two_threads(name, data):
    one, two = fit(name, SETS[data](), 1), first_fit(name, data, 2)
    np.testing.assert_array_equal(one.labels_, two.labels_)


def test_centres_of_kmeans_by_loops_are_the_same_bits_on_one_and_two_threads(monkeypatch):
    monkeypatch.setattr("clusterkit.numerics.threads.THIN", THIN)
    X, _ = make_blobs(40_000, 20, centers=8, random_state=0)
    assert compiled_pays(*X.shape, 8)

    def centres(threads):
        with threadpool_limits(threads):
            return recipe("kmeans", n_clusters=8, n_init=1, random_state=0).fit(X).cluster_centers_

    np.testing.assert_array_equal(centres(1), centres(2))


@pytest.mark.hypothesis
@pytest.mark.skipif("CLUSTERKIT_DATA" not in os.environ, reason="CLUSTERKIT_DATA is not set")
@pytest.mark.parametrize("name", ["emmc", "kmeans", "elm-nmf", pytest.param("svc", marks=pytest.mark.deep)])
@pytest.mark.parametrize("data", REAL)
def test_one_and_two_threads_on_real_data(name, data):
    datasets = pytest.importorskip("clusterkit_papers.datasets")
    X = minmax_scale(datasets.load(data).data)
    np.testing.assert_array_equal(fit(name, X, 1).labels_, fit(name, X, 2).labels_)


@pytest.mark.parametrize("name", EACH_CLASS)
def test_same_seed_and_thread_count_is_bit_equal(name):
    first, second = first_fit(name, "digits 3-9", 2), fit(name, SETS["digits 3-9"](), 2)
    np.testing.assert_array_equal(first.labels_, second.labels_)
    np.testing.assert_array_equal(first.history_, second.history_)


def test_thin_problems_run_on_one_thread(monkeypatch):
    from clusterkit.numerics import threads as thread_limit

    monkeypatch.setattr(thread_limit, "THIN", 10**9)
    seen = []

    def listener(report):
        seen.append(blas_threads())

    from clusterkit.samples.limits import listening

    with listening(listener):
        recipe("emmc", n_clusters=2, random_state=0).fit(SETS["iris"]())
    assert seen
    assert all(counts == {1} for counts in seen)


def test_fits_in_several_threads_leave_the_thread_count_alone(monkeypatch):
    monkeypatch.setattr("clusterkit.numerics.threads.THIN", 10**9)
    X = SETS["iris"]()
    before = [pool["num_threads"] for pool in threadpool_info()]
    with ThreadPoolExecutor(4) as pool:
        models = list(pool.map(lambda _: recipe("emmc", n_clusters=3, init="random", random_state=0).fit(X), range(12)))
    assert [pool["num_threads"] for pool in threadpool_info()][: len(before)] == before
    for model in models[1:]:
        np.testing.assert_array_equal(model.labels_, models[0].labels_)


def test_a_limit_is_set_by_one_thread_and_removed_by_another():
    """Newer versions of threadpoolctl let one thread set the threads of OpenBLAS, unless that is undone."""
    before = blas_threads()
    first, last = limited_threads(-1), limited_threads(-1)
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as another:
        one.submit(first.__enter__).result()
        another.submit(last.__enter__).result()
        assert blas_threads() == {1}
        one.submit(first.__exit__, None, None, None).result()
        assert blas_threads() == {1}
        another.submit(last.__exit__, None, None, None).result()
        assert blas_threads() == before


# a caller's limit of two could not be told from ours of one
@pytest.mark.skipif(available() < 2, reason="one core, or OMP_NUM_THREADS is 1")
def test_a_limit_of_the_caller_holds_before_and_after_but_not_in_between():
    def inside():
        with limited_threads(-1):
            return blas_threads()

    before = blas_threads()
    with ThreadPoolExecutor(1) as pool:
        with threadpool_limits(2):
            limited = blas_threads()
            assert 2 in limited  # another library than those of numpy and scipy may have a single thread
            assert pool.submit(inside).result() == {1}
            assert blas_threads() == limited
        assert blas_threads() == before
