"""The processes of a campaign: reports do not depend on their number, and a case that dies or hangs is a finding."""

from __future__ import annotations

import os
import signal

import pytest

from clusterkit_campaign import runner
from clusterkit_campaign.__main__ import main, seed_of_commit
from clusterkit_campaign.cases import Selection
from clusterkit_campaign.findings import CRASH, HANG, Finding, Problem
from clusterkit_campaign.runner import Outcome, limit_of, page, run

BALANCER = Selection(stage="balancer:band")
"""Quick cases: parameters and fits of compositions."""


pytestmark = pytest.mark.skipif(os.name != "posix", reason="forked processes")


@pytest.fixture(autouse=True)
def forked(monkeypatch):
    """Processes start at once, and with the functions of this file."""
    monkeypatch.setattr(runner, "START", "fork")


def test_the_number_of_processes_changes_nothing():
    outcomes = [run(3, BALANCER, minutes=None, n_cases=12, workers=workers) for workers in (1, 2)]
    assert outcomes[0].n_cases == outcomes[1].n_cases == 12
    assert outcomes[0].counts == outcomes[1].counts
    assert outcomes[0].sets == outcomes[1].sets


def die(connection, selection, threads):
    connection.recv()
    os.kill(os.getpid(), signal.SIGKILL)


def spin(connection, selection, threads):
    while connection.recv() is not None:
        while True:
            pass


def test_a_process_that_dies_is_a_finding_and_is_replaced(monkeypatch):
    monkeypatch.setattr(runner, "serve", die)
    outcome = run(3, BALANCER, minutes=None, n_cases=3, workers=1)
    assert [finding.problem.severity for finding in outcome.findings] == [CRASH] * 3
    assert "exit status -9" in outcome.findings[0].problem.message
    assert "run_case(Case(" in outcome.findings[0].snippet


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="the processor time of a process is not told here")
def test_a_case_that_takes_too_long_is_a_finding(monkeypatch):
    monkeypatch.setattr(runner, "serve", spin)
    monkeypatch.setattr(runner, "limit_of", lambda case: 0.2)
    outcome = run(3, BALANCER, minutes=None, n_cases=2, workers=1)
    assert [finding.problem.severity for finding in outcome.findings] == [HANG] * 2


def test_limits_are_generous():
    from itertools import islice

    from clusterkit_campaign.cases import cases

    assert min(limit_of(case) for case in islice(cases(0), 100)) >= 100


def test_the_page():
    outcome = Outcome(0xABC, Selection(), n_cases=7)
    finding = Finding(Problem(CRASH, "it broke", "IndexError"), "fits", "svc", "blobs", 3, "print(1)")
    text = page(outcome, [finding], {})
    assert "# Campaign with seed 00000abc" in text
    assert "| crash | 1 | 0 |" in text
    assert "### crash: svc: it broke" in text
    assert "```python\nprint(1)\n```" in text


class TestCommand:
    def test_a_few_cases(self, tmp_path, capsys):
        words = ["--cases", "6", "--workers", "1", "--seed", "1f", "--stage", "band", "--output", str(tmp_path)]
        assert main(words) == 0
        assert "# Campaign with seed 0000001f" in capsys.readouterr().out
        assert (tmp_path / "report.md").exists()
        assert (tmp_path / "findings.jsonl").read_text() == ""

    def test_wrong_names(self, capsys):
        assert main(["--recipe", "svd"]) == 2
        assert "error: no recipe named 'svd'" in capsys.readouterr().err

    def test_the_seed_of_a_commit(self):
        assert 0 <= seed_of_commit() < 2**32
