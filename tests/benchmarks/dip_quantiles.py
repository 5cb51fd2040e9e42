"""Quantiles of √n times the dip of n uniform numbers, the constants of clusterkit/criteria/one_cluster.py.

python tests/benchmarks/dip_quantiles.py [--draws 20000]
"""

from __future__ import annotations

import argparse

import numpy as np

from clusterkit.criteria._criteria_jit import dip
from clusterkit.criteria.one_cluster import SIZES, TAILS


def main(draws):
    for n in SIZES:
        rng = np.random.default_rng(n)
        values = np.array([dip(np.sort(rng.random(n))) for _ in range(draws)]) * np.sqrt(n)
        print(f"    ({', '.join(f'{value:.4f}' for value in np.quantile(values, 1.0 - np.array(TAILS)))}),  # {n}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20_000)
    main(parser.parse_args().draws)
