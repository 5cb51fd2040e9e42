"""The names are there without matplotlib, and say what is missing."""

from __future__ import annotations

import sys

import pytest

from clusterkit import plots


def test_names():
    assert set(plots.__all__) <= set(dir(plots))
    for name in plots.__all__:
        assert getattr(plots, name).__name__ == name
    import clusterkit.plots._domains  # noqa: F401

    assert callable(plots.contours)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = plots.nothing


@pytest.mark.parametrize("name", plots.__all__)
def test_without_matplotlib(name, monkeypatch, svc, moons):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    arguments = (svc,) if name == "search_curve" else (svc, moons)
    with pytest.raises(ImportError, match="a picture needs matplotlib: install it"):
        getattr(plots, name)(*arguments)
