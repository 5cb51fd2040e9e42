"""Seconds of fits on 1, 2, 4, ... all cores, and what of their time is serial.

    python tests/benchmarks/cores.py --seconds 300
    python tests/benchmarks/cores.py --only auto kmeans --record docs/results/cores.json    # adds to a record
    python tests/benchmarks/cores.py --page --record docs/results/cores.json    # the tables of docs/how-speed-grows.md
    python tests/benchmarks/cores.py --thin    # one thread against all, the source of `THIN` in numerics/threads.py

Each fit runs in a process of its own, which may use the first cores of this machine only, with as many threads of BLAS,
OpenMP and clusterkit. The same fit before loads the compiled functions. The numbers of cores take turns, and while
there is time a method is measured again; printed are the least seconds. Labels must be equal on every number of cores.

Another process looks every four milliseconds which threads of the fit run or wait for a core, and how long each has
run. `parallel` is the share of the processor's time in which at least two do. Where only one does, the time belongs to
the function of clusterkit that the thread is in. With T processor seconds on one core, and on two W of which s are
serial, T / (s + (W - s) / p) is the speed-up foretold for p cores (Amdahl). Other programs on the machine change the
seconds, but hardly this number. It knows nothing of memory that is too slow for p cores, so that it is a bound. Linux
only.
"""

