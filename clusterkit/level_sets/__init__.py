"""Level sets of a kernel sum: which points a region ``{x : g(x) >= level}`` connects, and where g has its maxima.

For a domain with ``g(x) = Σ_s w_s k(c_s, x)``, mostly of a Gaussian kernel ``k(c, x) = exp(-gamma |x - c|²)`` with
weights w_s >= 0. A numerical library below the stages: it knows domains, not labelers.

Public modules:

* `segment_test.py`: does the segment between two points stay inside; components of the graph of such segments.
  Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, JMLR 2.
* `many_widths.py`: the same for many domains of the same points, for searches over widths and bounds.
* `equilibria.py`: the mean-shift ascent to the maxima of g, and the basins. Lee, Lee (2005), IEEE Trans. PAMI 27.
* `saddles.py`: saddle points between maxima. Lee, Lee (2006), IEEE Trans. PAMI 28.
* `neighbours.py`, `neighbours.py`: nearest neighbours and distinct rows, with ties decided by the index.

The mathematics: the segment test in `_segments_jit.py` (`first_outside`, Sturm's comparison) and, by distances, in
`_segments_jit.py` and `_segments_sparse_jit.py`. The search for components without all pairs is
`_components.py` with the edges of `_likely_edges.py`; the proof that none is missing is one of `_rejection_jit.py`
(bounds of `_ascent_jit.py` over nodes of `_tree_jit.py`), `_rejection_jit.py` and `_likely_edges.py`.
The ascent is in `_ascent_jit.py` (`step`), the certified balls that end it early in `_ascent_jit.py`.

Points of another library than numpy, on a device, are served by matrix products beside the loops for numpy:
`climb_together` in `_ascent.py`, `SegmentsOfBlocks` in `segment_test.py`, and `neighbours.py`.
"""
