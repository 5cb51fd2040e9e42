"""Clusters of nearly equal size: centres move until about the same number of rows is nearest to each of them.

With the sizes W of the clusters and a step α, in every iteration, all at once::

    c_i ← c_i + α Σ_j r_ij (c_j - c_i)

- `equal`: the solver `equal`, with bounded coefficients ``r_ij = (l - 1) (W_j - W_i) / (W_j + (l - 1) W_i)``;
- `geoclust`: the solver `geoclust`, with the coefficients ``r_ij = W_j / W_i - 1`` it was derived from;
- `_drifting_centres`: both rules bound to features, and the scores (minus squared distances).

The mathematics is in `clusterkit.numerics.equal_size`: the update in ``drift_jit.finish``, the choice of the loop in
``drift.find_parts``, the repair to exactly equal sizes in ``drift.even_out``.

Source: Wen, Lu, Zhao (2005), Equal clustering makes min-max modular support vector machine more efficient,
International Conference on Neural Information Processing.
"""
