"""Data files that a plugin reads."""

import sys
import types

import numpy as np
import pytest

from clusterkit.contracts import hookspecs
from clusterkit.contracts.registry import registry


@pytest.fixture
def readers(monkeypatch):
    """A plugin that reads ``.rows``: the names in the first line, then numbers, all with bars between them."""

    def read(path):
        with open(path, encoding="utf-8") as file:
            names, *lines = (line.strip().split("|") for line in file)
        return dict(zip(names, np.array(lines, dtype=float).T, strict=True))

    module = types.ModuleType("a_reader_module")
    module.read, module.number = read, 3
    monkeypatch.setitem(sys.modules, "a_reader_module", module)
    plugin = types.ModuleType("a_reader_plugin")
    plugin.API_VERSION = hookspecs.API_VERSION
    plugin.clusterkit_readers = hookspecs.hookimpl(
        lambda: {".rows": "a_reader_module:read", ".bad": "a_reader_module:number"}
    )
    registry.register(plugin)


@pytest.fixture
def rows(tmp_path):
    """Two groups of four rows."""
    lines = ["height|width", *(f"{i % 2 + 10 * (i // 4)}|{i % 3}" for i in range(8))]
    path = tmp_path / "table.rows"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.usefixtures("readers")
def test_the_ending_chooses_the_reader(run, rows, tmp_path):
    labels = tmp_path / "labels.csv"
    assert run("fit", rows, "--recipe", "kmeans", "-k", 2, "-o", labels).exit_code == 0
    written = labels.read_text(encoding="utf-8").split()[-8:]
    assert written == [*[written[0]] * 4, *[written[4]] * 4]
    assert written[0] != written[4]


@pytest.mark.usefixtures("readers")
def test_a_reader_that_is_no_function_is_refused(run, rows, error_of):
    broken = rows.rename(rows.with_suffix(".bad"))
    assert "reader '.bad' of this session is no function: 3" in error_of(run("fit", broken, "-k", 2))
