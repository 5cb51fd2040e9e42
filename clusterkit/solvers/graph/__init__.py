"""Solvers on a neighbour graph of the samples: normalised cuts, and Gaussian mixtures with smooth posteriors.

`ncut` relaxes ``Σ_j cut(S_j, rest) / vol(S_j)``, the weights cut off relative to the weight of a cluster; `lapgmm`
minimises ``-Σ_i ln p(x_i) + λ/2 Σ_il W_il |f_i - f_l|²`` for the posteriors f of a mixture with density p.

ncut.py
    The leading eigenvectors of ``D^(-1/2) W D^(-1/2)`` (`leading`), the embedding by them (`_PreparedNcut._embed`) and
    the best split into two clusters (`_split`).
lapgmm.py
    The iteration, EM with smoothed posteriors (`_LapGmmIterations.advance`), its two steps (`Mixture.posteriors`,
    `maximise`), and the smoothing (`Smoother.step`, `Smoother.fixed_point`).
_neighbour_graph.py
    Pairs of nearest neighbours, used by both solvers, and the weights W, dense or sparse: components, cuts, and
    `Affinity.best_split`, the search for the best threshold.

Sources: Shi, Malik (2000), Normalized cuts and image segmentation; He, Cai, Shao, Bao, Han (2011), Laplacian
regularized Gaussian mixture model for data clustering.
"""
