"""The weight of a flag: how well `Auto` does on generated tables with flags that say something, and that say nothing.

``python tests/benchmarks/flags.py [TABLES] [WEIGHT ...]`` prints the mean adjusted Rand index of each kind of table,
without a number of clusters and with the true one; 8 tables of a kind take a minute of a core a weight.
"""

from __future__ import annotations

import sys
import warnings

import attrs
import numpy as np
from scipy.spatial.distance import pdist

import clusterkit
from clusterkit.metrics import adjusted_rand
from clusterkit.tables import FittedPreparation, Preparation
from clusterkit.tables.preparing.plans import CategoryColumn

KINDS = ("noise", "follow", "overlap", "alone", "mixed", "levels")
"""What the flags say: nothing; the cluster; the cluster where the numbers say it badly; what the numbers do not say;
some of all; and categories that say nothing."""

FOLLOWS = 0.05
"""Share of the rows in which a flag that follows the clusters is drawn at random."""


def table(kind: str, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Columns and clusters of a generated table."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    k, d, n = int(rng.integers(2, 7)), int(rng.integers(2, 7)), int(rng.integers(200, 320))
    if kind == "alone":
        k = 2 * int(rng.integers(1, 4))
    y = rng.integers(0, k, n)
    gap = 3.0 if kind == "overlap" else float(rng.choice([5.0, 8.0, 14.0]))
    in_numbers = y // 2 if kind == "alone" else y
    centres = rng.normal(size=(in_numbers.max() + 1, d))
    while len(centres) > 1 and pdist(centres).min() <= 0.3:
        centres = rng.normal(size=centres.shape)
    if len(centres) > 1:
        centres *= gap / pdist(centres).min()
    X = (centres[in_numbers] + rng.normal(size=(n, d))) * 10.0 ** rng.uniform(-1, 3, size=d)
    columns = {f"x{j}": X[:, j] for j in range(d)}

    def following(values: np.ndarray, names: str) -> np.ndarray:
        random = rng.random(n) < FOLLOWS
        return np.array(list(names))[np.where(random, rng.integers(0, len(names), n), values)]

    for i in range(int(rng.integers(1, 4))):
        halves = rng.permutation(np.arange(k) % 2)
        if kind == "noise" or (kind == "mixed" and i == 0):
            columns[f"noise{i}"] = np.where(rng.random(n) < rng.choice([0.5, 0.3, 0.1]), "y", "n")
        if kind in ("follow", "overlap") or (kind == "mixed" and i == 0):
            columns[f"flag{i}"] = following(halves[y], "ny")
        if kind == "levels" or (kind == "mixed" and i == 0):
            columns[f"shop{i}"] = np.array(list("pqrs"))[rng.integers(0, rng.integers(3, 5), n)]
    if kind == "alone":
        columns["flag"] = following(y % 2, "ny")
    if kind == "mixed":
        columns["town"] = following(y % 4, "abcd")
    return columns, y


def weighted(fitted: FittedPreparation, weight: float) -> FittedPreparation:
    """The preparation with another weight of categories."""
    plans = [attrs.evolve(one, weight=weight) if isinstance(one, CategoryColumn) else one for one in fitted.plans]
    return attrs.evolve(fitted, plans=tuple(plans))


def main(n_tables: int = 8, *weights: float) -> None:
    """Print the index of each kind of table by weight."""
    warnings.simplefilter("ignore")
    weights = weights or (0.1, 0.2, 0.3, 0.4, 0.5)
    print("kind      number", *(f"{weight:>6}" for weight in weights))
    for kind in KINDS:
        scores = np.empty((2, len(weights), n_tables))
        for seed in range(n_tables):
            columns, y = table(kind, seed)
            fitted = Preparation().fit(columns)
            for i, weight in enumerate(weights):
                X = weighted(fitted, weight).transform(columns)
                for j, k in enumerate((None, len(np.unique(y)))):
                    labels = clusterkit.Auto(n_clusters=k, random_state=0).fit_predict(X)
                    scores[j, i, seed] = adjusted_rand(y, labels)
        for number, means in zip(("open", "given"), scores.mean(axis=2), strict=True):
            print(f"{kind:9} {number:6}", *(f"{mean:6.3f}" for mean in means), flush=True)


if __name__ == "__main__":
    main(*(int(text) for text in sys.argv[1:2]), *(float(text) for text in sys.argv[2:]))
