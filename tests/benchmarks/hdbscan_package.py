"""The clusters of recipe `hdbscan` beside those of the packages hdbscan and fast_plscan: ``hdbscan_package.py [200]``.

Each of so many generated sets is fitted at several settings of the choice of clusters. Printed are the sets on which
the partitions are equal: of two fits, with the least adjusted Rand index of the others, and of one tree. In that tree
no two edges have the same length, because of merges of equal height the package takes one after the other, in an order
of its own. With fast_plscan, layers are compared on such a tree as well.
"""

from __future__ import annotations

import argparse
import importlib.util
import warnings

import numpy as np

SETTINGS = {
    "excess": {},
    "leaf": {"cluster_selection_method": "leaf"},
    "epsilon": {"cluster_selection_epsilon": 0.8},
    "leaf, epsilon": {"cluster_selection_method": "leaf", "cluster_selection_epsilon": 0.8},
    "max_cluster_size": {"max_cluster_size": 60},
    "allow_single_cluster": {"allow_single_cluster": True},
    "single, epsilon": {"allow_single_cluster": True, "cluster_selection_epsilon": 0.8},
    "leaf, single": {"cluster_selection_method": "leaf", "allow_single_cluster": True},
}
"""Settings by their names in the package."""


def rows(seed):
    """Some groups of different sizes and spreads, some inside others, and noise."""
    rng = np.random.default_rng(seed)
    count = rng.integers(1, 6)
    parts = [
        rng.normal(size=(rng.integers(20, 90), 2)) * rng.choice([0.2, 0.5, 1.0]) + rng.uniform(-6, 6, 2)
        for _ in range(count)
    ]
    return np.concatenate([*parts, rng.uniform(-8, 8, (rng.integers(5, 40), 2))])


def translated(setting):
    """The parameters of the labeler for a setting of the package."""
    names = {
        "cluster_selection_method": "selection",
        "cluster_selection_epsilon": "epsilon",
        "max_cluster_size": "max_cluster_size",
        "allow_single_cluster": "allow_single_cluster",
    }
    words = {"leaf": "leaf", "eom": "excess"}
    return {names[key]: words.get(value, value) if isinstance(value, str) else value for key, value in setting.items()}


def untied(X, k):
    """Edges and lengths of the spanning tree, with equal lengths made different by their places."""
    from clusterkit.numerics.spanning_trees.tree import minimum_spanning_tree

    tree = minimum_spanning_tree(X, k)
    lengths = tree.weights * (1.0 + 1e-9 * np.arange(len(tree.weights)))
    return tree.edges, np.maximum.accumulate(lengths)


def same(one, other):
    """Whether two labellings are one partition with the same noise."""
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    return len(pairs) == len(set(one.tolist())) == len(set(other.tolist())) and ((one < 0) == (other < 0)).all()


def of_tree(edges, lengths, n, size, setting):
    """Labels of the package and of this library for one tree."""
    from hdbscan._hdbscan_linkage import label
    from hdbscan.hdbscan_ import _tree_to_labels

    from clusterkit.families.trees.hierarchy_jit import excess_of_mass, hierarchy

    linkage = label(np.column_stack([edges, lengths]).astype(np.float64))
    theirs = _tree_to_labels(np.zeros((n, 2)), linkage, size, **{"max_cluster_size": 0, **setting})[0]
    ours = translated(setting)
    taken = excess_of_mass(
        hierarchy(edges, lengths), n, size, ours.get("allow_single_cluster", False),
        leaves=ours.get("selection") == "leaf", epsilon=ours.get("epsilon", 0.0),
        max_cluster_size=ours.get("max_cluster_size"),
    )  # fmt: skip
    return np.asarray(theirs), taken.owner


def compare(count):
    """Print, for each setting, on how many sets the partitions are equal, and the seeds of the others."""
    import hdbscan
    from sklearn.metrics import adjusted_rand_score

    from clusterkit import recipe

    for title, setting in SETTINGS.items():
        fits, least, other_trees = 0, 1.0, []
        for seed in range(count):
            X, k = rows(seed), 2 + seed % 6
            package = hdbscan.HDBSCAN(min_cluster_size=8, min_samples=k - 1, approx_min_span_tree=False, **setting).fit(
                X
            )
            labeler = {f"labeler__{name}": value for name, value in translated(setting).items()}
            model = recipe("hdbscan", solver__n_neighbors=k, labeler__min_cluster_size=8, **labeler).fit(X)
            if same(package.labels_, model.labels_):
                fits += 1
            else:
                least = min(least, adjusted_rand_score(package.labels_, model.labels_))
            if not same(*of_tree(*untied(X, k), len(X), 8, setting)):
                other_trees.append(seed)
        print(
            f"{title:22} fits equal on {fits} of {count} (least index {least:.3f}), one tree on "
            f"{count - len(other_trees)} (others: {other_trees[:8]})",
            flush=True,
        )


def layers(count):
    """Print on how many sets the layers of one tree are those of fast_plscan: sizes, and partitions."""
    from fast_plscan import PLSCAN

    from clusterkit.families.trees.layers import persistent_cuts

    others, total = [], 0
    for seed in range(count):
        edges, _ = untied(rows(seed), 5)
        lengths = np.arange(1.0, len(edges) + 1)  # persistence over sizes follows from the order; theirs is float32
        n = len(edges) + 1
        theirs = (
            PLSCAN(min_samples=5, metric="precomputed").fit((np.column_stack([edges, lengths]), n)).cluster_layers()
        )
        ours = persistent_cuts(edges, lengths, 5, 1000)[::-1]
        total += len(theirs)
        fine = len(ours) == len(theirs) and all(
            same(np.asarray(labels), cut.labels) for (_, labels, _), cut in zip(theirs, ours, strict=True)
        )
        if not fine:
            others.append((seed, [float(t[0]) for t in theirs], [cut.least for cut in ours]))
    print(f"{'layers':22} equal on {count - len(others)} of {count} sets, {total} layers (others: {others[:6]})")


def main():
    """Compare, or print references."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("count", nargs="?", type=int, default=200)
    arguments = parser.parse_args()
    compare(arguments.count)
    if importlib.util.find_spec("fast_plscan"):
        layers(arguments.count)


if __name__ == "__main__":
    main()
