"""What takes long is said on a terminal and nowhere else."""

from __future__ import annotations

import io
import logging
import sys

import pytest

from clusterkit.cli import early


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def log():
    log = logging.getLogger("clusterkit.compilation")
    before = log.handlers[:], log.level, log.propagate
    yield log
    log.handlers[:], log.level, log.propagate = before


def test_a_terminal_shows_the_line(log, monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    early.on_terminals()
    early.on_terminals()
    log.info("compiling %s", "something\x1b[31m")
    assert stream.getvalue().count("compiling something\\x1b[31m") == 1


def test_a_pipe_does_not(log, monkeypatch):
    for stream in (io.StringIO(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        early.on_terminals()
        assert not log.handlers
