"""Processes: forked ones that are ended at a drawn moment, other ways to start one, and several numbers of threads."""

from __future__ import annotations

import json
import multiprocessing
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Rng
from clusterkit.contracts.registry import registry
from clusterkit_campaign.data_sets import blobs
from clusterkit_campaign.fits import of_recipe

__all__ = [
    "GUARD",
    "NOT_TRIED",
    "SETS",
    "Ended",
    "command_line",
    "forked",
    "labels_of",
    "labels_of_recipes",
    "loky",
    "numbers_of_threads",
    "start_methods",
]

GUARD = 900.0
"""Seconds after which a process that should have ended hangs."""

NOT_TRIED = "not tried: "
"""Beginning of a line that is no problem, but says why a fault could not be tried on this machine."""


@final
@attrs.frozen
class Ended:
    """End of a process.

    Parameters
    ----------
    code : int
        Exit status; minus the number of the signal that ended it.
    text : str
        Output of the process.
    seconds : float
        Time that it took.
    hung : bool
        Whether it was ended by the guard.
    """

    code: int
    text: str
    seconds: float
    hung: bool = False


def command_line(*words: object) -> Callable[[], int]:
    """The command line of clusterkit as a function to be forked; its exit status is returned."""

    def run() -> int:
        from clusterkit.cli import main

        sys.argv = ["clusterkit", *map(str, words)]
        try:
            main()
        except SystemExit as done:
            return done.code if isinstance(done.code, int) else int(done.code is not None)
        return 0

    return run


def forked(
    function: Callable[[], int | None],
    *,
    sent: int | None = None,
    after: float = 0.0,
    before: Sequence[Callable[[], object]] = (),
) -> Ended:
    """Run a function in a forked process whose output is caught.

    Parameters
    ----------
    function : callable
        Function whose return value is the exit status.
    sent : int, optional
        A signal that the process gets.
    after : float
        Seconds until the signal; a process that ends earlier gets none.
    before : sequence of callables
        Called in the process before the function: limits, for example.
    """
    reading, writing = os.pipe()
    begin = time.monotonic()
    # Ctrl-C that comes before the child is ready would end in the program that forked it
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    child = os.fork()
    if not child:
        _in_child(function, writing, reading, before)
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    os.close(writing)
    text, hung, waiting = b"", False, sent is not None
    while True:
        left = (after if waiting else GUARD) - (time.monotonic() - begin)
        ready, _, _ = select.select([reading], [], [], max(0.0, left))
        if ready:
            part = os.read(reading, 2**16)
            if not part:
                break
            text += part
        elif waiting:
            assert sent is not None
            os.kill(child, sent)
            waiting = False
        else:
            os.kill(child, signal.SIGKILL)
            hung = True
            break
    os.close(reading)
    _, status = os.waitpid(child, 0)
    return Ended(os.waitstatus_to_exitcode(status), text.decode("utf-8", "replace"), time.monotonic() - begin, hung)


def _in_child(
    function: Callable[[], int | None], writing: int, reading: int, before: Sequence[Callable[[], object]]
) -> None:
    """Never returns."""
    code = 70
    try:
        os.close(reading)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        # the plain streams, not those that the program has put in their place, such as the capture of a test
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        for prepare in before:
            prepare()
        code = function() or 0
    except KeyboardInterrupt:
        code = 130
    except BaseException as error:
        import traceback

        traceback.print_exception(error)
        code = 70
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


STARTED = ("kmeans", "emmc", "svc", "nmf")
"""Recipes with threads of the linear algebra, compiled loops, and threads over rows."""


def labels_of(name: str) -> list[int]:
    """Labels of a recipe on fixed samples."""
    X = np.abs(blobs(np.random.default_rng(0), n=120, d=4))
    labels: list[int] = of_recipe(name).estimator(2, 0).fit(X).labels_.tolist()
    return labels


def start_methods(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """Every way of multiprocessing to start a process, after fits in this one."""
    expected = {name: labels_of(name) for name in STARTED}
    for method in multiprocessing.get_all_start_methods():
        with multiprocessing.get_context(method).Pool(2) as pool:
            try:
                answers = pool.map_async(labels_of, STARTED).get(timeout=GUARD)
            except multiprocessing.TimeoutError:
                yield f"{method}: it hangs"
                continue
        for name, labels in zip(STARTED, answers, strict=True):
            if labels != expected[name]:
                yield f"{method}: {name} has other labels"


def loky(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """joblib's processes and threads."""
    from joblib import Parallel, delayed

    expected = [labels_of(name) for name in STARTED]
    for backend in ("loky", "threading"):
        answers = Parallel(n_jobs=2, backend=backend)(delayed(labels_of)(name) for name in STARTED)
        if answers != expected:
            yield f"joblib with {backend}: other labels"


SETS = ("blobs", "many duplicates", "integer grid", "just above a block")
"""Awkward sets: one without ties, two with many, and one of more rows than a thread takes at a time."""

THREAD_COUNTS = (1, 2, 5)
"""Threads: one, as many as small machines have, and more than there are."""

PROGRAM = """
import sys
from clusterkit_campaign.processes import labels_of_recipes
labels_of_recipes(sys.argv[1:])
"""


def labels_of_recipes(names: list[str]) -> None:
    """Print the labels of recipes on the sets of `SETS` as lines of JSON: name, set, labels or the error's class."""
    import warnings

    from clusterkit_campaign.data_sets import awkward_sets
    from clusterkit_campaign.fits import of_recipe

    warnings.simplefilter("ignore")
    for name in names:
        for item in SETS:
            data = awkward_sets()[item]
            try:
                labels = of_recipe(name).estimator(2, 0).fit(data.put(data.drawn(0))).labels_.tolist()
            except Exception as error:
                labels = type(error).__name__
            print(json.dumps([name, item, labels]), flush=True)


def numbers_of_threads(folder: Path, rng: Rng, count: int) -> Iterator[str]:
    """Run all recipes on each set, in processes that have different numbers of threads."""
    names = sorted(registry.available("recipe"))
    expected: dict[tuple[str, str], object] = {}
    for n_threads in THREAD_COUNTS:
        limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(n_threads))
        path = os.pathsep.join(path for path in sys.path if path)
        environment = {**os.environ, **limits, "NUMBA_NUM_THREADS": str(n_threads), "PYTHONPATH": path}
        try:
            done = subprocess.run(
                [sys.executable, "-c", PROGRAM, *names],
                env=environment, capture_output=True, text=True, timeout=4 * GUARD, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            yield f"{n_threads} threads: no answer in {4 * GUARD:.0f} s"
            continue
        if done.returncode:
            yield f"{n_threads} threads: exit status {done.returncode}: {done.stderr[-500:]}"
        for line in done.stdout.splitlines():
            name, item, labels = json.loads(line)
            if expected.setdefault((name, item), labels) != labels:
                yield f"{name} on {item}: {n_threads} threads give other labels than {THREAD_COUNTS[0]}"
