"""The packages of solvers, feature maps and labelers export the classes of all built-in stages, on first use."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from clusterkit import stages


@pytest.mark.parametrize(
    ("package", "kind"), [("solvers", "solver"), ("featuremaps", "featuremap"), ("labelers", "labeler")]
)
def test_every_built_in_class_is_exported(package, kind):
    module = importlib.import_module(f"clusterkit.{package}")
    built_in = {stage for stage in stages(kind).values() if stage.__module__.startswith(f"clusterkit.{package}.")}
    assert {getattr(module, name) for name in dir(module)} == built_in
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        module.Nothing  # noqa: B018


def test_importing_the_packages_loads_no_stage():
    code = "import clusterkit.solvers, clusterkit.featuremaps, clusterkit.labelers, sys; print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
