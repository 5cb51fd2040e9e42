"""Meters of work: they count, nest, and leave their block at the limit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clusterkit.samples.limits import metered, spend


def test_nothing_is_counted_without_a_meter():
    spend(10**12)


@given(st.lists(st.integers(0, 50), max_size=20), st.integers(0, 300))
def test_a_block_ends_at_the_first_spending_beyond_the_limit(amounts, limit):
    made = []
    with metered(limit) as meter:
        for amount in amounts:
            spend(amount)
            made.append(amount)
    total, plain = 0, []
    for amount in amounts:
        total += amount
        if total > limit:
            break
        plain.append(amount)
    assert made == plain
    assert meter.passed == (sum(amounts) > limit)
    assert meter.spent == (total if amounts else 0)


def test_nested_meters_count_the_same_work_and_end_their_own_blocks():
    after = []
    with metered(100) as outer:
        with metered(10) as inner:
            spend(20)
            after.append("inner")
        after.append("between")
        with metered(1000) as wide:
            spend(90)
            after.append("wide")
        after.append("end")
    assert after == ["between"]
    assert (inner.passed, wide.passed, outer.passed) == (True, False, True)
    assert (inner.spent, wide.spent, outer.spent) == (20, 90, 110)
