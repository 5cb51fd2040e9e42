"""One-class machines: a region of the input space that holds most samples.

    minimise  β'Kβ - Σ K_ii β_i   subject to  Σ β_i = 1,  0 <= β_i <= bound_i

K is the matrix of kernel values or inner products of the samples. The weights β describe the centre of the smallest
sphere around the samples in feature space (Tax, Duin 2004); with a Gaussian kernel the region is
``Σ β_s k(x_s, x) >= level``, the contour of support vector clustering (Ben-Hur et al. 2001).

- ``svdd.py``, ``psvdd.py``: the exact sphere, with one bound or with bounds that depend on the position.
- ``svdd.py``: the dual of one space. Gaussian kernel: ``_working_sets.py`` (samples, working sets) around
  ``_steps_jit.py`` (pair steps). Any other kernel, and features: ``_steps_jit.py`` on the columns of
  ``_gram.py``. The pair step is ``_move`` in both ``_jit`` modules.
- ``svdd.py``: the radius, and the functions whose level sets are the sphere.
- ``lmsvc.py``: a hyperplane away from the origin instead of a sphere, by stochastic gradient steps
  (``_sgd_jit.descend``) on the inner products of ``_gram.py``.
- ``subsampled.py``: any of these on a random part of the samples.
"""
