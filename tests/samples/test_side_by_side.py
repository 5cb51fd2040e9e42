"""Fits side by side: the order of the tasks, what they share, and how they end."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from clusterkit import recipe
from clusterkit.numerics import threads
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


def test_the_number_of_threads_changes_no_bit(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 2)) + 6 * np.arange(3).repeat(20)[:, None]
    monkeypatch.setattr("clusterkit.numerics.mixed.search.THREADED", 0)
    answers = []
    for number in (1, 3):
        monkeypatch.setattr(threads, "available", lambda number=number: number)
        model = recipe("auto", pool=("kmeans", "hdbscan"), random_state=0).fit(X)
        answers.append((model.labels_.tolist(), repr(model.resolved_)))
    assert answers[0] == answers[1]
