"""Minimum spanning trees of points: Euclidean, and of mutual reachability distances.

The tree joins all n rows by n - 1 edges of least total weight ``w(i, j) = max(|x_i - x_j|, core_i, core_j)``, where
``core_i`` is the distance of row i to its n_neighbors-th nearest row, itself counted as the first.

- `tree`: the tree of a table of points (`minimum_spanning_tree`), where equal rows hang in it, masses of its edges
  (`edge_masses`), and the nearest row by mutual reachability for new rows;
- `reach_jit`: the compiled loops of that search, Prim's algorithm, which looks at all pairs, for few rows (`prim`), and
  the tree of a distance matrix;
- `boruvka`, `boruvka_jit`: Borůvka's algorithm in rounds of parallel tasks, for many rows, and the k-th smallest of
  some numbers;
- `kd_tree_jit`: the k-d tree and its search;
- `core_distances_jit`: core distances, those of two columns, and nearest neighbours in the k-d tree.

Sources: Prim (1957), Shortest connection networks and some generalizations, Bell System Technical Journal 36(6);
Borůvka (1926), O jistém problému minimálním; Campello, Moulavi, Zimek, Sander (2015), Hierarchical density estimates
for data clustering, visualization, and outlier detection, ACM Transactions on Knowledge Discovery from Data 10(1).
"""
