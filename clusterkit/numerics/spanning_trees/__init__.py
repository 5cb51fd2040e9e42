"""Minimum spanning trees of points: Euclidean, and of mutual reachability distances.

The tree joins all n rows by n - 1 edges of least total weight ``w(i, j) = max(|x_i - x_j|, core_i, core_j)``, where
``core_i`` is the distance of row i to its n_neighbors-th nearest row, itself counted as the first.

- `tree`: the tree of a table of points (`minimum_spanning_tree`), and where equal rows hang in it;
- `prim_jit`: Prim's algorithm, which looks at all pairs, for few rows;
- `boruvka`, `boruvka_jit`: Borůvka's algorithm in rounds of parallel tasks, for many;
- `slabs_jit`: bounds between the few components of its last rounds;
- `kd_tree_jit`, `descent_jit`, `neighbours_jit`: the k-d tree, its search, and nearest neighbours in it;
- `core_distances_jit`, `gathered_jit`, `selection_jit`: core distances, those of two columns, and the k-th smallest of
  some numbers;
- `hierarchy_jit`, `excess_of_mass_jit`: merges of equal height as one node, and HDBSCAN's clusters;
- `mass`, `mass_jit`: masses of the edges, from how long the clusters last that they join; `genie_jit`: Genie's rule;
- `reach`, `reach_jit`: the nearest row by mutual reachability, for new rows.

Sources: Prim (1957), Shortest connection networks and some generalizations, Bell System Technical Journal 36(6);
Borůvka (1926), O jistém problému minimálním; Campello, Moulavi, Zimek, Sander (2015), Hierarchical density estimates
for data clustering, visualization, and outlier detection, ACM Transactions on Knowledge Discovery from Data 10(1).
"""
