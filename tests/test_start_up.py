"""Importing clusterkit costs next to nothing and loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("scipy", "sklearn", "numba", "cvxpy", "matplotlib", "pandas", "rich")


def loaded_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_loads_nothing_heavy():
    assert loaded_after("import clusterkit") == set()


def test_listing_stages_loads_nothing_heavy():
    assert loaded_after("import clusterkit; clusterkit.stages()") == set()


@pytest.mark.parametrize(
    ("statement", "allowed"),
    [
        ("from clusterkit import Pipeline", {"scipy", "sklearn"}),
        ("from clusterkit import recipe; recipe('emmc', n_clusters=2)", {"scipy", "sklearn"}),
    ],
)
def test_estimators_load_scikit_learn_and_no_more(statement, allowed):
    assert loaded_after(statement) <= allowed | {"pandas"}  # scikit-learn may look for pandas by itself


def test_public_names_all_load():
    import clusterkit

    for name in clusterkit.__all__:
        assert getattr(clusterkit, name) is not None
    assert set(clusterkit.__all__) <= set(dir(clusterkit))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = clusterkit.nothing