import argparse
import contextlib
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parents[2]
PAGE = HERE / "docs" / "how-speed-grows.md"
MARK = "<!-- What follows is written by tests/benchmarks/cores.py --page. -->"
EVERY = 0.004
"""Seconds between two looks at the threads of a fit."""
FORETOLD = (2, 8, 16)
"""Numbers of cores for which a speed-up is foretold."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def _blobs(n: int, d: int, k: int, spread: float = 2.0) -> np.ndarray:
    from sklearn.datasets import make_blobs

    return make_blobs(n, d, centers=k, cluster_std=spread, random_state=0)[0]


def _moons(n: int) -> np.ndarray:
    from sklearn.datasets import make_moons

    return make_moons(n, noise=0.05, random_state=0)[0]


def _recipe(name: str, **settings: Any) -> Callable[[int], Any]:
    def model(k: int) -> Any:
        from clusterkit import recipe

        return recipe(name, **({"n_clusters": k} if k else {}), **settings, random_state=0)

    return model


CASES: dict[str, tuple[Callable[[int], Any], int, Callable[[int], np.ndarray], int]] = {
    "auto": (_recipe("auto"), 0, lambda n: _blobs(n, 5, 6), 20_000),
    "emmc-multi": (_recipe("emmc-multi"), 8, lambda n: _blobs(n, 100, 8, 8.0), 20_000),
    "svc": (_recipe("svc", featuremap={"name": "rbf", "gamma": 20.0}, tuner=None), 0, _moons, 100_000),
    "kmeans": (_recipe("kmeans"), 10, lambda n: _blobs(n, 10, 10, 4.0), 300_000),
    "kmeans-many": (_recipe("kmeans", n_init=1), 256, lambda n: _blobs(n, 128, 256, 8.0), 30_000),
    "hdbscan": (_recipe("hdbscan"), 0, _moons, 300_000),
    "nmf": (_recipe("nmf", solver__max_iter=200), 10, lambda n: np.abs(_blobs(n, 500, 10)), 10_000),
    "equal-clustering": (_recipe("equal-clustering"), 20, _moons, 40_000),
    "spectral": (_recipe("spectral"), 6, lambda n: _blobs(n, 5, 6), 20_000),
    "mixture": (_recipe("mixture"), 8, lambda n: _blobs(n, 20, 8, 6.0), 50_000),
}
"""By name: the model of a number of clusters (0: not given), that number, the rows, how many of them."""


class _Watched:
    """Where the Python threads of this process are, by looks of a thread of its own."""

    def __init__(self) -> None:
        self.looks: list[tuple[float, dict[int, str]]] = []
        self._ends = threading.Event()
        self.thread = threading.Thread(target=self._look, daemon=True)
        self.thread.start()

    def _look(self) -> None:
        while not self._ends.wait(EVERY):
            frames = sys._current_frames()
            ids = {thread.ident: thread.native_id for thread in threading.enumerate()}
            places = {ids.get(ident): _place(frame) for ident, frame in frames.items()}
            self.looks.append((time.monotonic(), {i: place for i, place in places.items() if i}))

    def end(self) -> None:
        self._ends.set()
        self.thread.join()


def _place(frame: Any) -> str:
    """The innermost function of clusterkit that a thread is in, without those of `numerics/threads.py`."""
    while frame is not None:
        name = frame.f_code.co_filename
        if "clusterkit/" in name and not name.endswith("numerics/threads.py"):
            return f"{name.rsplit('clusterkit/', 1)[1]}: {frame.f_code.co_qualname}"
        frame = frame.f_back
    return "outside clusterkit"


def child(case: str, rows: int) -> None:
    """One fit in this process: prints when it began and ended, and where its threads were."""
    import warnings

    warnings.simplefilter("ignore")
    model, k, make, _ = CASES[case]
    X = make(rows)
    model(k).fit(X)  # loads or compiles every function that the fit needs
    fit = model(k)
    watched = _Watched()
    begin, work = time.monotonic(), time.process_time()
    fit.fit(X)
    end, work = time.monotonic(), time.process_time() - work
    watched.end()
    labels = hashlib.sha256(np.ascontiguousarray(fit.labels_, dtype=np.int64).tobytes()).hexdigest()[:12]
    answer = {"begin": begin, "end": end, "work": work, "labels": labels, "skip": watched.thread.native_id}
    print(json.dumps({**answer, "main": threading.main_thread().native_id, "looks": watched.looks}))


Look = dict[int, tuple[bool, int]]
"""By thread: whether it runs or waits for a core, and for how many nanoseconds it has run."""


def _look_at(pid: int) -> Look:
    tasks: Look = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            state = (task / "stat").read_bytes().rpartition(b")")[2].split()[0]
            tasks[int(task.name)] = state == b"R", int((task / "schedstat").read_bytes().split()[0])
    return tasks


def measured(case: str, cores: list[int], rows: int) -> dict[str, Any]:
    """Seconds of one fit on these cores, of the processor too, its labels, and its serial seconds by function."""
    environment = {**os.environ, **dict.fromkeys(THREADS, str(len(cores)))}
    plugins = [str(path) for path in HERE.glob("plugins/*/src")]
    environment["PYTHONPATH"] = os.pathsep.join([str(HERE), *plugins, os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, __file__, "--child", case, "--rows", str(rows)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, env=environment, preexec_fn=lambda: os.sched_setaffinity(0, cores)
    )
    output: list[bytes] = []
    assert process.stdout is not None
    reader = threading.Thread(target=lambda: output.append(process.stdout.read()))  # type: ignore[union-attr]
    reader.start()
    looks: list[tuple[float, Look]] = []
    while reader.is_alive():
        with contextlib.suppress(OSError):
            looks.append((time.monotonic(), _look_at(process.pid)))
        time.sleep(EVERY)
    if process.wait():
        raise SystemExit(f"the fit of {case} on {len(cores)} cores ended with {process.returncode}")
    answer = json.loads(output[0].splitlines()[-1])
    parallel, serial = _shares(looks, answer)
    return {
        "cores": len(cores),
        "seconds": answer["end"] - answer["begin"],
        "work": answer["work"],
        "labels": answer["labels"],
        "parallel": parallel,
        "serial": {place: round(share * answer["work"], 4) for place, share in serial.most_common(8)},
    }


def _shares(looks: list[tuple[float, Look]], answer: dict[str, Any]) -> tuple[float, Counter[str]]:
    """The share of the processor's time with several threads at work, and of the rest by its function."""
    places, at, serial, several, total = answer["looks"], 0, Counter[str](), 0, 0
    for (_, before), (moment, now) in pairwise(looks):
        if not answer["begin"] <= moment <= answer["end"]:
            continue
        used = {task: ran - before.get(task, (True, 0))[1] for task, (_, ran) in now.items()}  # a new one began at 0
        used.pop(answer["skip"], None)
        at_work = [task for task, (runs, _) in now.items() if runs and task in used]
        total += sum(used.values())
        if len(at_work) > 1:
            several += sum(used.values())
            continue
        # a function that holds the interpreter's lock is seen at its end, so the next look tells where it was
        while at < len(places) - 1 and places[at][0] < moment:
            at += 1
        seen = places[at][1] if places else {}
        task = str(at_work[0]) if at_work else ""
        serial[seen.get(task) or seen.get(str(answer["main"]), "outside clusterkit")] += sum(used.values())
    return several / max(1, total), Counter({place: spent / max(1, total) for place, spent in serial.items()})


