"""Maximum margin clustering by cutting planes (Zhao, Wang, Zhang 2008).

    minimise  Σ_p |w_p|²/2 + (C/n) Σ_i max(0, 1 - margin_i)   subject to  balanced outputs

where the margin of a sample is its largest output minus the next, ``|f|`` for a single output of two clusters. The sum
is one slack ξ that must exceed the violation of every cut, a choice of samples (with a rival cluster for each). The
solver adds the most violated cut, linearises the margins at the present winners and solves the quadratic program over
the cuts, until no cut is violated by more than ξ plus the tolerance.

- ``cutting_plane.py``: the solvers for two and for several clusters (`Cpmmc`, `Cpm3c`), the outer loop
  (`CuttingPlaneLoop.advance`) and the certificate of the result.
- ``_cuts.py``: the cuts as vectors in features or in the space of a kernel, updated when a winner changes, and the
  quadratic program over them, solved by its dual (`solve_cuts`).
"""
