"""What fills gaps: how well `Auto`, without a number of clusters, finds the clusters of tables with gaps at random.

``python tests/benchmarks/gaps.py [TABLES]`` prints the mean adjusted Rand index of each kind of table for the table
without gaps and each way to fill them; 10 tables of a kind take about a minute of a core a way. The second line of a
kind has the tables whose clusters are found where there are no gaps.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.spatial.distance import pdist
from sklearn.experimental import enable_iterative_imputer  # noqa: F401 # scikit-learn asks for it
from sklearn.impute import IterativeImputer
from sklearn.preprocessing import StandardScaler

import clusterkit
from clusterkit.metrics import adjusted_rand
from clusterkit.tables import Preparation

KINDS = ("numbers", "two numbers", "with a category", "two and a category")
"""Three to eight numbers, or two, and a category that says nothing beside them, or none."""

CLEAR = 0.95
"""Index without gaps from which a table is clear; the others, such as those that the category divides, show little."""

Columns = dict[str, np.ndarray]


def table(kind: str, seed: int) -> tuple[Columns, Columns, np.ndarray]:
    """Columns without and with gaps, and clusters, of a generated table."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    d = 2 if kind.startswith("two") else int(rng.integers(3, 9))
    k, n, share = int(rng.integers(2, 7)), int(rng.integers(200, 400)), rng.uniform(0.02, 0.2)
    centres = rng.uniform(-10, 10, size=(k, d))
    while pdist(centres).min() < 7:
        centres = rng.uniform(-10, 10, size=(k, d))
    y = rng.permutation(np.arange(n) % k)
    X = (centres[y] + rng.normal(size=(n, d))) * 10.0 ** rng.integers(0, 4, d)
    whole: Columns = {f"x{j}": X[:, j] for j in range(d)}
    if kind.endswith("category"):
        whole["town"] = rng.choice(np.array(["Ulm", "Bonn", "Köln"], dtype=object), n)
    holes = {name: rng.random(n) < share for name in whole}
    gaps = {name: pd.Series(values).mask(holes[name]).to_numpy() for name, values in whole.items()}
    return whole, gaps, y


def by_regression(columns: Columns) -> Columns:
    """Numbers predicted by all other numbers, iterated as in chained equations; the category as it is."""
    numbers = {name: values for name, values in columns.items() if name != "town"}
    scaler = StandardScaler().set_output(transform="default")
    X = IterativeImputer(random_state=0).fit_transform(scaler.fit_transform(np.column_stack(list(numbers.values()))))
    return {**columns, **dict(zip(numbers, scaler.inverse_transform(X).T, strict=True))}


def with_indicators(columns: Columns) -> Columns:
    """A flag for the gaps of each column beside it."""
    flags = {f"{name} is missing": pd.Series(values).isna().to_numpy() for name, values in columns.items()}
    return {**columns, **{name: flag for name, flag in flags.items() if flag.any()}}


WAYS: dict[str, tuple[str, Callable[[Columns], Columns]]] = {
    "mean": ("typical", lambda columns: columns),
    "indicator": ("typical", with_indicators),
    "regression": ("typical", by_regression),
    "similar": ("similar", lambda columns: columns),
}
"""What the preparation does with gaps, and what is done before."""


def index(columns: Columns, gaps: str, y: np.ndarray) -> float:
    """The adjusted Rand index of the clusters that `Auto` finds."""
    model = clusterkit.Auto(random_state=0, preparation=Preparation(gaps=gaps)).fit(pd.DataFrame(columns))
    return adjusted_rand(y, model.labels_)


def main(arguments: list[str]) -> int:
    """Print a line for each kind of table."""
    tables = int(arguments[0]) if arguments else 10
    warnings.simplefilter("ignore")
    print("| | no gaps |", " | ".join(WAYS), "|")
    for kind in KINDS:
        rows = []
        for seed in range(tables):
            whole, gaps, y = table(kind, seed)
            rows.append([index(whole, "typical", y), *(index(change(gaps), how, y) for how, change in WAYS.values())])
        scores = np.array(rows)
        clear = scores[scores[:, 0] >= CLEAR]
        for name, its in ((kind, scores), (f"{kind}, the {len(clear)} clear ones", clear)):
            means = its.mean(axis=0) if len(its) else np.full(scores.shape[1], np.nan)
            print(f"| {name} |", " | ".join(f"{value:.2f}" for value in means), "|", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