def _numbers(most: int) -> list[int]:
    numbers = [1]
    while 2 * numbers[-1] < most:
        numbers.append(2 * numbers[-1])
    return sorted({*numbers, most})


def foretold(one: dict[str, Any], two: dict[str, Any], cores: int) -> float:
    """Speed-up on so many cores by the serial part of the work on two."""
    serial = (1 - two["parallel"]) * two["work"]
    return float(one["work"] / (serial + (two["work"] - serial) / cores))


def _line(name: str, runs: list[dict[str, Any]]) -> str:
    best = {run["cores"]: min((r for r in runs if r["cores"] == run["cores"]), key=_seconds) for run in runs}
    one = best[1]["seconds"] if 1 in best else None
    words = [f"{name:18s}"]
    for cores, run in sorted(best.items()):
        faster = f" x{one / run['seconds']:.2f}" if one and cores > 1 else ""
        words.append(f"{cores:>3d}: {run['seconds']:7.3f} s{faster} ({run['parallel']:4.0%} parallel)")
    if one and 2 in best:
        words.append("foretold " + ", ".join(f"x{foretold(best[1], best[2], p):.1f} at {p}" for p in FORETOLD))
    words.append("labels equal" if len({run["labels"] for run in runs}) == 1 else "labels DIFFERENT")
    return "  ".join(words)


def _seconds(run: dict[str, Any]) -> float:
    return float(run["seconds"])


