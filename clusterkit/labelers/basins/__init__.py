"""Labelers that follow a Gaussian kernel sum uphill.

Every sample x ascends ``g(x) = Σ_s w_s exp(-gamma |x - c_s|²)`` by mean-shift steps to an equilibrium, a point that the
step leaves unchanged; samples that reach the same one form its basin. The labelers differ in which basins they join:

* `equilibrium.py`: two whose equilibria a segment inside the domain connects. Lee, Lee (2005), IEEE Trans. PAMI 27.
* `transition.py`: two whose saddle point between them is high enough. Lee, Lee (2006), IEEE Trans. PAMI 28.
* `_labeling.py`: outliers, small clusters, and the ascent of new samples.

The ascent is in `clusterkit.level_sets.equilibria`, its step in `level_sets/_ascent_jit.py` (`step`), the saddle
points are in `clusterkit.level_sets.saddles`.
"""
