"""Numerical functions on plain arrays: the lowest layer.

It imports nothing of clusterkit but `_jit` and `_typing`; the core and every stage may use it. Modules whose name ends
in ``_jit`` are compiled by numba; stages import them inside their functions, so that ``import clusterkit`` does not
load numba.

- `distances`, `gaussian_jit`, `near_jit`, `exponential_jit`: squared distances ``|a - b|²`` and sums of Gaussian
  kernels ``Σ_s w_s exp(-gamma |x_s - y|²)``, exact or without the terms that are too small to matter;
- `sparse_rows`, `selection`: matrices that are mostly zeros, and equal rows of a matrix;
- `lloyd`, `losses`, `min_max_jit`, `disjoint_jit`: k-means, sums of losses over sorted scores, minimum and maximum over
  the modules of a classifier, disjoint sets;
- `triangles`: symmetric and triangular matrices as half as many numbers;
- `row_samples`: random samples of rows;
- `threads`: rows divided among threads;
- `spanning_trees`: the minimum spanning tree of points, Euclidean and of mutual reachability distances;
- `transport`: labels of least total cost under bounds on the cluster sizes, ``min Σ_i c_{i y_i}``;
- `equal_size`: centres that move until about the same number of rows is nearest to each of them.
"""