def measure(options: argparse.Namespace) -> None:
    """Print the table, and write a record."""
    from machine import describe

    cores = sorted(os.sched_getaffinity(0))
    names = [name for name in CASES if not options.only or name in options.only]
    begin = time.monotonic()
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    halves: dict[str, float] = {}
    print(describe())
    for turn in range(options.rounds):
        for name in names:
            rows = int(CASES[name][3] * options.scale)
            for number in _numbers(len(cores)):
                expected = 2 * max((run["seconds"] for run in runs[name]), default=0.0)
                if time.monotonic() - begin + expected <= options.seconds:
                    runs[name].append(measured(name, cores[:number], rows))
            if turn == 0 and runs[name] and time.monotonic() - begin + runs[name][0]["seconds"] <= options.seconds:
                halves[name] = measured(name, cores[:1], rows // 2)["work"]
    for name in names:
        if not runs[name]:
            print(f"{name:18s} not measured: no time was left")
            continue
        print(_line(name, runs[name]))
        two = [run for run in runs[name] if run["cores"] == 2]
        if len(cores) == 2 and two:
            for place, seconds in min(two, key=_seconds)["serial"].items():
                print(f"{'':20s}{seconds:7.3f} s serial in {place}")
    if options.record:
        record = json.loads(options.record.read_text(encoding="utf-8")) if options.record.exists() else {}
        for name in names:
            if runs[name]:
                rows = int(CASES[name][3] * options.scale)
                record[name] = {"machine": describe(), "rows": rows, "half": halves.get(name), "runs": runs[name]}
        options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


WORDS = {
    "auto": "blobs of 5 attributes",
    "emmc-multi": "blobs of 100 attributes, k = 8",
    "svc": "two moons, width given",
    "kmeans": "blobs of 10 attributes, k = 10",
    "kmeans-many": "blobs of 128 attributes, k = 256, one start",
    "hdbscan": "two moons",
    "nmf": "500 attributes, k = 10, at most 200 iterations",
    "equal-clustering": "two moons in 20 parts",
    "spectral": "blobs of 5 attributes, k = 6",
    "mixture": "blobs of 20 attributes, k = 8",
}
"""What the page says of the data of a case."""


def page(record: dict[str, Any]) -> str:
    """The two tables of the page."""
    lines = [
        "| recipe | rows | seconds on 1 core | on 2 cores | both at work | faster on 2, 8, 16, foretold |",
        "|---|---|---|---|---|---|",
    ]
    growth = ["| recipe | rows | seconds of the half | of all | exponent |", "|---|---|---|---|---|"]
    serial = ["| recipe | on one core alone, seconds of the processor |", "|---|---|"]
    for name in [name for name in CASES if name in record]:
        case = record[name]
        best = {
            n: min((r for r in case["runs"] if r["cores"] == n), key=lambda r: r["work"], default=None) for n in (1, 2)
        }
        one, two = best[1], best[2]
        if one is None or two is None:
            continue
        ups = ", ".join(f"{foretold(one, two, p):.1f}" for p in FORETOLD)
        where = f"`{name.removesuffix('-many')}`, {WORDS[name]}"
        lines.append(
            f"| {where} | {case['rows']:,} | {one['work']:.2f} | {two['work']:.2f} | {two['parallel']:.0%} | {ups} |"
        )
        places = [f"`{place}` {seconds:.2f}" for place, seconds in two["serial"].items() if seconds >= 0.02][:4]
        serial.append(f"| {where} | {', '.join(places) or 'nothing above 0.02'} |")
        if case["half"]:
            exponent = np.log2(one["work"] / case["half"])
            growth.append(f"| {where} | {case['rows']:,} | {case['half']:.2f} | {one['work']:.2f} | {exponent:.1f} |")
    machines = sorted({case["machine"] for case in record.values()})
    iterations = (
        "Processor seconds on one core. Other rows may need other numbers of iterations, which the exponent includes."
    )
    tables = ["## Cores", *machines, "\n".join(lines), "\n".join(serial), "## Rows", iterations, "\n".join(growth)]
    return "\n\n".join(tables) + "\n"


def thin() -> None:
    """Print median times of EMMC fits of L = n nodes (1,000 at most) with one thread and with all."""
    import statistics

    from threadpoolctl import threadpool_limits

    from clusterkit import recipe
    from clusterkit.numerics import threads

    threads.THIN = 0  # let the limit below decide
    rng = np.random.default_rng(0)
    for n in (200, 360, 1000, 2000, 4000, 8000, 16000, 32000):
        X = rng.normal(size=(n, 30)) + 1.5 * rng.integers(2, size=n)[:, None]
        model = recipe("emmc", n_clusters=2, init="random", random_state=0)
        row = {}
        for limit in (1, None):
            times = []
            with threadpool_limits(limit):
                model.fit(X)
                for _ in range(5):
                    begin = time.perf_counter()
                    model.fit(X)
                    times.append(time.perf_counter() - begin)
            row[limit] = 1000 * statistics.median(times)
        print(f"n = {n}, {n * min(n, 1000):,} elements: one thread {row[1]:.0f} ms, all {row[None]:.0f} ms")


def main() -> None:
    """Run what the options ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300, help="no fit begins that would end later")
    parser.add_argument("--only", nargs="*", default=[], choices=list(CASES), help="methods")
    parser.add_argument("--rounds", type=int, default=3, help="most measurements of each fit")
    parser.add_argument("--scale", type=float, default=1.0, help="factor of the numbers of rows")
    parser.add_argument("--record", type=Path, help="file for the figures, as JSON")
    parser.add_argument("--page", action="store_true", help="write the tables of the page from the record")
    parser.add_argument("--thin", action="store_true", help="one thread against all, by the size of the features")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.rows)
    elif options.thin:
        thin()
    elif options.page:
        before, mark, _ = PAGE.read_text(encoding="utf-8").partition(MARK)
        tables = page(json.loads(options.record.read_text(encoding="utf-8")))
        PAGE.write_text(f"{before}{mark}\n\n{tables}", encoding="utf-8")
    else:
        measure(options)


if __name__ == "__main__":
    main()
