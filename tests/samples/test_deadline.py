"""A deadline ends its own block at the first report after its time, and nothing else."""

from __future__ import annotations

import pytest

from clusterkit.samples.limits import Report, deadline, notify


def reports(count: int, reached: list[int]) -> None:
    for iteration in range(count):
        notify(Report("search", iteration, count))
        reached.append(iteration)


def test_the_first_report_after_the_time_ends_the_block():
    reached = []
    with deadline(0.0) as limit:
        reports(3, reached)
    assert limit.passed
    assert not reached


@pytest.mark.parametrize("seconds", [None, 1e6])
def test_enough_time_changes_nothing(seconds):
    reached = []
    with deadline(seconds) as limit:
        reports(3, reached)
    assert not limit.passed
    assert reached == [0, 1, 2]


def test_an_outer_deadline_passes_through_an_inner_one():
    with deadline(0.0) as outer:
        with deadline(1e6) as inner:
            reports(1, [])
        raise AssertionError("the inner block took the end of the outer one for its own")
    assert outer.passed
    assert not inner.passed


def test_an_inner_deadline_leaves_the_outer_block_running():
    reached = []
    with deadline(1e6) as outer:
        with deadline(0.0) as inner:
            reports(2, [])
        reports(2, reached)
    assert inner.passed
    assert not outer.passed
    assert reached == [0, 1]


def test_other_exceptions_pass():
    with pytest.raises(KeyboardInterrupt), deadline(1e6):
        raise KeyboardInterrupt
    reports(1, [])


def test_the_listener_is_gone_after_the_block():
    with deadline(0.0):
        reports(1, [])
    reached = []
    reports(2, reached)
    assert reached == [0, 1]
