"""A campaign of faults: ``python -m clusterkit_campaign faults``.

Killed processes, full disks, folders that vanish, little memory, Ctrl-C, unusual environments, threads, ways to start a
process. Each fault is real: a signal, a limit of the system, an environment variable. Only processes that the
campaign started are ended, by their numbers. POSIX only.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from clusterkit._typing import Rng
from clusterkit_campaign.data_sets import blobs
from clusterkit_campaign.fits import of_recipe
from clusterkit_campaign.processes import (
    GUARD,
    NOT_TRIED,
    Ended,
    command_line,
    forked,
    loky,
    numbers_of_threads,
    start_methods,
)

__all__ = ["FAULTS", "main", "problems"]

KILLED_ROWS = 300
"""Rows of the table: a fit takes a few tenths of a second."""


def _table(folder: Path, rows: int, columns: int) -> Path:
    """A file of blobs that anybody may read."""
    path = folder / "data.csv"
    X = blobs(np.random.default_rng(0), n=rows, d=columns)
    np.savetxt(path, X, delimiter=",", header=",".join("abc"[:columns]), comments="")
    path.chmod(0o644)
    return path


def _killed(command: Callable[[], int], rng: Rng, count: int) -> Iterator[Ended]:
    """Runs that are killed, at moments drawn from the time that an undisturbed run takes."""
    whole = forked(command)
    if whole.code:
        raise RuntimeError(f"the undisturbed run ends with {whole.code}: {whole.text[-500:]}")
    for _ in range(count):
        yield forked(command, sent=signal.SIGKILL, after=float(rng.uniform(0.0, whole.seconds)))


def _unexpected(folder: Path, expected: set[str]) -> list[str]:
    """Files that are neither expected nor hidden unfinished ones."""
    names = {path.name for path in folder.iterdir()}
    return sorted(name for name in names - expected if not name.startswith(".clusterkit-"))


def _problems_of_labels(path: Path) -> Iterator[str]:
    if path.exists() and len(path.read_text(encoding="utf-8").splitlines()) != KILLED_ROWS + 1:
        yield f"{path.name} is cut short"


def kill_fit(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """Labels are whole or absent."""
    data, labels = _table(folder, KILLED_ROWS, 3), folder / "labels.csv"
    for _ in _killed(command_line("fit", data, "-r", "emmc", "-k", 3, "-o", labels), rng, count):
        yield from _problems_of_labels(labels)
        yield from (f"a file is left: {name}" for name in _unexpected(folder, {data.name, labels.name}))
        labels.unlink(missing_ok=True)


def kill_save(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """A saved model is whole or absent: one that is there predicts."""
    data, model = _table(folder, KILLED_ROWS, 3), folder / "model.clusterkit"
    for _ in _killed(command_line("fit", data, "-r", "kmeans", "-k", 3, "--save", model), rng, count):
        if model.exists():
            predicted = forked(command_line("predict", model, data, "-o", folder / "predicted.csv"))
            if predicted.code:
                yield f"a saved model cannot be read: {predicted.text[-300:]}"
        yield from (f"a file is left: {name}" for name in _unexpected(folder, {data.name, model.name, "predicted.csv"}))
        model.unlink(missing_ok=True)


def kill_reproduce(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """A record of a published table is whole or absent, and is continued."""
    from clusterkit.contracts.registry import registry

    if registry.find("command", "reproduce") is None:
        yield f"{NOT_TRIED}the distribution clusterkit-papers is not installed"
        return
    records = folder / "records"
    command = command_line("reproduce", "elm-table1", "--quick", "--record", records)
    if forked(command).code:
        yield f"{NOT_TRIED}the data of elm-table1 are not here"
        return
    for path in records.glob("*.json"):
        path.unlink()
    for _ in _killed(command, rng, count):
        for path in records.glob("[!.]*.json"):
            try:
                json.loads(path.read_text(encoding="utf-8"))
            except ValueError as error:
                yield f"a record is cut short: {error}"
        if rng.random() < 0.5:
            for path in records.glob("*.json"):
                path.unlink()


INTERRUPTED = ("kmeans", "emmc", "emmc-multistart", "nmf", "svc", "psvc", "fuzzy-cmeans", "ncut", "cpmmc", "gmmc")
"""Ten recipes of all families."""

INTERRUPTED_ROWS = 240
"""Rows of the samples: the fits take from hundredths of a second to a second."""


def _interrupted_fit(name: str) -> int:
    """Fit in a forked process and tell how it ended."""
    X = np.abs(blobs(np.random.default_rng(0), n=INTERRUPTED_ROWS, d=4))
    threads = threading.active_count()
    answer: dict[str, object] = {}
    try:
        model = of_recipe(name).estimator(2, 0).fit(X)
        answer = {
            "labels": len(model.labels_), "interrupted": bool(model.interrupted_), "reason": model.stop_reason_,
            "finite": int(model.labels_.min()) >= -1,
        }  # fmt: skip
    except KeyboardInterrupt:
        answer = {"raised": True}
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    alive = [each.name for each in threading.enumerate() if not each.daemon]
    answer["threads"] = max(0, len(alive) - threads)
    print(json.dumps(answer))
    sys.stdout.flush()
    return 0


def interrupt_fits(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """`count` interrupts in all, spread over the recipes."""
    wholes = {name: forked(partial(_interrupted_fit, name)) for name in INTERRUPTED}
    for number in range(count):
        name = INTERRUPTED[number % len(INTERRUPTED)]
        moment = float(rng.uniform(0.0, wholes[name].seconds))
        ended = forked(partial(_interrupted_fit, name), sent=signal.SIGINT, after=moment)
        yield from (f"{name} after {moment:.3f} s: {what}" for what in _wrong_end(ended))


def _wrong_end(ended: Ended) -> Iterator[str]:
    if ended.hung:
        yield "it hangs"
        return
    try:
        answer = json.loads(ended.text.strip().splitlines()[-1])
    except (ValueError, IndexError):
        # the interrupt came before the fit, or after it, and Python ended as it does
        if ended.code not in (130, 0) or "Traceback" in ended.text:
            yield f"exit status {ended.code}: {ended.text[-300:]}"
        return
    if answer["threads"]:
        yield f"{answer['threads']} threads are left"
    if answer.get("raised"):
        return
    if answer["labels"] != INTERRUPTED_ROWS or not answer["finite"]:
        yield f"labels that are none: {answer}"


def interrupt_commands(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """The command line: one line, exit status 130 or 0, and a file of labels that is whole or absent."""
    data, labels = _table(folder, INTERRUPTED_ROWS, 2), folder / "labels.csv"
    command = command_line("fit", data, "-r", "emmc-multistart", "-k", 2, "-o", labels)
    whole = forked(command)
    for _ in range(max(1, count // 10)):
        labels.unlink(missing_ok=True)
        ended = forked(command, sent=signal.SIGINT, after=float(rng.uniform(0.0, whole.seconds)))
        if ended.hung or ended.code not in (0, 130) or "Traceback" in ended.text:
            yield f"exit status {ended.code}: {ended.text[-300:]}"
        if labels.exists() and len(labels.read_text(encoding="utf-8").splitlines()) != INTERRUPTED_ROWS + 1:
            yield "the file of labels is cut short"


NOBODY = 65534
"""The user that a process of root becomes, because root writes anywhere."""


def _commands(data: Path, out: Path) -> dict[Path, Callable[[], int]]:
    fit = ("fit", data, "-r", "kmeans", "-k", 3)
    return {
        out / "labels.csv": command_line(*fit, "-o", out / "labels.csv"),
        out / "labels.npy": command_line(*fit, "-o", out / "labels.npy"),
        out / "model.clusterkit": command_line(*fit, "--save", out / "model.clusterkit"),
    }


def _wrong_refusal(target: Path, ended: Ended) -> Iterator[str]:
    """The command fails with one line about the path, and leaves nothing that is not whole."""
    if ended.code == 0:
        yield f"{target.name}: the command says that it succeeded"
    if "Traceback" in ended.text or ended.text.count("error: ") != 1 or target.name not in ended.text:
        yield f"{target.name}: no line of error about the path: {ended.text[-300:]}"
    if target.exists():
        yield f"{target.name}: a file is left that is not whole"


def _limit_files(most: int) -> None:
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def file_size_limit(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """Limit the size of all files: what a full disk looks like to a writer, where no disk can be mounted."""
    data = _table(folder, 120, 2)
    for target, command in _commands(data, folder).items():
        for most in (0, 1, 17, 64):
            yield from _wrong_refusal(target, forked(command, before=[partial(_limit_files, most)]))
            target.unlink(missing_ok=True)


def full_disk(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """A small file system in memory that is full, where this user may mount one."""
    data, disk = _table(folder, 120, 2), folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False, timeout=60).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        yield f"{NOT_TRIED}this user may not mount a small file system; the limit of file sizes stands for it"
        return
    try:
        with contextlib.suppress(OSError):
            (disk / "filler").write_bytes(bytes(2**20))
        for target, command in _commands(data, disk).items():
            yield from _wrong_refusal(target, forked(command))
    finally:
        subprocess.run(["umount", str(disk)], capture_output=True, check=False, timeout=60)


def _become_nobody() -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def unwritable_folder(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """A folder in which nobody may write."""
    data, out = _table(folder, 120, 2), folder / "closed"
    out.mkdir()
    folder.chmod(0o755)
    out.chmod(0o555)
    for parent in (*folder.parents, *Path(os.__file__).parents):  # folders of root are closed to others
        if os.geteuid() == 0 and not parent.stat().st_mode & 0o001:
            yield f"{NOT_TRIED}root writes anywhere, and others cannot reach {parent}"
            return
    for target, command in _commands(data, out).items():
        yield from _wrong_refusal(target, forked(command, before=[_become_nobody]))


def vanished_folder(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """A folder that is gone, and a working directory that is gone."""
    data, out = _table(folder, 120, 2), folder / "gone"
    for target, command in _commands(data, out).items():
        yield from _wrong_refusal(target, forked(command))
    out.mkdir()

    def leave() -> None:
        os.chdir(out)
        shutil.rmtree(out)

    ended = forked(command_line("fit", data, "-r", "kmeans", "-k", 3, "-o", folder / "labels.csv"), before=[leave])
    if ended.code:
        yield f"a working directory that is gone ends a fit that does not need it: {ended.text[-300:]}"


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

FAST = ("kmeans", "emmc", "psvc", "nmf")
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
    program = PROGRAM.format(recipes=FAST, jump=jump, strict=strict)
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
    for number in range(max(1, count // 50)):
        for path in files:
            if path.exists() and rng.random() < 0.5:
                content = path.read_bytes()
                damages = [b"", content[: len(content) // 2], b"\x00" * len(content)]
                path.write_bytes(damages[(number + len(content)) % 3])
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
            ended = forked(command_line(*words), before=[partial(_limit_memory, mapped + extra)])
            if ended.hung or ended.code not in (0, 1, 2) or "Traceback" in ended.text:
                yield f"{recipe} with {extra >> 20} MiB more: exit status {ended.code}: {ended.text[-400:]}"


def closed_pipes(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """A reader that goes away after the first bytes, as ``head -1`` does."""
    for words in (("stages",), ("recipes",), ("--help",)):
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


Fault: TypeAlias = Callable[[Path, Rng, int], Iterator[str]]
"""Function from an empty folder, a random generator and a number of times to problems."""

INTERRUPTS: Mapping[str, Fault] = {"Ctrl-C in fits": interrupt_fits, "Ctrl-C in commands": interrupt_commands}
"""Faults that press Ctrl-C, by name."""

FAULTS: Mapping[str, Fault] = {
    "fork, spawn, forkserver": start_methods,
    "joblib": loky,
    "limit of file sizes": file_size_limit,
    "full disk": full_disk,
    "unwritable folder": unwritable_folder,
    "vanished folder": vanished_folder,
    "environments": variables,
    "corrupted numba cache": corrupted_cache,
    "address space": address_space,
    "closed pipes": closed_pipes,
    "threads": numbers_of_threads,
    "kill fit": kill_fit,
    "kill save": kill_save,
    "kill reproduce": kill_reproduce,
    **INTERRUPTS,
}
"""All faults by name; those that start processes in other ways first, before this one has been forked often."""


def problems(name: str, *, kills: int, interrupts: int, seed: int) -> list[str]:
    """Problems that a fault shows; none if all is well. A line that begins with `NOT_TRIED` is no problem.

    Parameters
    ----------
    name : str
        One of `FAULTS`.
    kills, interrupts : int
        How often a process is killed or interrupted.
    seed : int
        Seed of the moments at which faults happen.
    """
    count = interrupts if name in INTERRUPTS else kills
    with tempfile.TemporaryDirectory() as folder:
        return list(FAULTS[name](Path(folder), np.random.default_rng(seed), count))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; 0 without problems, 1 with some, 2 where there is no POSIX."""
    parser = argparse.ArgumentParser(prog="python -m clusterkit_campaign faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="kills of each command (default 100)")
    parser.add_argument("--interrupts", type=int, default=200, help="Ctrl-C over ten recipes (default 200)")
    parser.add_argument("--seed", type=int, default=0, help="for the moments (default 0)")
    parser.add_argument("--only", action="append", choices=list(FAULTS), help="only this fault; may be repeated")
    options = parser.parse_args(arguments)
    if os.name != "posix":
        print("error: faults need the signals and limits of POSIX", file=sys.stderr)
        return 2
    failures = 0
    for name in options.only or FAULTS:
        lines = problems(name, kills=options.kills, interrupts=options.interrupts, seed=options.seed)
        failed = [line for line in lines if not line.startswith(NOT_TRIED)]
        verdict = f"{len(failed)} problems" if failed else "ok" if not lines else "nothing was seen"
        print(f"{name}: {verdict}", flush=True)
        for line in lines[:20]:
            print(f"  {line}", flush=True)
        failures += len(failed)
    return int(failures > 0)
