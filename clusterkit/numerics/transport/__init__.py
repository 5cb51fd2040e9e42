"""The transportation problem with k sinks: labels of least total cost under lowest and highest cluster sizes.

It solves ``min_y Σ_i c_{i y_i}`` subject to ``low_j <= |{i : y_i = j}| <= high_j`` exactly, for n rows and k clusters.

- `solve`: the problem as a whole (`solve_transport`): prices from a sample of the rows, then moves with all rows;
- `paths_jit`: the moves, along successive cheapest paths in a graph of k + 1 nodes (`move_along_paths`);
- `heaps_jit`: the heaps of rows that may move, one for each ordered pair of clusters;
- `prices_jit`: dual variables: labels from prices, prices from labels, and the proof of optimality.

Sources: Ahuja, Magnanti, Orlin (1993), Network Flows, section 9.7; Tokuyama, Nakano (1995), Efficient algorithms for
the Hitchcock transportation problem, SIAM J. Comput. 24.
"""
