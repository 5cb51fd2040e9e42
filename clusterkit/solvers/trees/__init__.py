"""Solvers that span a tree over the samples.

`mst` minimises ``Σ w(i, j)`` over the n - 1 edges (i, j) of a tree that joins all samples, with
``w(i, j) = max(|x_i - x_j|, core_i, core_j)``. Labelers of the family `trees` read clusters from it.

mst.py
    The solver; the tree is found by `minimum_spanning_tree` in numerics/spanning_trees/tree.py.

Sources: Gower, Ross (1969), Minimum spanning trees and single linkage cluster analysis; Campello, Moulavi, Zimek,
Sander (2015), Hierarchical density estimates for data clustering, visualization, and outlier detection.
"""
