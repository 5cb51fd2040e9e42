"""Functions on plain arrays: distances, kernel sums, segments, disjoint sets.

The lowest layer. It imports nothing else of clusterkit, so that the core and every stage may use it.
Modules whose name ends in ``_jit`` need numba and are imported by stages only.
"""
