"""Level sets of a kernel sum: which points a region ``{x : g(x) >= level}`` connects, and where g has its maxima.

For a domain with ``g(x) = Σ_s w_s k(c_s, x)``, mostly of a Gaussian kernel ``k(c, x) = exp(-gamma |x - c|²)`` with
weights w_s >= 0. A numerical library below the stages: it knows domains, not labelers.

Public modules:

* `segment_test.py`: does the segment between two points stay inside; components of the graph of such segments.
  Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, JMLR 2.
* `many_widths.py`: the same for many domains of the same points, for searches over widths and bounds; its compiled
  loops are in `_many_widths_jit.py`.
* `equilibria.py`: the mean-shift ascent to the maxima of g, and the basins. Lee, Lee (2005), IEEE Trans. PAMI 27.
* `neighbours.py`: nearest neighbours and distinct rows, with ties decided by the index.

The mathematics:

* `_segments_jit.py`: the segment test (`first_outside`, Sturm's comparison), and the test of many attributes by
  distances (`join_edges_by_distances`).
* `_components.py`: the search for components without all pairs, along the edges of `_likely_edges.py`.
* `_rejection_jit.py`: the proof that no edge between two components is missing, by a map of cells in two or three
  dimensions and otherwise by bounds over pairs of nodes of `_tree_jit.py`; where there are many components,
  `pairs_not_rejected` in `_likely_edges.py` rejects most pairs first.
* `_ascent_jit.py`: the ascent (`step`), bounds of g over balls, and the certified balls that end the ascent early;
  `Ascent` in `equilibria.py` puts the three together.

Points of another library than numpy, on a device, have their nearest rows by matrix products: `nearest_of_block` in
`neighbours.py`. Segments and ascents are of numpy alone.
"""
