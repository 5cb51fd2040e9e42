"""Compiled code on disk: an index of an older source is ignored, whatever types it names."""

from __future__ import annotations

import os
import subprocess
import sys

SOURCE = """
from typing import NamedTuple
from clusterkit._jit import njit

class {name}(NamedTuple):
    value: float

@njit
def doubled(record):
    return 2.0 * record.value

print(doubled({name}(1.5)))
"""


def test_a_renamed_named_tuple_compiles_anew(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "CLUSTERKIT_JIT_CACHE": "1"}
    for name in ("Before", "Before", "Renamed"):
        (tmp_path / "compiled.py").write_text(SOURCE.format(name=name), encoding="utf-8")
        command = [sys.executable, "-c", "import compiled"]
        process = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, env={**environment, "PYTHONPATH": "."}
        )
        assert process.returncode == 0, process.stderr
        assert process.stdout == "3.0\n"
