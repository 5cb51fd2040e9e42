"""A handful of each fault; ``python -m clusterkit_campaign faults`` runs hundreds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from clusterkit.testing.pytest_plugin import deep
from clusterkit_campaign.faults import FAULTS
from clusterkit_campaign.processes import forked

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")

HANGS = 3000
"""Seconds after which a subprocess counts as hanging."""


@pytest.mark.deep
@pytest.mark.skipif(not deep(), reason="minutes: with the deep profile of hypothesis only")
@pytest.mark.parametrize("name", FAULTS)
def test_none_shows_a_problem(name):
    # in a process of its own: forks of a process with many threads are not what is tested here
    words = ["faults", "--only", name, "--kills", "3", "--interrupts", "10"]
    done = subprocess.run(
        [sys.executable, "-m", "clusterkit_campaign", *words],
        capture_output=True, text=True, timeout=HANGS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


class TestChildren:
    def test_an_exit_status_and_the_output(self):
        ended = forked(lambda: print("words") or 3)
        assert (ended.code, ended.text, ended.hung) == (3, "words\n", False)

    def test_a_signal(self):
        assert forked(signal.pause, sent=signal.SIGKILL).code == -signal.SIGKILL
        assert forked(signal.pause, sent=signal.SIGINT).code in (-signal.SIGINT, 130)

    def test_an_exception(self):
        ended = forked(lambda: 1 // 0)
        assert ended.code == 70
        assert "ZeroDivisionError" in ended.text
