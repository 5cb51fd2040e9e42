"""Labeling all of Shuttle's training rows by ascent, against HDBSCAN on the same rows in the same run.

Rows are min-max scaled. ``svdd``: nu = 0.05 and gamma = qm / (d var), some 2,200 supports. ``lmsvc``: z-scored,
gamma = 0.5, some hundred centres. The domain is made before the clock starts; what is timed is the labelling alone, and
all of HDBSCAN's fit. Both run once before, on few rows, to compile and load.

    uv run python tests/benchmarks/equilibrium.py
    uv run python tests/benchmarks/equilibrium.py --qm 16 --plain

Needs the data set; `CLUSTERKIT_DATA` names the folder.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from clusterkit_papers import datasets
from machine import describe
from sklearn.cluster import HDBSCAN

from clusterkit.contracts import Task
from clusterkit.contracts.outcomes import KernelDomain
from clusterkit.families.support_vectors.basins import Equilibrium
from clusterkit.families.support_vectors.level_sets.equilibria import Ascent, find_basins
from clusterkit.families.support_vectors.lmsvc import Lmsvc
from clusterkit.families.support_vectors.svdd import Svdd
from clusterkit.numerics.threads import available
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian

TRAINING_ROWS = 43_500


def shuttle() -> np.ndarray | None:
    """The training rows, or None without the data."""
    try:
        return np.asarray(datasets.load("shuttle").data[:TRAINING_ROWS], dtype=float)
    except datasets.DatasetNotFound as missing:
        print(f"skipped: {missing}")
        return None


def domain_of(solver: object, X: np.ndarray, gamma: float) -> KernelDomain:
    """The solver's domain of all rows."""
    space = KernelSpace(X, Gaussian(gamma))
    begin = time.perf_counter()
    prepared = solver.prepare(space, Task(len(X), None), np.random.default_rng(0))
    domain = prepared.solve(None, None, np.random.default_rng(0))
    print(f"  domain: {len(domain.centres)} centres, {domain.status.reason}, {time.perf_counter() - begin:.1f} s")
    return domain


def label(labeler: object, domain: KernelDomain, X: np.ndarray) -> float:
    """Seconds of a labelling."""
    begin = time.perf_counter()
    labeling = labeler.label(domain, KernelSpace(X, domain.kernel), Task(len(X), None), np.random.default_rng(0))
    seconds = time.perf_counter() - begin
    facts = labeling.predict.facts
    print(
        f"  {labeler.name} {getattr(labeler, 'start', '')}: {seconds:.2f} s, {labeling.labels.max() + 1} clusters of "
        f"{facts['equilibria']} equilibria; {facts['starts']} starts, {facts['steps'] / facts['starts']:.1f} steps a "
        f"start, {100 * facts['caught'] / facts['starts']:.1f} % ended in certified balls"
    )
    return seconds


def hdbscan(X: np.ndarray) -> float:
    """Seconds of HDBSCAN."""
    begin = time.perf_counter()
    labels = HDBSCAN(min_cluster_size=50, copy=False).fit_predict(X)
    seconds = time.perf_counter() - begin
    print(f"  HDBSCAN(min_cluster_size=50): {seconds:.2f} s, {labels.max() + 1} clusters")
    return seconds


def plain(domain: KernelDomain, X: np.ndarray) -> None:
    """Every ascent to its end."""
    ascent = Ascent.of(domain, "benchmark", tol=1e-7, merge=1e-3, max_iter=10_000)
    rows = ascent.scaled(X)
    quick = find_basins(ascent, rows, "benchmark")
    begin = time.perf_counter()
    slow = find_basins(ascent, rows, "benchmark", certify=False)
    pairs = np.unique(np.stack([quick.of_start, slow.of_start]), axis=1).shape[1]
    same = pairs == len(quick.points) == len(slow.points)
    print(
        f"  without balls: {time.perf_counter() - begin:.2f} s, {slow.steps / len(rows):.1f} steps a start, "
        f"partitions {'equal' if same else 'DIFFERENT'}"
    )


def main() -> None:
    """Print times and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--qm", type=float, nargs="+", default=[1.0], help="gamma in units of 1 / (d var)")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--plain", action="store_true", help="also ascend without certified balls, and compare")
    options = parser.parse_args()
    print(describe(), f"threads {available()}", sep="; ")
    X = shuttle()
    if X is None:
        return
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    hdbscan(scaled[:2000])
    cases = [(f"svdd, qm = {qm:g}", Svdd(nu=0.05), scaled, qm / (X.shape[1] * scaled.var())) for qm in options.qm]
    cases.append(("lmsvc, z-scored, gamma = 0.5", Lmsvc(C=8.0), standard, 0.5))
    for title, solver, rows, gamma in cases:
        print(title)
        domain = domain_of(solver, rows, gamma)
        for labeler in (Equilibrium(), Equilibrium(start="cover")):
            label(labeler, domain, rows[::100])
        ratios = []
        for _ in range(options.repeats):
            ratios.append(label(Equilibrium(), domain, rows) / hdbscan(rows))
        print(f"  ratio to HDBSCAN: median {np.median(ratios):.2f} of {np.round(ratios, 2).tolist()}")
        label(Equilibrium(start="strip"), domain, rows)
        label(Equilibrium(start="cover"), domain, rows)
        if options.plain:
            plain(domain, rows)


if __name__ == "__main__":
    main()
