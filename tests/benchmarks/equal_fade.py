"""Equal clustering on generated mixtures with gaps: how far sizes are off after drifting, and after fading.

40,000 rows; the drift has one start of 6,000 iterations, the fading begins at the same random rows.

    uv run python tests/benchmarks/equal_fade.py
    uv run python tests/benchmarks/equal_fade.py --mixtures 1
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from machine import describe

from clusterkit.families.equal.drift import DriftRule, find_parts, random_distinct_rows
from clusterkit.families.equal.fade import fade_weights

CASES = [(2, 8, 20), (2, 20, 20), (2, 8, 10), (2, 8, 5), (8, 8, 10), (8, 8, 5), (2, 5, 20), (8, 8, 20)]
"""Attributes, groups of the mixture, parts."""


def mixture(n: int, d: int, groups: int, seed: int) -> np.ndarray:
    """Round groups of different widths and shares, with gaps between them."""
    rng = np.random.default_rng(seed)
    centres, widths = rng.uniform(-10, 10, (groups, d)), rng.uniform(0.2, 1.0, groups)
    shares = rng.dirichlet(np.full(groups, 2.0))
    group = rng.choice(groups, n, p=shares)
    return centres[group] + rng.normal(size=(n, d)) * widths[group, None]


def main() -> None:
    """Print a line for each mixture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mixtures", type=int, default=3, help="of each kind")
    arguments = parser.parse_args()
    print(describe())
    n = 40_000
    for d, groups, m in CASES:
        for seed in range(arguments.mixtures):
            X, start = mixture(n, d, groups, seed), 100
            drifted = find_parts(X, m, DriftRule(restarts=0), np.random.default_rng(start))
            seeds = X[random_distinct_rows(X, m, np.random.default_rng(start))[0]]
            begin = time.process_time()
            cells = fade_weights(X, seeds, DriftRule().tolerance_for(n, m))
            seconds = time.process_time() - begin
            print(
                f"{d} attributes, {groups} groups, {m} parts of {n // m}: drifting {drifted.imbalance}, "
                f"fading {cells.imbalance}, {seconds:.1f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
