"""Unusual environments: the labels of a fit are the same, or one line says why there are none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from clusterkit._typing import Rng
from clusterkit_campaign.faults.children import GUARD, clusterkit, forked

__all__ = ["ENVIRONMENTS"]

PROGRAM = """
import json, sys, time
if {jump}:
    import itertools
    jumps = itertools.count(1)
    for name in ("time", "monotonic", "perf_counter"):
        setattr(time, name, lambda old=getattr(time, name): old() + (-1) ** next(jumps) * 1e6)
import numpy as np
from clusterkit import recipe
from clusterkit_campaign.data_sets import blobs
if {strict}:
    import sklearn.cluster, sklearn.mixture, warnings  # imports of others may warn, fits may not
    warnings.simplefilter("error")
X = np.abs(blobs(np.random.default_rng(0), n=36, k=2))
for name in {recipes}:
    k = {{}} if name in ("svc", "psvc") else {{"n_clusters": 2}}
    print(json.dumps([name, recipe(name, random_state=0, **k).fit(X).labels_.tolist()]))
"""

RECIPES = ("kmeans", "emmc", "psvc", "nmf")
"""Recipes that reach most compiled modules and are fast without compilation."""


def _environment(**changes: str | None) -> dict[str, str]:
    changed = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **changes}
    return {name: value for name, value in changed.items() if value is not None}


def _ran(
    *options: str,
    jump: bool = False,
    strict: bool = False,
    environment: Mapping[str, str] | None = None,
    **more: Any,
) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(recipes=RECIPES, jump=jump, strict=strict)
    command = [sys.executable, *options, "-c", program]
    try:
        return subprocess.run(
            command, env=_environment() if environment is None else dict(environment),
            capture_output=True, text=True, timeout=GUARD, check=False, **more,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"no answer in {GUARD:.0f} s")


def _labels(text: str) -> list[list[object]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("[")]


def _same_labels(title: str, expected: Sequence[object], done: subprocess.CompletedProcess[str]) -> Iterator[str]:
    if done.returncode:
        yield f"{title}: exit status {done.returncode}: {done.stderr[-500:]}"
    elif _labels(done.stdout) != expected:
        yield f"{title}: other labels"


def variables(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """Locale, home, numba, options of Python, the clock, no terminal."""
    expected = _labels(_ran().stdout)
    closed = folder / "closed"
    closed.mkdir()
    closed.chmod(0o555)
    cases: dict[str, dict[str, Any]] = {
        "LC_ALL=C": {"environment": _environment(LC_ALL="C", LANG=None, PYTHONUTF8="0")},
        "no HOME": {"environment": _environment(HOME=None, XDG_CACHE_HOME=None)},
        "a home that is not there": {"environment": _environment(HOME=str(folder / "nowhere"))},
        "a home that cannot be written to": {"environment": _environment(HOME=str(closed))},
        "a numba cache that cannot be written": {"environment": _environment(NUMBA_CACHE_DIR=str(closed))},
        "no compilation": {"environment": _environment(NUMBA_DISABLE_JIT="1")},
        "another hash seed": {"environment": _environment(PYTHONHASHSEED="7")},
        "one thread": {"environment": _environment(OMP_NUM_THREADS="1")},
        "a dumb terminal": {"environment": _environment(TERM="dumb", COLUMNS="1")},
        "jumps of the clock": {"jump": True},
        "no terminal": {"start_new_session": True, "stdin": subprocess.DEVNULL},
    }
    for title, arguments in cases.items():
        yield from _same_labels(title, expected, _ran(**arguments))
    for option in ("-O", "-OO", "-I" if "PYTHONPATH" not in os.environ else "-B"):
        yield from _same_labels(f"python {option}", expected, _ran(option))
    yield from _same_labels(
        "python -W error", expected, _ran("-W", "error::RuntimeWarning", "-W", "error::FutureWarning")
    )
    yield from _same_labels("every warning of a fit as an error", expected, _ran(strict=True))


def corrupted_cache(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """A cache of compiled code whose files are damaged."""
    cache = folder / "cache"
    environment = _environment(NUMBA_CACHE_DIR=str(cache))
    expected = _labels(_ran(environment=environment).stdout)
    files = sorted(path for path in cache.rglob("*") if path.is_file())
    for turn in range(max(1, count // 50)):
        for path in files:
            if path.exists() and rng.random() < 0.5:
                content = path.read_bytes()
                path.write_bytes([b"", content[: len(content) // 2], b"\x00" * len(content)][(turn + len(content)) % 3])
        yield from _same_labels("a damaged cache of compiled code", expected, _ran(environment=environment))


def _limit_memory(n_bytes: int) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))


def address_space(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """Little address space: a fit, or one line about memory; no traceback."""
    data = folder / "data.csv"
    data.write_text("a,b\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(4000)), encoding="utf-8")
    with open("/proc/self/statm", encoding="ascii") as file:
        mapped = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    for extra in (2**22, 2**24, 2**26, 2**28, 2**30):
        for recipe in ("kmeans", "ncut", "svc"):
            words = ["fit", data, "-r", recipe, "-o", folder / "labels.csv"]
            words += [] if recipe == "svc" else ["-k", 2]
            ended = forked(clusterkit(*words), before=[partial(_limit_memory, mapped + extra)])
            if ended.hung or ended.code not in (0, 1, 2) or "Traceback" in ended.text:
                yield f"{recipe} with {extra >> 20} MiB more: exit status {ended.code}: {ended.text[-400:]}"


def closed_pipes(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """A reader that goes away after the first bytes, as ``head -1`` does."""
    for words in (("stages",), ("recipes",), ("compositions",), ("--help",)):
        process = subprocess.Popen(
            [sys.executable, "-m", "clusterkit", *words],
            env=_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        errors = process.stderr.read().decode("utf-8", "replace")
        process.stderr.close()
        code = process.wait(timeout=GUARD)
        if code not in (0, 141, -13) or "Traceback" in errors or "Exception ignored" in errors:
            yield f"clusterkit {' '.join(words)} with a closed pipe: exit status {code}: {errors[-300:]}"


ENVIRONMENTS = {
    "environments": variables,
    "corrupted numba cache": corrupted_cache,
    "address space": address_space,
    "closed pipes": closed_pipes,
}
"""The faults of this file: generators of problems."""
