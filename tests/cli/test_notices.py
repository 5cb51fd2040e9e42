"""What takes long is said: on a terminal above the progress bar, elsewhere by `logging`."""

from __future__ import annotations

import io
import logging
import sys
import types

import pytest

import clusterkit
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
    log.warning("compiling %s", "something\x1b[31m")
    assert stream.getvalue().count("compiling something\\x1b[31m") == 1


def test_elsewhere_logging_does_it(log, monkeypatch):
    for stream in (io.StringIO(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        early.on_terminals()
        assert not log.handlers


def test_a_notebook_shows_the_progress_of_a_fit_below_the_cell(monkeypatch):
    lines = []

    class Handle:
        def update(self, data, raw):
            lines.append(data["text/plain"])

    display = types.ModuleType("IPython.display")
    display.display = lambda data, raw, display_id: Handle()
    package = types.ModuleType("IPython")
    package.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    X = [[0.0], [1.0], [9.0], [10.0]]
    clusterkit.recipe("emmc", n_clusters=2, random_state=0, verbose=True).fit(X)
    assert any(" of " in line for line in lines)
    assert lines[-1] == ""
