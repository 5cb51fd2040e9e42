"""Which fits of a composition are made, and which of them is the answer; without scikit-learn.

A composition ``c`` of stages, the data X and the seeds give a fit ``core.run.fit(c, X, seeds)``. A driver makes one
such fit or several and returns one of them, with what it learnt about it:

- ``single.py``: one fit.
- ``pooled.py``: fits under M random feature maps; the answer is the labelling y with the lowest sum of the objectives
  ``J_1(y) + … + J_M(y)`` of all maps. The sum is in `summed_objectives`.
- ``auto_pooled.py``: the same with the complexity, the width and the start chosen without labels; ``auto_pooled.py``
  has the comparison with data without clusters (Tibshirani, Walther, Hastie 2001).
- ``width_path.py``: support vector clustering at many widths of the Gaussian kernel, which is a function rather than a
  registered driver, because its answer is a table.
- ``compose.py``: from what a user may write in a slot (a name, a dict, a stage) to a checked `Composition`.

The registered drivers are frozen attrs classes derived from `clusterkit.contracts.Driver`, like all stages. The
estimators in ``clusterkit/estimators`` add parameters, validation and attributes in the style of scikit-learn.

The choice among clusterings of several families, with the number of clusters given or not.

- `driver`: `AutoDriver`, the order of events, and what Ctrl-C keeps.
- `pool`: the members, which are recipes with the trait `clusterkit.contracts.providers.Recipe.pool`.
- `fits`: fits of members at numbers of clusters, on all rows or on a sample, and refits for their stability.
- `verdict`: the criteria of `clusterkit.criteria` applied to the candidates, and the report.
- `votes`: labels of the other rows, and of new ones, from those of a sample.
"""

from __future__ import annotations
