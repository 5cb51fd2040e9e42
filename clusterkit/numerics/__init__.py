"""Numerical functions on plain arrays, below everything that knows stages or samples.

Modules whose name ends in ``_jit`` are compiled by numba; stages import them inside their functions, so that
``import clusterkit`` does not load numba.

- `distances`, `gaussian_jit`: squared distances ``|a - b|²``, ranges of bandwidths, and sums of Gaussian kernels
  ``Σ_s w_s exp(-gamma |x_s - y|²)``, exact or without the terms that are too small to matter;
- `nearest_jit`: which of a few centres is nearest to each row, and the label of the nearest labelled row;
- `lloyd`: k-means;
- `sparse_rows`: matrices that are mostly zeros;
- `pair_products`: weighted sums of rows and of their products, and quadratic forms of rows;
- `selection`: the smallest of many values, random samples of rows, distinct rows;
- `structures_jit`: disjoint sets, rows of one matrix in another, heaps;
- `losses`: sums of losses over sorted scores;
- `threads`: rows divided among threads;
- `neighbour_graph`, `eigenvectors`: self-tuned graphs of nearest neighbours, their components and eigenvectors;
- `spanning_trees`: the minimum spanning tree of points, Euclidean and of mutual reachability distances;
- `transport`, `transport_jit`: labels of least total cost under bounds on the cluster sizes, ``min Σ_i c_{i y_i}``;
- `linked`: the same for rows that belong together or apart.
"""
