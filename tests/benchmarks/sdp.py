"""The semidefinite programs of the plugin clusterkit-sdp by size and conic solver.

Two blobs (centres ±2, standard deviation 0.7), two moons (noise 0.05), and four blobs on a circle (radius 3, standard
deviation 0.7) for `mmc_multi_sdp`; Gaussian kernel of a fixed fraction of the largest distance. The time is the
solver's with cvxpy's setting up. Clarabel runs only up to the sizes given by ``--clarabel-mmc``, ``--clarabel-gmmc``
and ``--clarabel-multi``. ``gmmc`` is the core's solver of the same program as ``gmmc_sdp``.

    uv run python tests/benchmarks/sdp.py
    uv run python tests/benchmarks/sdp.py --sizes 20 40 --memory
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from machine import describe, peak, reset_peak
from sklearn.datasets import make_moons

from clusterkit.contracts import Solver, Task
from clusterkit.families.margins.gmmc import Gmmc
from clusterkit.families.shared.band import Band
from clusterkit.families.shared.rbf import Rbf
from clusterkit.metrics import clustering_accuracy


def blobs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two blobs, one label each."""
    y = np.arange(n) % 2
    X = np.random.default_rng(0).normal(0.0, 0.7, (n, 2))
    X[:, 0] += np.where(y, 2.0, -2.0)
    return X, y


def circle(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Four blobs on a circle, one label each."""
    y = np.arange(n) % 4
    centres = 3.0 * np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    return centres[y] + np.random.default_rng(0).normal(0.0, 0.7, (n, 2)), y


def row(solver: Solver, X: np.ndarray, y: np.ndarray, fraction: float, memory: bool) -> None:
    """Solve and print a line."""
    n, k, rng = len(X), int(y.max()) + 1, np.random.default_rng(0)
    space = Rbf(sigma_fraction=fraction).space_of(X, Task(len(X), None), rng)
    slack = 0.03 * n
    limit = max(n % 2, int(slack) - (int(slack) - n) % 2)  # the largest balance of that parity
    bounds = (np.full(2, (n - limit) / 2), np.full(2, (n + limit) / 2)) if k == 2 else Band().bounds(n, k)
    before = reset_peak() if memory else 0
    begin = time.perf_counter()
    outcome = solver.prepare(space, Task(n, k, bounds), rng).solve(None, None, rng)
    seconds = time.perf_counter() - begin
    facts = outcome.status.facts
    labels = (outcome.rows[:, 0] > 0).astype(int) if k == 2 else outcome.rows.argmax(axis=1)
    accuracy = clustering_accuracy(y, labels)
    print(
        f"{solver.name:13} {facts.get('solver', facts.get('method', '')):9} {n:4} {fraction:5g} {seconds:8.2f} "
        f"{outcome.status.n_iter:6} {facts['value']:9.4f} {facts['bound']:9.4f} {facts['rounded']:9.4f} "
        f"{facts['tightness']:6.3f} {accuracy:6.3f}"
        + (f" {(peak() - before) / 2**20:8.0f}" if memory else "")
        + ("" if outcome.status.converged else f"  {outcome.status.reason}"),
        flush=True,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 40, 60, 80, 100])
    parser.add_argument("--clarabel-mmc", type=int, default=40)
    parser.add_argument("--clarabel-gmmc", type=int, default=80)
    parser.add_argument("--moons", type=int, default=60, help="largest size of the moons")
    parser.add_argument("--clarabel-multi", type=int, default=30)
    parser.add_argument("--memory", action="store_true", help="also the peak of the resident memory, in MiB (Linux)")
    options = parser.parse_args()
    try:
        import cvxpy
        from clusterkit_sdp.gmmc_sdp import GmmcSdp
        from clusterkit_sdp.mmc_multi_sdp import MmcMultiSdp
        from clusterkit_sdp.mmc_sdp import MmcSdp
    except ImportError as missing:
        print(f"skipped: {missing}; install ./plugins/clusterkit-sdp")
        return
    print(describe(), f"cvxpy {cvxpy.__version__}", sep="; ")
    head = f"{'solver':13} {'by':9} {'n':>4} {'width':>5} {'seconds':>8} {'iter':>6} {'value':>9} {'bound':>9}"
    head += f" {'rounded':>9} {'tight':>6} {'acc':>6}" + (f" {'MiB':>8}" if options.memory else "")
    row_of = {
        "blobs": lambda n: (*blobs(n), 0.2),
        "moons": lambda n: (*make_moons(n, noise=0.05, random_state=0), 0.05),
    }
    for data, made in row_of.items():
        print(f"{data}\n{head}")
        for n in options.sizes:
            if data == "moons" and n > options.moons:
                continue
            X, y, fraction = made(n)
            tried: list[Solver] = [MmcSdp(max_size=n, solver="SCS")]
            tried += [MmcSdp(max_size=n, solver="CLARABEL")] if n <= options.clarabel_mmc else []
            tried += [GmmcSdp(max_size=n, solver="SCS")]
            tried += [GmmcSdp(max_size=n, solver="CLARABEL")] if n <= options.clarabel_gmmc else []
            for solver in [*tried, Gmmc()]:
                row(solver, X, y, fraction, options.memory)
    print(f"circle\n{head}")
    for n in options.sizes:
        X, y = circle(n)
        for name in ("SCS", *(["CLARABEL"] if n <= options.clarabel_multi else [])):
            row(MmcMultiSdp(max_size=n, solver=name), X, y, 0.3, options.memory)


if __name__ == "__main__":
    main()
