"""Compiled code on disk: an index of an older source is ignored, and what is missing is announced once."""

import importlib
import os
import subprocess
import sys

import numba
import numba.core.caching
import pytest

from clusterkit import _jit

# the suite is also run uncompiled, where these processes compile all the same
COMPILING = {"NUMBA_DISABLE_JIT": "0"}

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


def test_a_renamed_named_tuple_and_a_damaged_index_compile_anew(tmp_path, monkeypatch, capsys):
    hits = []
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 0)
    monkeypatch.setattr("clusterkit._jit.CACHE", True)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("Before", "Before", "Renamed", "damaged"):
        if name == "damaged":
            for index in (tmp_path / "cache").rglob("*.nbi"):
                index.write_bytes(b"no index")
        else:
            (tmp_path / "compiled_here.py").write_text(SOURCE.format(name=name), encoding="utf-8")
        monkeypatch.delitem(sys.modules, "compiled_here", raising=False)
        importlib.invalidate_caches()
        doubled = importlib.import_module("compiled_here").doubled
        assert capsys.readouterr().out == "3.0\n"
        hits.append(sum(doubled.stats.cache_hits.values()))
    assert hits == [0, 1, 0, 0]


def test_a_function_whose_import_has_changed_is_compiled_anew(tmp_path):
    variables = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "CLUSTERKIT_JIT_CACHE": "1", "PYTHONPATH": "."}
    environment = {**os.environ, **COMPILING, **variables, "PYTHONDONTWRITEBYTECODE": "1"}
    begin = "from clusterkit._jit import inner, njit\n"
    caller = "from middle_jit import twice\n@njit\ndef called(x):\n    return twice(x)\nprint(called(3.0))\n"
    middle = "from deep_jit import once\n@inner\ndef twice(x):\n    return 2.0 * once(x)\n"
    (tmp_path / "caller_jit.py").write_text(begin + caller, encoding="utf-8")
    (tmp_path / "middle_jit.py").write_text(begin + middle, encoding="utf-8")
    for added in ("0.0", "1.0"):
        deep = f"{begin}@njit\ndef once(x):\n    return x + {added}\n"
        (tmp_path / "deep_jit.py").write_text(deep, encoding="utf-8")
        command = [sys.executable, "-c", "import caller_jit"]
        process = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
        assert process.stdout == f"{2.0 * (3.0 + float(added))}\n", process.stderr


SHIPPED = """
import sys
from clusterkit import _jit
from clusterkit._jit import njit
_jit.SHIPPED = sys.argv[1]
if sys.argv[2:]:
    _jit.FEATURES = frozenset(sys.argv[2:])

@njit
def doubled(x):
    return 2.0 * x

print(doubled(1.5), sum(doubled.stats.cache_hits.values()))
"""


@pytest.mark.skipif(not _jit._suits(), reason="this processor is another one")
def test_code_of_a_wheel_is_read_where_the_processor_runs_it_and_nothing_is_written(tmp_path):
    (tmp_path / "shipped.py").write_text(SHIPPED, encoding="utf-8")
    target = {"NUMBA_CPU_NAME": _jit.PROCESSOR, "NUMBA_CPU_FEATURES": ""}

    def hits(cache, folder, *features, **variables):
        path = os.pathsep.join([".", *filter(None, sys.path)])
        environment = {**os.environ, **COMPILING, "NUMBA_CACHE_DIR": str(tmp_path / cache), "PYTHONPATH": path}
        command = [sys.executable, "-c", "import shipped", str(folder), *features]
        environment |= {"CLUSTERKIT_JIT_CACHE": "1", **variables}
        process = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
        assert process.returncode == 0, process.stderr
        value, count = process.stdout.split()
        assert value == "3.0"
        return int(count), len(list((tmp_path / cache).rglob("*.nb?")))

    assert hits("builder", tmp_path / "none", **target) == (0, 2)
    (folder,) = (path.parent for path in (tmp_path / "builder").rglob("*.nbi"))
    assert hits("user", folder) == (1, 0)
    assert hits("old processor", folder, "no_such_feature") == (0, 2)
    assert hits("wheel without", tmp_path / "none") == (0, 2)
    for file in folder.iterdir():
        file.write_bytes(b"damaged")
    assert hits("damaged", folder) == (0, 2)


