"""What is said about a printed value and ours."""

from __future__ import annotations

import numpy as np
import pytest
from clusterkit_papers.printed_tables import Printed
from clusterkit_papers.verdicts import accuracy_cap, verdict


def cell(measure, value, mark="", remark=""):
    return Printed("row", "column", measure, value, mark, remark)


@pytest.mark.parametrize(
    ("measure", "printed", "ours", "words"),
    [
        ("accuracy", 95.0, 94.5, "reached"),
        ("accuracy", 95.0, 94.4, "short by 0.6 points"),
        ("accuracy", 95.0, 96.0, "better by 1.0 points"),
        ("mean_error", 1.84, 1.94, "reached"),
        ("mean_error", 1.84, 2.04, "short by 0.20 points"),
        ("mean_error", 1.78, 1.16, "better by 0.62 points"),
        ("rand", 0.92, 0.84, "short by 0.08"),
        ("cpu", 10.0, 2.0, "better by a factor of 5.0 (another machine)"),
        ("cpu", 1.0, 2.0, "short by a factor of 2.0 (another machine)"),
        ("cpu", 1.0, 0.0, "reached"),
        ("iterations", 5.0, 7.0, "not judged"),
        ("purity", 0.9, 0.895, "reached"),
        ("purity_by_class", 0.37, 0.47, "better by 0.10"),
        ("nmi", 0.5, 0.62, "another experiment: better by 0.12"),
        ("mean_error", 21.4, 2.05, "another experiment: better by 19.35 points"),
        ("accuracy", 76.4, 92.5, "another experiment: better by 16.1 points"),
        ("davies_bouldin", 0.5, 0.62, "short by 0.12"),
        ("compactness", 0.5, 0.1, "not judged"),
        ("labelling", 30.0, 3.0, "better by a factor of 10.0 (another machine)"),
        ("samples", 699.0, 699.0, "the same"),
        ("attributes", 198.0, 166.0, "32 fewer than printed"),
        ("classes", 5.0, 7.0, "2 more than printed"),
    ],
)
def test_comparison(measure, printed, ours, words):
    assert verdict(measure, cell(measure, printed), ours) == words


def test_nothing_printed():
    assert verdict("accuracy", None, 90.0) == "no printed value"
    assert verdict("cpu", cell("cpu", None, "slow"), 1.0) == "no printed value"


def test_a_doubtful_value_is_still_compared():
    words = verdict("rand", cell("rand", 0.75, "low-ri", "at least 0.768"), 0.80)
    assert words == "printed value contradicts itself (at least 0.768); better by 0.05"


@pytest.mark.parametrize("ours", [0.1, 0.03, 0.9])
def test_an_impossible_value_is_not_compared(ours):
    printed = cell("rand", 0.03, "impossible", "it is at least 0.460")
    assert verdict("rand", printed, ours) == "printed value impossible: it is at least 0.460"


def test_another_size_comes_with_the_remark():
    assert verdict("classes", cell("classes", 7.0, remark="7 are declared, 6 occur"), 6.0) == (
        "1 fewer than printed: 7 are declared, 6 occur"
    )


def test_the_balance_caps_accuracy_and_rand_index():
    cap = accuracy_cap(np.array([1533, 703]), 0.15)
    assert verdict("accuracy", cell("accuracy", 97.11), cap, cap) == (
        "impossible: capped at 88.9 by the printed balance"
    )
    assert verdict("rand", cell("rand", 0.95), 0.8, cap).startswith("impossible: capped at 0.80")
    assert verdict("accuracy", cell("accuracy", 88.0), 88.0, cap) == "reached"


def test_cap_is_what_the_best_feasible_labelling_reaches():
    for a, b, slack in [(9, 4, 0), (9, 4, 1), (9, 4, 2), (10, 4, 3), (5, 5, 0), (30, 11, 0.15), (7, 1, 10)]:
        n = a + b
        rows = slack if isinstance(slack, int) else slack * n
        # move some rows of the larger class; parity may force one more than the cap asks for
        moves = next(m for m in range(n) if abs((a - m) - (b + m)) <= max(rows, n % 2))
        assert accuracy_cap(np.array([a, b]), slack) == pytest.approx(100 * (1 - moves / n)) or rows < n % 2
