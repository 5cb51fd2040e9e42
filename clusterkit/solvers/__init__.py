"""Solvers: from a space and the current labels to scores, an embedding, or a domain.

One package per family of problems; each package docstring states the problem and names the file of its mathematics.

one_class
    Balls around the data in the space of a kernel: svdd, psvdd, lmsvc, subsampled.
factorisation
    Nonnegative factorisations: nmf, convex_nmf.
means
    Class means and memberships: centroids (k-means), fuzzy_cmeans.
regression
    Regression and classification of the current labels: ridge (EMMC), svm, svr.
cutting_plane
    Maximum margin clustering by cutting planes: cpmmc, cpm3c.
max_cut
    Maximum margin clustering as a maximum cut: gmmc.
graph
    Graphs of neighbours: ncut, lapgmm.
equal_size
    Clusters of equal size: equal, geoclust.
mixtures
    Mixtures of columns of several kinds, with a role for each column: mixed_mixture.
trees
    Spanning trees: mst.

>>> from clusterkit.solvers import Ridge
>>> Ridge(C=2.0).name
'ridge'

The classes load on first use. Type checkers know them by their own modules, for example
``from clusterkit.solvers.regression.ridge import Ridge``.
"""

from __future__ import annotations


def __getattr__(name: str) -> object:
    from clusterkit.contracts.registry import built_in_class

    return built_in_class("solver", name, __name__)


def __dir__() -> list[str]:
    from clusterkit.contracts.registry import built_in_class_names

    return built_in_class_names("solver")
