"""Maximum margin clustering as semidefinite programs: a certified optimum of a relaxation, for small data.

    minimise over M ⪰ 0, M_ii = 1, |M e| <= l:  max {2 λ'e - λ'(K∘M)λ : 0 <= λ <= C}            (mmc_sdp)
    maximise over g >= 0, S - diag(g) ⪰ 0:      Σ g_i                                           (gmmc_sdp)

M is the matrix ``y y'`` of the labels (Xu et al. 2004), S is the price of the margins (Valizadegan, Jin 2006). For many
clusters (mmc_multi_sdp) M stands for ``DD'`` of their indicators, and the maximum is that of the multi-class machine
(Xu, Schuurmans 2005).

- ``mmc_sdp.py``, ``mmc_multi_sdp.py``, ``gmmc_sdp.py``: the solvers.
- ``_margin.py``, ``_multiclass.py``, ``_generalised.py``: their programs in cvxpy, and lower bounds that hold whatever
  the accuracy of the conic solver (`certified_bound` in each).
- ``_cvx.py``: how a conic solver is called and stopped. ``_moments.py``: from a matrix to scores of samples.
- ``plugin.py``: the hooks that clusterkit reads.
"""
