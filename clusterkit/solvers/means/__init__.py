"""Class means and memberships: k-means, kernel k-means and fuzzy c-means.

Both solvers minimise ``Σ_ij u_ij^φ |h_i - c_j|²``, the squared distances of the samples h_i to the centres c_j: with
u_ij = 1 in the cluster of sample i and 0 elsewhere (k-means), or over shares u_ij that sum to 1 for each sample
(fuzzy c-means, φ > 1).

centroids.py
    The update step of k-means; with the labeler `argmax` it is Lloyd's iteration. The mathematics for a kernel is in
    `_KernelCentroids.solve`.
_class_means.py
    The same step on features as sums over the rows, wherever these lie, exact above one group of rows. The mathematics
    is in `CentroidSums.finish`.
_hamerly.py
    The same iteration without a table of all distances: bounds decide which samples to look at again, and class sums
    are moved with the samples. The mathematics is in `feature_iterations` and `kernel_iterations`.
fuzzy_cmeans.py
    Fuzzy c-means. The mathematics is in `FuzzyIterations`, and for kernels in `_KernelCentres.centres`.
_geometry.py
    Centres and squared distances in a feature space and in the space of a kernel, used by both solvers.

Sources: Lloyd (1982); Hamerly (2010), Making k-means even faster; Bezdek (1981).
"""
