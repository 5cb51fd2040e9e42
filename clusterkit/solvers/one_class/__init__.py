"""One-class machines: a region of the input space that holds most samples.

    minimise  β'Kβ - Σ K_ii β_i   subject to  Σ β_i = 1,  0 <= β_i <= bound_i

K is the matrix of kernel values or inner products of the samples. The weights β describe the centre of the smallest
sphere around the samples in feature space (Tax, Duin 2004); with a Gaussian kernel the region is
``Σ β_s k(x_s, x) >= level``, the contour of support vector clustering (Ben-Hur et al. 2001).

- ``svdd.py``, ``psvdd.py``: the exact sphere, with one bound or with bounds that depend on the position. ``svdd.py``
  has the dual of one space as well, the radius, and the functions whose level sets are the sphere.
- ``_working_sets.py``: the dual of a Gaussian kernel, by samples and working sets.
- ``_steps_jit.py``: the pair steps, `_move_gaussian` inside a working set and `_move` for any other kernel and for
  features, and the gradient steps `sgd_steps`.
- ``lmsvc.py``: a hyperplane away from the origin instead of a sphere, by stochastic gradient steps.
- ``_gram.py``: inner products of the samples: columns for the dual, blocks for the gradient steps.
- ``subsampled.py``: any of these on a random part of the samples.
"""
