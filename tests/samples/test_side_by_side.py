"""Fits side by side: the order of the tasks, what they share, and how they end."""

from __future__ import annotations

import threading
import time
import warnings
from contextlib import nullcontext

import numpy as np
import pytest

from clusterkit import compare, recipe, search
from clusterkit.numerics import threads
from clusterkit.numerics.threads import ignoring
from clusterkit.samples.limits import Report, listening, metered, notify, reuse, reusing, side_by_side


@pytest.fixture(params=[1, 3])
def cores(request, monkeypatch):
    monkeypatch.setattr(threads, "available", lambda: request.param)
    return request.param


def test_values_come_in_the_order_of_the_tasks(cores):
    def later(i):
        time.sleep(0.002 * (i % 3 == 0))
        return i * i

    assert list(side_by_side(later, range(20))) == [i * i for i in range(20)]


def test_tasks_share_what_they_reuse_and_compute_it_once(cores):
    computed = []

    def compute():
        time.sleep(0.01)
        computed.append(1)
        return len(computed)

    points = [1, 2]
    with reusing():
        assert list(side_by_side(lambda _: reuse(points, "count", compute), range(6))) == [1] * 6


def test_reports_reach_the_listeners_of_the_calling_thread_only(cores):
    heard = []

    def task(i):
        notify(Report("search", i, None))

    with listening(lambda report: heard.append(threading.get_ident())):
        list(side_by_side(task, range(9)))
    assert set(heard) <= {threading.get_ident()}
    assert cores > 1 or len(heard) == 9


@pytest.mark.parametrize("failing", [0, 1])
def test_the_error_of_one_task_ends_the_others_at_their_next_report(monkeypatch, failing):
    monkeypatch.setattr(threads, "available", lambda: 2)
    ended, both = [], threading.Barrier(2, timeout=10)

    def task(i):
        both.wait()
        if i == failing:
            raise ZeroDivisionError
        try:
            for _ in range(2000):
                time.sleep(0.001)
                notify(Report("search", 0, None))
        except KeyboardInterrupt:
            ended.append(i)
            raise

    with pytest.raises(ZeroDivisionError):
        list(side_by_side(task, range(2)))
    assert ended == [1 - failing]
    assert not [thread for thread in threading.enumerate() if thread.name == "clusterkit-block"]


def test_metered_tasks_run_one_after_the_other(cores):
    with metered(None):
        assert set(side_by_side(lambda _: threading.get_ident(), range(5))) == {threading.get_ident()}


def test_warnings_that_one_fit_ignores_are_heard_of_the_others(cores):
    def task(number):
        for _ in range(50):
            with warnings.catch_warnings(), ignoring(UserWarning) if number % 2 else nullcontext():
                warnings.simplefilter("always", RuntimeWarning)
                warnings.warn(f"of {number}", UserWarning, stacklevel=1)
        return number

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert list(side_by_side(task, range(8))) == [*range(8)]
    assert {str(one.message) for one in caught} == {f"of {number}" for number in (0, 2, 4, 6)}


def test_the_number_of_threads_changes_no_bit(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 2)) + 6 * np.arange(3).repeat(20)[:, None]
    monkeypatch.setattr("clusterkit.families.mixtures.search.THREADED", 0)
    answers = []
    for number in (1, 3):
        monkeypatch.setattr(threads, "available", lambda number=number: number)
        model = recipe("auto", pool=("kmeans", "hdbscan"), random_state=0).fit(X)
        answers.append((model.labels_.tolist(), repr(model.resolved_)))
    assert answers[0] == answers[1]


def test_comparisons_and_searches_have_the_same_numbers_on_every_number_of_cores(monkeypatch):
    X = np.random.default_rng(0).normal(size=(90, 2)) + 4 * (np.arange(90) % 3)[:, None]
    answers = []
    for number in (1, 3):
        monkeypatch.setattr(threads, "available", lambda number=number: number)
        compared = compare({"cmeans": "cmeans", "hdbscan": "hdbscan", "known": np.arange(90) % 3}, X, n_clusters=3)
        indices = [(one.silhouette, one.davies_bouldin, one.dbcv, one.stability) for one in compared.methods]
        model = recipe("kmeans", n_clusters=3, n_init=1, random_state=0)
        searched = search(model, {"n_clusters": [2, 3]}, X, score="stability", repeats=3, random_state=0)
        answers.append((indices, [(one.score, one.reason) for one in searched.candidates]))
    assert answers[0] == answers[1]
