"""Threads that stay for several passes over rows."""

import threading

import numpy as np
import pytest

from clusterkit.numerics import threads
from clusterkit.numerics.threads import thread_pool, undivided


@pytest.mark.parametrize("cores", [1, 2, 5])
@pytest.mark.parametrize(("begin", "end", "work"), [(0, 100_000, 1), (7, 50_000, 2000), (3, 4, 1), (9, 9, 1)])
def test_a_crew_meets_every_row_once_in_every_pass(monkeypatch, cores, begin, end, work):
    monkeypatch.setattr(threads, "available", lambda: cores)
    met = np.zeros(100_000, dtype=int)

    def meet(start, stop):
        met[start:stop] += 1

    with thread_pool() as over:
        for _ in range(3):
            over(meet, begin, end, work)
    assert (met[begin:end] == 3).all()
    assert met.sum() == 3 * (end - begin)


def test_both_threads_of_a_crew_work_at_the_same_time(monkeypatch):
    monkeypatch.setattr(threads, "available", lambda: 2)
    together = threading.Barrier(2, timeout=30)
    with thread_pool() as over:
        over(lambda start, stop: together.wait(), 0, 2 * threads.LEAST_ROWS, 1)


def test_after_an_error_no_range_is_begun_and_the_crew_still_serves(monkeypatch):
    monkeypatch.setattr(threads, "available", lambda: 3)
    begun = []

    def fail(start, stop):
        begun.append(start)
        raise ValueError("here")

    with thread_pool() as over:
        with pytest.raises(ValueError, match="here"):
            over(fail, 0, 1_000_000, 1)
        assert len(begun) <= 3
        begun.clear()
        over(lambda start, stop: begun.append(start), 0, 10, 1)
    assert begun == [0]


def test_a_thread_that_shares_the_cores_already_gets_no_crew(monkeypatch):
    monkeypatch.setattr(threads, "available", lambda: 4)
    served = set()
    with undivided(), thread_pool() as over:
        over(lambda start, stop: served.add(threading.current_thread()), 0, 100_000, 1)
    assert served == {threading.current_thread()}


def test_few_rows_that_cost_much_are_divided_among_all_threads(monkeypatch):
    monkeypatch.setattr(threads, "available", lambda: 2)
    together = threading.Barrier(2, timeout=30)
    threads.over_rows(lambda start, stop: together.wait(), 2000, 1000)
