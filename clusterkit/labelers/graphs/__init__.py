"""Labelers that join samples by segments inside a domain.

Samples x_i, x_j with ``g(x) >= level`` are joined if ``g(x_i + k / (m + 1) (x_j - x_i)) >= level`` for k = 1..m, where
m is the parameter `n_segment_points`; clusters are the connected components. The labelers differ in the pairs tested:

* `complete_graph.py`: all pairs. Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, JMLR 2.
* `support_graph.py`: pairs with a support vector at one end.
* `proximity.py`: pairs of neighbours, whose edges (spanning tree, Delaunay triangulation, nearest neighbours) are
  found in `_proximity_edges_jit.py`. Both from Yang, Estivill-Castro, Chalup (2002), Proc. ICONIP.
* `_labeling.py`: what they have in common.

The segment test and the search for components are in `clusterkit.level_sets.segment_test`.
"""
