"""What takes long is said in notebooks too; tests/numerics/test_compiled_cache.py is about compilation."""

import logging
import sys
import types

import clusterkit


def test_no_handler_hides_what_the_compiler_says():
    import clusterkit.estimators.same_place  # noqa: F401 # for what it does to the loggers

    assert logging.getLogger("clusterkit").handlers == []


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
