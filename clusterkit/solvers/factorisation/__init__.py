"""Nonnegative factorisations: ``min |H - A W'|²`` over A, W >= 0, for samples as rows of H.

The rows of A (n, k) describe the samples by k nonnegative parts; a labeler clusters them.

nmf.py
    NMF of features, or of a kernel matrix in the place of H. An iteration is `_TurnsInMemory.advance`; alternating
    least squares, which also serve rows outside memory, are in `AnlsIterations`.
convex_nmf.py
    Convex NMF in the space of a kernel: the basis vectors are nonnegative sums of samples. The iteration is
    `_ConvexIterations.advance`.
_updates.py
    Passes over the rows of H, with threads, and the embedding of new samples with the basis fixed (`FoldIn`).
_stored_factor.py
    Updates of rows outside memory that start from the rows of A of the iteration before, which lie in files.
_updates_jit.py
    The compiled products and updates. The mathematics is in `_multiply` (multiplicative updates) and `_descend`
    (coordinate descent).

Sources: Lee, Seung (2001), Algorithms for non-negative matrix factorization; Gillis, Glineur (2012) for coordinate
descent; Ding, Li, Jordan (2010), Convex and semi-nonnegative matrix factorizations.
"""
