"""The blocks of a pass, computed by several threads and by the one that asks for them."""

import threading
from contextvars import ContextVar

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from clusterkit.numerics import threads
from clusterkit.numerics.threads import each_block, in_threads, is_undivided, undivided

HERE = ContextVar("HERE", default="nowhere")


def blocks(n, size=3):
    X = np.arange(float(n))
    return ((slice(start, min(n, start + size)), X[start : start + size]) for start in range(0, n, size))


@pytest.fixture(params=[1, 2, 5])
def cores(request, monkeypatch):
    monkeypatch.setattr(threads, "available", lambda: request.param)
    return request.param


@pytest.mark.parametrize("n", [0, 1, 3, 100, 1000])
def test_every_block_comes_once_and_in_order(cores, n):
    values = list(in_threads(lambda rows, X: (rows.start, X.sum()), blocks(n)))
    assert [rows for rows, _ in values] == [rows for rows, _ in blocks(n)]
    assert [value for _, value in values] == [(rows.start, X.sum()) for rows, X in blocks(n)]


def test_all_threads_work_at_the_same_time(cores):
    together = threading.Barrier(cores, timeout=30)
    assert len(list(in_threads(lambda rows, X: together.wait(), blocks(6 * cores)))) == 2 * cores


def test_no_more_is_read_ahead_than_waits_for_a_thread(cores):
    read = []

    def reading():
        for rows, X in blocks(300):
            read.append(rows)
            yield rows, X

    for done, _ in enumerate(in_threads(lambda rows, X: None, reading())):
        assert len(read) - done <= threads.AHEAD * cores + 1


@pytest.mark.parametrize("failing", [0, 7, 99])
def test_the_first_block_with_an_error_is_the_one_that_fails(cores, failing):
    def fail(rows, X):
        if rows.start >= 3 * failing:
            raise ValueError(f"block {rows.start}")

    before = threading.active_count()
    passed = in_threads(fail, blocks(300))
    for _ in range(failing):
        next(passed)
    with pytest.raises(ValueError, match=f"block {3 * failing}$"):
        next(passed)
    assert threading.active_count() == before


def test_ctrl_c_ends_the_pass_and_its_threads(cores):
    def interrupted(rows, X):
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        enough.wait(30)

    enough, before = threading.Event(), threading.active_count()
    timer = threading.Timer(0.2, enough.set)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        list(in_threads(interrupted, blocks(3000)))
    timer.join()
    assert threading.active_count() == before


def test_a_pass_that_is_left_ends_its_threads(cores):
    before = threading.active_count()
    passed = in_threads(lambda rows, X: None, blocks(3000))
    next(passed)
    passed.close()
    assert threading.active_count() == before


def test_an_error_of_the_reader_reaches_the_caller(cores):
    def reading():
        yield from blocks(30)
        raise OSError("unreadable")

    with pytest.raises(OSError, match="unreadable"):
        list(in_threads(lambda rows, X: None, reading()))


def test_no_thread_knows_more_than_another_one(cores):
    HERE.set("the caller")
    assert {value for _, value in in_threads(lambda rows, X: (HERE.get(), is_undivided()), blocks(300))} == {
        ("nowhere", True)
    }
    assert not is_undivided()


def test_a_thread_of_a_pass_does_the_blocks_of_another_pass_alone(cores):
    with undivided():
        inside = {value for _, value in in_threads(lambda rows, X: threading.get_ident(), blocks(300))}
    assert inside == {threading.get_ident()}


@pytest.mark.parametrize(
    ("n", "width", "alone"),
    [
        (threads.FEW_ROWS, 2, True),
        (threads.FEW_ROWS + 1, 1, False),
        (3000, 500, True),
        (3000, 501, False),
    ],
)
def test_few_narrow_rows_get_one_thread_and_products_one_thread_of_blas_always(monkeypatch, n, width, alone):
    passes = []
    monkeypatch.setattr(threads, "in_threads", lambda function, blocks: passes.append(function) or ())
    limits = [
        {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
        for _ in each_block(lambda rows, X: None, blocks(30), n, width)
    ]
    assert (not passes) == alone
    assert all(limit == {1} for limit in limits)