def test_what_the_package_touches_inside_numba_is_there():
    """Fields without a promise: all of them are in `clusterkit/_jit.py`."""
    doubled = numba.njit(cache=True, nogil=True)(lambda x: x)
    cache = doubled._cache
    fields = [
        (numba.core.caching, ("IndexDataCacheFile", "_CacheLocator")),
        (numba.core.codegen, ("get_host_cpu_features",)),
        (numba.core.event, ("Listener", "register")),
        (numba.config, ("CPU_NAME", "CPU_FEATURES", "DISABLE_JIT")),
        (doubled, ("compile", "get_call_template", "py_func")),
        (cache, ("_cache_file", "_impl", "_index_key", "_load_overload")),
        (cache._impl, ("filename_base", "rebuild")),
        (cache._cache_file, ("_load_data", "_load_index", "_source_stamp", "_version", "load")),
    ]
    missing = [
        f"{type(owner).__name__}.{name}" for owner, names in fields for name in names if not hasattr(owner, name)
    ]
    assert not missing, f"numba {numba.__version__} has changed {missing}"


ANNOUNCED = """
import logging, sys
if sys.argv[1:]:
    logging.basicConfig(format="%(name)s: %(message)s", stream=sys.stdout)
import numba
from clusterkit._jit import njit

numba.njit(lambda x: x)(1)  # of somebody else
print("ours:")

@njit
def doubled(x):
    return 2 * x

doubled(1)
doubled(1.0)
"""


def test_a_compilation_is_announced_once_and_code_on_disk_is_not(tmp_path):
    (tmp_path / "compiled.py").write_text(ANNOUNCED, encoding="utf-8")
    variables = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "CLUSTERKIT_JIT_CACHE": "1"}
    path = os.pathsep.join([".", *filter(None, sys.path)])
    environment = {**os.environ, **COMPILING, **variables, "PYTHONPATH": path}
    answers = []
    for configured, cache in ((["logging"], "logged"), (["logging"], "logged"), ([], "plain")):
        environment["NUMBA_CACHE_DIR"] = str(tmp_path / cache)
        command = [sys.executable, "-c", "import compiled", *configured]
        process = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
        assert process.returncode == 0, process.stderr
        answers.append((process.stdout + process.stderr).splitlines())
    first, second, plain = answers
    assert first[0] == second[0] == plain[0] == "ours:"
    assert len(first) == len(plain) == 2
    assert first[1] == f"clusterkit.compilation: {plain[1]}"
    assert plain[1].startswith("Compiling the loops of this method for its first use")
    assert len(second) == 1


COLD = """
import numpy as np
from numba.core import event
from clusterkit.samples.kernels import Gaussian
from clusterkit.families.support_vectors._steps_jit import GaussianSubproblem

class Names(event.Listener):
    def on_start(self, event):
        print(event.data["dispatcher"].py_func.__module__)

    def on_end(self, event):
        pass

event.register("numba:compile", Names())
points = np.random.default_rng(0).normal(size=(20, 2))
problem = GaussianSubproblem.of(points, Gaussian(1.0), np.ones(20), 1 << 20)
problem.move(np.full(20, 0.05), 2 * Gaussian(1.0)(points, points).mean(axis=0) - 1, 1e-6, 100)
"""


@pytest.mark.deep
def test_the_pair_steps_compile_no_texts(tmp_path):
    """Assigning a row checks shapes, and the text of that error takes longer to compile than the loop."""
    environment = {
        **os.environ,
        **COMPILING,
        "NUMBA_CACHE_DIR": str(tmp_path),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    process = subprocess.run([sys.executable, "-c", COLD], capture_output=True, text=True, env=environment)
    assert process.returncode == 0, process.stderr
    compiled = process.stdout.split()
    assert "clusterkit.families.support_vectors._steps_jit" in compiled
    assert "numba.cpython.unicode" not in compiled
