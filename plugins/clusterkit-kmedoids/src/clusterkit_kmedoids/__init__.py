"""k-medoids by FasterPAM: `medoids` is the solver, `swaps_jit` its loops, `plugin` what clusterkit is told."""
