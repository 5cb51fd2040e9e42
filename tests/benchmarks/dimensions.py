"""How much the separation in the tree should count in many attributes, where `auto` is given the number of clusters.

    python tests/benchmarks/dimensions.py [--sets 40]

Mean adjusted Rand index on generated sets in 3 to 50 attributes, by kind, of three rules: the separation counts the
same everywhere, 2/D with D the number of attributes (2 to 5), and 2/D with D the number of principal components that
hold 99 % of the variance, which is the rule of `clusterkit.criteria.rules`. Beside them the best candidate and the
mixture of Gaussians. The constants come from these sets; `--first` takes others.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from auto import score
from right_numbers import sets_of
from structures import generated

from clusterkit import Auto
from clusterkit.criteria import rules
from clusterkit.criteria.likelihood import CompletedLikelihood
from clusterkit.drivers import auto

LAWS = ("t", "gamma", "unlike scales", "Laplace")


def laws(seed):
    """Two to six clusters of a law in 3 to 10 attributes, each with axes of its own, near enough to overlap."""
    rng = np.random.default_rng([seed, 91])
    law = LAWS[seed % len(LAWS)]
    d, k = int(rng.choice([3, 4, 5, 7, 10])), int(rng.integers(2, 7))
    total = int(np.exp(rng.uniform(np.log(150), np.log(1000))))
    shares = np.exp(rng.uniform(np.log(0.2), 0, k))
    sizes = np.maximum(25, np.round(total * shares / shares.sum())).astype(int)
    gap = rng.uniform(2.2, 4.5)
    centres = rng.standard_normal((k, d))
    centres *= gap / np.sqrt(2) * rng.uniform(0.8, 1.3, (k, 1)) / np.linalg.norm(centres, axis=1, keepdims=True)
    parts = []
    for centre, size in zip(centres, sizes, strict=True):
        if law == "t":
            Z = rng.standard_normal((size, d)) / np.sqrt(rng.chisquare(4, (size, 1)) / 4)
        elif law == "gamma":
            Z = (rng.gamma(3, 1, (size, d)) - 3) / np.sqrt(3)
        elif law == "Laplace":
            Z = rng.laplace(size=(size, d)) / np.sqrt(2)
        else:
            Z = rng.standard_normal((size, d))
        axes = np.linalg.qr(rng.standard_normal((d, d)))[0] * np.exp(rng.uniform(-0.9, 0.2, d))
        parts.append(Z @ axes.T + centre)
    X = np.concatenate(parts)
    return law, X / X.std(axis=0), np.repeat(np.arange(k), sizes)


def sheets(seed):
    """A set of the plane, laid into 3 to 9 attributes with thin noise."""
    _, X, y = generated(seed)
    rng = np.random.default_rng([seed, 5])
    d = int(rng.choice([3, 4, 6, 9]))
    if X.shape[1] != 2:
        return None
    X = X / X.std(axis=0).mean()
    X = X @ np.linalg.qr(rng.standard_normal((d, 2)))[0].T
    return "sheets", X + rng.choice([0.02, 0.05]) * rng.standard_normal(X.shape), y


def sets(count, first):
    """Kind, rows and classes of the sets with more than two attributes."""
    for seed in range(5 * count):
        yield generated(first + seed)
    for seed in range(3 * count):
        _, X, y = generated(10 * (first + 300 + seed) + 1)
        yield "overlap", X, y
    for _, X, y in sets_of(2 * count, first):
        yield "blobs", X, y
    for seed in range(4 * count):
        yield laws(first + seed)
    for seed in range(3 * count):
        sheet = sheets(first + 1000 + seed)
        if sheet is not None:
            yield sheet


def row(X, y):
    """Index of each rule, of the best candidate and of the mixture."""
    seen = {}
    original = auto.Choice.of

    def watching(candidates, terrain, stability, *, known):
        seen.update(candidates=candidates, choice=original(candidates, terrain, stability, known=known))
        return seen["choice"]

    auto.Choice.of = watching
    Auto(len(np.unique(y[y >= 0])), random_state=0).fit(X)
    auto.Choice.of = original
    terms = seen["choice"].ranking.terms
    index = np.array([score(y, candidate.labels) for candidate in seen["candidates"]])
    rest = rules.ENTROPY_WEIGHT * terms["entropy"] + rules.LIKELIHOOD_WEIGHT * terms["likelihood"]
    values = []
    for D in (2, min(X.shape[1], 5), max(2, CompletedLikelihood.of(X).dimension)):
        values.append(index[np.argmax(2 / D * terms["separation"] + rest)])
    mixture = [i for i, candidate in enumerate(seen["candidates"]) if candidate.member.name == "mixture"]
    return [*values, index.max(), index[mixture[0]] if mixture else values[0]]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = {}
    for kind, X, y in sets(options.sets, options.first):
        if X.shape[1] > 2:
            tables.setdefault(kind, []).append(row(X, y))
    print(f"{'kind':16s} sets   same  attributes  components   best  mixture")
    tables["all"] = [one for rows in tables.values() for one in rows]
    for kind, rows in tables.items():
        same, attributes, components, best, mixture = np.mean(rows, axis=0)
        print(f"{kind:16s} {len(rows):4d}  {same:.4f}  {attributes:.4f}  {components:.4f}  {best:.4f}  {mixture:.4f}")


if __name__ == "__main__":
    main()
