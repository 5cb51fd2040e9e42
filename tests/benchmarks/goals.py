"""Times with a goal that a test once asserted: balancing many samples, and how soon Ctrl-C ends a semidefinite program.

    uv run python tests/benchmarks/goals.py [balance] [interrupt]

Prints one line for each and exits with 1 if a goal is missed. `interrupt` needs the plugin clusterkit-sdp.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import numpy as np
from machine import describe


def balance() -> list[tuple[str, float, float]]:
    """`band` on 100,000 samples and `ordinal` on 20,000: what is timed, CPU seconds, the goal."""
    from clusterkit.contracts import CostTable, Task
    from clusterkit.families.shared.band import Band, Ordinal
    from clusterkit.families.shared.codecs import Interval
    from clusterkit.fitting.label_iterations import balanced_by

    rng, n = np.random.default_rng(0), 100_000
    rows = []
    for k in (2, 10):
        costs, labels = rng.normal(size=(n, k)), np.zeros(n, dtype=int)
        begin = time.process_time()
        balanced_by(Band(slack=0), CostTable(costs, labels), Task(n, k))
        rows.append((f"band, n = {n}, k = {k}", time.process_time() - begin, 2.0))
    n, k = 20_000, 4
    costs = Interval().costs(rng.normal(size=(n, 1)), k)
    begin = time.process_time()
    balanced_by(Ordinal(slack=200), CostTable(costs), Task(n, k))
    rows.append((f"ordinal, n = {n}, k = {k}", time.process_time() - begin, 3.0))
    return rows


def interrupt() -> list[tuple[str, float, float]]:
    """Seconds from Ctrl-C to the end of `mmc_sdp` by SCS and `gmmc_sdp` by Clarabel on 70 samples."""
    from clusterkit_sdp.gmmc_sdp import GmmcSdp
    from clusterkit_sdp.mmc_sdp import MmcSdp

    from clusterkit.contracts import Task
    from clusterkit.families.shared.rbf import Rbf

    rng, n = np.random.default_rng(0), 70
    X = rng.normal(size=(n, 2)) + 4.0 * (np.arange(n) % 2)[:, None]
    task = Task(n, 2, (np.full(2, n // 2), np.full(2, n // 2)))
    rows = []
    for solver in (MmcSdp(tol=1e-12), GmmcSdp(solver="CLARABEL", tol=1e-14)):
        prepared = solver.prepare(Rbf(gamma=0.05).space_of(X, task, rng), task, rng)
        pressed: list[float] = []

        def press(pressed: list[float] = pressed) -> None:
            time.sleep(1.5)
            pressed.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=press).start()
        try:
            prepared.solve(None, None, rng)
        except KeyboardInterrupt:
            rows.append((f"Ctrl-C in {solver.name}", time.perf_counter() - pressed[0], 3.0))
    return rows


def main() -> int:
    """Print the times; 1 if a goal is missed."""
    print(describe())
    parts = {"balance": balance, "interrupt": interrupt}
    missed = 0
    for name in sys.argv[1:] or parts:
        for title, seconds, goal in parts[name]():
            missed += seconds > goal
            print(f"{title}: {seconds:.3f} s (goal: <= {goal:g} s){' MISSED' if seconds > goal else ''}")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
