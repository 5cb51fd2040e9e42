"""How the engine is registered, and that its page runs."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import clusterkit
from clusterkit import recipe
from clusterkit.contracts.providers import PLUGINS
from clusterkit.errors import InvalidData
from clusterkit.fitting.samples import engine_for
from clusterkit.testing.compare import small_groups

NEEDED = "the engine of clusterkit-dask needs dask, with its arrays and frames"
pd = pytest.importorskip("pandas", reason=NEEDED)
da = pytest.importorskip("dask.array", reason=NEEDED)
DaskEngine = pytest.importorskip("clusterkit_dask.engine", reason=NEEDED).DaskEngine


class TestRegistration:
    def test_discovered_through_the_entry_point_alone(self):
        [plugin] = [entry for entry in clusterkit.plugins() if entry.distribution == "clusterkit-dask"]
        assert plugin.problem is None
        assert set(plugin.provides) == {("engine", "dask"), ("engine", "clusterkit_dask")}
        assert isinstance(engine_for(da.zeros((2, 2))), DaskEngine)

    def test_the_core_knows_what_the_plugin_provides(self):
        [known] = [entry for entry in PLUGINS if entry.distribution == "clusterkit-dask"]
        assert set(known.provides["engine"]) == {"dask", "clusterkit_dask"}

    @pytest.mark.usefixtures("no_external_plugins")
    def test_without_the_plugin_one_line_says_what_to_install(self):
        with pytest.raises(InvalidData, match=r"The plugin clusterkit-dask provides it") as refusal:
            recipe("kmeans", n_clusters=2).fit(da.zeros((10, 2)))
        assert "\n" not in str(refusal.value)

    def test_the_lowest_version_of_dask_is_claimed_once(self):
        project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        assert any(need.startswith("dask[") for need in project["dependencies"])

    def test_hooks_import_no_dask(self):
        import subprocess

        code = "import sys, clusterkit_dask.plugin; print('dask' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "False"


def test_the_page_runs(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "measurements").mkdir()
    table = pd.DataFrame(
        make_blobs(3000, 2, centers=4, cluster_std=2.0, random_state=0)[0].astype(np.float32),
        columns=["length", "width"],
    )
    table.to_parquet(tmp_path / "measurements" / "part-0.parquet", index=False)
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "on-a-cluster.md").read_text(encoding="utf-8")
    blocks = [block for block in re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S) if "tcp://" not in block]
    assert len(blocks) == 3
    names = {}
    with small_groups(2**14):
        for block in blocks:
            exec(block.replace("300_000", "40_000"), names)
